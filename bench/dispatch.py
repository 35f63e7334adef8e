#!/usr/bin/env python3
"""What it costs control to hand out a sweep: the first order, and a trial's end at the beginning and at the end."""

import json
import subprocess

import machine

SIZES = [100, 1_000, 2_000]
AGENTS = 64


def main():
    options = machine.arguments("dispatch.json", __doc__).parse_args()
    about = machine.describe()
    runs = []
    for trials in SIZES:
        ended = subprocess.run([options.build / "tests/dispatch_pace", str(trials), str(AGENTS)],
                               capture_output=True, text=True, check=True)
        runs.append({"agents": AGENTS, **json.loads(ended.stdout)})
    machine.write(options.out, {"machine": about, "runs": runs})


if __name__ == "__main__":
    main()
