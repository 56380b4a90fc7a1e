"""fleet keep: nothing measured is lost or replaced. Parts that a lost worker left run again and nothing else does."""

import errno
import hashlib
import json
import os
import pathlib
import shlex
import shutil
import subprocess
import tempfile
import unittest
import zipfile
from unittest import mock

import machines
import made_up
from fleet import keep
from report import __main__ as report
from report import gather

GATES, UNIT = "//tests/suite:gates", "//tests/suite:unit"


class Keep(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(dir=os.environ.get("TEST_TMPDIR"))
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.logs = self.folder / "bazel-testlogs/tests/suite"
        self.into = self.folder / "a suite"

    def measured(self, shard, shards=2, number=1, names=None, header=None):
        """The files of a shard, as Bazel leaves them."""
        place = self.logs / "gates" / f"shard_{shard}_of_{shards}"
        (place / "test.outputs").mkdir(parents=True, exist_ok=True)
        (place / "test.log").write_text(f"log {number} of shard {shard}\n", "utf-8")
        (place / "test.xml").write_text("<testsuites/>", "utf-8")
        header = header or machines.header(f"worker {shard}", number)
        results = self.folder / "results.json"
        made_up.write(results, [machines.comparison(f"case {shard}", 0.0, seed=number)], header)
        with zipfile.ZipFile(place / "test.outputs/outputs.zip", "w") as archive:
            for name in names or ["results.json"]:
                archive.write(results, name)
        return place

    def began(self, number):
        return {
            "uuid": f"run {number}",
            "startTimeMillis": str(1795679181202 + number),
            "workspaceDirectory": str(self.folder),
        }

    def took(self, log):
        """When events say that an attempt began, and how long it took: until its log was written."""
        end = int(1e3 * log.stat().st_mtime) if log.exists() else 1795679190000
        return {"testAttemptStartMillisEpoch": str(end - 4500), "testAttemptDurationMillis": "4500"}

    def uri(self, path):
        """Where events say that a file is: on this machine."""
        return path.as_uri()

    def remote_uri(self, path):
        """Where events of remote execution say that it is."""
        digest = hashlib.sha256(path.read_bytes()).hexdigest()
        return f"bytestream://127.0.0.1:8990/blobs/{digest}/{path.stat().st_size}"

    def events(self, number, statuses, shards=2, configured=(GATES,), cut=""):
        """The events of run `number`: a status by shard, or None for a test that has not begun."""
        events = [{"id": {"started": {}}, "started": self.began(number)}]
        events += [
            {"id": {"targetConfigured": {"label": label}}, "configured": {"testSize": "SMALL"}} for label in configured
        ]
        if statuses is not None:
            ids = [{"label": GATES, "run": 1, "shard": shard + 1, "attempt": 1} for shard in range(shards)]
            children = [*({"testResult": each} for each in ids), {"testSummary": {"label": GATES}}]
            events.append(
                {"id": {"targetCompleted": {"label": GATES}}, "children": children, "completed": {"success": True}}
            )
            for shard, status in statuses.items():
                place = self.logs / "gates" / f"shard_{shard}_of_{shards}"
                outputs = [{"name": "test.log", "uri": self.uri(place / "test.log")}]
                for name in ("test.xml", "test.outputs/outputs.zip"):
                    if (place / name).exists():
                        outputs.append({"name": name.replace("/", "__"), "uri": self.uri(place / name)})
                result = {"status": status, "testActionOutput": outputs, **self.took(place / "test.log")}
                events.append({"id": {"testResult": ids[shard - 1]}, "testResult": result})
        path = self.folder / f"events-{number}.json"
        path.write_text("".join(json.dumps(each) + "\n" for each in events) + cut, "utf-8")
        return path

    def keep(self, events, code=0):
        with mock.patch.dict(os.environ, {"PACE_BAZEL_WRAPPER": "third_party/bazel"}):
            out, errors, found = machines.run("keep", events, "--into", self.into)
        self.assertEqual(found, code, out + errors)
        return out + errors

    def test_a_whole_suite(self):
        for shard in (1, 2):
            self.measured(shard)
        out = self.keep(self.events(1, {1: "PASSED", 2: "PASSED"}))
        self.assertIn("2 of 2 parts of 1 tests are kept", out)
        self.assertFalse((self.into / keep.OPTIONS).exists())
        kept = self.into / "tests/suite/gates/shard_2_of_2"
        self.assertEqual((kept / "test.log").read_text("utf-8"), "log 1 of shard 2\n")
        self.assertEqual(zipfile.ZipFile(kept / "test.outputs/outputs.zip").namelist(), ["results.json"])

    def test_what_a_lost_worker_left_is_measured_by_the_second_run_alone(self):
        for number, lost in enumerate(
            ({1: "PASSED"}, {1: "PASSED", 2: "NO_STATUS"}, {1: "PASSED", 2: "REMOTE_FAILURE"})
        ):
            with self.subTest(lost):
                self.into = self.folder / f"a suite {number}"
                self.measured(1)
                # These files are of a run before, not of this one.
                self.measured(2, number=9)
                out = self.keep(self.events(1, lost), 43)
                self.assertIn("1 of 2 parts of 1 tests are kept", out)
                self.assertIn(f"{GATES}: shard 2 of 2 is missing: no run of Bazel has measured it", out)
                self.assertIn(f"third_party/bazel --bazelrc='{self.into}/resume.bazelrc' test --build_event", out)
                self.assertEqual((self.into / keep.TARGETS).read_text("utf-8"), GATES + "\n")
                # The page of the kept results names the missing ones.
                self.assertEqual(self.report()[0], 1)
                self.assertIn("shard 2 of 2 is missing", self.report()[1])
                self.assertNotIn("of the 2 shards of this test", self.report()[1])
                # Bazel empties the folders of the shards that it runs; the run that resumes leaves the first shard out.
                self.measured(1, number=2, names=[keep.LEFT_OUT])
                self.measured(2, number=2)
                out = self.keep(self.events(2, {1: "PASSED", 2: "PASSED"}))
                self.assertIn("2 of 2 parts of 1 tests are kept", out)
                self.assertIn("shard 2 of 2 was resumed: it is of run 2, which began 2026-11-26T", out)
                self.assertFalse((self.into / keep.OPTIONS).exists())
                logs = [self.into / f"tests/suite/gates/shard_{i}_of_2/test.log" for i in (1, 2)]
                self.assertEqual(
                    [each.read_text("utf-8") for each in logs], ["log 1 of shard 1\n", "log 2 of shard 2\n"]
                )
                code, page = self.report()
                self.assertEqual(code, 0)
                self.assertIn("shard 2 of 2 was resumed", page)
                self.assertIn("case 1", page)
                self.assertIn("case 2", page)

    def report(self):
        """The code of the page that shows the kept results, and the page."""
        page = self.folder / "page.html"
        with mock.patch("sys.stderr"):
            code = report.main([str(self.into), "--output", str(page)])
        return code, page.read_text("utf-8")

    def test_what_a_run_has_left_out_is_no_result(self):
        self.measured(1)
        self.measured(2, names=[keep.LEFT_OUT])
        self.assertIn("1 of 2 parts", self.keep(self.events(1, {1: "PASSED", 2: "PASSED"}), 43))

    def test_a_gate_that_failed_is_not_measured_again(self):
        self.measured(1)
        self.measured(2)
        out = self.keep(self.events(1, {1: "FAILED"}), 42)
        self.assertIn("shard 1 of 2: FAILED; its log is in ", out)
        self.measured(1, number=2)
        out = self.keep(self.events(2, {1: "PASSED", 2: "PASSED"}), 42)
        self.assertIn("shard 1 of 2: FAILED", out)
        kept = self.into / "tests/suite/gates/shard_1_of_2/test.log"
        self.assertEqual(kept.read_text("utf-8"), "log 1 of shard 1\n")

    def attempts(self, statuses, remote):
        """The events of attempts at shard 1, and its files as Bazel leaves them. The last attempt's files lie where a
        test's files are. Files of an attempt before it have a folder of their own."""
        path, lines = self.events(1, {}), []
        place = self.logs / "gates" / "shard_1_of_2"
        for attempt, status in enumerate(statuses, 1):
            files = []
            if status != "REMOTE_FAILURE":
                self.measured(1, number=attempt)
                archive = place / "test.outputs" / gather.ARCHIVE
                files = [("test.log", place / "test.log"), ("test.outputs__outputs.zip", archive)]
                if attempt < len(statuses):
                    old = place / "test_attempts"
                    moved = [old / f"attempt_{attempt}.log", old / f"attempt_{attempt}.outputs" / gather.ARCHIVE]
                    moved[1].parent.mkdir(parents=True)
                    files = [(name, file.rename(to)) for (name, file), to in zip(files, moved)]
            outputs = []
            for name, file in files:
                outputs.append({"name": name, "uri": self.remote_uri(file) if remote else self.uri(file)})
            identity = {"label": GATES, "run": 1, "shard": 1, "attempt": attempt}
            took = self.took(files[0][1]) if files else {}
            result = {"status": status, "testActionOutput": outputs, **took}
            lines.append(json.dumps({"id": {"testResult": identity}, "testResult": result}) + "\n")
        path.write_text(path.read_text("utf-8") + "".join(lines), "utf-8")
        return path

    def test_the_first_attempt_with_a_verdict_counts(self):
        for number, (statuses, counts, code) in enumerate(
            (
                (("FAILED", "PASSED"), 1, 42),
                (("FAILED", "FAILED", "PASSED"), 1, 42),
                (("FAILED", "REMOTE_FAILURE"), 1, 42),
                (("TIMEOUT", "PASSED"), 1, 42),
                (("REMOTE_FAILURE", "FAILED", "PASSED"), 2, 42),
                (("REMOTE_FAILURE", "PASSED"), 2, 43),
                (("REMOTE_FAILURE", "REMOTE_FAILURE"), 0, 43),
            )
        ):
            for remote in (False, True):
                with self.subTest(statuses=statuses, remote=remote):
                    shutil.rmtree(self.logs, ignore_errors=True)
                    self.into = self.folder / f"suite {number} {remote}"
                    out = self.keep(self.attempts(statuses, remote), code)
                    self.assertIn(f"{int(counts > 0)} of 2 parts", out)
                    part = json.loads((self.into / "kept.json").read_text("utf-8"))["tests"][GATES]["parts"]["1.1"]
                    self.assertEqual(part["status"], statuses[counts - 1])
                    kept = self.into / "tests/suite/gates/shard_1_of_2"
                    self.assertEqual(kept.exists(), counts > 0)
                    if counts:
                        self.assertEqual((kept / "test.log").read_text("utf-8"), f"log {counts} of shard 1\n")
                        with zipfile.ZipFile(kept / "test.outputs/outputs.zip") as archive:
                            self.assertIn(f'"seed": {counts},', archive.read("results.json").decode())

    def test_a_test_that_has_not_begun_and_events_that_were_cut_off(self):
        out = self.keep(self.events(1, None, cut='{"id":{"targetCom'), 43)
        self.assertIn("no result of it is here", out)
        self.assertIn(GATES, (self.into / keep.OPTIONS).read_text("utf-8"))
        self.measured(1)
        self.measured(2)
        self.assertIn("2 of 2 parts", self.keep(self.events(2, {1: "PASSED", 2: "PASSED"})))

    def test_tests_without_results_are_kept_too(self):
        place = self.measured(1)
        (place / "test.outputs/outputs.zip").unlink()
        self.measured(2)
        self.keep(self.events(1, {1: "PASSED", 2: "PASSED"}))
        self.assertEqual(sorted(os.listdir(self.into / "tests/suite/gates/shard_1_of_2")), ["test.log", "test.xml"])

    def test_what_a_killed_run_has_left_is_used_and_gone(self):
        left = self.into / "tests/suite/gates/.new-shard_1_of_2"
        left.mkdir(parents=True)
        (left / "test.log").write_text("a half", "utf-8")
        (self.into / "kept.json.new").write_text("a half", "utf-8")
        self.measured(1)
        self.keep(self.events(1, {1: "PASSED"}), 43)
        names = sorted(os.listdir(self.into / "tests/suite/gates") + os.listdir(self.into))
        self.assertEqual(names, ["kept.json", "resume.bazelrc", "resume.targets", "shard_1_of_2", "tests"])

    def test_a_full_disk_names_the_file(self):
        self.measured(1)
        events = self.events(1, {1: "PASSED"})
        full = OSError(errno.ENOSPC, "No space left on device")
        with mock.patch.object(shutil, "copyfile", side_effect=full):
            out = self.keep(events, 1)
        self.assertRegex(out, "/test.log: cannot be copied to .*/test.log: No space left on device")
        with mock.patch.object(os, "replace", side_effect=full):
            out = self.keep(events, 1)
        self.assertIn(f"fleet: {self.into}/kept.json: No space left on device", out)
        self.assertFalse((self.into / "kept.json.new").exists())

    def test_a_pipe_without_a_writer_is_not_waited_for_without_a_limit(self):
        pipe = self.folder / "events"
        os.mkfifo(pipe)
        with mock.patch.dict(os.environ, {"PACE_PIPE_TIMEOUT": "0"}):
            self.assertIn(f"fleet: {pipe}: is a pipe to which no program has written for 0 s", self.keep(pipe, 1))

    def test_the_same_events_again_change_nothing(self):
        self.measured(1)
        events = self.events(1, {1: "PASSED"})
        self.keep(events, 43)
        before = (self.into / "kept.json").read_bytes()
        self.keep(events, 43)
        self.assertEqual((self.into / "kept.json").read_bytes(), before)

    def test_other_code_is_refused_and_kept_results_stay(self):
        self.measured(1)
        self.keep(self.events(1, {1: "PASSED"}), 43)
        before = (self.into / "kept.json").read_bytes()
        self.measured(2, header=machines.header("worker 2", 2, commit="c0ffee"))
        out = self.keep(self.events(2, {2: "PASSED"}), 1)
        self.assertIn(f"{GATES} differs from its kept results in commit: 'c0ffee' and 'b99b64", out)
        self.measured(2, shards=3)
        out = self.keep(self.events(3, {2: "PASSED"}, shards=3), 1)
        self.assertIn("has 3 parts, and 2 in the folder", out)
        self.assertEqual((self.into / "kept.json").read_bytes(), before)
        self.assertFalse((self.into / "tests/suite/gates/shard_2_of_2").exists())

    def of_build(self, shard, build, number, where="configuration", key="the build"):
        first = machines.header(f"worker {shard}", number)
        first[where] |= {key: build} if build else {}
        self.measured(shard, header=first)
        return self.events(number, {shard: "PASSED"})

    def without_build(self):
        """Makes the record as an earlier version wrote it, without the build."""
        path = self.into / "kept.json"
        record = json.loads(path.read_text("utf-8"))
        record["tests"][GATES]["code"].pop("the build", None)
        path.write_text(json.dumps(record), "utf-8")
        return path

    def test_a_record_without_the_build_is_known_by_the_results_that_were_kept(self):
        self.keep(self.of_build(1, "0123", 1), 43)
        path = self.without_build()
        before = path.read_bytes()
        out = self.keep(self.of_build(2, "4567", 2), 1)
        self.assertIn(f"{GATES} differs from its kept results in the build: '4567' and '0123'; expected", out)
        self.assertEqual(path.read_bytes(), before)
        self.assertIn("2 of 2 parts of 1 tests are kept", self.keep(self.of_build(2, "0123", 3)))
        self.assertEqual(json.loads(path.read_text("utf-8"))["tests"][GATES]["code"]["the build"], "0123")

    def test_a_build_in_the_environment_comes_before_one_in_the_configuration(self):
        self.keep(self.of_build(1, "0123", 1, "environment", "build"), 43)
        out = self.keep(self.of_build(2, "4567", 2, "environment", "build"), 1)
        self.assertIn(f"{GATES} differs from its kept results in the build: '4567' and '0123'; expected", out)
        out = self.keep(self.of_build(2, "0123", 3, "environment", "build"))
        self.assertIn("2 of 2 parts of 1 tests are kept", out)

    def test_results_without_a_build_are_not_kept_beside_results_with_one(self):
        self.keep(self.of_build(1, "", 1), 43)
        self.without_build()
        out = self.keep(self.of_build(2, "4567", 2), 1)
        self.assertIn("in the build: '4567' and 'nothing'; why: a program of an earlier version or a linker", out)
        self.assertIn("(or another --into)", out)
        self.keep(self.of_build(2, "", 3))

    def test_labels_that_lead_out_of_the_folder(self):
        place = self.measured(1)
        for label in (
            "//../outside:gates",
            "//tests/../../outside:gates",
            "//tests/suite:../../../outside",
            "//tests/suite:.",
            "//tests/suite:a/./b",
            "@..//outside:gates",
            "//tests//suite:gates",
            "//tests/suite:",
            "tests/suite:gates",
            "/etc/passwd",
            "//a:b\nimport other",
            7,
        ):
            with self.subTest(label):
                # Bazel's own place of the files of such a label is there.
                if isinstance(label, str) and ".." in label:
                    target = self.logs.parent.parent / keep.folder_of(label, [1, 2, 1, 1])
                    shutil.copytree(place, target, dirs_exist_ok=True)
                path = self.events(1, {1: "PASSED"}, configured=())
                path.write_text(path.read_text("utf-8").replace(json.dumps(GATES), json.dumps(label)), "utf-8")
                out = self.keep(path, 1)
                self.assertRegex(out, r"events-1\.json:2: is no event that this program reads: label is ")
                self.assertIn("no label of Bazel", out)
                path.write_text(
                    json.dumps({"id": {"started": {}}, "started": self.began(1)})
                    + "\n"
                    + json.dumps({"id": {"targetConfigured": {"label": label}}, "configured": {"testSize": "SMALL"}})
                    + "\n",
                    "utf-8",
                )
                self.assertIn("no label of Bazel", self.keep(path, 1))
                self.assertFalse(self.into.exists())

    def test_files_of_another_run_are_not_taken_for_this_one_s(self):
        events = self.events(1, {1: "PASSED"})
        self.assertIn("test.log is not there; expected", self.keep(events, 1))
        ended = {"id": {"buildFinished": {}}, "finished": {"finishTimeMillis": "1795679190154"}}
        events.write_text(events.read_text("utf-8") + json.dumps(ended) + "\n", "utf-8")
        log = self.measured(1) / "test.log"
        os.utime(log, (1795679192, 1795679192))
        self.assertIn("test.log is of another run of Bazel", self.keep(events, 1))
        os.utime(log, (1795679190, 1795679190))
        self.keep(events, 43)

    def test_files_that_another_run_has_written_after_a_run_was_killed(self):
        log = self.measured(1) / "test.log"
        events = self.events(1, {1: "PASSED"})
        # A run of other code ends a minute later.
        self.measured(1, number=2, header=machines.header("worker 1", 2, commit="c0ffee"))
        for path in log.parent.rglob("*"):
            os.utime(path, (log.stat().st_mtime + 60,) * 2)
        out = self.keep(events, 1)
        self.assertIn("test.log is of another run of Bazel", out)
        self.assertFalse(self.into.exists())

        def without(*keys, **more):
            lines = [json.loads(line) for line in events.read_text("utf-8").splitlines()]
            for line in lines:
                if "testResult" in line:
                    line["testResult"] = {k: v for k, v in line["testResult"].items() if k not in keys} | more
            path = self.folder / "changed.json"
            path.write_text("".join(json.dumps(each) + "\n" for each in lines), "utf-8")
            return path

        # Later versions of Bazel write both in another form.
        keys = ("testAttemptStartMillisEpoch", "testAttemptDurationMillis")
        later = {"testAttemptStart": "2026-11-26T02:53:01.25Z", "testAttemptDuration": "3.500s"}
        changed = without(*keys, **later)
        self.assertIn("test.log is of another run of Bazel", self.keep(changed, 1))
        end = 1795661584.75
        for path in log.parent.rglob("*"):
            os.utime(path, (end + 1, end + 1))
        self.keep(changed, 43)
        self.into = self.folder / "another"
        out = self.keep(without(*keys), 1)
        self.assertIn(f"changed.json: was cut off; why: {GATES} has no time at which its attempt ended", out)
        self.assertIn("try: run the tests again to their end", out)
        # A result from a cache was measured long before it was written.
        cached = without(executionInfo={"cachedRemotely": True})
        os.utime(cached, (end, end))
        self.keep(cached, 43)
        self.into = self.folder / "a third"
        os.utime(cached, (end - 60, end - 60))
        self.assertIn("is of another run of Bazel", self.keep(cached, 1))

    def test_files_of_remote_execution_are_known_by_their_content(self):
        log = self.measured(1) / "test.log"
        with mock.patch.object(self, "uri", self.remote_uri):
            events = self.events(1, {1: "PASSED"})
        log.write_text("log of another run\n", "utf-8")
        self.assertIn("test.log is of another run of Bazel", self.keep(events, 1))
        self.measured(1)
        self.keep(events, 43)
        self.assertTrue((self.into / "tests/suite/gates/shard_1_of_2/test.log").exists())

    def test_folders_are_called_as_bazel_does(self):
        for label, part, expected in (
            (GATES, [1, 1, 1, 1], "tests/suite/gates"),
            (GATES, [2, 3, 1, 1], "tests/suite/gates/shard_2_of_3"),
            (GATES, [1, 1, 4, 5], "tests/suite/gates/run_4_of_5"),
            (GATES, [2, 3, 4, 5], "tests/suite/gates/shard_2_of_3_run_4_of_5"),
            ("//:top", [1, 1, 1, 1], "top"),
            ("@other//a/b:c", [1, 1, 1, 1], "external/other/a/b/c"),
            ("@@repo+//a:b", [1, 1, 1, 1], "external/repo+/a/b"),
            ("@//a:b", [1, 1, 1, 1], "a/b"),
            ("@@//a:b", [1, 1, 1, 1], "a/b"),
        ):
            self.assertEqual(keep.folder_of(label, part), expected)

    def test_files_that_are_no_events(self):
        path = self.folder / "events"
        for text, message in (
            ("{}\n", ":1: is no event of Bazel"),
            ("nothing\n", ":1: is no event of Bazel"),
            ("", "names no test"),
            ('{"id":{"started":{}}', "names no test"),
        ):
            path.write_text(text, "utf-8")
            self.assertIn(message, self.keep(path, 1))
        self.assertIn("nowhere", self.keep(self.folder / "nowhere", 1))
        self.measured(1)
        self.into.mkdir()
        for record in ("[]", "{", '{"kept_version":2}', '{"kept_version":1,"attempts":[],"tests":{"//a:b":{}}}'):
            (self.into / "kept.json").write_text(record, "utf-8")
            self.assertIn("kept.json", self.keep(self.events(1, {1: "PASSED"}), 1))

    def test_events_that_lack_a_field(self):
        self.measured(1)
        path = self.events(1, {1: "PASSED"})
        lines = path.read_text("utf-8").splitlines()
        result = next(i for i, line in enumerate(lines) if '"status"' in line)
        finished = '{"id":{"buildFinished":{}},"finished":{}}'
        for number, line, what in (
            (1, lines[0].replace('"uuid"', '"other"'), 'it has no "uuid"'),
            (1, lines[0].replace('"startTimeMillis": "', '"startTimeMillis": "x'), "invalid literal"),
            (result + 1, lines[result].replace('"shard"', '"other"'), 'it has no "shard"'),
            (result + 1, lines[result].replace('"shard": 1', '"shard": "1"'), "shard is '1'"),
            (result + 1, lines[result].replace('"label"', '"other"'), 'it has no "label"'),
            (result + 1, lines[result].replace('"attempt": 1', '"attempt": "../1"'), "attempt is '../1'"),
            (3, lines[2].replace('"run"', '"other"'), 'it has no "run"'),
            (len(lines) + 1, finished, 'it has no "finishTimeMillis"'),
        ):
            with self.subTest(what):
                changed = [*lines, ""]
                changed[number - 1] = line
                path.write_text("".join(each + "\n" for each in changed if each), "utf-8")
                out = self.keep(path, 1)
                self.assertIn(f"events-1.json:{number}: is no event that this program reads: {what}", out)

    def test_folders_that_have_gone(self):
        for shard in (1, 2):
            self.measured(shard)
        events = self.events(1, {1: "PASSED", 2: "PASSED"})
        self.keep(events)
        before = (self.into / "kept.json").read_bytes()
        shutil.rmtree(self.into / "tests/suite/gates/shard_2_of_2")
        out = self.keep(events, 1)
        self.assertNotIn("are kept", out)
        self.assertIn("tests/suite/gates/shard_2_of_2 is not there, though it was kept", out)
        self.assertEqual((self.into / "kept.json").read_bytes(), before)

    def test_only_missing_parts_run(self):
        words = shlex.split(keep.run_under({GATES: ["2.1", "12.1"], UNIT: [], "//a:b$c": ["1.3"]}))
        status = self.folder / "status"

        def runs(target, shard=None, run=None):
            outputs = tempfile.mkdtemp(dir=self.folder)
            environment = {"TEST_TARGET": target, "TEST_UNDECLARED_OUTPUTS_DIR": outputs, "PATH": os.environ["PATH"]}
            if shard:
                environment |= {"TEST_SHARD_INDEX": str(shard - 1), "TEST_SHARD_STATUS_FILE": str(status)}
            if run:
                environment["TEST_RUN_NUMBER"] = str(run)
            ended = subprocess.run([*words, "/bin/echo", "a b", "$c"], env=environment, capture_output=True, check=True)
            left_out = os.path.exists(os.path.join(outputs, keep.LEFT_OUT))
            self.assertEqual(ended.stdout, b"" if left_out else b"a b $c\n")
            self.assertEqual(ended.stderr, b"")
            return not left_out

        self.assertEqual([runs(GATES, shard) for shard in (1, 2, 3, 12, 21)], [False, True, False, True, False])
        # Bazel asks of a sharded test that it says so.
        self.assertTrue(status.exists())
        self.assertTrue(runs(UNIT))
        self.assertTrue(runs(UNIT, 7, 3))
        self.assertFalse(runs("//tests/suite:other"))
        self.assertEqual([runs("//a:b$c", None, run) for run in (None, 3)], [False, True])


if __name__ == "__main__":
    unittest.main()
