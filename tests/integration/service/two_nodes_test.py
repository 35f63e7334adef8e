"""A coordinator and two agents, each in a network of its own, train one sweep over TCP."""

import signal
import unittest

from network_world import NAMES
from service_world import wait_for
from two_machines import TwoMachines


class TwoNodes(TwoMachines):
    def test_trials_run_on_both_and_the_store_says_where(self):
        self.certificates()
        self.token("agent")
        self.assert_nothing_lives()
        port = self.coordinator()
        agents = {place: self.agent(place, port) for place in NAMES}

        def nodes():
            return {node["node"]: node for node in self.leadline_json("nodes")["nodes"] if node["state"] == "ready"}

        wait_for(lambda: set(nodes()) == set(NAMES), "both nodes")
        for node in nodes().values():
            self.assertNotEqual(node["commit"], "")
            self.assertEqual(node["devices"][0]["total"], 1)
        self.leadline("submit", self.sweep_file(), "--wait")
        self.assert_every_trial_ended_once()
        nodes_of_attempts = {node for node, in self.query("select distinct node from attempts")}
        self.assertEqual(nodes_of_attempts, set(NAMES))
        for place in NAMES:
            ran = self.processes(place)
            self.assertEqual(self.stored_processes(place),
                             sorted((attempt, 0, pid) for (attempt, _), pid in ran.items()))
            self.assertNotIn(agents[place].pid, ran.values())
        for agent in agents.values():
            agent.send_signal(signal.SIGTERM)
            self.finish(agent)


if __name__ == "__main__":
    unittest.main()
