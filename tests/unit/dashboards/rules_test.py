"""Rules of dashboards/prometheus: they hold what their tests say, and a rule turned into its opposite fails them."""

import pathlib
import re
import shutil
import subprocess
import tempfile
import unittest
from concurrent.futures import ThreadPoolExecutor

RULES = pathlib.Path(__file__).resolve().parents[3] / "dashboards" / "prometheus"
OPPOSITE = {">": "<=", "<": ">=", "==": "!=", "!=": "==", ">=": "<", "<=": ">"}
RULE = re.compile(r"- (record|alert): (\S+)\n(\s+expr: )(.+)")


def promtool(*words, folder=RULES):
    return subprocess.run(["promtool", *words], cwd=folder, capture_output=True, text=True)


def opposite(kind, expression):
    if kind == "record":
        return f"-1 - ({expression})"
    # The first comparison outside of a selector is the condition.
    bare = re.sub(r"\{[^}]*\}", lambda match: " " * len(match[0]), expression)
    match = re.search(r" (==|!=|>=|<=|>|<) ", bare)
    return expression[:match.start(1)] + OPPOSITE[match[1]] + expression[match.end(1):]


def turn(text, rules):
    """The text of a file with those of its rules turned round."""
    for rule in sorted(rules, key=lambda rule: rule.start(), reverse=True):
        text = text[:rule.start(4)] + opposite(rule[1], rule[4]) + text[rule.end(4):]
    return text


def test_with_opposite(name, rule):
    """The exit code of the rules' tests where that rule is turned round."""
    with tempfile.TemporaryDirectory() as folder:
        copy = pathlib.Path(folder) / f"{name}_rules.yml"
        copy.write_text(turn((RULES / copy.name).read_text(), [rule]))
        shutil.copy(RULES / f"{name}_rules_test.yml", folder)
        return promtool("test", "rules", f"{name}_rules_test.yml", folder=folder).returncode


class Rules(unittest.TestCase):
    def test_they_hold_what_their_tests_say(self):
        for words in (["check", "rules", "recording_rules.yml", "alert_rules.yml"],
                      ["check", "config", "prometheus.yml"],
                      ["test", "rules", "recording_rules_test.yml", "alert_rules_test.yml"]):
            done = promtool(*words)
            self.assertEqual(done.returncode, 0, done.stdout + done.stderr)

    def test_opposites_are_rules_too(self):
        """Else a test would fail for another reason."""
        for name in ("recording", "alert"):
            text = (RULES / f"{name}_rules.yml").read_text()
            with tempfile.TemporaryDirectory() as folder:
                (pathlib.Path(folder) / "turned.yml").write_text(turn(text, list(RULE.finditer(text))))
                done = promtool("check", "rules", "turned.yml", folder=folder)
                self.assertEqual(done.returncode, 0, done.stdout + done.stderr)

    def test_each_turned_into_its_opposite_fails(self):
        rules = [(name, rule) for name in ("recording", "alert")
                 for rule in RULE.finditer((RULES / f"{name}_rules.yml").read_text())]
        self.assertGreater(len(rules), 20)
        with ThreadPoolExecutor(2) as pool:
            for (_, rule), code in zip(rules, pool.map(lambda pair: test_with_opposite(*pair), rules)):
                with self.subTest(rule=rule[2]):
                    self.assertNotEqual(code, 0, "its test does not notice")

    def test_each_alert_says_how_bad_it_is_and_what_to_do(self):
        text = (RULES / "alert_rules.yml").read_text()
        for block in text.split("- alert: ")[1:]:
            with self.subTest(alert=block.split("\n")[0]):
                self.assertRegex(block, r"labels: \{severity: (critical|warning|info)\}")
                self.assertRegex(block, r"\n +summary: .+\n +description: .+")


if __name__ == "__main__":
    unittest.main()
