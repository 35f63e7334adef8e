"""What can be told of dashboards and rules without running anything."""

import re

from . import expression, known_metrics


def faults_of_expression(text, known):
    labels = set()
    for name in expression.metrics_in(text):
        if name not in known:
            yield f"there is no metric {name}"
        labels |= known.get(name, set())
    for label in sorted(expression.labels_in(text) - labels):
        if labels:
            yield f"no metric of it has the label {label}"


def faults_of_board(board, known):
    yield from board.faults()
    for panel in board.panels():
        where = f"{board.name}: panel \"{panel['title']}\": "
        shown = panel.get("fieldConfig", {}).get("defaults", {}).get("unit", "")
        for target in panel.get("targets", []):
            for fault in faults_of_expression(target["expr"], known):
                yield where + fault
            if fault := expression.unit_fault(target["expr"], shown):
                yield where + fault
    for variable in board.queries():
        match = re.fullmatch(r"label_values\((.+), (\w+)\)", variable["query"]["query"])
        where = f"{board.name}: variable {variable['name']}: "
        if not match:
            yield where + "is no label_values(SERIES, LABEL)"
            continue
        for fault in faults_of_expression(match[1], known):
            yield where + fault
        for name in expression.metrics_in(match[1]):
            if match[2] not in known.get(name, {match[2]}):
                yield where + f"{name} has no label {match[2]}"


def faults_of_rules(path, known):
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
        if match := re.match(r"\s+expr: (.+)", line):
            for fault in faults_of_expression(match[1], known):
                yield f"{path.name}:{number}: {fault}"


def faults(root, boards):
    known = known_metrics.read(root / "docs" / "metrics.md")
    rules = root / "dashboards" / "prometheus"
    known |= known_metrics.recorded(rules / "recording_rules.yml")
    for board in boards:
        yield from faults_of_board(board, known)
    for name in ("recording_rules.yml", "alert_rules.yml"):
        yield from faults_of_rules(rules / name, known)
