"""Small pictures that need no script and no style sheet.

Their colours are attributes, which the page's style replaces where it is allowed.
"""

import math

from markupsafe import Markup, escape

from report import figures

_COLOUR = {"passed": "#1a7f37", "failed": "#c0271f", "undecided": "#9a6700", "invalid": "#7a3db8", "": "#3567b8"}


class Axis:
    """Maps values to places in a picture, by their logarithms or as they are."""

    def __init__(self, low, high, width, logarithmic=False, margin=8):
        self._place = math.log if logarithmic else float
        self._low, self._high = self._place(low), self._place(high)
        if not self._high > self._low:
            self._low, self._high = self._low - 0.5, self._high + 0.5
        self._width, self._margin = width, margin

    def __call__(self, value):
        share = (self._place(value) - self._low) / (self._high - self._low)
        return round(self._margin + min(max(share, 0.0), 1.0) * (self._width - 2 * self._margin), 1)

    def holds(self, value):
        return self._low <= self._place(value) <= self._high


def _svg(width, height, label, body):
    return Markup(
        f'<svg class="picture" width="{width}" height="{height}" viewBox="0 0 {width} {height}" role="img">'
        f"<title>{escape(label)}</title>{body}</svg>"
    )


def _element(tag, text=None, **attributes):
    """An element as text; an underscore at the end of a name, or within it, is left out or stands for a hyphen."""
    words = "".join(f' {key.rstrip("_").replace("_", "-")}="{escape(value)}"' for key, value in attributes.items())
    return f"<{tag}{words}/>" if text is None else f"<{tag}{words}>{escape(text)}</{tag}>"


def _line(x1, y1, x2, y2, colour, css, width=1, **more):
    return _element("line", class_=css, x1=x1, y1=y1, x2=x2, y2=y2, stroke=colour, stroke_width=width, **more)


def speedup_axis(speedups, limits, width):
    """An axis for all speed-ups of a comparison, with 1 and the limits on it."""
    values = [1.0, *limits]
    for each in speedups:
        values.append(each["median"])
        if each["interval"]:
            # An interval that says next to nothing must not squeeze the others.
            values += [
                max(each["interval"]["low"], each["median"] / 8),
                min(each["interval"]["high"], each["median"] * 8),
            ]
    values = [each for each in values if each and each > 0]
    low, high = min(values), max(values)
    room = max((high / low) ** 0.06, 1.02)
    return Axis(low / room, high * room, width, logarithmic=True)


def list_axis(speedups, width):
    """An axis for the speed-ups of all comparisons, which lies about 1 and may leave out single ones."""
    far = sorted(abs(math.log(each["median"])) for each in speedups) or [0.0]
    most = max(far[int(0.95 * (len(far) - 1))] * 1.15, math.log(1.1))
    return Axis(math.exp(-most), math.exp(most), width, logarithmic=True)


def speedup(summary, axis, limits, verdict, width, height=22):
    """The interval of a speed-up, with a line at 1 and dashed ones at the limits."""
    middle = height / 2
    body = _line(axis(1), 2, axis(1), height - 2, "#808080", "unit")
    for limit in limits:
        if not axis.holds(limit):
            continue
        body += _line(axis(limit), 1, axis(limit), height - 1, "#808080", "limit", stroke_dasharray="2 2")
    label = f"speed-up {figures.ratio(summary['median'])} {figures.ratio_interval(summary['interval'])}"
    colour, css = _COLOUR.get(verdict, _COLOUR[""]), "mark " + (verdict or "none")
    if summary["interval"] and summary["interval"]["low"] > 0:
        low, high = summary["interval"]["low"], summary["interval"]["high"]
        body += _line(axis(low), middle, axis(high), middle, colour, css, 3)
        for end in (low, high):
            x = axis(end)
            if axis.holds(end):
                body += _line(x, middle - 4, x, middle + 4, colour, css, 1.5)
            else:
                way = 4 if end == high else -4
                points = f"M{x - way} {middle - 4}L{x} {middle}L{x - way} {middle + 4}"
                body += _element("path", class_=css, d=points, fill="none", stroke=colour, stroke_width=1.5)
    if summary["median"] and summary["median"] > 0:
        dot = f"dot {verdict or 'none'}"
        body += _element("circle", class_=dot, cx=axis(summary["median"]), cy=middle, r=4, fill=colour)
    if limits:
        label += "; limit " + ", ".join(figures.ratio(each) for each in limits)
    return _svg(width, height, label, body)


def time_axis(times, width):
    """An axis for all times of a comparison, from 0 on, without single outliers."""
    values = []
    for time in times:
        values += [time[key] for key in ("median_ns", "q80_ns") if time[key] is not None]
        if time["interval"]:
            values.append(min(time["interval"]["high_ns"], 4 * time["median_ns"]))
    return Axis(0, max([*values, 1e-9]) * 1.05, width, margin=2)


