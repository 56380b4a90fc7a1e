"""The fields of the lines of results files, by the tables of docs/results.md, and checked values of each kind.

A key that a file lacks, and null, become the value of that kind that stands for "unknown", so that every other part of
the program can read every key. Keys that are not in the tables stay out.
"""

import datetime
import math
import re
import shlex


class Unexpected(Exception):
    """A value does not follow the tables. The message begins with the keys that lead to it."""


def text_of(value):
    """Returns text that every HTML page can hold: without lone surrogates, and with control characters made visible."""
    if value.isprintable():
        # Nearly all texts; a page of a suite has hundreds of thousands of them.
        return value
    text = value.encode("utf-8", "surrogatepass").decode("utf-8", "replace")
    return "".join(
        chr(0x2400 + ord(c)) if ord(c) < 32 and c not in "\n\t" else "\u2421" if c == "\x7f" else c for c in text
    )


def require_date(environment):
    """Throws Unexpected if `date_utc` of an environment is no time that a calendar has; one without it is let
    through."""
    date = environment.get("date_utc")
    if date is None:
        return
    try:
        if not re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ", date, re.ASCII):
            raise ValueError
        datetime.datetime.strptime(date, "%Y-%m-%dT%H:%M:%SZ")
    except (TypeError, ValueError):
        raise Unexpected(
            f"environment: date_utc: expected a time such as 2026-11-21T10:00:00Z, found {_found(date)}"
        ) from None


def _found(value):
    text = repr(value)
    return text if len(text) <= 40 else text[:40] + "..."


class Text:
    def read(self, value):
        if value is None:
            return ""
        if not isinstance(value, str):
            raise Unexpected(f"expected text, found {_found(value)}")
        return text_of(value)


class Number:
    """A number; with limits, one between them. Without limits, one that is too large for a double is not known."""

    def __init__(self, least=-math.inf, most=math.inf):
        self._least, self._most = least, most

    def read(self, value):
        if value is None:
            return None
        if isinstance(value, bool) or not isinstance(value, (int, float)):
            raise Unexpected(f"expected a number, found {_found(value)}")
        if not self._least <= value <= self._most:
            raise Unexpected(f"expected a number from {self._least:g} to {self._most:g}, found {_found(value)}")
        try:
            # A whole number may have more digits than a double has room for.
            return value if math.isfinite(value) else None
        except OverflowError:
            return None

    def takes_all(self, values):
        """Whether read() returns each of them as it is."""
        if not values:
            return True
        try:
            return (
                set(map(type, values)) <= {int, float}
                and self._least <= min(values)
                and max(values) <= self._most
                and all(map(math.isfinite, values))
            )
        except OverflowError:
            return False


# Pages and trends take logarithms, quotients and products of these figures, which must exist.
_LARGEST = 1e30
_TIME_FIGURE = Number(0, _LARGEST)
_FACTOR = Number(1 / _LARGEST, _LARGEST)
_LOG_RATIO = Number(-math.log(_LARGEST), math.log(_LARGEST))
_RATE = Number(0, 1)


class Flag:
    def read(self, value):
        if value is None:
            return None
        if not isinstance(value, bool):
            raise Unexpected(f"expected true or false, found {_found(value)}")
        return value


class ListOf:
    def __init__(self, of):
        self._of = of

    def read(self, value):
        if value is None:
            return []
        if not isinstance(value, list):
            raise Unexpected(f"expected an array, found {_found(value)}")
        values = []
        for i, each in enumerate(value):
            try:
                if each is None and isinstance(self._of, Object):
                    raise Unexpected("expected an object, found null")
                values.append(self._of.read(each))
            except Unexpected as error:
                raise Unexpected(f"element {i + 1}: {error}") from None
        return values


class Numbers:
    """An array of numbers; those that are not known are left out, since no picture has a place for them."""

    def __init__(self, of):
        self._number, self._of = of, ListOf(of)

    def read(self, value):
        # Samples are nearly all of a large file, and nearly all of them are valid.
        if isinstance(value, list) and self._number.takes_all(value):
            return value
        return [each for each in self._of.read(value) if each is not None]


class Texts:
    """An object of texts, such as `environment`; other values become text, objects of texts as `NAME=value ...`."""

    def read(self, value):
        if value is None:
            return {}
        if not isinstance(value, dict):
            raise Unexpected(f"expected an object, found {_found(value)}")
        return {
            text_of(key): self._text(each) for key, each in value.items() if each is not None and each not in ("", {})
        }

    @staticmethod
    def _text(value):
        if isinstance(value, bool):
            return "yes" if value else "no"
        if isinstance(value, dict):
            return text_of(" ".join(f"{key}={shlex.quote(str(each))}" for key, each in sorted(value.items())))
        return text_of(str(value))


