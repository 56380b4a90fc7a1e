"""The page's pictures as Vega-Lite specifications, and the values that they show.

A specification is the same for every comparison. Texts such as "%unit%" stand for the differences; the page's script
replaces them and adds the values. A notebook gets the same specification that the page draws.
"""

import contextlib
import math
import re

from report import figures, statistics

_SCHEMA = "https://vega.github.io/schema/vega-lite/v6.json"

# Okabe and Ito's colours, which people with any kind of colour vision tell apart; the first is the baseline's.
COLOURS = ("#7a7f87", "#0f7ac0", "#d55e00", "#0a9a72", "#c2679b", "#b98a00", "#52aee0", "#8b5fbf")

_COLOUR = {
    "field": "implementation",
    "type": "nominal",
    "title": None,
    "sort": None,
    "scale": {"domain": "%names%", "range": "%colours%"},
    "legend": {"orient": "top", "labelLimit": 260, "symbolOpacity": 1},
}
_POINT = {"filled": True, "size": 14, "opacity": 0.7}
# A value outside of the picture stands at its edge as a triangle.
_SHAPE = {
    "field": "outside",
    "type": "nominal",
    "legend": None,
    "scale": {"domain": [False, True], "range": ["circle", "triangle-up"]},
}
_TIME_TIP = [
    {"field": "implementation", "type": "nominal"},
    {"field": "round", "type": "quantitative"},
    {"field": "exact", "type": "quantitative", "title": "time (%unit%)", "format": ".4~g"},
]
_WIDE = {"width": "container", "height": 190}

