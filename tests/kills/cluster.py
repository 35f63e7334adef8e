"""A coordinator and agents, each started again as systemd would when it has died."""

import contextlib
import json
import pathlib
import signal
import subprocess
import time

from draws import GRACE_S, HEARTBEAT_S, LEASE_S
from link import Link
from processes import Process, environment, marked

PATIENCE_S = 60  # for what takes a second on an idle machine
SLOTS = {"one": 2, "two": 1}  # attempts at once
# However often a cohort is hit, it must be tried again; nodes come under quarantine as always.
OFTEN = ["--tries", 100, "--tries-in-total", 1000, "--free-restarts", 3600]


# Where the harness itself is killed, what it started must not stay.
WITH_US = ["setpriv", "--pdeathsig", "KILL", "--"]


class Fault(AssertionError):
    """What must not be, was seen."""


class Service:
    """One program that shall run. Down or stopped until a moment, else up."""

    def __init__(self, name, command, folder, mark):
        self.name = name
        self._command, self._mark = command, mark
        self._log = folder / f"{name}.log"
        self._popen = None
        self.process = None
        self.starts = 0
        self.stopped = False
        self.down = False
        self.ended = []  # exit codes
        self.start()

    def start(self):
        with open(self._log, "ab") as log:
            self._popen = subprocess.Popen(
                [*WITH_US, *map(str, self._command)], env=environment(self._mark), start_new_session=True,
                stdin=subprocess.DEVNULL, stdout=log, stderr=log)
        self.process = Process(self._popen.pid)
        self.starts += 1
        self.down = False

    @property
    def pid(self):
        return self._popen.pid

    def is_up(self):
        return not self.stopped and not self.down

    def kill(self):
        """Kills a frozen process; what is frozen cannot have ended by itself."""
        self.process.send(signal.SIGKILL)
        code = self._popen.wait(PATIENCE_S)
        self._gone(code)
        if code != -signal.SIGKILL:
            raise Fault(f"{self.name} was to be killed and ended with {code}")

    def _gone(self, code):
        self.ended.append(code)
        self.process.close()
        self.stopped = False
        self.down = True

    def check(self):
        """None of them may end unless it is told to."""
        if not self.down and self._popen.poll() is not None:
            code = self._popen.returncode
            self._gone(code)
            raise Fault(f"{self.name} ended by itself with {code}")

    def terminate(self):
        if not self.down:
            self.process.send(signal.SIGTERM)

    def finish(self):
        if not self.down:
            code = self._popen.wait(PATIENCE_S)
            self._gone(code)
            if code != 0:
                raise Fault(f"{self.name} ended with {code} on SIGTERM")

    def destroy(self):
        if not self.down:
            self.process.send(signal.SIGKILL)
            self._popen.wait()
            self.process.close()


class Cluster:
    """Everything that runs, and what is to be put right later. `tick` often."""

    def __init__(self, programs, trainer, folder, mark, ranks):
        self.programs, self.folder, self.mark, self.ranks = programs, folder, mark, ranks
        self.address = None
        self.links = {node: Link() for node in SLOTS}
        self._later = []  # (moment, what to do)
        self._watchers = []
        self.coordinator = Service(
            "coordinator",
            [programs / "leadline-coordinator", "--state", folder / "coordinator", "--listen", "127.0.0.1:0",
             "--lease", LEASE_S, "--heartbeat", HEARTBEAT_S, "--grace", GRACE_S, *OFTEN],
            folder, mark)
        self.agents = {
            node: Service(
                f"agent-{node}",
                [programs / "leadline-agent", "--state", folder / node, "--node", node, "--slots", slots * ranks,
                 "--coordinator", self.links[node].address, "--trainer", trainer, "--data", folder / "data"],
                folder, mark)
            for node, slots in SLOTS.items()}

    def services(self):
        return [self.coordinator, *self.agents.values()]

    def database(self):
        return self.folder / "coordinator" / "leadline.db"

    def attempts_of(self, node):
        return self.folder / node / "attempts"

    def watch(self, watcher):
        """Called by each tick."""
        self._watchers.append(watcher)

    def later(self, seconds, act):
        self._later.append((time.monotonic() + seconds, act))

    def has_outage(self):
        return bool(self._later)

    def tick(self):
        now = time.monotonic()
        due = [entry for entry in self._later if entry[0] <= now]
        self._later = [entry for entry in self._later if entry[0] > now]
        for _, act in due:
            act()
        for service in self.services():
            service.check()
        if not all(link.serves() for link in self.links.values()):
            raise Fault("a proxy of the harness has ended")
        if self.address is None and not self.coordinator.down:
            self._look_for_address()
        for watcher in self._watchers:
            watcher()

    def _look_for_address(self):
        with contextlib.suppress(OSError, ValueError):
            bound = json.loads((self.folder / "coordinator" / "coordinator.json").read_text())
            if bound["pid"] == self.coordinator.pid:
                self.address = bound["address"]
                for link in self.links.values():
                    link.lead_to(self.address)

    def coordinator_serves(self):
        return self.coordinator.is_up() and self.address is not None

    def kill(self, service, seconds):
        """Of a frozen one. It is started again after the seconds."""
        service.kill()
        if service is self.coordinator:
            self.address = None
            for link in self.links.values():
                link.lead_to(None)
        self.later(seconds, service.start)

    def keep_stopped(self, service, seconds):
        """Of a frozen one. It goes on after the seconds."""
        service.stopped = True
        self.later(seconds, lambda: self._go_on(service))

    def _go_on(self, service):
        if not service.process.is_frozen():
            raise Fault(f"{service.name} was to be stopped and is not")
        service.stopped = False
        service.process.thaw()

    def wait(self, holds, what, seconds=PATIENCE_S, rest=0.004):
        """The first true answer of `holds`; None if none comes in time and `what` is None."""
        deadline = time.monotonic() + seconds
        while True:
            self.tick()
            answer = holds()
            if answer:
                return answer
            if time.monotonic() >= deadline:
                if what is None:
                    return None
                raise Fault(f"waited {seconds:.0f} s for {what}")
            time.sleep(rest)

    def leadline(self, *words):
        """Standard output of a command that must succeed."""
        self.wait(self.coordinator_serves, "the coordinator to serve")
        ended = subprocess.run(
            [self.programs / "leadline", *map(str, words), "--coordinator", self.address],
            env=environment(self.mark), stdin=subprocess.DEVNULL, capture_output=True, timeout=PATIENCE_S, check=False)
        if ended.returncode != 0:
            raise Fault(f"leadline {' '.join(map(str, words))}: exit code {ended.returncode}: {ended.stderr.decode()}")
        return ended.stdout

    def shut_down(self):
        """As systemd stops services; nothing of theirs may live on."""
        for service in (*self.agents.values(), self.coordinator):
            service.terminate()
        for service in (*self.agents.values(), self.coordinator):
            service.finish()
        deadline = time.monotonic() + 10
        while left := marked(self.mark):
            if time.monotonic() > deadline:
                raise Fault(f"processes are left: {[_words(pid) for pid in left]}")
            time.sleep(0.02)

    def destroy(self):
        for service in self.services():
            service.destroy()
        for pid in marked(self.mark):
            with contextlib.suppress(ProcessLookupError):
                process = Process(pid)
                process.send(signal.SIGKILL)
                process.close()
        for link in self.links.values():
            link.close()


def _words(pid):
    with contextlib.suppress(OSError):
        return pathlib.Path(f"/proc/{pid}/cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
    return str(pid)
