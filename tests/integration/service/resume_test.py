"""What was trained before an attempt was lost or stopped is not trained again."""

import json
import os
import re
import shutil
import signal
import unittest

from service_world import World, wait_for

SETTINGS = {"steps": 400, "eval_every": 100, "checkpoint_every": 50}


class Resume(World):
    def setUp(self):
        super().setUp()
        self.file = self.sweep_file(**SETTINGS)

    def curves(self, state):
        """All that is measured of training, but for how long it took."""
        return self.query("select trial, metric, step, value from curves where metric not like '%second%' "
                          "and metric not like 'cost.%' order by trial, metric, step", state)

    def results(self, state):
        return self.leadline_json("results", state=state)["cells"]

    def said(self, folder):
        return (folder / "stderr.log").read_text()

    def next_that_trained(self, folder):
        """The attempt after the one in that folder; one that was lost before its first step does not count."""
        for number in range(2, 10):
            after = folder.with_name(folder.name.replace("@1", f"@{number}"))
            if after.exists() and '"event":"step"' in (after / "events.jsonl").read_text():
                return after
        return self.fail(f"nothing trained after {folder.name}{self.logs()}")

    def assert_went_on(self, state, folder):
        """It began where a checkpoint was."""
        after = self.next_that_trained(folder)
        found = re.search(r"going on from step (\d+)", self.said(after))
        self.assertTrue(found, f"{after.name} says {self.said(after)!r}; {self.leadline('explain', 's1', state=state)[0]}{self.logs()}")
        step = int(found[1])
        self.assertGreaterEqual(step, 50)
        first = next(event for event in map(json.loads, (after / "events.jsonl").read_text().splitlines())
                     if event["event"] == "step")
        self.assertGreater(first["step"], step)
        return step

    def test_lost_and_stopped_attempts_go_on_and_measure_the_same(self):
        self.leadline("run", self.file, "--slots", "2", state="straight")
        expected = self.results("straight"), self.curves("straight")

        with self.subTest("killed"):
            run = self.start("leadline", "run", self.file, "--slots", "1", state="killed")
            folder, pid = self.held_with_checkpoints("killed")
            os.kill(pid, signal.SIGKILL)
            self.finish(run)
            self.assert_went_on("killed", folder)
            self.assertEqual((self.results("killed"), self.curves("killed")), expected)
            # What is kept: the newest two, and the best of each of two replicas.
            kept = list((self.state("killed") / "checkpoints").glob("*/step-*"))
            self.assertLessEqual(len(kept), 2 * 4)
            self.assertIn("step-000000400", {path.name for path in kept})

        with self.subTest("paused"):
            run = self.start("leadline", "run", self.file, "--slots", "1", state="paused")
            folder, pid = self.held_with_checkpoints("paused")
            self.leadline("pause", "s1", "--stop", state="paused")
            os.kill(pid, signal.SIGCONT)
            wait_for(lambda: self.has_ended(folder), "its end")
            told = [event["step"] for event in map(json.loads, (folder / "events.jsonl").read_text().splitlines())
                    if event["event"] == "step"]
            self.leadline("resume", "s1", state="paused")
            self.finish(run)
            self.assertGreaterEqual(self.assert_went_on("paused", folder), max(told))
            self.assertEqual((self.results("paused"), self.curves("paused")), expected)

        with self.subTest("damaged"):
            run = self.start("leadline", "run", self.file, "--slots", "1", state="damaged")
            folder, pid = self.held_with_checkpoints("damaged", count=2)
            for checkpoint in sorted(folder.glob("checkpoints/step-*0"))[1:]:
                shutil.copy(folder / "config.json", checkpoint / "moments.safetensors")
            os.kill(pid, signal.SIGKILL)
            self.finish(run)
            after = self.next_that_trained(folder)
            self.assertIn("set aside as damaged-step-", self.said(after))
            self.assertEqual((self.results("damaged"), self.curves("damaged")), expected)


if __name__ == "__main__":
    unittest.main()
