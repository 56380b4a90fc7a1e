"""fleet simulate: the time that a suite would take on a fleet of machines, by simulation from measured comparisons."""

import dataclasses
import io
import json
import math
import os
import sys
import tempfile
import zlib

from fleet import origin, simulation
from fleet.options import command, count, number
from history import database, results
from report import output
from report.options import file_name, user_path

DESCRIPTION = (
    "Simulates a suite on a fleet, from comparisons as they were measured: how long it takes, how many bytes come "
    "back, how large the database of tools/history becomes, and how often a gate errs."
)
EPILOG = (
    "Exit code: 0, or 1 if a file cannot be read or has no comparison, or if the suite would not end; 2 for a bad "
    "command line."
)

# The level at which Bazel's zip compresses undeclared outputs.
LEVEL = 6


def add_to(commands):
    add = command(commands, "simulate", DESCRIPTION, EPILOG, run).add_argument
    add("files", nargs="+", type=file_name, metavar="FILE", help="results, as --json of a pace program wrote them")
    add(
        "--wall",
        type=number(1e-3, 1e9, "a number"),
        required=True,
        metavar="SECONDS",
        help="what the runs took in all",
    )
    add("--comparisons", type=count(10_000_000), default=10_000, metavar="N", help="of the suite (default: 10000)")
    add("--machines", type=count(100_000), default=100, metavar="N", help="of the fleet (default: 100)")
    add("--per-shard", type=count(1_000_000), default=20, metavar="N", help="comparisons of a shard (default: 20)")
    add(
        "--start",
        type=number(0, 1e6, "a number"),
        default=5.0,
        metavar="SECONDS",
        help="what a shard takes before its first comparison (default: 5)",
    )
    add(
        "--spread",
        type=number(0, 2, "a number"),
        default=0.05,
        metavar="SIGMA",
        help="standard deviation of the logarithms of the machines' speeds (default: 0.05)",
    )
    add(
        "--losses",
        type=number(0, 1000, "a number"),
        default=0.0,
        metavar="RATE",
        help="machines lost in an hour of one machine's work (default: 0)",
    )
    add("--alpha", type=number(1e-12, 0.5, "a rate"), default=1e-3, metavar="RATE", help="of one gate (default: 0.001)")
    add("--gates", type=number(0, 100, "a number"), default=1.0, metavar="N", help="of one comparison (default: 1)")
    add("--runs", type=count(100_000), default=50, metavar="N", help="simulated suites (default: 50)")
    add("--seed", type=number(0, 2**63, "a whole number", whole=True), default=1, metavar="N", help="(default: 1)")
    add("--json", type=file_name, metavar="FILE", help="write the figures there, too")


@dataclasses.dataclass(frozen=True)
class Known:
    """A comparison as the files describe it."""

    comparisons: list
    packed_share: float
    """Bytes of packed results, as a share of the bytes of results."""
    database_bytes: float
    """Bytes in a database for each comparison."""


def read(options):
    """Throws results.BadFile, DatabaseError and OSError."""
    rounds, sizes, raw, packed = [], [], 0, 0
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "history.db")
        with database.opened(path, 10, create=True) as connection:
            for name in options.files:
                copy = io.BytesIO()
                file = results.read(user_path(name), copy=copy)
                if file.note:
                    print(f"fleet: {file.note}", file=sys.stderr)
                database.add(connection, file)
                data = copy.getvalue()
                raw += len(data)
                packed += len(zlib.compress(data, LEVEL))
                lines = data.split(b"\n")[1:-1]
                for line, (columns, _) in zip(lines, file.comparisons, strict=True):
                    if columns["elapsed_ns"]:
                        rounds.append(columns["elapsed_ns"] / 1e9)
                        sizes.append(len(line) + 1)
        room = os.path.getsize(path)
    if not rounds:
        raise results.BadFile(f"{', '.join(options.files)}: no comparison has timed rounds")
    # Checks, warm-up and calibration take as long a share of each comparison as of all.
    whole = options.wall / sum(rounds)
    if whole < 1:
        raise results.BadFile(
            f"--wall {options.wall:g}: the rounds alone took {sum(rounds):.3g} s; expected what the runs took in all"
        )
    known = [simulation.Comparison(each * whole, size) for each, size in zip(rounds, sizes)]
    return Known(known, packed / raw, room / len(rounds))


