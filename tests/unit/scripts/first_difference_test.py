"""Two runs are told apart where they part: first_difference_test.py TRAINER CLI SCRIPT"""

import hashlib
import json
import pathlib
import random
import subprocess
import sys
import tempfile
import unittest

TRAINER, CLI, SCRIPT = sys.argv[1:4]
STEPS = 20


class Runs(unittest.TestCase):
    def setUp(self):
        holder = tempfile.TemporaryDirectory()
        self.addCleanup(holder.cleanup)
        self.folder = pathlib.Path(holder.name)
        letters = random.Random(1)
        self.text = self.folder / "letters.txt"
        self.text.write_text("".join(letters.choice("abcdefgh ") for _ in range(4000)))

    def train(self, name, settings=None, seeds=(3, 4)):
        """Its attempt folder."""
        folder = self.folder / name
        folder.mkdir()
        config = {
            "version": 1, "seeds": list(seeds),
            "settings": {"method": "prenorm", "depth": 2, "d_model": 16, "n_heads": 2, "context": 8, "batch_sequences": 2, "steps": STEPS,
                         "eval_every": STEPS, "eval_windows": 2, "log_every": 5, "checkpoint_every": 5, "checkpoint_keep": 1000,
                         "threads": 1, **(settings or {})},
            "dataset": {"path": str(self.text), "content_hash": hashlib.sha256(self.text.read_bytes()).hexdigest(),
                        "tokenizer": "char", "split": [0.8, 0.1, 0.1]},
            "device": "cpu", "world": {"size": 1, "rank": 0, "peers": []}, "folder": str(folder), "resume": None,
        }
        run = subprocess.run([TRAINER, "-"], input=json.dumps(config), text=True, capture_output=True, check=False)
        self.assertEqual(run.returncode, 0, run.stderr + run.stdout[-2000:])
        return folder

    def compare(self, first, second, *words):
        run = subprocess.run([SCRIPT, first, second, *words], text=True, capture_output=True, check=False)
        return run.returncode, run.stdout + run.stderr

    def test_same_seeds_of_every_method_are_equal_at_step_20_and_others_are_not(self):
        listed = subprocess.run([CLI, "methods", "--json"], text=True, capture_output=True, check=True)
        for method in (row["name"] for row in json.loads(listed.stdout)["methods"]):
            with self.subTest(method=method):
                one = self.train(method + ".1", {"method": method})
                again = self.train(method + ".2", {"method": method})
                self.assertEqual(self.compare(one, again)[0], 0)
                other = self.train(method + ".3", {"method": method}, seeds=(5, 4))
                code, text = self.compare(one, other)
                self.assertEqual(code, 1)
                self.assertIn("replica 0" if "replica" in text else "step 5: logged train_loss", text)

    def test_another_order_of_data_is_named_by_step_and_tensor(self):
        one = self.train("one", {"checkpoint_every": 1})
        other = self.train("other", {"checkpoint_every": 1, "data_seed": 9})
        code, text = self.compare(one, other)
        self.assertEqual(code, 1)
        self.assertRegex(text, r"(?m)^step 1: [a-z_.0-9]+, replica 0$")
        self.assertIn("class: unknown: losses part by", text)

    def test_runs_have_the_class_that_was_measured(self):
        one = self.train("one")
        self.assertIn("class: bit-exact", self.compare(one, one)[1])
        # Sums in another order: the same but for rounding.
        apart = self.train("apart", {"micro_batch": 1})
        code, text = self.compare(one, apart)
        self.assertEqual(code, 1)
        self.assertIn("class: within tolerance: losses part by", text)
        self.assertIn("class: unknown", self.compare(one, apart, "--tolerance", "1e-12")[1])

    def test_runs_of_other_numbers_of_replicas_have_no_class(self):
        code, text = self.compare(self.train("two"), self.train("three", seeds=(3, 4, 5)))
        self.assertEqual(code, 1)
        self.assertIn("class: unknown: not as many replicas", text)
        self.assertNotIn("Traceback", text)

    def test_nothing_to_compare_is_no_agreement(self):
        code, text = self.compare(self.folder, self.folder)
        self.assertEqual(code, 2)
        self.assertIn("no step is in both", text)

    def test_a_damaged_checkpoint_is_named(self):
        one = self.train("one")
        damaged = next((one / "checkpoints").iterdir()) / "parameters.safetensors"
        damaged.write_bytes(b"\xff" * 100)
        code, text = self.compare(one, one)
        self.assertEqual(code, 2)
        self.assertIn(str(damaged), text)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
