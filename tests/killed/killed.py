"""Killed anywhere: a program of pace fails or is killed at its n-th write, rename, fsync, fork and mmap, for all n.

After each such run, every file is whole or the old one, and no process, lock or temporary file is left. After a kill
the same command, with `--resume` where there is one, ends with all rows. After an error the exit code is not 0, unless
all rows are there, and the message names the file.
"""

import argparse
import contextlib
import dataclasses
import errno
import os
import pathlib
import shutil
import sys
import tempfile

from killed import scenarios, tree
from killed.outputs import Broken

# What becomes of a call, and the error that it returns.
HOWS = {
    "create": (("error", errno.ENOSPC), ("error", errno.EMFILE), ("kill", 0), ("after", 0)),
    "write": (
        ("full", errno.ENOSPC),
        ("error", errno.EIO),
        ("half", errno.ENOSPC),
        ("kill", 0),
        ("torn", 0),
        ("end", 0),
    ),
    "rename": (("error", errno.EIO), ("kill", 0), ("after", 0), ("end", 0)),
    "sync": (("error", errno.EIO), ("kill", 0), ("end", 0)),
    "truncate": (("error", errno.EIO), ("kill", 0), ("after", 0), ("end", 0)),
    "unlink": (("error", errno.EACCES), ("kill", 0), ("after", 0)),
    "fork": (("error", errno.EAGAIN), ("kill", 0), ("end", 0)),
    "map": (("error", errno.ENOMEM), ("full", errno.ENOMEM), ("kill", 0), ("end", 0)),
}

# A failure of these calls need not concern an output.
_OF_PROCESS = ("fork", "map")


def _environment(programs, box):
    """Of this process only what programs need to start: no variable of a test of Bazel's."""
    kept = {name: os.environ[name] for name in ("HOME", "PATH") if name in os.environ}
    if "report" in programs:
        kept["PACE_REPORT"] = programs["report"]
    return {**kept, "LC_ALL": "C.UTF-8", "TMPDIR": str(box / "tmp"), "PACE_COMMIT": "1234567"}


def _files(box):
    """Returns the files of a folder, and empty folders, by their names in it."""
    found = set()
    for folder, names, files in os.walk(box):
        place = os.path.relpath(folder, box)
        found |= {os.path.normpath(os.path.join(place, each)) for each in files}
        if not names and not files:
            found.add(place + "/")
    return found


@dataclasses.dataclass
class Expected:
    """What a run without any fault leaves."""

    code: int
    rows: dict
    """By output."""
    old: dict
    """Content of the earlier files, by output; None where there was none."""
    old_rows: dict
    files: set
    calls: dict


def _end_of(said):
    """The last words of a program's output, in one line."""
    words = " | ".join(line for line in said.splitlines() if line.strip())
    return words if len(words) < 300 else f"... {words[-300:]}"


