"""How commands end: one table over outcomes, while waiting and with --json; and text of every kind through every channel."""

import contextlib
import fcntl
import json
import os
import pty
import re
import signal
import socket
import struct
import subprocess
import termios
import time
import unittest

from errors_world import PROGRAMS, ErrorsWorld, wait_for

NAMES = {
    "emoji": "deep \U0001f9ed\U0001f469\u200d\U0001f52c study",
    "right_to_left": "\u05e2\u05d5\u05de\u05e7 \u0639\u0645\u0642",
    "an_override": "abc\u202edcba",
    "combining": "e\u0301\u0323 n\u0303",
    "newline": "two\nlines\tand a tab",
    "quotes": "\"'`$(true);|&<>\\",
    "escape": "\x1b[31mred\x1b[0m\x07",
    "separator": "a\u2028b",
    "long": "x" * 200,
}


class ExitCodes(ErrorsWorld):
    def both(self, *words, exit_code, code=""):
        """The same exit code for people and with --json, and what a program learns."""
        self.ask(*words, exit_code=exit_code)
        if code:
            return self.error_of(*words, code=code, exit_code=exit_code)
        out, err = self.ask(*words, "--json", exit_code=exit_code)
        self.assertEqual(err, "")
        return json.loads(out)

    def test_tell_outcomes_apart(self):
        self.coordinator("--tries", "1", "--tries-in-total", "1", "--quarantine-after", "0")
        self.agent()
        bad = self.folder / "bad.yaml"
        bad.write_text("leadline: 1\nseeds: many\n")
        good = self.sweep(name="good")
        progress = self.both("submit", good, "--wait", exit_code=0)["progress"]
        self.assertEqual((progress["state"], progress["ended"], progress["trials"]["succeeded"]), ("complete", True, 1))
        self.assertEqual(self.ask_json("results", "s1")["cells"][0]["n"], 1)

        self.behave("diverge")
        diverged = self.sweep(name="diverged")
        _, err = self.ask("submit", diverged, "--wait")
        self.assertIn("warning: 1 of 1 trial diverged", err)
        self.both("submit", diverged, "--wait", exit_code=0)
        self.both("submit", diverged, "--wait", "--strict", exit_code=3, code="trials_failed")

        self.behave("crash")
        failed = self.sweep(name="failed")
        for words in (("submit", failed, "--wait"), ("run", failed), ("watch", "failed")):
            self.both(*words, exit_code=3, code="trials_failed")
        self.both("results", "failed", exit_code=0)

        for words in (("nonsense",), ("submit",), ("ls", "--nonsense"), ("submit", self.folder / "none.yaml")):
            with self.subTest(words=words):
                self.both(*words, exit_code=2, code="misuse")
        self.assertIn(f"{bad}:2:8", self.both("submit", bad, exit_code=2, code="sweep_file")["message"])
        for words in (("show", "s99"), ("show", "s1.9"), ("watch", "nothing"), ("cancel", "s99"), ("results", "s99"),
                      ("logs", "s99.1.0"), ("explain", "s99"), ("settings", "nothing"), ("methods", "nothing")):
            with self.subTest(words=words):
                self.both(*words, exit_code=6, code="not_found")

    def test_a_coordinator_that_is_not_there(self):
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.address = f"127.0.0.1:{free.getsockname()[1]}"
        for words in (("ls",), ("submit", self.sweep(), "--wait"), ("logs", "s1.1.0", "-f"), ("watch", "s1")):
            with self.subTest(words=words):
                if "-f" in words:
                    self.ask(*words, exit_code=4)
                    continue
                error = self.both(*words, exit_code=4, code="unreachable")
                self.assertEqual(error["where"], self.address)
                self.assertIn("(Connection refused): is the address right", error["message"])

    def test_waiting_for_what_cannot_run(self):
        self.coordinator()
        error = self.both("submit", self.sweep(), "--wait", "--give-up", "1", exit_code=7, code="nothing_can_run")
        self.assertIn("no live agents", error["message"])
        self.assertEqual(error["where"], "s1")

    def test_what_ends_a_command_that_waits(self):
        self.coordinator()
        self.behave("go")
        self.agent()
        file = self.sweep()
        for json_words in ((), ("--json",)):
            with self.subTest("interrupted", json=bool(json_words)):
                command = self.start("leadline", *self.words("submit", file, "--wait", *json_words), state="client")
                wait_for(lambda: list(self.state("agent").glob("attempts/*/process.json")), "a trainer")
                self.wait_until_it_follows(command)
                command.send_signal(signal.SIGINT)
                _, err = self.finish(command, exit_code=130)
                if json_words:
                    self.assertEqual(json.loads(err)["error"]["code"], "interrupted")
        # A sweep of its own each time: one that is cancelled already is not waited for.
        for sweep, json_words in (("s2", ()), ("s3", ("--json",))):
            with self.subTest("cancelled", json=bool(json_words)):
                command = self.start("leadline", *self.words("submit", file, "--new", "--wait", *json_words),
                                     state="client")
                wait_for(lambda wanted=sweep: wanted in self.ask("ls")[0], "the sweep")
                self.wait_until_it_follows(command)
                self.ask("cancel", sweep)
                _, err = self.finish(command, exit_code=1)
                if json_words:
                    self.assertEqual(json.loads(err)["error"]["code"], "cancelled")

    def wait_until_it_follows(self, command):
        """Its Watch stream is a second connection's worth of file descriptors; its handlers are in place before it."""
        import pathlib
        status = pathlib.Path(f"/proc/{command.pid}/task")
        wait_for(lambda: len(list(status.iterdir())) > 3, "the command to connect")


