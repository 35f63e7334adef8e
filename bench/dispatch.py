#!/usr/bin/env python3
"""What it costs control to take in a sweep of 100,000 trials to hand one out and to do what people ask of it: the first order, a trial's end and a tick at its begin and its end; the longest turn and the time to the answer."""

import json
import pathlib
import subprocess
import tempfile

import machine

SIZES = [100, 1_000, 10_000, 100_000]
AGENTS = 64
SEEDS = [5, 1]  # of each cell: a cohort trains them together


def main():
    parser = machine.arguments("dispatch.json", __doc__)
    parser.add_argument("--folder", help="where the database of a submission is made (default: the temporary folder)")
    options = parser.parse_args()
    about = machine.describe()
    runs = []
    for trials in SIZES:
        ended = subprocess.run([options.build / "tests/dispatch_pace", str(trials), str(AGENTS)],
                               capture_output=True, text=True, check=True)
        runs.append({"agents": AGENTS, **json.loads(ended.stdout)})
    submissions = []
    for seeds in SEEDS:
        with tempfile.TemporaryDirectory(dir=options.folder) as folder:
            ended = subprocess.run([options.build / "tests/submit_pace", str(SIZES[-1]), str(seeds),
                                    pathlib.Path(folder) / "leadline.db"], capture_output=True, text=True, check=True)
            submissions.append(json.loads(ended.stdout))
    few, many = runs[1], runs[-1]
    machine.write(options.out, {
        "machine": about, "runs": runs, "submissions": submissions,
        "ratios": {
            "of_trials": many["trials"] / few["trials"],
            "of_an_end_while_most_wait": round(many["first_tenth_us"] / few["first_tenth_us"], 2),
            "of_an_end_while_most_have_ended": round(many["last_tenth_us"] / few["last_tenth_us"], 2),
            "of_what_a_trial_looks_at": round(many["looked_at_a_trial"] / few["looked_at_a_trial"], 2)},
    })


if __name__ == "__main__":
    main()
