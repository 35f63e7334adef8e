"""A hub and machines joined to it, each in a network namespace of its own where the system lets us make them."""

import os
import shutil
import subprocess

NAMES = ("one", "two")


def ip(*words):
    return subprocess.run(["ip", *words], capture_output=True, text=True, check=False)


class Networks:
    """`hub` has an address on a wire to each of the machines; they see nothing else, unless they are `joined` by a
    wire of their own. Left by `close`.

    Where namespaces may not be made all of it is one loopback, and `why_loopback` says why."""

    def __init__(self, joined=False):
        self.made = []
        self.why_loopback = ""
        self.why_loopback = self.make() or (self.join() if joined else "")
        if self.why_loopback:
            self.close()

    def name(self, place):
        return f"leadline-{os.getpid()}-{place}"

    def make(self):
        if not shutil.which("ip"):
            return "there is no iproute2"
        for place in ("hub", *NAMES):
            done = ip("netns", "add", self.name(place))
            if done.returncode != 0:
                return done.stderr.strip()
            self.made.append(place)
            # One may be made where nothing may run in it.
            done = ip("netns", "exec", self.name(place), "true")
            if done.returncode != 0:
                return done.stderr.strip()
            self.inside(place, "link", "set", "lo", "up")
        for number, place in enumerate(NAMES, 1):
            done = ip("link", "add", place, "netns", self.name("hub"), "type", "veth",
                      "peer", "name", "hub", "netns", self.name(place))
            if done.returncode != 0:
                return done.stderr.strip()
            self.inside("hub", "address", "add", f"10.77.{number}.1/24", "dev", place)
            self.inside("hub", "link", "set", place, "up")
            self.inside(place, "address", "add", f"10.77.{number}.2/24", "dev", "hub")
            self.inside(place, "link", "set", "hub", "up")
        return ""

    def join(self):
        one, two = NAMES
        done = ip("link", "add", two, "netns", self.name(one), "type", "veth", "peer", "name", one, "netns", self.name(two))
        if done.returncode != 0:
            return done.stderr.strip()
        for place, other in ((one, two), (two, one)):
            self.inside(place, "address", "add", f"{self.address(place)}/24", "dev", other)
            self.inside(place, "link", "set", other, "up")
        return ""

    def address(self, place):
        """Of a machine on the wire that joins them."""
        return "127.0.0.1" if self.why_loopback else f"10.77.9.{NAMES.index(place) + 1}"

    def inside(self, place, *words):
        done = ip("-n", self.name(place), *words)
        assert done.returncode == 0, (words, done.stderr)

    def prefix(self, place):
        """What to put before a command so that it runs there."""
        return [] if self.why_loopback else ["ip", "netns", "exec", self.name(place)]

    def hub_address(self, place):
        """Of the hub, as that machine sees it."""
        return "127.0.0.1" if self.why_loopback else f"10.77.{NAMES.index(place) + 1}.1"

    def close(self):
        for place in self.made:
            ip("netns", "del", self.name(place))
        self.made = []