SPECIFICATIONS = {
    "rounds": {
        "title": "Times in the order of rounds",
        "about": "A drift of the machine shows as a slope or a step of all colours at once.",
        "specification": {
            **_WIDE,
            "mark": {"type": "point", **_POINT},
            "encoding": {
                "x": {"field": "round", "type": "quantitative", "title": "round", "scale": {"nice": False}},
                "y": {
                    "field": "time",
                    "type": "quantitative",
                    "title": "time of an iteration (%unit%)",
                    "scale": {"domain": "%times%", "zero": False},
                },
                "color": _COLOUR,
                "shape": _SHAPE,
                "tooltip": _TIME_TIP,
            },
        },
    },
    "strip": {
        "title": "Samples",
        "about": "Each mark is a sample. Two clusters of one colour are two modes.",
        "specification": {
            "width": "container",
            "height": "%strip%",
            "mark": {"type": "tick", "thickness": 1, "opacity": 0.45, "bandSize": 22},
            "encoding": {
                "x": {
                    "field": "time",
                    "type": "quantitative",
                    "title": "time of an iteration (%unit%)",
                    "scale": {"domain": "%times%", "zero": False},
                },
                "y": {
                    "field": "implementation",
                    "type": "nominal",
                    "title": None,
                    "sort": None,
                    "scale": {"domain": "%names%"},
                    "axis": {"labelLimit": 130},
                },
                "color": {**_COLOUR, "legend": None},
                "tooltip": _TIME_TIP,
            },
        },
    },
    "ecdf": {
        "title": "Share of samples up to a time",
        "about": "The empirical distribution function. A curve to the left of another is faster at every share.",
        "specification": {
            **_WIDE,
            "transform": [
                {
                    "sort": [{"field": "time"}],
                    "window": [{"op": "cume_dist", "as": "share"}],
                    "groupby": ["implementation"],
                }
            ],
            "mark": {"type": "line", "interpolate": "step-after", "strokeWidth": 1.6},
            "encoding": {
                "x": {
                    "field": "time",
                    "type": "quantitative",
                    "title": "time of an iteration (%unit%)",
                    "scale": {"domain": "%times%", "zero": False},
                },
                "y": {"field": "share", "type": "quantitative", "title": "share of samples", "axis": {"format": "%"}},
                "color": _COLOUR,
            },
        },
    },
    "ratios": {
        "title": "Speed-up of each cycle",
        "about": "Baseline's time over own time, a point a cycle, and the median. "
        "Dashed lines are limits that are demanded.",
        "specification": {
            **_WIDE,
            "encoding": {
                "y": {
                    "type": "quantitative",
                    "title": "speed-up",
                    "scale": {"type": "%ratios_scale%", "domain": "%ratios%", "nice": False, "zero": False},
                    "axis": {"format": "~g"},
                }
            },
            "layer": [
                {
                    "data": {"values": [{"one": 1}]},
                    "mark": {"type": "rule", "opacity": 0.6},
                    "encoding": {"y": {"field": "one"}},
                },
                {
                    "data": {"name": "limits"},
                    "mark": {"type": "rule", "strokeDash": [5, 4], "strokeWidth": 1.5},
                    "encoding": {
                        "y": {"field": "limit"},
                        "color": _COLOUR,
                        "tooltip": [{"field": "expectation", "type": "nominal"}],
                    },
                },
                {
                    "mark": {"type": "point", **_POINT},
                    "encoding": {
                        "x": {"field": "cycle", "type": "quantitative", "title": "cycle", "scale": {"nice": False}},
                        "y": {"field": "speedup"},
                        "color": _COLOUR,
                        "shape": _SHAPE,
                        "tooltip": [
                            {"field": "implementation", "type": "nominal"},
                            {"field": "cycle", "type": "quantitative"},
                            {"field": "exact", "type": "quantitative", "title": "speed-up", "format": ".4~g"},
                        ],
                    },
                },
                {
                    "data": {"name": "medians"},
                    "mark": {"type": "rule", "strokeWidth": 2},
                    "encoding": {"y": {"field": "median"}, "color": _COLOUR},
                },
            ],
        },
    },
    "evidence": {
        "title": "Evidence after each cycle",
        "about": (
            "What a bettor against the contrary has made of a wealth of 1. A solid line that ends above its level "
            "proves that the limit is met, a dotted one that it is broken."
        ),
        "specification": {
            **_WIDE,
            "encoding": {
                "y": {
                    "type": "quantitative",
                    "title": "evidence (1/p)",
                    "scale": {"type": "log", "domain": "%evidence%", "clamp": True, "nice": False},
                    "axis": {"format": "~e", "tickCount": 5},
                }
            },
            "layer": [
                {
                    "data": {"name": "levels"},
                    "mark": {"type": "rule", "strokeDash": [6, 4], "opacity": 0.8},
                    "encoding": {"y": {"field": "level"}},
                },
                {
                    "data": {"name": "levels"},
                    "mark": {
                        "type": "text",
                        "align": "right",
                        "baseline": "bottom",
                        "dy": -2,
                        "x": "width",
                        "fontSize": 11,
                    },
                    "encoding": {"y": {"field": "level"}, "text": {"field": "text"}},
                },
                {
                    "mark": {"type": "line", "strokeWidth": 1.8, "clip": True},
                    "encoding": {
                        "x": {"field": "cycle", "type": "quantitative", "title": "cycle", "scale": {"nice": False}},
                        "y": {"field": "evidence"},
                        "color": _COLOUR,
                        "detail": {"field": "expectation", "type": "nominal"},
                        "strokeDash": {
                            "field": "proves",
                            "type": "nominal",
                            "legend": None,
                            "scale": {
                                "domain": ["the limit is met", "the limit is broken"],
                                "range": [[1, 0], [2, 3]],
                            },
                        },
                        "tooltip": [
                            {"field": "expectation", "type": "nominal"},
                            {"field": "proves", "type": "nominal"},
                            {"field": "cycle", "type": "quantitative"},
                            {"field": "evidence", "type": "quantitative", "format": ".3~g"},
                        ],
                    },
                },
            ],
        },
    },
    "sizes": {
        "title": "Speed-up by size",
        "about": "With the intervals. Where a line crosses 1, the other implementation becomes the faster one.",
        "specification": {
            **_WIDE,
            "encoding": {
                "x": {
                    "field": "size",
                    "type": "quantitative",
                    "title": "%axis%",
                    "scale": {"type": "log"},
                    "axis": {"values": "%sizes%", "format": "d", "labelOverlap": True},
                },
                "y": {
                    "type": "quantitative",
                    "title": "speed-up",
                    "scale": {"type": "%range_scale%", "domain": "%range%", "nice": False, "zero": False},
                    "axis": {"format": "~g"},
                },
                "color": {
                    "field": "series",
                    "type": "nominal",
                    "title": None,
                    "sort": None,
                    "legend": {"orient": "top", "labelLimit": 200},
                },
            },
            "layer": [
                {
                    "data": {"values": [{"one": 1}]},
                    "mark": {"type": "rule", "opacity": 0.6},
                    "encoding": {"x": None, "color": None, "y": {"field": "one"}},
                },
                {
                    "mark": {"type": "rule", "strokeWidth": 1.5, "clip": True},
                    "encoding": {"y": {"field": "low"}, "y2": {"field": "high"}},
                },
                {
                    "mark": {"type": "line", "point": {"size": 36}},
                    "encoding": {
                        "y": {"field": "speedup"},
                        "tooltip": [
                            {"field": "comparison", "type": "nominal"},
                            {"field": "series", "type": "nominal"},
                            {"field": "speedup", "type": "quantitative", "format": ".4~g"},
                        ],
                    },
                },
            ],
        },
    },
    "roofline": {
        "title": "Roofline",
        "about": (
            "Operations per second by operations per byte moved. The line marks the largest bandwidth and the "
            "most operations per second that any of them reaches."
        ),
        "specification": {
            **_WIDE,
            "height": 260,
            "encoding": {
                "x": {
                    "type": "quantitative",
                    "title": "operations per byte",
                    "scale": {"type": "log", "nice": False},
                    "axis": {"format": "~g"},
                },
                "y": {"type": "quantitative", "title": "GFLOP/s", "scale": {"type": "log"}, "axis": {"format": "~g"}},
            },
            "layer": [
                {
                    "data": {"name": "roof"},
                    "mark": {"type": "line", "strokeWidth": 1.5, "opacity": 0.7},
                    "encoding": {"x": {"field": "intensity"}, "y": {"field": "gflops"}},
                },
                {
                    "mark": {"type": "point", "filled": True, "size": 60, "opacity": 0.85},
                    "encoding": {
                        "x": {"field": "intensity"},
                        "y": {"field": "gflops"},
                        "color": {
                            "field": "implementation",
                            "type": "nominal",
                            "title": None,
                            "legend": {"orient": "top"},
                        },
                        "tooltip": [
                            {"field": "comparison", "type": "nominal"},
                            {"field": "implementation", "type": "nominal"},
                            {"field": "gflops", "type": "quantitative", "format": ".3~g"},
                            {"field": "gbs", "type": "quantitative", "title": "GB/s", "format": ".3~g"},
                        ],
                    },
                },
            ],
        },
    },
}
for _each in SPECIFICATIONS.values():
    _each["specification"] = {
        "$schema": _SCHEMA,
        "title": _each["title"],
        "autosize": {"type": "fit-x", "contains": "padding"},
        **_each["specification"],
    }

