"""Makes results with many rows, and prints how much longer and larger the tools get with ten times as many.

third_party/bazel run //tests/soak:rows [-- ROWS]
"""

import argparse
import os
import sys
import tempfile
import traceback

import made_up
from history import __main__ as history
from report import page, read

# Ten times the rows may take so many times the time and the memory: linear, and something for sorting and noise.
MOST = 20


def _write_comparisons(folder, rows):
    """One run with many comparisons of four rows."""
    path = os.path.join(folder, "comparisons.json")
    with open(path, "w", encoding="utf-8") as file:
        file.write(made_up.lines(made_up.header()))
        for i in range(rows // 4):
            others = [made_up.row(f"candidate {j}", 500.0 + j, 1000.0) for j in range(3)]
            file.write(
                made_up.lines(made_up.result(f"case/{i}", implementations=[made_up.row("eager", 1000.0), *others]))
            )
    return [path]


def _write_runs(folder, rows):
    """Twenty runs with many comparisons of four rows. Each becomes slower once."""
    paths, runs = [], 20
    for day in range(runs):
        values = []
        for i in range(rows // (4 * runs)):
            slower = 1.2 if day > 5 + i % 10 else 1.0
            others = [made_up.row(f"candidate {j}", slower * (500.0 + j + day % 5), 1000.0) for j in range(3)]
            values.append(made_up.result(f"case/{i}", implementations=[made_up.row("eager", 1000.0), *others]))
        paths.append(made_up.write(folder, f"{day}.json", made_up.header(day), *values))
    return paths


def _report(folder, paths):
    inputs = read.read(paths)
    text = page.render(inputs, paths, "")
    if inputs.problems:
        raise ValueError(inputs.problems[0])
    with open(os.path.join(folder, "report.html"), "w", encoding="utf-8") as file:
        file.write(text)


def _history(*words):
    sys.argv = ["history", *words]
    if code := history.main():
        raise ValueError(f"history {words[0]} ended with {code}")


def _steps(folder, rows):
    """Pairs: a title, and a function."""
    made = {}

    def paths(kind, write):
        if kind not in made:
            where = os.path.join(folder, kind)
            os.makedirs(where, exist_ok=True)
            made[kind] = write(where, rows)
        return made[kind]

    one, several = paths("one", _write_comparisons), paths("runs", _write_runs)
    database, wide = os.path.join(folder, "runs.db"), os.path.join(folder, "one.db")
    csv = os.path.join(folder, "trends.csv")
    return [
        ("report, one run", lambda: _report(folder, one)),
        ("report, 20 runs", lambda: _report(folder, several)),
        ("history add, one run", lambda: _history("add", "--database", wide, *one)),
        ("history add, 20 runs", lambda: _history("add", "--database", database, *several)),
        ("history list", lambda: _history("list", "--database", database)),
        ("history export", lambda: _history("export", "--database", database, "--csv", csv)),
        ("history report, one run", lambda: _history("report", "--database", wide, "--output", csv + ".html")),
        ("history report, 20 runs", lambda: _history("report", "--database", database, "--output", csv + ".html")),
    ]


def _alone(function):
    """Runs it in a process of its own. Returns its CPU seconds and its peak memory in MB."""
    sys.stdout.flush()
    process = os.fork()
    if process == 0:
        code = 1
        try:
            os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
            function()
            code = 0
        except BaseException:
            traceback.print_exc()
        finally:
            sys.stderr.flush()
            os._exit(code)
    _, status, used = os.wait4(process, 0)
    if status:
        raise SystemExit(f"rows: a step ended with {os.waitstatus_to_exitcode(status)}")
    return used.ru_utime + used.ru_stime, used.ru_maxrss / 1024


def main():
    parser = argparse.ArgumentParser(description=__doc__, allow_abbrev=False)
    parser.add_argument("rows", nargs="?", type=int, default=100_000, help="rows; compared with a tenth of them")
    rows = parser.parse_args().rows
    if rows < 4000:
        parser.error(f"{rows}: expected 4000 rows or more")
    history.output.vega = lambda: ""
    worst = []
    with tempfile.TemporaryDirectory() as few, tempfile.TemporaryDirectory() as many:
        steps = zip(_steps(few, rows // 10), _steps(many, rows), strict=True)
        print(f"{'step':26} {rows // 10:>8} rows {rows:>17} rows     times the time, memory")
        for (title, small), (_, large) in steps:
            (time, memory), (longer, larger) = _alone(small), _alone(large)
            print(
                f"{title:26} {time:8.2f} s {memory:6.0f} MB {longer:8.2f} s {larger:6.0f} MB"
                f"  {longer / time:6.1f} {larger / memory:6.1f}",
                flush=True,
            )
            if longer > MOST * time or larger > MOST * memory:
                worst.append(title)
    if worst:
        print(f"rows: more than {MOST} times the time or the memory with ten times the rows: {', '.join(worst)}")
    return 1 if worst else 0


if __name__ == "__main__":
    sys.exit(main())
