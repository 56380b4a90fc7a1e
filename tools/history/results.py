"""Files of results, read line by line into the values that the history keeps: summaries, without single samples."""

import dataclasses
import hashlib
import json
import os

from report import schema
from report.input import open_input
from report.read import LONGEST_LINE, SCHEMA_VERSION

_EXPECTED = "expected a file that --json or --save-baseline wrote"

# Verdicts from the best to the worst, as the column `verdict` of pace's CSV has the worst.
_VERDICTS = ["passed", "undecided", "invalid", "failed"]

# The largest whole number of SQLite.
_MOST = 2**63 - 1


class BadFile(Exception):
    """The message names the file and the line, the finding and the expectation."""


@dataclasses.dataclass
class ResultsFile:
    """The measurements of one process."""

    path: str
    header: dict
    comparisons: list
    # Hashes of the whole lines: of all together, of the first, and of each other.
    content: str
    first: str
    lines: list
    # A sentence about a last line that was cut off, or "".
    note: str


def _constant(name):
    raise ValueError(f"{name} is no value of JSON")


def _parse(line, kind):
    """Returns the object of a line as `kind` reads it. Throws ValueError or schema.Unexpected."""
    try:
        value = json.loads(line, parse_constant=_constant)
    except RecursionError:
        raise ValueError("its values are nested too deeply") from None
    if not isinstance(value, dict):
        raise schema.Unexpected("expected an object")
    return kind.read(value)


def read(path, longest=LONGEST_LINE, copy=None):
    """Returns a ResultsFile. Throws BadFile; no more than one line, of at most `longest` bytes, is in memory. The
    binary file `copy` gets all whole lines: a pipe can be read but once."""
    try:
        with open_input(path) as file:
            return _read(path, file, longest, copy)
    except OSError as error:
        raise BadFile(f"{path}: cannot be read: {error.strerror or error}; {_EXPECTED}") from None


def _read(path, file, longest, copy):
    header, comparisons, hashes, note = None, [], [], ""
    content = hashlib.sha256()
    number = 0
    while line := file.readline(longest + 1):
        number += 1
        if len(line) > longest:
            size = os.fstat(file.fileno()).st_size
            # A pipe has none.
            whole = f" (the file has {size})" if size else ""
            raise BadFile(f"{path}:{number}: is longer than {longest} bytes{whole}; {_EXPECTED}")
        if not line.endswith(b"\n"):
            note = f"{path}:{number}: the last line was cut off, as by a run that was ended; its comparison is left out"
            break
        if copy:
            copy.write(line)
        content.update(line)
        hashes.append(hashlib.sha256(line).hexdigest())
        try:
            if number == 1:
                header = _header(line)
            else:
                comparisons.append(_comparison(_parse(line, schema.RESULT)))
        except (ValueError, schema.Unexpected) as error:
            what = "is no results file" if number == 1 else "is no result"
            raise BadFile(f"{path}:{number}: {what}: {error}; {_EXPECTED}") from None
    if header is None:
        raise BadFile(f"{path}: holds no results: it is empty, or was cut off in its first line; {_EXPECTED}")
    if not comparisons:
        raise BadFile(f"{path}: holds no results: it has no whole line after its first one; {_EXPECTED}")
    return ResultsFile(path, header, comparisons, content.hexdigest(), hashes[0], hashes[1:], note)


class _Raw:
    """The environment and the options as they are in the file; schema.HEADER makes them texts for a page."""

    def read(self, value):
        if value is not None and not isinstance(value, dict):
            raise schema.Unexpected("expected an object")
        return value or {}


_HEADER = schema.Object(
    required=("schema_version", "environment"),
    schema_version=schema.Number(),
    pace_version=schema.Text(),
    environment=_Raw(),
    options=_Raw(),
    configuration=_Raw(),
    suite_alpha=schema.Number(),
)


def _header(line):
    header = _parse(line, _HEADER)
    if header["schema_version"] != SCHEMA_VERSION:
        raise ValueError(
            f"its schema_version is {header['schema_version']} (of pace {header['pace_version'] or 'unknown'}); "
            f"this program reads version {SCHEMA_VERSION}. try: measure again with this version of pace"
        )
    if header["environment"].get("date_utc") is None:
        raise ValueError('environment: has no "date_utc"')
    schema.require_date(header["environment"])
    return header


def _whole(value, key):
    if value is None:
        return None
    if value != int(value) or abs(value) > _MOST:
        raise ValueError(f"{key}: expected a whole number of 64 bits, found {value}")
    return int(value)


def _positive(value, key):
    if value is not None and not value > 0:
        raise ValueError(f"{key}: expected a number above 0, found {value}")
    return value


