#!/usr/bin/env python3
"""Plants the faults of faults.txt in the library, one at a time, and counts those that the named tests find.

    tests/mutation/run.py [--jobs N] [ROOM|ID...]     all of them, those of a room, or single ones
    tests/mutation/run.py --check                     only whether each fault applies: no compiler, a second

A fault is found if one of its tests fails, or does not end. Each test must pass without any fault first. The exit code
is 1 if fewer than 92 % are found, or if a fault or a test is of no use: docs/reliability.md.
"""

import argparse
import collections
import dataclasses
import pathlib
import re
import shutil
import sys
import tempfile

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2]))
from tests.build import without_bazel  # noqa: E402

_LIST = pathlib.Path(__file__).with_name("faults.txt")

# Of a hundred: docs/reliability.md.
_LEAST_FOUND = 0.92

_FIELDS = {"what": False, "old": True, "new": True, "test": True}


@dataclasses.dataclass
class Fault:
    """One block of the list. `old` and `new` are text, `tests` are paths from the top of the tree."""

    name: str
    path: str
    what: str = ""
    old: str = ""
    new: str = ""
    tests: tuple = ()

    @property
    def room(self):
        return self.path.split("/", maxsplit=1)[0]

    def problem(self):
        """Why it cannot be planted; empty: it can."""
        source = without_bazel.LIBRARY / self.path
        if not source.is_file():
            return f"there is no include/pace/{self.path}"
        if not self.what or not self.old or not self.tests:
            return "expected the lines what, old, new and test"
        if self.old == self.new:
            return "old and new are the same"
        if (count := source.read_text().count(self.old)) != 1:
            return f"its old text is {count} times in include/pace/{self.path}; expected once"
        for test in self.tests:
            if not (without_bazel.ROOT / test).is_file():
                return f"there is no {test}"
        return ""


def read_faults(text):
    """Reads blocks `[NAME] ROOM/FILE` with lines `what:`, `old:`, `new:` and `test:`. Lines of one name are joined."""
    faults = []
    for number, line in enumerate(text.splitlines(), 1):
        if not line.strip() or line.startswith("#"):
            continue
        if head := re.fullmatch(r"\[([a-z0-9-]+)\] ([a-z]+/\S+)", line):
            faults.append((Fault(*head.groups()), collections.defaultdict(list)))
            continue
        name, colon, value = line.partition(":")
        if not colon or name not in _FIELDS or not faults:
            raise SystemExit(f"{_LIST.name}:{number}: expected [NAME] ROOM/FILE or one of {', '.join(_FIELDS)}: {line}")
        faults[-1][1][name].append(value.removeprefix(" "))
    for fault, lines in faults:
        fault.what = " ".join(lines["what"])
        fault.old, fault.new = "\n".join(lines["old"]), "\n".join(lines["new"])
        fault.tests = tuple(f"tests/{each}" for each in lines["test"])
    return [fault for fault, _ in faults]


def _chosen(faults, words):
    if not words:
        return faults
    known = {each.name for each in faults} | {each.room for each in faults}
    if unknown := [word for word in words if word not in known]:
        raise SystemExit(f"there is no fault and no room with faults of the name {unknown[0]}")
    return [each for each in faults if each.name in words or each.room in words]


