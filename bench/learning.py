#!/usr/bin/env python3
"""Trains on real text and holds the loss against the best n-gram model of the same text.

Needs the folder of text samples (LEADLINE_SAMPLES). A trained network that does not beat the add-one character model of
its text, trained and scored on the same splits, has a fault: then this exits 1.
"""

import hashlib
import json
import math
import os
import pathlib
import subprocess
import sys
import tempfile

import machine

# The best row of add-one models of 0 to 5 characters of history, bits/char on the validation split.
TEXT = "text8_style_wikipedia.txt"
BEST_NGRAM = {"history": 4, "bits_per_character": 2.105}

SETTINGS = {
    "method": "prenorm", "depth": 4, "d_model": 128, "n_heads": 4, "context": 128, "batch_sequences": 32,
    "steps": 1200, "lr": 2e-3, "eval_every": 200, "eval_windows": 128, "log_every": 50,
}


def configuration(text, threads):
    """A trainer's configuration file; settings that are not named get their defaults."""
    return {
        "version": 1, "settings": dict(SETTINGS, threads=threads), "seeds": [0],
        "dataset": {"path": str(text), "content_hash": hashlib.sha256(text.read_bytes()).hexdigest(),
                    "tokenizer": "char", "split": [0.9, 0.05, 0.05]},
        "device": "cpu", "world": {"size": 1, "rank": 0, "peers": []}, "folder": None, "resume": None,
    }


def train(program, config):
    """The events of one run."""
    with tempfile.NamedTemporaryFile("w", suffix=".json") as file:
        json.dump(config, file)
        file.flush()
        run = subprocess.run([str(program), file.name], stdout=subprocess.PIPE, text=True, check=False)
    if run.returncode != 0:
        sys.exit(f"leadline-trainer ended with {run.returncode}")
    return [json.loads(line) for line in run.stdout.splitlines()]


def main():
    parser = machine.arguments("learning.json", __doc__)
    parser.add_argument("--threads", type=int, default=1, help="CPU threads (default: 1)")
    options = parser.parse_args()
    samples = os.environ.get("LEADLINE_SAMPLES")
    if not samples:
        sys.exit("LEADLINE_SAMPLES must name the folder of text samples")
    values = {"machine": machine.describe()}
    events = train(options.build / "leadline-trainer",
                   configuration(pathlib.Path(samples) / TEXT, options.threads))
    result = next(event for event in events if event["event"] == "result")
    steps = [event for event in events if event["event"] == "step"]
    bits = result["validation_loss"] / math.log(2)
    values.update({
        "text": TEXT, "settings": SETTINGS, "threads": options.threads, "seed": 0,
        "parameters": result["parameters"],
        "validation_nats_per_character": result["validation_loss"], "validation_bits_per_character": bits,
        "test_bits_per_character": result["test_loss"] / math.log(2),
        "best_ngram": BEST_NGRAM, "beats_ngram": bits < BEST_NGRAM["bits_per_character"],
        "curve": [{"step": event["step"], "bits_per_character": event["values"]["loss"][0] / math.log(2)}
                  for event in events if event["event"] == "evaluation" and event["kind"] == "fixed"],
        "seconds": result["seconds"], "peak_bytes": result["peak_bytes"],
        "tokens_per_second": sum(event["tokens_per_second"] for event in steps) / len(steps),
    })
    machine.write(options.out, values)
    if not values["beats_ngram"]:
        sys.exit(f"{bits:.3f} bits/char do not beat {BEST_NGRAM['bits_per_character']}")


if __name__ == "__main__":
    main()
