"""The units of deploy/systemd under a real systemd: they come up, come back, and leave alone what misuse ended."""

import contextlib
import json
import os
import unittest

from systemd_world import Machine, wait_for

UNITS = ("leadline-coordinator", "leadline-agent")

SWEEP = """\
leadline: 1
name: served
seeds: 2
settings:
  depth: {depth}
  d_model: {d_model}
  n_heads: 2
  context: {context}
  batch_sequences: 4
  steps: {steps}
  lr: 1e-2
  eval_every: 100
  eval_windows: 8
  dataset: iid27
  method: prenorm
"""

LIMIT = "500M"  # of an agent with its trainers, where one that loads LibTorch takes some 250


@unittest.skipIf(os.geteuid(), "only root may boot a systemd")
class Systemd(unittest.TestCase):
    def setUp(self):
        self.machine = Machine()
        self.addCleanup(self.machine.close)
        self.machine.boot()

    def start(self):
        done = self.machine.systemctl("start", *UNITS)
        self.assertEqual(done.returncode, 0, done.stderr + self.machine.journal())
        wait_for(self.nodes, self.machine.journal)

    def nodes(self):
        done = self.machine.run("env", "LEADLINE_COORDINATOR=127.0.0.1:7070",
                                "/opt/leadline/build/leadline", "nodes", "--json")
        with contextlib.suppress(ValueError):
            return json.loads(done.stdout)["nodes"]
        return []

    def submit(self, steps, depth=2, d_model=16, context=16):
        text = SWEEP.format(steps=steps, depth=depth, d_model=d_model, context=context)
        self.machine.path("/tmp/sweep.yaml").write_text(text)
        self.machine.leadline("submit", "/tmp/sweep.yaml")

    def pid(self, unit):
        return self.machine.shown(unit, "MainPID")["MainPID"]

    def kill(self, unit):
        """With SIGKILL, and waits until systemd has started it again."""
        before = self.pid(unit)
        self.machine.run("kill", "-9", before)
        wait_for(lambda: self.machine.shown(unit, "ActiveState")["ActiveState"] == "active" and
                 self.pid(unit) not in ("0", before), self.machine.journal)

    def training(self):
        """The trainer's process, once it trains."""
        def find():
            for folder in self.machine.path("/var/lib/leadline-agent/attempts").glob("*@*"):
                with contextlib.suppress(OSError, ValueError):
                    if '"event":"step"' in (folder / "events.jsonl").read_text():
                        return json.loads((folder / "process.json").read_text())["pid"]
            return None
        return wait_for(find, self.machine.journal)

    def test_a_sweep_outlives_the_death_of_both(self):
        self.start()
        self.submit(4000)
        trainer = self.training()
        for unit in UNITS:
            self.kill(unit)
        self.assertEqual(self.training(), trainer)
        self.machine.leadline("watch", "s1")
        # Adopted: a trainer that had died with its agent would have made a second one.
        trial = json.loads(self.machine.leadline("show", "s1.1.0", "--json"))
        self.assertEqual((trial["state"], trial["attempts"]), ("succeeded", 1))
        done = self.machine.systemctl("stop", *UNITS)
        self.assertEqual(done.returncode, 0, done.stderr)
        for unit in UNITS:
            self.assertEqual(self.machine.shown(unit, "ActiveState", "Result"),
                             {"ActiveState": "inactive", "Result": "success"})

    def test_an_agent_that_is_stopped_leaves_no_trainer(self):
        self.start()
        self.submit(1_000_000)
        trainer = self.training()
        self.machine.systemctl("stop", "leadline-agent")
        self.assertFalse(self.machine.path(f"/proc/{trainer}").exists())

    def test_a_trainer_that_the_kernel_kills_for_memory_is_a_failed_attempt_and_no_end_of_the_agent(self):
        limit = self.machine.path("/etc/systemd/system/leadline-agent.service.d/memory.conf")
        limit.parent.mkdir()
        limit.write_text(f"[Service]\nMemoryMax={LIMIT}\n")
        self.machine.systemctl("daemon-reload")
        self.start()
        agent = self.pid("leadline-agent")
        self.submit(10, depth=24, d_model=256, context=512)
        said = self.machine.leadline("watch", "s1", exit_code=3)
        self.assertIn("oom: ", said)
        self.assertEqual(self.pid("leadline-agent"), agent)
        self.submit(10)
        self.machine.leadline("watch", "s2")

    def test_misuse_is_not_tried_again(self):
        for unit in UNITS:
            settings = self.machine.path(f"/etc/leadline/{unit.removeprefix('leadline-')}.conf")
            with settings.open("a") as file:
                file.write("no-such-setting=1\n")
            self.machine.systemctl("start", unit)
            wait_for(lambda unit=unit: self.machine.shown(unit, "ActiveState")["ActiveState"] == "failed",
                     self.machine.journal)
            self.assertEqual(self.machine.shown(unit, "ExecMainStatus", "NRestarts"),
                             {"ExecMainStatus": "2", "NRestarts": "0"})
        self.assertIn("no-such-setting", self.machine.journal())


if __name__ == "__main__":
    unittest.main()