class Runner:
    def __init__(self, scenario, programs, library, folder):
        self.scenario, self.library, self.folder = scenario, library, pathlib.Path(folder)
        self.programs = programs
        self.expected = None
        tree.be_reaper()
        (self.folder / "earlier").mkdir()
        with self.box() as box:
            (box / "tmp").mkdir()
            self.scenario.make(box, lambda words: self._prepare(box, words))
            shutil.copytree(box, self.folder / "earlier", dirs_exist_ok=True)

    def _prepare(self, box, words):
        ended = self.run(box, words)
        if ended.code != 0:
            raise SystemExit(f"{self.scenario.name}: cannot be prepared:\n{ended.said}")

    @contextlib.contextmanager
    def box(self):
        """A folder with the earlier files. It always has the same path, which files may name."""
        box = self.folder / "box"
        try:
            shutil.copytree(self.folder / "earlier", box)
            yield box
        finally:
            shutil.rmtree(box)

    def run(self, box, words, call=None):
        return tree.run(words(self.programs, box), box, _environment(self.programs, box), self.library, call)

    def measure(self):
        """Runs the command without a fault."""
        with self.box() as box:
            old = {name: self._content(box, name) for name in self.scenario.outputs}
            old_rows = {name: self._rows(box, name)[0] for name in self.scenario.outputs if old[name]}
            ended = self.run(box, self.scenario.words)
            if ended.hung or ended.left or ended.code not in self.scenario.codes:
                raise SystemExit(f"{self.scenario.name}: exit code {ended.code} without a fault:\n{ended.said}")
            rows = {}
            for name in self.scenario.outputs:
                rows[name], is_cut = self._rows(box, name)
                if is_cut or not rows[name]:
                    raise SystemExit(f"{self.scenario.name}: {name} is not whole without a fault:\n{ended.said}")
            self.expected = Expected(ended.code, rows, old, old_rows, _files(box), ended.calls)

    def _content(self, box, name):
        try:
            return (box / name).read_bytes()
        except FileNotFoundError:
            return None

    def _rows(self, box, name):
        return self.scenario.outputs[name](str(box / name))

    def faults_of(self, call):
        """Returns whether the call was reached, and sentences about what is wrong afterwards."""
        with self.box() as box:
            ended = self.run(box, self.scenario.words, call)
            faults = [*self._faults_at_end(ended, call), *self._faults_of_files(box, ended, call)]
            # Once the disk has room again, or somebody types the command again.
            if ended.hit and (call.kills or ended.code != self.expected.code or _files(box) != self.expected.files):
                again = self.run(box, self.scenario.again)
                faults += [f"then again: {each}" for each in self._faults_afterwards(box, ended, again)]
            if not faults:
                return bool(ended.hit), []
            first = f"{ended.hit.replace(str(box) + '/', '')}, exit code {ended.code}: {_end_of(ended.said)}"
            return bool(ended.hit), [first, *faults]

    def _faults_at_end(self, ended, call):
        if ended.hung:
            yield "does not end"
        for each in ended.left:
            yield f"leaves process {each}"
        if ended.hung or (call.kills and ended.code == -9):
            return
        if ended.code < 0 or ended.code > 128:
            # A process that was killed may end the program in its own way.
            if not call.kills:
                yield "crashes"
        # Without memory Python may fail before the program begins.
        if call.kind != "map" and ("Traceback (most" in ended.said or "terminate called" in ended.said):
            yield "prints no message for its user"
        if ended.code != 0 and not ended.said.strip():
            yield "fails without a message"

    def _faults_of_files(self, box, ended, call):
        complete = True
        for name, reader in self.scenario.outputs.items():
            old = self.expected.old[name]
            content = self._content(box, name)
            # SQLite may have all that is new in a file beside the database.
            is_alone = not any((box / each).exists() for each in self.scenario.beside)
            if content == old and (is_alone or content is None):
                complete = complete and content is not None and self.expected.old_rows[name] == self.expected.rows[name]
                continue
            if content is None:
                yield f"{name} is lost"
                complete = False
                continue
            try:
                rows, is_cut = self._rows(box, name)
            except Broken as error:
                yield f"{name} {error}"
                complete = False
                continue
            if is_cut and not (call.kills and reader.may_be_cut):
                yield f"{name}: its last line is cut off"
            wanted = self.expected.rows[name]
            if rows != wanted[: len(rows)] and rows != self.expected.old_rows.get(name):
                yield f"{name} has other rows: {rows}"
            complete = complete and not is_cut and rows == wanted
            if tree.is_locked(box / name):
                yield f"{name} is still locked"
        if ended.code == 0 and not complete:
            yield "exit code 0, though not all rows are written"
        if ended.code not in (0, self.expected.code) and ended.hit and not call.kills and call.kind not in _OF_PROCESS:
            path = ended.hit.split(" ", 1)[1]
            names = {os.path.basename(path).removesuffix(".new"), *self.scenario.also_called(path)}
            # What processes hand over is in the outputs as well. On a full disk a program may do without a file, and
            # then fail for another one.
            if path.startswith(str(box / "tmp")) or call.how in ("full", "half"):
                names |= {"cannot", *map(os.path.basename, self.scenario.outputs)}
            # Messages are wrapped.
            squeezed = "".join(ended.said.split())
            if not any("".join(each.split()) in squeezed for each in names):
                yield "the message does not name the file"
        # What a killed process has left is the next run's to remove.
        if not call.kills:
            yield from self._unknown_files(box, ended.said)

    def _unknown_files(self, box, said=None):
        squeezed = "".join((said or "").split())
        for each in sorted(_files(box) - self.expected.files):
            is_told = "".join(each.split()) in squeezed or (said is not None and each in self.scenario.beside)
            if each.endswith("/") or is_told:
                continue
            yield f"leaves {each}"

    def _faults_afterwards(self, box, before, ended):
        if ended.hung or ended.left:
            yield f"does not end, or leaves {ended.left}"
        said = f": {_end_of(ended.said)}"
        # A row whose process was killed stays a failure.
        if ended.code not in (self.expected.code, before.code):
            yield f"exit code {ended.code}{said}"
        for name in self.scenario.outputs:
            try:
                rows, is_cut = self._rows(box, name)
            except (Broken, OSError) as error:
                yield f"{name} {error}{said}"
                continue
            if is_cut or rows != self.expected.rows[name]:
                yield f"{name} has not all rows: {rows}{said}"
        yield from self._unknown_files(box)


