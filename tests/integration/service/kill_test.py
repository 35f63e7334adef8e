"""kill -9 of each process in the middle of a sweep, and the same run again."""

import os
import signal
import unittest

from service_world import World

LONG = {"steps": 240, "eval_every": 120}


class Kill(World):
    def setUp(self):
        super().setUp()
        self.file = self.sweep_file(**LONG)
        run = self.start("leadline", "run", self.file, "--slots", "2", state="undisturbed")
        self.finish(run)
        self.expected = self.table("undisturbed")

    def table(self, state):
        """What people read, byte for byte, but for where the database is."""
        text, _ = self.leadline("results", state=state)
        document = self.leadline_json("results", state=state)
        return text.replace(str(self.state(state)), "STATE"), document | {"database": "STATE"}

    def assert_as_if_undisturbed(self, state, adopted=False):
        self.assert_every_trial_ended_once(state)
        self.assertEqual(self.table(state), self.expected)
        attempts = self.query("select max(attempts) from trial_results", state)[0][0]
        self.assertEqual(attempts > 1, not adopted)
        self.assert_nothing_lives()

    def test_each_in_turn(self):
        with self.subTest("trainer"):
            run = self.start("leadline", "run", self.file, "--slots", "2", state="trainer")
            _, pid = self.training("trainer")
            os.kill(pid, signal.SIGKILL)
            self.finish(run)
            kind = self.query("select kind from attempts where outcome = 'failed'", "trainer")
            self.assertIn(("crash",), kind)
            self.assert_as_if_undisturbed("trainer")
        with self.subTest("agent"):
            run = self.start("leadline", "run", self.file, "--slots", "2", state="agent")
            # Both cohorts: one whose trainer is only being started is rightly queued again.
            first, _ = self.training("agent")
            _, trainer = self.training("agent", seen=[first])
            os.kill(self.agent_pid("agent"), signal.SIGKILL)
            self.finish(run)
            self.assertNotIn(trainer, self.living())
            self.assert_as_if_undisturbed("agent", adopted=True)
        with self.subTest("coordinator"):
            run = self.start("leadline", "run", self.file, "--slots", "2", state="coordinator")
            self.training("coordinator")
            os.kill(self.coordinator_pid("coordinator"), signal.SIGKILL)
            self.finish(run, exit_code=4)
            self.finish(self.start("leadline", "run", self.file, "--slots", "2", state="coordinator"))
            self.assert_as_if_undisturbed("coordinator")
        with self.subTest("all but the trainers"):
            run = self.start("leadline", "run", self.file, "--slots", "2", state="all")
            first, _ = self.training("all")
            _, trainer = self.training("all", seen=[first])
            self.kill_at_once(self.agent_pid("all"), self.coordinator_pid("all"), run.pid)
            run.communicate()
            self.assertIn(trainer, self.living())
            self.finish(self.start("leadline", "run", self.file, "--slots", "2", state="all"))
            self.assertNotIn(trainer, self.living())
            self.assert_as_if_undisturbed("all", adopted=True)


if __name__ == "__main__":
    unittest.main()
