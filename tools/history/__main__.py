"""history: results of many runs in one SQLite database, their trends, and the points where they changed."""

import argparse
import contextlib
import csv
import os
import shutil
import signal
import sys

from history import database, page, results, text, trends
from report import figures, output
from report import program as report_program
from report.options import Once, file_name, user_path

DESCRIPTION = "Keeps results of many runs in one SQLite database, draws their trends and finds where they changed."
EPILOG = "Exit code: 0, or 1 if something could not be read, added or written; 2 for a bad command line."


def note(message):
    print(f"history: {text.printable(message)}", file=sys.stderr, flush=True)


def add(options):
    failures, is_read = 0, True
    with database.opened(user_path(options.database), options.wait, create=True) as connection:
        for path in options.files:
            try:
                file = results.read(user_path(path))
                said = database.add(connection, file)
            except (results.BadFile, database.DatabaseError) as error:
                note(f"{error}; nothing of it was added")
                failures += 1
                continue
            except OSError as error:
                note(f"{path}: {error.strerror or error}; nothing of it was added")
                failures += 1
                continue
            if file.note:
                note(file.note)
                failures += 1
            try:
                print(text.printable(f"{path}: {said}"), flush=True)
            except BrokenPipeError:
                # The other files are added all the same.
                report_program.discard_output()
                is_read = False
    return 1 if failures else 0 if is_read else 128 + signal.SIGPIPE


def list_runs(options):
    with database.opened(user_path(options.database), options.wait) as connection:
        rows = connection.execute("select * from run_overview order by date_utc, run_id").fetchall()
    print("run  date                  commit        comparisons  host and machine")
    for row in rows:
        machine = ", ".join(part for part in (row["hostname"], row["cpu"], row["gpu"]) if part)
        print(
            text.printable(
                f"{row['run_id']:3}  {row['date_utc']}  {row['commit_id'][:12]:12}  {row['comparisons']:11}  {machine}"
            )
        )
    return 0


def require_other_file(option, path, options):
    known = os.path.realpath(user_path(options.database))
    # SQLite keeps changes that are not in the database yet in files beside it.
    if path and os.path.realpath(user_path(path)) in [known + end for end in ("", "-wal", "-shm", "-journal")]:
        raise database.DatabaseError(f"{option} {path}: is the database, or a part of it; expected another name")


@contextlib.contextmanager
def written_to(option, path):
    """A failure of writing the file names the option and the file."""
    try:
        yield
    except OSError as error:
        expected = "expected a file that can be written"
        raise database.DatabaseError(f"{option} {path}: {error.strerror or error}; {expected}") from None


def chosen_names(connection, options):
    names = trends.names(connection, options.case)
    if not names:
        known = trends.names(connection, "*")
        some = ", ".join(known[:5]) + (f" and {len(known) - 5} more" if len(known) > 5 else "")
        raise database.DatabaseError(
            f"{options.database}: no comparison matches --case '{options.case}'; there are: {some or 'none'}"
        )
    return names


def report(options):
    if options.output == "-":
        raise database.DatabaseError("--output -: the standard output has the trends as text; expected a file")
    require_other_file("--output", options.output, options)
    with database.opened(user_path(options.database), options.wait) as connection:
        found = [trend for name in chosen_names(connection, options) for trend in trends.trends_of(connection, name)]
        runs, machines, first, last = connection.execute(
            "select count(*), count(distinct machine_id), min(date_utc), max(date_utc) from run"
        ).fetchone()
    changes = []
    for trend in found:
        if trend.is_watched:
            changes += trends.changes_of(trend, options.p_value, options.least_change)
    changes = trends.ranked(changes)
    overview = (
        f"{options.database}: {figures.count(runs, 'run')} on {figures.count(machines, 'kind')} of machine, "
        f"from {first} to {last}"
    )
    if options.output:
        made = page.render(overview, found, changes, output.vega())
        with written_to("--output", options.output):
            output.write(user_path(options.output), made)
    for line in text.report(text.printable(overview), found, changes, shutil.get_terminal_size((120, 24)).columns):
        print(line)
    return 0


