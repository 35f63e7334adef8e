#!/usr/bin/env python3
"""Start of the command line, counting a huge plan, an idle coordinator."""

import json
import pathlib
import signal
import statistics
import subprocess
import tempfile
import time

import machine

RUNS = 11


def seconds_of(command):
    """Median wall seconds of a command over RUNS runs."""
    times = []
    for _ in range(RUNS):
        begin = time.monotonic()
        subprocess.run(command, stdout=subprocess.DEVNULL, check=True)
        times.append(time.monotonic() - begin)
    return statistics.median(times)


def start_coordinator(options, state):
    """A coordinator on a free port, and the address it printed."""
    process = subprocess.Popen(
        [options.build / "leadline-coordinator", "--state", state,
         "--listen", "127.0.0.1:0"], stdout=subprocess.PIPE, text=True)
    return process, json.loads(process.stdout.readline())["address"]


def plan_with_peak(options, address):
    """Counts tests/data/huge.yaml; the answer, seconds and the client's peak."""
    begin = time.monotonic()
    process = subprocess.Popen(
        ["/usr/bin/env", options.build / "leadline", "--coordinator", address,
         "plan", machine.ROOT / "tests/data/huge.yaml", "--json"],
        stdout=subprocess.PIPE, text=True)
    peak = 0
    while process.poll() is None:
        peak = max(peak, machine.peak_bytes(process.pid) or 0)
    return json.loads(process.stdout.read()), time.monotonic() - begin, peak


def main():
    options = machine.arguments("service.json", __doc__).parse_args()
    about = machine.describe()
    help_seconds = seconds_of([options.build / "leadline", "--help"])
    with tempfile.TemporaryDirectory() as state:
        process, address = start_coordinator(options, state)
        try:
            time.sleep(2)
            idle = machine.peak_bytes(process.pid)
            plan, seconds, client_peak = plan_with_peak(options, address)
            peak = machine.peak_bytes(process.pid)
        finally:
            process.send_signal(signal.SIGTERM)
            process.wait(10)
        size = sum(f.stat().st_size for f in pathlib.Path(state).iterdir() if f.is_file())
    machine.write(options.out, {
        "machine": about,
        "help_seconds": round(help_seconds, 4),
        "huge_plan": {"trials": plan["trials"], "seconds": round(seconds, 3),
                      "client_peak_bytes": client_peak,
                      "coordinator_peak_bytes": peak},
        "idle_coordinator_peak_bytes": idle,
        "empty_state_folder_bytes": size,
    })


if __name__ == "__main__":
    main()
