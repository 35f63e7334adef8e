"""The metrics that the coordinator has, read from docs/metrics.md, which is written from its code."""

import re

OF_PROMETHEUS = {"up": {"job", "instance"}}
OF_ALL = {"job", "instance"}  # labels that Prometheus adds


def read(page):
    """Labels by name of series."""
    known = dict(OF_PROMETHEUS)
    for line in page.read_text(encoding="utf-8").splitlines():
        cells = [cell.strip() for cell in line.strip("|").split(" | ")]
        if not line.startswith("| `") or len(cells) < 3:
            continue
        name, kind = cells[0].strip("`"), cells[1]
        labels = {match for part in cells[3:] for match in re.findall(r"(?:^|<br>)`(\w+)`: ", part)} | OF_ALL
        if kind == "histogram":
            known.update({name + "_bucket": labels | {"le"}, name + "_sum": labels, name + "_count": labels})
        else:
            known[name] = labels
    return known


def recorded(rules):
    """Names that recording rules make, with the labels they keep."""
    names = {}
    text = rules.read_text(encoding="utf-8")
    for name, expression in re.findall(r"record: (\S+)\n\s+expr: (.+)", text):
        kept = re.findall(r"\bby \(([^)]*)\)", expression)
        names[name] = {label.strip() for group in kept for label in group.split(",")} | OF_ALL
    return names
