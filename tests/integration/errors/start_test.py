"""What keeps coordinator and agent from starting: each says what, where and what to do, and the command that started one passes it on."""

import contextlib
import json
import os
import signal
import socket
import sqlite3
import subprocess
import unittest

from errors_world import PROGRAMS, ErrorsWorld, wait_for

MOUNT = PROGRAMS / "tests" / "network_mount.so"


class StartOfACoordinator(ErrorsWorld):
    def refused(self, code, *words, exit_code=1, **options):
        return self.fails(self.start("leadline-coordinator", *words, **options), code, exit_code)

    def refused_to_a_command(self, code):
        """The same in a command that starts the local coordinator."""
        _, err = self.leadline("ls", "--json", exit_code=1)
        error = json.loads(err)["error"]
        self.assertEqual((error["code"], error["exit_code"]), (code, 1), error)
        return error["message"]

    def test_a_port_in_use_is_named(self):
        with socket.socket() as taken:
            taken.bind(("127.0.0.1", 0))
            taken.listen()
            port = taken.getsockname()[1]
            said = self.refused("address_in_use", "--state", self.state(), "--listen", f"127.0.0.1:{port}")
        self.assertIn(f"port {port} of 127.0.0.1 is in use", said)
        log = (self.state() / "coordinator.log").read_text()
        self.assertIn(" error failed code=address_in_use message=", log)

    def test_a_state_folder_in_use_names_its_holder(self):
        holder = self.coordinator()
        said = self.refused("state_in_use", "--state", self.state(), "--listen", "127.0.0.1:0")
        self.assertIn(f"is in use by process {holder.pid}", said)

    def test_a_file_in_place_of_the_state_folder(self):
        (self.folder / "file").write_text("")
        for state in (self.folder / "file", self.folder / "file" / "below"):
            for more in ((), ("--print-config",)):
                with self.subTest(state=state, more=more):
                    self.assertIn(str(state), self.refused("state_unusable", "--state", state, *more))

    def test_output_that_cannot_be_written_is_no_success(self):
        agent = ("leadline-agent", "--state", self.state(), "--coordinator", "127.0.0.1:1", "--trainer", "/bin/true")
        for words in (("leadline-coordinator", "--state", self.state(), "--print-config"), ("leadline-coordinator", "--help"),
                      (*agent, "--print-config"), ("leadline-agent", "--version")):
            with self.subTest(words=words), open("/dev/full", "w", encoding="utf-8") as full:
                ended = subprocess.run([PROGRAMS / words[0], *words[1:]], stdout=full, stderr=subprocess.PIPE, text=True, check=False)
                self.assertEqual(ended.returncode, 1)
                self.assertIn("No space left on device [output]", ended.stderr)

    def test_settings_that_could_serve_are_printed_and_nothing_is_touched(self):
        out, err = self.finish(self.start("leadline-coordinator", "--state", self.state(), "--print-config"))
        self.assertIn(f"state={self.state()}\n", out)
        self.assertEqual(err, "")
        self.assertFalse(self.state().exists())

    def test_a_state_folder_of_another_user_is_refused(self):
        if os.geteuid() != 0 or not self.programs_are_for_all():
            self.state().mkdir(mode=0o000)
            if os.access(self.state(), os.W_OK):
                self.skipTest("this user may read everything, and nobody else the programs")
            self.refused("state_unusable", "--state", self.state())
            self.state().chmod(0o700)
            return
        self.folder.chmod(0o755)
        self.state().mkdir(mode=0o700)
        said = self.refused("state_unusable", "--state", self.state(), user=65534, group=65534, extra_groups=[])
        self.assertIn("Permission denied", said)
        self.assertIn("--state", said)
        command = self.start("leadline", "ls", "--json", "--state", self.state(), user=65534, group=65534, extra_groups=[])
        error = json.loads(self.finish(command, 1)[1])["error"]
        self.assertEqual(error["code"], "state_unusable", error)
        # Whose it is can be seen where what lies above may be entered.
        self.assertRegex(error["message"], f"^cannot use the state folder {self.state()}: Permission denied; "
                                           "(it belongs to user root: .*)?choose another with --state")

    def programs_are_for_all(self):
        folders = [PROGRAMS, *PROGRAMS.parents]
        return all(folder.stat().st_mode & 0o5 == 0o5 for folder in folders)

    def database(self):
        """One of ours, at rest."""
        self.end(self.coordinator())
        return self.state() / "leadline.db"

    def test_a_newer_schema_is_left_as_it_is(self):
        path = self.database()
        with contextlib.closing(sqlite3.connect(path)) as database:
            database.execute("PRAGMA journal_mode = DELETE")
            database.execute("PRAGMA user_version = 9999")
        before = path.read_bytes()
        said = self.refused("newer_schema", "--state", self.state())
        self.assertIn("its schema is version 9999", said)
        self.assertIn("use a newer leadline", said)
        self.assertEqual(path.read_bytes(), before)
        self.assertIn("its schema is version 9999", self.refused_to_a_command("newer_schema"))

    def test_another_programs_file_is_left_as_it_is(self):
        self.state().mkdir(mode=0o700)
        path = self.state() / "leadline.db"
        path.write_text("dear diary, " * 100)
        self.assertIn("it is no SQLite database", self.refused("foreign_database", "--state", self.state()))
        self.refused_to_a_command("foreign_database")
        self.assertEqual(path.read_text(), "dear diary, " * 100)

    def test_a_damaged_database_is_told_and_kept(self):
        path = self.database()
        content = bytearray(path.read_bytes())
        content[100:] = b"\xa5" * (len(content) - 100)
        path.write_bytes(content)
        self.refused("damaged", "--state", self.state())
        self.assertEqual(path.read_bytes()[100:200], b"\xa5" * 100)

    def test_a_wrong_setting_is_misuse(self):
        for words in (["--lease", "1"], ["--nonsense"], ["--config", "/nowhere"]):
            with self.subTest(words=words):
                self.refused("misuse", "--state", self.state(), *words, exit_code=2)
        self.assertFalse(self.state().exists())
        # Whether there is a token only the store can say.
        self.refused("misuse", "--state", self.state(), "--listen", "0.0.0.0:1", exit_code=2)


