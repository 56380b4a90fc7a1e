"""The history as a page for a browser: tables and small pictures that need no script, and Vega-Lite pictures."""

import math
import pathlib

from markupsafe import Markup, escape

from history import text
from history.trends import is_open
from report import charts, figures
from report import page as report_page

_HERE = pathlib.Path(__file__).parent

# Points on a page. With more, each trend has its latest ones alone, and the page says so.
MOST_POINTS = 60_000
LEAST_POINTS_OF_A_TREND = 20

_TREND = {
    "width": "container",
    "height": 240,
    "layer": [
        {
            "mark": {"type": "line", "strokeWidth": 1.5},
            "encoding": {
                "x": {"field": "date", "type": "temporal", "title": None},
                "y": {"field": "value", "type": "quantitative", "title": "%axis%", "scale": {"zero": False}},
                "color": {
                    "field": "implementation",
                    "type": "nominal",
                    "title": None,
                    "scale": {"domain": "%names%", "range": "%colours%"},
                    "legend": {"orient": "top", "labelLimit": 260, "symbolOpacity": 1},
                },
                # A line of its own for each part.
                "detail": {"field": "part", "type": "nominal"},
            },
        },
        {
            "mark": {"type": "errorbar", "opacity": 0.5},
            "encoding": {
                "x": {"field": "date", "type": "temporal"},
                "y": {"field": "low", "type": "quantitative", "title": "%axis%"},
                "y2": {"field": "high"},
                "color": {"field": "implementation", "type": "nominal"},
            },
        },
        {
            "mark": {"type": "point", "filled": True, "size": 36},
            "encoding": {
                "x": {"field": "date", "type": "temporal"},
                "y": {"field": "value", "type": "quantitative"},
                "color": {"field": "implementation", "type": "nominal"},
                "tooltip": [
                    {"field": "implementation", "type": "nominal"},
                    {"field": "value", "type": "quantitative", "format": ".4~g", "title": "%axis%"},
                    {"field": "commit", "type": "nominal"},
                    {"field": "date", "type": "temporal", "format": "%Y-%m-%d %H:%M"},
                    {"field": "machine", "type": "nominal", "title": "kind of machine"},
                    {"field": "run", "type": "nominal"},
                ],
            },
        },
    ],
}
_CHANGES = {
    "data": {"name": "changes"},
    "mark": {"type": "rule", "strokeDash": [4, 3], "strokeWidth": 1.5},
    "encoding": {
        "x": {"field": "date", "type": "temporal"},
        "color": {"field": "implementation", "type": "nominal"},
        "tooltip": [{"field": "implementation", "type": "nominal"}, {"field": "change", "type": "nominal"}],
    },
}
# Vega warns of a layer without values.
_SPECIFICATIONS = {"trend": _TREND, "changed": {**_TREND, "layer": [*_TREND["layer"], _CHANGES]}}


def _label(trend):
    return text.printable(trend.implementation + (f", {trend.mode}" if trend.mode else ""))


def _picture(trend, points, changes, width=260, height=40):
    """A trend as a small SVG: a line for each part, and a dashed one at each change."""
    logs = [math.log(point["value"]) for point in points]
    low, high = min(logs), max(logs)
    # Noise of less than 1 % should not fill the picture.
    room = max(high - low, 0.01)
    middle = (low + high) / 2

    def x(i):
        return 3 + (width - 6) * (i / max(len(points) - 1, 1))

    def y(value):
        return height / 2 - (value - middle) / room * (height - 8)

    body, at = "", {}
    lines = {}
    for i, (point, value) in enumerate(zip(points, logs, strict=True)):
        lines.setdefault(point["part"], []).append(f"{x(i):.1f},{y(value):.1f}")
        at[point["run_id"]] = x(i)
    for change in changes:
        if change.trend is trend and change.first_after["run_id"] in at:
            where = at[change.first_after["run_id"]]
            kind = "failed" if change.is_regression else "passed"
            body += (
                f'<line class="mark {kind}" x1="{where:.1f}" y1="1" x2="{where:.1f}" y2="{height - 1}" '
                'stroke="#808080" stroke-dasharray="3 2"/>'
            )
    for places in lines.values():
        body += f'<polyline class="mark" points="{" ".join(places)}" fill="none" stroke="#3567b8" stroke-width="1.5"/>'
    px, py = x(len(points) - 1), y(logs[-1])
    body += f'<circle class="dot" cx="{px:.1f}" cy="{py:.1f}" r="2.5" fill="#3567b8"/>'
    first, last = (text.value_text(trend, points[i]["value"]) for i in (0, -1))
    label = f"{_label(trend)}: from {first} to {last}"
    return Markup(
        f'<svg class="picture" width="{width}" height="{height}" viewBox="0 0 {width} {height}" role="img" '
        f'aria-label="{escape(label)}">{body}</svg>'
    )


def _change(change):
    return {
        "kind": "slower" if change.is_regression else "faster",
        "what": text.printable(change.trend.comparison),
        "implementation": _label(change.trend),
        "of": "speed-up" if change.trend.quantity == "speedup" else "time",
        "factor": change.factor,
        "size": f"{text.percent(change.factor)} %",
        "interval": f"[{text.percent(change.low)}, {text.percent(change.high)}]",
        "before": text.value_text(change.trend, change.before),
        "after": text.value_text(change.trend, change.after),
        "last_before": text.commit_text(change.last_before),
        "first_after": text.commit_text(change.first_after),
    }


