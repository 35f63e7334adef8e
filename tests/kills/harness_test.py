"""The harness itself: schedules, and links that are cut."""

import collections
import contextlib
import os
import signal
import socket
import subprocess
import threading
import unittest

from draws import BEYOND_GRACE_S, CHOICES, LEASE_S, schedule
from link import Link
from processes import Process

PATIENCE_S = 20


class Schedule(unittest.TestCase):
    def test_a_seed_always_stands_for_the_same_kills(self):
        self.assertEqual(schedule(3, 50), schedule(3, 50))
        self.assertEqual(schedule(3, 50)[:7], schedule(3, 7))
        self.assertNotEqual(schedule(3, 50), schedule(4, 50))

    def test_ten_kills_reach_every_state_and_a_hundred_every_choice(self):
        for seed in range(50):
            self.assertEqual({kill.state for kill in schedule(seed, 10)}, set(CHOICES))
            drawn = {(kill.state, kill.target, kill.how.partition("-")[0]) for kill in schedule(seed, 100)}
            self.assertEqual(drawn, {(state, *choice) for state, choices in CHOICES.items() for choice in choices})

    def test_every_cut_outlasts_a_lease_and_few_the_grace(self):
        kills = schedule(1, 1000)
        self.assertTrue(all(kill.seconds > LEASE_S for kill in kills if kill.target == "link"))
        long = collections.Counter((kill.number - 1) // 10 for kill in kills if kill.seconds >= BEYOND_GRACE_S[0])
        self.assertLessEqual(max(long.values()), 1)
        self.assertGreater(len(long), 50)


class Echo:
    """A server that says back what it hears."""

    def __init__(self):
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.address = "127.0.0.1:%d" % self._listener.getsockname()[1]
        threading.Thread(target=self._serve, daemon=True).start()

    def _serve(self):
        with contextlib.suppress(OSError):
            while True:
                connection, _ = self._listener.accept()
                threading.Thread(target=self._echo, args=(connection,), daemon=True).start()

    @staticmethod
    def _echo(connection):
        with connection, contextlib.suppress(OSError):
            while chunk := connection.recv(1 << 16):
                connection.sendall(chunk)

    def close(self):
        self._listener.close()


class LinkTest(unittest.TestCase):
    def setUp(self):
        echo = Echo()
        self.addCleanup(echo.close)
        self.link = Link()
        self.addCleanup(self.link.close)
        self.link.lead_to(echo.address)

    def connect(self):
        host, _, port = self.link.address.rpartition(":")
        client = socket.create_connection((host, int(port)), timeout=PATIENCE_S)
        self.addCleanup(client.close)
        return client

    def assert_passes(self, client):
        client.sendall(b"hello")
        self.assertEqual(client.recv(100), b"hello")

    def wait_until_withheld(self, count):
        done = threading.Event()
        for _ in range(PATIENCE_S * 100):
            if self.link.withheld >= count:
                return
            done.wait(0.01)
        self.fail(f"{self.link.withheld} withheld, waited for {count}")

    def test_what_was_held_back_arrives_late(self):
        for mode in ("silence", "up", "down"):
            with self.subTest(mode):
                client = self.connect()
                self.assert_passes(client)
                self.link.cut(mode)
                client.sendall(b"late")
                self.wait_until_withheld(4)
                client.settimeout(0.05)
                with self.assertRaises(TimeoutError):
                    client.recv(100)
                self.assertEqual(self.link.heal(), 4)
                client.settimeout(PATIENCE_S)
                self.assertEqual(client.recv(100), b"late")

    def test_a_reset_breaks_connections_and_refuses_new_ones(self):
        client = self.connect()
        self.assert_passes(client)
        self.link.cut("reset")
        with self.assertRaises(ConnectionResetError):
            client.recv(100)
        with self.assertRaises(ConnectionResetError):
            self.connect().recv(100)
        self.assertGreaterEqual(self.link.heal(), 2)
        self.assert_passes(self.connect())

    def test_a_connection_made_in_silence_is_served_after_it(self):
        self.link.cut("silence")
        client = self.connect()
        client.sendall(b"early")
        self.wait_until_withheld(1)
        self.link.heal()
        self.assertEqual(client.recv(100), b"early")

    def test_a_server_that_has_gone_ends_the_connection(self):
        client = self.connect()
        self.assert_passes(client)
        self.link.lead_to(None)
        with self.assertRaises(ConnectionResetError):
            self.connect().recv(100)
        self.assert_passes(client)  # the old one still leads where it led
        client.close()


class ProcessTest(unittest.TestCase):
    def test_stops_goes_on_and_ends(self):
        child = subprocess.Popen(["sleep", "1000"])
        process = Process(child.pid)
        self.assertTrue(process.freeze())
        self.assertTrue(process.is_frozen())
        process.thaw()
        process.send(signal.SIGKILL)
        os.waitid(os.P_PID, child.pid, os.WEXITED | os.WNOWAIT)
        self.assertFalse(process.is_alive())  # though nobody has reaped it
        self.assertFalse(process.freeze())
        child.wait()
        self.assertFalse(process.send(signal.SIGKILL))
        process.close()
        self.assertFalse(process.is_alive())
        self.assertFalse(process.send(signal.SIGKILL))

    def test_a_number_that_passed_on_is_another_process(self):
        with self.assertRaises(ProcessLookupError):
            Process(os.getpid(), start_time=1)


if __name__ == "__main__":
    unittest.main()
