"""A coordinator over TLS on a hub, and agents on two machines, each in a network of its own."""

import json
import subprocess
import sys

from network_world import NAMES, Networks
from service_world import World


class TwoMachines(World):
    networks_joined = False  # a wire between the machines too

    def setUp(self):
        super().setUp()
        self.networks = Networks(self.networks_joined)
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
        self.hub = process
        return json.loads(self.line(process, process.stdout))["address"].rpartition(":")[2]

    def agent(self, place, port, slots=1, **settings):
        config = self.folder / f"{place}.conf"
        more = "".join(f"{key.replace('_', '-')}={value}\n" for key, value in settings.items())
        config.write_text(f"state={self.state(place)}\ncoordinator={self.networks.hub_address(place)}:{port}\n"
                          f"node={place}\nslots={slots}\n"
                          f"tls-ca={self.folder / 'ca.pem'}\ntoken-file={self.folder / 'agent.token'}\n{more}")
        return self.start("leadline-agent", "--config", config, state=place, prefix=self.networks.prefix(place))

    def processes(self, place):
        """Process ids of the trainers that ran there, by attempt and the folder of their rank."""
        return {(path.parts[path.parts.index("attempts") + 1], path.parent.name): json.loads(path.read_text())["pid"]
                for path in self.state(place).glob("attempts/*@*/**/process.json")}

    def stored_processes(self, place):
        """Likewise as the store has them: attempt, rank and process id."""
        rows = self.query("select distinct cohort || substr(attempt, instr(attempt, '@')), rank, pid from attempt_ranks "
                          f"where node = '{place}' order by 1, 2")
        return [(attempt, rank, pid) for attempt, rank, pid in rows]
