"""The database: its tables and views, and how files of results get into it."""

import contextlib
import datetime
import json
import os
import pathlib
import re
import sqlite3
import stat

from report.schema import text_of

# "pace" in ASCII.
APPLICATION_ID = 0x70616365
# The version of the tables below. A program refuses another one.
VERSION = 1

# The facts that absolute times depend on: the same keys as pace::report::identity_keys().
IDENTITY = [
    "cpu",
    "cores",
    "cpu_quota",
    "governor",
    "turbo",
    "kernel",
    "compiler",
    "build_flags",
    "optimized",
    "libtorch",
    "libtorch_cpu_capability",
    "libtorch_threads",
    "gpu",
    "gpu_driver",
    "variables",
]

_TABLES = """
create table machine (
  id integer primary key,
  identity text not null unique,
  cpu text, cores integer, cpu_quota real, governor text, turbo integer, kernel text, compiler text, build_flags text,
  optimized integer, libtorch text, libtorch_cpu_capability text, libtorch_threads text, gpu text, gpu_driver text
);
create table run (
  id integer primary key,
  content text not null unique,
  first_line text not null,
  file text not null,
  added_utc text not null,
  date_utc text not null,
  hostname text not null,
  command_line text not null,
  commit_id text not null,
  pace_version text not null,
  machine_id integer not null references machine,
  suite_alpha real,
  environment text not null,
  options text not null,
  configuration text not null
);
create table comparison (
  id integer primary key,
  run_id integer not null references run on delete cascade,
  line text not null,
  name text not null,
  baseline text not null,
  device text not null,
  inputs text not null,
  clock text not null,
  iterations integer, rounds integer, stop_reason text, elapsed_ns real, confidence real, seed text, check_seed text,
  steal real, waiting real, disturbance text not null
);
create table row (
  id integer primary key,
  comparison_id integer not null references comparison on delete cascade,
  implementation text not null,
  is_baseline integer not null,
  outcome text not null,
  correct integer, max_abs_error real, first_call_ns real, expectation text not null, verdict text, acceptable integer,
  message text not null, gb_per_s real, gflop_per_s real, share_of_peak real, operator_calls integer,
  allocations integer, bytes_allocated integer, kernels integer, launches integer, device_peak_bytes integer,
  instructions_low integer, instructions_high integer
);
create table summary (
  row_id integer not null references row on delete cascade,
  mode text not null,
  samples integer, median_ns real, interval_low_ns real, interval_high_ns real, min_ns real, q20_ns real, q80_ns real,
  q99_ns real, max_ns real, mean_ns real, spread real, speedup real, speedup_low real, speedup_high real,
  speedup_q20 real, speedup_q80 real, speedup_mean real, observations integer, ties integer,
  primary key (row_id, mode)
) without rowid;

create index run_by_first_line on run (first_line);
create index run_by_date on run (date_utc);
create index comparison_by_name on comparison (name);
create index comparison_by_run on comparison (run_id);
create index row_by_comparison on row (comparison_id, implementation);
create index row_that_failed on row (comparison_id)
  where verdict in ('failed', 'invalid') or outcome not in ('measured', 'refused', 'unreached');

create view trend as
select
  comparison.name as comparison, row.implementation, summary.mode, run.date_utc, run.commit_id,
  summary.speedup, summary.speedup_low, summary.speedup_high, summary.median_ns, summary.interval_low_ns,
  summary.interval_high_ns, summary.mean_ns, summary.q99_ns, summary.spread, summary.samples, row.is_baseline,
  row.outcome, row.verdict, comparison.baseline, comparison.inputs, comparison.clock, comparison.device,
  comparison.disturbance, run.machine_id, run.hostname, run.id as run_id
from comparison
  join run on run.id = comparison.run_id
  join row on row.comparison_id = comparison.id
  join summary on summary.row_id = row.id;

create view latest as
with newest as (
  select
    comparison.name, comparison.run_id,
    row_number() over (partition by comparison.name order by run.date_utc desc, run.id desc) as place
  from comparison join run on run.id = comparison.run_id
)
select trend.* from newest join trend on trend.run_id = newest.run_id and trend.comparison = newest.name
where newest.place = 1;

create view failure as
select
  run.date_utc, run.commit_id, comparison.name as comparison, row.implementation, row.outcome, row.verdict,
  row.expectation, row.message, run.id as run_id
from row
  join comparison on comparison.id = row.comparison_id
  join run on run.id = comparison.run_id
where row.verdict in ('failed', 'invalid') or row.outcome not in ('measured', 'refused', 'unreached');

create view run_overview as
select
  run.id as run_id, run.date_utc, run.commit_id, run.hostname, machine.cpu, machine.gpu, machine.libtorch,
  count(comparison.id) as comparisons, run.command_line, run.file
from run
  join machine on machine.id = run.machine_id
  left join comparison on comparison.run_id = run.id
group by run.id;
"""


