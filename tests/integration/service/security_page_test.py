"""docs/security.md: every block of "Certificates in three commands" works as it is written, in shells that say nothing of umask."""

import json
import os
import pathlib
import re
import socket
import subprocess
import unittest

from service_world import PROGRAMS, World

PAGE = pathlib.Path(__file__).resolve().parents[3] / "docs" / "security.md"


def blocks():
    section = re.search(r"\n## Certificates in three commands\n(.*?)\n## ", PAGE.read_text(), re.S).group(1)
    return re.findall(r"\n```\n(.*?)\n```", section, re.S)


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


class SecurityPage(World):
    def setUp(self):
        super().setUp()
        self.port = free_port()

    def as_here(self, block):
        """What stands for the reader's own machine, folders and port, and nothing else."""
        for theirs, ours in (("head.example", "localhost"), ("0.0.0.0:7070", f"127.0.0.1:{self.port}"), (":7070", f":{self.port}"),
                             ("/var/lib/leadline", str(self.state())), ("DIR", f"{self.state('agent')}")):
            block = block.replace(theirs, ours)
        return block

    def shell(self, block):
        environment = {name: value for name, value in self.environment(self.state()).items() if name != "LEADLINE_STATE"}
        environment["PATH"] = f"{PROGRAMS}:{environment['PATH']}"
        process = subprocess.Popen(["bash", "-e", "-c", self.as_here(block)], cwd=self.folder, env=environment,
                                   stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                                   start_new_session=True, umask=0o022)
        self.started.append(process)
        return process

    def test_its_blocks_set_up_a_coordinator_and_an_agent(self):
        certificates, coordinator, agent = blocks()
        self.finish(self.shell(certificates))
        served = self.shell(coordinator)
        self.assertEqual(json.loads(self.line(served, served.stdout))["address"], f"127.0.0.1:{self.port}")
        # Only a TLS client with a token is let in from now on, which the agent is.
        works = self.shell(agent)
        self.line(works, works.stderr, " registered node=")
        for name in ("admin.token", "agent.token", "ca.key", "head.key"):
            self.assertEqual((self.folder / name).stat().st_mode & 0o077, 0, name)

    def test_a_token_in_a_file_for_others_is_told_to_be(self):
        for umask, said in ((0o022, True), (0o077, False)):
            with self.subTest(umask=umask), open(self.folder / f"{umask}.token", "w", opener=lambda path, flags: os.open(
                    path, flags, 0o666 & ~umask)) as file:
                process = subprocess.run([PROGRAMS / "leadline", "token", "create", "--role", "read"], stdout=file, text=True,
                                         stderr=subprocess.PIPE, env=self.environment(self.state()), check=True)
                self.assertEqual("chmod 600" in process.stderr, said, process.stderr)


if __name__ == "__main__":
    unittest.main()