def _colours(trends):
    """The colours of a comparison's implementations; the baseline has the first one."""
    names = {}
    for trend in sorted(trends, key=lambda trend: not trend.points[-1]["is_baseline"]):
        names.setdefault(_label(trend), charts.COLOURS[len(names) % len(charts.COLOURS)])
    return names


def _dataset(trends, changes, colours, most):
    """The values of one picture: trends of one comparison and one quantity."""
    of_speed = trends[0].quantity == "speedup"
    latest = min(trend.points[-1]["value"] for trend in trends)
    size, unit = (1, "") if of_speed else figures.time_unit(latest)
    low, high = ("speedup_low", "speedup_high") if of_speed else ("interval_low_ns", "interval_high_ns")
    values = []
    for trend in trends:
        for point in trend.points[-most:]:
            values.append(
                {
                    "implementation": _label(trend),
                    "date": point["date_utc"],
                    "value": point["value"] / size,
                    "low": point[low] / size if point[low] is not None else None,
                    "high": point[high] / size if point[high] is not None else None,
                    "commit": text.printable(point["commit_id"])[:12],
                    "part": f"{_label(trend)}/{point['part']}",
                    "machine": point["machine_id"],
                    "run": point["run_id"],
                }
            )
    names = [_label(trend) for trend in trends]
    return {
        "values": values,
        "changes": [
            {
                "implementation": _label(change.trend),
                "date": change.first_after["date_utc"],
                "change": f"{text.percent(change.factor)} % in speed",
            }
            for change in changes
            if any(change.trend is trend for trend in trends)
        ],
        "names": names,
        "colours": [colours[name] for name in names],
        "axis": "speed-up over the baseline" if of_speed else f"time of an iteration ({unit})",
    }


def _status(own, changes):
    """The known facts of a comparison that has these trends and changes."""
    if changes:
        return "slower" if any(change.is_regression for change in changes) else "faster"
    if any(trend.is_watched and is_open(trend, changes) for trend in own):
        return "too few runs"
    return "steady"


def view(overview, trends, changes):
    """Everything that the template reads."""
    most = max(MOST_POINTS // max(len(trends), 1), LEAST_POINTS_OF_A_TREND)
    datasets, comparisons = {}, []
    by_name = {}
    for trend in trends:
        by_name.setdefault(trend.comparison, []).append(trend)
    # Thousands of comparisons may have thousands of changes.
    changes_of = {}
    for change in changes:
        changes_of.setdefault(change.trend.comparison, []).append(change)
    for number, (name, own) in enumerate(by_name.items()):
        found = changes_of.get(name, [])
        pictures, colours = [], _colours(own)
        for quantity, title in (("speedup", "Speed-ups"), ("time", "Times")):
            chosen = [trend for trend in own if trend.quantity == quantity]
            if chosen:
                key = f"{number}-{quantity}"
                datasets[key] = _dataset(chosen, found, colours, most)
                kind = "changed" if datasets[key]["changes"] else "trend"
                pictures.append({"title": title, "key": key, "kind": kind})
        ratios = [trend for trend in own if trend.quantity == "speedup"]
        comparisons.append(
            {
                "id": number,
                "name": text.printable(name),
                "status": _status(own, found),
                "words": text.printable(" ".join([name, *(_label(trend) for trend in own)])).lower(),
                "speedup": min((trend.points[-1]["value"] for trend in ratios), default=""),
                "time": max((trend.points[-1]["value"] for trend in own if trend.quantity == "time"), default=""),
                "rows": [
                    {
                        "name": _label(trend),
                        "of": "speed-up" if trend.quantity == "speedup" else "time",
                        "runs": len(trend.points),
                        "first": text.value_text(trend, trend.points[0]["value"]),
                        "last": text.value_text(trend, trend.points[-1]["value"]),
                        "value": trend.points[-1]["value"],
                        "commit": text.commit_text(trend.points[-1]),
                        "picture": _picture(trend, trend.points[-most:], found),
                    }
                    for trend in sorted(own, key=lambda trend: trend.quantity != "speedup")
                ],
                "pictures": pictures,
            }
        )
    places = {each["name"]: each["id"] for each in comparisons}
    return {
        "overview": text.printable(overview),
        "changes": [{**_change(change), "id": places[text.printable(change.trend.comparison)]} for change in changes],
        "comparisons": comparisons,
        "open": sum(each["status"] == "too few runs" for each in comparisons),
        "left_out": most if any(len(trend.points) > most for trend in trends) else 0,
        "datasets": datasets,
    }


def render(overview, trends, changes, vega):
    """Returns the page. `vega` is the program that draws pictures; without it the page has tables alone."""
    shown = view(overview, trends, changes)
    return (
        report_page.templates(_HERE)
        .get_template("history.html.j2")
        .render(view=shown, **report_page.surroundings(_SPECIFICATIONS, shown["datasets"], vega))
    )
