"""Figures as text with units."""

import math

# Thin space: figures and units do not part at the end of a line.
_SPACE = "\u202f"

_TIMES = ((1e9, "s"), (1e6, "ms"), (1e3, "µs"), (1.0, "ns"))
_BYTES = ((1e12, "TB"), (1e9, "GB"), (1e6, "MB"), (1e3, "kB"), (1.0, "B"))


def significant(value, digits=3):
    """Returns a number of so many significant digits, without an exponent where it is between 1e-4 and 1e6."""
    if value is None or not math.isfinite(value):
        return "–"
    if value == 0:
        return "0"
    size = abs(value)
    if size >= 1e6 or size < 1e-4:
        mantissa, exponent = f"{value:.{digits - 1}e}".split("e")
        return f"{mantissa}e{int(exponent)}"
    rounded = float(f"{value:.{digits - 1}e}")
    decimals = max(0, digits - 1 - math.floor(math.log10(abs(rounded))))
    return f"{rounded:.{decimals}f}"


def whole(value):
    """Returns a whole number with thin spaces between groups of three digits."""
    return "–" if value is None else f"{int(value):,}".replace(",", _SPACE)


def time_unit(nanoseconds):
    """Returns (nanoseconds of the unit, the unit) that suits a time."""
    for size, unit in _TIMES:
        # A time that rounds up to the next unit has that.
        if nanoseconds is not None and nanoseconds >= 0.9995 * size:
            return size, unit
    return 1.0, "ns"


def time(nanoseconds, unit=None):
    """Returns a time with its unit, or in the unit that is given."""
    if nanoseconds is None:
        return "–"
    size, name = unit or time_unit(abs(nanoseconds))
    return significant(nanoseconds / size) + _SPACE + name


def time_interval(interval, unit):
    if interval is None:
        return ""
    return f"[{significant(interval['low_ns'] / unit[0])}, {significant(interval['high_ns'] / unit[0])}]"


def ratio(value):
    return "–" if value is None else significant(value) + "×"


def ratio_interval(interval):
    if interval is None:
        return ""
    return f"[{significant(interval['low'])}, {significant(interval['high'])}]"


def percent(share):
    return "–" if share is None else significant(100 * share, 2 if abs(share) < 0.1 else 3) + _SPACE + "%"


def bytes_(count):
    if count is None:
        return "–"
    for size, unit in _BYTES:
        if count >= 0.9995 * size:
            return significant(count / size) + _SPACE + unit
    return f"{int(count)}{_SPACE}B"


def count(number, noun):
    """Returns such as `1 comparison` and `3 comparisons`."""
    return f"{whole(number)} {noun}{'' if number == 1 else 's'}"
