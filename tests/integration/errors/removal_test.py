"""A sweep that is removed goes from the nodes too: at once where an agent is in touch, else when it is back."""

import unittest

from errors_world import ErrorsWorld, wait_for


class Removal(ErrorsWorld):
    def kept(self, name):
        """Names of the attempts and cohorts of which that agent keeps files."""
        return sorted(path.name for folder in ("attempts", "checkpoints") for path in self.state(name).glob(f"{folder}/*"))

    def size_of(self, name, sweep):
        """Bytes of the files that agent keeps of that sweep."""
        folders = (path for folder in ("attempts", "checkpoints") for path in self.state(name).glob(f"{folder}/{sweep}*"))
        return sum(path.stat().st_size for folder in folders for path in folder.rglob("*")
                   if path.is_file() and not any(part.is_symlink() for part in (path, *path.parents)))

    def test_takes_event_files_logs_and_checkpoints_of_every_node(self):
        self.coordinator()
        agents = {name: self.agent("--slots", "1", name=name) for name in ("one", "two")}
        for name in agents:
            self.behave("go", name=name)
        self.ask("submit", self.sweep(depths=(1, 2), name="first"))
        wait_for(lambda: all(list(self.state(name).glob("attempts/*/process.json")) for name in agents), "an attempt each")
        for name in agents:
            self.go(name)
        self.ask("watch", "s1")
        self.ask("submit", self.sweep(depths=(1, 2, 3), name="second"), "--wait")
        before = {name: self.kept(name) for name in agents}
        for name in agents:
            self.assertTrue(any(entry.startswith("s1.") for entry in before[name]), before)
        self.end(agents["two"])

        one, two = self.ask_json("rm", "s1", "--dry-run")["nodes"]
        self.assertEqual((one["node"], one["attempts"], one["checkpoints"], one["unknown"]), ("one", 1, 1, None))
        self.assertEqual(one["bytes"], self.size_of("one", "s1."))
        self.assertEqual((two["node"], two["bytes"], two["unknown"]), ("two", None, "it is not connected"))
        self.assertEqual(before, {name: self.kept(name) for name in agents})
        said, _ = self.ask("rm", "s1", "--yes")
        self.assertIn("on one: event files and logs of 1 attempt, checkpoints of 1 cohort, ", said)
        self.assertIn("on two: not known how much, it is not connected\n", said)
        self.assertIn("goes when they are next in touch", said)
        wait_for(lambda: not any(entry.startswith("s1.") for entry in self.kept("one")), "what one keeps to go")
        self.assertEqual(self.kept("one"), [entry for entry in before["one"] if entry.startswith("s2.")])
        self.line(agents["one"], agents["one"].stderr, "info sweep_files_removed sweep=s1 attempts=1 checkpoints=1 "
                  f"bytes={one['bytes']} ")
        self.assertEqual(self.kept("two"), before["two"])

        self.agent("--slots", "1", name="two")
        wait_for(lambda: not any(entry.startswith("s1.") for entry in self.kept("two")), "what two keeps to go")
        self.assertEqual(self.kept("two"), [entry for entry in before["two"] if entry.startswith("s2.")])


if __name__ == "__main__":
    unittest.main()
