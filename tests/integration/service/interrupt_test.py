"""Ctrl-C, and a coordinator that dies."""

import os
import signal
import subprocess
import time
import unittest

from service_world import PROGRAMS, World, wait_for


class Interrupt(World):
    def test_ctrl_c_leaves_no_process_and_the_run_goes_on_later(self):
        file = self.sweep_file(steps=2000, eval_every=1000)
        run = self.start("leadline", "run", file, "--slots", "2")
        self.training()
        began = time.monotonic()
        os.killpg(run.pid, signal.SIGINT)
        self.finish(run, exit_code=130)
        self.assert_nothing_lives()
        self.assertLess(time.monotonic() - began, 10)
        states = self.query("select distinct state from trial_results")
        self.assertFalse({("succeeded",), ("failed",)} & set(states), states)
        self.leadline("cancel", "s1")

    def test_ctrl_c_ends_the_trainers_of_an_agent_that_died(self):
        for number in (signal.SIGKILL, signal.SIGSTOP):
            state = f"agent-{number.name}"
            run = self.start("leadline", "run", self.sweep_file(steps=2000, eval_every=1000), "--slots", "2",
                             state=state)
            self.training(state)
            os.kill(int((self.state(state) / "agent.lock").read_text()), number)
            os.killpg(run.pid, signal.SIGINT)
            self.finish(run, exit_code=130)
            began = time.monotonic()
            self.assert_nothing_lives()
            self.assertLess(time.monotonic() - began, 10)  # a trainer alone ends itself after 30 s

    def test_command_killed_as_it_starts_leaves_no_coordinator(self):
        # A pipe that the command would read until it has joined.
        output, pipe = os.pipe()
        environment = self.environment(self.state())
        coordinator = subprocess.Popen(
            [PROGRAMS / "leadline-coordinator", "--private", "--state", self.state()],
            env=environment, stdin=subprocess.DEVNULL, stdout=pipe, stderr=subprocess.DEVNULL,
            start_new_session=True)
        self.started.append(coordinator)
        os.close(pipe)
        os.read(output, 1)  # it serves
        os.close(output)
        self.assertEqual(coordinator.wait(timeout=15), 0)

    def test_run_says_that_its_coordinator_died(self):
        run = self.start("leadline", "run", self.sweep_file(steps=2000, eval_every=1000), "--slots", "2")
        self.training()
        os.kill(self.coordinator_pid(), signal.SIGKILL)
        _, err = self.finish(run, exit_code=4)
        self.assertIn("coordinator", err)
        wait_for(lambda: not self.living(), "trainers to end without their coordinator")


if __name__ == "__main__":
    unittest.main()
