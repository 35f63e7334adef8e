"""Notes, tags, the archive, removal, backups: the commands on a coordinator without an agent."""

import json
import socket
import sqlite3
import subprocess
import unittest

from service_world import PROGRAMS, SWEEP, World

HOSTILE = "\x1b[31m'; DROP TABLE sweep; -- \N{GRINNING FACE}"


class Housekeeping(World):
    def setUp(self):
        super().setUp()
        self.file = self.folder / "sweep.yaml"
        self.file.write_text(SWEEP.format(steps=10, eval_every=10))

    def run_command(self, *words, code=0):
        ended = subprocess.run([PROGRAMS / "leadline", *map(str, words)], env=self.environment(self.state()),
                               stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=120, check=False)
        self.assertEqual(ended.returncode, code, ended.stderr + ended.stdout)
        return ended.stderr if code else ended.stdout

    def json(self, *words, code=0):
        return json.loads(self.run_command(*words, "--json", code=code))

    def ids(self, *words):
        return [sweep["sweep"] for sweep in self.json("ls", *words)["sweeps"]]

    def test_sweeps_are_noted_tagged_archived_found_and_removed(self):
        for _ in range(3):
            self.run_command("submit", self.file, "--new")
        self.run_command("tag", "s1", "+paper", "figure-2")
        self.run_command("tag", "s2", "+paper")
        self.assertEqual(self.json("tag", "s2", "--remove", "paper", "+dr\N{LATIN SMALL LETTER A WITH DIAERESIS}ft")["tags"],
                         ["dr\N{LATIN SMALL LETTER A WITH DIAERESIS}ft"])
        self.run_command("tag", "s2", "two words", code=2)
        self.assertEqual(self.json("note", "s1", HOSTILE)["note"], HOSTILE)
        self.assertNotIn("\x1b", self.run_command("ls"))
        self.assertIn("paper", self.run_command("show", "s1"))
        self.assertEqual(self.ids("--tag", "paper"), ["s1"])
        self.assertEqual(self.ids("--tag", "paper", "--tag", "draft"), [])
        self.assertEqual(self.ids("--name", "tin", "--since", "1h"), ["s3", "s2", "s1"])
        self.assertEqual(self.ids("--in-state", "paused"), [])
        self.assertIn("1 of 3", self.run_command("ls", "--limit", "1"))

        self.assertIn("cancel it first", self.run_command("archive", "s1", code=1))
        self.run_command("cancel", "s1")
        self.run_command("archive", "s1")
        self.assertEqual(self.ids(), ["s3", "s2"])
        self.assertEqual(self.ids("--archived"), ["s1"])
        self.assertEqual(self.ids("--all"), ["s3", "s2", "s1"])
        self.assertIsNotNone(self.json("show", "s1")["archived_at"])
        self.assertIn("none but 1 in the archive", self.run_command("ls", "--tag", "paper"))
        self.assertEqual(self.run_command("ls", "--tag", "nobody's"), "no sweep is like that\n")
        self.run_command("archive", "s1", "--undo")

        self.assertEqual(self.json("rm", "s1", "--dry-run")["targets"][0]["trials"], 4)
        self.run_command("rm", "s1", code=2)  # nobody can be asked
        self.run_command("rm", "s3", "--yes", code=1)
        self.run_command("rm", "s1", "--yes")
        self.run_command("show", "s1", code=6)
        self.run_command("cancel", "s3")
        self.run_command("rm", "s3", "--yes")
        self.assertIn("s4", self.run_command("submit", self.file, "--new"))

    def test_on_one_machine_rm_tells_what_goes_though_no_agent_runs(self):
        self.run_command("run", self.file)
        self.wait_until_ended()
        node, = self.json("rm", "s1", "--dry-run")["nodes"]
        self.assertEqual((node["attempts"], node["unknown"]), (2, None))
        files = [path for path in self.state().glob("attempts/*/events.jsonl")]
        self.assertGreater(node["bytes"], sum(path.stat().st_size for path in files))
        self.assertEqual((node["node"], node["at_least"]), (socket.gethostname(), False))
        said = self.run_command("rm", "s1", "--yes")
        self.assertIn(f"on {node['node']}: event files and logs of 2 attempts, checkpoints of 2 cohorts", said)
        self.assertIn("goes with the next `leadline run`", said)

    def test_a_backup_is_made_looked_through_and_restored(self):
        self.run_command("submit", self.file)
        backup = self.folder / "backup.db"
        made = self.json("backup", backup)
        self.assertEqual((made["rows"]["sweep"], made["rows"]["trial"]), (1, 4))
        self.assertEqual(made["bytes"], backup.stat().st_size)
        self.assertIn("already", self.run_command("backup", backup, code=1))
        self.run_command("backup", backup, "--force")
        self.assertEqual(list(self.folder.glob("*.unfinished")), [])
        self.assertEqual(list(self.state().glob("backup*")), [])
        self.run_command("submit", self.file, "--new")

        other = self.folder / "other"
        live = self.start("leadline-coordinator", "--state", other, "--listen", "127.0.0.1:0", state=other)
        self.line(live, live.stdout)
        self.assertIn(str(live.pid), self.run_command("restore", backup, "--state", other, code=1))
        self.assertIn("leadline backup", self.run_command("fsck", "--state", other, code=1))

        self.wait_until_ended()
        self.assertTrue(self.json("fsck")["sound"])
        restored = self.json("restore", backup)
        self.assertEqual(restored["rows"]["sweep"], 1)
        self.assertEqual(self.ids(), ["s1"])
        kept = sqlite3.connect(restored["set_aside"])
        self.assertEqual(kept.execute("select count(*) from sweep").fetchone(), (2,))
        kept.close()

        damaged = self.folder / "damaged.db"
        damaged.write_bytes(backup.read_bytes()[:8192] + b"Z" * 20000)
        self.assertFalse(json.loads(self.run_output("fsck", damaged, "--json", code=1))["sound"])
        self.wait_until_ended()
        self.assertIn("not sound", self.run_command("restore", damaged, code=1))
        self.assertEqual(self.ids(), ["s1"])

    def test_a_restore_lets_in_whom_the_database_before_it_did(self):
        for name in ("kept", "leaver"):
            self.leadline("token", "create", "--role", "submit", "--name", name)
        backup = self.folder / "backup.db"
        self.run_command("backup", backup)
        self.leadline("token", "revoke", "t2")
        self.leadline("token", "create", "--role", "submit", "--name", "later")
        self.wait_until_ended()
        self.assertIn("tokens and its audit are those of the database that it replaces",
                      self.run_command("restore", backup))
        tokens = "select token, name, revoked_at is null from tokens order by token"
        self.assertEqual(self.query(tokens), [("t1", "kept", 1), ("t2", "leaver", 0), ("t3", "later", 1)])
        self.assertEqual(self.query("select count(*) from audit where call = 'RevokeToken'"), [(1,)])
        # Elsewhere there is none before it.
        elsewhere = self.folder / "elsewhere"
        self.assertIn("its 2 tokens are those of the backup",
                      self.run_command("restore", backup, "--state", elsewhere))

    def test_errors_of_what_works_without_a_coordinator_are_those_of_all(self):
        (self.folder / "diary.txt").write_text("dear diary, " * 100)
        for words, code, exit_code in ((("restore", self.folder / "none.db"), "not_found", 6),
                                       (("fsck", self.folder / "none.db"), "not_found", 6), (("fsck",), "not_found", 6),
                                       (("fsck", self.folder / "diary.txt"), "foreign_database", 1)):
            with self.subTest(words=words):
                error = json.loads(self.run_command(*words, "--json", code=exit_code))["error"]
                self.assertEqual((error["code"], error["exit_code"]), (code, exit_code))
                self.assertIn(error["where"], error["message"])

    def test_a_file_of_any_name_is_looked_through_and_drives_no_terminal(self):
        self.run_command("submit", self.file)
        self.run_command("backup", self.folder / "backup.db")
        name = "-\x1b[2J.db"
        (self.folder / "backup.db").rename(self.folder / name)
        out, _ = self.finish(self.start("leadline", "fsck", "--", name, cwd=self.folder))
        self.assertIn("-\\x1b[2J.db: sound", out)
        with open("/dev/full", "w", encoding="utf-8") as full:
            ended = subprocess.run([PROGRAMS / "leadline", "fsck", "--", name], cwd=self.folder, stdout=full,
                                   stderr=subprocess.PIPE, text=True, check=False)
        self.assertEqual((ended.returncode, "No space left" in ended.stderr), (1, True), ended.stderr)
        self.leadline("token", "create", "--role", "read")
        self.run_command("backup", self.folder / "other.db")
        state = self.folder / "\x1b[31mstate"
        out, _ = self.finish(self.start("leadline", "restore", self.folder / "other.db", "--state", state))
        self.assertNotIn("\x1b", out)
        error = json.loads(self.finish(self.start("leadline", "fsck", "--json", "--", "--none", cwd=self.folder), 6)[1])["error"]
        self.assertEqual(error["where"], "--none")

    def test_a_restore_that_fails_leaves_nothing_behind(self):
        self.run_command("submit", self.file)
        self.run_command("backup", self.folder / "backup.db")
        state = self.folder / "other"
        (state / "leadline.db" / "below").mkdir(parents=True)
        state.chmod(0o700)
        said = json.loads(self.run_command("restore", self.folder / "backup.db", "--state", state, "--json", code=1))
        self.assertEqual(said["error"]["code"], "file")
        self.assertEqual(sorted(path.name for path in state.iterdir()), ["leadline.db", "lock"])

    def test_the_first_token_says_what_it_changes(self):
        for is_first in (True, False):
            token, told = self.leadline("token", "create", "--role", "admin")
            self.assertRegex(token, r"^llt\d+_[0-9a-f]{64}\n$")
            self.assertEqual("from now on every address asks for one" in told, is_first)

    def run_output(self, *words, code):
        ended = subprocess.run([PROGRAMS / "leadline", *map(str, words)], env=self.environment(self.state()),
                               capture_output=True, text=True, timeout=120, check=False)
        self.assertEqual(ended.returncode, code, ended.stderr)
        return ended.stdout

    def wait_until_ended(self):
        """Until the private coordinator of the last command has let go of its folder."""
        import fcntl  # pylint: disable=import-outside-toplevel
        with open(self.state() / "lock", "rb") as lock:
            fcntl.flock(lock, fcntl.LOCK_SH)


if __name__ == "__main__":
    unittest.main()