class DatabaseError(Exception):
    """The message names the database, the finding and the expectation."""


def _processes_with(path):
    """The processes that have the file open, as far as they can be seen, such as `4711 (python3)`."""
    found = []
    for process in pathlib.Path("/proc").glob("[0-9]*"):
        if process.name == str(os.getpid()):
            continue
        with contextlib.suppress(OSError):
            if any(os.path.samefile(link, path) for link in (process / "fd").iterdir() if link.exists()):
                found.append(f"{process.name} ({(process / 'comm').read_text().strip()})")
    return found


def _described(error, path, seconds):
    if "locked" in str(error) or "busy" in str(error):
        writers = _processes_with(path)
        holders = f"; open in process {', '.join(writers)}" if writers else ""
        return f"{path}: another process writes to it, for more than {seconds:g} s{holders}. Try again, or raise --wait"
    return f"{path}: {error}"


_EXPECTED = "expected a database that `history add` made"


def _can_write(path):
    return os.access(path, os.W_OK) and os.access(os.path.dirname(os.path.abspath(path)), os.W_OK)


def _require_usable(path, create):
    """Throws DatabaseError where SQLite would say only that it cannot be opened."""
    folder = os.path.dirname(os.path.abspath(path))
    if create and not os.path.isdir(folder):
        raise DatabaseError(f"{path}: there is no folder {folder}; expected one for the database")
    if create and not os.path.lexists(path):
        if not os.access(folder, os.W_OK):
            raise DatabaseError(f"{path}: cannot be made: the folder {folder} cannot be written to")
        return
    if not os.path.lexists(path):
        raise DatabaseError(f"{path}: there is no such file; {_EXPECTED}")
    try:
        # Without O_NONBLOCK, opening a pipe waits for a writer.
        descriptor = os.open(path, (os.O_RDWR if create else os.O_RDONLY) | os.O_NONBLOCK)
    except OSError as error:
        what = "is a folder" if os.path.isdir(path) else error.strerror
        raise DatabaseError(f"{path}: cannot be opened: {what}; {_EXPECTED}") from None
    mode = os.fstat(descriptor).st_mode
    os.close(descriptor)
    if not stat.S_ISREG(mode):
        what = "is a folder" if stat.S_ISDIR(mode) else "is no regular file"
        raise DatabaseError(f"{path}: cannot be opened: {what}; {_EXPECTED}")


@contextlib.contextmanager
def opened(path, wait, create=False):
    """A connection to the database at `path`, made if `create` is set. `wait`: for so many seconds while another
    process writes. Throws DatabaseError for a file that is none of pace's databases, or of another version, and for
    every error of SQLite while the connection is used."""
    _require_usable(path, create)
    # Beside a database SQLite makes files even to read it. Where it cannot, and none of them holds changes for the
    # database, nothing can change that.
    is_fixed = not create and not _can_write(path) and not os.path.exists(path + "-wal")
    address = pathlib.Path(path).absolute().as_uri() + ("?immutable=1" if is_fixed else "")
    try:
        connection = sqlite3.connect(address, timeout=wait, isolation_level=None, uri=True)
    except sqlite3.Error as error:
        raise DatabaseError(f"{path}: {error}") from None
    try:
        _prepare(connection, path, create)
        connection.execute("pragma foreign_keys = on")
        connection.row_factory = sqlite3.Row
        yield connection
    except sqlite3.Error as error:
        raise DatabaseError(_described(error, path, wait)) from None
    finally:
        connection.close()


def _prepare(connection, path, create):
    def pragma(name):
        return connection.execute(f"pragma {name}").fetchone()[0]

    try:
        application, version = pragma("application_id"), pragma("user_version")
        is_empty = pragma("schema_version") == 0
    except sqlite3.DatabaseError as error:
        if isinstance(error, sqlite3.OperationalError):
            raise
        raise DatabaseError(f"{path}: {error}; {_EXPECTED}") from None
    if is_empty and application == 0 and create:
        # Readers go on while a file is added.
        connection.execute("pragma journal_mode = wal")
        with transaction(connection):
            # Another process may have made the tables meanwhile.
            if pragma("user_version") == 0:
                for statement in _TABLES.split(";\n"):
                    connection.execute(statement)
                connection.execute(f"pragma application_id = {APPLICATION_ID}")
                connection.execute(f"pragma user_version = {VERSION}")
        return
    if application != APPLICATION_ID:
        raise DatabaseError(f"{path}: is no database of pace's history; expected one that `history add` made")
    if version != VERSION:
        raise DatabaseError(
            f"{path}: its user_version is {version}; this program has version {VERSION}. Use the newer program, or "
            "make a new database of the same files"
        )
    known = {name for (name,) in connection.execute("select name from sqlite_master where type in ('table', 'view')")}
    missing = [name for name in re.findall(r"create (?:table|view) (\w+)", _TABLES) if name not in known]
    if missing:
        raise DatabaseError(f"{path}: lacks {', '.join(missing)} of pace's history; {_EXPECTED}")