class Text(ErrorsWorld):
    def quoted(self, text):
        """In YAML's double quotes, which are JSON's."""
        return json.dumps(text)

    def test_names_of_every_kind_go_through_every_channel(self):
        self.coordinator()
        self.agent()
        for number, (kind, name) in enumerate(NAMES.items(), 1):
            self.ask("submit", self.sweep(name=name), "--wait")
        everything = {row["sweep"]: row["name"] for row in self.ask_json("ls")["sweeps"]}
        self.assertEqual(everything, {f"s{number}": name for number, name in enumerate(NAMES.values(), 1)})
        stored = dict(self.query("select sweep, name from sweeps"))
        self.assertEqual(sorted(stored.values()), sorted(NAMES.values()))
        for locale in ("C.UTF-8", "C"):
            for number, (kind, name) in enumerate(NAMES.items(), 1):
                for words in (("ls",), ("show", f"s{number}"), ("results", f"s{number}"), ("explain", f"s{number}"),
                              ("results", f"s{number}", "--format", "markdown"), ("watch", f"s{number}")):
                    with self.subTest(kind=kind, locale=locale, words=words):
                        self.check_output(self.in_locale(locale, *words), locale)
        with self.subTest("a name is an argument too"):
            for name in NAMES.values():
                self.assertEqual(self.ask_json("show", name)["name"], name)

    def test_a_name_that_is_used_again_touches_nothing_that_bore_it(self):
        self.coordinator()
        self.agent()
        self.ask("submit", self.sweep(name="study"), "--wait")
        first = self.ask_json("results", "s1")
        self.ask("submit", self.sweep(name="study", depths=(2,)), "--wait")
        self.assertEqual([row["name"] for row in self.ask_json("ls")["sweeps"]], ["study", "study"])
        for words in (("show", "study"), ("cancel", "study"), ("rm", "study", "--yes")):
            with self.subTest(words=words):
                error = self.error_of(*words, code="misuse", exit_code=2)
                for sweep in ("s1", "s2"):
                    self.assertIn(sweep, error["message"])
        self.ask("rm", "s2", "--yes")
        self.assertEqual(self.ask_json("results", "study"), first)

    def in_locale(self, locale, *words):
        process = subprocess.run([PROGRAMS / "leadline", *map(str, self.words(*words))], capture_output=True, check=False,
                                 stdin=subprocess.DEVNULL, env=self.environment(self.state("client")) | {"LC_ALL": locale})
        self.assertEqual(process.returncode, 0, process)
        return process.stdout + process.stderr

    def check_output(self, output, locale):
        text = output.decode("ascii" if locale == "C" else "utf-8")  # raises if it is none
        forbidden = [c for c in text if (ord(c) < 32 and c not in "\n") or c in "\x7f\u202e\u2028"]
        self.assertEqual(forbidden, [])

    def test_text_that_is_none_is_refused_with_its_place(self):
        self.coordinator()
        path = self.sweep()
        for name, what in (("\"a\\0b\"", "NUL"), ("\"a\\u0000b\"", "NUL")):
            path.write_text(path.read_text().replace(path.read_text().splitlines()[1], f"name: {name}"))
            error = self.error_of("submit", path, code="sweep_file", exit_code=2)
            self.assertIn(f"{path}:2:", error["message"], what)
        path.write_bytes(b"leadline: 1\nname: \xff\xfe\n")
        self.assertIn(f"{path}:2:7", self.error_of("submit", path, code="sweep_file", exit_code=2)["message"])


