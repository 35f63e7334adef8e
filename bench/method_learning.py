#!/usr/bin/env python3
"""Trains every method on real text, alone and three seeds fused, and holds the losses against an n-gram model.

Needs the folder of text samples (LEADLINE_SAMPLES). A method that does not get below the add-one model of two characters
of history has a fault: then this exits 1. Without --methods all that `leadline methods` lists are trained.
"""

import concurrent.futures
import json
import math
import subprocess
import sys

import machine
import training

TEXT = "tinystories_train_head.txt"
NGRAM = {"history": 2, "bits_per_character": 2.471}  # add-one, validation split

SETTINGS = {
    "depth": 4, "d_model": 64, "n_heads": 4, "context": 64, "batch_sequences": 16, "steps": 600, "lr": 4e-3,
    "eval_every": 200, "eval_windows": 64, "log_every": 50, "threads": 1,
}
# Norms after the sum need a long warm-up: at this rate the usual one leaves them at the letters' frequencies.
OF_METHOD = {"deepnorm": {"warmup": 0.3}}
COHORTS = ([0], [0, 1, 2])


def all_methods(build):
    """Names in the order of the listing."""
    run = subprocess.run([str(build / "leadline"), "methods", "--json"], stdout=subprocess.PIPE, text=True, check=True)
    return [method["name"] for method in json.loads(run.stdout)["methods"]]


def learn(build, method, seeds):
    """What one cohort came to."""
    config = training.configuration(training.sample(TEXT), dict(SETTINGS, method=method, **OF_METHOD.get(method, {})), seeds)
    events = training.train(build / "leadline-trainer", config)
    results = training.of_kind(events, "result")
    return {
        "method": method, "replicas": len(seeds),
        "bits_per_character": [result["validation_loss"] / math.log(2) for result in results],
        "diverged": len(seeds) - len(results),
        "seconds": max((result["seconds"] for result in results), default=None),
    }


def learnt(run):
    """True if every seed is below the n-gram model."""
    return not run["diverged"] and max(run["bits_per_character"]) < NGRAM["bits_per_character"]


def main():
    parser = machine.arguments("method_learning.json", __doc__)
    parser.add_argument("--methods", help="comma-separated names (default: all)")
    parser.add_argument("--jobs", type=int, default=1, help="trainers side by side, one thread each (default: 1)")
    options = parser.parse_args()
    names = options.methods.split(",") if options.methods else all_methods(options.build)
    about = machine.describe()
    runs = []
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        cohorts = [(name, seeds) for name in names for seeds in COHORTS]
        for run in pool.map(lambda cohort: learn(options.build, *cohort), cohorts):
            runs.append(run)
            bits = " ".join(f"{value:.3f}" for value in run["bits_per_character"])
            print(f"{run['method']:24} R={run['replicas']}  {bits}  {'ok' if learnt(run) else 'NOT LEARNT'}",
                  file=sys.stderr, flush=True)
    machine.write(options.out, {"machine": about, "text": TEXT, "settings": SETTINGS,
                                "settings_of_method": OF_METHOD, "ngram": NGRAM, "runs": runs})
    if not all(map(learnt, runs)):
        sys.exit(f"not below {NGRAM['bits_per_character']} bits/char: "
                 + ", ".join(sorted({run["method"] for run in runs if not learnt(run)})))


if __name__ == "__main__":
    main()