def time(summary, axis, colour, css, width, height=22):
    """Bar to the median, box from the 20th to the 80th percentile, and the interval of the median."""
    middle, x = height / 2, axis(summary["median_ns"])
    start = axis(0)
    wide = f"{max(x - start, 0.5):.1f}"
    body = _element(
        "rect", class_="bar", x=start, y=middle - 5, width=wide, height=10, fill=colour, fill_opacity=0.35
    )
    if summary["q20_ns"] is not None and summary["q80_ns"] is not None:
        body += _line(axis(summary["q20_ns"]), middle, axis(summary["q80_ns"]), middle, colour, "box " + css, 1.5)
    if summary["interval"]:
        low, high = axis(summary["interval"]["low_ns"]), axis(summary["interval"]["high_ns"])
        wide = f"{max(high - low, 1):.1f}"
        body += _element("rect", class_="interval", x=low, y=middle - 4, width=wide, height=8, fill=colour)
    body += _line(x, middle - 8, x, middle + 8, colour, "median " + css, 2)
    unit = figures.time_unit(summary["median_ns"])
    label = f"median {figures.time(summary['median_ns'], unit)} {figures.time_interval(summary['interval'], unit)}"
    return _svg(width, height, label, body)


def _mix(share):
    """Colour of a speed-up: blue where faster, orange where slower; `share` is from -1 to 1."""
    end = (33, 102, 172) if share > 0 else (202, 84, 12)
    weight = min(abs(share), 1.0)
    return tuple(round(247 + (each - 247) * weight) for each in end)


def _text(text, x, y, css="axis", fill="#444444", **more):
    return _element("text", text, class_=css, x=x, y=y, font_size=12, fill=fill, **more)


def heat_map(columns, rows, cells, column_title, row_title):
    """A grid of speed-ups by two sizes. `cells` maps (row, column) to (speed-up, verdict); others stay empty."""
    left, top, wide, high = 74, 46, 66, 30
    width, height = left + wide * len(columns) + 8, top + high * len(rows) + 8
    most = max([abs(math.log(each)) for each, _ in cells.values() if each and each > 0] + [math.log(1.25)])
    body = _text(column_title, left, 13)
    if row_title:
        body += _text(row_title, 2, top - 8)
    for i, column in enumerate(columns):
        x = left + wide * (i + 0.5)
        body += _text(column, x, top - 8, text_anchor="middle")
    for j, row in enumerate(rows):
        y = top + high * (j + 0.5) + 4
        body += _text(row, left - 8, y, text_anchor="end")
        for i, column in enumerate(columns):
            value, verdict = cells.get((row, column), (None, ""))
            x, cell_y = left + wide * i, top + high * j
            place = {"x": x, "y": cell_y, "width": wide - 2, "height": high - 2, "rx": 2}
            if value is None or not value > 0:
                body += _element("rect", **place, fill="none", stroke="#a0a0a0")
                continue
            colour = _mix(math.log(value) / most)
            light = 0.299 * colour[0] + 0.587 * colour[1] + 0.114 * colour[2]
            text = "#101010" if light > 140 else "#ffffff"
            mark = " ✗" if verdict == "failed" else " ?" if verdict in ("undecided", "invalid") else ""
            body += _element("rect", **place, fill="#" + bytes(colour).hex())
            body += _text(figures.ratio(value) + mark, x + wide / 2 - 1, y, css="", fill=text, text_anchor="middle")
    return _svg(width, height, f"speed-ups by {column_title}" + (f" and {row_title}" if row_title else ""), body)


_KINDS = ("#3567b8", "#c9620c", "#14806a", "#a4508b", "#4f8fc4", "#8c6d1f", "#6a6a6a")


def kernels_bar(parts, width=920, height=46):
    """A bar of the time of a call: a part for each kernel, and one for the time between them.

    `parts` are (name, share of the call, place of its kind), in the order of the kernels.
    """
    total = sum(share for _, share, _ in parts) or 1.0
    body, x = "", 0.0
    for name, share, kind in parts:
        wide = width * share / total
        colour = _KINDS[kind % len(_KINDS)] if kind is not None else "#b8b8b8"
        label = f"{name}: {figures.percent(share)}"
        bar = _element(
            "rect", x=f"{x:.2f}", y=2, width=f"{max(wide - 1, 0.4):.2f}", height=height - 4, rx=2, fill=colour
        )
        body += f"<g><title>{escape(label)}</title>{bar}"
        room = int((wide - 10) / 7.2)
        if room >= 3:
            text = name if len(name) <= room else name[: room - 1] + "…"
            ink = "#101010" if kind is None else "#ffffff"
            body += _text(text, f"{x + 5:.2f}", height / 2 + 4, css="", fill=ink)
        body += "</g>"
        x += wide
    return _svg(
        width, height, "shares of the call: " + ", ".join(f"{n} {figures.percent(s)}" for n, s, _ in parts[:20]), body
    )


def kind_colour(kind):
    return _KINDS[kind % len(_KINDS)]


def share_bar(share, width=110, height=14):
    """The share of the peak that is reached; the part beyond it ends at the edge."""
    wide = min(max(share, 0.0), 1.0) * (width - 2)
    body = (
        f'<rect class="frame" x="0.5" y="0.5" width="{width - 1}" height="{height - 1}" fill="none" stroke="#a0a0a0"/>'
        f'<rect class="bar" x="1" y="1" width="{wide:.1f}" height="{height - 2}" fill="#3567b8"/>'
    )
    return _svg(width, height, f"{figures.percent(share)} of the peak", body)
