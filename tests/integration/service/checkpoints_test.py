"""What is kept of a training can be found, read elsewhere, sampled and evaluated."""

import json
import math
import os
import pathlib
import subprocess
import unittest

from service_world import PROGRAMS, World

SETTINGS = {"steps": 60, "eval_every": 20, "checkpoint_every": 20, "checkpoint_keep": 2}
# Debian's, which scripts/setup --dev brings torch for; the wheel beside LibTorch is but half of one.
PYTHON = "/usr/bin/python3"
LOADER = pathlib.Path(__file__).parents[3] / "examples" / "load_model.py"


class Checkpoints(World):
    def test_what_is_kept_is_found_and_read(self):
        self.leadline("run", self.sweep_file(**SETTINGS))
        # One that stays: else each command would start its own.
        coordinator = self.start("leadline-coordinator", "--state", self.state(), "--listen", "127.0.0.1:0")
        self.line(coordinator, coordinator.stdout)
        # One training serves all; the last of them damages what it left.
        for part in (self.evaluates_to_the_results_own_bits, self.samples_the_same_text_for_the_same_seed,
                     self.exports_what_plain_pytorch_computes_the_same_logits_with,
                     self.finds_them_and_says_what_is_whole):
            with self.subTest(part.__name__):
                part()

    def checkpoints(self, trial="s1.1.1", *words):
        return self.leadline_json("checkpoints", trial, *words)["checkpoints"]

    def refusal(self, *words, exit_code=1):
        return self.leadline(*words, exit_code=exit_code)[1]

    def value(self, trial):
        cells = self.leadline_json("results")["cells"]
        return next(v["value"] for cell in cells for v in cell["values"] if v["trial"] == trial)

    def finds_them_and_says_what_is_whole(self):
        found = self.checkpoints()
        self.assertEqual([(one["step"], one["state"]) for one in found][-2:], [(40, "here"), (60, "here")])
        self.assertEqual({one["state"] for one in self.checkpoints("s1.1.1", "--verify")} - {"removed"}, {"whole"})
        folder = pathlib.Path(found[-1]["folder"])
        with (folder / "parameters.safetensors").open("r+b") as file:
            file.seek(-1, os.SEEK_END)
            file.write(b"\x7f")
        worst = self.checkpoints("s1.1.1", "--verify")[-1]
        self.assertRegex(worst["state"], "^damaged: .*parameters.safetensors")
        for words in (("export", "s1.1.1", "--out", self.folder / "no"), ("sample", "s1.1.1", "--prompt", "a"),
                      ("eval", "s1.1.1")):
            self.assertIn("parameters.safetensors", self.refusal(*words))
        self.assertFalse((self.folder / "no").exists())
        # The one before is whole.
        self.leadline("export", "s1.1.1", "--step", 40, "--out", self.folder / "yes")

        self.assertIn("'s1.1' is no trial", self.refusal("checkpoints", "s1.1", exit_code=2))
        self.assertIn("no checkpoint of s1.1.1 at step 33",
                      self.refusal("export", "s1.1.1", "--step", 33, "--out", self.folder / "no", exit_code=6))
        shared = folder.parent.resolve()
        shared.rename(shared.with_name("gone"))
        self.assertIn("are on node", self.refusal("sample", "s1.1.1", "--prompt", "a", exit_code=6))

    def evaluates_to_the_results_own_bits(self):
        for trial in ("s1.1.0", "s1.2.1"):
            answer = self.leadline_json("eval", trial)
            self.assertEqual([one["value"] for one in answer["values"]], [self.value(trial)])
            self.assertEqual((answer["step"], answer["unit"]), (60, "nats/char"))
        best = self.leadline_json("eval", "s1.1.0", "--best", "--split", "test")
        self.assertEqual(best["split"], "test")
        self.assertIn("loss", self.leadline("eval", "s1.1.0", "--split", "train")[0])
        other = self.folder / "other.txt"
        other.write_text("another text " * 1000)
        self.assertIn("other.txt", self.refusal("eval", "s1.1.0", "--data", other))

    def samples_the_same_text_for_the_same_seed(self):
        def text(*words):
            return self.leadline("sample", "s1.2.0", "--prompt", "ab", "--length", 30, *words)[0]
        first = text("--seed", 7)
        self.assertEqual(len(first), 2 + 30 + 1)
        self.assertTrue(first.startswith("ab"))
        self.assertEqual(text("--seed", 7), first)
        self.assertNotEqual(text("--seed", 8), first)
        self.assertEqual(text("--temperature", 0, "--seed", 1), text("--top-k", 1, "--seed", 2))
        folder = self.checkpoints("s1.2.0")[-1]["folder"]
        answer = self.leadline_json("sample", folder, "--replica-seed", 0, "--prompt", "ab", "--length", 30, "--seed", 7)
        self.assertEqual("ab" + answer["text"] + "\n", first)
        self.assertIn("'é' is none of the 27 characters", self.refusal("sample", "s1.2.0", "--prompt", "é"))
        self.assertIn("--prompt is empty", self.refusal("sample", "s1.2.0", "--prompt", "", exit_code=2))
        self.assertIn("several replicas", self.refusal("sample", folder, "--prompt", "a", exit_code=2))
        self.assertIn("no replica of seed 9",
                      self.refusal("sample", folder, "--replica-seed", 9, "--prompt", "a"))

    def exports_what_plain_pytorch_computes_the_same_logits_with(self):
        for trial, seed in (("s1.1.1", 1), ("s1.2.0", 0)):
            out = self.folder / trial
            self.leadline("export", trial, "--out", out)
            self.assertEqual(sorted(path.name for path in out.iterdir()), ["config.json", "model.safetensors"])
            self.assertEqual(json.loads((out / "config.json").read_text())["seed"], seed)
            text = "abc xyz a"
            theirs = json.loads(subprocess.run([PYTHON, "-B", LOADER, out, text], check=True, capture_output=True,
                                               text=True).stdout)
            ours = json.loads(subprocess.run(
                [PROGRAMS / "leadline-inference", "logits", self.checkpoints(trial)[-1]["folder"],
                 f"--replica-seed={seed}", f"--prompt={text}"], check=True, capture_output=True, text=True).stdout)
            self.assertEqual(len(theirs), len(text))
            largest = max(abs(value) for row in ours for value in row)
            self.assertGreater(largest, 0)
            for row, expected in zip(theirs, ours, strict=True):
                for value, wanted in zip(row, expected, strict=True):
                    self.assertTrue(math.isclose(value, wanted, abs_tol=1e-5 * largest), (value, wanted))
        self.assertIn("File exists", self.refusal("export", "s1.1.1", "--out", self.folder / "s1.1.1"))


if __name__ == "__main__":
    unittest.main()
