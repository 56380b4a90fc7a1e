"""The programs, what they are given, and the files that they write."""

import dataclasses
import json
import zipfile
from collections.abc import Callable

from killed import outputs


def _nothing(box, run):
    del box, run


@dataclasses.dataclass(frozen=True)
class Scenario:
    name: str
    programs: tuple
    words: Callable
    """The command line, of the programs and the folder."""
    outputs: dict
    """The reader of each file that is written, by its name in the folder."""
    make: Callable = _nothing
    """Writes the files that are there before, with the folder and a function that runs a command."""
    resume: tuple = ()
    """Words that the command gets after a kill."""
    codes: tuple = (0,)
    """Exit codes of a run without a fault."""
    short: dict = dataclasses.field(default_factory=dict)
    """How many calls of a kind the unit test tries; of other kinds none."""
    beside: tuple = ()
    """Files that an error leaves until the next run, since they hold what could not be written to an output."""
    names: dict = dataclasses.field(default_factory=dict)
    """By the end of a file's name, another name that a message may give it."""

    def again(self, programs, box):
        return [*self.words(programs, box), *self.resume]

    def also_called(self, path):
        return [name for end, name in self.names.items() if path.endswith(end)]


# --- Results, as programs write them


def results(day, *names):
    """A file of results with round figures."""
    header = {
        "schema_version": 3,
        "pace_version": "0.2.0",
        "environment": {"date_utc": f"2026-01-{day:02}T00:00:00Z", "hostname": "host", "commit": f"{day:07x}"},
        "configuration": {},
        "options": {"alpha": 0.001},
    }
    time = {
        "median_ns": 1000.0,
        "interval": {"low_ns": 990.0, "high_ns": 1010.0, "confidence": 0.95},
        "min_ns": 900.0,
        "q20_ns": 950.0,
        "q80_ns": 1050.0,
        "q99_ns": 1100.0,
        "max_ns": 1200.0,
        "mean_ns": 1005.0,
        "spread": 0.02,
        "samples": 16,
    }
    row = {
        "name": "eager",
        "baseline": True,
        "outcome": "measured",
        "checked": True,
        "time": time,
        "speedup": None,
        "samples_ns": [1000.0] * 16,
        "log_ratios": [],
    }
    each = {
        "iterations": 10,
        "rounds": 16,
        "stop_reason": "budget",
        "elapsed_ns": 1e9,
        "clock": "wall",
        "inputs": "Float[8]",
        "seed": 1,
        "implementations": [row],
    }
    return "".join(json.dumps(line) + "\n" for line in [header, *({"name": name, **each} for name in names)])


# --- //tools/history


def _files_of_history(box, run):
    del run
    for day in (1, 2):
        (box / f"{day}.json").write_text(results(day, "first", "second"), "utf-8")


def _add(programs, box):
    del box
    return [programs["history"], "add", "1.json", "2.json", "--database", "history.db"]


_BESIDE = ("history.db-wal", "history.db-shm")

def _history_with_a_run(box, run):
    _files_of_history(box, run)
    run(lambda programs, box: [programs["history"], "add", "1.json", "--database", "history.db"])


def _history_with_runs(box, run):
    _files_of_history(box, run)
    run(_add)
    (box / "trends.csv").write_text("comparison,date_utc\nof yesterday,2026\n", "utf-8")


HISTORY = [
    Scenario(
        name,
        ("history",),
        _add,
        {"history.db": outputs.Database()},
        make,
        short={} if make is _history_with_a_run else {"write": 4, "sync": 2, "truncate": 1},
        beside=_BESIDE,
        names={each: "history.db" for each in (*_BESIDE, "history.db-journal")},
    )
    for name, make in (("history add, new", _files_of_history), ("history add, one more", _history_with_a_run))
] + [
    Scenario(
        "history export, replaced",
        ("history",),
        lambda programs, box: [programs["history"], "export", "--database", "history.db", "--csv", "trends.csv"],
        {"trends.csv": outputs.Csv(("comparison", "date_utc"), may_be_cut=False)},
        _history_with_runs,
        beside=_BESIDE,
        names={each: "history.db" for each in (*_BESIDE, "history.db-journal")},
    )
]

