"""A full disk costs time and nothing else: what trains waits in memory, says so, and goes on by itself."""

import os
import signal
import subprocess
import unittest

from service_world import World, wait_for

SETTINGS = {"steps": 200, "eval_every": 100, "checkpoint_every": 50}
MEBIBYTES = 12


class Room(World):
    def setUp(self):
        super().setUp()
        self.node = self.folder / "node"
        self.node.mkdir()
        mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={MEBIBYTES}m", "none", self.node],
                                 capture_output=True, text=True, check=False)
        if mounted.returncode != 0:
            self.skipTest(f"no right to mount a tmpfs: {mounted.stderr.strip()}")
        self.addCleanup(subprocess.run, ["umount", "--lazy", self.node], check=False)

    def fill(self, but=0):
        """Not a byte is left, or that many."""
        with (self.node / "filler").open("wb", buffering=0) as file:
            for size in (1 << 16, 1):
                try:
                    while True:
                        file.write(b"\0" * size)
                except OSError:
                    pass
            file.truncate(file.tell() - but)

    def serve(self):
        """A coordinator, an agent whose folder is on the small disk, and how commands reach them."""
        coordinator = self.start("leadline-coordinator", "--state", self.state("service"),
                                 "--listen", f"unix:{self.folder}/socket")
        self.line(coordinator, coordinator.stdout)
        self.start("leadline-agent", "--state", self.node / "agent", "--coordinator", f"unix:{self.folder}/socket",
                   "--slots", "1", "--least-free-mb", "0")
        return ("--coordinator", f"unix:{self.folder}/socket")

    def test_a_checkpoint_that_has_no_room_is_waited_for_and_written(self):
        # Few lines between two checkpoints: what grows beside them is little.
        text = self.sweep_file(**SETTINGS, log_every=100, checkpoint_keep=4).read_text()
        sweep = self.folder / "larger.yaml"
        sweep.write_text(text.replace("d_model: 16", "d_model: 32").replace("[prenorm, block_attnres]", "[prenorm]"))
        where = self.serve()
        self.leadline(*where, "submit", sweep, state="service")
        folder, pid = self.held_with_checkpoints("node/agent", count=2)
        self.fill(but=64 << 10)
        self.assert_waits_for_room(where, folder, pid, "the checkpoint of step")
        self.assertEqual({row[0] for row in self.query("select attempts from trial_results", "service")}, {1})
        steps = sorted(int(path.name[5:]) for path in folder.glob("checkpoints/step-*"))
        self.assertEqual(steps, [50, 100, 150, 200])
        self.assertIn("there is room for the checkpoint of step", (folder / "stderr.log").read_text())

    def assert_waits_for_room(self, where, folder, pid, what):
        """The stopped trainer goes on, waits and says for what, and ends its work once there is room."""
        os.kill(pid, signal.SIGCONT)
        words = f"waiting for room for {what}"
        said = wait_for(lambda: (text := self.explanation_at(where)) and words in text and text, "the reason")
        self.assertIn(str(folder), said)
        os.kill(pid, 0)  # it lives
        (self.node / "filler").unlink()
        self.leadline(*where, "watch", "s1", state="client")

    def explanation_at(self, where):
        return self.leadline(*where, "explain", "s1", state="client")[0]

    def test_training_waits_for_room_and_ends_as_if_there_had_been(self):
        sweep = self.sweep_file(**SETTINGS)
        self.leadline("run", sweep, "--slots", "1", state="straight")
        expected = self.leadline_json("results", state="straight")["cells"]

        where = self.serve()
        self.leadline(*where, "submit", sweep, state="service")
        folder, pid = self.held_with_checkpoints("node/agent")
        self.fill()
        self.assert_waits_for_room(where, folder, pid, "the events")
        self.assertEqual(self.leadline_json(*where, "results", "s1", state="client")["cells"], expected)
        self.assertEqual({row[0] for row in self.query("select attempts from trial_results", "service")}, {1})
        self.assertIn("there is room for the events again", (folder / "stderr.log").read_text())


if __name__ == "__main__":
    unittest.main()
