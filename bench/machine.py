"""What every result file says about where and when it was measured."""

import argparse
import datetime
import json
import os
import pathlib
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent


def describe():
    """The machine and the checkout, as plain values."""
    model = next(
        (line.split(":", 1)[1].strip()
         for line in pathlib.Path("/proc/cpuinfo").read_text().splitlines()
         if line.startswith("model name")), "unknown")
    commit = subprocess.run(
        ["git", "-C", str(ROOT), "describe", "--always", "--dirty"],
        capture_output=True, text=True, check=False).stdout.strip()
    return {
        "cpu": model,
        "cores": os.cpu_count(),
        "load_average": os.getloadavg()[0],
        "commit": commit,
        "measured_at": datetime.datetime.now(datetime.timezone.utc).strftime(
            "%Y-%m-%dT%H:%M:%SZ"),
    }


def arguments(result, description):
    """Command line shared by all scripts."""
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("--build", type=pathlib.Path, default=ROOT / "build",
                        help="build folder (default: build)")
    parser.add_argument("--out", default=str(ROOT / "bench/results" / result),
                        help="result file, - for standard output")
    return parser


def write(out, values):
    """Writes one JSON document, machine first."""
    text = json.dumps(values, indent=1, ensure_ascii=False) + "\n"
    if out == "-":
        sys.stdout.write(text)
    else:
        pathlib.Path(out).write_text(text)


def peak_bytes(pid):
    """VmHWM of a process, or None if it is gone."""
    try:
        status = pathlib.Path(f"/proc/{pid}/status").read_text()
    except OSError:
        return None
    for line in status.splitlines():
        if line.startswith("VmHWM:"):
            return int(line.split()[1]) * 1024
    return None
