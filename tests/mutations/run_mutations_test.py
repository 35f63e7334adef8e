"""What run_mutations reads, where it puts a mistake, and what it refuses."""

import importlib.machinery
import importlib.util
import pathlib
import sys
import tempfile
import unittest

sys.dont_write_bytecode = True
PROGRAM = pathlib.Path(__file__).with_name("run_mutations")
LOADER = importlib.machinery.SourceFileLoader("run_mutations", str(PROGRAM))
run_mutations = importlib.util.module_from_spec(importlib.util.spec_from_loader("run_mutations", LOADER))
LOADER.exec_module(run_mutations)

ENTRY = "[one]\nfile = a.cc\nwhy = because\nfrom = x + 1\nto = x + 2\n"


class RunMutations(unittest.TestCase):
    def read(self, text):
        with tempfile.TemporaryDirectory() as folder:
            (pathlib.Path(folder) / "list.txt").write_text(text)
            return run_mutations.read_lists(pathlib.Path(folder))

    def mutation(self, **keys):
        return {"name": "one", "file": "a.cc", "number": 1} | keys

    def test_an_entry_has_defaults(self):
        (mutation,) = self.read("# comment\n" + ENTRY)
        self.assertEqual((mutation["in"], mutation["expr"], mutation["list"]), ("x + 1", "x + 1", "list"))

    def test_bad_entries_are_refused(self):
        for text in (ENTRY + ENTRY, ENTRY + "file = b.cc\n", ENTRY + "colour = red\n", "file = a.cc\n", "[one]\nfile = a\n"):
            with self.assertRaises(run_mutations.BadMutation):
                self.read(text)

    def test_white_space_does_not_count(self):
        text = "y = f(a,\n      b) +   1;"
        mutation = self.mutation(**{"in": "f(a, b) + 1", "expr": "f(a,b) + 1", "from": "+ 1", "to": "- 1"})
        begin, end, mistake = run_mutations.place(mutation, text)
        self.assertEqual(text[begin:end], "f(a,\n      b) +   1")
        self.assertEqual(mistake, "f(a,\n      b) - 1")

    def test_words_are_whole(self):
        with self.assertRaises(run_mutations.BadMutation):
            run_mutations.place(self.mutation(**{"in": "r", "expr": "r", "from": "r", "to": "0"}), "error(rate)")

    def test_a_snippet_must_be_there_once(self):
        mutation = self.mutation(**{"in": "x + 1", "expr": "x + 1", "from": "x", "to": "y"})
        for text in ("", "x + 1; x + 1"):
            with self.assertRaises(run_mutations.BadMutation):
                run_mutations.place(mutation, text)

    def test_switches_stand_around_expressions(self):
        mutations = [self.mutation(**{"in": "a + 1", "expr": "a + 1", "from": "+", "to": "-", "number": 2}),
                     self.mutation(**{"in": "g(b)", "expr": "b", "from": "b", "to": "0", "number": 3})]
        self.assertEqual(run_mutations.with_switches("y = a + 1 + g(b);", mutations).splitlines()[1],
                         "y = (leadline_mutant == 2 ? (a - 1) : (a + 1)) + g((leadline_mutant == 3 ? (0) : (b)));")

    def test_an_expression_may_lie_in_another(self):
        mutations = [self.mutation(**{"in": "f(a + 1)", "expr": "f(a + 1)", "from": "f", "to": "g", "number": 2}),
                     self.mutation(**{"in": "a + 1", "expr": "a", "from": "a", "to": "b", "number": 3})]
        self.assertEqual(run_mutations.with_switches("f(a + 1);", mutations).splitlines()[1],
                         "(leadline_mutant == 2 ? (g(a + 1)) : (f((leadline_mutant == 3 ? (b) : (a)) + 1)));")

    def test_overlapping_switches_are_refused(self):
        mutations = [self.mutation(**{"in": "a + b", "expr": "a + b", "from": "+", "to": "-"}),
                     self.mutation(**{"in": "b + c", "expr": "b + c", "from": "+", "to": "-"})]
        with self.assertRaises(run_mutations.BadMutation):
            run_mutations.with_switches("a + b + c", mutations)


if __name__ == "__main__":
    unittest.main()
