"""Files of results as values. A part that cannot be read becomes a problem with its file and line, and the rest is
kept."""

import dataclasses
import json
import os
import re
import zipfile
import zlib

from report import gather, schema
from report.input import open_input

# Version of the tables in docs/results.md that schema.py has.
SCHEMA_VERSION = 3

# And the versions of //tools/compare_results' files.
COMPARISON_VERSION = 1

# One line is one comparison. A line of ten million samples has 200 MB, and as a value a gigabyte.
LONGEST_LINE = 256 << 20

# A file of kernels is one value, and a line says nothing of it.
LARGEST_VALUE = 64 << 20

# Samples of one implementation that are kept; pictures have room for no more.
MOST_SAMPLES = 20000


class InputError(Exception):
    """The message names file and line, the finding and the expectation."""


@dataclasses.dataclass
class Run:
    """One file of results."""

    path: str
    header: dict
    results: list


@dataclasses.dataclass
class Inputs:
    """All results read, in the order of the files. `problems` are sentences about files that could not be read; `notes`
    are about parts left out for a reason or measured by a later run."""

    runs: list = dataclasses.field(default_factory=list)
    between: list = dataclasses.field(default_factory=list)
    kernels: list = dataclasses.field(default_factory=list)
    whole_calls: list = dataclasses.field(default_factory=list)
    problems: list = dataclasses.field(default_factory=list)
    notes: list = dataclasses.field(default_factory=list)

    def any(self):
        return bool(any(run.results for run in [*self.runs, *self.between]) or self.kernels or self.whole_calls)


def _constant(name):
    raise ValueError(f"{name} is no value of JSON")


def _parse(text):
    try:
        return json.loads(text, parse_constant=_constant)
    except RecursionError:
        raise ValueError("its values are nested too deeply") from None


_EXPECTED = "expected a file that --json of a pace program wrote"
_TORN = (b'{"schema_version":', b'{"comparison_version":')


def read(paths):
    """Reads all files, and those below folders. A file that cannot be read costs no other."""
    inputs = Inputs()
    places = _each_once(_places(paths, inputs), inputs)
    inputs.notes += map(schema.text_of, gather.missing_shards(places))
    for place, _ in places:
        # The name of a file need not be text in UTF-8.
        path = schema.text_of(str(place))
        try:
            _read_file(place, path, inputs)
        except (OSError, zipfile.BadZipFile, zlib.error) as error:
            inputs.problems.append(f"{path}: {getattr(error, 'strerror', None) or error}; {_EXPECTED}")
        except InputError as error:
            inputs.problems.append(str(error))
    return inputs


def _places(paths, inputs):
    """Yields each file of results with the folder of `paths` that it is below, or None."""
    for path in paths:
        if not os.path.isdir(path):
            yield path, None
            continue
        found, problems, notes = gather.gather(path)
        inputs.problems += map(schema.text_of, problems)
        inputs.notes += map(schema.text_of, notes)
        if not found:
            inputs.problems.append(
                f"{schema.text_of(path)}: has no results.json below it, and no {gather.ARCHIVE} with one; expected "
                "a folder of tests that have measured, such as bazel-testlogs"
            )
        yield from ((place, path) for place in found)


def _each_once(places, inputs):
    """Returns the pairs of _places(), each file once. Notes the files that came again."""
    known, twice = {}, {}
    for place, folder in places:
        if isinstance(place, gather.Packed):
            key = os.path.realpath(place.archive), place.member
        else:
            key = os.path.realpath(place)
        if key not in known:
            known[key] = place, folder
            continue
        first, first_folder = known[key]
        # Of a folder it is known which parts of a test had nothing to measure.
        known[key] = first, first_folder or folder
        twice.setdefault(folder or place, []).append(first)
    for given, found in twice.items():
        more = f" and {len(found) - 1} more" if len(found) > 1 else ""
        inputs.notes.append(schema.text_of(f"{given}: {found[0]}{more} was given before; each file counts once"))
    return list(known.values())


def _read_file(place, path, inputs):
    with open_input(place) as file:
        first = file.readline(LONGEST_LINE + 1)
        if not first:
            raise InputError(f"{path}: is empty; {_EXPECTED}")
        stripped = first.rstrip(b"\0")
        if not first.endswith(b"\n") and any(
            stripped.startswith(each) or each.startswith(stripped) for each in _TORN
        ):
            raise InputError(f"{path}:1: was cut off in its first line and holds no results; {_EXPECTED}")
        header = _json_object(first)
        if header is not None and "schema_version" in header:
            _require_version(path, header, "schema_version", SCHEMA_VERSION)
            inputs.runs.append(run := Run(path, _header(path, header, schema.HEADER), []))
            _read_lines(
                path, file, lambda value: run.results.append(_result(value)), inputs
            )
        elif header is not None and "comparison_version" in header:
            _require_version(path, header, "comparison_version", COMPARISON_VERSION)
            inputs.between.append(run := Run(path, _header(path, header, schema.COMPARISON_HEADER), []))
            _read_lines(path, file, lambda value: run.results.append(_row(schema.COMPARISON_ROW, value)), inputs)
        else:
            _read_values(path, first, file, inputs)


def _json_object(line):
    try:
        value = _parse(line)
    except ValueError:
        return None
    return value if isinstance(value, dict) else None


