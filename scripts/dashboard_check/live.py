"""Every query of every panel, asked of a Prometheus that scrapes a coordinator."""

from .board import substitute

# Grafana computes these from the range shown and the scrape interval.
BUILT_IN = {"__rate_interval": "15s", "__interval": "5s", "__range": "5m"}


def variables(board, prometheus):
    """A value of each variable; ValueError names one that has none."""
    values = dict(BUILT_IN)
    for variable in board.queries():
        series, label = variable["query"]["query"][len("label_values("):-1].rsplit(", ", 1)
        found = prometheus.label_values(substitute(series, values), label)
        if not found:
            raise ValueError(f"variable {variable['name']} has no values")
        values[variable["name"]] = found[-1]
    return values


class Panels:
    """Queries that had no data yet; one that has had some is done."""

    def __init__(self, boards):
        self._boards = boards
        self._open = {(board.name, panel["title"], target["refId"]): (board, panel, target["expr"])
                      for board in boards for panel in board.panels() for target in panel["targets"]}
        self.queries = len(self._open)
        self._why = {key: "has no data" for key in self._open}

    def ask(self, prometheus):
        """Asks those that are still open."""
        values = {}
        for board in self._boards:
            try:
                values[board.name] = variables(board, prometheus)
            except ValueError as error:
                self._note(board, str(error))
        for key, (board, _, expr) in list(self._open.items()):
            if board.name not in values:
                continue
            try:
                if prometheus.values(substitute(expr, values[board.name])):
                    del self._open[key]
                else:
                    self._why[key] = "has no data"
            except ValueError as error:
                self._why[key] = f"is refused: {error}"

    def _note(self, board, why):
        for key in self._open:
            if key[0] == board.name:
                self._why[key] = why

    def done(self):
        return not self._open

    def faults(self):
        for name, title, ref in self._open:
            yield f"{name}: panel \"{title}\": query {ref} {self._why[(name, title, ref)]}"
