"""A coordinator and an agent with the tests' own trainer, which misbehaves as it is told."""

import json
import pathlib
import signal
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "service"))

from service_world import PROGRAMS, World, wait_for  # noqa: E402 (the path comes first)

SWEEP = """\
leadline: 1
name: {name}
seeds: {seeds}
settings: {{d_model: 16, n_heads: 2, context: 16, batch_sequences: 4, steps: 20, lr: 1e-2, dataset: {dataset}}}
axes: {{depth: {depths}, method: [prenorm]}}
"""


class ErrorsWorld(World):
    def coordinator(self, *words, **options):
        process = self.start("leadline-coordinator", "--state", self.state(), "--listen", "127.0.0.1:0", *words, **options)
        self.address = json.loads(self.line(process, process.stdout))["address"]
        return process

    def agent(self, *words, name="agent", **options):
        for flag, value in (("--slots", "4"), ("--trainer", PROGRAMS / "tests" / "test_trainer")):
            if flag not in words:
                words = [flag, value, *words]
        process = self.start("leadline-agent", "--state", self.state(name), "--coordinator", self.address, "--node", name,
                             "--least-free-mb", "0", *words, state=name, **options)
        self.line(process, process.stderr, "registered node=")
        return process

    def behave(self, word, cohort="", name="agent"):
        self.state(name).mkdir(mode=0o700, exist_ok=True)
        (self.state(name) / (f"behaviour.{cohort}" if cohort else "behaviour")).write_text(word)

    def go(self, name="agent"):
        (self.state(name) / "go").write_text("yes\n")

    def sweep(self, depths=(1,), seeds=1, name="errors", dataset="iid27"):
        path = self.folder / "sweep.yaml"
        path.write_text(SWEEP.format(depths=list(depths), seeds=seeds, name=json.dumps(name), dataset=dataset))
        return path

    def words(self, *words):
        return [*words, "--coordinator", self.address]

    def ask(self, *words, exit_code=0):
        return self.leadline(*self.words(*words), state="client", exit_code=exit_code)

    def ask_json(self, *words):
        return json.loads(self.ask(*words, "--json")[0])

    def error_of(self, *words, code, exit_code):
        """The error of a command that fails so, of which --json and people hear the same."""
        out, err = self.ask(*words, "--json", exit_code=exit_code)
        if out:  # one that waited tells how its sweep stands
            json.loads(out)
        error = json.loads(err)["error"]
        self.assertEqual((error["code"], error["exit_code"]), (code, exit_code), error)
        return error

    def fails(self, process, code, exit_code=1):
        """The last words of a service that ends so."""
        _, err = self.finish(process, exit_code)
        self.assertRegex(err, rf"(?m)^leadline-(coordinator|agent): (.|\n)+ \[{code}\]\n\Z")
        return err

    def end(self, process):
        process.send_signal(signal.SIGTERM)
        return self.finish(process)


__all__ = ["PROGRAMS", "ErrorsWorld", "wait_for"]
