#!/usr/bin/env python3
"""Every method, alone and fused, of one rank and of two, killed in the middle and gone on with: bit for bit a straight run.

A run of 200 steps is held against one that is killed (SIGKILL) once the checkpoint of its 100th step is there, and
then goes on from it: parameters and moments by their SHA-256, every logged loss and gradient norm, every loss of
an evaluation and of its windows, and the results.
"""

import itertools
import json
import pathlib
import random
import shutil
import signal
import string
import subprocess
import sys
import tempfile
import time

import machine
import training

STEPS, AT, PATIENCE_S = 200, 100, 120
SHAPE = {"depth": 4, "d_model": 16, "n_heads": 2, "context": 16, "batch_sequences": 4, "lr": 1e-2, "steps": STEPS,
         "eval_every": 40, "eval_windows": 4, "log_every": 7, "checkpoint_every": AT, "checkpoint_keep": 2}
MEASURED = {"step", "evaluation", "routing", "replica_end", "result"}
# How long something took, and how much the process held, is no part of a training.
OWN = {"sequence", "time_s", "step_seconds", "tokens_per_second", "seconds", "peak_bytes"}
OWN_VALUES = {"cost.evaluation_tokens_per_second", "cost.peak_bytes"}


def small_text(folder):
    path = pathlib.Path(folder) / "text.txt"
    path.write_text("".join(random.Random(1).choices(string.ascii_lowercase + " ", k=6000)))
    return path


def methods(build):
    rows = json.loads(subprocess.run([build / "leadline", "methods", "--json"], stdout=subprocess.PIPE, check=True).stdout)
    return [row["name"] for row in rows["methods"]]


def measured(folder):
    """What was measured, in order, as text: doubles are written so that they read back bit for bit."""
    lines = []
    for line in (folder / "events.jsonl").read_text().splitlines():
        event = json.loads(line)
        if event["event"] not in MEASURED:
            continue
        event = {key: value for key, value in event.items() if key not in OWN}
        if event["event"] == "routing":
            event["values"] = {key: value for key, value in event["values"].items() if key not in OWN_VALUES}
        lines.append(json.dumps(event))
    return lines


def state(folder):
    """The manifest of the last step names the hashes of parameters and moments."""
    return (folder / f"checkpoints/step-{STEPS:09}/manifest.json").read_text()


def kill_after_checkpoint(processes, folder):
    deadline = time.monotonic() + PATIENCE_S
    while not (folder / f"checkpoints/step-{AT:09}").exists():
        if processes[0].poll() is not None or time.monotonic() > deadline:
            sys.exit(f"no checkpoint came: {processes[0].communicate()[1]}")
        time.sleep(0.001)
    for process in processes:
        process.send_signal(signal.SIGKILL)
    for process in processes:
        process.communicate()


def compare(options, folder, method, replicas, ranks):
    config = training.configuration(small_text(folder), SHAPE | {"method": method}, list(range(replicas)))
    straight, killed, resumed = (folder / name for name in ("straight", "killed", "resumed"))

    def start(given, into):
        return training.start(options.build / "leadline-trainer", training.of_ranks(given, ranks, into))

    training.finish(start(config, straight))
    kill_after_checkpoint(start(config, killed), killed)
    reached = measured(killed)
    # The newest may be a later one than the 100th: the kill came when it came.
    for checkpoint in (killed / "checkpoints").glob("step-*"):
        if checkpoint.name != f"step-{AT:09}":
            shutil.rmtree(checkpoint)
    training.finish(start(config | {"resume": str(killed / "checkpoints")}, resumed))
    expected, got = measured(straight), measured(resumed)
    return {
        "method": method, "replicas": replicas, "ranks": ranks,
        "events_compared": len(got),
        "events_of_the_killed_run": len(reached),
        "events_equal": expected[len(expected) - len(got):] == got and reached == expected[:len(reached)],
        "parameters_and_moments_equal": state(straight) == state(resumed),
    }


def main():
    parser = machine.arguments("resume_matrix.json", __doc__.splitlines()[0])
    parser.add_argument("--methods", nargs="+", help="default: all")
    options = parser.parse_args()
    about, rows = machine.describe(), []
    for method, replicas, ranks in itertools.product(options.methods or methods(options.build), (1, 3), (1, 2)):
        with tempfile.TemporaryDirectory() as folder:
            rows.append(compare(options, pathlib.Path(folder), method, replicas, ranks))
        print(rows[-1], file=sys.stderr, flush=True)
    machine.write(options.out, {"machine": about, "steps": STEPS, "killed_after": AT, "runs": rows})
    return 0 if all(row["events_equal"] and row["parameters_and_moments_equal"] for row in rows) else 1


if __name__ == "__main__":
    sys.exit(main())
