"""pause, resume, retry and explain, and an agent that goes away while a command waits."""

import json
import os
import signal
import unittest

from service_world import World, wait_for

LONG = {"steps": 2000, "eval_every": 1000}


class Commands(World):
    def coordinator(self, *words):
        process = self.start("leadline-coordinator", "--state", self.state(), "--listen", "127.0.0.1:0", *words)
        self.address = json.loads(self.line(process, process.stdout))["address"]

    def agent(self, slots):
        process = self.start("leadline-agent", "--state", self.state("agent"), "--coordinator", self.address,
                             "--node", "n", "--slots", str(slots), state="agent")
        self.line(process, process.stderr, "registered node=")
        return process

    def ask(self, *words, exit_code=0):
        return self.leadline(*words, "--coordinator", self.address, state="client", exit_code=exit_code)

    def ask_json(self, *words):
        return json.loads(self.ask(*words, "--json")[0])

    def states(self):
        return [state for state, in self.query("select state from trial_results where metric = 'validation_loss' "
                                               "and split = 'validation' order by trial")]

    def outcomes(self):
        return self.query("select distinct cohort, outcome, kind from attempts order by cohort, started_at")

    def test_what_is_stopped_is_suspended_and_goes_on_when_resumed(self):
        self.coordinator()
        self.agent(1)
        self.ask("submit", self.sweep_file(**LONG))
        _, trainer = self.training("agent")
        stopped = self.ask_json("pause", "s1", "--stop")
        self.assertEqual((stopped["changed"], stopped["stopping"], stopped["waiting"]), (True, 2, 2))
        wait_for(lambda: self.states() == ["suspended", "suspended", "queued", "queued"], "trials to be suspended")
        self.assertNotIn(trainer, self.living())
        self.assertEqual(self.outcomes(), [("s1.1.c0", "preempted", None)])
        why = self.ask_json("explain", "s1.1.0")
        self.assertIn("leadline resume s1", why["waiting_for"])
        self.assertEqual((why["failures"], why["attempt_list"][0]["outcome"]), (0, "preempted"))
        self.assertGreaterEqual(why["attempt_list"][0]["step"], 3)
        self.assertEqual(self.ask_json("pause", "s1")["changed"], False)

        self.assertEqual(self.ask_json("resume", "s1")["queued"], 2)
        self.ask("watch", "s1")
        self.assertEqual(self.states(), ["succeeded"] * 4)
        self.assertEqual(self.query("select count(*) from attempts where outcome = 'failed'"), [(0,)])

    def test_what_was_cancelled_alone_is_retried_when_its_cohort_is_free(self):
        self.coordinator()
        self.agent(2)
        self.ask("submit", self.sweep_file(**LONG))
        self.training("agent")
        self.ask("cancel", "s1.1.0")
        self.assertEqual(self.ask_json("retry", "s1")["queued"], 0)
        again = self.ask_json("retry", "s1", "--cancelled")
        self.assertEqual((again["queued"], again["targets"][0]["unfinished"]), (1, 3))
        self.ask("watch", "s1")
        self.assertEqual(self.states(), ["succeeded"] * 4)
        self.assertEqual(self.query("select max(attempts) from trial_results where cell = 's1.1'"), [(2,)])
        self.assertEqual(self.query("select max(attempts) from trial_results where cell = 's1.2'"), [(1,)])
        # Trained alone, and still among the seeds of its cohort: to the same bits.
        self.assertEqual(self.ask_json("retry", "s1", "--all-unfinished")["queued"], 0)

    def test_a_command_that_waits_ends_when_the_only_agent_is_gone(self):
        self.coordinator("--lease", "3", "--heartbeat", "0.5")
        agent = self.agent(1)
        file = self.sweep_file(**LONG)
        run = self.start("leadline", "run", file, "--give-up", "4", "--coordinator", self.address, state="client")
        self.training("agent")
        os.kill(agent.pid, signal.SIGKILL)
        _, err = self.finish(run, exit_code=7)
        self.assertIn("no live agents, 2 queued, 2 unreachable", err)
        why = self.ask_json("explain", "s1")
        self.assertEqual((why["live_agents"], why["state"]), (0, "active"))
        self.assertIn("no live agents, 2 queued", why["summary"])
        self.assertIn("is not heard", self.ask_json("explain", "s1.1.0")["summary"])

        self.agent(1)
        self.ask("run", file)
        self.assertEqual(self.states(), ["succeeded"] * 4)


if __name__ == "__main__":
    unittest.main()
