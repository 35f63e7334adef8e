"""Brings about the state in which a kill shall come, or waits for it, and then kills.

A target is stopped first and what was seen is looked at again: so the kill hits in that state, or
the target goes on and another moment is sought.
"""

import dataclasses
import signal
import time

from cluster import Fault
from draws import LEASE_S
from sweep import STEPS

SEEK_S = 60


@dataclasses.dataclass
class Moment:
    """An attempt in the state wanted. `pinned`: its agent's link is cut until the kill is done."""

    attempt: object
    pinned: bool = False


class Striker:
    """Carries out kills upon one sweep."""

    def __init__(self, cluster, watch):
        self._cluster, self._watch = cluster, watch
        self.misses = self.pins = self.trainers_killed_before = 0
        self._services_hit = 0
        self._holds = {
            "starting": self._is_starting, "early": self._is_early, "late": self._is_late,
            "ending": self._is_ending, "unreachable": self._is_unreachable, "backoff": self._is_in_backoff}

    def strike(self, kill):
        """The attempt that was hit; None if the sweep ended before one could be."""
        deadline = time.monotonic() + 4 * SEEK_S
        while not self._watch.is_over():
            if time.monotonic() > deadline:
                raise Fault(f"no moment came for: {kill}")
            moment = self._seek(kill)
            if moment is None:
                continue
            hit = self._act(kill, moment)
            if moment.pinned:
                self._link(moment.attempt).heal()
            if hit:
                return moment.attempt
            self.misses += 1
        return None

    def _seek(self, kill):
        if kill.state == "ending":
            return self._seek_ending(kill)
        if kill.state == "unreachable":
            return self._seek_unreachable(kill)
        if kill.state == "backoff":
            return self._seek_backoff(kill)
        attempt = self._find(kill, self._holds[kill.state])
        return attempt and Moment(attempt)

    def _find(self, kill, holds):
        """An attempt of which that holds and whose target is free; None after a while."""
        def find():
            if self._watch.is_over():
                return "over"
            self._watch.look()
            free = sorted((attempt for attempt in self._watch.live() if self._is_free(attempt)), key=str)
            found = [attempt for attempt in free if holds(attempt)]
            if kill.target == "trainer":
                found = [attempt for attempt in found if attempt.process(self._rank(kill))]
            return found and found[kill.pick % len(found)]
        found = self._cluster.wait(find, None, SEEK_S)
        return None if found == "over" else found

    def _is_free(self, attempt):
        """No earlier kill lasts that its agent, its link, its trainer or the coordinator suffers from."""
        key = (attempt.cohort, attempt.number)
        return (self._cluster.coordinator_serves() and self._agent(attempt).is_up()
                and self._link(attempt).cut_mode is None and key not in self._watch.frozen)

    def _seek_ending(self, kill):
        """Keeps the results of a trainer from the coordinator. The cut itself may be the kill."""
        attempt = self._find(kill, lambda a: self._is_late(a) and a.events.step >= STEPS)
        if attempt is None or kill.target == "link":
            return attempt and Moment(attempt)
        self._pin(attempt, "silence" if kill.pin == "reset" else kill.pin)
        if kill.target != "trainer":
            self._cluster.wait(lambda: attempt.events.look().results > 0, None, 10, rest=0.002)
        return Moment(attempt, pinned=True)

    def _seek_unreachable(self, kill):
        attempt = self._find(kill, self._is_early)
        if attempt is None:
            return None
        # A connection that breaks is noticed at once, while the trainer has much to do yet.
        self._pin(attempt, "reset" if kill.target == "trainer" else kill.pin)
        self._cluster.wait(lambda: self._is_unreachable(attempt), None, 2 * LEASE_S + 1)
        return Moment(attempt, pinned=True)

    def _seek_backoff(self, kill):
        attempt = self._find(kill, lambda a: self._is_early(a) and a.process(self._rank(kill)))
        if attempt is None:
            return None
        process = attempt.process(self._rank(kill))
        if process is not None:
            process.send(signal.SIGKILL)
            self.trainers_killed_before += 1
        self._cluster.wait(lambda: self._is_in_backoff(attempt), None, 10)
        return Moment(attempt)

    def _pin(self, attempt, mode):
        self._link(attempt).cut(mode)
        self.pins += 1

    def _is_starting(self, attempt):
        return set(attempt.states) == {"leased"} and not attempt.events.look().started

    def _is_early(self, attempt):
        return set(attempt.states) == {"running"} and 0 < attempt.events.look().step <= STEPS // 3

    def _is_late(self, attempt):
        return (set(attempt.states) == {"running"} and attempt.events.look().step >= STEPS * 2 // 3
                and attempt.events.results == 0)

    def _is_ending(self, attempt):
        """Results are written, and none of them has come into the store."""
        return attempt.events.look().results > 0 and set(attempt.states) <= {"running", "unreachable"}

    def _is_unreachable(self, attempt):
        return set(attempt.states) == {"unreachable"}

    def _is_in_backoff(self, attempt):
        """Queued again after a failure, and not yet started again."""
        newest = max(number for cohort, number in self._watch.attempts if cohort == attempt.cohort)
        return attempt.outcome == "failed" and newest == attempt.number and set(attempt.states) == {"queued"}

    def _still_holds(self, kill, attempt):
        self._watch.look()
        return self._holds[kill.state](attempt)

    def _rank(self, kill):
        return kill.pick % self._cluster.ranks

    def _agent(self, attempt):
        return self._cluster.agents[attempt.node]

    def _link(self, attempt):
        return self._cluster.links[attempt.node]

    def _act(self, kill, moment):
        """True if it hit."""
        if kill.target == "link":
            return self._cut(kill, moment.attempt)
        if kill.target == "trainer":
            return self._hit_trainer(kill, moment.attempt)
        service = self._agent(moment.attempt) if kill.target == "agent" else self._cluster.coordinator
        if not service.is_up() or not service.process.freeze():
            return False
        if not self._still_holds(kill, moment.attempt):
            service.process.thaw()
            return False
        self._services_hit += 1
        if kill.how == "kill":
            self._cluster.kill(service, kill.seconds)
        else:
            self._cluster.keep_stopped(service, kill.seconds)
        return True

    def _hit_trainer(self, kill, attempt):
        process = self._freeze_trainer(kill, attempt)
        if process is None:
            return False
        if kill.how == "kill":
            process.send(signal.SIGKILL)
            self._cluster.wait(lambda: not process.is_alive(), f"the trainer of {attempt} to end")
            return True
        key = (attempt.cohort, attempt.number)
        self._watch.frozen.add(key)
        self._cluster.later(kill.seconds, lambda: self._thaw_trainer(process, attempt, key))
        return True

    def _freeze_trainer(self, kill, attempt):
        """Its process, stopped in that state; null if it has left it. What lasts for a moment only is
        caught by letting the trainer go on for a moment at a time."""
        deadline = time.monotonic() + 10
        while time.monotonic() < deadline:
            process = attempt.process(self._rank(kill))
            if process is None or not process.freeze():
                return None
            if self._still_holds(kill, attempt):
                return process
            process.thaw()
            if kill.state != "ending":
                return None
            self._cluster.tick()
            time.sleep(0.001)
        return None

    def _thaw_trainer(self, process, attempt, key):
        # Its agent may have ended it in the meantime, but nobody else may wake it.
        if process.is_alive():
            if not process.is_frozen():
                raise Fault(f"the trainer of {attempt} was to be stopped and is not")
            process.thaw()
        # It has to take notice first of what happened.
        self._cluster.later(3, lambda: self._watch.frozen.discard(key))

    def _cut(self, kill, attempt):
        link = self._link(attempt)
        link.cut(kill.how.removeprefix("cut-"))
        if kill.state == "ending":
            self._cluster.wait(lambda: attempt.events.look().results > 0, None, 10, rest=0.002)
            holds = attempt.events.results > 0 and (
                link.cut_mode == "down" or self._still_holds(kill, attempt))
        else:
            holds = self._still_holds(kill, attempt)
        if not holds:
            link.heal()
            return False

        services_hit = self._services_hit

        def heal():
            # Who is stopped or dead meanwhile sends nothing that could be kept.
            if link.heal() == 0 and self._services_hit == services_hit:
                raise Fault(f"the cut of node {attempt.node} kept nothing from passing")
        self._cluster.later(kill.seconds, heal)
        return True
