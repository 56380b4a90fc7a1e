"""The history as text for a terminal."""

import math
import sys

from history.trends import LEAST_POINTS, is_open
from report.figures import significant

_BARS = "▁▂▃▄▅▆▇█"
# Where the terminal has no such characters.
_DIGITS = "12345678"
# Points of a trend on a line, the latest ones: at most and, on a narrow terminal, at least so many.
_MOST_POINTS, _LEAST_POINTS = 40, 8


def printable(text):
    """Returns text without control characters, which a name in a file may have."""
    return "".join(c if c.isprintable() else f"\\x{ord(c):02x}" for c in text)


def time_text(nanoseconds):
    for unit, size in (("s", 1e9), ("ms", 1e6), ("us", 1e3)):
        if nanoseconds >= size:
            return f"{significant(nanoseconds / size)} {unit}"
    return f"{significant(nanoseconds)} ns"


def value_text(trend, value):
    return f"{significant(value)}x" if trend.quantity == "speedup" else time_text(value)


def percent(factor):
    """Returns a factor of speed as a change of it in percent, such as `-9.1`."""
    change = 100 * (factor - 1)
    return f"{change:+.{1 if abs(change) >= 1 else 2}f}"


def commit_text(point):
    commit = printable(point["commit_id"])[:12] or "unknown commit"
    return f"{commit} ({point['date_utc'][:10]})"


def name_of(trend):
    mode = f", {trend.mode}" if trend.mode else ""
    return printable(f"{trend.comparison}: {trend.implementation}{mode}")


def _can_print(characters):
    try:
        characters.encode(getattr(sys.stdout, "encoding", None) or "utf-8")
    except UnicodeEncodeError:
        return False
    return True


def spark(trend, most=_MOST_POINTS):
    bars = _BARS if _can_print(_BARS) else _DIGITS
    points = trend.points[-most:]
    values = [math.log(point["value"]) for point in points]
    low, high = min(values), max(values)
    # Noise of less than 1 % should not fill the line.
    span = max(high - low, 0.01)
    text = ""
    for i, (point, value) in enumerate(zip(points, values, strict=True)):
        if i and point["part"] != points[i - 1]["part"]:
            text += "|"
        text += bars[min(int((value - low) / span * len(bars)), len(bars) - 1)]
    return text


def change_lines(change):
    what = "" if change.trend.quantity == "speedup" else " of its time"
    return [
        f"  {name_of(change.trend)}{what}",
        f"    {percent(change.factor)} % in speed [{percent(change.low)}, {percent(change.high)}], from "
        f"{value_text(change.trend, change.before)} to {value_text(change.trend, change.after)}",
        f"    between {commit_text(change.last_before)} and {commit_text(change.first_after)}",
    ]


def report(overview, trends, changes, columns=120):
    """Returns the lines: changes first, regressions before improvements, then a line for each trend of a ratio, which
    has fewer points where the terminal has few `columns`."""
    lines = [overview, ""]
    for title, wanted in (("Regressions", True), ("Improvements", False)):
        chosen = [change for change in changes if change.is_regression == wanted]
        lines.append(f"{title}: {len(chosen) or 'none'}")
        for change in chosen:
            lines += change_lines(change)
        lines.append("")
    watched = [trend for trend in trends if trend.is_watched]
    changes_of = {}
    for change in changes:
        changes_of.setdefault(id(change.trend), []).append(change)
    if unclear := [trend for trend in watched if is_open(trend, changes_of.get(id(trend), []))]:
        such = name_of(unclear[0]) + ("" if unclear[0].quantity == "speedup" else ", its time")
        lines += [
            f"Too few runs to tell: {len(unclear)} of {len(watched)} trends, such as {such}. "
            f"A change needs {LEAST_POINTS} runs on each side.",
            "",
        ]
    shown = [trend for trend in trends if trend.quantity == "speedup"]
    lines.append("Speed-ups over the baseline of the same run, oldest first" if shown else "No speed-ups are known.")
    width = max((len(name_of(trend)) for trend in shown), default=0)
    room = min(max(columns - width - 35, _LEAST_POINTS), _MOST_POINTS)
    for trend in shown:
        first, last = trend.points[0], trend.points[-1]
        lines.append(
            f"  {name_of(trend):{width}}  {len(trend.points):4} runs  {value_text(trend, first['value']):>7} -> "
            f"{value_text(trend, last['value']):>7}  {spark(trend, room)}"
        )
    return lines
