"""What a PromQL expression is about: the metrics and labels it names, and the unit of its value.

Only the forms that our dashboards and rules use are read; anything else is an error, so that nothing passes
unread."""

import re

KEYWORDS = {"and", "or", "unless", "by", "without", "on", "ignoring", "group_left", "group_right", "bool", "offset"}
GROUPING = r"\b(?:by|without|on|ignoring|group_left|group_right)\s*\(([^)]*)\)"
AGGREGATIONS = ("sum", "min", "max", "avg")

# Unit: what Grafana may call it.
GRAFANA = {
    "seconds": ("s",),
    "bytes": ("bytes",),
    "ratio": ("percentunit",),
    "number": ("short", "none"),
    "number per second": ("ops", "reqps", "cps"),  # or suffix:THINGS/s
    "bytes per second": ("Bps",),
    "seconds per second": ("percentunit",),
}


class Unread(ValueError):
    pass


def without_texts(expression):
    return re.sub(r'"(?:[^"\\]|\\.)*"', '""', expression)


def metrics_in(expression):
    """Names of series, in order, each once."""
    text = re.sub(r"\{[^}]*\}|\[[^\]]*\]", "", without_texts(expression))
    text = re.sub(GROUPING, " ", text)
    names = re.findall(r"(?<![\w:.$])([a-zA-Z_:][\w:]*)(?!\s*\(|[\w:])", text)
    return list(dict.fromkeys(name for name in names if name not in KEYWORDS))


def labels_in(expression):
    text = without_texts(expression)
    names = re.findall(r'([a-zA-Z_]\w*)\s*(?:=~|!~|!=|=)\s*""', text)
    for group in re.findall(GROUPING, text):
        names += [name.strip() for name in group.split(",") if name.strip()]
    return set(names)


def unit_of_metric(name):
    base = re.sub(r"_total$", "", name)
    if base.endswith("_seconds_sum") or base.endswith("_seconds"):
        return "seconds"
    if base.endswith("_bytes"):
        return "bytes"
    return "ratio" if base.endswith("_ratio") else "number"


def split_at(text, operators):
    """The two sides of the first operator outside of all brackets: (left, operator, right), or None."""
    depth = 0
    for place, letter in enumerate(text):
        depth += {"(": 1, "{": 1, "[": 1, ")": -1, "}": -1, "]": -1}.get(letter, 0)
        for operator in operators:
            if depth == 0 and place > 0 and text.startswith(operator, place):
                return text[:place].strip(), operator.strip(), text[place + len(operator):].strip()
    return None


def inside(text):
    """What the brackets that end `text` hold, and what stands before them."""
    depth = 0
    for place in range(len(text) - 1, -1, -1):
        depth += {")": 1, "(": -1}.get(text[place], 0)
        if depth == 0:
            return text[:place].strip(), text[place + 1:-1].strip()
    raise Unread(text)


def unit(expression):
    text = without_texts(expression).strip()
    parts = split_at(text, (" or ",))
    if parts and parts[2] == "vector(0)":
        return unit(parts[0])
    if parts := split_at(text, (" / ", " + ", " - ")):
        return unit_of_two(*parts)
    if not text.endswith(")"):
        names = metrics_in(text)
        if len(names) != 1:
            raise Unread(expression)
        return unit_of_metric(names[0])
    function, argument = inside(text)
    function = re.sub(GROUPING, "", function).strip()
    if function in ("", *AGGREGATIONS):
        return unit(argument)
    if function == "increase":
        return unit(argument)
    if function == "rate":
        return unit(argument) + " per second"
    if function == "histogram_quantile":
        return unit_of_metric(re.sub(r"_bucket$", "", metrics_in(argument)[0]))
    raise Unread(expression)


def unit_of_two(left, operator, right):
    if left == "time()":
        return unit(right)
    units = {unit(left), unit(right)}
    if len(units) != 1:
        raise Unread(f"{left} {operator} {right}: two units")
    return "ratio" if operator == "/" else units.pop()


def unit_fault(expression, grafana_unit):
    """What is wrong with a panel that shows the expression in that unit of Grafana; None if nothing is."""
    try:
        found = unit(expression)
    except Unread as error:
        return f"its unit cannot be told: {error}"
    allowed = GRAFANA[found]
    if grafana_unit in allowed:
        return None
    if found == "number per second" and re.fullmatch(r"suffix:.+/s", grafana_unit):
        return None
    return f"its unit is {grafana_unit}, its query's is {found} ({', '.join(allowed)})"
