#!/usr/bin/env python3
"""A coordinator over 100,000 trials and 20 million points: restart, what people ask, size, memory."""

import contextlib
import json
import math
import pathlib
import shutil
import signal
import sqlite3
import statistics
import subprocess
import tempfile
import time

import machine

TRIALS = 100_000
POINTS = 20_000_000
SMALL_SWEEP = 1_000
SEEDS = 5
CALLS = 200
RESTARTS = 5
COMMANDS = {
    "ls": ["ls"],
    "show_sweep": ["show", "s2"],
    "show": ["show", "s2.1.0"],
    "results": ["results", "s2"],
    "results_of_the_largest_sweep": ["results", "s1"],
    "explain_trial": ["explain", "s1.9000.0"],
    "explain_the_largest_sweep": ["explain", "s1"],
}
LIMITS = {"restart_seconds": 10, "call_milliseconds": 200}


def fill(options, folder):
    """The database, made unless an earlier run left it; seconds it took, or None."""
    database = folder / "leadline.db"
    if database.exists():
        return None
    folder.mkdir(parents=True, exist_ok=True)
    folder.chmod(0o700)
    begin = time.monotonic()
    unfinished = folder / "unfinished.db"
    for leftover in folder.glob("unfinished.db*"):
        leftover.unlink()
    subprocess.run([options.build / "tests/fill_store", unfinished, str(options.trials), str(options.points)],
                   check=True)
    unfinished.rename(database)
    return time.monotonic() - begin


@contextlib.contextmanager
def running(options, folder):
    """A coordinator: its process, address, and the seconds until it was ready."""
    begin = time.monotonic()
    process = subprocess.Popen([options.build / "leadline-coordinator", "--state", folder, "--listen", "127.0.0.1:0"],
                               stdout=subprocess.PIPE, text=True)
    try:
        address = json.loads(process.stdout.readline())["address"]
        yield process, address, time.monotonic() - begin
    finally:
        process.send_signal(signal.SIGTERM)
        process.wait(30)


def quantiles(milliseconds):
    """Median, 95th percentile (the smallest value that 95 % do not exceed) and the largest."""
    ordered = sorted(milliseconds)
    return {"median": round(statistics.median(ordered), 2),
            "p95": round(ordered[math.ceil(0.95 * len(ordered)) - 1], 2),
            "max": round(ordered[-1], 2)}


def ask(options, address, sweeps):
    """Milliseconds of each kind of call."""
    cells = options.trials // 2 // SEEDS
    answer = subprocess.run([options.build / "tests/store_calls", address, str(CALLS), str(sweeps), str(cells)],
                            capture_output=True, text=True, check=True)
    return {name: quantiles(times) for name, times in json.loads(answer.stdout).items()}


def command_milliseconds(options, address, words):
    """Median of five runs of the whole command."""
    times = []
    for _ in range(5):
        begin = time.monotonic()
        subprocess.run([options.build / "leadline", "--coordinator", address, *words],
                       stdout=subprocess.DEVNULL, check=True)
        times.append(1000 * (time.monotonic() - begin))
    return round(statistics.median(times), 1)


def counts(folder):
    """What the database holds, asked as anybody may."""
    with contextlib.closing(sqlite3.connect(f"file:{folder / 'leadline.db'}?mode=ro", uri=True)) as database:
        return {name: database.execute(f"SELECT count(*) FROM {table}").fetchone()[0]
                for name, table in {"sweeps": "sweep", "cells": "cell", "trials": "trial", "points": "points",
                                    "results": "result"}.items()}


def measure(options, folder):
    """Everything but the making of the database."""
    restarts = []
    for _ in range(RESTARTS):
        with running(options, folder) as (process, address, seconds):
            restarts.append(seconds)
            idle = machine.peak_bytes(process.pid)
    holds = counts(folder)
    with running(options, folder) as (process, address, seconds):
        restarts.append(seconds)
        calls = ask(options, address, holds["sweeps"])
        commands = {name: command_milliseconds(options, address, words) for name, words in COMMANDS.items()}
        peak = machine.peak_bytes(process.pid)
    size = (folder / "leadline.db").stat().st_size
    return {
        "holds": holds,
        "database_bytes": size,
        "bytes_a_point_with_all_else": round(size / holds["points"], 1),
        "restart_seconds": {"median": round(statistics.median(restarts), 3), "max": round(max(restarts), 3)},
        "coordinator_bytes": {"after_start": idle, "peak_after_all_calls": peak},
        "call_milliseconds": calls,
        "command_milliseconds": commands,
        "limits": LIMITS,
        "within_limits": max(restarts) < LIMITS["restart_seconds"]
        and all(one["p95"] < LIMITS["call_milliseconds"] for one in calls.values()),
    }


def main():
    parser = machine.arguments("store.json", __doc__)
    parser.add_argument("--trials", type=int, default=TRIALS)
    parser.add_argument("--points", type=int, default=POINTS)
    parser.add_argument("--keep", type=pathlib.Path, metavar="DIR",
                        help="state folder that is kept, and used again; default: one that is removed")
    options = parser.parse_args()
    about = machine.describe()
    folder = options.keep or pathlib.Path(tempfile.mkdtemp(prefix="leadline-at-size-"))
    try:
        made = fill(options, folder)
        values = measure(options, folder)
    finally:
        if not options.keep:
            shutil.rmtree(folder)
    machine.write(options.out, {"machine": about, "fill_seconds": made and round(made, 1), **values})
    return 0 if values["within_limits"] else 1


if __name__ == "__main__":
    raise SystemExit(main())
