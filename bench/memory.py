#!/usr/bin/env python3
"""The forecast of memory: against the tensors that training keeps alive, and against what the process takes."""

import json
import pathlib
import random
import subprocess
import tempfile

import machine
import training

SYMBOLS = "abcdefghijklmnopqrstuvwxyz "
# Where the process is almost all, and where tensors are.
SHAPES = [
    {"method": "prenorm", "depth": 2, "d_model": 32, "context": 32, "batch_sequences": 4},
    {"method": "prenorm", "depth": 12, "d_model": 128, "context": 128, "batch_sequences": 16},
    {"method": "wav", "depth": 12, "d_model": 256, "context": 128, "batch_sequences": 16},
]
SHORT = {"checkpoint_every": "off", "steps": 2, "eval_every": 2, "eval_windows": 8, "log_every": 1}


def random_text(folder):
    """A text that uses every symbol."""
    path = pathlib.Path(folder) / "text.txt"
    path.write_text("".join(random.Random(1).choices(SYMBOLS, k=20_000)))
    return path


def process(options, folder, shape):
    """Forecast of the tensors, and the largest resident size of a trainer."""
    config = training.configuration(random_text(folder), dict(shape, **SHORT), [0])
    file = pathlib.Path(folder) / "config.json"
    file.write_text(json.dumps(config))
    forecast = int(subprocess.run(
        [options.build / "tests/memory_table", file, str(len(SYMBOLS))],
        stdout=subprocess.PIPE, check=True).stdout)
    events = training.train(options.build / "leadline-trainer", config)
    resident = training.of_kind(events, "result")[0]["peak_bytes"]
    return {"settings": shape, "forecast_bytes": forecast, "resident_peak_bytes": resident,
            "beside_tensors_bytes": resident - forecast}


def main():
    options = machine.arguments("memory.json", __doc__).parse_args()
    about = machine.describe()
    rows = json.loads(subprocess.run(
        [options.build / "tests/memory_table"], stdout=subprocess.PIPE, check=True).stdout)
    for row in rows:
        row["ratio"] = round(row["forecast_bytes"] / row["measured_bytes"], 4)
    with tempfile.TemporaryDirectory() as folder:
        processes = [process(options, folder, shape) for shape in SHAPES]
    machine.write(options.out, {
        "machine": about,
        "shape": {"d_model": 64, "n_heads": 2, "d_ff": 256, "context": 64, "batch_sequences": 4,
                  "replicas": 2, "precision": "fp32", "vocabulary": 27},
        "methods": rows,
        "processes": processes,
    })


if __name__ == "__main__":
    main()
