"""Result: the findings of a comparison, as plain values, tables and files."""

from __future__ import annotations

import html
import json
import os
import platform
import shutil
import sys
from typing import Any

from pace._native import native


class Row:
    """Figures and verdicts of one implementation. Times are in seconds; a figure that does not exist is None."""

    def __init__(self, made: Any, exception: BaseException | None):
        self._made = made
        #: The exception that the implementation raised last, with its traceback; None: none.
        self.exception = exception

    name = property(lambda self: self._made.name, doc="name of the implementation")
    is_baseline = property(lambda self: self._made.is_baseline)
    outcome = property(lambda self: self._made.outcome, doc='"measured", "wrong", "threw", "refused", ...')
    message = property(lambda self: self._made.message, doc="why it was not measured; else empty")
    judgements = property(lambda self: self._made.judgements, doc="verdicts on the expectations")
    acceptable = property(lambda self: self._made.acceptable, doc="whether it was measured and no gate is closed")
    first_call = property(lambda self: self._made.first_call, doc="seconds of the first call, which may compile")
    samples = property(lambda self: self._made.samples, doc="seconds of a call, in each round")
    time = property(lambda self: self._made.time, doc="median seconds of a call, without what the clock adds")
    clock_overhead = property(
        lambda self: self._made.clock_overhead,
        doc="seconds that the clock adds to each call, and their uncertainty; samples include them; None: nothing")
    speedup = property(lambda self: self._made.speedup, doc="median speed-up over the baseline")
    interval = property(lambda self: self._made.interval, doc="confidence interval of the speed-up: (low, high)")

    def __repr__(self) -> str:
        figure = f"{self.time * 1e6:.4g} us" if self.time is not None else self.outcome
        return f"<{self.name}: {figure}>" if self.speedup is None else f"<{self.name}: {figure}, {self.speedup:.4g}x>"


class Result:
    """Measurements of one comparison: `result["mine"].speedup`."""

    def __init__(self, made: Any, exceptions: dict[str, BaseException], settings: Any):
        self._made, self._settings = made, settings
        self.rows = [Row(each, exceptions.get(each.name)) for each in made.implementations]
        self.phases = [Result(each, exceptions, settings) for each in made.phases]

    name = property(lambda self: self._made.name, doc="name of the comparison")
    phase = property(lambda self: self._made.phase, doc='phase of the iterations, such as "backward"; empty: all')
    inputs = property(lambda self: self._made.inputs, doc="types and sizes of the arguments")
    clock = property(lambda self: self._made.clock, doc='name of the clock, such as "wall" or "graph"')
    rounds = property(lambda self: self._made.rounds, doc="number of timed rounds")
    notes = property(lambda self: self._made.notes, doc="remarks on the figures, in full sentences")

    def __getitem__(self, implementation: str) -> Row:
        for row in self.rows:
            if row.name == implementation:
                return row
        known = ", ".join(row.name for row in self.rows)
        raise KeyError(f"result '{self.name}' has no implementation '{implementation}'; it has: {known}")

    def in_phase(self, phase: str) -> Result:
        """The result of a phase, such as "backward" of training steps. Raises KeyError, with those that there are."""
        for each in self.phases:
            if each.phase == phase:
                return each
        known = ", ".join(each.phase for each in self.phases) or "none"
        raise KeyError(f"result '{self.name}' has no phase '{phase}'; it has: {known}")

    def as_expected(self) -> bool:
        """Whether every implementation is correct, and no verdict closes a gate."""
        return self._made.as_expected()[0]

    def correct(self) -> bool:
        """Whether every implementation ran with the baseline's outputs."""
        return self._made.correct()[0]

    @property
    def message(self) -> str:
        """The expectations that are not met, with figures, reasons and remedies."""
        return f"{self.name}: {self._made.as_expected()[1].strip()}"

    def table(self, width: int | None = None) -> str:
        """A row for each implementation, with messages below."""
        return self._made.table(True, width or shutil.get_terminal_size((120, 24)).columns)

    def exit_code(self) -> int:
        """0 if all is as expected, 42 if not, 43 if a guard was let through undecided, 4 if nothing was measured."""
        return self._made.exit_code()[0]

    def to_dict(self) -> dict[str, Any]:
        """All figures, with the keys of results files, and `phases`: the same of each phase."""
        return {**json.loads(self._made.to_json()), "phases": [each.to_dict() for each in self.phases]}

    def to_pandas(self):
        """A DataFrame with a row for each implementation, and for each in every phase."""
        import pandas

        return pandas.DataFrame([{
            "comparison": of.name, "inputs": of.inputs, "implementation": row.name, "outcome": row.outcome,
            "seconds": row.time, "speedup": row.speedup,
            "speedup_low": row.interval[0] if row.interval else None,
            "speedup_high": row.interval[1] if row.interval else None,
            "verdict": ", ".join(each.verdict for each in row.judgements), "message": row.message,
        } for of in (self, *self.phases) for row in of.rows])

    def __str__(self) -> str:
        return self.table()

    def __repr__(self) -> str:
        return f"<Result '{self.name}': {', '.join(repr(row) for row in self.rows)}>"

    def _repr_html_(self) -> str:
        return f"{_picture(self.rows)}<pre>{html.escape(self.table(120))}</pre>"


def write_results(path: str | os.PathLike, *results: Result) -> None:
    """Writes results as a file that pace's report, history and compare_results read. Its first line has the options
    if all results have the same, and the numbers of threads. Raises pace.Error."""
    native.write_results(os.fspath(path), [(each._made, each._settings) for each in results], sys.orig_argv,
                         platform.python_version())


def _picture(rows: list[Row]) -> str:
    """Intervals of the speed-ups beside 1x, as SVG."""
    shown = [row for row in rows if row.speedup is not None]
    if not shown:
        return ""
    ends = [1.0] + [end for row in shown for end in (row.interval or (row.speedup, row.speedup))]
    low, high = min(ends) * 0.97, max(ends) * 1.03
    left, width, height = 160, 420, 24

    def x(value: float) -> float:
        return left + width * (value - low) / (high - low)

    lines = [f'<line x1="{x(1):.1f}" x2="{x(1):.1f}" y1="0" y2="{height * len(shown)}" stroke="#888"/>']
    for number, row in enumerate(shown):
        y = height * (number + 0.5)
        begin, end = row.interval or (row.speedup, row.speedup)
        lines.append(f'<text x="4" y="{y + 4}" fill="currentColor">{html.escape(row.name[:20])}</text>'
                     f'<line x1="{x(begin):.1f}" x2="{x(end):.1f}" y1="{y}" y2="{y}" stroke="#06c" stroke-width="3"/>'
                     f'<circle cx="{x(row.speedup):.1f}" cy="{y}" r="4" fill="#06c"/>'
                     f'<text x="{left + width + 8}" y="{y + 4}" fill="currentColor">{row.speedup:.3g}x</text>')
    return (f'<svg width="{left + width + 80}" height="{height * len(shown)}" font-family="sans-serif" '
            f'font-size="12">{"".join(lines)}</svg>')
