"""Mistakes put into copies of the dashboards, to see that the check finds each."""

from . import live, static

SERVICE = "service.json"
PANEL = "Age of the queue"


def _renamed(panel):
    panel["targets"][0]["expr"] = panel["targets"][0]["expr"].replace("leadline_queue_oldest_seconds",
                                                                      "leadline_queue_oldest_age_seconds")


def _empty(panel):
    panel["targets"][0]["expr"] += '{job="nobody"}'


def _unit(panel):
    panel["fieldConfig"]["defaults"]["unit"] = "ms"


PLANTS = {"a renamed metric": _renamed, "an empty panel": _empty, "a wrong unit": _unit}


def planted(boards, name):
    boards = [board.copy() for board in boards]
    PLANTS[name](next(board for board in boards if board.name == SERVICE).panel(PANEL))
    return boards


def faults(root, boards, name, prometheus):
    """What the whole check says of dashboards with that mistake."""
    boards = planted(boards, name)
    panels = live.Panels(boards)
    panels.ask(prometheus)
    told = [*static.faults(root, boards), *panels.faults()]
    return [fault for fault in told if PANEL in fault]