class Run:
    """Compiles and runs tests, with faults and without, each in a folder of its own."""

    def __init__(self, arguments, folder):
        self._folder = folder
        self._limit = arguments.time_limit
        self._compiler = without_bazel.Compiler(arguments, folder)

    def without_fault(self, test, cpus):
        """Why a test is of no use; empty: it passes."""
        if lacking := self._compiler.lacks(test):
            return f"it needs {lacking}, which is not here"
        with tempfile.TemporaryDirectory(dir=self._folder) as name:
            folder = pathlib.Path(name)
            if said := self._compiler.build(test, folder):
                return "it does not compile\n" + without_bazel.tail(said)
            ended, output = without_bazel.run(test, folder, self._limit, cpus)
            return ended and f"{ended}\n{without_bazel.tail(output)}"

    def with_fault(self, fault, cpus):
        """Returns one of found, survived and uncompiled, and how that showed."""
        with tempfile.TemporaryDirectory(dir=self._folder) as name:
            changed = pathlib.Path(name) / "include"
            shutil.copytree(without_bazel.LIBRARY.parent, changed)
            source = changed / "pace" / fault.path
            source.write_text(source.read_text().replace(fault.old, fault.new))
            for number, test in enumerate(fault.tests):
                folder = pathlib.Path(name) / str(number)
                folder.mkdir()
                if said := self._compiler.build(test, folder, changed):
                    return "uncompiled", f"{test}\n{without_bazel.tail(said)}"
                ended, _ = without_bazel.run(test, folder, self._limit, cpus)
                if ended:
                    return "found", f"{test}: {ended}"
            return "survived", ", ".join(fault.tests)


def _measure(arguments, faults):
    """Returns the outcome of each fault by its name."""
    outcomes, broken = {}, {}
    tests = sorted({test for fault in faults for test in fault.tests})
    with tempfile.TemporaryDirectory(prefix="pace-mutation-") as name:
        run = Run(arguments, pathlib.Path(name))

        def task(item, cpus):
            return item, run.with_fault(item, cpus) if isinstance(item, Fault) else run.without_fault(item, cpus)

        def takes_long(item):
            return any(map(without_bazel.takes_long, item.tests if isinstance(item, Fault) else (item,)))

        items = sorted([*tests, *faults], key=takes_long, reverse=True)
        for item, found in without_bazel.Slots(arguments.jobs).each(task, items):
            if isinstance(item, Fault):
                outcomes[item.name] = found[0]
                print(f"{found[0]:<10} {item.name}: {item.what}\n           by {found[1]}", flush=True)
            elif found:
                broken[item] = found
                print(f"broken     {item}, without any fault: {found}", flush=True)
    for fault in faults:
        if any(test in broken for test in fault.tests):
            outcomes[fault.name] = "broken"
    return outcomes


def _print_table(faults, outcomes):
    """A row for each room and their sum. `no use`: the fault does not compile, or a test of it fails without it."""
    print(f"\n{'room':<12} {'planted':>7} {'found':>7} {'survived':>9} {'no use':>7}")

    def row(title, own):
        counts = collections.Counter(outcomes[each.name] for each in own)
        useless = counts["uncompiled"] + counts["broken"]
        print(f"{title:<12} {len(own):>7} {counts['found']:>7} {counts['survived']:>9} {useless:>7}")
        return counts["found"], useless

    for room in sorted({each.room for each in faults}):
        row(room, [each for each in faults if each.room == room])
    return row("all", faults)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("chosen", nargs="*", metavar="ROOM|ID", help="names of rooms and of faults (all)")
    parser.add_argument("--check", action="store_true", help="only checks that each fault applies")
    parser.add_argument("--time-limit", type=int, default=without_bazel.TIME_LIMIT_S, metavar="S",
                        help=f"seconds that one test may take ({without_bazel.TIME_LIMIT_S})")
    without_bazel.add_arguments(parser)
    arguments = parser.parse_args()
    faults = read_faults(_LIST.read_text())
    twice = [name for name, count in collections.Counter(each.name for each in faults).items() if count > 1]
    problems = [f"{each.name}: {problem}" for each in faults if (problem := each.problem())]
    problems += [f"{name}: the name of two faults" for name in twice]
    if problems:
        print("\n".join(problems), file=sys.stderr)
        return 1
    if arguments.check:
        print(f"{len(faults)} faults apply, in {len({each.room for each in faults})} rooms")
        return 0
    faults = _chosen(faults, arguments.chosen)
    found, useless = _print_table(faults, _measure(arguments, faults))
    if useless or found < _LEAST_FOUND * len(faults):
        print(f"expected at least {_LEAST_FOUND:.0%} found, and none of no use", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
