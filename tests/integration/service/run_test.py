"""A sweep from file to table, and again."""

import unittest

from service_world import World


class Run(World):
    def test_trains_every_seed_of_every_cell(self):
        table = self.leadline_json("run", self.sweep_file(), "--slots", "2")
        self.assertTrue(table["complete"])
        self.assertEqual([cell["method"] for cell in table["cells"]], ["prenorm", "block_attnres"])
        for cell in table["cells"]:
            self.assertEqual((cell["n"], cell["planned"]), (2, 2))
            self.assertGreater(cell["sd"], 0)
            self.assertGreater(cell["mean"], cell["floor"])
            values = [value["value"] for value in cell["values"]]
            self.assertAlmostEqual(cell["mean"], sum(values) / 2, delta=1e-12)
        self.assert_every_trial_ended_once()
        self.assert_nothing_lives()

        again = self.leadline_json("run", self.sweep_file())
        self.assertEqual(again, table)
        self.assertEqual(self.query("select distinct attempts from trial_results"), [(1,)])
        self.assertEqual(self.query("select distinct determinism from trial_results"), [("bit_exact",)])
        self.assertIn("a step computed again gave the same bits", self.leadline("show", "s1.1.0")[0])

        self.assertEqual(self.leadline_json("results"), table)
        shown = self.leadline_json("show", "s1.2.1", "--routing")
        for router in shown["map"]:
            self.assertAlmostEqual(sum(router["weights"]), 1, places=5)
            self.assertEqual(len(router["sources"]), len(router["weights"]))
        self.assert_nothing_lives()

    def test_stored_values_are_those_of_the_trainer_by_hand(self):
        self.leadline("run", self.sweep_file(), "--slots", "1")
        config, _ = self.leadline("show", "s1.1.0", "--config")
        path = self.folder / "config.json"
        path.write_text(config)
        events, _ = self.finish(self.start("leadline-trainer", path))
        stored = self.query("select value from trial_results where trial = 's1.1.0' "
                            "and metric = 'validation_loss' and split = 'validation'")[0][0]
        self.assertIn(f'"validation_loss":{stored!r}'.replace("e-0", "e-"), events)


if __name__ == "__main__":
    unittest.main()
