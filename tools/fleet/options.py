"""Options of the commands."""

import argparse
import math

from report.options import Once


def command(commands, name, description, epilog, run):
    """Adds a command, which `run` carries out, and returns its parser."""
    parser = commands.add_parser(name, description=description, epilog=epilog, allow_abbrev=False)
    parser.register("action", None, Once)
    parser.set_defaults(run=run)
    return parser


def number(least, most, what, whole=False):
    """Returns a function that argparse reads a number from `least` to `most` with."""

    def read(text):
        try:
            value = int(text) if whole else float(text)
        except ValueError:
            value = math.nan
        if not least <= value <= most:
            raise argparse.ArgumentTypeError(f"'{text}': expected {what} from {least:g} to {most:g}")
        return value

    return read


def count(most):
    return number(1, most, "a whole number", whole=True)
