#!/usr/bin/env python3
"""Writes measured blocks into the documents, or checks that they are there.

A block stands between <!-- NAME --> and <!-- /NAME -->; its text comes from
bench/results alone.
"""

import argparse
import json
import pathlib
import re
import sys

import machine

RESULTS = machine.ROOT / "bench/results"


def quickstart():
    """The table of the quickstart, and what it took."""
    result = json.loads((RESULTS / "quickstart.json").read_text())
    about = result["machine"]
    return "\n".join([
        "```", *result["table"], "```",
        f"({result['seconds']:.0f} s on {about['cores']} cores, {about['cpu']}.)"])


def learning():
    """What real text comes to."""
    result = json.loads((RESULTS / "learning.json").read_text())
    settings, best = result["settings"], result["best_ngram"]
    return (
        f"On real text (3 MB of Wikipedia in 27 symbols, {settings['method']}, depth {settings['depth']}, width "
        f"{settings['d_model']}, {settings['steps']:,} steps) the validation\nloss is "
        f"{result['validation_bits_per_character']:.3f} bits/char; the best n-gram model of the same text has "
        f"{best['bits_per_character']:.3f}.")


def megabytes(count):
    """10^6 bytes, one decimal below a hundred."""
    return f"{count / 1e6:.1f}" if count < 1e8 else f"{count / 1e6:.0f}"


def memory():
    """Forecast against live tensors, of every method."""
    result = json.loads((RESULTS / "memory.json").read_text())
    rows = {}
    for row in result["methods"]:
        rows.setdefault(row["method"], {})[row["depth"]] = row
    lines = ["| method | 12 layers: forecast | measured | ratio | 48 layers: forecast | measured | ratio |",
             "| --- | ---: | ---: | ---: | ---: | ---: | ---: |"]
    for method, depths in rows.items():
        cells = [f"{megabytes(depths[depth]['forecast_bytes'])} | {megabytes(depths[depth]['measured_bytes'])} | "
                 f"{depths[depth]['ratio']:.3f}" for depth in (12, 48)]
        lines.append(f"| `{method}` | {' | '.join(cells)} |")
    shape = result["shape"]
    return "\n".join([*lines, "", "(" + ", ".join(f"{key} {value}" for key, value in shape.items()) + ".)"])


def memory_process():
    """What a trainer holds beside tensors."""
    result = json.loads((RESULTS / "memory.json").read_text())
    lines = ["| cell | forecast, MB | largest resident size, MB | beside tensors, MB |",
             "| --- | ---: | ---: | ---: |"]
    for row in result["processes"]:
        settings = row["settings"]
        lines.append(
            f"| `{settings['method']}`, depth {settings['depth']}, d_model {settings['d_model']}, context "
            f"{settings['context']}, batch_sequences {settings['batch_sequences']} | "
            f"{megabytes(row['forecast_bytes'])} | {megabytes(row['resident_peak_bytes'])} | "
            f"{megabytes(row['beside_tensors_bytes'])} |")
    return "\n".join(lines)


def ranks():
    """Steps of one rank and of two, and what overlap hides."""
    result = json.loads((RESULTS / "ranks.json").read_text())
    lines = ["| shape | link | one rank, ms | two ranks, ms | gradients exchanged after the pass | not at all | "
             "exchange hidden |",
             "| --- | --- | ---: | ---: | ---: | ---: | ---: |"]
    for row in result["runs"]:
        times = row["step_seconds"]
        cells = [f"{1e3 * times[way]:.0f}" for way in ("one_rank", "two_ranks", "two_ranks_without_overlap",
                                                       "nothing_exchanged")]
        lines.append(f"| {row['shape']} | {row['link']} | {' | '.join(cells)} | {row['share_hidden']:.0%} |")
    about = result["machine"]
    return "\n".join([*lines, "", f"({about['cores']} cores, {about['cpu']}; shapes in `bench/ranks.py`. On loopback the exchange is work of the "
                      "cores that compute; on a slower link it is mostly waiting.)"])


def resume():
    """What was killed and gone on with."""
    rows = json.loads((RESULTS / "resume_matrix.json").read_text())["runs"]
    same = sum(row["events_equal"] and row["parameters_and_moments_equal"] for row in rows)
    methods = len({row["method"] for row in rows})
    return (f"{same} of {len(rows)} runs killed after their 100th of 200 steps ended bit for bit as one that was not: "
            f"{methods} methods,\n1 and 3 replicas, 1 and 2 ranks (`bench/resume_matrix.py`).")


def turns():
    """What is asked of very many trials, and the longest turn meanwhile."""
    result = json.loads((RESULTS / "dispatch.json").read_text())
    names = {"pause": "`pause --stop`", "resume": "`resume`", "cancel": "`cancel`", "retry": "`retry`",
             "retry_of_one_forgotten": "`retry` of one that is in memory no more",
             "failure_that_stops_it": "a failure that reaches `limits.failures`", "rm": "`rm`"}
    lines = ["| " + " | ".join(["", *(f"seeds: {run['seeds']}: done after, s | longest turn, ms"
                                      for run in result["submissions"])]) + " |",
             "| --- |" + " ---: |" * 2 * len(result["submissions"])]
    rows = {"the submission": [{**run, "answered_seconds": run["submit_seconds"]} for run in result["submissions"]]}
    for key, name in names.items():
        rows[name] = [run["commands"][key] for run in result["submissions"]]
    for name, row in rows.items():
        lines.append(f"| {name} | " + " | ".join(
            f"{one['answered_seconds']:.2f} | {1e3 * one['longest_turn_seconds']:.0f}" for one in row) + " |")
    about = result["machine"]
    return "\n".join([*lines, "", f"({about['cores']} cores, {about['cpu']}; `bench/dispatch.py`.)"])


BLOCKS = {
    "README.md": {"quickstart": quickstart, "learning": learning},
    "docs/agents.md": {"ranks": ranks},
    "docs/architecture.md": {"turns": turns},
    "docs/checkpoints.md": {"resume": resume},
    "docs/memory.md": {"memory": memory, "memory-process": memory_process},
}


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--check", action="store_true",
                        help="write nothing; fail if a document differs")
    check = parser.parse_args().check
    stale = []
    for name, blocks in BLOCKS.items():
        path = pathlib.Path(machine.ROOT / name)
        text = path.read_text()
        for block, make in blocks.items():
            pattern = rf"(<!-- {block} -->\n).*?(<!-- /{block} -->)"
            new, count = re.subn(
                pattern, lambda m: m[1] + make() + "\n" + m[2], text, flags=re.S)
            if count != 1:
                sys.exit(f"{name}: {count} blocks {block}, expected one")
            if new != text:
                stale.append(f"{name}: {block}")
            text = new
        if not check:
            path.write_text(text)
    if check and stale:
        sys.exit("differs from bench/results: " + ", ".join(stale))


if __name__ == "__main__":
    main()
