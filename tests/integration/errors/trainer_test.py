"""Trainers that misbehave, and data that is not what it was: the trial fails with a kind and a reason, and the command says so."""

import contextlib
import json
import pathlib
import shutil
import signal
import unittest

from errors_world import PROGRAMS, ErrorsWorld, wait_for


class Trainers(ErrorsWorld):
    def setUp(self):
        super().setUp()
        self.coordinator_process = self.coordinator("--tries", "1", "--tries-in-total", "1", "--quarantine-after", "0")

    def failed(self, exit_code=3, **sweep):
        """The one attempt of a sweep of one trial, after a command that waited for it."""
        self.error_of("submit", self.sweep(**sweep), "--wait", "--new", code="trials_failed", exit_code=exit_code)
        newest = self.ask_json("ls")["sweeps"][0]["sweep"]
        attempts = self.ask_json("explain", f"{newest}.1.0")["attempt_list"]
        self.assertEqual(len(attempts), 1)
        return attempts[0]

    def test_that_misbehave_fail_their_trial_with_kind_and_reason(self):
        self.agent()
        for word, kind, why in (("die_at_start", "crash", "exited with code 3"), ("killed_at_start", "crash", "signal 9"),
                                ("silent", "crash", "without an end record"), ("rubbish", "crash", "50 lines"),
                                ("exit_at_start", "config", "does not like"), ("crash", "crash", "signal 11")):
            with self.subTest(word):
                self.behave(word)
                attempt = self.failed()
                self.assertEqual((attempt["outcome"], attempt["kind"]), ("failed", kind), attempt)
                self.assertIn(why, attempt["message"])
        self.assertIsNone(self.coordinator_process.poll())

    def test_that_write_lines_of_ten_megabytes_do_no_harm(self):
        self.agent()
        for word in ("huge_line", "escapes"):
            self.behave(word)
            self.ask("submit", self.sweep(), "--wait", "--new")

    def test_one_that_runs_out_of_memory_fails_alone_and_the_rest_finish(self):
        agent = self.agent()
        self.behave("bad_alloc", cohort="s1.2.c0")
        self.behave("diverge", cohort="s1.3.c0")
        self.ask("submit", self.sweep(depths=(1, 2, 3, 4), seeds=2), "--wait", exit_code=3)
        states = dict(self.query("select trial, state from trial_results where metric = 'validation_loss' and split = 'validation'"))
        told = self.ask_json("explain", "s1.2.0")["attempt_list"]
        self.assertEqual([attempt["kind"] for attempt in told], ["oom"])
        self.assertEqual({trial for trial, state in states.items() if state == "succeeded"}, {"s1.1.0", "s1.1.1", "s1.4.0", "s1.4.1"})
        self.assertEqual(self.ask_json("explain", "s1.3.0")["state"], "diverged")
        self.assertIsNone(agent.poll())

    def test_whose_program_goes_away_are_named(self):
        program = self.folder / "trainer"
        program.write_bytes((PROGRAMS / "tests" / "test_trainer").read_bytes())
        program.chmod(0o755)
        self.agent("--trainer", program)
        program.chmod(0o644)
        attempt = self.failed()
        self.assertIn(f"cannot start the trainer {program}", attempt["message"])
        self.assertIn("Permission denied", attempt["message"])
        program.unlink()
        attempt = self.failed()
        self.assertIn("No such file or directory", attempt["message"])

    def test_three_that_fail_in_three_ways_are_told_at_once_with_their_reasons(self):
        self.agent()
        for number, word in enumerate(("crash", "exit_at_start", "die_at_start", "go"), 1):
            self.behave(word, cohort=f"s1.{number}.c0")
        command = self.start("leadline", *self.words("submit", self.sweep(depths=(1, 2, 3, 4)), "--wait"), state="client")
        told = {}
        while len(told) < 3:
            line = self.line(command, command.stderr, "failed: ")
            told[line.split()[1]] = line
        # The fourth still trains: nothing was kept back for the end.
        self.assertIsNone(command.poll())
        self.go()
        _, err = self.finish(command, exit_code=3)
        for trial, words in (("s1.1.0", ("crash", "signal 11")), ("s1.2.0", ("config", "does not like")),
                             ("s1.3.0", ("crash", "exited with code 3"))):
            for word in (*words, f"leadline logs {trial}"):
                self.assertIn(word, next(line for key, line in told.items() if key.startswith(trial)))
        self.assertIn("3 failed", err)
        self.assertIn("does not like", self.ask("logs", "s1.2.0")[0])


