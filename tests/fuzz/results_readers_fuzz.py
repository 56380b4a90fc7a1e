"""Readers of results files in Python. The page reads every file that the history reads, and both refuse the rest in
words.

Called with libFuzzer's options, it fuzzes by atheris; with `--seeds FOLDER`, it reads the files there, as a test.
"""

import json
import math
import os
import sys

_TREE = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))


def _require(holds, law, found):
    # No error of the readers, so that nothing catches it.
    if not holds:
        raise AssertionError(f"{law}; found: {found!r}")


def _require_columns(columns):
    """A value that SQLite takes."""
    for key, value in columns.items():
        if isinstance(value, str):
            # Not every text of Python is one in UTF-8.
            value.encode("utf-8")
            continue
        fits = value is None or (isinstance(value, int) and abs(value) < 2**63)
        _require(fits or (isinstance(value, float) and math.isfinite(value)), f"SQLite takes the column {key}", value)


def _history(path):
    """The number of comparisons that the history reads; None if it refuses the file or a line is cut off."""
    try:
        file = results.read(path)
    except results.BadFile as error:
        _require(str(error).startswith(f"{path}:") and len(str(error)) < 2000, "an error names its file", str(error))
        return None
    for columns, rows in file.comparisons:
        _require_columns(columns)
        for row, summaries in rows:
            _require_columns(row)
            for summary in summaries:
                _require_columns(summary)
    return None if file.note else len(file.comparisons)


def check(data):
    """Throws AssertionError if a property does not hold, or an exception that no reader may throw."""
    descriptor = os.memfd_create("fuzz")
    try:
        os.write(descriptor, data)
        path = f"/proc/self/fd/{descriptor}"
        in_history = _history(path)
        inputs = read.read([path])
        for problem in inputs.problems:
            _require(problem.startswith(f"{path}:") and len(problem) < 2000, "a problem names its file", problem)
        json.dumps([inputs.kernels, inputs.whole_calls, [run.results for run in inputs.runs]]).encode("utf-8")
        if in_history is not None:
            _require(not inputs.problems, "the page reads what the history reads", inputs.problems)
            _require(sum(len(run.results) for run in inputs.runs) == in_history, "both read each line", in_history)
    finally:
        os.close(descriptor)


def _check_seeds(folder):
    seeds = sorted(os.listdir(folder))
    for seed in seeds:
        print(seed)
        with open(os.path.join(folder, seed), "rb") as file:
            check(file.read())
    if not seeds:
        sys.exit(f"{folder} has no seeds")


if __name__ == "__main__":
    sys.path.insert(0, os.path.join(_TREE, "tools"))
    if sys.argv[1] == "--seeds":
        from history import results
        from report import read

        _check_seeds(sys.argv[2])
    else:
        import atheris

        with atheris.instrument_imports():
            from history import results
            from report import read
        atheris.Setup(sys.argv, check)
        atheris.Fuzz()
