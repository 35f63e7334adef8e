"""A disk that is full, at each file that coordinator and agent write: who is told what, what is lost (nothing), and that it goes on by itself."""

import time
import unittest

from errors_world import PROGRAMS, ErrorsWorld, wait_for

SHIM = PROGRAMS / "tests" / "full_disk.so"


@unittest.skipUnless(SHIM.exists(), "sanitizers must be loaded before anything else")
class FullDisk(ErrorsWorld):
    def setUp(self):
        super().setUp()
        self.control = self.folder / "full"

    def environment(self, state):
        environment = super().environment(state)
        if "client" not in str(state):
            environment |= {"LD_PRELOAD": str(SHIM), "FULL_DISK": str(self.control)}
        return environment

    def fill(self, *files):
        """From now on there is no room for paths that hold one of those words."""
        fresh = self.folder / "fresh"
        fresh.write_text("\n".join(files))
        fresh.rename(self.control)

    def free(self):
        self.control.unlink()

    def refused(self):
        return self.fails(self.start("leadline-coordinator", "--state", self.state(), "--listen", "127.0.0.1:0"), "disk_full")

    def test_a_coordinator_that_cannot_begin_says_which_file(self):
        for file in ("/state", "/lock", "leadline.db", "coordinator.json"):
            with self.subTest(file):
                self.fill(f"{self.folder}{file}" if file == "/state" else file)
                said = self.refused()
                self.assertIn(file, said)
                self.assertRegex(said, "No space left on device|disk is full")
                self.free()
        self.end(self.coordinator())
        with self.subTest("a database that is there"):
            self.fill("leadline.db-wal")
            self.assertIn("leadline.db", self.refused())
            self.free()
        self.coordinator()
        self.assertEqual(self.ask_json("ls")["total"], 0)

    def test_a_log_that_is_full_costs_lines_alone(self):
        self.fill("coordinator.log")
        process = self.coordinator()
        self.agent()
        self.ask("submit", self.sweep(), "--wait")
        log = self.state() / "coordinator.log"
        self.assertEqual(log.read_text() if log.exists() else "", "")
        self.free()
        self.end(process)
        first, *rest = log.read_text().splitlines()
        self.assertRegex(first, r"error log_lines_lost count=\d+$")
        self.assertTrue(rest)

    def test_a_full_database_refuses_whole_and_goes_on_by_itself(self):
        process = self.coordinator()
        self.behave("go")
        self.agent()
        self.ask("submit", self.sweep(depths=(1, 2)))
        wait_for(lambda: len(list(self.state("agent").glob("attempts/*/process.json"))) == 2, "two attempts")
        self.fill("leadline.db")
        self.go()
        log = self.state() / "coordinator.log"
        wait_for(lambda: "error store_refused" in log.read_text(), "the alarm")
        error = self.error_of("submit", self.sweep(name="other"), code="disk_full", exit_code=1)
        self.assertIn("nothing can be stored at present", error["message"])
        self.assertEqual(len(self.ask_json("ls")["sweeps"]), 1)
        self.free()
        self.ask("watch", "s1")
        self.assertEqual(self.query("select count(*) from trial_results where state = 'succeeded' "
                                    "and metric = 'validation_loss' and split = 'validation'"), [(2,)])
        self.assertEqual(self.query("select count(*) from attempts where outcome <> 'succeeded'"), [(0,)])
        self.assertIsNone(process.poll())
        self.ask("submit", self.sweep(name="other"), "--wait")

    def test_an_agent_and_a_trainer_without_room_have_their_trials_wait(self):
        self.coordinator("--quarantine-after", "0")
        agent = self.agent()
        cases = ("agent/attempts", "held.json", "config.json", "the trainer's own file")
        for number, file in enumerate(cases, 1):
            with self.subTest(file):
                self.behave("full_disk" if " " in file else "")
                self.fill(file)
                self.ask("submit", self.sweep(name=f"case {number}"))
                why = wait_for(lambda trial=f"s{number}.1.0": self.last_failure(trial), "the refusal")
                self.assertEqual(why["kind"], "disk", why)
                self.assertIn("No space left on device", why["message"])
                self.assertEqual(self.ask_json("explain", f"s{number}.1.0")["state"], "queued")
        self.free()
        self.behave("")
        started = time.monotonic()
        for number in range(1, len(cases) + 1):
            self.ask("watch", f"s{number}")
        self.assertGreater(time.monotonic() - started, 1)
        self.assertIsNone(agent.poll())

    def test_a_trainer_is_known_without_its_record(self):
        self.coordinator()
        self.behave("go")
        agent = self.agent()
        self.fill("process.json")
        self.ask("submit", self.sweep())
        wait_for(lambda: list(self.state("agent").glob("attempts/*/events.jsonl")), "a trainer")
        agent.kill()
        agent.wait()
        self.agent()
        self.go()
        self.ask("watch", "s1")
        self.assertEqual(self.query("select outcome from attempts"), [("succeeded",)])

    def last_failure(self, trial):
        attempts = self.ask_json("explain", trial)["attempt_list"]
        failed = [attempt for attempt in attempts if attempt["outcome"] == "failed"]
        return failed[-1] if failed else None


if __name__ == "__main__":
    unittest.main()
