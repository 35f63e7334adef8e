#!/usr/bin/env python3
"""Trains on real text and holds the loss against the best n-gram model of the same text.

Needs the folder of text samples (LEADLINE_SAMPLES). A trained network that does not beat the add-one character model of
its text, trained and scored on the same splits, has a fault: then this exits 1.
"""

import math
import sys

import machine
import training

# The best row of add-one models of 0 to 5 characters of history, bits/char on the validation split.
TEXT = "text8_style_wikipedia.txt"
BEST_NGRAM = {"history": 4, "bits_per_character": 2.105}

SETTINGS = {
    "method": "prenorm", "depth": 4, "d_model": 128, "n_heads": 4, "context": 128, "batch_sequences": 32,
    "steps": 1200, "lr": 2e-3, "eval_every": 200, "eval_windows": 128, "log_every": 50,
}


def main():
    parser = machine.arguments("learning.json", __doc__)
    parser.add_argument("--threads", type=int, default=1, help="CPU threads (default: 1)")
    options = parser.parse_args()
    values = {"machine": machine.describe()}
    config = training.configuration(training.sample(TEXT), dict(SETTINGS, threads=options.threads), [0])
    events = training.train(options.build / "leadline-trainer", config)
    result = training.of_kind(events, "result")[0]
    steps = training.of_kind(events, "step")
    bits = result["validation_loss"] / math.log(2)
    values.update({
        "text": TEXT, "settings": SETTINGS, "threads": options.threads, "seed": 0,
        "parameters": result["parameters"],
        "validation_nats_per_character": result["validation_loss"], "validation_bits_per_character": bits,
        "test_bits_per_character": result["test_loss"] / math.log(2),
        "best_ngram": BEST_NGRAM, "beats_ngram": bits < BEST_NGRAM["bits_per_character"],
        "curve": [{"step": event["step"], "bits_per_character": event["values"]["loss"][0] / math.log(2)}
                  for event in training.of_kind(events, "evaluation") if event["kind"] == "fixed"],
        "seconds": result["seconds"], "peak_bytes": result["peak_bytes"],
        "tokens_per_second": sum(event["tokens_per_second"] for event in steps) / len(steps),
    })
    machine.write(options.out, values)
    if not values["beats_ngram"]:
        sys.exit(f"{bits:.3f} bits/char do not beat {BEST_NGRAM['bits_per_character']}")


if __name__ == "__main__":
    main()
