"""python -m pace: compares functions of Python files, and ends with the exit code of pace's programs."""

from __future__ import annotations

import argparse
import sys
from typing import NoReturn

import pace
from pace import named


class _Parser(argparse.ArgumentParser):
    def error(self, message: str) -> NoReturn:
        """Ends with pace's exit code for a wrong command line, in place of argparse's 2."""
        self.print_usage(sys.stderr)
        self.exit(1, f"pace: {message}\n")


def main(words: list[str] | None = None) -> int:
    parser = _Parser(
        prog="python -m pace", description="Compares functions of Python files, which it runs.",
        epilog="exit codes: 0 as expected, 42 not, 43 a guard was let through undecided, 4 nothing was measured, 1 "
               "a wrong command line, or a file cannot be read or written")
    place = "FILE.py:NAME"
    parser.add_argument("--baseline", required=True, metavar=place, help="the function that others are compared with")
    parser.add_argument("--candidate", action="append", default=[], metavar=place,
                        help="a function that is compared with it; again for another")
    parser.add_argument("--inputs", required=True, metavar=place,
                        help="the arguments: a tuple or list, a dict of named ones, a single value, or a function that "
                             "returns one of these")
    parser.add_argument("--device", metavar="DEVICE", help="moves the inputs there, such as cuda or cuda:1")
    parser.add_argument("--speedup-at-least", type=float, action="append", default=[], metavar="FACTOR",
                        help="claim: every candidate is proven to be at least so many times as fast")
    parser.add_argument("--no-slower-than", type=float, action="append", default=[], metavar="FACTOR",
                        help="guard: no candidate is proven to take more than so many times the time")
    parser.add_argument("--mean-no-slower-than", type=float, action="append", default=[], metavar="FACTOR",
                        help="the same of the mean, which outliers count in")
    parser.add_argument("--rtol", type=float, help="relative tolerance of outputs, in place of the learned one")
    parser.add_argument("--atol", type=float, help="absolute tolerance of outputs")
    parser.add_argument("--constant", type=int, action="append", default=[], metavar="NUMBER",
                        help="this tensor, counted from 0, stays the same between calls; again for another")
    parser.add_argument("--budget", type=float, default=1.0, metavar="SECONDS",
                        help="time of the rounds (default: %(default)s)")
    parser.add_argument("--threads", type=int, default=1, help="threads of an operator (default: %(default)s)")
    parser.add_argument("--audit", choices=["off", "standard", "strict"], default="standard",
                        help="how far candidates are distrusted (default: %(default)s)")
    parser.add_argument("--clock", choices=["graph", "hot", "cold", "host", "wall"], help="the clock on a GPU")
    parser.add_argument("--json", metavar="FILE", help="writes the result, as pace's tools read it")
    try:
        return _run(parser.parse_args(words))
    except (pace.Error, named.Unusable) as error:
        print(f"pace: {error}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print("pace: interrupted", file=sys.stderr)
        return 130


def _run(line: argparse.Namespace) -> int:
    baseline = named.function(*_split(line.baseline))
    args, kwargs = named.arguments(*_split(line.inputs), line.device)
    comparison = pace.compare(line.baseline.rpartition("/")[2], *args, **kwargs)
    comparison.baseline(_name(line.baseline), baseline)
    names = {_name(line.baseline)}
    for candidate in line.candidate:
        name = _name(candidate)
        while name in names:
            name += "'"
        names.add(name)
        comparison.candidate(name, named.function(*_split(candidate)))
    options = {"clock": line.clock} if line.clock else {}
    comparison.options(budget=line.budget, audit=line.audit, threads=line.threads, **options)
    tolerances = {name: value for name, value in (("rtol", line.rtol), ("atol", line.atol)) if value is not None}
    if tolerances:
        comparison.check(**tolerances)
    for tensor in line.constant:
        comparison.constant(tensor)
    for factor in line.speedup_at_least:
        comparison.expect(pace.speedup_at_least(factor))
    for factor in line.no_slower_than:
        comparison.expect(pace.no_slower_than(factor))
    for factor in line.mean_no_slower_than:
        comparison.expect(pace.mean_no_slower_than(factor))
    result = comparison.run()
    print(result)
    if line.json:
        pace.write_results(line.json, result)
    code = result.exit_code()
    if code != 0:
        print(f"pace: {result.message}", file=sys.stderr)
    return code


def _name(place: str) -> str:
    return place.rpartition(":")[2]


def _split(place: str) -> tuple[str, str]:
    path, colon, name = place.rpartition(":")
    if not colon or not path.endswith(".py") or not name.isidentifier():
        raise named.Unusable(f"'{place}'; expected FILE.py:NAME")
    return path, name


if __name__ == "__main__":
    sys.exit(main())
