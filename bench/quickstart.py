#!/usr/bin/env python3
"""Times the quickstart sweep in a new state folder and keeps its table."""

import json
import subprocess
import sys
import tempfile
import time

import machine


def main():
    options = machine.arguments("quickstart.json", __doc__).parse_args()
    about = machine.describe()
    sweep = machine.ROOT / "examples/quickstart.yaml"
    with tempfile.TemporaryDirectory() as state:
        begin = time.monotonic()
        run = subprocess.run(
            [options.build / "leadline", "--state", state, "run", sweep, "--json"],
            stdout=subprocess.PIPE, text=True, check=False)
        seconds = time.monotonic() - begin
        if run.returncode != 0:
            sys.exit(f"leadline run ended with {run.returncode}")
        table = subprocess.run(
            [options.build / "leadline", "--state", state, "results"],
            stdout=subprocess.PIPE, text=True, check=True,
            env={"LANG": "C.UTF-8", "NO_COLOR": "1", "PATH": "/usr/bin:/bin"}).stdout
    results = json.loads(run.stdout)
    results["database"] = "STATE/leadline.db"
    machine.write(options.out, {
        "machine": about,
        "seconds": round(seconds, 1),
        "cells": len(results["cells"]),
        "table": table.replace(state, "STATE").splitlines(),
        "results": results,
    })


if __name__ == "__main__":
    main()
