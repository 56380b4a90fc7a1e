"""Options of the programs in tools/ as argparse reads them."""

import argparse
import os


class Once(argparse.Action):
    """An option that is given twice is refused: one of its values would be ignored."""

    def __call__(self, parser, namespace, value, option_string=None):
        given = namespace.__dict__.setdefault("_given", set())
        if self.dest in given:
            parser.error(f"{option_string}: is given twice; expected it once")
        given.add(self.dest)
        setattr(namespace, self.dest, value)


def file_name(value):
    """Returns the name of a file. Throws ArgumentTypeError for an empty one."""
    if not value:
        raise argparse.ArgumentTypeError("the name of a file is empty")
    return value


def user_path(path):
    """`bazel run` starts programs in their runfiles; a relative path is one of the shell that called it."""
    return os.path.join(os.environ.get("BUILD_WORKING_DIRECTORY", ""), path)