class Lists(ErrorsWorld):
    TRIALS = 52

    def on_a_small_terminal(self, *words):
        """What a terminal of 20 rows gets to see."""
        controller, terminal = pty.openpty()
        fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("4H", 20, 80, 0, 0))
        process = subprocess.Popen([PROGRAMS / "leadline", *map(str, self.words(*words))], stdin=subprocess.DEVNULL, stdout=terminal,
                                   stderr=terminal, env=self.environment(self.state("client")) | {"TERM": "xterm"})
        self.started.append(process)
        os.close(terminal)
        text = b""
        with contextlib.suppress(OSError):  # how a terminal ends
            while part := os.read(controller, 65536):
                text += part
        os.close(controller)
        self.assertEqual(process.wait(), 0)
        return text.decode()

    def assert_no_part_looks_whole(self, text, *words):
        shown = len(set(re.findall(r"s1\.(\d+)\.", text)))
        left = self.TRIALS - shown
        if left > 0:
            self.assertRegex(text, rf"\b{shown} of {self.TRIALS} |and {left} (more|further)|\b{self.TRIALS} trials queued", words)

    def test_that_are_cut_say_so_on_a_terminal_of_twenty_rows(self):
        self.coordinator()
        self.ask("submit", self.sweep(depths=range(1, self.TRIALS + 1)))
        self.assert_no_part_looks_whole(self.on_a_small_terminal("explain", "s1"))
        self.behave("go")
        self.agent("--slots", self.TRIALS)
        wait_for(lambda: self.ask_json("explain", "s1")["trials"]["running"] == self.TRIALS, "all of them")
        for words in (("show", "s1"), ("explain", "s1"), ("nodes", "show", "agent")):
            with self.subTest(words=words):
                self.assert_no_part_looks_whole(self.on_a_small_terminal(*words), *words)
        self.go()
        self.ask("watch", "s1")
        text = self.on_a_small_terminal("show", "s1")
        self.assertIn(f"{self.TRIALS} succeeded", text)
        self.assertIn(f"40 of {self.TRIALS} trials", text)
        # A row a cell and a row a trial: all of them, always.
        self.assertEqual(len(re.findall(r"(?m)^s1\.\d+,", self.ask("results", "s1", "--format", "csv")[0])), self.TRIALS)
        self.assertEqual(len(re.findall(r"(?m)^ *\d+ +\d+ +iid27", self.ask("plan", self.folder / "sweep.yaml")[0])), self.TRIALS)


class Repeated(ErrorsWorld):
    def test_a_client_that_is_killed_half_way_and_asks_again_submits_once(self):
        self.coordinator()
        file = self.sweep(depths=range(1, 28))
        for milliseconds in range(0, 120, 10):
            command = self.start("leadline", *self.words("submit", file), state="client")
            time.sleep(milliseconds / 1000)  # somewhere in its midst
            command.kill()
            command.communicate()
        told = [self.ask_json("submit", file) for _ in range(3)]
        self.assertEqual({(answer["sweep"], answer["trials"]) for answer in told}, {("s1", 27)})
        self.assertEqual([answer["existing"] for answer in told[1:]], [True, True])
        self.assertEqual(self.query("select count(*) from sweeps"), [(1,)])
        self.assertEqual(self.query("select sum(trials) from sweeps"), [(27,)])


class DryRun(ErrorsWorld):
    def test_over_a_billion_trials_answers_without_expanding_them(self):
        axes = {"lr": 1000, "weight_decay": 1000, "depth": 100}
        values = {"lr": "1e-3", "weight_decay": "1e-2"}
        lines = [f"  {key}: [" + ", ".join(str(n) if key == "depth" else f"{n}{values[key][1:]}" for n in range(1, count + 1)) + "]"
                 for key, count in axes.items()]
        file = self.folder / "huge.yaml"
        file.write_text("leadline: 1\nseeds: 10\nsettings: {method: prenorm, dataset: iid27}\naxes:\n" + "\n".join(lines) + "\n")
        coordinator = self.coordinator()
        before, busy = self.figures(coordinator)
        plan = self.ask_json("plan", file)
        after, busy_after = self.figures(coordinator)
        self.assertEqual((plan["trials"], plan["duplicates"]), (10 ** 9, None))
        self.assertLess(after - before, 50 << 20)
        # Of the processor, since others may use it meanwhile.
        self.assertLess(busy_after - busy, 1.0)

    def figures(self, process):
        """Bytes in memory at most, and seconds of the processor, of a living process."""
        import pathlib
        status = pathlib.Path(f"/proc/{process.pid}/status").read_text()
        most = next(int(line.split()[1]) * 1024 for line in status.splitlines() if line.startswith("VmHWM"))
        ticks = pathlib.Path(f"/proc/{process.pid}/stat").read_text().rpartition(")")[2].split()
        return most, (int(ticks[11]) + int(ticks[12])) / os.sysconf("SC_CLK_TCK")


if __name__ == "__main__":
    unittest.main()