# The values that a page of many comparisons draws of all of them together, so that it opens quickly.
MOST_VALUES = 40000

# A curve needs no more points than a picture has columns.
_MOST_POINTS = 600

# Recomputing a test takes some ten microseconds a cycle.
MOST_CYCLES = 20000


def rounded(value, digits=5):
    return float(f"{value:.{digits}g}")


def _quantile(ascending, share):
    return ascending[min(int(share * len(ascending)), len(ascending) - 1)]


def _robust_range(groups):
    """The range of values in the pictures: single stalls of the machine would squeeze all others."""
    ends = []
    for values in groups:
        if not values:
            continue
        ascending = sorted(values)
        low, middle, high = (_quantile(ascending, share) for share in (0.1, 0.5, 0.9))
        ends.append(
            (max(ascending[0], middle - 4 * (middle - low)), min(ascending[-1], middle + 4 * (high - middle)))
        )
    if not ends:
        return None
    low, high = min(end[0] for end in ends), max(end[1] for end in ends)
    return (low, high) if high > low else (low * 0.95 - 1e-9, high * 1.05 + 1e-9)


def speedup_range(series):
    """The range of a picture of speed-ups by size: all of them, and 1, but not all of wide intervals."""
    low = min([1, *(max(each["low"], each["speedup"] / 3) for each in series)])
    high = max([1, *(min(each["high"], each["speedup"] * 3) for each in series)])
    return [rounded(low / 1.08), rounded(high * 1.08)]


