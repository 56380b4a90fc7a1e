"""fleet keep: measurements of a run of Bazel are kept, and another run measures the parts that a lost worker has
left."""

import dataclasses
import datetime
import hashlib
import json
import math
import os
import re
import shlex
import shutil
import urllib.parse
import zipfile

from fleet import origin
from fleet.options import command
from report import gather, kept, output, read, schema
from report.input import open_input
from report.options import file_name, user_path

DESCRIPTION = (
    "Keeps the results of tests that a run of Bazel has ended, by the events that --build_event_json_file has written, "
    "and writes options with which another run measures the missing parts. Such as:  "
    "keep /tmp/events.json --into /tmp/suite"
)
EPILOG = (
    "Exit code: 0 if all parts of all tests are kept and have passed, 42 if one has failed, 43 if one is missing, 1 if "
    "something cannot be read or written, 2 for a bad command line."
)

# A test that has ended, with any finding. All else is a worker, a network or an engine that was lost: a part that
# failed is never measured again, which would multiply the error rates of its gates.
ENDED = ("PASSED", "FLAKY", "FAILED", "TIMEOUT")
GOOD = ("PASSED", "FLAKY")

FAILED, INCOMPLETE = 42, 43

# The options of the run that resumes, and its targets.
OPTIONS, TARGETS = "resume.bazelrc", "resume.targets"

# In the outputs of a part that a resuming run leaves out.
LEFT_OUT = "left_out"

_OUTPUTS = "test.outputs/" + gather.ARCHIVE
_FILES = ("test.log", "test.xml", _OUTPUTS)

# Files have whole seconds on some disks, and Bazel's clocks of a test and of its files differ by some.
_SLACK = 2.0

# Where Bazel moves the files of an attempt that another one follows.
_ATTEMPTS = "test_attempts"


@dataclasses.dataclass
class Part:
    """A part of a test in one run of Bazel."""

    part: list
    """Its shard, their number, its run and their number."""
    status: str
    files: dict = dataclasses.field(default_factory=dict)
    """Where its files are, by their names in the folder of a test; empty where it has none."""


@dataclasses.dataclass
class Events:
    path: str
    identity: str = ""
    began: str = ""
    ended: float | None = None
    """Seconds of the clock; of a run that was killed not known."""
    testlogs: str = ""
    tests: dict = dataclasses.field(default_factory=dict)
    """By label, parts by their name, such as "2.1" for shard 2 of run 1."""


def add_to(commands):
    add = command(commands, "keep", DESCRIPTION, EPILOG, run).add_argument
    add("events", type=file_name, metavar="EVENTS", help="what --build_event_json_file of `bazel test` has written")
    add("--into", type=file_name, required=True, metavar="FOLDER", help="where results are kept; it is made")


def _name(shard, run_):
    return f"{shard}.{run_}"


def _lines(path):
    try:
        with open_input(path) as file:
            yield from file
    except OSError as error:
        raise origin.Refused(f"{path}: {error.strerror or error}") from None


def read_events(path):
    """Returns the tests of a run of Bazel. Throws Refused for a file that has none."""
    events = []
    for number, line in enumerate(_lines(path), 1):
        try:
            events.append(json.loads(line))
            events[-1]["id"].items()
        except (ValueError, TypeError, KeyError, AttributeError):
            # A Bazel that was killed has cut its last line off.
            if not line.endswith(b"\n"):
                break
            raise origin.Refused(
                f"{path}:{number}: is no event of Bazel; expected what --build_event_json_file has written"
            ) from None
    found = Events(path)
    # The results' files are looked for by the time when the run has ended.
    for take in (_take_end, _take):
        for number, event in enumerate(events, 1):
            try:
                take(found, event)
            except (AttributeError, KeyError, OverflowError, TypeError, ValueError) as error:
                what = f'it has no "{error.args[0]}"' if isinstance(error, KeyError) else str(error)
                raise origin.Refused(
                    f"{path}:{number}: is no event that this program reads: {what}; expected what "
                    "--build_event_json_file has written"
                ) from None
    if not found.tests:
        raise origin.Refused(f"{path}: names no test; expected the events of a `bazel test`")
    return found