class Data(ErrorsWorld):
    def corpus(self):
        path = self.folder / "corpus.txt"
        path.write_text("to be or not to be, that is the question\n" * 200)
        return path

    def test_a_file_that_is_missing_is_told_with_its_place(self):
        self.coordinator()
        file = self.sweep(dataset="{path: nowhere.txt, tokenizer: char}")
        error = self.error_of("submit", file, code="sweep_file", exit_code=2)
        self.assertIn(f"{self.folder}/nowhere.txt", error["message"])
        self.assertIn("No such file or directory", error["message"])
        self.assertEqual(error["where"], f"{file}:4:{file.read_text().splitlines()[3].index('nowhere') + 1}")
        self.assertEqual(self.ask_json("ls")["total"], 0)

    def test_a_file_that_changed_under_its_hash_fails_as_data(self):
        # With more tries it would wait three quarters of a minute for a node that has the data.
        self.coordinator("--tries", "1", "--tries-in-total", "1")
        corpus = self.corpus()
        self.ask("submit", self.sweep(dataset="{path: corpus.txt, tokenizer: char}"))
        corpus.write_text("another text altogether\n" * 400)
        agent = self.agent()
        self.ask("watch", "s1", exit_code=3)
        attempt = self.ask_json("explain", "s1.1.0")["attempt_list"][-1]
        self.assertEqual(attempt["kind"], "data")
        self.assertIn(str(corpus), attempt["message"])
        self.assertIn("the sweep was submitted with", attempt["message"])
        self.assertIsNone(agent.poll())

    def test_a_file_that_went_away_fails_as_data(self):
        # With more tries it would wait three quarters of a minute for a node that has the data.
        self.coordinator("--tries", "1", "--tries-in-total", "1")
        corpus = self.corpus()
        self.ask("submit", self.sweep(dataset="{path: corpus.txt, tokenizer: char}"))
        corpus.unlink()
        self.agent()
        self.ask("watch", "s1", exit_code=3)
        attempt = self.ask_json("explain", "s1.1.0")["attempt_list"][-1]
        self.assertEqual(attempt["kind"], "data")
        self.assertIn(str(corpus), attempt["message"])


class Agents(ErrorsWorld):
    def test_of_three_the_one_that_is_stopped_ends_and_no_other(self):
        self.coordinator()
        agents = {}
        for name in ("one", "two", "three"):
            self.behave("go", name=name)
            agents[name] = self.agent("--slots", "1", name=name)
        self.ask("submit", self.sweep(depths=(1, 2, 3)))

        def live():
            return {node: (attempt, pid) for node, attempt, pid in self.where_they_run()}

        before = wait_for(lambda: live() if len(live()) == 3 else None, "three attempts")
        agents["two"].send_signal(signal.SIGTERM)
        self.finish(agents["two"])
        self.assertEqual({name: agents[name].poll() for name in agents}, {"one": None, "two": 0, "three": None})
        for name in ("one", "three"):
            self.assertIn(before[name][1], self.living())
        self.assertNotIn(before["two"][1], self.living())
        for name in ("one", "three"):
            self.go(name)
        # The trial of the third goes to one of them then, as a second attempt.
        wait_for(lambda: self.query("select node from attempts where outcome = 'succeeded' and attempt like '%@1' "
                                    "order by node") == [("one",), ("three",)], "the others to end")

    def where_they_run(self):
        for name in ("one", "two", "three"):
            for folder in self.state(name).glob("attempts/*@*"):
                with contextlib.suppress(OSError, ValueError):
                    yield name, folder.name, json.loads((folder / "process.json").read_text())["pid"]


