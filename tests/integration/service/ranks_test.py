"""One training on several ranks is the training of one rank, and goes on after a loss bit for bit."""

import json
import unittest

from service_world import World

SETTINGS = {"steps": 100, "eval_every": 50, "log_every": 1, "precision": "fp64", "checkpoint_every": 20}


class Ranks(World):
    def sweep_of(self, ranks):
        path = self.sweep_file(**SETTINGS, devices=ranks)
        text = path.read_text().replace("lr: 1e-2", "lr: 1e-3").replace("dataset: iid27", "dataset: grammar16")
        path = path.with_name(f"ranks-{ranks}.yaml")
        path.write_text(text)
        return path

    def losses(self, state):
        """(trial, step): loss, of every training step."""
        return {row[:2]: row[2] for row in self.query(
            "select trial, step, value from curves where metric = 'train_loss'", state)}

    def results(self, state):
        return [(value["trial"], value["value"]) for cell in self.leadline_json("results", state=state)["cells"]
                for value in cell["values"]]

    def test_ranks_compute_what_one_does_and_go_on_where_they_were_lost(self):
        for ranks in (1, 2, 4):
            self.leadline("run", self.sweep_of(ranks), "--slots", "4", state=f"ranks-{ranks}")
        alone = self.losses("ranks-1")
        self.assertEqual(len(alone), 4 * SETTINGS["steps"])
        for ranks in (2, 4):
            with self.subTest(ranks=ranks):
                apart = self.losses(f"ranks-{ranks}")
                self.assertEqual(apart.keys(), alone.keys())
                for (trial, step), loss in apart.items():
                    bound = 1e-11 if step <= 10 else 1e-9
                    self.assertLessEqual(abs(loss - alone[trial, step]), bound * loss, (trial, step))
                for (trial, value), (same, expected) in zip(self.results(f"ranks-{ranks}"), self.results("ranks-1"),
                                                            strict=True):
                    self.assertEqual(trial, same)
                    self.assertAlmostEqual(value, expected, delta=1e-9 * expected)
                kept = self.query("select count(distinct rank) from attempt_ranks", f"ranks-{ranks}")
                self.assertEqual(kept, [(ranks,)])

        with self.subTest("lost"):
            run = self.start("leadline", "run", self.sweep_of(2), "--slots", "2", state="killed")
            folder, first = self.held_with_checkpoints("killed")
            cohort = folder.name.partition("@")[0]
            pids = {pid for (pid,) in self.query(
                f"select pid from attempt_ranks where cohort = '{cohort}' and attempt like '%@1'", "killed")}
            self.assertEqual(len(pids), 2)
            self.assertIn(first, pids)
            self.kill_at_once(*pids)
            self.finish(run)
            after = folder.with_name(folder.name.replace("@1", "@2"))
            self.assertIn("going on from step", (after / "stderr.log").read_text())
            self.assertEqual(self.results("killed"), self.results("ranks-2"))
            self.assertEqual(self.losses("killed"), self.losses("ranks-2"))
            steps = [event["step"] for event in map(json.loads, (after / "events.jsonl").read_text().splitlines())
                     if event["event"] == "step"]
            self.assertGreaterEqual(steps[0], 20)


if __name__ == "__main__":
    unittest.main()
