"""scripts/check_layers turns red on what the layers forbid, and names file and line."""

import pathlib
import subprocess
import tempfile
import unittest

SCRIPT = pathlib.Path(__file__).resolve().parents[3] / "scripts" / "check_layers"


class CheckLayers(unittest.TestCase):

    def check(self, path, text):
        """Returns (exit code, error text) for a tree that holds one file."""
        with tempfile.TemporaryDirectory() as root:
            subprocess.run(["git", "init", "-q", root], check=True)
            file = pathlib.Path(root, path)
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(text, encoding="utf-8")
            run = subprocess.run([SCRIPT, root], capture_output=True, text=True, check=False)
            return run.returncode, run.stderr

    def refused(self, path, text, words):
        code, error = self.check(path, text)
        self.assertEqual(code, 1, error)
        self.assertIn(words, error)

    def test_allowed_includes_are_silent(self):
        self.assertEqual(
            self.check("storage/sqlite/a.cc",
                       '#include "storage/store.h"\n#include <string>\n#include <absl/status/status.h>\n'
                       "#include <SQLiteCpp/SQLiteCpp.h>\n"), (0, ""))

    def test_torch_in_the_coordinator_is_refused_with_its_line(self):
        self.refused("coordinator/rpc/a.cc", "#include <vector>\n\n#include <torch/torch.h>\n",
                     "coordinator/rpc/a.cc:3: coordinator/rpc/ may not use torch")

    def test_the_trainer_may_not_see_grpc(self):
        self.refused("worker/trainer/a.h", "#include <grpcpp/grpcpp.h>\n", "may not use grpc")

    def test_rpc_reads_the_store_and_never_writes_it(self):
        self.assertEqual(self.check("coordinator/rpc/a.cc", '#include "storage/store_reader.h"\n'), (0, ""))
        self.refused("coordinator/rpc/a.cc", '#include "storage/store.h"\n', "may not include storage/store.h")

    def test_lower_folders_do_not_look_up(self):
        self.refused("common/a.h", '#include "coordinator/control/step.h"\n', "may not include")
        self.refused("model/a.cc", '#include "worker/trainer/loop.h"\n', "may not include")

    def test_pure_code_reads_no_clock_and_draws_no_chance(self):
        self.refused("coordinator/scheduler/a.cc", "auto t = std::chrono::steady_clock::now();\n", "must not use")
        self.refused("coordinator/sweep/a.cc", "std::random_device device;\n", "must not use")
        self.refused("model/a.cc", 'const char* home = std::getenv("HOME");\n', "must not use")
        self.refused("coordinator/control/a.cc", "#include <mutex>\n", "must not use")

    def test_words_in_comments_are_no_fault(self):
        self.assertEqual(self.check("coordinator/sweep/a.cc", "// never calls steady_clock::now()\n"), (0, ""))

    def test_what_the_table_does_not_know_is_refused(self):
        self.refused("helpers/a.cc", "int a;\n", "lies in no folder")
        self.refused("common/a.cc", "#include <newlib/new.h>\n", "belongs to no library")

    def test_a_build_folder_of_any_name_is_not_looked_at(self):
        with tempfile.TemporaryDirectory() as root:
            subprocess.run(["git", "init", "-q", root], check=True)
            for path, text in {"common/a.h": "#include <string>\n", "out/CMakeCache.txt": "",
                               "out/proto/a.pb.h": "#include <string>\n"}.items():
                file = pathlib.Path(root, path)
                file.parent.mkdir(parents=True, exist_ok=True)
                file.write_text(text, encoding="utf-8")
            run = subprocess.run([SCRIPT, root], capture_output=True, text=True, check=False)
            self.assertEqual((run.returncode, run.stderr), (0, ""))

    def test_an_empty_tree_is_no_success(self):
        code, _ = self.check("README.md", "nothing here\n")
        self.assertEqual(code, 1)


if __name__ == "__main__":
    unittest.main()
