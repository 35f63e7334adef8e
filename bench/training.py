"""Running leadline-trainer by hand: its configuration and its events."""

import hashlib
import json
import os
import pathlib
import subprocess
import sys
import tempfile


def sample(name):
    """A text of the folder of samples."""
    folder = os.environ.get("LEADLINE_SAMPLES")
    if not folder:
        sys.exit("LEADLINE_SAMPLES must name the folder of text samples")
    return pathlib.Path(folder) / name


def configuration(text, settings, seeds):
    """A trainer's configuration; settings that are not named get their defaults."""
    return {
        "version": 1, "settings": settings, "seeds": seeds,
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
        sys.exit(f"leadline-trainer ended with {run.returncode}: {config['settings']}")
    return [json.loads(line) for line in run.stdout.splitlines()]


def of_kind(events, kind):
    """The events of one kind."""
    return [event for event in events if event["event"] == kind]
