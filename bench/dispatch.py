#!/usr/bin/env python3
"""What it costs control to hand out a sweep: the first order, and a trial's end and a tick at its begin and its end."""

import json
import subprocess

import machine

SIZES = [100, 1_000, 10_000, 100_000]
AGENTS = 64


def main():
    options = machine.arguments("dispatch.json", __doc__).parse_args()
    about = machine.describe()
    runs = []
    for trials in SIZES:
        ended = subprocess.run([options.build / "tests/dispatch_pace", str(trials), str(AGENTS)],
                               capture_output=True, text=True, check=True)
        runs.append({"agents": AGENTS, **json.loads(ended.stdout)})
    few, many = runs[1], runs[-1]
    machine.write(options.out, {
        "machine": about, "runs": runs,
        "ratios": {
            "of_trials": many["trials"] / few["trials"],
            "of_an_end_while_most_wait": round(many["first_tenth_us"] / few["first_tenth_us"], 2),
            "of_an_end_while_most_have_ended": round(many["last_tenth_us"] / few["last_tenth_us"], 2),
            "of_what_a_trial_looks_at": round(many["looked_at_a_trial"] / few["looked_at_a_trial"], 2)},
    })


if __name__ == "__main__":
    main()
