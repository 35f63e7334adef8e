"""Kills the processes of a sweep at moments drawn from a seed; its tables must not show it.

    build/tests/kill_sweep --seed 1 --kills 10

A coordinator and two agents train 24 trials, undisturbed first. Then the same again, while the
coordinator, the agents and the trainers are killed (SIGKILL), stopped for a while (SIGSTOP) and cut
off from each other, in every state of a trial. Once the sweep has ended another is begun, until as
many kills have hit as were asked for. At the end every table and view must be that of the
undisturbed run, byte for byte.
"""

import argparse
import collections
import json
import pathlib
import shutil
import sys
import tempfile
import time
import uuid

from cluster import Cluster, Fault
from draws import schedule
from moments import Striker
from sweep import assert_ended_once, assert_equal, assert_sound, outcome, submit, undisturbed
from watch import Watch

END_S = 240  # from the last kill of a sweep to its end, on a busy machine


def arguments():
    parser = argparse.ArgumentParser(prog="kill_sweep", description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seed", type=int, required=True, help="of the schedule")
    parser.add_argument("--kills", type=int, default=10, help="how many must hit (default 10)")
    parser.add_argument("--ranks", type=int, default=1, help="of each attempt, all on its node (default 1)")
    parser.add_argument("--keep", type=pathlib.Path, metavar="DIR", help="new folder of the run, which stays")
    parser.add_argument("--json", type=pathlib.Path, metavar="FILE", help="write what happened")
    parser.add_argument("--reference", type=pathlib.Path, metavar="DIR",
                        help="where undisturbed runs are kept, one per sweep and trainer")
    parser.add_argument("--schedule", action="store_true", help="print the schedule of the seed, no more")
    parser.add_argument("--programs", type=pathlib.Path, required=True, help=argparse.SUPPRESS)
    parser.add_argument("--trainer", type=pathlib.Path, help="the trainer program; default: that of the build")
    options = parser.parse_args()
    if options.kills < 1:
        parser.error("--kills must be at least 1")
    if options.ranks not in (1, 2, 4):
        parser.error("--ranks must be 1, 2 or 4: they share the 4 sequences of a batch")
    options.trainer = (options.trainer or options.programs / "leadline-trainer").resolve()
    if not options.schedule and not options.trainer.exists():
        parser.error(f"no trainer at {options.trainer}; name one with --trainer")
    return options


class Run:
    """One cluster from its start to its end, and what is told of it."""

    def __init__(self, options, folder):
        self._options, self._folder, self._mark = options, folder, uuid.uuid4().hex
        self._begin = time.monotonic()
        self.hits = []
        self.counts = collections.Counter()
        self.moves = collections.Counter()
        self.attempts = collections.Counter()
        self._without_agent = []  # attempts whose agent was killed
        self.report = {"seed": options.seed, "kills": options.kills, "ranks": options.ranks}

    def say(self, text):
        print(f"{time.monotonic() - self._begin:7.1f} s  {text}", flush=True)

    def go(self):
        expected, seconds = undisturbed(self._options.programs, self._options.trainer, self._folder / "undisturbed",
                                        self._mark, self._options.reference, self._options.ranks)
        self.report["undisturbed_seconds"] = round(seconds, 1)
        self.say("undisturbed run is there")
        folder = self._folder / "disturbed"
        folder.mkdir()
        cluster = Cluster(self._options.programs, self._options.trainer, folder, self._mark, self._options.ranks)
        try:
            self._disturb(cluster, expected)
            cluster.wait(lambda: not cluster.has_outage(), "the last outage to end", rest=0.02)
            # What comes back from a long outage must have been heard before all is judged.
            self._last_judgement(cluster, expected)
            cluster.shut_down()
            self.report["orphans"] = assert_sound(cluster.database())
            self.report["restarts"] = {service.name: service.starts - 1 for service in cluster.services()}
        finally:
            cluster.destroy()
        self._conclude()

    def _disturb(self, cluster, expected):
        kills = collections.deque(schedule(self._options.seed, self._options.kills))
        self._sweeps, fruitless = [], 0
        totals = collections.Counter()
        while kills:
            watch = Watch(cluster, submit(cluster))
            self._sweeps.append(watch)
            striker = Striker(cluster, watch)
            before = len(self.hits)
            while kills and (attempt := striker.strike(kills[0])):
                self._note(kills.popleft(), attempt)
            totals.update(misses=striker.misses, pins=striker.pins,
                          trainers_killed_for_backoff=striker.trainers_killed_before)
            fruitless = 0 if len(self.hits) > before else fruitless + 1
            if fruitless == 3:
                raise Fault(f"three sweeps ended before this could come about: {kills[0]}")
            self._await_end(cluster, watch, expected)
        self.report |= {"sweeps": len(self._sweeps)} | dict(totals)

    def _note(self, kill, attempt):
        self.hits.append(kill)
        if (kill.target, kill.how) == ("agent", "kill") and kill.state != "backoff":
            self._without_agent.append(attempt)
        self.counts[kill.state, kill.target, kill.how] += 1
        self.say(f"kill {kill.number} of {self._options.kills}: {kill}: {attempt} on {attempt.node}")

    def _await_end(self, cluster, watch, expected):
        cluster.wait(watch.is_over, f"{watch.sweep} to end", END_S, rest=0.02)
        self._judge(cluster, watch, expected)
        self.say(f"{watch.sweep} has ended, as if undisturbed")

    def _judge(self, cluster, watch, expected):
        cluster.wait(cluster.coordinator_serves, "the coordinator to serve")
        # The last word of an attempt comes after its results.
        cluster.wait(lambda: not watch.live(), f"the attempts of {watch.sweep} to end", rest=0.02)
        assert_ended_once(cluster, watch)
        assert_equal(outcome(cluster, watch.sweep), expected, watch.sweep)

    def _last_judgement(self, cluster, expected):
        for watch in self._sweeps:
            self._judge(cluster, watch, expected)
            self.moves.update(watch.moves)
            self.attempts.update(trial.attempts for trial in watch.trials.values())
            watch.close()

    def _conclude(self):
        if len(self.hits) != self._options.kills or self.counts.total() != self._options.kills:
            raise Fault(f"{len(self.hits)} of {self._options.kills} kills have hit")
        if max(self.attempts) < 2:
            raise Fault("no trial needed a second attempt")
        self.report |= {
            "outcome": "passed",
            "seconds": round(time.monotonic() - self._begin, 1),
            "attempts_that_lost_their_agent": len(self._without_agent),
            "of_these_succeeded": sum(attempt.outcome == "succeeded" for attempt in self._without_agent),
            "trials_by_attempts": {str(count): self.attempts[count] for count in sorted(self.attempts)},
            "hits": [{"state": state, "target": target, "how": how, "count": count}
                     for (state, target, how), count in sorted(self.counts.items())],
            "moves_seen": dict(sorted(self.moves.items())),
        }

    def tell(self):
        for (state, target, how), count in sorted(self.counts.items()):
            print(f"{state:12} {target:12} {how:12} {count:4}")
        for key, value in self.report.items():
            if key not in ("hits", "kills", "ranks"):
                print(f"{key}: {value}")


def _command(options):
    return f"kill_sweep --seed {options.seed} --kills {options.kills} --ranks {options.ranks}"


def main():
    options = arguments()
    if options.schedule:
        print("\n".join(f"{kill.number:5}  {kill}" for kill in schedule(options.seed, options.kills)))
        return 0
    if options.keep:
        folder = options.keep.resolve()
        folder.mkdir(parents=True)
    else:
        folder = pathlib.Path(tempfile.mkdtemp(prefix="leadline-kills-"))
    print(f"{_command(options)}, in {folder}", flush=True)
    run = Run(options, folder)
    try:
        run.go()
    except BaseException as error:
        run.report |= {"outcome": f"{type(error).__name__}: {error}"}
        print(f"\nFAILED: {error}\nseed {options.seed}, after {len(run.hits)} kills:")
        for kill in run.hits:
            print(f"  {kill.number}: {kill}")
        print(f"again: {_command(options)}\nlogs and state: {folder}", flush=True)
        if isinstance(error, (Fault, KeyboardInterrupt)):
            return 1
        raise
    finally:
        if options.json:
            options.json.write_text(json.dumps(run.report, indent=1) + "\n")
    run.tell()
    if not options.keep:
        shutil.rmtree(folder)
    return 0


if __name__ == "__main__":
    sys.exit(main())
