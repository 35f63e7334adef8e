"""Four ranks of one attempt on two machines: the same numbers as on one, over TCP."""

import json
import os
import signal
import unittest

from network_world import NAMES
from service_world import wait_for
from two_machines import TwoMachines

RESULTS = "select trial, seed, state, metric, value, step from trial_results order by 1, 4"
CURVES = "select trial, metric, step, value from curves order by 1, 2, 3"


class Gang(TwoMachines):
    networks_joined = True

    def machines(self, **settings):
        """Two of two slots each, joined to a coordinator."""
        self.certificates()
        self.token("agent")
        self.assert_nothing_lives()
        port = self.coordinator()
        agents = [self.agent(place, port, slots=2, collective_address=self.networks.address(place), **settings)
                  for place in NAMES]

        def ready():
            return [node for node in self.leadline_json("nodes")["nodes"] if node["state"] == "ready"]

        wait_for(lambda: len(ready()) == len(NAMES), "both nodes")
        return agents

    def four_ranks(self, **settings):
        path = self.sweep_file(devices=4, **settings)
        path.write_text(path.read_text().replace("[prenorm, block_attnres]", "[prenorm]"))
        return path

    def on_one_machine(self, sweep):
        """What the same sweep gives with all ranks on one."""
        self.leadline("run", sweep, "--slots", "4", state="alone")
        self.assertEqual(self.query("select distinct rank, node from attempt_ranks order by 1", "alone")[3][0], 3)
        return self.query(RESULTS, "alone"), self.query(CURVES, "alone")

    def assert_same_as_on_one_machine(self, sweep):
        results, curves = self.on_one_machine(sweep)
        self.assertEqual(self.query(RESULTS), results)
        self.assertEqual(self.query(CURVES), curves)
        self.assertTrue(all(state == "succeeded" for _, _, state, *_ in results), results)
        self.assertGreater(len(curves), 0)

    def end(self, processes):
        for process in processes:
            process.send_signal(signal.SIGTERM)
            self.finish(process)

    def test_ranks_on_two_machines_give_the_numbers_of_one(self):
        agents = self.machines()
        sweep = self.four_ranks(steps=20, eval_every=10)
        self.leadline("submit", sweep, "--wait")
        self.assert_same_as_on_one_machine(sweep)
        self.assertEqual(self.query("select distinct node, outcome from attempts"), [("one+two", "succeeded")])
        for place, ranks in zip(NAMES, ((0, 1), (2, 3))):
            ran = self.processes(place)
            self.assertEqual(
                self.stored_processes(place),
                [("s1.1.c0@1", ranks[0], ran["s1.1.c0@1", "s1.1.c0@1"]),
                 ("s1.1.c0@1", ranks[1], ran["s1.1.c0@1", f"rank-{ranks[1]}"])])
        shown = self.leadline_json("show", "s1.1.0")["attempt_list"][0]["ranks"]
        self.assertEqual([(rank["rank"], rank["node"]) for rank in shown],
                         [(0, "one"), (1, "one"), (2, "two"), (3, "two")])
        secret = json.loads((self.state("one") / "attempts/s1.1.c0@1/config.json").read_text())["world"]["secret"]
        for place in ("state", *NAMES):
            for path in self.state(place).glob("*"):
                if path.is_file():
                    self.assertNotIn(secret.encode(), path.read_bytes(), path)
        self.end(agents)


class StoppedRank(Gang):
    test_ranks_on_two_machines_give_the_numbers_of_one = None

    def test_a_rank_that_stands_still_ends_the_attempt_on_both_and_the_next_one_succeeds(self):
        agents = self.machines(collective_timeout=3)
        sweep = self.four_ranks(steps=300, eval_every=100)
        submit = self.start("leadline", "submit", sweep, "--wait")
        self.training("one", steps=3)
        pids = dict(self.query("select rank, pid from attempt_ranks where attempt = 's1.1.0@1'"))
        self.assertEqual(len(pids), 4)
        os.kill(pids[3], signal.SIGSTOP)
        first = wait_for(lambda: self.query("select outcome, kind, message from attempts where attempt = 's1.1.0@1' "
                                            "and outcome <> 'live'"), "the end of the attempt")
        self.assertEqual(first[0][:2], ("failed", "nccl"), first)
        wait_for(lambda: not [pid for pid in pids.values() if pid in self.living()], "all ranks to end")
        self.finish(submit)
        self.assert_same_as_on_one_machine(sweep)
        self.assertEqual(self.query("select outcome from attempts where trial = 's1.1.0' order by attempt")[-1],
                         ("succeeded",))
        self.end([*agents, self.hub])
        self.assert_nothing_lives()


if __name__ == "__main__":
    unittest.main()
