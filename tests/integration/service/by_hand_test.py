"""Coordinator and agents started by hand, over TCP."""

import json
import signal
import unittest

from service_world import World


class ByHand(World):
    def coordinator(self, *words, state="coordinator"):
        process = self.start("leadline-coordinator", "--state", self.state(state), *words, state=state)
        return process, json.loads(self.line(process, process.stdout))

    def test_two_agents_share_a_sweep(self):
        coordinator, bound = self.coordinator("--listen", "127.0.0.1:0")
        written = json.loads((self.state("coordinator") / "coordinator.json").read_text())
        self.assertEqual(written, bound)
        address = bound["address"]
        agents = [self.start("leadline-agent", "--state", self.state(name), "--coordinator", address,
                             "--node", name, "--slots", "1", state=name) for name in ("one", "two")]
        for agent in agents:
            self.line(agent, agent.stderr, "registered node=")
        table = self.leadline_json("run", self.sweep_file(steps=300), "--coordinator", address, state="client")
        self.assertEqual([cell["n"] for cell in table["cells"]], [2, 2])
        self.assert_every_trial_ended_once("coordinator")
        nodes = self.query("select distinct node from attempts order by node", "coordinator")
        self.assertEqual(nodes, [("one",), ("two",)])
        for process in (*agents, coordinator):
            process.send_signal(signal.SIGTERM)
            self.finish(process)
        self.assert_nothing_lives()

    def test_a_second_bearer_of_a_name_is_refused(self):
        _, bound = self.coordinator("--listen", "127.0.0.1:0")
        words = ["--coordinator", bound["address"], "--node", "same", "--slots", "1"]
        first = self.start("leadline-agent", "--state", self.state("one"), *words)
        self.line(first, first.stderr, "registered node=")  # the two must not race for the name
        second = self.start("leadline-agent", "--state", self.state("two"), *words)
        self.line(second, second.stderr, "another live agent is registered as node same")


if __name__ == "__main__":
    unittest.main()