def _take_end(found, event):
    if "finished" in event:
        # Files have whole seconds on some disks.
        found.ended = int(event["finished"]["finishTimeMillis"]) / 1e3 + 1


def _take(found, event):
    identity = event["id"]
    if "started" in event:
        found.identity = event["started"]["uuid"]
        found.testlogs = os.path.join(event["started"]["workspaceDirectory"], "bazel-testlogs")
        moment = int(event["started"]["startTimeMillis"]) / 1e3
        found.began = datetime.datetime.fromtimestamp(moment, datetime.timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ")
    elif "testSize" in event.get("configured", {}):
        found.tests.setdefault(_label(identity["targetConfigured"]), {})
    elif "completed" in event:
        _expect(found, event)
    elif "testResult" in identity:
        _add_result(found, identity["testResult"], event)


def _number(identity, key):
    value = identity[key]
    if isinstance(value, bool) or not isinstance(value, int):
        raise ValueError(f"{key} is {value!r}, and no whole number")
    return value


def _label(identity):
    """Returns the label of a test. Throws ValueError for one that Bazel does not have, and that would lead out of the
    folder."""
    label = identity["label"]
    if not isinstance(label, str) or not re.fullmatch(r"@{0,2}[^/:@]*//[^\x00-\x1f\x7f]+", label):
        raise ValueError(f"label is {label!r}, and no label of Bazel")
    # Bazel has neither folders nor targets of these names.
    if any(set(each) <= {"."} for each in re.split("[/:]", re.sub(r"^@{0,2}([^/]*)//:?", r"\1/", label).lstrip("/"))):
        raise ValueError(f"label is {label!r}, which has an empty part or one of dots alone, and is no label of Bazel")
    return label


def _expect(found, event):
    """Adds all parts of a test that has no known result yet."""
    all_ = [each["testResult"] for each in event.get("children", []) if "testResult" in each]
    shards = max((_number(each, "shard") for each in all_), default=0)
    runs = max((_number(each, "run") for each in all_), default=0)
    for each in all_:
        parts = found.tests.setdefault(_label(each), {})
        words = [each["shard"], shards, each["run"], runs]
        parts.setdefault(_name(each["shard"], each["run"]), Part(words, "NO_STATUS"))


def _add_result(found, identity, event):
    label, shard, run_ = _label(identity), _number(identity, "shard"), _number(identity, "run")
    part = found.tests.setdefault(label, {}).setdefault(_name(shard, run_), Part([shard, 1, run_, 1], "NO_STATUS"))
    # The attempts of a part have an event each, in their order. The first one with a verdict counts: a gate that is
    # measured again until it passes has lost its error rates.
    if "testResult" not in event or part.status in ENDED:
        return
    part.status = event["testResult"].get("status", "NO_STATUS")
    if part.status not in ENDED:
        return
    folder = os.path.join(found.testlogs, folder_of(label, part.part))
    ended, attempt = _ended(found, event["testResult"]), _number({"attempt": 1, **identity}, "attempt")
    for file in event["testResult"].get("testActionOutput", []):
        name = file["name"].replace("test.outputs__", "test.outputs/")
        if name in _FILES:
            where = urllib.parse.urlsplit(file.get("uri", ""))
            if where.scheme != "bytestream" and ended is None:
                raise origin.Refused(
                    f"{found.path}: was cut off; why: {label} has no time at which its attempt ended, so that its "
                    "files cannot be told from another run's; try: run the tests again to their end, and keep those"
                )
            # Some versions of Bazel make it after the attempt, whose log is looked at.
            last = math.inf if name == "test.xml" and found.ended is None else ended
            part.files[name] = _own(found, folder, name, attempt, where, last)


def _ended(found, result):
    """Returns the last moment when this run may have written the files of an attempt, in seconds of the clock, or None
    where the events do not say."""
    if found.ended is not None:
        return found.ended
    if result.get("executionInfo", {}).get("cachedRemotely"):
        # It was measured before this run, which has written its files before it wrote this event.
        return os.stat(found.path).st_mtime + _SLACK
    if "testAttemptStartMillisEpoch" in result and "testAttemptDurationMillis" in result:
        took = int(result["testAttemptStartMillisEpoch"]) + int(result["testAttemptDurationMillis"])
        return took / 1e3 + _SLACK
    # Later versions of Bazel.
    if "testAttemptStart" in result and "testAttemptDuration" in result:
        # Python 3.10 reads no other number of digits than six.
        moment, _, fraction = result["testAttemptStart"].removesuffix("Z").partition(".")
        began = datetime.datetime.fromisoformat(moment).replace(tzinfo=datetime.timezone.utc).timestamp()
        return began + float(f"0.{fraction or 0}") + float(result["testAttemptDuration"].removesuffix("s")) + _SLACK
    return None


def folder_of(label, part):
    """Returns the folder of a part below bazel-testlogs, as Bazel calls it."""
    shard, shards, run_, runs = part
    # The main repository has the name "", if any.
    place = re.sub(r"^@@?([^/@]+)//", r"external/\1/", re.sub(r"^@{0,2}//", "", label)).replace(":", "/").lstrip("/")
    words = [f"shard_{shard}_of_{shards}"] * (shards > 1) + [f"run_{run_}_of_{runs}"] * (runs > 1)
    return "/".join([place, "_".join(words)] if words else [place])


def _own(found, folder, name, attempt, where, ended):
    """Returns where a file of an attempt is: Bazel moves it to a folder of its own before the next attempt begins.
    Throws Refused if it is not from this run of Bazel: another one may have written it since."""
    moved = os.path.join(folder, _ATTEMPTS, re.sub(r"^test", f"attempt_{attempt}", name))
    if where.scheme == "bytestream":
        # Remote execution names no place, only the hash of the content: .../blobs/HASH/SIZE.
        places = [os.path.join(folder, name), moved]
    else:
        places = [moved if where.path.endswith(os.path.relpath(moved, folder)) else os.path.join(folder, name)]
    there = [each for each in places if os.path.exists(each)]
    expected = "expected the files of this run; keep them before another run"
    if not there:
        raise origin.Refused(f"{found.path}: {places[0]} is not there; {expected} (and --remote_download_outputs=all)")
    for path in there:
        if _is_own(path, where, ended):
            return path
    raise origin.Refused(f"{found.path}: {there[0]} is of another run of Bazel; {expected}")


def _is_own(path, where, ended):
    if where.scheme == "bytestream":
        with open(path, "rb") as file:
            return hashlib.sha256(file.read()).hexdigest() == where.path.rsplit("/", 2)[-2]
    # Bazel has waited for all of its files.
    return os.stat(path).st_mtime <= ended


def _outputs(part):
    """Returns the names in the undeclared outputs of a part."""
    if _OUTPUTS not in part.files:
        return []
    try:
        with zipfile.ZipFile(part.files[_OUTPUTS]) as archive:
            return archive.namelist()
    except zipfile.BadZipFile as error:
        raise origin.Refused(f"{part.files[_OUTPUTS]}: cannot be unpacked: {error}") from None


def _code(part, names):
    """Returns the code that measured a part, as origin.code() has it, or None for a part without results."""
    for name in sorted(names):
        if gather.RESULTS.fullmatch(name):
            place = gather.Packed(part.files[_OUTPUTS], name)
            with place.open() as file:
                line = file.readline(read.LONGEST_LINE)
            try:
                return origin.code(read.Run(str(place), schema.HEADER.read(json.loads(line)), []))
            except (ValueError, schema.Unexpected):
                # Cut off in its first line: the part has ended without a result.
                return None
    return None


def _build_of(test, folder):
    """Returns the build that measured the kept results of a test, or an empty text. The results themselves name it,
    also where the record was written before records did."""
    for entry in test["parts"].values():
        outputs = os.path.join(folder, entry["folder"], _OUTPUTS)
        if entry["folder"] and os.path.exists(outputs):
            part = Part(entry["part"], entry["status"], {_OUTPUTS: outputs})
            if code := _code(part, _outputs(part)):
                return code.get(origin.BUILD, "")
    return ""


def _require_same_code(label, path, code, test, folder):
    first = test.setdefault("code", code)
    if origin.BUILD not in first:
        first[origin.BUILD] = _build_of(test, folder)
    for key in [*first, *code]:
        one, another = code.get(key, ""), first.get(key, "")
        if one == another:
            continue
        why = ""
        if key == origin.BUILD and not another:
            why = (
                "; why: a program of an earlier version or a linker without build IDs made the kept ones, so that the "
                "same commit may be other code"
            )
        raise origin.Refused(
            f"{path}: {label} differs from its kept results in {key}: '{one or 'nothing'}' and "
            f"'{another or 'nothing'}'{why}; expected results of one commit, of one build, by one command (or another "
            "--into)"
        )


def add(record, events, folder):
    """Adds the ended parts to the record, and their files to the folder. Throws Refused, before any file is copied, if
    its code differs from the kept results' code."""
    known = [each["identity"] for each in record["attempts"]]
    if events.identity not in known:
        record["attempts"].append({"identity": events.identity, "began_utc": events.began})
        known.append(events.identity)
    attempt, chosen = known.index(events.identity) + 1, []
    for label, parts in events.tests.items():
        test = record["tests"].setdefault(label, {"parts": {}})
        if test["parts"] and parts and set(test["parts"]) != set(parts):
            raise origin.Refused(
                f"{events.path}: {label} has {len(parts)} parts, and {len(test['parts'])} in the folder; expected the "
                "same number of shards and runs (or another --into)"
            )
        for name, part in parts.items():
            entry = test["parts"].setdefault(name, {"part": part.part, "attempt": 0, "folder": "", "status": ""})
            if entry["folder"]:
                continue
            names = _outputs(part)
            if LEFT_OUT in names:
                continue
            entry["status"] = part.status
            if not part.files:
                continue
            if code := _code(part, names):
                _require_same_code(label, part.files[_OUTPUTS], code, test, folder)
            entry |= {"attempt": attempt, "folder": folder_of(label, part.part)}
            chosen.append((part.files, entry["folder"]))
    for files, name in chosen:
        _copy(files, os.path.join(folder, name))


def _require_folders(record, folder):
    """Throws Refused if files that the record calls kept have gone."""
    for label, test in sorted(record["tests"].items()):
        for part in test["parts"].values():
            place = os.path.join(folder, part["folder"])
            if part["folder"] and not (os.path.isdir(place) and os.listdir(place)):
                raise origin.Refused(
                    f"{place} is not there, though it was kept: {label}: {kept.part_in_words(part['part'])}; expected "
                    "the folder as keep has left it, or another --into"
                )


def _copy(files, target):
    """Copies the files of a part as a whole or not at all."""
    new = os.path.join(os.path.dirname(target), ".new-" + os.path.basename(target))
    # A run that was killed may have left one.
    shutil.rmtree(new, ignore_errors=True)
    os.makedirs(new)
    try:
        for name, source in files.items():
            os.makedirs(os.path.dirname(os.path.join(new, name)), exist_ok=True)
            try:
                shutil.copyfile(source, os.path.join(new, name))
            except OSError as error:
                # Which of the two files it concerns does not show.
                to = os.path.join(target, name)
                raise origin.Refused(f"{source}: cannot be copied to {to}: {error.strerror or error}") from None
        # A run that was ended before its record was written may have left one.
        shutil.rmtree(target, ignore_errors=True)
        os.rename(new, target)
    except BaseException:
        shutil.rmtree(new, ignore_errors=True)
        raise


def missing(record):
    """Returns the names of the parts that no run has ended, by label; none of them where a test has not begun."""
    found = {}
    for label, test in record["tests"].items():
        names = [name for name, each in test["parts"].items() if not each["folder"]]
        if names or not test["parts"]:
            found[label] = names
    return found


def run_under(wanted):
    """Returns the value of Bazel's --run_under that runs the parts in `wanted` and ends all others at once. It is a
    command and no target, so that every workspace and every worker has it."""
    # Names of targets may have characters that a shell acts on.
    quoted = {re.sub(r'([$`"\\])', r"\\\1", label): names for label, names in sorted(wanted.items())}
    cases = "".join(f'"{label}") wanted=" {" ".join(names) or "all"} ";; ' for label, names in quoted.items())
    script = (
        'part=$((${TEST_SHARD_INDEX:-0} + 1)).${TEST_RUN_NUMBER:-1}; wanted=""; '
        f'case "$TEST_TARGET" in {cases}esac; '
        'case "$wanted" in *" $part "* | " all ") exec "$@";; esac; '
        'if [ "$TEST_SHARD_STATUS_FILE" ]; then touch "$TEST_SHARD_STATUS_FILE"; fi; '
        f'echo "measured before" >"$TEST_UNDECLARED_OUTPUTS_DIR/{LEFT_OUT}"'
    )
    return f"/bin/bash -c {shlex.quote(script)} fleet"


def _in_rc(word):
    """Returns a word as a file of Bazel's options reads it."""
    return re.sub(r"([^\w/.:=-])", r"\\\1", word)


def write_resuming(folder, wanted):
    targets = os.path.join(folder, TARGETS)
    output.write(targets, "".join(f"{label}\n" for label in sorted(wanted)))
    words = [f"--run_under={run_under(wanted)}", f"--target_pattern_file={targets}"]
    output.write(os.path.join(folder, OPTIONS), "".join(f"test {_in_rc(each)}\n" for each in words))


def run(options):
    folder = os.path.abspath(user_path(options.into))
    try:
        record = kept.read(folder) or {"kept_version": kept.VERSION, "attempts": [], "tests": {}}
    except kept.BadRecord as error:
        raise origin.Refused(str(error)) from None
    _require_folders(record, folder)
    add(record, read_events(user_path(options.events)), folder)
    os.makedirs(folder, exist_ok=True)
    output.write(os.path.join(folder, kept.NAME), json.dumps(record, indent=1) + "\n")
    parts = [each for test in record["tests"].values() for each in test["parts"].values()]
    there = [each for each in parts if each["folder"]]
    print(f"{options.into}: {len(there)} of {len(parts)} parts of {len(record['tests'])} tests are kept")
    resumed, lacking = kept.sentences(record)
    print("".join(f"  {each}\n" for each in [*resumed, *lacking]), end="")
    failed = [
        f"{label}: {kept.part_in_words(each['part'])}: {each['status']}; its log is in "
        f"{os.path.join(folder, each['folder'])}"
        for label, test in sorted(record["tests"].items())
        for each in test["parts"].values()
        if each["folder"] and each["status"] not in GOOD
    ]
    print("".join(f"  {each}\n" for each in failed), end="")
    if wanted := missing(record):
        write_resuming(folder, wanted)
        bazel = os.environ.get("PACE_BAZEL_WRAPPER", "bazel")
        print(
            "try: measure the missing parts, with the other options as before, and keep the new events, too:\n"
            f"  {bazel} --bazelrc={shlex.quote(os.path.join(folder, OPTIONS))} test --build_event_json_file=EVENTS"
        )
    else:
        for name in (OPTIONS, TARGETS):
            if os.path.exists(os.path.join(folder, name)):
                os.unlink(os.path.join(folder, name))
    if failed:
        return FAILED
    return INCOMPLETE if wanted else 0
