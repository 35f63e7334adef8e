"""A coordinator and an agent with real trainers, for as long as a small sweep takes."""

import json
import os
import subprocess

SWEEP = """\
leadline: 1
name: dashboards
seeds: 2
settings: {d_model: 32, n_heads: 2, context: 32, batch_sequences: 8, steps: 300, lr: 1e-2, eval_every: 100, eval_windows: 8, checkpoint_every: off, dataset: iid27}
axes:
  depth: [1, 2]
  method: [prenorm, block_attnres]
"""


class Cluster:
    """Ends all it started when it is left."""

    def __init__(self, programs, trainer, folder):
        self._programs = programs
        self._folder = folder
        self._processes = []
        kept = {name: value for name, value in os.environ.items() if not name.startswith("LEADLINE_")}
        self._environment = kept | {"LEADLINE_STATE": str(folder / "client"), "OMP_NUM_THREADS": "1"}
        coordinator = self._start("leadline-coordinator", "--state", folder / "state", "--listen", "127.0.0.1:0",
                                  "--http", "127.0.0.1:0", stdout=subprocess.PIPE)
        bound = json.loads(coordinator.stdout.readline())
        self.address, self.http = bound["address"], bound["http"]
        words = ["--trainer", trainer] if trainer else []
        self._start("leadline-agent", "--state", folder / "agent", "--coordinator", self.address, "--slots", "1",
                    "--node", "here", *words, stdout=subprocess.DEVNULL)

    def _start(self, program, *words, **options):
        log = open(self._folder / f"{program}.log", "w", encoding="utf-8")
        with log:
            process = subprocess.Popen([self._programs / program, *map(str, words)], env=self._environment,
                                       stdin=subprocess.DEVNULL, stderr=log, text=True, **options)
        self._processes.append(process)
        return process

    def leadline(self, *words):
        done = subprocess.run([self._programs / "leadline", *map(str, words), "--coordinator", self.address],
                              env=self._environment, capture_output=True, text=True, timeout=120)
        if done.returncode != 0:
            raise RuntimeError(f"leadline {' '.join(map(str, words))}: {done.stderr}")
        return done.stdout

    def submit(self):
        """The id of the sweep that has begun."""
        path = self._folder / "sweep.yaml"
        path.write_text(SWEEP)
        return json.loads(self.leadline("submit", path, "--json"))["sweep"]

    def results(self, sweep):
        return json.loads(self.leadline("results", sweep, "--json"))

    def stop(self):
        for process in reversed(self._processes):
            process.terminate()
        for process in self._processes:
            process.wait()
            if process.stdout:
                process.stdout.close()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.stop()
