"""Words and figures that several parts of the page show in one way."""

from report import figures

BADNESS = {"passed": 0, "undecided": 1, "invalid": 2, "failed": 3}
# Outcomes that make a program fail, as its exit code says (42).
FAULTS = ("wrong", "threw", "crashed", "timed out", "out of memory")

# Characters of a name that stand in a table; the whole of it is below the comparison's heading.
LONGEST_NAME = 160


def short(name):
    """A name as it stands in a line: without line ends, and not endless."""
    text = name.replace("\n", "⏎").replace("\t", " ")
    return text if len(text) <= LONGEST_NAME else text[: LONGEST_NAME - 1] + "…"


def worst_verdict(row):
    """The worst verdict of a row, or an empty text."""
    return max((each["verdict"] for each in row["expectations"]), key=lambda each: BADNESS.get(each, 4), default="")


def speedup(summary):
    """The median of a speed-up and its interval, as numbers and as text; None without one."""
    if not summary:
        return None
    return {
        "value": summary["median"],
        "text": figures.ratio(summary["median"]),
        "interval": figures.ratio_interval(summary["interval"]),
    }
