"""Makes a page of results: report FILE... --output report.html"""

import argparse
import os
import pathlib
import sys
import tempfile

from report import page, read

_DESCRIPTION = """\
Makes one page of files of results: those that --json of a pace program, of //benches/kernels or of compare_results wrote.
Several files are shown side by side: before and after, shards, machines. The page needs no network and no other file."""

_NOTE = """\
Exit code 0: the page has all that the files hold. 1: something could not be read, or the page not be written; messages
name the file and the line, and a page of the rest is written. 2: the command line cannot be used."""


def _arguments(words):
    parser = argparse.ArgumentParser(
        prog="report",
        description=_DESCRIPTION,
        epilog=_NOTE,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    parser.add_argument("files", nargs="+", metavar="FILE", help="results, in the order in which they are shown")
    parser.add_argument("--output", default="report.html", metavar="FILE", help="the page (default: report.html)")
    arguments = parser.parse_args(words)
    for name in arguments.files:
        if not name:
            parser.error("the name of a file is empty")
    same = [name for name in arguments.files if os.path.realpath(name) == os.path.realpath(arguments.output)]
    if same:
        parser.error(f"--output {arguments.output}: is one of the files that are read; expected another name")
    return arguments


def _vega():
    """The program that draws the pictures, which the build took from vl-convert-python."""
    path = pathlib.Path(__file__).with_name("vega.js")
    return path.read_text("utf-8")


def _write(path, text):
    """Writes the file whole or not at all."""
    if os.path.exists(path) and not os.path.isfile(path):
        # A pipe or a device, such as /dev/stdout.
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
        return
    folder = os.path.dirname(os.path.realpath(path))
    handle, new = tempfile.mkstemp(dir=folder, prefix=".report", suffix=".html")
    try:
        with os.fdopen(handle, "w", encoding="utf-8") as file:
            file.write(text)
        mask = os.umask(0)
        os.umask(mask)
        os.chmod(new, 0o666 & ~mask)
        os.replace(new, os.path.realpath(path))
    except BaseException:
        os.unlink(new)
        raise


def main(words):
    # `bazel run` starts programs elsewhere; paths are the shell's.
    if folder := os.environ.get("BUILD_WORKING_DIRECTORY"):
        os.chdir(folder)
    arguments = _arguments(words)
    inputs = read.read(arguments.files)
    for problem in inputs.problems:
        print(f"report: {problem}", file=sys.stderr)
    if not inputs.any():
        print(f"report: none of {len(arguments.files)} files has a result; no page is written", file=sys.stderr)
        return 1
    try:
        _write(arguments.output, page.render(inputs, arguments.files, _vega()))
    except OSError as error:
        print(
            f"report: {arguments.output}: {error.strerror or error}; expected a file that can be written",
            file=sys.stderr,
        )
        return 1
    return 1 if inputs.problems else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
