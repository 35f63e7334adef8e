"""Running leadline-trainer by hand: its configuration and its events."""

import hashlib
import json
import os
import pathlib
import secrets
import socket
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


def of_ranks(config, ranks, folder):
    """The configuration of each rank of one attempt on this machine, by hand: each gets a folder of its own."""
    if ranks == 1:
        return [config | {"folder": str(folder)}]
    ports = [socket.create_server(("127.0.0.1", 0)) for _ in range(ranks)]
    peers = [f"127.0.0.1:{port.getsockname()[1]}" for port in ports]
    for port in ports:
        port.close()
    secret = secrets.token_hex(16)
    settings = config["settings"] | {"devices": ranks}
    return [config | {"settings": settings,
                      "folder": str(folder if rank == 0 else folder / f"rank-{rank}"),
                      "world": config["world"] | {"size": ranks, "rank": rank, "peers": peers, "listen": "127.0.0.1",
                                                  "secret": secret}}
            for rank in range(ranks)]


def start(program, configs, within=()):
    """Starts a trainer of each configuration, rank 0 first; `within` goes before the command."""
    processes = []
    for config in configs:
        folder = pathlib.Path(config["folder"])
        folder.mkdir(parents=True)
        file = folder / "config.json"
        file.write_text(json.dumps(config))
        processes.append(subprocess.Popen([*within, str(program), file], stderr=subprocess.PIPE, text=True))
    return processes


def finish(processes):
    """Waits for all, and ends the program if one failed."""
    for process in processes:
        error = process.communicate()[1]
        if process.returncode != 0:
            sys.exit(f"leadline-trainer ended with {process.returncode}: {error}")


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
