"""What is seen of a sweep from outside: the store, the event files, the trainers."""

import contextlib
import dataclasses
import json
import pathlib
import re
import sqlite3
import time

from cluster import Fault
from processes import Process

ENDED = {"succeeded", "diverged", "failed", "cancelled"}
_EVENT = re.compile(rb'^\{"event":"([a-z_]+)"')
_STEP = re.compile(rb'"step":([0-9]+)')


class EventFile:
    """How far a trainer says that it is, read on from where the last look ended."""

    def __init__(self, path):
        self._path, self._offset, self._rest = path, 0, b""
        self.started = self.ended = False
        self.step = self.results = 0

    def look(self):
        with contextlib.suppress(OSError), open(self._path, "rb") as file:
            file.seek(self._offset)
            text = file.read()
            self._offset += len(text)
            *lines, self._rest = (self._rest + text).split(b"\n")
            for line in lines:
                self._take(line)
        return self

    def _take(self, line):
        event = _EVENT.match(line).group(1)
        if event == b"start":
            self.started = True
        elif event == b"step":
            self.step = int(_STEP.search(line).group(1))
        elif event == b"result":
            self.results += 1
        elif event == b"end":
            self.ended = True


class Attempt:
    """One attempt, as its folder shows it. `states` are those of its trials in the store."""

    def __init__(self, cohort, number, node, folder):
        self.cohort, self.number, self.node, self.folder = cohort, number, node, folder
        self.events = EventFile(folder / "events.jsonl")
        self.states = ()
        self.outcome = "live"
        self._processes = {}  # by rank
        self._gone = set()

    def __str__(self):
        return f"{self.cohort}@{self.number}"

    def process(self, rank=0):
        """Of its trainer of that rank; None if there is none or it has gone."""
        if rank not in self._processes and rank not in self._gone:
            folder = self.folder / f"rank-{rank}" if rank else self.folder
            with contextlib.suppress(OSError, ValueError, ProcessLookupError):
                record = json.loads((folder / "process.json").read_text())
                self._processes[rank] = Process(record["pid"], record["start_time"])
        if rank in self._processes and not self._processes[rank].is_alive():
            self._processes.pop(rank).close()
            self._gone.add(rank)
        return self._processes.get(rank)


@dataclasses.dataclass
class Trial:
    state: str
    attempts: int
    value: object


class Watch:
    """One sweep. Looks at the store and raises Fault at what must never be seen."""

    TRIALS = ("select t.trial, t.state, t.attempts, t.value from trial_results t where t.sweep = ? "
              "and t.metric = 'validation_loss' and t.split = 'validation'")
    ATTEMPTS = ("select a.trial, a.cohort, a.attempt, a.node, a.outcome from attempts a "
                "where a.cohort like ? order by a.trial, a.attempt")

    def __init__(self, cluster, sweep):
        self.cluster, self.sweep = cluster, sweep
        self.trials, self.attempts = {}, {}
        self.moves = {}  # "from to": how often seen
        self.frozen = set()  # attempts whose trainer the harness has stopped
        self._database = None
        self._next_look = self._next_trainers = 0
        self._doubled = {}
        cluster.watch(self.tick)

    def tick(self):
        now = time.monotonic()
        if now >= self._next_look:
            self.look()
            self._next_look = time.monotonic() + 0.03
        if now >= self._next_trainers:
            self._check_trainers()
            self._next_trainers = time.monotonic() + 0.25

    def look(self):
        """Reads the store anew, all of one moment."""
        try:
            if self._database is None:
                self._database = sqlite3.connect(
                    f"file:{self.cluster.database()}?mode=ro", uri=True, isolation_level=None, timeout=5)
            self._database.execute("begin")
            trials = self._database.execute(self.TRIALS, (self.sweep,)).fetchall()
            attempts = self._database.execute(self.ATTEMPTS, (f"{self.sweep}.%",)).fetchall()
            self._database.execute("commit")
        except sqlite3.OperationalError:
            # The coordinator is being started again, and recovers its log.
            self.close()
            return
        self._take_trials(trials)
        self._take_attempts(attempts)

    def close(self):
        if self._database is not None:
            self._database.close()
            self._database = None

    def _take_trials(self, rows):
        for name, state, attempts, value in rows:
            old = self.trials.get(name)
            if old and old.state in ENDED and (old.state, old.value) != (state, value):
                raise Fault(f"trial {name} had ended: {old.state} {old.value}, and is {state} {value}")
            if old and old.attempts > attempts:
                raise Fault(f"trial {name} had {old.attempts} attempts and has {attempts}")
            if old and old.state != state:
                move = f"{old.state} {state}"
                self.moves[move] = self.moves.get(move, 0) + 1
            self.trials[name] = Trial(state, attempts, value)

    def _take_attempts(self, rows):
        states = {}
        for trial, cohort, attempt, node, outcome in rows:
            key = (cohort, int(attempt.rpartition("@")[2]))
            states.setdefault(key, []).append(self.trials[trial].state)
            if key not in self.attempts:
                folder = pathlib.Path(self.cluster.attempts_of(node)) / f"{cohort}@{key[1]}"
                self.attempts[key] = Attempt(*key, node, folder)
            self.attempts[key].outcome = outcome
        for key, value in states.items():
            self.attempts[key].states = tuple(value)

    def live(self):
        return [attempt for attempt in self.attempts.values() if attempt.outcome == "live"]

    def is_over(self):
        return bool(self.trials) and all(trial.state in ENDED for trial in self.trials.values())

    def _check_trainers(self):
        """No two trainers of one cohort; one that the harness stops cannot end itself."""
        running = {}
        for key, attempt in self.attempts.items():
            if key not in self.frozen and attempt.process():
                running.setdefault(attempt.cohort, []).append(attempt)
        for cohort, attempts in running.items():
            if len(attempts) < 2:
                continue
            raise Fault(f"cohort {cohort} trains twice: {', '.join(map(str, attempts))}")
