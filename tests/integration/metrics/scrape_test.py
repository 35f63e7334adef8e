"""A coordinator that serves HTTP, asked by hand, by promtool and by a real Prometheus."""

import json
import os
import pathlib
import signal
import subprocess
import sys
import tempfile
import unittest
import urllib.error
import urllib.request

ROOT = pathlib.Path(__file__).resolve().parents[3]
sys.path.insert(0, str(ROOT / "scripts"))

from dashboard_check import known_metrics  # noqa: E402
from dashboard_check.prometheus import Prometheus  # noqa: E402

COORDINATOR = pathlib.Path(os.environ["LEADLINE_PROGRAMS"]) / "leadline-coordinator"


class Scrape(unittest.TestCase):
    def setUp(self):
        self._temporary = tempfile.TemporaryDirectory(prefix="leadline-metrics-")
        self.folder = pathlib.Path(self._temporary.name)
        self._processes = []

    def tearDown(self):
        for process in self._processes:
            process.kill()
            process.communicate()
        self._temporary.cleanup()

    def start(self, state, http):
        process = subprocess.Popen([COORDINATOR, "--state", self.folder / state, "--http", http],
                                   stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        self._processes.append(process)
        return process

    def serve(self):
        """A running coordinator, and what it said it bound."""
        process = self.start("state", "127.0.0.1:0")
        return process, json.loads(process.stdout.readline())

    def get(self, address, path):
        with urllib.request.urlopen(f"http://{address}{path}", timeout=30) as answer:
            return answer.headers, answer.read().decode()

    def test_what_was_bound_is_told_and_serves(self):
        _, bound = self.serve()
        self.assertEqual(json.loads((self.folder / "state" / "coordinator.json").read_text()), bound)
        for path in ("/healthz", "/readyz"):
            headers, body = self.get(bound["http"], path)
            self.assertEqual(body, "ok\n")
            self.assertEqual(headers["X-Content-Type-Options"], "nosniff")
        _, page = self.get(bound["http"], "/")
        for path in ("/metrics", "/healthz", "/readyz"):
            self.assertIn(f'<a href="{path}">', page)
        with self.assertRaises(urllib.error.HTTPError) as refused:
            self.get(bound["http"], "/leadline.db")
        refused.exception.close()
        self.assertEqual(refused.exception.code, 404)

    def test_promtool_finds_no_fault_in_the_page(self):
        _, bound = self.serve()
        self.get(bound["http"], "/healthz")
        headers, page = self.get(bound["http"], "/metrics")
        self.assertTrue(headers["Content-Type"].startswith("text/plain; version=0.0.4"))
        done = subprocess.run(["promtool", "check", "metrics"], input=page, capture_output=True, text=True)
        self.assertEqual((done.returncode, done.stdout, done.stderr), (0, "", ""))

    def test_the_page_has_what_the_documents_say_and_no_more(self):
        _, bound = self.serve()
        _, page = self.get(bound["http"], "/metrics")
        told = {line.split(" ")[2] for line in page.splitlines() if line.startswith("# TYPE ")}
        known = known_metrics.read(ROOT / "docs" / "metrics.md")
        self.assertEqual(sorted(name for name in told if name not in known and name + "_sum" not in known), [])
        # Those without a series yet: of cells, sweeps, nodes and calls.
        later = {name for name in known if name.startswith(("leadline_cell_", "leadline_sweep_", "leadline_tokens_",
                                                            "leadline_rpc_"))}
        plain = {name for name in known if not name.endswith(("_bucket", "_sum", "_count"))} - {"up"}
        self.assertEqual(sorted(plain - told - later), [])

    def test_a_real_prometheus_scrapes_it(self):
        process, bound = self.serve()
        with Prometheus(self.folder / "prometheus", bound["http"]) as prometheus:
            self.assertEqual(list(prometheus.wait_for("up").values()), [1])
            self.assertEqual(sum(prometheus.values("leadline_trials").values()), 0)
            self.assertEqual(len(prometheus.values("leadline_trials")), 9)
            prometheus.wait_for("rate(leadline_control_tick_seconds_count[10s]) > 0")
            self.assertEqual(list(prometheus.values("count(leadline_build_info)").values()), [1])
            os.kill(process.pid, signal.SIGTERM)
            prometheus.wait_for("up == 0")
        self.assertEqual(process.wait(30), 0)

    def test_what_cannot_be_bound_is_told_at_once(self):
        _, bound = self.serve()
        for http, codes, said in ((bound["http"], [1], bound["http"]), ("0.0.0.0:0", [1, 2], "0.0.0.0:0"),
                                  ("unix:/tmp/x", [2], "HOST:PORT"), ("nonsense", [2], "HOST:PORT")):
            with self.subTest(http=http):
                other = self.start("other", http)
                _, err = other.communicate(timeout=30)
                self.assertIn(other.returncode, codes)
                self.assertIn(said, err)


if __name__ == "__main__":
    unittest.main()
