"""A real Prometheus on a free port, its data in a folder of its own."""

import json
import math
import re
import subprocess
import threading
import time
import urllib.error
import urllib.parse
import urllib.request

CONFIG = """\
global: {{scrape_interval: 1s, evaluation_interval: 1s}}
rule_files: [{rules}]
scrape_configs:
  - job_name: leadline
    static_configs: [{{targets: ["{target}"]}}]
"""


class Prometheus:
    def __init__(self, folder, target, rules=()):
        folder.mkdir(parents=True)
        config = folder / "prometheus.yml"
        config.write_text(CONFIG.format(target=target, rules=", ".join(f'"{path}"' for path in rules)))
        self._said = []
        self._port = None
        self._listens = threading.Event()
        self._process = subprocess.Popen(
            ["prometheus", f"--config.file={config}", f"--storage.tsdb.path={folder / 'data'}",
             "--web.listen-address=127.0.0.1:0", "--log.level=info"],
            stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()
        if not self._listens.wait(60) or self._port is None:
            self.stop()
            raise RuntimeError("prometheus did not begin to listen:\n" + "".join(self._said[-20:]))
        self._wait_until_ready()

    def _read(self):
        for line in self._process.stderr:
            self._said.append(line)
            if match := re.search(r'msg="Listening on" address=\S+:(\d+)', line):
                self._port = int(match[1])
                self._listens.set()
        self._listens.set()

    def _wait_until_ready(self):
        """It listens before it answers."""
        deadline = time.monotonic() + 60
        while True:
            try:
                with urllib.request.urlopen(f"http://127.0.0.1:{self._port}/-/ready", timeout=30):
                    return
            except urllib.error.HTTPError as error:
                error.close()
                if time.monotonic() > deadline:
                    self.stop()
                    raise
            time.sleep(0.1)

    def stop(self):
        self._process.terminate()
        self._process.wait()
        self._reader.join()
        self._process.stderr.close()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.stop()

    def ask(self, path, **words):
        data = urllib.parse.urlencode(words, doseq=True)
        url = f"http://127.0.0.1:{self._port}/api/v1/{path}?{data}"
        try:
            with urllib.request.urlopen(url, timeout=30) as answer:
                return json.load(answer)["data"]
        except urllib.error.HTTPError as error:
            raise ValueError(json.load(error).get("error", str(error))) from None

    def values(self, expression):
        """The finite values of an instant query, by labels as text."""
        found = {}
        for sample in self.ask("query", query=expression)["result"]:
            value = float(sample["value"][1])
            if math.isfinite(value):
                found[json.dumps(sample["metric"], sort_keys=True)] = value
        return found

    def label_values(self, series, label):
        found = self.ask("series", **{"match[]": series, "start": time.time() - 3600, "end": time.time() + 60})
        return sorted({labels[label] for labels in found if label in labels})

    def wait_for(self, expression, seconds=60):
        """The values of an expression, once it has any."""
        deadline = time.monotonic() + seconds
        while time.monotonic() < deadline:
            if values := self.values(expression):
                return values
            time.sleep(0.1)
        raise AssertionError(f"{expression} had no value within {seconds} s")