def _numbers(calls, every, most):
    """Every `every`-th of the calls, with the first and the last, and at most `most`."""
    if not calls:
        return []
    if most:
        every = max(every, -(-calls // most))
    return sorted({*range(1, calls + 1, every), calls})


def run(chosen, programs, library, options):
    """Runs the scenarios, and prints a table. Returns the number of faults."""
    all_faults = 0
    print(f"{'scenario':<26} {'kind':<9} {'calls':>5} {'points':>6} {'faults':>6}", flush=True)
    for scenario in chosen:
        with tempfile.TemporaryDirectory(prefix="killed-", dir=os.environ.get("TEST_TMPDIR")) as folder:
            runner = Runner(scenario, programs, library, os.path.realpath(folder))
            runner.measure()
            for kind in options.kind or tree.KINDS:
                calls, points, found = runner.expected.calls[kind], 0, []
                most, hows = options.most, HOWS[kind]
                if options.short:
                    most, hows = scenario.short.get(kind, 0), (hows[0], hows[-1])
                    if not most:
                        continue
                for number in _numbers(calls, options.every, most):
                    for how, error in hows:
                        if options.how and how not in options.how:
                            continue
                        call = tree.Call(kind, number, how, error)
                        was_hit, faults = runner.faults_of(call)
                        points += was_hit
                        if faults:
                            found.append("\n    ".join([f"{call}: {faults[0]}", *faults[1:]]))
                if not calls:
                    continue
                if not points:
                    found.append("no call was reached")
                print(f"{scenario.name:<26} {kind:<9} {calls:>5} {points:>6} {len(found):>6}", flush=True)
                for each in found:
                    print(f"  {each}", flush=True)
                all_faults += len(found)
    return all_faults


def main(words):
    parser = argparse.ArgumentParser(prog="killed", description=__doc__, allow_abbrev=False)
    parser.add_argument("--library", required=True, help="of nth_call.c")
    parser.add_argument("--program", action="append", default=[], metavar="NAME=PATH", help="a program of scenarios")
    parser.add_argument("--scenario", action="append", default=[], help="by its name (default: all)")
    parser.add_argument("--kind", action="append", choices=tree.KINDS, help="of calls (default: all)")
    parser.add_argument("--how", action="append", help="a call ends, such as kill (default: all ways)")
    parser.add_argument("--every", type=int, default=1, help="every so many calls (default: 1)")
    parser.add_argument("--most", type=int, default=0, help="calls of a kind (default: no limit)")
    parser.add_argument("--short", action="store_true", help="the choice that the unit test makes")
    options = parser.parse_args(words)
    programs = {name: os.path.abspath(path) for name, _, path in (each.partition("=") for each in options.program)}
    known = [each for each in scenarios.ALL if set(each.programs) <= set(programs)]
    chosen = [each for each in known if not options.scenario or each.name in options.scenario]
    if options.short:
        chosen = [each for each in chosen if each.short]
    if not chosen or set(options.scenario) - {each.name for each in chosen}:
        names = ", ".join(each.name for each in scenarios.ALL)
        parser.error(f"expected --scenario and its --program; there are: {names}")
    faults = run(chosen, programs, os.path.abspath(options.library), options)
    print(f"{faults} faults" if faults != 1 else "1 fault")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
