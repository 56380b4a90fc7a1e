"""Trends of one implementation over the runs, and the points where they changed."""

import dataclasses
import fnmatch
import itertools
import math
import warnings

import numpy
import scipy.stats
from otava.series import AnalysisOptions, Metric, Series

# Points that a change needs on each side. With fewer, one odd run would be a change.
LEAST_POINTS = 3

# Runs that lie further than this from all others, and further than those lie apart, may be the first after a change.
_NOTABLE = 0.05


@dataclasses.dataclass
class Trend:
    """One figure of one implementation, oldest run first.

    `quantity` is "speedup" (baseline time / own time in the same run) or "time" (ns). Each point is a dict with the
    columns of the view `trend`, `value` and `part`: values of another part are not comparable.
    """

    comparison: str
    implementation: str
    mode: str
    quantity: str
    points: list

    @property
    def is_watched(self):
        """Whether changes are looked for. Where a baseline changes, all ratios do. Its own times on one machine
        tell whether that is so, and the latest run tells which implementation it is."""
        return self.quantity == "speedup" or bool(self.points[-1]["is_baseline"])

    def parts(self):
        return [list(points) for _, points in itertools.groupby(self.points, key=lambda point: point["part"])]


@dataclasses.dataclass
class Change:
    """A point where a trend changed. `factor` is the speed after it over the speed before it, below 1 for a loss, and
    `low` and `high` are its 95 % interval."""

    trend: Trend
    factor: float
    low: float
    high: float
    # Geometric means of the values of the stretch before and of that after.
    before: float
    after: float
    # The last run before and the first run after: points of the trend.
    last_before: dict
    first_after: dict

    @property
    def is_regression(self):
        return self.factor < 1


def names(connection, pattern):
    """The names of comparisons that match the glob `pattern`, in order; `*` stands for everything, `/` included."""
    # Walks the index of names from one to the next: there may be a million comparisons of a dozen names.
    found = connection.execute(
        "with recursive name(value) as (select min(name) from comparison union all "
        "select (select min(name) from comparison where name > value) from name where value is not null) "
        "select value from name where value is not null"
    )
    return [name for (name,) in found if fnmatch.fnmatchcase(name, pattern)]


# By the index of names, so that the time depends on the runs of one comparison and not on all.
TREND_QUERY = "select * from trend where comparison = ? order by date_utc, run_id"


def trends_of(connection, comparison):
    """The trends of one comparison: of speed-ups for candidates, of times for all implementations."""
    rows = {}
    for row in connection.execute(TREND_QUERY, [comparison]):
        rows.setdefault((row["implementation"], row["mode"]), []).append(dict(row))
    found = []
    for (implementation, mode), points in rows.items():
        measured = [point for point in points if point["outcome"] == "measured"]
        ratios = [point for point in measured if point["speedup"]]
        times = [point for point in measured if point["median_ns"]]
        # A ratio survives another machine, but not another question. A time survives neither.
        for quantity, column, chosen, keys in (
            ("speedup", "speedup", ratios, ("inputs", "clock", "baseline")),
            ("time", "median_ns", times, ("inputs", "clock", "device", "machine_id")),
        ):
            if chosen:
                found.append(Trend(comparison, implementation, mode, quantity, _parted(chosen, column, keys)))
    return found


def _parted(points, column, keys):
    # Numbered by the facts that they depend on and not by time: machines may take turns.
    numbers = {}
    return [
        {
            **point,
            "value": point[column],
            "part": numbers.setdefault(tuple(point[key] for key in keys), len(numbers) + 1),
        }
        for point in points
    ]


def changes_of(trend, most_p=0.001, least=0.0):
    """The changes of a trend within each of its parts, in the order of time.

    `most_p`: significance that Apache Otava's detector (E-Divisive with a t-test) needs for each. `least`: changes of a
    smaller share are left out (0.01 is 1 %).
    """
    parts = {}
    for point in trend.points:
        parts.setdefault(point["part"], []).append(point)
    changes = []
    for points in parts.values():
        changes += _changes_of_part(trend, points, most_p, least)
    return sorted(changes, key=lambda change: change.first_after["date_utc"])


def is_open(trend, changes):
    """Whether there are too few runs to tell that a watched trend is steady. The part of its latest run may be
    too short for any change. Or its latest runs differ from the earlier ones and are too few for a change of their own.
    """
    points = [point for point in trend.points if point["part"] == trend.points[-1]["part"]]
    if len(points) < 2 * LEAST_POINTS:
        return True
    begins = {change.first_after["run_id"] for change in changes if change.trend is trend}
    start = max((i for i, point in enumerate(points) if point["run_id"] in begins), default=0)
    values = [math.log(point["value"]) for point in points[start:]]
    # Two runs on the way to a level, and two on it, are no change yet.
    for count in range(1, 2 * LEAST_POINTS - 1):
        before, latest = values[:-count], values[-count:]
        if len(before) < LEAST_POINTS:
            continue
        margin = max(max(before) - min(before), _NOTABLE)
        if min(latest) > max(before) + margin or max(latest) < min(before) - margin:
            return True
    return False


def _changes_of_part(trend, points, most_p, least):
    if len(points) < 2 * LEAST_POINTS:
        return []
    # Speeds, so that more is better in both quantities.
    sign = 1 if trend.quantity == "speedup" else -1
    values = [sign * math.log(point["value"]) for point in points]
    options = AnalysisOptions()
    options.max_pvalue = most_p
    series = Series(
        test_name=trend.comparison,
        branch=None,
        time=list(range(len(values))),
        metrics={"value": Metric()},
        data={"value": list(values)},
        attributes={},
    )
    with warnings.catch_warnings(), numpy.errstate(all="ignore"):
        # Values that agree to the last bit have a deviation of 0, and the t-test warns of it.
        warnings.simplefilter("ignore")
        found = series.analyze(options).change_points["value"]
    ends = [0, *(point.index for point in found), len(values)]
    # Fewer runs between two points are on the way from one level to the next, or runs that went wrong.
    levels = [(begin, end) for begin, end in itertools.pairwise(ends) if end - begin >= LEAST_POINTS]
    changes = []
    for (begin, last), (first, end) in itertools.pairwise(levels):
        before, after = values[begin:last], values[first:end]
        change, low, high, p = _difference(before, after)
        # The detector has compared neighbours only.
        if abs(math.expm1(change)) < least or (first > last and p > most_p):
            continue
        changes.append(
            Change(
                trend,
                math.exp(change),
                math.exp(low),
                math.exp(high),
                math.exp(sign * numpy.mean(before)),
                math.exp(sign * numpy.mean(after)),
                points[last - 1],
                points[first],
            )
        )
    return changes


def _difference(before, after):
    """The difference of two means, its 95 % interval, and its p-value, by Welch's t-test."""
    change = float(numpy.mean(after) - numpy.mean(before))
    squares = [numpy.var(side, ddof=1) / len(side) for side in (before, after)]
    error = math.sqrt(sum(squares))
    if error == 0:
        return change, change, change, 0.0 if change else 1.0
    freedom = sum(squares) ** 2 / sum(
        square**2 / (len(side) - 1) for square, side in zip(squares, (before, after), strict=True)
    )
    half = float(scipy.stats.t.ppf(0.975, freedom)) * error
    p = 2 * float(scipy.stats.t.sf(abs(change) / error, freedom))
    return change, change - half, change + half, p


def ranked(changes):
    """Regressions before improvements, each from the largest to the smallest."""
    return sorted(changes, key=lambda change: (not change.is_regression, -abs(math.log(change.factor))))
