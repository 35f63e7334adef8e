"""Checkpoints of many trials: what stays is bounded while they train, and what goes is told."""

import contextlib
import re
import threading
import unittest

from service_world import World

SEEDS = 100
KEPT = 2


class Retention(World):
    def held(self):
        """Bytes and number of checkpoints of each cohort that are there now."""
        held = {}
        for cohort in (self.state() / "checkpoints").glob("s*"):
            size, count = 0, 0
            for folder in cohort.iterdir():
                count += re.fullmatch(r"step-\d+", folder.name) is not None
                with contextlib.suppress(FileNotFoundError):  # what is removed goes meanwhile
                    size += sum(file.stat().st_size for file in folder.iterdir())
            held[cohort.name] = (size, count)
        return held

    def test_a_hundred_trials_of_ten_checkpoints_each_hold_two_at_a_time(self):
        file = self.sweep_file(steps=100, eval_every=100, checkpoint_every=10, checkpoint_keep=KEPT, cohort=20)
        file.write_text(file.read_text().replace("seeds: 2", f"seeds: {SEEDS}").replace("[prenorm, block_attnres]", "[prenorm]"))
        most, ended = {}, threading.Event()

        def look():
            while not ended.wait(0.02):
                for cohort, (size, count) in self.held().items():
                    before = most.get(cohort, (0, 0))
                    most[cohort] = (max(before[0], size), max(before[1], count))

        watcher = threading.Thread(target=look)
        watcher.start()
        try:
            self.leadline("run", file, "--slots", "2")
        finally:
            ended.set()
            watcher.join()
        self.assertEqual(self.query("select count(*) from trial_results where state = 'succeeded' and metric = "
                                    "'validation_loss' and split = 'validation'"), [(SEEDS,)])
        self.assertEqual(len(most), SEEDS // 20)
        # The one being written, or removed, beside those that stay.
        self.assertLessEqual(max(count for _, count in most.values()), KEPT + 2)
        written, removed, freed = 0, 0, 0
        for folder in self.state().glob("attempts/*@*"):
            written += (folder / "events.jsonl").read_text().count('"event":"checkpoint"')
            said = (folder / "stderr.log").read_text()
            removed += said.count("removed the checkpoint of step ")
            freed += sum(map(int, re.findall(r"freed (\d+) bytes of checkpoints", said)))
        self.assertEqual(written, 10 * SEEDS // 20)
        left = {cohort: count for cohort, (_, count) in self.held().items()}
        self.assertEqual(removed + sum(left.values()), written)
        self.assertLessEqual(max(left.values()), KEPT)
        largest = max(size // count for size, count in self.held().values())
        self.assertGreaterEqual(freed, removed * largest * 9 // 10)


if __name__ == "__main__":
    unittest.main()