class Object:
    def __init__(self, required=(), absent=None, **fields):
        self._required, self._absent, self._fields = required, absent, fields

    def read(self, value):
        if value is None:
            return self._absent
        if not isinstance(value, dict):
            raise Unexpected(f"expected an object, found {_found(value)}")
        for key in self._required:
            if value.get(key) is None:
                raise Unexpected(f'has no "{key}"')
        result = {}
        try:
            for key, kind in self._fields.items():
                result[key] = kind.read(value.get(key))
        except Unexpected as error:
            raise Unexpected(f"{key}: {error}") from None
        for key in self._required:
            if result[key] is None:
                raise Unexpected(f"{key}: expected a finite number, found {_found(value[key])}")
        return result


_INTERVAL = Object(low=_FACTOR, high=_FACTOR, confidence=Number(), required=("low", "high"))
_TIME_INTERVAL = Object(low_ns=_TIME_FIGURE, high_ns=_TIME_FIGURE, confidence=Number(), required=("low_ns", "high_ns"))
TIMES = "median_ns min_ns q20_ns q80_ns max_ns q99_ns mean_ns".split()


_TIME = Object(
    required=("median_ns",),
    clock_overhead=Object(required=("added_ns",), added_ns=_TIME_FIGURE, error_ns=_TIME_FIGURE),
    interval=_TIME_INTERVAL,
    spread=Number(),
    samples=Number(),
    **{key: _TIME_FIGURE for key in TIMES},
)
_SPEEDUP = Object(
    required=("median",),
    interval=_INTERVAL,
    anytime=Flag(),
    median=_FACTOR,
    **{key: Number() for key in "q20 q80 mean observations ties".split()},
)
_EXPECTATION = Object(
    required=("expectation", "verdict"),
    expectation=Text(),
    verdict=Text(),
    acceptable=Flag(),
    unresolved=Flag(),
    deferred=Flag(),
    message=Text(),
    demanded_speed=Object(
        required=("guard", "limit", "alpha", "beta"),
        guard=Flag(),
        limit=_FACTOR,
        alpha=_RATE,
        beta=_RATE,
        closes_when_undecided=Flag(),
        allowed_undecided=Flag(),
    ),
)
_MODE = Object(required=("name",), name=Text(), time=_TIME, speedup=_SPEEDUP, missing=Text())
_COUNTS = Object(operator_calls=Number(), allocations=Number(), bytes_allocated=Number(), peak_bytes=Number())
_IMPLEMENTATION = Object(
    required=("name", "outcome"),
    name=Text(),
    baseline=Flag(),
    outcome=Text(),
    message=Text(),
    checked=Flag(),
    uncompared=Text(),
    max_abs_error=Number(),
    first_call_ns=_TIME_FIGURE,
    warm_up_iterations=Number(),
    warmed_up=Flag(),
    time=_TIME,
    speedup=_SPEEDUP,
    speedup_on_unseen_values=_SPEEDUP,
    expectations=ListOf(_EXPECTATION),
    modes=ListOf(_MODE),
    device_memory=Object(
        **{key: Number() for key in "peak_bytes reserved_bytes allocations driver_allocations".split()}
    ),
    device_counts=Object(**{key: Number() for key in "kernels launches synchronisations graph_nodes".split()}),
    counters=ListOf(
        Object(
            name=Text(),
            unit=Text(),
            calls=Number(),
            low=Number(),
            high=Number(),
            baseline_low=Number(),
            baseline_high=Number(),
            missing=Text(),
            required=("name",),
        )
    ),
    counts=_COUNTS,
    why_uncounted=Text(),
    energy=Object(
        millijoules=Number(),
        interval=_INTERVAL,
        moves=Number(),
        ratio=Number(),
        ratio_interval=_INTERVAL,
        missing=Text(),
    ),
    instructions=Object(
        low=Number(), high=Number(), ratio_low=Number(), ratio_high=Number(), counter=Text(), required=("low", "high")
    ),
    bytes=Number(),
    flops=Number(),
    share_of_peak=Number(),
    gb_per_s=Number(),
    gflop_per_s=Number(),
    context=Object(
        absent={"rounds_per_cycle": 1, "excess_in_rounds": 1, "objections": []},
        rounds_per_cycle=Number(),
        cycle_ns=Number(),
        alpha=Number(),
        beta=Number(),
        objections=ListOf(Object(required=("severity", "why"), severity=Text(), why=Text(), remedy=Text())),
        excess_in_rounds=Number(),
    ),
    samples_ns=Numbers(_TIME_FIGURE),
    log_ratios=Numbers(_LOG_RATIO),
)


