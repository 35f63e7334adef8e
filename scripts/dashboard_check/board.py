"""A Grafana dashboard as a file: its panels, its variables, and what is wrong with its structure."""

import copy
import json
import re

WIDTH = 24  # of Grafana's grid
BUILT_IN = {"__rate_interval", "__interval", "__range", "__all"}
LONGEST_UID = 40
# Of Grafana itself: what others make would have to be installed first.
PANELS = {"bargauge", "barchart", "gauge", "heatmap", "histogram", "piechart", "stat", "state-timeline", "table", "text",
          "timeseries"}


class Board:
    def __init__(self, name, content):
        self.name = name
        self.content = content

    @classmethod
    def load(cls, path):
        return cls(path.name, json.loads(path.read_text(encoding="utf-8")))

    def copy(self):
        return Board(self.name, copy.deepcopy(self.content))

    def boxes(self):
        """Everything that has a place: panels and rows, those in collapsed rows included."""
        for box in self.content.get("panels", []):
            yield box
            yield from box.get("panels", [])

    def panels(self):
        return [box for box in self.boxes() if box.get("type") != "row"]

    def panel(self, title):
        return next(panel for panel in self.panels() if panel["title"] == title)

    def variables(self):
        return self.content.get("templating", {}).get("list", [])

    def queries(self):
        """Variables that are filled by a query, in the order in which they depend on each other."""
        return [variable for variable in self.variables() if variable.get("type") == "query"]

    def faults(self):
        for fault in [*self._faults_of_the_board(), *self._faults_of_places()]:
            yield f"{self.name}: {fault}"
        for panel in self.panels():
            for fault in self._faults_of(panel):
                yield f"{self.name}: panel \"{panel.get('title', panel.get('id'))}\": {fault}"

    def _faults_of_the_board(self):
        for key in ("uid", "title", "description", "schemaVersion"):
            if not self.content.get(key):
                yield f"has no {key}"
        if not re.fullmatch(rf"[\w-]{{1,{LONGEST_UID}}}", str(self.content.get("uid", ""))):
            yield f"its uid is none of {LONGEST_UID} letters, digits, - and _"
        variables = self.variables()
        if not variables or variables[0].get("type") != "datasource" or variables[0].get("name") != "datasource":
            yield "its first variable is not the data source"
        ids = [box.get("id") for box in self.boxes()]
        for box_id in sorted({str(i) for i in ids if ids.count(i) > 1 or not isinstance(i, int)}):
            yield f"id {box_id} is not that of one panel"
        if not self.panels():
            yield "has no panels"

    def _faults_of_places(self):
        taken = {}
        for box in self.content.get("panels", []):
            place = box.get("gridPos", {})
            x, y, w, h = (place.get(key) for key in "xywh")
            if not all(isinstance(value, int) for value in (x, y, w, h)) or w < 1 or h < 1 or x < 0 or x + w > WIDTH:
                yield f"\"{box.get('title')}\" has no place within {WIDTH} columns"
                continue
            for cell in ((column, line) for column in range(x, x + w) for line in range(y, y + h)):
                if cell in taken:
                    yield f"\"{box.get('title')}\" lies over \"{taken[cell]}\""
                    break
                taken[cell] = box.get("title")

    def _faults_of(self, panel):
        for key in ("title", "description"):
            if not str(panel.get(key, "")).strip():
                yield f"has no {key}"
        if not panel.get("fieldConfig", {}).get("defaults", {}).get("unit"):
            yield "has no unit"
        if panel.get("type") not in PANELS:
            yield f"is of no kind that Grafana has: {panel.get('type')}"
        targets = panel.get("targets", [])
        if not targets:
            yield "has no query"
        if len({target.get("refId") for target in targets}) != len(targets):
            yield "has two queries of one refId"
        for part in (panel, *targets):
            if part.get("datasource") != {"type": "prometheus", "uid": "${datasource}"}:
                yield "does not take its data source from the variable"
        known = {variable.get("name") for variable in self.variables()} | BUILT_IN
        for target in targets:
            for name in variables_in(target.get("expr", "")):
                if name not in known:
                    yield f"uses ${name}, which is no variable"


def variables_in(text):
    return [first or second for first, second in re.findall(r"\$(\w+)|\$\{(\w+)[^}]*\}", text)]


def substitute(text, values):
    """`text` with its variables replaced; longer names first, as one may begin with another."""
    for name in sorted(values, key=len, reverse=True):
        text = text.replace("${" + name + "}", values[name]).replace("$" + name, values[name])
    return text
