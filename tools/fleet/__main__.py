"""fleet: results of many machines judged together, a suite resumed, a pool compared, and a fleet simulated."""

import argparse
import importlib
import sys

from fleet import origin
from history import database, results
from report import program

DESCRIPTION = "Works on what tests have measured on many machines; each command has its own --help."

# Modules of this package.
COMMANDS = ("replicates", "keep", "pool", "simulate")


def arguments(words):
    parser = argparse.ArgumentParser(prog="fleet", description=DESCRIPTION, allow_abbrev=False)
    commands = parser.add_subparsers(required=True, metavar="COMMAND")
    # Half of a command's time goes to the imports of the others.
    for name in words[:1] if words[:1] and words[0] in COMMANDS else COMMANDS:
        importlib.import_module("fleet." + name).add_to(commands)
    return parser.parse_args(words)


def main(words):
    options = arguments(words)
    try:
        return options.run(options)
    except (origin.Refused, results.BadFile, database.DatabaseError) as error:
        print(f"fleet: {error}", file=sys.stderr)
    except OSError as error:
        if error.filename is None:
            raise
        print(f"fleet: {error.filename}: {error.strerror or error}", file=sys.stderr)
    return 1


if __name__ == "__main__":
    sys.exit(program.run("fleet", lambda: main(sys.argv[1:])))
