"""What scripts/check_dashboards says of files alone, and that each mistake in them is told."""

import pathlib
import re
import sys
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[3]
sys.path.insert(0, str(ROOT / "scripts"))

from dashboard_check import expression, plants, static  # noqa: E402
from dashboard_check.board import Board, substitute  # noqa: E402

GRAFANA = ROOT / "dashboards" / "grafana"


def boards():
    return [Board.load(path) for path in sorted((GRAFANA / "leadline").glob("*.json"))]


class Dashboards(unittest.TestCase):
    def test_they_are_green(self):
        self.assertEqual([board.name for board in boards()], ["service.json", "sweep.json"])
        self.assertEqual(list(static.faults(ROOT, boards())), [])

    def test_a_renamed_metric_and_a_wrong_unit_are_told(self):
        for name, said in (("a renamed metric", "there is no metric leadline_queue_oldest_age_seconds"),
                           ("a wrong unit", "its unit is ms, its query's is seconds (s)")):
            faults = list(static.faults(ROOT, plants.planted(boards(), name)))
            self.assertEqual(faults, [f'service.json: panel "Age of the queue": {said}'])

    def test_provisioning_names_what_is_there(self):
        source = (GRAFANA / "provisioning" / "datasources" / "leadline.yaml").read_text()
        self.assertIn("type: prometheus", source)
        provider = (GRAFANA / "provisioning" / "dashboards" / "leadline.yaml").read_text()
        self.assertIn("path: $LEADLINE_DASHBOARDS", provider)
        uid = re.search(r"uid: (\w+)", source)[1]
        for board in boards():
            self.assertEqual(board.variables()[0]["current"]["value"], uid)

    def test_each_fault_of_structure_is_told(self):
        def change(edit):
            board = boards()[0]
            edit(board.content)
            return "\n".join(board.faults())

        def panel(content):
            return content["panels"][1]

        for edit, said in (
                (lambda c: panel(c).update(id=c["panels"][2]["id"]), "is not that of one panel"),
                (lambda c: panel(c)["gridPos"].update(x=4), "lies over"),
                (lambda c: panel(c)["gridPos"].update(x=20), "has no place within 24 columns"),
                (lambda c: panel(c).update(title=" "), "has no title"),
                (lambda c: panel(c).pop("description"), "has no description"),
                (lambda c: panel(c)["fieldConfig"]["defaults"].pop("unit"), "has no unit"),
                (lambda c: panel(c)["targets"].clear(), "has no query"),
                (lambda c: panel(c)["targets"][0].update(datasource={"uid": "mine"}), "does not take its data source"),
                (lambda c: panel(c)["targets"][0].update(expr="up{a=\"$host\"}"), "uses $host"),
                (lambda c: c["templating"]["list"].pop(0), "its first variable is not the data source"),
                (lambda c: panel(c).update(type="graph"), "is of no kind that Grafana has"),
                (lambda c: panel(c).update(datasource={"type": "loki", "uid": "${datasource}"}), "does not take its data source"),
                (lambda c: c.update(uid="x" * 41), "its uid is none of 40"),
                (lambda c: c.pop("uid"), "has no uid")):
            self.assertIn(said, change(edit))

    def test_longer_names_of_variables_are_replaced_first(self):
        self.assertEqual(substitute("$a ${a} $ab", {"a": "1", "ab": "2"}), "1 1 2")


class Units(unittest.TestCase):
    def test_unit_follows_from_the_suffix_and_what_is_done_with_it(self):
        for text, found in (
                ("a_seconds", "seconds"), ("sum by (x) (a_bytes{y=\"z_total\"})", "bytes"), ("a", "number"),
                ("rate(a_total[5m])", "number per second"), ("sum(rate(a_seconds_count[$x])) or vector(0)", "number per second"),
                ("rate(a_seconds_total[5m])", "seconds per second"), ("rate(a_bytes_total[5m])", "bytes per second"),
                ("increase(a_total[5m])", "number"), ("sum(a) / sum(a)", "ratio"), ("a + b", "number"),
                ("histogram_quantile(0.9, sum by (le) (rate(a_seconds_bucket[5m])))", "seconds"),
                ("time() - a_seconds", "seconds")):
            with self.subTest(expression=text):
                self.assertEqual(expression.unit(text), found)

    def test_what_is_not_read_is_a_fault(self):
        for text in ("deriv(a[5m])", "a_seconds + b_bytes", "a_seconds / b_bytes", "label_replace(a, \"b\")"):
            with self.subTest(expression=text):
                self.assertIn("cannot be told", expression.unit_fault(text, "s"))

    def test_metrics_and_labels_of_an_expression(self):
        text = 'sum by (le, x) (rate(a_bucket{y=~"b|c", z!="d e"}[5m])) / on (w) group_left () q:r and s == 1e9'
        self.assertEqual(expression.metrics_in(text), ["a_bucket", "q:r", "s"])
        self.assertEqual(expression.labels_in(text), {"le", "x", "y", "z", "w"})


if __name__ == "__main__":
    unittest.main()