class Gpus(ErrorsWorld):
    """Four GPUs of a library that stands in for NVIDIA's; trainers that only say which they were shown."""

    def environment(self, state):
        return super().environment(state) | {"LEADLINE_FAKE_NVML": "4", "LEADLINE_FAKE_STRANGER": str(self.folder / "stranger")}

    def agent_of_four(self):
        trainer = self.folder / "programs" / "leadline-trainer"
        trainer.parent.mkdir()
        shutil.copy(PROGRAMS / "tests" / "test_trainer", trainer)
        (trainer.parent / "libleadline_cuda.so").touch()
        self.behave("go")
        return self.agent("--trainer", trainer, "--nvml", PROGRAMS / "tests" / "libfake_nvml.so", "--devices", "0,1,2,3")

    def shown(self):
        """Devices that each attempt's trainer sees, by attempt."""
        seen = {}
        for folder in self.state("agent").glob("attempts/*@*"):
            # One that becomes another program just now shows no variable.
            with contextlib.suppress(OSError, ValueError, StopIteration):
                pid = json.loads((folder / "process.json").read_text())["pid"]
                variables = pathlib.Path(f"/proc/{pid}/environ").read_bytes().decode().split("\0")
                seen[folder.name] = next(v.partition("=")[2] for v in variables if v.startswith("CUDA_VISIBLE_DEVICES="))
        return seen

    def test_four_trials_on_four_gpus_see_one_each(self):
        self.coordinator()
        self.agent_of_four()
        self.ask("submit", self.sweep(depths=range(1, 9)))
        seen = wait_for(lambda: found if len(found := self.shown()) == 4 else None, "four trainers")
        self.assertEqual(sorted(seen.values()), [f"GPU-0000000{number}-fake" for number in range(4)])
        node = self.ask_json("nodes", "show", "agent")
        self.assertEqual({device["device"]: device["attempt"] for device in node["device_list"] if device["type"] != "cpu"},
                         {gpu: attempt for attempt, gpu in seen.items()})
        self.go()
        self.ask("watch", "s1")
        self.assertEqual(self.query("select count(*) from attempts where outcome = 'succeeded'"), [(8,)])

    def test_what_a_stranger_uses_is_told_as_the_reason(self):
        (self.folder / "stranger").write_text("0")
        self.coordinator("--heartbeat", "0.2")
        self.agent_of_four()
        self.go()
        self.ask("submit", self.sweep(depths=(1,)))
        why = wait_for(lambda: text if "a process that is not ours" in (text := self.ask("explain", "s1.1.0")[0]) else None, "why")
        self.assertIn("GPU-00000000-fake has 1.00 MiB free of 16.0 GiB", why)
        (self.folder / "stranger").unlink()
        self.ask("watch", "s1")
        self.assertEqual(self.query("select outcome from attempts"), [("succeeded",)])


class ManyAtOnce(ErrorsWorld):
    def test_fifty_trials_handed_to_one_host_at_once_share_nothing(self):
        self.coordinator()
        self.ask("submit", self.sweep(depths=range(1, 51)))
        self.agent("--slots", "50")
        self.ask("watch", "s1")
        folders = sorted(folder.name for folder in self.state("agent").glob("attempts/*"))
        self.assertEqual(folders, sorted(f"s1.{number}.c0@1" for number in range(1, 51)))
        self.assertEqual(self.query("select count(distinct trial), count(*) from attempts where outcome = 'succeeded'"), [(50, 50)])
        for number in (1, 25, 50):
            events = (self.state("agent") / "attempts" / f"s1.{number}.c0@1" / "events.jsonl").read_text().splitlines()
            self.assertEqual(sum('"event":"end"' in line for line in events), 1)


if __name__ == "__main__":
    unittest.main()