# --- //tools/report


def _files_of_report(box, run):
    _files_of_history(box, run)
    (box / "report.html").write_text("<html>the old one</html>\n", "utf-8")


REPORT = Scenario(
    "report, replaced",
    ("report",),
    lambda programs, box: [programs["report"], "1.json", "2.json", "--output", "report.html"],
    {"report.html": outputs.Page()},
    _files_of_report,
    short={"create": 1, "write": 1, "rename": 1},
)

# --- //tools/fleet


def _files_of_fleet(box, run):
    """What Bazel leaves of a test of two shards."""
    del run
    label, events = "//suite:gates", []
    began = {"uuid": "run 1", "startTimeMillis": "1795679181202", "workspaceDirectory": str(box)}
    events.append({"id": {"started": {}}, "started": began})
    events.append({"id": {"targetConfigured": {"label": label}}, "configured": {"testSize": "SMALL"}})
    parts = [{"testResult": {"label": label, "run": 1, "shard": shard, "attempt": 1}} for shard in (1, 2)]
    events.append({"id": {"targetCompleted": {"label": label}}, "children": parts, "completed": {"success": True}})
    for shard, part in enumerate(parts, 1):
        place = box / f"bazel-testlogs/suite/gates/shard_{shard}_of_2"
        (place / "test.outputs").mkdir(parents=True)
        (place / "test.log").write_text(f"log of shard {shard}\n", "utf-8")
        (place / "test.xml").write_text(f'<testsuites><testcase name="{shard}" classname="a"/></testsuites>', "utf-8")
        with zipfile.ZipFile(place / "test.outputs/outputs.zip", "w") as archive:
            archive.writestr("results.json", results(1, f"case {shard}"))
        end = int(1e3 * (place / "test.log").stat().st_mtime)
        files = ("test.log", "test.xml", "test.outputs/outputs.zip")
        result = {
            "status": "PASSED",
            "testActionOutput": [
                {"name": each.replace("/", "__"), "uri": (place / each).as_uri()} for each in files
            ],
            "testAttemptStartMillisEpoch": str(end - 4500),
            "testAttemptDurationMillis": "4500",
        }
        events.append({"id": part, "testResult": result})
    (box / "events.json").write_text("".join(json.dumps(each) + "\n" for each in events), "utf-8")


FLEET = [
    Scenario(
        "fleet keep",
        ("fleet",),
        lambda programs, box: [programs["fleet"], "keep", "events.json", "--into", "kept"],
        {
            "kept/kept.json": outputs.Json(),
            **{
                f"kept/suite/gates/shard_{shard}_of_2/{name}": reader
                for shard in (1, 2)
                for name, reader in (
                    ("test.log", outputs.Lines()),
                    ("test.xml", outputs.JUnit()),
                    ("test.outputs/outputs.zip", outputs.Archive()),
                )
            },
        },
        _files_of_fleet,
        short={"create": 4, "write": 4, "rename": 3, "truncate": 1},
    )
]

# --- //benches/operators

_CALLS = """\
Operator: aten.relu.default
cnt: 1, ((T([64], f32),), {})
Operator: aten.neg.default
cnt: 1, ((T([64], f32),), {})
"""

_QUICK = (
    "--inp-file calls.txt --backends eager,torchscript --budget 0.005 --warm-up 0.001 --least-duration 0 --seed 1 "
    "--check-seed 1"
).split()

# The implementations of a case.
_OUTPUTS = {
    "a.json": outputs.Results(),
    "a.csv": outputs.Csv(("case", "implementation")),
    "a.xml": outputs.JUnit(),
    "a.html": outputs.Page(),
    # Which operator-bench of other projects writes.
    "operatorbench_calls_float32.csv": outputs.Csv(("operator",)),
}
_OPTIONS = "--json a.json --csv a.csv --junit a.xml --html a.html".split()