def duration(seconds):
    if seconds < 120:
        return f"{seconds:.3g} s"
    return f"{seconds / 60:.3g} min" if seconds < 7200 else f"{seconds / 3600:.3g} h"


def size(count_of_bytes):
    for unit, scale in (("GB", 1e9), ("MB", 1e6), ("kB", 1e3)):
        if count_of_bytes >= scale:
            return f"{count_of_bytes / scale:.3g} {unit}"
    return f"{count_of_bytes:.0f} B"


def figures(options, known):
    """Returns the figures by their names, in their order on the screen."""
    fleet = simulation.Fleet(
        machines=options.machines,
        per_shard=options.per_shard,
        start_seconds=options.start,
        spread=options.spread,
        losses_per_hour=options.losses,
    )
    try:
        found = simulation.run(known.comparisons, options.comparisons, fleet, options.runs, options.seed)
    except simulation.Endless as error:
        raise origin.Refused(
            f"--losses {options.losses:g}: a shard of {duration(error.seconds)} would be begun {error.times:.2g} times "
            f"before a machine outlives it, since each is lost once in {duration(3600 / options.losses)}; expected at "
            f"most {simulation.MOST_TIMES} times: fewer losses, or shorter shards (--per-shard, --start)"
        ) from None
    gates = options.comparisons * options.gates
    return {
        "comparisons": options.comparisons,
        "machines": options.machines,
        "shards": math.ceil(options.comparisons / options.per_shard),
        "makespan_seconds": found.makespan,
        "makespan_q95_seconds": found.makespan_q95,
        "busy_share": found.busy,
        "lost_shards": found.lost,
        "results_bytes": found.bytes,
        "packed_results_bytes": found.bytes * known.packed_share,
        "database_bytes": known.database_bytes * options.comparisons,
        "expected_false_alarms": gates * options.alpha,
        "any_false_alarm": simulation.any_false_alarm(options.alpha, gates),
        "alpha_for_one_in_twenty": -math.expm1(math.log(0.95) / gates) if gates else None,
    }


def show(options, known, found):
    lengths = sorted(each.seconds for each in known.comparisons)
    print(
        f"measured: {len(lengths)} comparisons of {duration(lengths[0])} to {duration(lengths[-1])}, "
        f"in the middle {duration(lengths[len(lengths) // 2])}"
    )
    rows = [
        ("comparisons, shards, machines", f"{found['comparisons']}, {found['shards']}, {found['machines']}"),
        (
            "takes",
            f"{duration(found['makespan_seconds'])}, one suite in twenty more than "
            f"{duration(found['makespan_q95_seconds'])}",
        ),
        ("machines measure", f"{100 * found['busy_share']:.3g} % of the time"),
        ("shards lost and begun again", f"{found['lost_shards']:.3g}"),
        ("results", f"{size(found['results_bytes'])}, packed {size(found['packed_results_bytes'])}"),
        ("database of tools/history", size(found["database_bytes"])),
        (
            "false alarms expected",
            f"{found['expected_false_alarms']:.3g}; any at all in "
            f"{100 * found['any_false_alarm']:.3g} % of the suites",
        ),
    ]
    if found["alpha_for_one_in_twenty"]:
        rows.append(("for any in 5 % of the suites", f"--alpha {found['alpha_for_one_in_twenty']:.2g}"))
    width = max(len(label) for label, _ in rows)
    for label, value in rows:
        print(f"{label:{width}}  {value}")


def run(options):
    inputs = [os.path.realpath(user_path(name)) for name in options.files]
    if options.json and os.path.realpath(user_path(options.json)) in inputs:
        raise origin.Refused(f"--json {options.json}: is one of the files that are read; expected another name")
    known = read(options)
    found = figures(options, known)
    show(options, known, found)
    if options.json:
        output.write(user_path(options.json), json.dumps(found, indent=1) + "\n")
    return 0
