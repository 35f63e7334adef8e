"""A coordinator that is told to stop ends, whatever is open."""

import json
import signal
import time
import unittest

from service_world import World, wait_for

WATCHES = 20
MOST_SECONDS = 5


class OpenStreams(World):
    def coordinator(self, listen="127.0.0.1:0"):
        process = self.start("leadline-coordinator", "--state", self.state(), "--listen", listen)
        return process, json.loads(self.line(process, process.stdout))["address"]

    def test_a_stop_with_twenty_open_watches_ends_within_five_seconds(self):
        coordinator, address = self.coordinator()
        remote = ["--coordinator", address]
        agent = self.start("leadline-agent", "--state", self.state("agent"), *remote, "--slots", "1",
                           "--trainer", "/bin/false", state="agent")
        self.leadline("submit", self.sweep_file(), *remote)
        watches = [self.start("leadline", "watch", "s1", "--patience", "0", *remote) for _ in range(WATCHES)]
        for watch in watches:
            self.line(watch, watch.stdout, "s1")
        began = time.monotonic()
        coordinator.send_signal(signal.SIGTERM)
        out, err = coordinator.communicate(timeout=60)
        took = time.monotonic() - began
        self.assertEqual(coordinator.returncode, 0, f"{out}\n{err}{self.logs()}")
        self.assertLess(took, MOST_SECONDS)
        for watch in watches:
            _, err = self.finish(watch, exit_code=4)
            self.assertIn(address, err)
        self.assertIsNone(agent.poll())
        agent.send_signal(signal.SIGTERM)
        self.finish(agent)
        wait_for(lambda: not self.living(), "processes to end")

    def test_a_watch_outlives_a_kill_of_its_coordinator(self):
        coordinator, address = self.coordinator()
        remote = ["--coordinator", address]
        agent = self.start("leadline-agent", "--state", self.state("agent"), *remote, "--slots", "1", state="agent")
        self.leadline("submit", self.sweep_file(steps=240, eval_every=120), *remote)
        watch = self.start("leadline", "watch", "s1", *remote)
        self.training("agent")
        coordinator.kill()
        coordinator.communicate()
        self.assertIn("went away", self.line(watch, watch.stderr))
        coordinator, _ = self.coordinator(address)
        out, err = self.finish(watch)
        self.assertIn("it is back", err)
        self.assertIn("s1: 4/4 done", out)
        self.assert_every_trial_ended_once()
        for process in (agent, coordinator):
            process.send_signal(signal.SIGTERM)
            self.finish(process)


if __name__ == "__main__":
    unittest.main()
