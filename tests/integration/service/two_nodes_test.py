"""A coordinator and two agents, each in a network of its own, train one sweep over TCP."""

import json
import signal
import subprocess
import sys
import unittest

from network_world import NAMES, Networks
from service_world import World, wait_for

# Stands in for what a listener on the wire needs: a port of the hub that leads to the coordinator's.
FORWARD = """
import socket, sys, threading
listener = socket.create_server((sys.argv[1], 0))
print(listener.getsockname()[1], flush=True)
def pump(source, sink):
    try:
        while data := source.recv(65536):
            sink.sendall(data)
    except OSError:
        pass
    for one in (source, sink):
        try:
            one.shutdown(socket.SHUT_RDWR)
        except OSError:
            pass
while True:
    near, _ = listener.accept()
    far = socket.create_connection((sys.argv[2], int(sys.argv[3])))
    for pair in ((near, far), (far, near)):
        threading.Thread(target=pump, args=pair, daemon=True).start()
"""


class TwoNodes(World):
    def setUp(self):
        super().setUp()
        self.networks = Networks()
        if self.networks.why_loopback:
            print(f"on one loopback, since no network namespace could be made: {self.networks.why_loopback}",
                  file=sys.stderr)

    def tearDown(self):
        super().tearDown()
        self.networks.close()

    def coordinator(self):
        process = self.start("leadline-coordinator", "--state", self.state(), "--listen", "127.0.0.1:0",
                             prefix=self.networks.prefix("hub"))
        return json.loads(self.line(process, process.stdout))["address"]

    def forward(self, place, address):
        """The coordinator's address, as that machine sees it."""
        host, _, port = address.rpartition(":")
        process = subprocess.Popen(
            [*self.networks.prefix("hub"), sys.executable, "-c", FORWARD, self.networks.hub_address(place), host, port],
            env=self.environment(self.state()), stdout=subprocess.PIPE, text=True)
        self.started.append(process)
        return f"{self.networks.hub_address(place)}:{self.line(process, process.stdout).strip()}"

    def agent(self, place, address):
        config = self.folder / f"{place}.conf"
        config.write_text(f"state={self.state(place)}\ncoordinator={address}\nnode={place}\nslots=1\n")
        return self.start("leadline-agent", "--config", config, state=place, prefix=self.networks.prefix(place))

    def processes(self, place):
        """Process ids of the trainers that ran there, by attempt."""
        return {path.parent.name: json.loads(path.read_text())["pid"]
                for path in self.state(place).glob("attempts/*@*/process.json")}

    def test_trials_run_on_both_and_the_store_says_where(self):
        address = self.coordinator()
        agents = {place: self.agent(place, self.forward(place, address)) for place in NAMES}
        at_hub = {"prefix": self.networks.prefix("hub")}

        def nodes():
            out, _ = self.finish(self.start("leadline", "nodes", "--coordinator", address, "--json", **at_hub))
            return {node["node"]: node for node in json.loads(out)["nodes"] if node["state"] == "ready"}

        wait_for(lambda: set(nodes()) == set(NAMES), "both nodes")
        for node in nodes().values():
            self.assertNotEqual(node["commit"], "")
            self.assertEqual(node["devices"][0]["total"], 1)
        self.finish(self.start("leadline", "submit", self.sweep_file(), "--wait", "--coordinator", address, **at_hub))
        self.assert_every_trial_ended_once()
        stored = self.query("select distinct node, cohort || substr(attempt, instr(attempt, '@')) from attempts")
        self.assertEqual({node for node, _ in stored}, set(NAMES))
        for place in NAMES:
            self.assertEqual({attempt for node, attempt in stored if node == place}, set(self.processes(place)))
            self.assertNotIn(agents[place].pid, self.processes(place).values())
        for agent in agents.values():
            agent.send_signal(signal.SIGTERM)
            self.finish(agent)


if __name__ == "__main__":
    unittest.main()
