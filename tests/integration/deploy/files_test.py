"""deploy/: settings files that the programs take, and units that systemd takes."""

import os
import pathlib
import re
import subprocess
import tempfile
import unittest

TREE = pathlib.Path(__file__).resolve().parents[3]
DEPLOY = TREE / "deploy"
PROGRAMS = pathlib.Path(os.environ["LEADLINE_PROGRAMS"])
NAMES = ("coordinator", "agent")


def print_config(name, *words):
    return subprocess.run([PROGRAMS / f"leadline-{name}", *words, "--print-config"], capture_output=True, text=True,
                          env={key: value for key, value in os.environ.items() if not key.startswith("LEADLINE_")})


def settings(text):
    """KEY=VALUE of a settings file."""
    return dict(re.findall(r"^([a-z-]+)=(.*)$", text, re.MULTILINE))


def shown(text):
    """The same of all that an example shows, also as a comment."""
    return settings(re.sub("^#(?=[a-z-]+=)", "", text, flags=re.MULTILINE))


def example(name):
    return (DEPLOY / "examples" / f"{name}.conf").read_text()


def unit(name):
    return (DEPLOY / "systemd" / f"leadline-{name}.service").read_text()


def directive(name, key):
    return re.search(f"^{key}=(.*)$", unit(name), re.MULTILINE)[1]


class Examples(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def usual(self, name):
        """What --print-config prints where next to nothing is given."""
        more = ["--coordinator", "127.0.0.1:7070"] if name == "agent" else []
        return print_config(name, "--state", self.folder / name, *more).stdout

    def test_are_taken_as_they_are_but_for_the_state_folder(self):
        for name in NAMES:
            copy = self.folder / f"{name}.conf"
            copy.write_text(re.sub("^state=.*", f"state={self.folder}/{name}", example(name), flags=re.MULTILINE))
            done = print_config(name, "--config", copy)
            self.assertEqual((done.returncode, done.stderr), (0, ""))
            effect = settings(done.stdout)
            for key, value in settings(copy.read_text()).items():
                self.assertEqual(effect[key].strip('"'), value)

    def test_show_settings_that_there_are(self):
        for name in NAMES:
            there_are = set(re.findall(r"^(?:# )?([a-z-]+)(?==| is not set)", self.usual(name), re.MULTILINE))
            self.assertGreater(len(shown(example(name))), 4)
            self.assertLessEqual(set(shown(example(name))), there_are)

    def test_say_the_usual_value_where_one_is_shown(self):
        for name, keys in (("coordinator", ("lease", "grace")), ("agent", ("keep-days", "keep-mb"))):
            usual = settings(self.usual(name))
            for key in keys:
                self.assertEqual(float(shown(example(name))[key]), float(usual[key]), key)


class Units(unittest.TestCase):
    def test_are_taken_by_systemd_without_a_word(self):
        """A directive that it does not know would be a warning, and without effect."""
        with tempfile.TemporaryDirectory() as folder:
            for name in NAMES:
                copy = pathlib.Path(folder) / f"leadline-{name}.service"
                copy.write_text(unit(name).replace("/opt/leadline/build", str(PROGRAMS)))
                done = subprocess.run(["systemd-analyze", "verify", "--man=no", copy], capture_output=True, text=True)
                self.assertEqual((done.returncode, done.stdout + done.stderr), (0, ""))

    def test_do_not_start_again_what_misuse_or_a_refusal_ended(self):
        table = (TREE / "docs" / "errors.md").read_text()
        codes = {re.search(rf"^\| `{word}` \| (\d+) \|", table, re.MULTILINE)[1]
                 for word in ("misuse", "unauthenticated", "forbidden")}
        for name in NAMES:
            self.assertEqual(set(directive(name, "RestartPreventExitStatus").split()), codes)

    def test_of_an_agent_keep_no_device_from_its_trainers(self):
        names = re.findall("^([A-Za-z]+)=", unit("agent"), re.MULTILINE)
        self.assertFalse({"PrivateDevices", "ProtectClock", "DeviceAllow", "DevicePolicy", "MemoryDenyWriteExecute",
                          "SystemCallFilter"} & set(names))

    def test_name_the_settings_and_the_state_folders_of_the_examples(self):
        for name in NAMES:
            self.assertTrue(directive(name, "ExecStart").endswith(f"leadline-{name} --config /etc/leadline/{name}.conf"))
            self.assertEqual(settings(example(name))["state"], "/var/lib/" + directive(name, "StateDirectory"))


if __name__ == "__main__":
    unittest.main()
