"""The sweep that is run, and what of its outcome must not depend on what happened meanwhile."""

import contextlib
import hashlib
import json
import pathlib
import re
import sqlite3
import time

from cluster import Cluster, Fault
from watch import Watch

STEPS = 1200
COHORT = 2
CELLS, SEEDS = 4, 6


def text(ranks):
    """The sweep file; an attempt has so many ranks."""
    return f"""\
leadline: 1
name: kill sweep
seeds: {SEEDS}
settings:
  d_model: 16
  n_heads: 2
  context: 16
  batch_sequences: 4
  steps: {STEPS}
  lr: 1e-2
  eval_every: 400
  eval_windows: 8
  dataset: iid27
  cohort: {COHORT}
  devices: {ranks}
axes:
  depth: [1, 2]
  method: [prenorm, block_attnres]
"""


VIEWS = {  # all that people read of what was measured; not how often it was tried, nor what it cost
    "trial_results": "select trial, seed, depth, dataset, method, state, metric, split, unit, value, step, steps, "
                     "tokens, numerics, device from trial_results where sweep = :sweep order by trial, metric",
    "curves": "select trial, metric, step, value from curves where sweep = :sweep order by trial, metric, step",
    "routing": "select trial, step, router, source, weight from routing where trial like :trials "
               "order by trial, step, router, source",
    "routing_stats": "select trial, step, router, name, value from routing_stats where trial like :trials "
                     "and name not like 'cost.%' order by trial, step, name, router",
}
TABLES = {
    "json": ["--format", "json"],
    "csv": ["--format", "csv"],
    "test_csv": ["--metric", "test_loss", "--split", "test", "--format", "csv"],
}


def submit(cluster):
    """Id of a new sweep."""
    path = cluster.folder / "sweep.yaml"
    path.write_text(text(cluster.ranks))
    return json.loads(cluster.leadline("submit", path, "--new", "--json"))["sweep"]


def outcome(cluster, sweep):
    """Name and text of each table and view; the id of the sweep and its place are taken out."""
    texts = {name: cluster.leadline("results", sweep, *words).decode() for name, words in TABLES.items()}
    # What came too late is told beside the table, as part of none of its figures.
    texts["json"] = re.sub(r'^ *"orphan_(attempts|records)": \d+,\n', "", texts["json"], flags=re.MULTILINE)
    with contextlib.closing(sqlite3.connect(f"file:{cluster.database()}?mode=ro", uri=True)) as database:
        for name, query in VIEWS.items():
            rows = database.execute(query, {"sweep": sweep, "trials": f"{sweep}.%"})
            texts[name] = "".join(f"{row}\n" for row in rows)
    return {name: re.sub(rf"\b{sweep}\b", "sweep", text.replace(str(cluster.folder), "FOLDER"))
            for name, text in texts.items()}


def assert_equal(found, expected, sweep):
    for name, text in expected.items():
        if found[name] == text:
            continue
        pairs = zip(found[name].splitlines() + ["nothing"], text.splitlines() + ["nothing"])
        line, (got, wanted) = next((k, pair) for k, pair in enumerate(pairs, 1) if pair[0] != pair[1])
        raise Fault(f"{name} of {sweep} differs from the undisturbed run in line {line}: {got!r}, expected {wanted!r}")


def assert_ended_once(cluster, watch):
    """Every planned trial has its one result, and one attempt of its cohort gave the last of them."""
    if len(watch.trials) != CELLS * SEEDS:
        raise Fault(f"{watch.sweep} has {len(watch.trials)} trials")
    unfinished = {name: trial for name, trial in watch.trials.items()
                  if trial.state != "succeeded" or trial.value is None}
    if unfinished:
        raise Fault(f"not every trial of {watch.sweep} has succeeded: {unfinished}")
    with contextlib.closing(sqlite3.connect(f"file:{cluster.database()}?mode=ro", uri=True)) as database:
        odd = database.execute(
            "select trial, sum(outcome = 'succeeded') as ends, sum(outcome = 'live') as live from attempts "
            "where trial like ? group by trial having ends <> 1 or live <> 0", (f"{watch.sweep}.%",)).fetchall()
    if odd:
        raise Fault(f"trials of {watch.sweep} without exactly one succeeded attempt (trial, succeeded, live): {odd}")


def assert_sound(database):
    """The file itself, after everybody has closed it."""
    with contextlib.closing(sqlite3.connect(f"file:{database}?mode=ro", uri=True)) as connection:
        for pragma in ("integrity_check", "foreign_key_check"):
            found = connection.execute(f"pragma {pragma}").fetchall()
            if found not in ([], [("ok",)]):
                raise Fault(f"{pragma}: {found}")
        return connection.execute("select count(*) from orphan").fetchone()[0]


def undisturbed(programs, trainer, folder, mark, cache, ranks):
    """Outcome of a run without a kill, and the seconds it took; from the cache where it has it."""
    key = hashlib.sha256(text(ranks).encode() + trainer.read_bytes()).hexdigest()
    stored = cache / f"{key}.json" if cache else None
    if stored and stored.exists():
        return json.loads(stored.read_text()), 0.0
    begin = time.monotonic()
    folder.mkdir()
    cluster = Cluster(programs, trainer, folder, mark, ranks)
    try:
        watch = Watch(cluster, submit(cluster))
        cluster.wait(lambda: watch.is_over() and not watch.live(), "the undisturbed run", 600, rest=0.05)
        assert_ended_once(cluster, watch)
        if max(trial.attempts for trial in watch.trials.values()) != 1:
            raise Fault("the undisturbed run needed a second attempt")
        texts = outcome(cluster, watch.sweep)
        watch.close()
        cluster.shut_down()
    finally:
        cluster.destroy()
    if stored:
        stored.parent.mkdir(parents=True, exist_ok=True)
        beside = pathlib.Path(f"{stored}.new")
        beside.write_text(json.dumps(texts))
        beside.rename(stored)
    return texts, time.monotonic() - begin
