"""Results below a folder, as `bazel test` leaves them: in the undeclared outputs of tests, packed or not."""

import dataclasses
import os
import re
import zipfile
import zlib

# What programs that measure write there (docs/report.md).
RESULTS = "results.json"
ARCHIVE = "outputs.zip"

_SHARD = re.compile(r"shard_(\d+)_of_(\d+)")
_AROUND = re.compile(r"(/test\.outputs(/outputs\.zip)?|/outputs\.zip)/results\.json$")


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
                return archive.open(self.member)
        except (zipfile.BadZipFile, zlib.error, NotImplementedError, RuntimeError) as error:
            raise OSError(0, f"cannot be unpacked: {error}") from None


def label_of(path):
    """Returns the name of a file of results in a page: that of the file, but for results of a test the last folders,
    such as `gates/shard_1_of_2`."""
    folder = _AROUND.sub("", path)
    if folder == path or not folder:
        return path.rsplit("/", 1)[-1]
    parts = folder.rsplit("/", 2)[-2:]
    return "/".join(parts if _SHARD.fullmatch(parts[-1]) else parts[-1:])


def gather(folder):
    """Returns the places of all results below a folder, in the order of their paths; sentences about what cannot be read;
    and sentences about shards that are left out, since their test has been run in another number of shards. Links are not
    followed."""
    found, problems, notes = [], [], []
    for path, folders, files in os.walk(os.path.realpath(folder)):
        folders.sort()
        _leave_old_shards(path, folders, notes)
        for name in sorted(files):
            place = os.path.join(path, name)
            if name == RESULTS:
                found.append(place)
            elif name == ARCHIVE:
                try:
                    with zipfile.ZipFile(place) as archive:
                        members = [each for each in archive.namelist() if each.rsplit("/", 1)[-1] == RESULTS]
                    found += [Packed(place, each) for each in sorted(members)]
                except (OSError, zipfile.BadZipFile) as error:
                    problems.append(f"{place}: cannot be unpacked: {error}; expected an archive that Bazel has made")
    return found, problems, notes


def _leave_old_shards(path, folders, notes):
    """Takes those shards out of `folders` that belong to an earlier run of the test."""
    shards = {each: int(_SHARD.fullmatch(each)[2]) for each in folders if _SHARD.fullmatch(each)}
    if len(set(shards.values())) < 2:
        return
    newest = max(shards, key=lambda each: os.stat(os.path.join(path, each)).st_mtime)
    old = [each for each, count in shards.items() if count != shards[newest]]
    for each in old:
        folders.remove(each)
    notes.append(
        f"{path}: left out {', '.join(sorted(old))}: the test has been run in {shards[newest]} shards since"
    )
