"""A name that another live agent bears: the second waits half a minute for the first to go, then says so."""

import unittest

from errors_world import ErrorsWorld


class Names(ErrorsWorld):
    def test_a_name_that_another_live_agent_bears(self):
        self.coordinator()
        self.agent(name="one")
        second = self.start("leadline-agent", "--state", self.state("two"), "--coordinator", self.address, "--node", "one",
                            "--trainer", "/bin/true")
        said = self.fails(second, "name_taken")
        self.assertIn("another live agent is registered as node one", said)
        self.assertIn("--node", said)


if __name__ == "__main__":
    unittest.main()