@contextlib.contextmanager
def transaction(connection):
    """All or nothing. Taking the lock at the beginning leaves no half of a file to repeat."""
    connection.execute("begin immediate")
    try:
        yield
    except BaseException:
        connection.execute("rollback")
        raise
    connection.execute("commit")


def _insert(connection, table, columns):
    names = ", ".join(columns)
    places = ", ".join("?" * len(columns))
    return connection.execute(f"insert into {table} ({names}) values ({places})", list(columns.values())).lastrowid


def _cell(value):
    return json.dumps(value, sort_keys=True) if isinstance(value, (dict, list)) else value


def _machine(connection, environment):
    known = {key: environment.get(key) for key in IDENTITY}
    # Part of the identity alone, and only where some are set: databases of before they were known stay usable.
    variables = known.pop("variables")
    columns = {key: _cell(value) for key, value in known.items()}
    if variables:
        known["variables"] = variables
    # Unknown equals unknown, as for a stored baseline.
    identity = json.dumps(known, sort_keys=True)
    found = connection.execute("select id from machine where identity = ?", [identity]).fetchone()
    if found:
        return found[0]
    return _insert(connection, "machine", {"identity": identity, **columns})


def _known_lines(connection, run):
    return [line for (line,) in connection.execute("select line from comparison where run_id = ? order by id", [run])]


def _text(value):
    return value if isinstance(value, str) else ""


def _insert_run(connection, file, run=None):
    """Inserts the contents of the file as the run of that number, or of the next one. Returns the number."""
    environment = file.header["environment"]
    run = _insert(
        connection,
        "run",
        {
            "id": run,
            "content": file.content,
            "first_line": file.first,
            "file": text_of(file.path),
            "added_utc": datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ"),
            "date_utc": environment["date_utc"],
            **{key: _text(environment.get(key)) for key in ("hostname", "command_line")},
            "commit_id": _text(environment.get("commit")),
            "pace_version": file.header["pace_version"],
            "machine_id": _machine(connection, environment),
            "suite_alpha": file.header["suite_alpha"],
            **{key: json.dumps(file.header[key]) for key in ("environment", "options", "configuration")},
        },
    )
    for line, (comparison, rows) in zip(file.lines, file.comparisons, strict=True):
        comparison_id = _insert(connection, "comparison", {"run_id": run, "line": line, **comparison})
        for row, summaries in rows:
            row_id = _insert(connection, "row", {"comparison_id": comparison_id, **row})
            for summary in summaries:
                _insert(connection, "summary", {"row_id": row_id, **summary})
    return run


def add(connection, file):
    """Adds the measurements of one process, once. Returns a sentence. A file that goes on where a known one was cut off
    replaces that. Throws DatabaseError, and adds nothing, for a value that SQLite has no room for."""
    try:
        return _add(connection, file)
    except OverflowError as error:
        what = "holds a number that no column can"
        raise DatabaseError(f"{file.path}: {what}: {error}; expected less than 2^63") from None
    except UnicodeEncodeError as error:
        what = "holds a text that is not Unicode"
        raise DatabaseError(f"{file.path}: {what}: {error}; expected no half of a surrogate pair") from None


def _add(connection, file):
    with transaction(connection):
        same = connection.execute("select id from run where content = ?", [file.content]).fetchone()
        if same:
            return f"is there already, as run {same[0]}"
        for (run,) in connection.execute("select id from run where first_line = ?", [file.first]).fetchall():
            known = _known_lines(connection, run)
            if known[: len(file.lines)] == file.lines:
                return f"is the beginning of run {run}, which has {len(known)} comparisons"
            if file.lines[: len(known)] == known:
                connection.execute("delete from run where id = ?", [run])
                _insert_run(connection, file, run)
                return f"run {run}: {len(file.lines)} comparisons, {len(known)} of them known before"
        run = _insert_run(connection, file)
    return f"run {run}: {len(file.lines)} comparisons"
