"""Comparisons whose names differ by sizes alone, such as addcmul/Float/16x64 and addcmul/Float/16x1024."""

import dataclasses
import math
import re

_NUMBER = re.compile(r"\d+")


@dataclasses.dataclass
class Sweep:
    """Speed-ups of one implementation by one or two sizes."""

    title: str
    implementation: str
    rows: list  # sizes; [""] where there is one axis
    columns: list  # sizes
    cells: dict  # (row, column): (speed-up, worst verdict, low, high, name of the comparison)
    crossings: list  # sentences


def _sizes(name):
    """The name with its sizes left out, and the sizes: parts between slashes such as 16x64, n128 and rows=16."""
    sizes = []

    def part(text):
        if re.fullmatch(r"([A-Za-z]|[A-Za-z_]+[=:])?\d+(x\d+)*", text):
            sizes.extend(int(each) for each in _NUMBER.findall(text))
            return _NUMBER.sub("#", text)
        return text

    return "/".join(part(each) for each in name.split("/")), sizes


def find(results, worst_verdict):
    """Returns the sweeps among results, at most two axes each; further sizes that differ become sweeps of their own."""
    families = {}
    for result in results:
        shape, sizes = _sizes(result["name"])
        if sizes:
            families.setdefault((shape, len(sizes)), []).append((sizes, result))
    sweeps = []
    for (shape, count), members in families.items():
        if len(members) < 3:
            continue
        distinct = [len({sizes[i] for sizes, _ in members}) for i in range(count)]
        axes = sorted((i for i in range(count) if distinct[i] > 1), key=lambda i: -distinct[i])[:2]
        if not axes:
            continue
        axes.sort()
        groups = {}
        for sizes, result in members:
            rest = tuple(size for i, size in enumerate(sizes) if i not in axes)
            groups.setdefault(rest, []).append((sizes, result))
        for rest, group in groups.items():
            sweeps += _of_group(shape, rest, axes, group, worst_verdict)
    return sweeps


def _of_group(shape, rest, axes, group, worst_verdict):
    names = []
    for _, result in group:
        for row in result["implementations"]:
            if row["speedup"] and row["name"] not in names:
                names.append(row["name"])
    title = shape
    letters = iter("nmk")
    fixed = iter(rest)
    # A size that differs has a letter, and a size that does not has its number.
    places = iter(range(shape.count("#")))
    title = re.sub("#", lambda _: next(letters) if next(places) in axes else str(next(fixed)), title)
    row_axis, column_axis = (axes[0], axes[1]) if len(axes) == 2 else (None, axes[0])
    rows = sorted({sizes[row_axis] for sizes, _ in group}) if row_axis is not None else [""]
    columns = sorted({sizes[column_axis] for sizes, _ in group})
    if len(group) < 3 or len(columns) * len(rows) > 400:
        return []
    sweeps = []
    for name in names:
        cells = {}
        for sizes, result in group:
            for row in result["implementations"]:
                if row["name"] != name or not row["speedup"]:
                    continue
                interval = row["speedup"]["interval"] or {"low": None, "high": None}
                at = (sizes[row_axis] if row_axis is not None else "", sizes[column_axis])
                cells[at] = (
                    row["speedup"]["median"],
                    worst_verdict(row),
                    interval["low"],
                    interval["high"],
                    result["name"],
                )
        sweeps.append(Sweep(title, name, rows, columns, cells, _crossings(name, rows, columns, cells)))
    return sweeps


def _crossings(name, rows, columns, cells):
    """Where the speed-up passes 1 between two sizes, by a straight line between their logarithms."""
    found = []
    for row in rows:
        known = [(column, cells[row, column][0]) for column in columns if (row, column) in cells]
        known = [(column, value) for column, value in known if value and value > 0 and column > 0]
        at = f" at n = {row}" if row != "" else ""
        # At sizes where both sides are equally fast, neither side is the faster one.
        sides = [(size, value) for size, value in known if value != 1]
        for (left, before), (right, after) in zip(sides, sides[1:]):
            if (before > 1) == (after > 1):
                continue
            way = "faster" if after > 1 else "slower"
            equal = [size for size, value in known if left < size < right]
            if equal:
                where = f"at {equal[0]}" if len(equal) == 1 else f"from {equal[0]} to {equal[-1]}"
            else:
                share = math.log(before) / (math.log(before) - math.log(after))
                size = math.exp(math.log(left) + share * (math.log(right) - math.log(left)))
                where = f"near {size:.3g}"
            found.append(f"{name} becomes {way} {where}{at} (between {left} and {right})")
    return found
