"""Makes a page of results: report FILE... --output report.html"""

import argparse
import gc
import os
import sys

from report import output, page, program, read, schema
from report.options import Once, file_name

_DESCRIPTION = (
    "Makes one page of files of results: those that --json of a pace program, of //benches/kernels or of "
    "compare_results wrote. Several files are shown side by side: before and after, shards, machines. A folder, such "
    "as bazel-testlogs, makes one page of all results of tests below it. The page needs no network and no other file."
)

_NOTE = (
    "Exit code 0: the page has all that the files hold. 1: something could not be read, or the page not be written; "
    "messages name the file and the line, and a page of the rest is written. 2: the command line cannot be used."
)


def _place(name):
    """Where a file that is read is found."""
    return "/dev/stdin" if name == "-" else name


def _arguments(words):
    parser = argparse.ArgumentParser(prog="report", description=_DESCRIPTION, epilog=_NOTE, allow_abbrev=False)
    parser.register("action", None, Once)
    parser.add_argument(
        "files",
        nargs="+",
        type=file_name,
        metavar="FILE",
        help="results, or a folder of tests, in the order in which they are shown; -: the standard input",
    )
    parser.add_argument(
        "--output",
        type=file_name,
        default="report.html",
        metavar="FILE",
        help="the page (default: report.html); -: the standard output",
    )
    arguments = parser.parse_args(words)
    known = {}
    for name in arguments.files:
        place = os.path.realpath(_place(name))
        if place in known:
            other = "" if name == known[place] else f", as {known[place]}"
            parser.error(f"{name}: is given twice{other}; expected each file once")
        known[place] = name
    if arguments.output != "-" and os.path.realpath(arguments.output) in known:
        parser.error(f"--output {arguments.output}: is one of the files that are read; expected another name")
    return arguments


def main(words):
    # `bazel run` starts programs elsewhere; paths are the shell's.
    if folder := os.environ.get("BUILD_WORKING_DIRECTORY"):
        os.chdir(folder)
    arguments = _arguments(words)
    inputs = read.read([_place(name) for name in arguments.files])
    for sentence in [*inputs.notes, *inputs.problems]:
        print(f"report: {sentence}", file=sys.stderr)
    if not inputs.any():
        print(f"report: none of {len(arguments.files)} files has a result; no page is written", file=sys.stderr)
        return 1
    try:
        names = [schema.text_of(name) for name in arguments.files]
        made = page.render(inputs, names, output.vega())
        if arguments.output == "-":
            sys.stdout.reconfigure(encoding="utf-8", errors="strict")
            sys.stdout.write(made)
        else:
            output.write(arguments.output, made)
    except BrokenPipeError:
        raise
    except OSError as error:
        print(
            f"report: {arguments.output}: {error.strerror or error}; expected a file that can be written",
            file=sys.stderr,
        )
        return 1
    return 1 if inputs.problems else 0


if __name__ == "__main__":
    # The results read have no cycles; looking for some in the results of a suite took a sixth of the time.
    gc.disable()
    sys.exit(program.run("report", lambda: main(sys.argv[1:])))
