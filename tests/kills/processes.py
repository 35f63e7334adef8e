"""Processes by id and start time, never by name."""

import contextlib
import os
import pathlib
import signal
import time

MARK = "LEADLINE_TEST_MARK"


def _stat(path):
    return path.read_text().rpartition(")")[2].split()


class Process:
    """A handle that stays with the very process: a number that passed on is not touched."""

    def __init__(self, pid, start_time=None):
        self.pid = pid
        self._handle = os.pidfd_open(pid)
        try:
            if start_time is not None and int(_stat(self._proc())[19]) != start_time:
                raise ProcessLookupError(pid)
        except (OSError, IndexError):
            self.close()
            raise ProcessLookupError(pid) from None

    def _proc(self):
        return pathlib.Path(f"/proc/{self.pid}/stat")

    def close(self):
        if self._handle is not None:
            os.close(self._handle)
            self._handle = None

    def is_alive(self):
        """False for what waits to be reaped, too, and for what was let go of."""
        if self._handle is None:
            return False
        try:
            signal.pidfd_send_signal(self._handle, 0)
            return _stat(self._proc())[0] not in "ZX"
        except (OSError, IndexError):
            return False

    def send(self, number):
        """False if it has gone, or was let go of."""
        if self._handle is None:
            return False
        try:
            signal.pidfd_send_signal(self._handle, number)
            return True
        except OSError:
            return False

    def is_frozen(self):
        """True once every thread has stopped."""
        try:
            threads = list(pathlib.Path(f"/proc/{self.pid}/task").iterdir())
            return bool(threads) and all(_stat(thread / "stat")[0] in "Tt" for thread in threads)
        except (OSError, IndexError):
            return False

    def freeze(self):
        """Stops it and waits until it has stopped; false if it has gone before that."""
        if not self.send(signal.SIGSTOP):
            return False
        deadline = time.monotonic() + 5
        while time.monotonic() < deadline:
            if self.is_frozen():
                return True
            if not self.is_alive():
                return False
            time.sleep(0.0005)
        raise AssertionError(f"process {self.pid} does not stop")

    def thaw(self):
        self.send(signal.SIGCONT)


def marked(mark):
    """Ids of the living processes that carry the mark in their environment."""
    found = []
    for entry in pathlib.Path("/proc").iterdir():
        if not entry.name.isdecimal():
            continue
        with contextlib.suppress(OSError, IndexError):
            if f"{MARK}={mark}".encode() in (entry / "environ").read_bytes().split(b"\0"):
                if _stat(entry / "stat")[0] not in "ZX":
                    found.append(int(entry.name))
    return found


def environment(mark):
    """What programs are started with: nothing of ours but the mark."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("LEADLINE_")}
    return kept | {MARK: mark, "LC_ALL": "C.UTF-8"}
