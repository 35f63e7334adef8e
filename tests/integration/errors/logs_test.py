"""What a trainer wrote, read from another machine: whole, in part, while it runs, over several attempts, when it is gone."""

import json
import os
import pathlib
import pty
import shutil
import signal
import threading
import unittest

from errors_world import PROGRAMS, ErrorsWorld, wait_for

MEBIBYTE = 1 << 20


def most_memory(pid):
    """Bytes a living process has had in memory at most."""
    for line in pathlib.Path(f"/proc/{pid}/status").read_text().splitlines():
        if line.startswith("VmHWM:"):
            return int(line.split()[1]) * 1024
    raise AssertionError(f"no process {pid}")


class Logs(ErrorsWorld):
    def trained(self, behaviour, *agent_words):
        """A coordinator, an agent, and a trial s1.1.0 that ran to its end."""
        self.coordinator_process = self.coordinator()
        self.behave(behaviour)
        self.agent_process = self.agent(*agent_words)
        self.ask("submit", self.sweep(), "--wait")

    def on_a_terminal(self, *words):
        """All that the command sends to a terminal."""
        controller, terminal = pty.openpty()
        process = self.start_raw(*words, stdout=terminal)
        os.close(terminal)
        text = b""
        while True:
            try:
                part = os.read(controller, 65536)
            except OSError:  # how a terminal ends
                break
            if not part:
                break
            text += part
        os.close(controller)
        self.assertEqual(process.wait(), 0)
        return text

    def start_raw(self, *words, stdout):
        import subprocess
        process = subprocess.Popen([PROGRAMS / "leadline", *map(str, self.words(*words))],
                                   env=self.environment(self.state("client")) | {"TERM": "xterm"},
                                   stdin=subprocess.DEVNULL, stdout=stdout, stderr=subprocess.DEVNULL)
        self.started.append(process)
        return process

    def test_fifty_megabytes_stream_with_bounded_memory(self):
        self.trained("much")
        log = next(self.state("agent").glob("attempts/*/stdout.log"))
        self.assertGreater(log.stat().st_size, 45 * MEBIBYTE)
        before = {process.pid: most_memory(process.pid) for process in (self.coordinator_process, self.agent_process)}
        copy = self.folder / "copy"
        with copy.open("wb") as file:
            self.assertEqual(self.start_raw("logs", "s1.1.0", "--stdout", stdout=file).wait(), 0)
        self.assertTrue(log.read_bytes() == copy.read_bytes(), "another text came than was written")
        for pid, most in before.items():
            self.assertLess(most_memory(pid) - most, 16 * MEBIBYTE)
        with self.subTest("the command"):
            reader, writer = os.pipe()
            process = self.start_raw("logs", "s1.1.0", "--stdout", stdout=writer)
            os.close(writer)
            read = 0
            peak = 0
            while part := os.read(reader, 65536):
                read += len(part)
                if read > 40 * MEBIBYTE and peak == 0:
                    peak = most_memory(process.pid)
            os.close(reader)
            self.assertEqual(process.wait(), 0)
            self.assertLess(peak, 64 * MEBIBYTE)
        with self.subTest("the last lines alone"):
            out, _ = self.ask("logs", "s1.1.0", "--stdout", "--tail", "3")
            self.assertEqual([line.split()[0] for line in out.splitlines()], ["00499997", "00499998", "00499999"])
        with self.subTest("a document has a bound and says where it ends"):
            first = self.ask_json("logs", "s1.1.0", "--stdout")
            self.assertFalse(first["complete"])
            self.assertEqual(first["next_offset"], len(first["text"]))
            rest = self.ask_json("logs", "s1.1.0", "--stdout", "--offset", log.stat().st_size - 5)
            self.assertEqual((rest["text"], rest["complete"]), (log.read_text()[-5:], True))

    def test_rubbish_is_escaped_on_a_terminal_and_raw_elsewhere(self):
        self.trained("escapes")
        log = next(self.state("agent").glob("attempts/*/stderr.log")).read_bytes()
        copy = self.folder / "copy"
        with copy.open("wb") as file:
            self.assertEqual(self.start_raw("logs", "s1.1.0", stdout=file).wait(), 0)
        self.assertTrue(copy.read_bytes() == log)
        shown = self.on_a_terminal("logs", "s1.1.0").replace(b"\r\n", b"\n")
        self.assertTrue(shown.startswith(rb"\x1b]0;title\x07\x1b[2J\x9b31m\x00\xff\xfe\r\x08plain" + b"\nxxx"), shown[:200])
        self.assertTrue(shown.endswith(b"x\nafter\n"), shown[-200:])
        self.assertEqual(shown.split(b"\n", 1)[1], log.split(b"\n", 1)[1], "the line of 10 MB, in parts, is whole")
        self.assertEqual(self.ask_json("logs", "s1.1.0", "--tail", "1")["text"], "after\n")

    def test_following_goes_on_until_the_trial_has_ended(self):
        self.coordinator()
        self.behave("speak")
        self.agent()
        self.ask("submit", self.sweep())
        wait_for(lambda: any("first" in path.read_text() for path in self.state("agent").glob("attempts/*/stderr.log")),
                 "the trainer's first words")
        follow = self.start("leadline", *self.words("logs", "s1.1.0", "-f"), state="client")
        self.assertEqual(self.line(follow, follow.stdout), "==> s1.1.0@1 stderr on agent: running <==\n")
        self.assertEqual(self.line(follow, follow.stdout), "first words\n")
        self.go()
        out, err = self.finish(follow)
        self.assertEqual(out, "last words\n")
        self.assertIn("s1.1.0 has ended: succeeded", err)

    def test_following_goes_on_with_the_next_attempt(self):
        self.coordinator()
        self.behave("fail_once")
        self.ask("submit", self.sweep())
        follow = self.start("leadline", *self.words("logs", "s1.1.0", "--follow"), state="client")
        self.assertIn("waiting for attempt 1", self.line(follow, follow.stderr))
        self.agent()
        out, _ = self.finish(follow)
        heads = [line for line in out.splitlines() if line.startswith("==>")]
        self.assertEqual([head.split()[1] for head in heads], ["s1.1.0@1", "s1.1.0@2"])
        self.assertEqual([line for line in out.splitlines() if line.startswith("the ")], ["the first", "the second"])

        out, _ = self.ask("logs", "s1.1.0", "--all")
        self.assertEqual(out, "==> s1.1.0@1 stderr on agent: failed (crash) <==\nthe first\n\n"
                              "==> s1.1.0@2 stderr on agent: succeeded <==\nthe second\n")
        self.assertEqual(self.ask("logs", "s1.1.0")[0], "the second\n")
        self.assertEqual(self.ask("logs", "s1.1.0", "--attempt", "1")[0], "the first\n")
        self.assertIn('"event":"start"', self.ask("logs", "s1.1.0", "--stream", "events", "--tail", "1000")[0])

        with self.subTest("what was removed by age or size says so"):
            shutil.rmtree(next(self.state("agent").glob("attempts/*@1")))
            error = self.error_of("logs", "s1.1.0", "--attempt", "1", code="not_found", exit_code=6)
            self.assertIn("--keep-days", error["message"])
            out, err = self.ask("logs", "s1.1.0", "--all", exit_code=6)
            self.assertIn("the second", out)
            self.assertIn("s1.1.0@1: node agent: stderr.log of s1.1.c0@1 is not there", err)
            self.assertIn("of 2 attempts of s1.1.0 the logs of 1 could not be read", err)
        with self.subTest("what is not there"):
            self.error_of("logs", "s1.1.0", "--attempt", "7", code="not_found", exit_code=6)
            self.error_of("logs", "s9.1.0", code="not_found", exit_code=6)
            self.error_of("logs", "s1.1.0", "--all", "--follow", code="misuse", exit_code=2)
            self.error_of("logs", "s1.1.0", "--tail", "0", code="misuse", exit_code=2)

    def test_a_node_that_is_away_is_named(self):
        self.trained("")
        self.agent_process.send_signal(signal.SIGKILL)
        self.agent_process.wait()
        error = wait_for(lambda: self.when_away(), "the coordinator to notice")
        self.assertEqual(error["code"], "node_away")
        self.assertIn("node agent, which keeps the log, is not connected", error["message"])
        self.ask("logs", "s1.1.0", "-f", exit_code=1)

    def when_away(self):
        process = self.start("leadline", *self.words("logs", "s1.1.0", "--json"), state="client")
        _, err = process.communicate()
        return json.loads(err)["error"] if process.returncode == 1 else None

    def test_an_attempt_whose_agent_has_not_begun_it_is_waited_for(self):
        self.coordinator("--heartbeat", "0.5")
        self.behave("speak")
        agent = self.agent()
        # It holds its order back, as one on a slow disk would.
        agent.send_signal(signal.SIGSTOP)
        self.ask("submit", self.sweep())
        wait_for(lambda: self.ask_json("show", "s1.1.0")["attempt_list"], "the attempt")
        follow = self.start("leadline", *self.words("logs", "s1.1.0", "-f"), state="client")
        self.line(follow, follow.stdout, "==> s1.1.0@1 stderr on agent: running <==")
        agent.send_signal(signal.SIGCONT)
        self.line(follow, follow.stdout, "first words")
        self.go()
        self.assertEqual(self.finish(follow)[0], "last words\n")

    def test_a_node_that_goes_away_and_comes_back_is_followed_on(self):
        self.coordinator()
        self.behave("speak")
        agent = self.agent()
        self.ask("submit", self.sweep())
        follow = self.start("leadline", *self.words("logs", "s1.1.0", "-f", "--tail", "1"), state="client")
        self.line(follow, follow.stdout, "first words")
        agent.kill()
        self.line(follow, follow.stderr, "s1.1.0@1: node agent, which keeps the log, is not connected")
        self.go()
        self.agent()
        self.assertEqual(self.finish(follow)[0], "last words\n")

    def test_a_reader_that_leaves_ends_the_command(self):
        self.trained("much")
        reader, writer = os.pipe()
        process = self.start_raw("logs", "s1.1.0", "--stdout", stdout=writer)
        os.close(writer)
        os.read(reader, 10)
        os.close(reader)
        timer = threading.Timer(30, process.kill)
        timer.start()
        process.wait()
        timer.cancel()
        self.assertIn(process.returncode, (1, -signal.SIGPIPE))


if __name__ == "__main__":
    unittest.main()
