#!/usr/bin/env python3
"""A step of one rank and of two, and how much of the exchange of gradients the backward pass hides.

Four ways to train on the same number of sequences a step, each on one core: one rank with all of them; two ranks with
half of them each, which exchange gradients while the backward pass goes on, or after it; and two attempts of one rank
with half of them each, side by side, which exchange nothing. The ways take turns, so that all see the same machine.

    share hidden = (after - while) / (after - nothing exchanged)

Two ranks are measured on loopback, where an exchange is work of the same two cores, and in a network namespace whose
loopback lets so many bits pass a second, where it is mostly waiting, as between machines (needs root and iproute2).
A turn's time is its median step; the least of all turns counts, as whatever else the machine does only adds to it.
"""

import collections
import contextlib
import json
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile

import machine
import training

TURNS, STEPS, SKIPPED, CHARACTERS = 4, 24, 4, 40_000
LINK = "2gbit"
NAMESPACE = "leadline-ranks"
COMMON = {"method": "block_attnres", "steps": STEPS, "log_every": 1, "eval_every": STEPS, "eval_windows": 2,
          "checkpoint_every": "off", "diagnostics": "off"}
SHAPES = {
    "much to compute": {"depth": 8, "d_model": 128, "n_heads": 4, "context": 128, "batch_sequences": 16},
    "much to exchange": {"depth": 8, "d_model": 256, "n_heads": 4, "context": 32, "batch_sequences": 4},
}


def step_seconds(folder):
    """The median time of a step, the first ones aside: they meet cold memory."""
    events = [json.loads(line) for line in (folder / "events.jsonl").read_text().splitlines()]
    return statistics.median(event["step_seconds"] for event in training.of_kind(events, "step")[SKIPPED:])


def ip(*words):
    subprocess.run(["ip", *words], check=True)


@contextlib.contextmanager
def slow_loopback():
    """What goes before a command that shall run in a network of its own."""
    within = ["ip", "netns", "exec", NAMESPACE]
    ip("netns", "add", NAMESPACE)
    try:
        subprocess.run([*within, "ip", "link", "set", "lo", "up"], check=True)
        subprocess.run([*within, "tc", "qdisc", "add", "dev", "lo", "root", "tbf", "rate", LINK, "burst", "512kb",
                        "latency", "50ms"], check=True)
        yield within
    finally:
        ip("netns", "del", NAMESPACE)


def run(program, configs, within=()):
    training.finish(training.start(program, configs, within))
    return step_seconds(pathlib.Path(configs[0]["folder"]))


def ways(config, folder):
    """The configurations of the processes of each way."""
    half = config | {"settings": config["settings"] | {"batch_sequences": config["settings"]["batch_sequences"] // 2}}
    return pairs(config, folder) | {
        "one_rank": training.of_ranks(config, 1, folder / "one"),
        "nothing_exchanged": [half | {"folder": str(folder / f"half-{k}")} for k in range(2)],
    }


def pairs(config, folder):
    """Those of two ranks."""
    def ranks(name, overlap):
        found = training.of_ranks(config, 2, folder / name)
        return [rank | {"world": rank["world"] | {"overlap": overlap}} for rank in found]

    return {"two_ranks": ranks("while", True), "two_ranks_without_overlap": ranks("after", False)}


def measure(program, shape, folder, namespace):
    text = folder / "text.txt"
    # A short text: the evaluation of the whole at the end is not what is measured.
    text.write_text(training.sample("tinyshakespeare.txt").read_text()[:CHARACTERS])
    config = training.configuration(text, COMMON | shape, [0])
    near, far = collections.defaultdict(list), collections.defaultdict(list)
    for turn in range(TURNS):
        for name, configs in ways(config, folder / f"near-{turn}").items():
            near[name].append(run(program, configs))
        for name, configs in pairs(config, folder / f"far-{turn}").items():
            far[name].append(run(program, configs, namespace))
    far |= {name: near[name] for name in ("one_rank", "nothing_exchanged")}
    return {"loopback": figures(near), LINK: figures(far)}


def figures(times):
    least = {name: min(values) for name, values in times.items()}
    exchange = least["two_ranks_without_overlap"] - least["nothing_exchanged"]
    return {
        "step_seconds_of_turns": dict(times),
        "step_seconds": least,
        "one_rank_over_two": least["one_rank"] / least["two_ranks"],
        "exchange_seconds": exchange,
        "share_hidden": (least["two_ranks_without_overlap"] - least["two_ranks"]) / exchange,
    }


def main():
    options = machine.arguments("ranks.json", __doc__.splitlines()[0]).parse_args()
    os.environ["OMP_NUM_THREADS"] = "1"
    about, runs = machine.describe(), []
    for name, shape in SHAPES.items():
        with tempfile.TemporaryDirectory() as folder, slow_loopback() as namespace:
            measured = measure(options.build / "leadline-trainer", shape, pathlib.Path(folder), namespace)
        for link, found in measured.items():
            runs.append({"shape": name, "link": link, "settings": shape, **found})
            print(name, link, found["step_seconds"], found["share_hidden"], file=sys.stderr, flush=True)
    machine.write(options.out, {"machine": about, "turns": TURNS, "steps": STEPS - SKIPPED, "runs": runs})


if __name__ == "__main__":
    main()