def _summary(mode, time, speedup):
    """The columns of the table `summary`, without its row."""
    time, speedup = time or {}, speedup or {}
    interval, factors = time.get("interval") or {}, speedup.get("interval") or {}
    return {
        "mode": mode,
        "samples": _whole(time.get("samples"), "samples"),
        "median_ns": _positive(time.get("median_ns"), "median_ns"),
        "interval_low_ns": interval.get("low_ns"),
        "interval_high_ns": interval.get("high_ns"),
        **{key: time.get(key) for key in ("min_ns", "q20_ns", "q80_ns", "q99_ns", "max_ns", "mean_ns", "spread")},
        "speedup": _positive(speedup.get("median"), "speedup"),
        "speedup_low": factors.get("low"),
        "speedup_high": factors.get("high"),
        "speedup_q20": speedup.get("q20"),
        "speedup_q80": speedup.get("q80"),
        "speedup_mean": speedup.get("mean") or None,
        "observations": _whole(speedup.get("observations"), "observations"),
        "ties": _whole(speedup.get("ties"), "ties"),
    }


def _row(row, rounds):
    """The columns of the table `row`, and its summaries. Without `rounds`, as of an accuracy run, it has no times."""
    expectations = row["expectations"]
    verdicts = [each["verdict"] for each in expectations]
    unknown = [each for each in verdicts if each not in _VERDICTS]
    if unknown:
        raise ValueError(f"verdict: expected one of {', '.join(_VERDICTS)}, found '{unknown[0]}'")
    counts = row["counts"] or {}
    memory, device = row["device_memory"] or {}, row["device_counts"] or {}
    instructions = row["instructions"] or {}
    if rounds and row["outcome"] == "measured" and not row["time"] and not row["instructions"]:
        raise ValueError(f"'{row['name']}' was measured, but has no time")
    columns = {
        "implementation": row["name"],
        "is_baseline": int(bool(row["baseline"])),
        "outcome": row["outcome"],
        "correct": int(row["outcome"] != "wrong") if row["checked"] else None,
        "max_abs_error": row["max_abs_error"],
        "first_call_ns": row["first_call_ns"],
        "expectation": "; ".join(each["expectation"] for each in expectations),
        "verdict": max(verdicts, key=_VERDICTS.index) if verdicts else None,
        "acceptable": int(all(each["acceptable"] for each in expectations)) if verdicts else None,
        "message": "; ".join(
            [row["message"]] * bool(row["message"])
            + [each["message"] for each in expectations if each["message"] and each["verdict"] != "passed"]
        ),
        "gb_per_s": row["gb_per_s"],
        "gflop_per_s": row["gflop_per_s"],
        "share_of_peak": row["share_of_peak"],
        "operator_calls": _whole(counts.get("operator_calls"), "operator_calls"),
        "allocations": _whole(counts.get("allocations"), "allocations"),
        "bytes_allocated": _whole(counts.get("bytes_allocated"), "bytes_allocated"),
        "kernels": _whole(device.get("kernels"), "kernels"),
        "launches": _whole(device.get("launches"), "launches"),
        "device_peak_bytes": _whole(memory.get("peak_bytes"), "peak_bytes"),
        "instructions_low": _whole(instructions.get("low"), "low"),
        "instructions_high": _whole(instructions.get("high"), "high"),
    }
    summaries = [_summary("", row["time"], row["speedup"])] if row["time"] or row["speedup"] else []
    modes = [each for each in row["modes"] if each["time"] or each["speedup"]]
    summaries += [_summary(each["name"], each["time"], each["speedup"]) for each in modes]
    names = [each["mode"] for each in summaries]
    if len(set(names)) < len(names):
        raise ValueError(f"'{row['name']}' has a mode twice")
    return columns, summaries


def _comparison(result):
    """The columns of the table `comparison`, and its rows."""
    names = [row["name"] for row in result["implementations"]]
    if len(set(names)) < len(names):
        raise ValueError(f"an implementation is twice in '{result['name']}'")
    conditions = result["conditions"]
    columns = {
        "name": result["name"],
        "baseline": next((row["name"] for row in result["implementations"] if row["baseline"]), ""),
        "device": result["device"],
        "inputs": result["inputs"],
        "clock": result["clock"],
        "iterations": _whole(result["iterations"], "iterations"),
        "rounds": _whole(result["rounds"], "rounds"),
        "stop_reason": result["stop_reason"],
        "elapsed_ns": result["elapsed_ns"],
        "confidence": result["confidence"],
        # Seeds have 64 bits without a sign, which SQLite's whole numbers have not.
        "seed": str(result["seed"]) if result["seed"] is not None else None,
        "check_seed": str(result["check_seed"]) if result["check_seed"] is not None else None,
        "steal": conditions.get("steal"),
        "waiting": conditions.get("waiting"),
        "disturbance": " ".join(conditions["disturbances"]),
    }
    return columns, [_row(row, result["rounds"]) for row in result["implementations"]]
