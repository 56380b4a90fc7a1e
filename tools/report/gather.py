"""Results below a folder, as `bazel test` leaves them: in the undeclared outputs of tests, packed or not."""

import dataclasses
import io
import os
import re
import shlex
import zipfile
import zlib

from report import kept

# Files of measuring programs there (docs/report.md); the files of --processes have their number.
RESULTS = re.compile(r"results(?:-(\d+))?\.json")
ARCHIVE = "outputs.zip"

# The folder with the outputs of a test that has neither shards nor --runs_per_test.
_WHOLE = "test.outputs"
# A test's folders where it has shards, or --runs_per_test, or both.
_PART = re.compile(r"(?:shard_(\d+)_of_(\d+))?(?:(?:^|_)run_(\d+)_of_(\d+))?")
# `--html` writes these for its page alone and removes them afterwards (include/pace/os/report_program.hpp).
_OF_PAGE = re.compile(r"(?P<page>[^/]+)\.results-[0-9a-f]{16}(?:-(?P<process>\d+))?\.json$")
# The shell's `<(...)` and the standard input.
_STREAM = re.compile(r"/(?:dev|proc/(?:self|\d+))/(?:stdin|fd/\d+)$")
_AROUND = re.compile(r"(/test\.outputs(/outputs\.zip)?|/outputs\.zip)/results(?:-(\d+))?\.json$")


@dataclasses.dataclass(frozen=True)
class Packed:
    """A member of an archive."""

    archive: str
    member: str

    def __str__(self):
        return f"{self.archive}/{self.member}"

    def open(self):
        """Opens it to be read as bytes. Throws OSError where the archive cannot be read."""
        try:
            with zipfile.ZipFile(self.archive) as archive:
                # A member alone looks for the end of a line in pieces of a few bytes.
                return io.BufferedReader(archive.open(self.member), 1 << 18)
        except (zipfile.BadZipFile, zlib.error, NotImplementedError, RuntimeError) as error:
            raise OSError(0, f"cannot be unpacked: {error}") from None


def lasts(path):
    """Whether a reader of the page may find the file by this path."""
    return not (_OF_PAGE.search(path) or _STREAM.fullmatch(path))


def label_of(path, command_line=""):
    """Returns the name of a file of results in a page: the file's own name. For results of a test it is the last
    folders, such as `gates/shard_1_of_2`, with the number of the process. For a file that is gone when the page is
    read, it is the name of the program that has measured, by its command line."""
    if not lasts(path):
        of_page = _OF_PAGE.search(path)
        name = _program_of(command_line) or (of_page["page"] if of_page else "standard input")
        return f"{name}, process {of_page['process']}" if of_page and of_page["process"] else name
    around = _AROUND.search(path)
    if not around or not around.start():
        return path.rsplit("/", 1)[-1]
    parts = path[: around.start()].rsplit("/", 2)[-2:]
    name = "/".join(parts if _PART.fullmatch(parts[-1]) else parts[-1:])
    return f"{name}, process {around[3]}" if around[3] else name


def _program_of(command_line):
    try:
        words = shlex.split(command_line)
    except ValueError:
        words = command_line.split()
    return words[0].rstrip("/").rsplit("/", 1)[-1] if words else ""


def gather(folder):
    """Returns three lists: the places of all results below a folder, in the order of their paths, sentences about
    problems, and notes. The problems are places that cannot be read, and parts that `fleet keep` misses. The notes are
    about parts that a later run has measured, or that are left out, since their test has been run in another number of
    shards or runs. Links are not followed."""
    found, problems, notes = [], [], []
    try:
        if record := kept.read(folder):
            resumed, missing = kept.sentences(record)
            notes += resumed
            problems += missing
    except (OSError, kept.BadRecord) as error:
        problems.append(str(error))
    for path, folders, files in os.walk(os.path.realpath(folder)):
        folders.sort()
        _leave_old_parts(path, folders, notes)
        for name in sorted(files):
            place = os.path.join(path, name)
            if RESULTS.fullmatch(name):
                found.append(place)
            elif name == ARCHIVE:
                try:
                    with zipfile.ZipFile(place) as archive:
                        members = [each for each in archive.namelist() if RESULTS.fullmatch(each.rsplit("/", 1)[-1])]
                    found += [Packed(place, each) for each in sorted(members)]
                except (OSError, zipfile.BadZipFile) as error:
                    problems.append(f"{place}: cannot be unpacked: {error}; expected an archive that Bazel has made")
    return found, problems, notes


def missing_shards(places):
    """Returns sentences about the tests with only some of their shards among these places of results. A shard whose
    folder is beside theirs below one that was given counts as there: it had nothing to measure. Tests that `fleet keep`
    has kept there are left out, since gather() reports their missing parts. `places` has pairs: of a file, and of the
    folder that it was found below, or None."""
    tests, known = {}, {}
    for place, given in places:
        path = os.path.realpath(str(place))
        if not (around := _AROUND.search(path)):
            continue
        folder, name = os.path.split(path[: around.start()])
        if not (part := _PART.fullmatch(name)) or not part[1]:
            continue
        if given not in known:
            known[given] = _kept_tests(given) if given else set()
        if folder in known[given]:
            continue
        there = tests.setdefault((folder, int(part[2]), *part.group(3, 4)), set())
        there.add(int(part[1]))
        if given and os.path.commonpath([os.path.realpath(given), folder]) == os.path.realpath(given):
            parts = map(_PART.fullmatch, os.listdir(folder))
            there.update(int(each[1]) for each in parts if each and each.group(2, 3, 4) == part.group(2, 3, 4))
    sentences = []
    for (folder, count, run, runs), there in sorted(tests.items(), key=lambda item: list(map(str, item[0]))):
        if missing := sorted(set(range(1, count + 1)) - there):
            words = f"shard {missing[0]}" if len(missing) == 1 else f"shards {', '.join(map(str, missing))}"
            where = f"this test in run {run} of {runs}" if run else "this test"
            sentences.append(
                f"{folder}: of the {count} shards of {where}, the results of {words} are not on this page"
            )
    return sentences


def _kept_tests(folder):
    """Returns the folders of the tests that `fleet keep` has kept in a folder."""
    try:
        record = kept.read(folder)
    except (OSError, kept.BadRecord):
        # gather() returns the problems with it.
        return set()
    return {os.path.realpath(os.path.join(folder, each)) for each in kept.folders(record)} if record else set()


def _leave_old_parts(path, folders, notes):
    """Takes those parts out of `folders` that belong to an earlier run of the test."""
    parts = {each: _PART.fullmatch(each).group(2, 4) for each in folders if _PART.fullmatch(each)}
    if _WHOLE in folders:
        parts[_WHOLE] = (None, None)
    if len(set(parts.values())) < 2:
        return
    newest = max(parts, key=lambda each: os.stat(os.path.join(path, each)).st_mtime)
    old = [each for each, count in parts.items() if count != parts[newest]]
    for each in old:
        folders.remove(each)
    shards, runs = parts[newest]
    now = " and ".join([f"in {shards} shards"] * bool(shards) + [f"{runs} times"] * bool(runs)) or "in one piece"
    notes.append(f"{path}: left out {', '.join(sorted(old))}: the test has been run {now} since")