def _require_version(path, header, key, expected):
    version = header[key]
    if version != expected or isinstance(version, bool):
        writer = header.get("pace_version")
        of = f" (of pace {schema.text_of(writer)})" if isinstance(writer, str) else ""
        found = schema.text_of(json.dumps(version))[:40]
        raise InputError(
            f"{path}:1: its {key} is {found}{of}; this program reads version {expected}. "
            "try: measure again with this version of pace"
        )


def _header(path, header, kind):
    try:
        read_header = kind.read(header)
        schema.require_date(read_header.get("environment", {}))
        return read_header
    except schema.Unexpected as error:
        raise InputError(f"{path}:1: is no first line of results: {error}; {_EXPECTED}") from None


def _row(kind, value):
    row = kind.read(value)
    if row is None:
        raise schema.Unexpected("expected an object, found null")
    return row


def _read_lines(path, file, take, inputs):
    """Calls `take` with the value of each line after the first one."""
    number = 1
    while line := file.readline(LONGEST_LINE + 1):
        number += 1
        if len(line) > LONGEST_LINE:
            inputs.problems.append(
                f"{path}:{number}: the line is longer than {LONGEST_LINE >> 20} MB, which is not read; "
                "expected fewer samples (--max-rounds, --budget). It and what follows it in the file are left out"
            )
            return
        if not line.endswith(b"\n"):
            inputs.problems.append(
                f"{path}:{number}: the last line was cut off, as by a run that was ended; its comparison is left out"
            )
            return
        try:
            take(_parse(line))
        except (ValueError, schema.Unexpected) as error:
            inputs.problems.append(f"{path}:{number}: is no result: {error}; it is left out; {_EXPECTED}")


def _result(value):
    result = _without_overhead(_with_fewer_samples(_row(schema.RESULT, value)))
    # A page shows control characters; a command line has to have them.
    result["exact_name"] = value["name"]
    return result


def _with_fewer_samples(result):
    """Whole cycles from the beginning stay, so figures computed from them are the figures after so many cycles."""
    for row in result["implementations"]:
        row["all_samples"] = len(row["samples_ns"])
        row["all_log_ratios"] = len(row["log_ratios"])
        cycle = max(int(row["context"]["rounds_per_cycle"] or 1), 1)
        cycles = max(MOST_SAMPLES // cycle, 1)
        row["samples_ns"] = row["samples_ns"][: cycles * cycle]
        row["log_ratios"] = row["log_ratios"][:cycles]
    return result


def _less(time, added):
    return None if time is None else max(0.0, time - added)


def _without_overhead(result):
    """Times as tables show them: without what the clock adds to each call. Intervals include the error of that."""
    for row in result["implementations"]:
        for time in [row["time"], *(mode["time"] for mode in row["modes"])]:
            if not time or not time["clock_overhead"]:
                continue
            added, error = time["clock_overhead"]["added_ns"], time["clock_overhead"]["error_ns"] or 0
            for key in schema.TIMES:
                time[key] = _less(time[key], added)
            if interval := time["interval"]:
                interval["low_ns"] = _less(interval["low_ns"], added + error)
                interval["high_ns"] = _less(interval["high_ns"], added - error)
        if row["time"] and row["time"]["clock_overhead"]:
            added = row["time"]["clock_overhead"]["added_ns"]
            row["samples_ns"] = [_less(each, added) for each in row["samples_ns"]]
    return result


_SPACE = re.compile(r"\s*")


def _read_values(path, first, file, inputs):
    """Reads a file of one JSON value, or of several one after another, that is not one of JSON Lines."""
    data = first + file.read(LARGEST_VALUE + 1)
    if len(data) > LARGEST_VALUE:
        raise InputError(f"{path}:1: is larger than {LARGEST_VALUE >> 20} MB and no file of JSON Lines; {_EXPECTED}")
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise InputError(f"{path}:{line}: is no text in UTF-8; {_EXPECTED}") from None
    decoder = json.JSONDecoder(parse_constant=_constant)
    place = _SPACE.match(text).end()
    while place < len(text):
        line = text.count("\n", 0, place) + 1
        try:
            value, end = decoder.raw_decode(text, place)
        except json.JSONDecodeError as error:
            cut = error.pos >= len(text.rstrip()) - 1
            what = "was cut off" if cut else f"is no results file: {error.msg}"
            raise InputError(f"{path}:{error.lineno}: {what}; {_EXPECTED}") from None
        except (ValueError, RecursionError) as error:
            raise InputError(f"{path}:{line}: is no results file: {error}; {_EXPECTED}") from None
        try:
            _take(value, path, inputs)
        except schema.Unexpected as error:
            inputs.problems.append(f"{path}:{line}: {error}; {_EXPECTED}")
        place = _SPACE.match(text, end).end()


def _take(value, path, inputs):
    if isinstance(value, dict) and "kernels" in value and "call" in value:
        inputs.kernels.append({"path": path, **schema.KERNELS.read(value)})
    elif isinstance(value, dict) and "seconds_per_call" in value:
        inputs.whole_calls.append({"path": path, **schema.WHOLE_CALL.read(value)})
    else:
        raise schema.Unexpected("is no results file: it has no schema_version in its first line, and no kernels")
