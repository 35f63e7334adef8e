"""A coordinator that is told to stop ends, whatever is open."""

import json
import signal
import time
import unittest

from service_world import World, wait_for

WATCHES = 20
MOST_SECONDS = 5


class OpenStreams(World):
    def coordinator(self):
        process = self.start("leadline-coordinator", "--state", self.state(), "--listen", "127.0.0.1:0")
        return process, json.loads(self.line(process, process.stdout))["address"]

    def test_a_stop_with_twenty_open_watches_ends_within_five_seconds(self):
        coordinator, address = self.coordinator()
        remote = ["--coordinator", address]
        agent = self.start("leadline-agent", "--state", self.state("agent"), *remote, "--slots", "1",
                           "--trainer", "/bin/false", state="agent")
        self.leadline("submit", self.sweep_file(), *remote)
        watches = [self.start("leadline", "watch", "s1", *remote) for _ in range(WATCHES)]
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


if __name__ == "__main__":
    unittest.main()
