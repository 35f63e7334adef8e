"""A sweep too large for one transaction: whole or not at all, and nobody waits for it."""

import json
import os
import signal
import unittest

from service_world import World, wait_for

CELLS = 8_000
TRIALS = 5 * CELLS


class LargeSweep(World):
    def coordinator(self):
        process = self.start("leadline-coordinator", "--state", self.state(), "--listen", "127.0.0.1:0")
        return process, json.loads(self.line(process, process.stdout))["address"]

    def sweep(self):
        path = self.folder / "large.yaml"
        rates = ", ".join(f"{1 + i}e-6" for i in range(CELLS // 4))
        path.write_text(
            "leadline: 1\nname: large\nseeds: 5\n"
            "settings: {d_model: 16, n_heads: 2, context: 16, batch_sequences: 4, steps: 60, dataset: iid27}\n"
            f"axes:\n  depth: [2, 3]\n  method: [prenorm, rezero]\n  lr: [{rates}]\n")
        return path

    def stored(self, address):
        """True once the first part is on disk."""
        return wait_for(lambda: self.query("select count(*) from trial")[0][0] > 0, "the first part")

    def test_others_are_served_and_a_kill_leaves_nothing_of_it(self):
        coordinator, address = self.coordinator()
        self.leadline("nodes", "--coordinator", address)
        submit = self.start("leadline", "submit", self.sweep(), "--coordinator", address)
        self.stored(address)
        self.leadline("nodes", "--coordinator", address)  # which control answers
        whole = self.query("select trials from sweeps")
        self.assertIn(whole, [[], [(TRIALS,)]])
        os.kill(coordinator.pid, signal.SIGKILL)
        coordinator.wait()
        submit.communicate()
        for view in ("sweeps", "settings", "trial_results"):
            rows = self.query(f"select count(*) from {view}")[0][0]
            self.assertEqual(rows > 0, bool(self.query("select trials from sweeps")), view)

        coordinator, address = self.coordinator()
        sweeps = self.leadline_json("ls", "--coordinator", address)["sweeps"]
        self.assertIn([sweep["trials"]["queued"] for sweep in sweeps], [[], [TRIALS]])
        self.leadline("submit", self.sweep(), "--coordinator", address)
        self.assertEqual(self.query("select name, trials from sweeps"), [("large", TRIALS)])
        self.cancel_and_kill(coordinator, address)

    def cancel_and_kill(self, coordinator, address):
        """A cancel that a kill broke off is gone on with: nobody has to ask again."""
        sweep, = self.query("select sweep from sweeps")[0]
        cancel = self.start("leadline", "cancel", sweep, "--coordinator", address)
        wait_for(lambda: self.query("select count(*) from errand")[0][0] > 0, "the cancel to begin")
        os.kill(coordinator.pid, signal.SIGKILL)
        coordinator.wait()
        cancel.kill()
        left = self.query("select count(*) from trial where state = 'queued'")[0][0]
        self.assertLess(0, left)
        self.coordinator()
        wait_for(lambda: self.query("select state, cancelled from sweeps") == [("cancelled", TRIALS)], "the cancel to end")
        self.assertEqual(self.query("select count(*) from errand"), [(0,)])


if __name__ == "__main__":
    unittest.main()