class StartOfAnAgent(ErrorsWorld):
    def refused(self, code, *words, exit_code=1, **options):
        for default in (["--trainer", "/bin/true"], ["--coordinator", "127.0.0.1:1"]):
            if default[0] not in words:
                words = [*default, *words]
        return self.fails(self.start("leadline-agent", *words, **options), code, exit_code)

    def test_a_trainer_that_is_missing_or_may_not_be_run(self):
        plain = self.folder / "trainer"
        plain.write_text("#!/bin/sh\n")
        for path, why in ((self.folder / "none", "No such file"), (plain, "Permission denied")):
            said = self.refused("misuse", "--state", self.state(), "--trainer", path, exit_code=2)
            self.assertIn(str(path), said)
            self.assertIn(why, said)
            self.assertIn("--trainer", said)

    def test_a_state_folder_in_use_names_its_holder(self):
        self.coordinator()
        holder = self.agent()
        said = self.refused("state_in_use", "--state", self.state("agent"))
        self.assertIn(f"process id {holder.pid}", said)

    def test_a_file_in_place_of_the_state_folder(self):
        (self.folder / "file").write_text("")
        self.assertIn("file", self.refused("state_unusable", "--state", self.folder / "file"))

    def test_a_log_that_cannot_be_written(self):
        self.refused("state_unusable", "--state", self.state(), "--log-file", self.folder / "no" / "agent.log")

    def test_settings_that_cannot_run_are_not_printed_as_if_they_could(self):
        private = self.folder / "token"
        private.write_text("word\n")
        private.chmod(0o644)
        for words, why in ((["--tls-ca", "nope"], "nope"), (["--tls-cert", "nope"], "--tls-key"),
                           (["--token-file", "nope"], "nope"), (["--token-file", private], "chmod"),
                           (["--coordinator", "http://127.0.0.1:1"], "leave out http://"),
                           (["--trainer", "nope"], "--trainer"), (["--devices", "77", "--nvml", "nope"], "--devices")):
            words = [*words, "--tls-ca", "nope"] if words[0] == "--tls-cert" else words
            for more in ((), ("--print-config",)):
                with self.subTest(words=words, more=more):
                    said = self.refused("misuse", "--state", self.state(), *words, *more, exit_code=2)
                    self.assertIn(why, said)
        self.assertFalse(self.state().exists())
        private.chmod(0o600)
        for words, why in ((["--state", private / "below"], "is no folder"),
                           (["--state", self.state(), "--log-file", self.folder / "no" / "agent.log"], "there is no folder")):
            for more in ((), ("--print-config",)):
                with self.subTest(words=words, more=more):
                    self.assertIn(why, self.refused("state_unusable", *words, *more))
        self.assertFalse(self.state().exists())

    def test_settings_that_could_run_are_printed_and_nothing_is_touched(self):
        agent = self.start("leadline-agent", "--state", self.state(), "--coordinator", "127.0.0.1:1", "--trainer", "/bin/true",
                           "--print-config")
        out, err = self.finish(agent)
        self.assertIn("coordinator=127.0.0.1:1\n", out)
        self.assertEqual(err, "")
        self.assertFalse(self.state().exists())

    @unittest.skipIf(os.geteuid(), "only root may write into the folder of another user")
    def test_root_leaves_nothing_in_the_state_folder_of_another_user(self):
        state = self.state("agent")
        state.mkdir(mode=0o700)
        os.chown(state, 65534, 65534)
        for words in ((), ("--print-config",), ("--end-leftovers",), ("--fetch", "text8")):
            with self.subTest(words=words):
                said = self.refused("state_unusable", "--state", state, *words)
                self.assertIn("sudo -u", said)
                self.assertEqual(list(state.iterdir()), [])

    def test_who_is_not_let_in_ends_with_five(self):
        out, _ = self.leadline("token", "create", "--role", "submit", "--state", self.state())
        token = self.folder / "token"
        token.write_text(out)
        token.chmod(0o600)
        wait_for(lambda: not self.living(), "the coordinator of that command to end")
        self.coordinator()
        for words, code in (([], "unauthenticated"), (["--token-file", token], "forbidden")):
            with self.subTest(words=words):
                self.refused(code, "--state", self.state("agent"), "--coordinator", self.address, *words, exit_code=5)

    def test_a_wrong_setting_is_misuse(self):
        for words in (["--coordinator", "nowhere"], ["--slots", "0"], ["--log-level", "loud"], ["--nonsense"]):
            with self.subTest(words=words):
                self.refused("misuse", "--state", self.state(), *words, exit_code=2)


