"""Where results were measured, and whether several files are of one code by one command."""

import hashlib
import json

# The fields of the environment that show that two programs are the same code.
_OF_CODE = ("commit", "compiler", "build_flags", "optimized", "libtorch")

# The name of the hash that tells programs of uncommitted code apart.
BUILD = "the build"

# Samples of each implementation that are compared.
_COMPARED = 100

# So many different values are not in the same order twice; fewer may be, by a coarse clock.
_DISTINCT = 8

# Options that each process may draw for itself.
_DRAWN = ("seed", "check_seed")


class Refused(Exception):
    """The message names the files, the finding and the expectation."""


def machine(run):
    """Returns the name of the machine that a run is of. Throws Refused for a run without one."""
    name = run.header["environment"].get("hostname", "")
    if not name:
        raise Refused(f"{run.path}: does not name its machine; expected `hostname` in its environment")
    return name


def code(run):
    """Returns the facts that must be equal in runs of one code by one command, by their names."""
    header = run.header
    found = {"pace_version": header["pace_version"]}
    found |= {key: header["environment"].get(key, "") for key in _OF_CODE}
    found |= {key: each for key, each in header["options"].items() if key not in _DRAWN}
    # All other fields are the machine's.
    found |= {key: each for key, each in header["configuration"].items() if key.startswith("--")}
    # That in the configuration, which --resume asks for, has the libraries of the system in it, too.
    if build := header["environment"].get("build") or header["configuration"].get(BUILD):
        found[BUILD] = build
    return found | {"suite_alpha": "" if header["suite_alpha"] is None else f"{header['suite_alpha']:g}"}


def require_same_code(runs):
    """Throws Refused if the runs are not of one code by one command."""
    first = code(runs[0])
    for run in runs[1:]:
        other = code(run)
        for key in [*first, *other]:
            one, another = first.get(key, ""), other.get(key, "")
            if one != another:
                raise Refused(
                    f"{runs[0].path} and {run.path} differ in {key}: '{one or 'nothing'}' and "
                    f"'{another or 'nothing'}'; expected results of one commit, of one build, by one command"
                )


def _marks(run):
    """Yields hashes of values that no two processes have in common, each with the name of its comparison."""

    def mark(*content):
        return hashlib.sha256(json.dumps(content).encode()).digest()

    # A process that timed nothing has no more than this.
    began = run.header["environment"].get("date_utc"), machine(run)
    yield mark(began, [[each["name"], each["check_seed"], each["elapsed_ns"]] for each in run.results]), ""
    for result in run.results:
        samples = [row["samples_ns"][:_COMPARED] for row in result["implementations"]]
        if any(samples):
            yield mark(result["name"], result["check_seed"], result["elapsed_ns"], samples), result["name"]
        if len({each for row in samples for each in row}) >= _DISTINCT:
            yield mark(result["name"], samples), result["name"]


def require_each_once(runs):
    """Throws Refused if two files have the results of one process: a machine would count twice, or, where they were
    copied under another hostname, as two machines."""
    known = {}
    for run in runs:
        for key, comparison in _marks(run):
            first = known.setdefault(key, run)
            if first is run:
                continue
            if machine(first) == machine(run):
                raise Refused(
                    f"{first.path} and {run.path} are one process of machine '{machine(run)}'; expected each process "
                    "once"
                )
            raise Refused(
                f"{first.path} of machine '{machine(first)}' and {run.path} of machine '{machine(run)}' have the same "
                f"samples of '{comparison}': they are one process under two hostnames; expected what each machine has "
                "measured itself"
            )
