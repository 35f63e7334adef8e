#!/usr/bin/env python3
"""Runs build/tests/kill_sweep for some seeds, one after the other, and keeps what came of each."""

import json
import pathlib
import subprocess
import sys
import tempfile

import machine

RUNS = ["1:10", "2:10", "3:10", "4:100", "6:30:2"]


def run(options, seed, kills, ranks):
    """The report of one run; of a failed one, too."""
    command = [options.build / "tests/kill_sweep", "--seed", str(seed), "--kills", str(kills), "--ranks", str(ranks),
               "--reference", options.build / "tests/kills/undisturbed"]
    if options.trainer:
        command += ["--trainer", options.trainer]
    about = machine.describe()
    with tempfile.TemporaryDirectory() as folder:
        report = pathlib.Path(folder) / "report.json"
        subprocess.run([*command, "--json", report], check=False)
        return {"machine": about, **json.loads(report.read_text())}


def main():
    parser = machine.arguments("kill_sweep.json", __doc__)
    parser.add_argument("--runs", nargs="+", default=RUNS, metavar="SEED:KILLS[:RANKS]",
                        help=f"default: {' '.join(RUNS)}")
    parser.add_argument("--add", action="store_true", help="keep the runs that are there, but for those run again")
    parser.add_argument("--trainer", type=pathlib.Path, help="the trainer program; default: that of the build")
    options = parser.parse_args()
    kept = {}
    if options.add and pathlib.Path(options.out).exists():
        kept = {(run["seed"], run["kills"], run.get("ranks", 1)): run for run in json.loads(pathlib.Path(options.out).read_text())["runs"]}
    failed = False
    for words in options.runs:
        key = (*map(int, words.split(":")), 1)[:3]
        kept.pop(key, None)
        kept[key] = run(options, *key)
        failed = failed or kept[key]["outcome"] != "passed"
        machine.write(options.out, {"runs": list(kept.values())})
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