@unittest.skipUnless(MOUNT.exists(), "sanitizers must be loaded before anything else")
class ANetworkMount(ErrorsWorld):
    allowed = False

    def setUp(self):
        super().setUp()
        (self.folder / "mount").mkdir()

    def environment(self, state):
        allowed = {"LEADLINE_ALLOW_NETWORK_FILESYSTEM": "yes"} if self.allowed else {}
        return super().environment(state) | {"LD_PRELOAD": str(MOUNT), "NETWORK_MOUNT": str(self.folder / "mount")} | allowed

    def test_as_a_state_folder_is_refused_by_every_program_with_the_way_out(self):
        state = self.folder / "mount" / "state"
        said = [self.fails(self.start(program, "--state", state, *words), "state_unusable") for program, words in
                (("leadline-coordinator", ()), ("leadline-agent", ("--coordinator", "127.0.0.1:1", "--trainer", "/bin/true")))]
        _, err = self.leadline("ls", "--state", state, exit_code=1)
        for text in (*said, err):
            for part in (str(state), "nfs", "--state", "--allow-network-filesystem"):
                self.assertIn(part, text)
        self.assertFalse((state / "leadline.db").exists())

    def test_that_is_taken_all_the_same_has_no_log_beside_the_database(self):
        state = self.folder / "mount" / "state"
        coordinator = self.start("leadline-coordinator", "--state", state, "--listen", "127.0.0.1:0", "--allow-network-filesystem")
        self.address = json.loads(self.line(coordinator, coordinator.stdout))["address"]
        self.ask("submit", self.sweep())
        self.assertEqual([path.name for path in state.glob("leadline.db-*")], [])
        self.assertEqual(self.ask_json("ls")["total"], 1)
        self.ask("backup", self.folder / "copy.db")
        self.end(coordinator)
        command = ("restore", self.folder / "copy.db", "--state", state)
        self.assertIn("LEADLINE_ALLOW_NETWORK_FILESYSTEM=1", self.leadline(*command, exit_code=1)[1])
        self.allowed = True
        self.assertIn("restored", self.leadline(*command)[0])


class AnAgentWaits(ErrorsWorld):
    def test_for_a_coordinator_that_is_not_there_yet(self):
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            port = free.getsockname()[1]
        agent = self.start("leadline-agent", "--state", self.state("agent"), "--coordinator", f"127.0.0.1:{port}",
                           "--trainer", "/bin/true")
        self.line(agent, agent.stderr, "no coordinator answers")
        coordinator = self.start("leadline-coordinator", "--state", self.state(), "--listen", f"127.0.0.1:{port}")
        self.line(agent, agent.stderr, " info registered node=")
        for process in (agent, coordinator):
            process.send_signal(signal.SIGTERM)
            self.finish(process)
        wait_for(lambda: not self.living(), "processes to end")


if __name__ == "__main__":
    unittest.main()