COLUMNS = (
    "comparison implementation mode date_utc commit_id speedup speedup_low speedup_high median_ns interval_low_ns "
    "interval_high_ns mean_ns q99_ns spread samples outcome verdict inputs clock device machine_id hostname run_id"
).split()


def write_csv(connection, names, target):
    writer = csv.writer(target, lineterminator="\n")
    writer.writerow(COLUMNS)
    for name in names:
        for row in connection.execute(trends.TREND_QUERY, [name]):
            writer.writerow([row[column] for column in COLUMNS])


def export(options):
    require_other_file("--csv", options.csv, options)
    with database.opened(user_path(options.database), options.wait) as connection:
        names = chosen_names(connection, options)
        if options.csv == "-":
            sys.stdout.reconfigure(encoding="utf-8")
            write_csv(connection, names, sys.stdout)
        else:
            with written_to("--csv", options.csv), output.written(user_path(options.csv)) as target:
                write_csv(connection, names, target)
    return 0


def number_in(described, fits):
    """Returns a function that argparse reads a number by that `fits`."""

    def read(value):
        try:
            number = float(value)
        except ValueError:
            number = float("nan")
        if not fits(number):
            raise argparse.ArgumentTypeError(f"invalid value '{value}'; expected {described}")
        return number

    return read


share = number_in("a number from 0 on and below 1, such as 0.01", lambda number: 0 <= number < 1)
positive_share = number_in("a number above 0 and below 1, such as 0.001", lambda number: 0 < number < 1)
seconds = number_in("a number from 0 to 1000000", lambda number: 0 <= number <= 1e6)


def command_line():
    parser = argparse.ArgumentParser(prog="history", description=DESCRIPTION, epilog=EPILOG, allow_abbrev=False)
    commands = parser.add_subparsers(required=True, metavar="COMMAND")

    def command(name, function, help):
        made = commands.add_parser(name, help=help, description=help, allow_abbrev=False)
        made.set_defaults(function=function)
        made.register("action", None, Once)
        made.add_argument("--database", required=True, type=file_name, metavar="FILE", help="the SQLite database")
        made.add_argument(
            "--wait",
            type=seconds,
            default=30,
            metavar="SECONDS",
            help="for another process that writes to the database (default: 30)",
        )
        return made

    adding = command("add", add, "add files of results, each once; makes the database if there is none")
    adding.add_argument("files", nargs="+", type=file_name, metavar="FILE", help="what --json or --save-baseline wrote")
    reporting = command("report", report, "print changes and trends of speed-ups, and draw them")
    reporting.add_argument(
        "--output", type=file_name, metavar="FILE", help="a page for a browser, with the trends as pictures"
    )
    reporting.add_argument(
        "--p-value",
        type=positive_share,
        default=0.001,
        metavar="RATE",
        help="significance that a change needs (default: 0.001)",
    )
    reporting.add_argument(
        "--least-change",
        type=share,
        default=0,
        metavar="SHARE",
        help="changes of a smaller share are left out, such as 0.01 for 1 %% (default: 0)",
    )
    command("list", list_runs, "list the runs in the database")
    exporting = command("export", export, "write the trends as CSV")
    exporting.add_argument("--csv", required=True, type=file_name, metavar="FILE", help="-: on the standard output")
    for each in (reporting, exporting):
        each.add_argument(
            "--case",
            default="*",
            metavar="GLOB",
            help="comparisons whose names match, such as 'layer_norm/*' (default: all)",
        )
    return parser


def main():
    options = command_line().parse_args()
    try:
        return options.function(options)
    except database.DatabaseError as error:
        note(str(error))
        return 1


if __name__ == "__main__":
    sys.exit(report_program.run("history", main))