def objection(row, severity):
    """Returns the objection of this severity to a row as text, with its remedy; empty if there is none."""
    for each in row["context"]["objections"]:
        if each["severity"] == severity:
            return f"{each['why']}. {each['remedy']}" if each["remedy"] else each["why"]
    return ""


RESULT = Object(
    required=("name", "implementations"),
    name=Text(),
    iterations=Number(),
    rounds=Number(),
    stop_reason=Text(),
    elapsed_ns=_TIME_FIGURE,
    clock=Text(),
    clock_resolution_ns=Number(),
    device=Text(),
    inputs=Text(),
    confidence=Number(),
    seed=Number(),
    check_seed=Number(),
    audit=Text(),
    gate_number=Number(),
    conditions=Object(
        absent={"disturbances": [], "gpu": None},
        disturbances=ListOf(Text()),
        gpu=Object(
            **{
                key: Number()
                for key in (
                    "readings lowest_clock_mhz highest_clock_mhz hottest_celsius most_power_watts slowed power_limited "
                    "suspect_cycles dropped_cycles paused_ns other_processes others"
                ).split()
            },
            sharing=ListOf(Text()),
        ),
        **{
            key: Number()
            for key in (
                "steal others waiting throttled involuntary_switches interrupted_cycles clock_error_ns suspended_ns "
                "longest_cycle_ns median_cycle_ns shortest_cycle_ns"
            ).split()
        },
    ),
    controls=ListOf(
        Object(
            required=("injected", "speedup"),
            injected=Number(),
            speedup=_SPEEDUP,
            proven_slower=Flag(),
            proven_faster=Flag(),
        )
    ),
    missing_device=Text(),
    lost_device=Text(),
    notes=ListOf(Text()),
    implementations=ListOf(_IMPLEMENTATION),
)

HEADER = Object(
    required=("schema_version",),
    schema_version=Number(),
    pace_version=Text(),
    environment=Texts(),
    options=Texts(),
    configuration=Texts(),
    suite_alpha=Number(),
)

_KERNEL_TIME = Object(required=("median_ns",), median_ns=_TIME_FIGURE, least_ns=_TIME_FIGURE, most_ns=_TIME_FIGURE)

KERNELS = Object(
    required=("call", "kernels"),
    call=Text(),
    device=Text(),
    whole_ns=_TIME_FIGURE,
    kernels_ns=_TIME_FIGURE,
    unlisted_ns=_TIME_FIGURE,
    unlisted_share=Number(),
    copying_ns=Number(),
    gap_ns=Number(),
    explained=Number(),
    peak_bytes_per_s=Number(),
    notes=ListOf(Text()),
    kernels=ListOf(
        Object(
            required=("name",),
            name=Text(),
            symbol=Text(),
            category=Text(),
            share=Number(),
            runs=Number(),
            in_place=_KERNEL_TIME,
            hot=_KERNEL_TIME,
            cold=_KERNEL_TIME,
            bytes=Number(),
            bytes_per_s=Number(),
            why_not_alone=Text(),
        )
    ),
)

WHOLE_CALL = Object(
    required=("benchmark", "seconds_per_call"),
    benchmark=Text(),
    device=Text(),
    seconds_per_call=_TIME_FIGURE,
    times=Number(),
    repeat=Number(),
    peak_gpu_bytes=Number(),
)

_SIDE = ListOf(Object(path=Text(), date_utc=Text(), commit=Text(), hostname=Text(), cut_off=Flag()))
COMPARISON_HEADER = Object(
    required=("comparison_version", "expectation"),
    comparison_version=Number(),
    expectation=Text(),
    by=Text(),
    guard=Flag(),
    limit=Number(),
    alpha=Number(),
    beta=Number(),
    steps=ListOf(Object(old=_SIDE, new=_SIDE)),
    compared=Number(),
    not_acceptable=Number(),
    let_through=Number(),
    exit_code=Number(),
)
COMPARISON_ROW = Object(
    required=("comparison", "implementation", "verdict"),
    step=Number(),
    comparison=Text(),
    implementation=Text(),
    then_ns=_TIME_FIGURE,
    now_ns=_TIME_FIGURE,
    factor=_FACTOR,
    interval=_INTERVAL,
    change_proven=Flag(),
    verdict=Text(),
    acceptable=Flag(),
    unresolved=Flag(),
    message=Text(),
    rounds_needed=Number(),
)