def shares(results, most):
    """Returns how many samples and ratios each comparison may show, such that all together show at most so many.

    The small ones show all of theirs; the large ones have equal parts of the rest.
    """
    sizes = [
        sum(len(row["samples_ns"]) + len(row["log_ratios"]) for row in result["implementations"])
        for result in results
    ]
    shares, left = [0] * len(sizes), most
    for done, i in enumerate(sorted(range(len(sizes)), key=lambda i: sizes[i])):
        shares[i] = min(sizes[i], left // (len(sizes) - done))
        left -= shares[i]
    return shares


def values_of(result, most):
    """Returns the values of the pictures of one comparison, at most `most` samples and ratios; None without any."""
    rows = result["implementations"]
    kept = [row for row in rows if row["samples_ns"]]
    if not kept:
        return None
    total = sum(len(row["samples_ns"]) + len(row["log_ratios"]) for row in kept)

    def part_of(numbers):
        return statistics.thin(numbers, len(numbers) * most // total)

    median = min(row["time"]["median_ns"] if row["time"] else row["samples_ns"][0] for row in kept)
    size, unit = figures.time_unit(median)
    samples, fewer_samples = _samples(kept, part_of, size)
    ratios, ratio_range, fewer_ratios = _ratios(rows, part_of)
    baseline = next((row for row in rows if row["baseline"]), None)
    curves = [_curve(row, each, baseline, result) for row in rows if row["log_ratios"] for _, each in _demanded(row)]
    data = {
        "names": [row["name"] for row in rows],
        "colours": colours(rows),
        "unit": unit,
        "times": _time_range(kept, size),
        "samples": samples,
        "ratios": ratios,
        "evidence": [curve for curve in curves if curve],
        "left_out": fewer_samples or fewer_ratios,
    }
    if ratio_range:
        data["ratio_range"] = ratio_range
    return data


def _time_range(rows, size):
    """The ends of the axis of times, in units of `size` nanoseconds."""
    low, high = _robust_range([row["samples_ns"] for row in rows])
    room = 0.03 * (high - low)
    return [rounded(max(low - room, 0) / size), rounded((high + room) / size)]


def _samples(rows, part_of, size):
    """The samples that are drawn of each row, in units of `size` nanoseconds, and whether any are left out."""
    found, left_out = [], False
    for row in rows:
        values, fewer = part_of(row["samples_ns"])
        left_out |= fewer or row["all_samples"] > len(row["samples_ns"])
        found.append(
            {
                "implementation": row["name"],
                "of": row["all_samples"],
                "step": len(row["samples_ns"]) / max(len(values), 1),
                "values": [rounded(each / size) for each in values],
            }
        )
    return found, left_out


def _demanded(row):
    """The expectations of a row on its speed, each behind its limit as a speed-up."""
    found = []
    for each in row["expectations"]:
        demand = each["demanded_speed"]
        if demand:
            found.append((1 / demand["limit"] if demand["guard"] else demand["limit"], each))
    return found


def _ratios(rows, part_of):
    """The ratios that are drawn of each row with any, the ends of their axis or None, and whether any are left out."""
    found, speedups, all_limits, left_out = [], [], [], False
    for row in rows:
        if not row["log_ratios"]:
            continue
        values, fewer = part_of(row["log_ratios"])
        left_out |= fewer
        ratios = [math.exp(max(min(each, 50.0), -50.0)) for each in values]
        speedups.append(ratios)
        limits = _demanded(row)
        all_limits += [limit for limit, _ in limits]
        found.append(
            {
                "implementation": row["name"],
                "step": len(row["log_ratios"]) / max(len(values), 1),
                "values": [rounded(each) for each in ratios],
                "median": rounded(row["speedup"]["median"]) if row["speedup"] else None,
                "limits": [{"limit": rounded(limit), "expectation": each["expectation"]} for limit, each in limits],
            }
        )
    ends = _robust_range(speedups)
    if not ends:
        return found, None, left_out
    low, high = min([ends[0], 1, *all_limits]), max([ends[1], 1, *all_limits])
    return found, [rounded(low / 1.03), rounded(high * 1.03)], left_out


def colours(rows):
    """The colours of the implementations: the baseline's is grey."""
    others = iter(COLOURS[1:] * (len(rows) // (len(COLOURS) - 1) + 1))
    return [COLOURS[0] if row["baseline"] else next(others) for row in rows]


# How the expectations of times that have a sequential test describe themselves (Demand::describe() in
# include/pace/gate/demand.hpp).
_OF_TIMES = re.compile(r"(mean |[\d.]+ % quantile of |speed-up of |)(time |more than |at least |at most )", re.ASCII)


def why_no_evidence(row, expectation):
    """Returns why the page has no curve of the evidence for an expectation, or an empty text."""
    demand = expectation["demanded_speed"]
    if row["outcome"] != "measured" or not row["time"]:
        return "the implementation has no times"
    if demand is None:
        if _OF_TIMES.match(expectation["expectation"]):
            return (
                "of the demands on times, a file of results has limit and error rates only where the median speed-up "
                "over the baseline is demanded"
            )
        return "it is judged once, after the rounds, and no test follows it from cycle to cycle"
    # Such a limit has no logarithm, and such a rate no evidence or no inverse.
    if not (demand["limit"] > 0 and 1e-300 < demand["alpha"] < 1 and 1e-300 < demand["beta"] < 1):
        return "its error rates are beyond what a picture shows"
    if not row["samples_ns"] or not row["log_ratios"]:
        return "the file has no single samples of it"
    if len(row["log_ratios"]) > MOST_CYCLES:
        return f"it has more than {MOST_CYCLES} cycles"
    return ""


def _curve(row, expectation, baseline, result):
    demand = expectation["demanded_speed"]
    if why_no_evidence(row, expectation):
        return None
    points = statistics.evidence(
        demand,
        row["log_ratios"],
        baseline["samples_ns"] if baseline else [],
        row["samples_ns"],
        int(row["context"]["rounds_per_cycle"] or 1),
        result["iterations"] or 1,
    )
    cycles, _ = statistics.thin(list(range(len(points))), _MOST_POINTS)
    if cycles and cycles[-1] != len(points) - 1:
        cycles.append(len(points) - 1)
    met, broken = _levels(expectation)
    return {
        "implementation": row["name"],
        "expectation": f"{row['name']}: {expectation['expectation']}",
        "cycles": [each + 1 for each in cycles],
        "met": [rounded(min(1 / max(points[i][0], 1e-300), 1e12), 4) for i in cycles],
        "broken": [rounded(min(1 / max(points[i][1], 1e-300), 1e12), 4) for i in cycles],
        "levels": [
            {"level": rounded(1 / rate), "text": f"{proves}: 1/{rate:g}"}
            for proves, rate in (("met", met), ("broken", broken))
        ],
    }


# As detail::rates_text in include/pace/gate/judge-inl.hpp writes them.
_RATES = re.compile(r"wrongly passed: ([\d.e-]+) %, wrongly failed: ([\d.e-]+) %", re.ASCII)


def _levels(expectation):
    """The error rates of a verdict of the gate: of a pass, and of a failure.

    The rates of the demand are a gate's share beside all others. The verdict may have had more, since gates that are
    decided leave their share to the rest (Holm's procedure); its message names those.
    """
    demand = expectation["demanded_speed"]
    if said := _RATES.search(expectation["message"]):
        with contextlib.suppress(ValueError):
            rates = [float(each) / 100 for each in said.groups()]
            if all(1e-300 < each < 1 for each in rates):
                return rates
    # A false pass of a claim has the rate alpha; so has a false failure of a guard.
    return (demand["beta"], demand["alpha"]) if demand["guard"] else (demand["alpha"], demand["beta"])
