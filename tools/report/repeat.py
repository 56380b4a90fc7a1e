"""The command line that repeats one comparison of a run."""

import shlex

from report import schema

# Options that would replace the results that the page shows, or that choose the measured part. They are left out of the
# command, with values.
_WITH_VALUE = (
    "--csv --json --junit --html --save-baseline --baseline-expires --output-dir --log-operator-inputs --case --seed "
    "--check-seed"
).split()
_ALONE = "--resume --list --dry-run --profile".split()


def command(of_run, result, results):
    """Returns the command line of the program, with the name and the seeds of one of its results.

    `of_run` is the command of the run, quoted for a shell, or empty; `results` are all of the run, by name.
    """
    if not of_run:
        return ""
    try:
        words = _without(shlex.split(of_run))
    except ValueError:
        # No program writes such a text.
        return of_run
    words += _option("--case", whole_of(result, results)["exact_name"])
    for option, key in (("--seed", "seed"), ("--check-seed", "check_seed")):
        if result[key] is not None:
            words += _option(option, str(int(result[key])))
    return schema.text_of(" ".join(map(_quoted, words)))


def _without(words):
    kept, is_value = [], False
    for word in words:
        # As the programs read it: underscores count as hyphens.
        name = word.partition("=")[0].replace("_", "-")
        if not is_value and name not in _ALONE and name not in _WITH_VALUE:
            kept.append(word)
        is_value = not is_value and name in _WITH_VALUE and "=" not in word
    return kept


def _option(name, value):
    return [f"{name}={value}"] if not value or value.startswith("-") else [name, value]


def whole_of(result, results):
    """Returns the result of the comparison that has this one as a phase, or the same one.

    A phase is named after its comparison, `network/backward`, is chosen together with it, and was measured in the same
    rounds; but the host's time on a GPU in further ones.
    """
    for place, letter in enumerate(result["name"]):
        whole = results.get(result["name"][:place]) if letter == "/" else None
        if whole is None:
            continue
        keys = ["seed", "check_seed", "inputs", "device"]
        if result["name"][place:] != "/host" or not result["device"]:
            keys += ["clock", "iterations", "rounds", "elapsed_ns"]
        if all(result[key] == whole[key] for key in keys):
            return whole
    return result


def _quoted(word):
    if not any(ord(letter) < 32 or letter == "\x7f" for letter in word):
        return shlex.quote(word)
    # The form of Bash and zsh, which keeps a command on one line.
    letters = {"\\": "\\\\", "'": "\\'"}
    return "$'" + "".join(letters.get(c, f"\\x{ord(c):02x}" if ord(c) < 32 or c == "\x7f" else c) for c in word) + "'"
