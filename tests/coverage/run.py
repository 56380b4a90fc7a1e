#!/usr/bin/env python3
"""Runs the unit tests of the rooms, and prints which share of each room's lines of code they reach.

    tests/coverage/run.py [--jobs N] [ROOM...]     the rooms' own tests, and with all rooms also tests/cheats and faults
    tests/coverage/run.py --missed FILE            writes the lines that no test reached, too
    tests/coverage/run.py --write-floors           the shares, rounded down, become the floors

GCC counts. A line counts once, however many programs include it. Functions that no test calls count as well, but not
templates that no test instantiates. The exit code is 1 if a room falls below its floor in floors.txt, or if a test
fails: docs/reliability.md.
"""

import argparse
import collections
import json
import math
import pathlib
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2]))
from tests.build import without_bazel  # noqa: E402

_FLOORS = pathlib.Path(__file__).with_name("floors.txt")

# Their tests are about whole comparisons, of which many rooms are a part.
_OF_ALL_ROOMS = ("cheats", "faults")

# The rooms that have their tests in the folder of another one.
_TESTED_ELSEWHERE = {"run": "runner", "settings": "cheats"}

# Shares vary by what the processor has, and by a change of a few lines. Those of these rooms vary more: their processes
# are killed, some before they have written what they reached.
_VARIES_BY = 1
_VARY_MORE = {"isolate": 5, "ranks": 5}

_LEFT_OUT = {
    "tests/corpus/shipped_corpus_test.cc": "it runs a program of //benches",
    "tests/runner/html_page_test.cc": "it runs //tools/report",
    "tests/stats/sequential_power_test.cc": "it simulates for minutes where nothing is optimised",
}


def _tests(rooms):
    """The sources of the tests, and those that are left out with the reason."""
    folders = sorted({_TESTED_ELSEWHERE.get(room, room) for room in rooms})
    if rooms == without_bazel.ROOMS:
        folders = sorted({*folders, *_OF_ALL_ROOMS})
    found, left_out = [], {}
    for folder in folders:
        for source in sorted((without_bazel.ROOT / "tests" / folder).glob("*_test.cc")):
            name = str(source.relative_to(without_bazel.ROOT))
            of_bench = '#include "benches/kernels/' in source.read_text().replace("benches/kernels/compat/", "")
            reason = _LEFT_OUT.get(name) or ("it is about //benches/kernels" if of_bench else "")
            if reason:
                left_out[name] = reason
            else:
                found.append(name)
    return found, left_out


def read_floors(text):
    """Returns the least share of each room, in percent, from lines `ROOM PERCENT`."""
    floors = {}
    for number, line in enumerate(text.splitlines(), 1):
        if line.startswith("#"):
            continue
        room, _, percent = line.partition(" ")
        if room not in without_bazel.ROOMS or not percent.isdecimal() or int(percent) > 100:
            raise SystemExit(f"{_FLOORS.name}:{number}: expected ROOM PERCENT, with a folder of include/pace: {line}")
        floors[room] = int(percent)
    return floors


def _floor_of(room, share):
    return math.floor(share - _VARY_MORE.get(room, _VARIES_BY))


class Lines:
    """How often each line of each file of the library ran. GCC counts lines of brackets alone, which are left out."""

    def __init__(self):
        self._counts = collections.defaultdict(collections.Counter)
        self._texts = {}

    def add(self, name, counts):
        texts = self.texts(name)
        self._counts[name].update({line: count for line, count in counts.items() if texts[line - 1].strip("(){}[];, ")})

    def texts(self, name):
        """The lines of a file."""
        if name not in self._texts:
            self._texts[name] = (without_bazel.LIBRARY / name).read_text().splitlines()
        return self._texts[name]

    def of_room(self, room):
        """Yields the name of a file, and the count of each of its lines."""
        for name in sorted(self._counts):
            if name.split("/", maxsplit=1)[0] == room:
                yield name, self._counts[name]


