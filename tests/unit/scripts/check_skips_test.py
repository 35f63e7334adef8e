"""scripts/check_skips lets through only the skipped tests that are listed with a reason."""

import os
import pathlib
import subprocess
import tempfile
import unittest

SCRIPT = pathlib.Path(__file__).resolve().parents[3] / "scripts" / "check_skips"
REPORT = """<?xml version="1.0" encoding="UTF-8"?>
<testsuite name="all" tests="3" failures="0" disabled="1" skipped="1">
  <testcase name="a.Runs" status="run"/>
  <testcase name="a.Skipped" status="notrun"><skipped message="no"/></testcase>
  <testcase name="b.Disabled" status="disabled"/>
</testsuite>
"""


class CheckSkips(unittest.TestCase):

    def check(self, skips, **environment):
        with tempfile.TemporaryDirectory() as folder:
            listed, report = pathlib.Path(folder, "skips.txt"), pathlib.Path(folder, "report.xml")
            listed.write_text(skips, encoding="utf-8")
            report.write_text(REPORT, encoding="utf-8")
            kept = {name: value for name, value in os.environ.items() if name != "LEADLINE_PROBE"}
            run = subprocess.run([SCRIPT, listed, report], capture_output=True, text=True, check=False,
                                 env=kept | environment)
            return run.returncode, run.stderr

    def test_an_unlisted_skip_fails_by_name(self):
        code, error = self.check("# nothing\n")
        self.assertEqual(code, 1)
        self.assertIn("a.Skipped", error)
        self.assertIn("b.Disabled", error)
        self.assertNotIn("a.Runs", error)

    def test_listed_skips_pass_in_silence(self):
        self.assertEqual(self.check("a.Skip* | always | why\nb.Disabled | always | why\n"), (0, ""))

    def test_a_condition_holds_only_while_the_variable_is_unset(self):
        skips = "* | unset LEADLINE_PROBE | needs the probe\n"
        self.assertEqual(self.check(skips)[0], 0)
        self.assertEqual(self.check(skips, LEADLINE_PROBE="here")[0], 1)

    def test_a_line_without_a_reason_is_refused(self):
        for line in ("a.Skipped", "a.Skipped | always", "a.Skipped | always | ", "a.Skipped | sometimes | why"):
            code, error = self.check(line + "\n")
            self.assertEqual(code, 1)
            self.assertIn("skips.txt:1", error)


if __name__ == "__main__":
    unittest.main()
