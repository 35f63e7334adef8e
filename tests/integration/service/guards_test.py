"""What must not be shared, and what must not be touched."""

import json
import os
import sqlite3
import subprocess
import sys
import unittest

from service_world import PROGRAMS, World, wait_for

WRITER = """
import os, sqlite3, sys
database = sqlite3.connect(sys.argv[1])
database.execute("pragma journal_mode = wal")
database.execute("pragma wal_autocheckpoint = 0")
database.execute("create table precious (value)")
database.execute("insert into precious values (42)")
database.commit()
os.kill(os.getpid(), 9)
"""


class Guards(World):
    def coordinator(self, state, listen):
        return self.start("leadline-coordinator", "--state", self.state(state), "--listen", listen, state=state)

    def refused(self, process):
        _, err = process.communicate(timeout=30)
        self.assertNotEqual(process.returncode, 0)
        return err

    def test_one_port_serves_one_coordinator(self):
        first = self.coordinator("one", "127.0.0.1:0")
        address = json.loads(self.line(first, first.stdout))["address"]
        err = self.refused(self.coordinator("two", address))
        self.assertIn(address.rpartition(":")[2], err)
        self.assertIsNone(first.poll())

    def test_one_state_folder_serves_one_coordinator(self):
        first = self.coordinator("one", "127.0.0.1:0")
        self.line(first, first.stdout)
        err = self.refused(self.coordinator("one", "127.0.0.1:0"))
        self.assertIn(str(first.pid), err)
        self.assertIsNone(first.poll())

    def test_one_state_folder_serves_one_agent(self):
        words = ["--state", self.state("one"), "--coordinator", "127.0.0.1:1", "--slots", "1"]
        first = self.start("leadline-agent", *words)
        lock = self.state("one") / "agent.lock"
        self.wait_for_text(lock)
        self.assertIn(str(first.pid), self.refused(self.start("leadline-agent", *words)))

    def wait_for_text(self, path):
        wait_for(lambda: path.exists() and path.read_text(), path)

    def contents(self, state):
        return {path.name: path.read_bytes() for path in self.state(state).glob("leadline.db*")}

    def assert_refused_and_untouched(self, state):
        before = self.contents(state)
        err = self.refused(self.coordinator(state, "127.0.0.1:0"))
        self.assertIn("leadline.db", err)
        self.assertEqual(self.contents(state), before)

    def test_a_text_file_is_no_database(self):
        self.state("text").mkdir()
        (self.state("text") / "leadline.db").write_text("dear diary\n" * 1000)
        self.assert_refused_and_untouched("text")

    def test_the_database_of_another_program_is_left_alone(self):
        self.state("other").mkdir()
        database = self.state("other") / "leadline.db"
        subprocess.run([sys.executable, "-c", WRITER, database], check=False)
        self.assertGreater(os.path.getsize(f"{database}-wal"), 0)
        self.assert_refused_and_untouched("other")
        self.assertEqual(sqlite3.connect(database).execute("select value from precious").fetchall(), [(42,)])

    def test_programs_say_what_was_wrong_with_their_arguments(self):
        for program in ("leadline-agent", "leadline-coordinator", "leadline-trainer", "leadline"):
            ended = subprocess.run([PROGRAMS / program, "--nonsense"], capture_output=True, text=True, check=False)
            self.assertEqual(ended.returncode, 2, program)
            self.assertTrue(ended.stderr, program)


if __name__ == "__main__":
    unittest.main()
