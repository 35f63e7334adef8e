"""A state folder of a test's own, and the real programs in it."""

import contextlib
import json
import os
import pathlib
import shutil
import signal
import sqlite3
import subprocess
import tempfile
import threading
import time
import unittest
import uuid

PROGRAMS = pathlib.Path(os.environ["LEADLINE_PROGRAMS"])
PATIENCE_S = 60  # for what takes a second on an idle machine

# Two cohorts of two seeds; at `steps: 300` each trains for about a second.
SWEEP = """\
leadline: 1
name: tiny
seeds: 2
settings:
  depth: 2
  d_model: 16
  n_heads: 2
  context: 16
  batch_sequences: 4
  steps: {steps}
  lr: 1e-2
  eval_every: {eval_every}
  eval_windows: 8
  dataset: iid27
axes:
  method: [prenorm, block_attnres]
"""


def wait_for(holds, what):
    """The first true answer of `holds`; fails the test if none comes, with `what`, a text or what makes one."""
    deadline = time.monotonic() + PATIENCE_S
    while time.monotonic() < deadline:
        answer = holds()
        if answer:
            return answer
        time.sleep(0.01)
    raise AssertionError(f"waited {PATIENCE_S} s for {what() if callable(what) else what}")


class World(unittest.TestCase):
    """Everything started in it carries a mark in its environment, by which what is left is found."""

    maxDiff = None

    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="leadline-test-"))
        self.mark = uuid.uuid4().hex
        self.started = []

    def tearDown(self):
        for process in self.started:
            for stream in (process.stdout, process.stderr):
                if stream:
                    stream.close()
        for pid in self.living():
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        for process in self.started:
            process.wait()
        shutil.rmtree(self.folder, ignore_errors=True)

    def environment(self, state):
        kept = {name: value for name, value in os.environ.items() if not name.startswith("LEADLINE_")}
        return kept | {"LEADLINE_STATE": str(state), "LEADLINE_TEST_MARK": self.mark, "LC_ALL": "C.UTF-8"}

    def state(self, name="state"):
        return self.folder / name

    def sweep_file(self, steps=60, eval_every=30, **settings):
        path = self.folder / f"sweep-{steps}.yaml"
        text = SWEEP.format(steps=steps, eval_every=eval_every)
        more = "".join(f"  {key}: {value}\n" for key, value in settings.items())
        path.write_text(text.replace("axes:\n", more + "axes:\n"))
        return path

    def start(self, program, *words, state="state", prefix=(), **options):
        """A process in a session of its own, as a shell would start it."""
        process = subprocess.Popen(
            [*prefix, PROGRAMS / program, *map(str, words)],
            env=self.environment(self.state(state)), stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True, **options)
        self.started.append(process)
        return process

    def line(self, process, stream, text=""):
        """The next line of a stream of that process that holds the text. A process that does not
        say it in time is killed, so that the test fails with what was said instead of waiting."""
        said = []
        timer = threading.Timer(PATIENCE_S, process.kill)
        timer.start()
        try:
            for line in iter(stream.readline, ""):
                said.append(line)
                if text in line:
                    return line
        finally:
            timer.cancel()
        self.fail(f"{process.args}: no line says {text!r}: {said}{self.logs()}")

    def finish(self, process, exit_code=0):
        """Standard output and standard error, once it has ended with that code."""
        out, err = process.communicate(timeout=2 * PATIENCE_S)
        self.assertEqual(process.returncode, exit_code, f"{process.args}\n{out}\n{err}{self.logs()}")
        return out, err

    def logs(self):
        text = ""
        for log in sorted(self.folder.glob("*/*.log")):
            text += f"\n--- {log.name}\n" + log.read_text(errors="replace")[-4000:]
        return text

    def leadline(self, *words, state="state", exit_code=0):
        return self.finish(self.start("leadline", *words, state=state), exit_code)

    def leadline_json(self, *words, state="state"):
        return json.loads(self.leadline(*words, "--json", state=state)[0])

    def living(self):
        """Ids of the living processes that carry the mark."""
        found = []
        for entry in pathlib.Path("/proc").iterdir():
            if not entry.name.isdecimal():
                continue
            try:
                marked = f"LEADLINE_TEST_MARK={self.mark}".encode() in (entry / "environ").read_bytes()
                alive = (entry / "stat").read_text().rpartition(")")[2].split()[0] not in "ZX"
            except (OSError, UnicodeDecodeError):
                continue
            if marked and alive:
                found.append(int(entry.name))
        return found

    def assert_nothing_lives(self):
        wait_for(lambda: not self.living(), "processes to end")

    def query(self, sql, state="state"):
        with contextlib.closing(sqlite3.connect(f"file:{self.state(state)}/leadline.db?mode=ro", uri=True)) as database:
            return database.execute(sql).fetchall()

    def coordinator_pid(self, state="state"):
        return json.loads((self.state(state) / "coordinator.json").read_text())["pid"]

    def agent_pid(self, state="state"):
        return int((self.state(state) / "agent.lock").read_text())

    def training(self, state="state", steps=3, seen=()):
        """Folder and process id of an attempt that is in the middle of training; none of `seen`."""
        def find():
            for folder in sorted(self.state(state).glob("attempts/*@*")):
                with contextlib.suppress(OSError, ValueError):
                    events = (folder / "events.jsonl").read_text()
                    if folder in seen or '"event":"end"' in events or events.count('"event":"step"') < steps:
                        continue
                    return folder, json.loads((folder / "process.json").read_text())["pid"]
            return None
        return wait_for(find, "an attempt that trains")

    def kill_at_once(self, *pids):
        """None of them sees another die: each is halted before the first is killed. Children come
        before their parents: the kernel wakes a halted process whose parent ends (SIGHUP, SIGCONT)."""
        for pid in pids:
            os.kill(pid, signal.SIGSTOP)
        wait_for(lambda: all(map(self.is_halted, pids)), "processes to stand still")
        for pid in pids:
            with contextlib.suppress(ProcessLookupError):  # the one before it had it ended
                os.kill(pid, signal.SIGKILL)

    def is_halted(self, pid):
        """Every thread of it: one is told of the signal, and some run on until that one has run."""
        states = [(task / "stat").read_text().rpartition(")")[2].split()[0]
                  for task in pathlib.Path(f"/proc/{pid}/task").iterdir()]
        return all(state == "T" for state in states)

    def held_with_checkpoints(self, state, count=1):
        """Folder and process of an attempt that is halted in its midst, with that many checkpoints."""
        def find():
            for folder in self.state(state).glob("attempts/*@1"):
                with contextlib.suppress(OSError, ValueError):
                    pid = json.loads((folder / "process.json").read_text())["pid"]
                    if len(list(folder.glob("checkpoints/step-*0"))) < count or self.has_ended(folder):
                        continue
                    os.kill(pid, signal.SIGSTOP)
                    if not self.has_ended(folder):
                        return folder, pid
            return None
        return wait_for(find, "an attempt that trains and has a checkpoint")

    def has_ended(self, folder):
        return '"event":"end"' in (folder / "events.jsonl").read_text()

    def assert_every_trial_ended_once(self, state="state"):
        rows = self.query("select trial, count(*), min(state), max(state) from trial_results "
                          "where metric = 'validation_loss' and split = 'validation' group by trial", state)
        self.assertEqual([(count, least, most) for _, count, least, most in rows],
                         [(1, "succeeded", "succeeded")] * 4, rows)
