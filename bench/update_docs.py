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


BLOCKS = {"README.md": {"quickstart": quickstart, "learning": learning}}


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
