"""Files of results with round figures, made up for tests."""

import datetime
import json
import os

MACHINE = {
    "cpu": "as ever",
    "cores": 8,
    "kernel": "as ever",
    "compiler": "as ever",
    "optimized": True,
    "libtorch": "2.11.0",
}


def header(day=0, **environment):
    date = (datetime.datetime(2026, 1, 1) + datetime.timedelta(days=day)).strftime("%Y-%m-%dT%H:%M:%SZ")
    known = {
        "date_utc": date,
        "hostname": "host",
        "command_line": "bench --json a.json",
        "commit": f"{day:04x}aaaa",
        **MACHINE,
    }
    return {
        "schema_version": 3,
        "pace_version": "0.2.0",
        "environment": {**known, **environment},
        "configuration": {},
        "options": {"alpha": 0.001},
    }


def time(median):
    return {
        "median_ns": median,
        "interval": {"low_ns": 0.99 * median, "high_ns": 1.01 * median, "confidence": 0.95},
        "min_ns": 0.5 * median,
        "q20_ns": 0.9 * median,
        "q80_ns": 1.1 * median,
        "q99_ns": 1.5 * median,
        "max_ns": 2 * median,
        "mean_ns": 1.05 * median,
        "spread": 0.02,
        "samples": 16,
    }


def speedup(median):
    return {
        "median": median,
        "interval": {"low": 0.99 * median, "high": 1.01 * median, "confidence": 0.95},
        "q20": 0.98 * median,
        "q80": 1.02 * median,
        "mean": median,
        "observations": 8,
        "ties": 1,
        "anytime": True,
    }


def row(name, median, baseline=None, **more):
    """A row that was measured; without the median time of a `baseline` it is the baseline itself."""
    return {
        "name": name,
        "baseline": baseline is None,
        "outcome": "measured",
        "checked": True,
        "time": time(median),
        "speedup": None if baseline is None else speedup(baseline / median),
        "samples_ns": [median] * 16,
        "log_ratios": [],
        **more,
    }


def result(name="case", eager=1000.0, fused=500.0, **more):
    return {
        "name": name,
        "iterations": 10,
        "rounds": 16,
        "stop_reason": "budget",
        "elapsed_ns": 1e9,
        "clock": "wall",
        "inputs": "Float[8]",
        "seed": 2**64 - 1,
        "implementations": [row("eager", eager), row("fused", fused, eager)],
        **more,
    }


def lines(*values):
    return "".join(json.dumps(value) + "\n" for value in values)


def write(folder, name, *values):
    """Writes values as JSON Lines, or a text as it is. Returns the path."""
    path = os.path.join(folder, name)
    text = values[0] if isinstance(values[0], str) else lines(*values)
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)
    return path
