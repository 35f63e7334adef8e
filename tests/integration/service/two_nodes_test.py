"""A coordinator and two agents, each in a network of its own, train one sweep over TCP."""

import json
import signal
import subprocess
import sys
import unittest

from network_world import NAMES, Networks
from service_world import World, wait_for


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

    def certificates(self):
        """An authority, and the hub's certificate for every address at which it is seen: as the pages say."""
        names = ",".join(f"IP:{self.networks.hub_address(place)}" for place in NAMES)
        (self.folder / "names").write_text(f"subjectAltName={names}\n")
        key = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes"]
        for words in (["req", "-x509", *key, "-days", "2", "-subj", "/CN=ours", "-keyout", "ca.key", "-out", "ca.pem"],
                      ["req", *key, "-subj", "/CN=hub", "-keyout", "hub.key", "-out", "hub.csr"],
                      ["x509", "-req", "-in", "hub.csr", "-CA", "ca.pem", "-CAkey", "ca.key", "-CAcreateserial",
                       "-days", "2", "-out", "hub.pem", "-extfile", "names"]):
            subprocess.run(["openssl", *words], cwd=self.folder, capture_output=True, check=True)

    def token(self, role):
        """A file that holds one, made on the state folder's own socket."""
        file = self.folder / f"{role}.token"
        file.touch(mode=0o600)
        file.write_text(self.leadline("token", "create", "--role", role)[0])
        return file

    def coordinator(self):
        """The port on which it listens to every network of the hub."""
        process = self.start("leadline-coordinator", "--state", self.state(), "--listen", "0.0.0.0:0",
                             "--tls-cert", self.folder / "hub.pem", "--tls-key", self.folder / "hub.key",
                             prefix=self.networks.prefix("hub"))
        return json.loads(self.line(process, process.stdout))["address"].rpartition(":")[2]

    def agent(self, place, address):
        config = self.folder / f"{place}.conf"
        config.write_text(f"state={self.state(place)}\ncoordinator={address}\nnode={place}\nslots=1\n"
                          f"tls-ca={self.folder / 'ca.pem'}\ntoken-file={self.folder / 'agent.token'}\n")
        return self.start("leadline-agent", "--config", config, state=place, prefix=self.networks.prefix(place))

    def processes(self, place):
        """Process ids of the trainers that ran there, by attempt."""
        return {path.parent.name: json.loads(path.read_text())["pid"]
                for path in self.state(place).glob("attempts/*@*/process.json")}

    def test_trials_run_on_both_and_the_store_says_where(self):
        self.certificates()
        self.token("agent")
        self.assert_nothing_lives()
        port = self.coordinator()
        agents = {place: self.agent(place, f"{self.networks.hub_address(place)}:{port}") for place in NAMES}

        def nodes():
            return {node["node"]: node for node in self.leadline_json("nodes")["nodes"] if node["state"] == "ready"}

        wait_for(lambda: set(nodes()) == set(NAMES), "both nodes")
        for node in nodes().values():
            self.assertNotEqual(node["commit"], "")
            self.assertEqual(node["devices"][0]["total"], 1)
        self.leadline("submit", self.sweep_file(), "--wait")
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
