"""The record that `fleet keep` writes beside the results of a suite that it has kept: which run of Bazel measured each
part."""

import json
import os

NAME = "kept.json"

VERSION = 1


class BadRecord(Exception):
    """The message names the file, the finding and the expectation."""


def read(folder):
    """Returns the record of a folder, or None where there is none. Throws BadRecord for one that `fleet keep` has not
    written, and OSError."""
    path = os.path.join(folder, NAME)
    try:
        with open(path, encoding="utf-8") as file:
            record = json.load(file)
    except FileNotFoundError:
        return None
    except ValueError as error:
        raise BadRecord(f"{path}: is no record of kept results: {error}; expected what `fleet keep` wrote") from None
    try:
        if record["kept_version"] != VERSION:
            raise BadRecord(f"{path}: its kept_version is {record['kept_version']}; this program reads {VERSION}")
        # The fields that sentences() reads.
        sentences(record)
    except (AttributeError, KeyError, IndexError, TypeError) as error:
        raise BadRecord(f"{path}: is no record of kept results: {error!r}; expected what `fleet keep` wrote") from None
    return record


def folders(record):
    """Returns the folders of the tests that have a part in the record, below its own folder. sentences() names the
    missing parts of each."""
    parts = [part for test in record["tests"].values() for part in test["parts"].values() if part["folder"]]
    return {os.path.dirname(each["folder"]) for each in parts if max(each["part"][1::2]) > 1}


def part_in_words(part):
    """Returns such as `shard 2`, `run 3` or `shard 2, run 3` for the part [shard, shards, run, runs]."""
    shard, shards, run, runs = part
    words = [f"shard {shard} of {shards}"] * (shards > 1) + [f"run {run} of {runs}"] * (runs > 1)
    return ", ".join(words) or "all of it"


def sentences(record):
    """Returns the record's sentences about parts that a later run has measured, and about parts that no run has."""
    resumed, missing = [], []
    for label, test in sorted(record["tests"].items()):
        if not test["parts"]:
            missing.append(f"{label}: no result of it is here, since no run of Bazel has measured it")
        for part in test["parts"].values():
            words = part_in_words(part["part"])
            if not part["folder"]:
                missing.append(f"{label}: {words} is missing: no run of Bazel has measured it ({part['status']})")
            elif part["attempt"] > 1:
                began = record["attempts"][part["attempt"] - 1]["began_utc"]
                resumed.append(f"{label}: {words} was resumed: it is of run {part['attempt']}, which began {began}")
    return resumed, missing