def _operators(*options):
    return lambda programs, box: [programs["operators"], *_QUICK, *options]


def _calls(box, run):
    del run
    (box / "calls.txt").write_text(_CALLS, "utf-8")


def _old_files(box, run):
    _calls(box, run)
    for name in ("a.json", "a.baseline"):
        # Longer than the new ones, and shorter.
        names = (f"old/{number}" for number in range(99 if name == "a.json" else 1))
        (box / name).write_text(results(1, *names), "utf-8")
    (box / "a.csv").write_text("case,implementation\n" + "old,old\n" * 999, "utf-8")
    cases = '<testcase name="old" classname="old"/>\n' * 999
    (box / "a.xml").write_text(f"<testsuites>{cases}</testsuites>", "utf-8")
    (box / "a.html").write_text("<html>old</html>", "utf-8")
    (box / "operatorbench_calls_float32.csv").write_text("operator\nold\n", "utf-8")


def _cut_off(box, run):
    """A run was killed as it wrote its second result."""
    _calls(box, run)
    run(_operators(*_RESUMED))
    lines = (box / "a.json").read_text("utf-8").splitlines(keepends=True)
    (box / "a.json").write_text("".join(lines[:2]) + lines[2][: len(lines[2]) // 2], "utf-8")
    for name in ("a.csv", "a.xml", "a.html", "operatorbench_calls_float32.csv"):
        (box / name).unlink()


_RESUMED = "--json a.json --csv a.csv --junit a.xml --html a.html --resume".split()

# Two processes decide no gate.
_PROCESSES = (
    "--processes 2 --no-slower-than 100 --allow-undecided on --max-interference 1 --json a.json --csv a.csv "
    "--html a.html"
).split()

OPERATORS = [
    Scenario("operators", ("operators",), _operators(*_OPTIONS), _OUTPUTS, _calls, resume=("--resume",)),
    Scenario(
        "operators, replaced",
        ("operators",),
        _operators(*_OPTIONS),
        _OUTPUTS,
        _old_files,
        short={"write": 2, "rename": 2, "fork": 1},
    ),
    Scenario("operators --resume", ("operators",), _operators(*_RESUMED), _OUTPUTS, _cut_off),
    Scenario(
        "operators --save-baseline",
        ("operators",),
        _operators("--save-baseline", "a.baseline"),
        {"a.baseline": outputs.Baseline()},
        _old_files,
    ),
    Scenario("operators --html", ("operators",), _operators("--html", "a.html"), {"a.html": outputs.Page()}, _calls),
    Scenario(
        "operators --processes 2",
        ("operators",),
        _operators(*_PROCESSES),
        {
            "a.html": outputs.Page(),
            **{
                f"{name}-{number}{end}": reader
                for number in (1, 2)
                for name, end, reader in (
                    ("a", ".json", outputs.Results()),
                    ("a", ".csv", outputs.Csv(("case", "implementation"))),
                    ("operatorbench_calls_float32", ".csv", outputs.Csv(("operator",))),
                )
            },
        },
        _calls,
    ),
]

# --- //benches/models


def _models(programs, box):
    del box
    words = "--small --device cpu --performance --inference --nothing -k ^dlrm$ --repeat 3 --output-directory ."
    return [programs["models"], *words.split(), "--config", "models.yaml"]


def _no_models(box, run):
    del run
    (box / "models.yaml").write_text("{}\n", "utf-8")


def _old_models(box, run):
    _no_models(box, run)
    run(_models)
    for name in ("nothing.csv", "nothing.json"):
        (box / name).write_text((box / name).read_text("utf-8").replace("dlrm", "older"), "utf-8")


MODELS = [
    Scenario(
        name,
        ("models",),
        _models,
        {"nothing.csv": outputs.Csv(("dev", "name")), "nothing.json": outputs.Records()},
        make,
        resume=("--resume",) if make is _no_models else (),
    )
    for name, make in (("models", _no_models), ("models, replaced", _old_models))
]

ALL = (*OPERATORS, *MODELS, *HISTORY, REPORT, *FLEET)