class Run:
    """Compiles and runs tests with counters, each in a folder of its own."""

    def __init__(self, arguments, folder):
        self._folder = folder
        self._gcov = arguments.gcov
        self._limit = arguments.time_limit
        counters = ["--coverage", "-fprofile-abs-path", "-fprofile-update=prefer-atomic",
                    f"-fprofile-filter-files={without_bazel.LIBRARY}/.*"]
        self._compiler = without_bazel.Compiler(arguments, folder, counters)
        self._compiler.link_also("tests/coverage/write_at_exit.cc", ["-Wl,--wrap=_exit", "-Wl,--wrap=_Exit"])

    def test(self, test, cpus):
        """Returns how a test failed, empty if it passed, and the counts of lines by file."""
        if lacking := self._compiler.lacks(test):
            return f"it needs {lacking}, which is not here", {}
        with tempfile.TemporaryDirectory(dir=self._folder) as name:
            folder = pathlib.Path(name)
            if said := self._compiler.build(test, folder):
                return "it does not compile\n" + without_bazel.tail(said), {}
            ended, output = without_bazel.run(test, folder, self._limit, cpus)
            return ended and f"{ended}\n{without_bazel.tail(output)}", self._counts(folder, "*.gcda")

    def all_lines(self, room, _):
        """Returns the lines of code of all headers of a room, with counts of 0."""
        with tempfile.TemporaryDirectory(dir=self._folder) as name:
            folder = pathlib.Path(name)
            headers = sorted((without_bazel.LIBRARY / room).glob("*.hpp"))
            source = folder / "all.cc"
            source.write_text("".join(f'#include "pace/{room}/{each.name}"\n' for each in headers
                                      if not each.name.endswith("-inl.hpp")))
            if said := self._compiler.compile_all_lines(source, folder):
                return "its headers do not compile\n" + without_bazel.tail(said), {}
            return "", self._counts(folder, "*.gcno")

    def _counts(self, folder, pattern):
        """The counts that the data or the notes in a folder hold, by the name of the file in include/pace."""
        found = collections.defaultdict(collections.Counter)
        for data in sorted(folder.rglob(pattern)):
            told = subprocess.run([self._gcov, "--json-format", "--stdout", data], cwd=folder, check=True,
                                  stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
            for document in told.stdout.splitlines():
                for file in json.loads(document)["files"]:
                    path = pathlib.Path(file["file"])
                    if without_bazel.LIBRARY not in path.parents:
                        continue
                    counts = found[str(path.relative_to(without_bazel.LIBRARY))]
                    for line in file["lines"]:
                        counts[line["line_number"]] += line["count"]
        return found


def _measure(arguments, tests, rooms):
    """Returns the counts of all lines, and the tests and rooms that failed."""
    lines, failed = Lines(), []
    with tempfile.TemporaryDirectory(prefix="pace-coverage-") as name:
        run = Run(arguments, pathlib.Path(name))

        def task(item, cpus):
            return item, *(run.all_lines(item, cpus) if item in rooms else run.test(item, cpus))

        items = [*sorted(tests, key=without_bazel.takes_long, reverse=True), *rooms]
        for item, problem, counts in without_bazel.Slots(arguments.jobs).each(task, items):
            for file, of_file in counts.items():
                lines.add(file, of_file)
            if problem:
                failed.append(item)
            print(f"{item}: {problem or 'done'}", flush=True)
    return lines, failed


def _print_table(lines, rooms, floors):
    """A row for each room and their sum; returns the share of each room in percent."""
    print(f"\n{'room':<12} {'lines':>7} {'reached':>8} {'share':>7} {'floor':>7}")
    shares, total, total_reached = {}, 0, 0
    for room in rooms:
        counts = [count for _, of_file in lines.of_room(room) for count in of_file.values()]
        reached = sum(count > 0 for count in counts)
        shares[room] = 100 * reached / max(len(counts), 1)
        floor = f"{floors[room]:.0f}%" if room in floors else "-"
        print(f"{room:<12} {len(counts):>7} {reached:>8} {shares[room]:>6.1f}% {floor:>7}")
        total, total_reached = total + len(counts), total_reached + reached
    print(f"{'all':<12} {total:>7} {total_reached:>8} {100 * total_reached / max(total, 1):>6.1f}%")
    return shares


def _write_missed(lines, rooms, path):
    """Writes a line `include/pace/FILE:LINE: TEXT` for each line of code that nothing reached."""
    with open(path, "w", encoding="utf-8") as out:
        for room in rooms:
            for name, counts in lines.of_room(room):
                for line in sorted(number for number, count in counts.items() if count == 0):
                    out.write(f"include/pace/{name}:{line}: {lines.texts(name)[line - 1].strip()}\n")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("rooms", nargs="*", metavar="ROOM", help="folders of include/pace (all)")
    parser.add_argument("--missed", metavar="FILE", help="writes the lines that no test reached")
    parser.add_argument("--write-floors", action="store_true", help="writes the shares, rounded down, into floors.txt")
    parser.add_argument("--gcov", default="gcov", metavar="PROGRAM", help="of the same version as the compiler (gcov)")
    parser.add_argument("--time-limit", type=int, default=without_bazel.TIME_LIMIT_S, metavar="S",
                        help=f"seconds that one test may take ({without_bazel.TIME_LIMIT_S})")
    without_bazel.add_arguments(parser)
    arguments = parser.parse_args()
    if unknown := [each for each in arguments.rooms if each not in without_bazel.ROOMS]:
        parser.error(f"there is no room {unknown[0]}; expected some of {', '.join(without_bazel.ROOMS)}")
    if arguments.write_floors and arguments.rooms:
        parser.error("--write-floors is for all rooms; expected no ROOM beside it")
    floors = read_floors(_FLOORS.read_text())
    rooms = sorted(set(arguments.rooms)) or without_bazel.ROOMS
    tests, left_out = _tests(rooms)
    for test, reason in left_out.items():
        print(f"{test}: left out, {reason}")
    lines, failed = _measure(arguments, tests, rooms)
    # Floors are for all tests together: those of other rooms reach a room, too.
    if arguments.rooms:
        floors = {}
    shares = _print_table(lines, rooms, floors)
    below = [room for room in rooms if shares[room] < floors.get(room, 0)]
    if arguments.missed:
        _write_missed(lines, rooms, arguments.missed)
    if arguments.write_floors and not failed:
        head = "".join(line for line in _FLOORS.read_text().splitlines(keepends=True) if line.startswith("#"))
        _FLOORS.write_text(head + "".join(f"{room} {_floor_of(room, shares[room])}\n" for room in rooms))
        below = []
    if failed:
        print(f"failed: {', '.join(failed)}", file=sys.stderr)
    if below:
        print(f"below their floors: {', '.join(below)}", file=sys.stderr)
    return 1 if failed or below else 0


if __name__ == "__main__":
    sys.exit(main())
