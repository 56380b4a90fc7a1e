"""The history: the rows that files become in the database, the refusals, and the trends and changes found."""

import asyncio
import contextlib
import csv
import ctypes
import html.parser
import io
import json
import math
import os
import pathlib
import random
import re
import sqlite3
import stat
import subprocess
import sys
import tempfile
import unittest
from unittest import mock

import made_up
from history import __main__ as program
from history import database, page, results, trends

ROOT = pathlib.Path(__file__).resolve().parents[3]


class Case(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name
        self.database = os.path.join(self.folder, "pace.db")

    def write(self, name, *values):
        return made_up.write(self.folder, name, *values)

    def run_program(self, *words, code=0):
        """Runs the program. Returns its output and its errors."""
        out, errors = io.StringIO(), io.StringIO()
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(errors), mock.patch.object(
            sys, "argv", ["history", *words]
        ):
            try:
                ended = program.main()
            except SystemExit as end:
                ended = end.code
        self.assertEqual(ended, code, out.getvalue() + errors.getvalue())
        return out.getvalue(), errors.getvalue()

    def add(self, *files, code=0):
        return self.run_program("add", *files, "--database", self.database, code=code)

    def query(self, sql, *values):
        connection = sqlite3.connect(self.database)
        try:
            return connection.execute(sql, values).fetchall()
        finally:
            connection.close()

    def count(self):
        return [self.query(f"select count(*) from {table}")[0][0] for table in ("run", "comparison", "row", "summary")]

    def series(self, days, change=lambda day: {}, eager=lambda day: 1000.0, fused=lambda day: 500.0):
        """Adds a run for each day; `change` holds the differences of its environment."""
        files = [
            self.write(
                f"{day:03}.json", made_up.header(day, **change(day)), made_up.result("case", eager(day), fused(day))
            )
            for day in range(days)
        ]
        self.add(*files)
        return self.trends()

    def trends(self, name="case"):
        with database.opened(self.database, 0) as connection:
            return {
                (each.implementation, each.mode, each.quantity): each for each in trends.trends_of(connection, name)
            }


class Add(Case):
    def test_a_file_becomes_a_run_with_its_figures(self):
        fused = made_up.row(
            "fused",
            500.0,
            1000.0,
            max_abs_error=0.25,
            first_call_ns=7000.0,
            expectations=[
                {"expectation": "a", "verdict": "passed", "acceptable": True, "message": "fine"},
                {"expectation": "b", "verdict": "undecided", "acceptable": True, "message": "open"},
            ],
            counts={"operator_calls": 3, "allocations": 2, "bytes_allocated": 64},
            modes=[
                {"name": "cold", "time": made_up.time(600.0), "speedup": made_up.speedup(1.25), "missing": ""},
                {"name": "graph", "time": None, "speedup": None, "missing": "cannot be captured"},
            ],
        )
        wrong = {"name": "wrong", "baseline": False, "outcome": "wrong", "checked": True, "message": "differs by 3"}
        comparison = made_up.result(implementations=[made_up.row("eager", 1000.0), fused, wrong])
        file = self.write("a.json", made_up.header(), comparison, made_up.result("case/backward"))
        out, errors = self.add(file)
        self.assertEqual((out, errors), (f"{file}: run 1: 2 comparisons\n", ""))
        self.assertEqual(self.count(), [1, 2, 5, 5])
        self.assertEqual(
            self.query(
                "select date_utc, commit_id, hostname, pace_version, options, cpu, cores, gpu "
                "from run join machine on machine_id = machine.id"
            ),
            [("2026-01-01T00:00:00Z", "0000aaaa", "host", "0.2.0", '{"alpha": 0.001}', "as ever", 8, None)],
        )
        self.assertEqual(
            self.query("select name, baseline, inputs, clock, iterations, rounds, seed from comparison where id = 1"),
            [("case", "eager", "Float[8]", "wall", 10, 16, "18446744073709551615")],
        )
        self.assertEqual(
            self.query(
                "select implementation, is_baseline, outcome, correct, verdict, acceptable, message "
                "from row where comparison_id = 1"
            ),
            [
                ("eager", 1, "measured", 1, None, None, ""),
                ("fused", 0, "measured", 1, "undecided", 1, "open"),
                ("wrong", 0, "wrong", 0, None, None, "differs by 3"),
            ],
        )
        self.assertEqual(
            self.query(
                "select max_abs_error, first_call_ns, operator_calls, allocations, bytes_allocated "
                "from row where id = 2"
            ),
            [(0.25, 7000.0, 3, 2, 64)],
        )
        self.assertEqual(
            self.query(
                "select mode, median_ns, interval_low_ns, interval_high_ns, q99_ns, speedup, speedup_low, "
                "observations, ties from summary where row_id = 2"
            ),
            [
                ("", 500.0, 495.0, 505.0, 750.0, 2.0, 1.98, 8, 1),
                ("cold", 600.0, 594.0, 606.0, 900.0, 1.25, 1.2375, 8, 1),
            ],
        )

    def test_an_accuracy_run_is_added_and_has_no_points(self):
        rows = [{**made_up.row(name, 1.0), "time": None, "samples_ns": []} for name in ("eager", "fused")]
        rows[1].update(baseline=False, outcome="wrong", message="fail_accuracy")
        values = made_up.header(), made_up.result(rounds=0, elapsed_ns=0.0, implementations=rows)
        out, errors = self.add(self.write("accuracy.json", *values))
        self.assertEqual(errors, "")
        self.assertIn("run 1: 1 comparisons", out)
        self.assertEqual(self.count(), [1, 1, 2, 0])
        self.assertEqual(self.trends(), {})
        self.assertEqual(self.query("select implementation, message from failure"), [("fused", "fail_accuracy")])
        self.run_program("report", "--database", self.database)

    def test_the_same_file_twice_adds_nothing(self):
        file = self.write("a.json", made_up.header(), made_up.result())
        self.add(file)
        copy = self.write("b.json", made_up.header(), made_up.result())
        out, _ = self.add(file, copy)
        self.assertEqual(out, f"{file}: is there already, as run 1\n{copy}: is there already, as run 1\n")
        self.assertEqual(self.count(), [1, 1, 2, 2])
        # Another process of the same second has other figures.
        self.add(self.write("c.json", made_up.header(), made_up.result(eager=1001.0)))
        self.assertEqual(self.count(), [2, 2, 4, 4])
        self.assertEqual(self.query("select count(*) from machine"), [(1,)])

    def test_a_file_that_is_cut_loses_its_last_line_and_may_come_whole_later(self):
        whole = made_up.lines(made_up.header(), made_up.result("one"), made_up.result("two"), made_up.result("three"))
        cut = self.write("cut.json", whole[:-10])
        out, errors = self.add(cut, code=1)
        self.assertIn("run 1: 2 comparisons", out)
        self.assertIn(f"{cut}:4: the last line was cut off", errors)
        out, errors = self.add(self.write("whole.json", whole))
        self.assertIn("run 1: 3 comparisons, 2 of them known before", out)
        self.assertEqual(self.count(), [1, 3, 6, 6])
        out, _ = self.add(cut, code=1)
        self.assertIn("is the beginning of run 1, which has 3 comparisons", out)
        self.assertEqual(self.count(), [1, 3, 6, 6])

    def test_a_bad_file_is_named_with_its_line_and_adds_nothing_while_others_are_added(self):
        good = made_up.lines(made_up.header(), made_up.result())
        one = self.write("one.json", made_up.header(1), made_up.result())
        two = self.write("two.json", made_up.header(2), made_up.result())
        fifo = os.path.join(self.folder, "fifo")
        os.mkfifo(fifo)
        newer = made_up.header()
        newer["schema_version"] = 4
        no_date = made_up.header(date_utc="today")

        def with_row(**changes):
            return made_up.lines(
                made_up.header(),
                made_up.result(),
                made_up.result(implementations=[{**made_up.row("a", 5.0), **changes}]),
            )

        for text, message in (
            (good + "{\n" + good, ":3: is no result: "),
            (good + "[]\n", ":3: is no result: expected an object"),
            (good + "{}\n", ':3: is no result: has no "name"'),
            (with_row(time=made_up.time(0.0)), ":3: is no result: median_ns: expected a number above 0, found 0.0"),
            (
                with_row(time={**made_up.time(5.0), "median_ns": -5.0}),
                ":3: is no result: implementations: element 1: time: median_ns: expected a number from 0 to 1e+30",
            ),
            (
                with_row(time={**made_up.time(5.0), "median_ns": math.inf}).replace("Infinity", "1e999"),
                ":3: is no result: implementations: element 1: time: median_ns: expected a number from 0 to 1e+30",
            ),
            (
                with_row(modes=[None]),
                ":3: is no result: implementations: element 1: modes: element 1: expected an object, found null",
            ),
            (with_row(time=None), ":3: is no result: 'a' was measured, but has no time"),
            (
                with_row(expectations=[{"expectation": "", "verdict": "good"}]),
                ":3: is no result: verdict: expected one of passed",
            ),
            (
                with_row(time={**made_up.time(5.0), "samples": 2**64}),
                ":3: is no result: samples: expected a whole number of 64 bits",
            ),
            (
                made_up.lines(made_up.header(), made_up.result(implementations=[made_up.row("a", 5.0)] * 2)),
                ":2: is no result: an implementation is twice in 'case'",
            ),
            (
                made_up.lines(newer, made_up.result()),
                ":1: is no results file: its schema_version is 4 (of pace 0.2.0); this program reads version 3",
            ),
            (
                made_up.lines(no_date, made_up.result()),
                ":1: is no results file: environment: date_utc: expected a time such as 2026-11-21T10:00:00Z, "
                "found 'today'",
            ),
            (
                made_up.lines(made_up.header(date_utc="9999-99-99T00:00:00Z"), made_up.result()),
                ":1: is no results file: environment: date_utc: expected a time such as 2026-11-21T10:00:00Z, "
                "found '9999-99-99T00:00:00Z'",
            ),
            (
                made_up.lines(made_up.header(date_utc=None), made_up.result()),
                ':1: is no results file: environment: has no "date_utc"',
            ),
            ('{"a": 1}\n', ':1: is no results file: has no "schema_version"'),
            ("\x00\n", ":1: is no results file: "),
            ("[" * 100_000 + "\n", ":1: is no results file: "),
            ("", ": holds no results: it is empty, or was cut off in its first line"),
            (good[:20], ": holds no results: it is empty, or was cut off in its first line"),
            (made_up.lines(made_up.header()), ": holds no results: it has no whole line after its first one"),
        ):
            with self.subTest(message):
                if os.path.exists(self.database):
                    os.unlink(self.database)
                bad = self.write("bad.json", text or "")
                out, errors = self.add(one, bad, two, code=1)
                self.assertIn(bad + message, errors)
                self.assertIn("; expected a file that --json or --save-baseline wrote; nothing of it was added", errors)
                self.assertEqual(errors.count("\n"), 1)
                self.assertIn(f"{two}: run 2: 1 comparisons", out)
                self.assertEqual(self.count(), [2, 2, 4, 4])
        half = made_up.header()
        half["environment"]["compiler"] = "\ud800"
        for text, message in (
            (with_row(max_abs_error=2**63), "holds a number that no column can"),
            (made_up.lines(half, made_up.result()), "holds a text that is not Unicode"),
        ):
            with self.subTest(message):
                os.unlink(self.database)
                bad = self.write("bad.json", text)
                out, errors = self.add(one, bad, two, code=1)
                self.assertIn(f"{bad}: {message}", errors)
                self.assertIn(f"{two}: run 2: 1 comparisons", out)
        for path, message in (
            (self.folder, "cannot be read: is a folder"),
            (fifo, "cannot be read: is a pipe to which no program has written for 0 s"),
            ("/dev/zero", "cannot be read: is neither a regular file nor a pipe"),
            (os.path.join(self.folder, "none.json"), "cannot be read: No such file"),
        ):
            with mock.patch.dict(os.environ, {"PACE_PIPE_TIMEOUT": "0"}):
                _, errors = self.add(path, code=1)
            self.assertIn(f"{path}: {message}", errors)

    def test_a_pipe_is_read(self):
        reader, writer = os.pipe()
        with open(reader, "rb"), open(writer, "w", encoding="utf-8") as file:
            file.write(made_up.lines(made_up.header(), made_up.result()))
            file.close()
            out, _ = self.add(f"/dev/fd/{reader}")
        self.assertEqual(out, f"/dev/fd/{reader}: run 1: 1 comparisons\n")

    def test_a_line_that_is_too_long_is_refused_with_its_size_before_it_is_in_memory(self):
        file = self.write("a.json", made_up.header(), made_up.result(), made_up.result("x" * 5000))
        size = os.path.getsize(file)
        longest = 4000
        with self.assertRaisesRegex(
            results.BadFile, rf"a\.json:3: is longer than 4000 bytes \(the file has {size}\); expected"
        ):
            results.read(file, longest)
        self.assertEqual(len(results.read(file, 10_000).comparisons), 2)
        # A line without an end, and the disk holds nothing of it. It is no larger than a test that fails may take.
        os.truncate(file, 2**26)
        with self.assertRaisesRegex(
            results.BadFile, r"a\.json:4: is longer than 10000 bytes \(the file has 67108864\)"
        ):
            results.read(file, 10_000)
        # Nothing of a line beyond the limit is read.
        asked = []

        class Reader(io.FileIO):
            def readline(self, most=-1):
                asked.append(most)
                return super().readline(most)

        with mock.patch.object(results, "open_input", Reader):
            with self.assertRaises(results.BadFile):
                results.read(file, longest)
        self.assertEqual(set(asked), {longest + 1})

    def test_an_error_in_the_middle_of_a_file_leaves_nothing_of_it(self):
        one = self.write("one.json", made_up.header(1), made_up.result())
        two = self.write("two.json", made_up.header(2), made_up.result("a"), made_up.result("b"))
        self.add(one)
        insert = database._insert

        def failing(connection, table, columns):
            if table == "comparison" and columns["name"] == "b":
                raise sqlite3.OperationalError("database or disk is full")
            return insert(connection, table, columns)

        with mock.patch.object(database, "_insert", failing):
            _, errors = self.add(two, code=1)
        self.assertIn(f"{self.database}: database or disk is full", errors)
        self.assertEqual(self.count(), [1, 1, 2, 2])
        self.add(two)
        self.assertEqual(self.count(), [2, 3, 6, 6])

    def test_a_database_that_another_process_writes_to_is_waited_for_and_named(self):
        one = self.write("one.json", made_up.header(1), made_up.result())
        two = self.write("two.json", made_up.header(2), made_up.result())
        self.add(one)
        writer = subprocess.Popen(
            [
                sys.executable,
                "-c",
                "import sqlite3, sys\n"
                "connection = sqlite3.connect(sys.argv[1], isolation_level=None)\n"
                "connection.execute('begin immediate')\n"
                "print('writes', flush=True)\n"
                "sys.stdin.read()\n",
                self.database,
            ],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
        )
        try:
            self.assertEqual(writer.stdout.readline(), b"writes\n")
            _, errors = self.run_program("add", two, "--database", self.database, "--wait", "0", code=1)
            self.assertIn(
                f"{self.database}: another process writes to it, for more than 0 s; open in process {writer.pid} (",
                errors,
            )
            self.assertEqual(self.count(), [1, 1, 2, 2])
            # A reader does not wait.
            out, _ = self.run_program("list", "--database", self.database, "--wait", "0")
            self.assertIn("0001aaaa", out)
        finally:
            writer.communicate()
        self.add(two)
        self.assertEqual(self.count(), [2, 2, 4, 4])

    def test_another_database_is_left_as_it_is(self):
        file = self.write("a.json", made_up.header(), made_up.result())
        text = self.write("text.db", "some text that is longer than the head of a database. " * 10)
        other = os.path.join(self.folder, "other.db")
        connection = sqlite3.connect(other)
        connection.execute("create table run (id integer)")
        connection.close()
        self.add(file)
        connection = sqlite3.connect(self.database)
        connection.execute("pragma user_version = 2")
        connection.close()
        missing = os.path.join(self.folder, "missing.db")
        for path, message in (
            (text, "file is not a database; expected a database that `history add` made"),
            (other, "is no database of pace's history; expected one that `history add` made"),
            (self.database, "its user_version is 2; this program has version 1"),
        ):
            before = pathlib.Path(path).read_bytes()
            _, errors = self.run_program("add", file, "--database", path, code=1)
            self.assertIn(f"{path}: {message}", errors)
            self.assertEqual(pathlib.Path(path).read_bytes(), before)
        for command in (["list"], ["report"], ["export", "--csv", "-"]):
            _, errors = self.run_program(*command, "--database", missing, code=1)
            self.assertIn(f"{missing}: there is no such file", errors)
            self.assertFalse(os.path.exists(missing))

    def test_two_processes_may_make_the_database_at_once(self):
        files = [self.write(f"{day}.json", made_up.header(day), made_up.result()) for day in range(8)]
        words = [
            "import sys; sys.path[:0] = sys.argv[1].split(':'); sys.argv[1:2] = []\n"
            "from history.__main__ import main; sys.exit(main())",
            ":".join(sys.path[:4]),
        ]
        adding = [
            subprocess.Popen(
                [sys.executable, "-c", *words, "add", *half, "--database", self.database, "--wait", "600"],
                stdout=subprocess.PIPE,
            )
            for half in (files[:4], files[4:])
        ]
        for each in adding:
            each.communicate()
            self.assertEqual(each.returncode, 0)
        self.assertEqual(self.count(), [8, 8, 16, 16])


class Trends(Case):
    def test_ratios_survive_another_machine_and_times_do_not(self):
        found = self.series(
            6,
            lambda day: {"cpu": "new"} if day >= 3 else {},
            eager=lambda day: 1000.0 if day < 3 else 100.0,
            fused=lambda day: 500.0 if day < 3 else 50.0,
        )
        self.assertEqual([point["part"] for point in found["fused", "", "speedup"].points], [1] * 6)
        self.assertEqual([point["part"] for point in found["fused", "", "time"].points], [1, 1, 1, 2, 2, 2])
        self.assertEqual([len(part) for part in found["eager", "", "time"].parts()], [3, 3])
        self.assertNotIn(("eager", "", "speedup"), found)
        self.assertEqual([point["value"] for point in found["fused", "", "speedup"].points], [2.0] * 6)

    def test_every_key_of_the_identity_breaks_times(self):
        for key in database.IDENTITY:
            with self.subTest(key):
                if os.path.exists(self.database):
                    os.unlink(self.database)
                found = self.series(2, lambda day: {key: ["a", "b"][day]})
                self.assertEqual(len(found["fused", "", "time"].parts()), 2)
        source = (ROOT / "include/pace/report/stored_baseline-inl.hpp").read_text()
        keys = re.search(r"keys\{(.*?)\}", source, re.S)[1]
        self.assertEqual(re.findall(r'"(\w+)"', keys), database.IDENTITY)

    def test_a_file_of_before_variables_were_known_is_of_the_machine_without_any(self):
        set_ = {"variables": {"OMP_NUM_THREADS": "2"}}
        found = self.series(4, lambda day: [{}, {"variables": {}}, set_, set_][day])
        self.assertEqual([point["part"] for point in found["fused", "", "time"].points], [1, 1, 2, 2])
        with database.opened(self.database, 0) as connection:
            identities = [each["identity"] for each in connection.execute("select identity from machine order by id")]
        self.assertNotIn("variables", identities[0])
        self.assertIn('"variables": {"OMP_NUM_THREADS": "2"}', identities[1])

    def test_other_inputs_another_clock_and_another_baseline_break_ratios(self):
        self.add(
            self.write("1.json", made_up.header(1), made_up.result()),
            self.write("2.json", made_up.header(2), made_up.result(inputs="Double[8]")),
            self.write("3.json", made_up.header(3), made_up.result(clock="graph")),
            self.write(
                "4.json",
                made_up.header(4),
                made_up.result(implementations=[made_up.row("other", 1.0), made_up.row("fused", 0.5, 1.0)]),
            ),
            self.write("5.json", made_up.header(5), made_up.result()),
        )
        # The fifth run is comparable with the first.
        self.assertEqual([point["part"] for point in self.trends()["fused", "", "speedup"].points], [1, 2, 3, 4, 1])

    def test_times_of_the_latest_baseline_are_watched(self):
        turned = [made_up.row("fused", 500.0), made_up.row("eager", 1000.0, 500.0)]
        self.add(
            self.write("1.json", made_up.header(1), made_up.result()),
            self.write("2.json", made_up.header(2), made_up.result(implementations=turned)),
        )
        found = self.trends()
        self.assertTrue(found["fused", "", "time"].is_watched)
        self.assertFalse(found["eager", "", "time"].is_watched)

    def test_runs_are_in_the_order_of_their_dates_and_what_has_no_figure_is_no_point(self):
        wrong = made_up.row("fused", 500.0, 1000.0, outcome="wrong")
        self.add(
            self.write("b.json", made_up.header(2), made_up.result(fused=250.0)),
            self.write("a.json", made_up.header(1), made_up.result()),
            self.write(
                "c.json", made_up.header(3), made_up.result(implementations=[made_up.row("eager", 1000.0), wrong])
            ),
        )
        found = self.trends()
        self.assertEqual([point["value"] for point in found["fused", "", "speedup"].points], [2.0, 4.0])
        self.assertEqual(len(found["eager", "", "time"].points), 3)

    def test_a_trend_is_read_by_the_index_of_names(self):
        self.add(self.write("a.json", made_up.header(), made_up.result()))
        plan = [row[3] for row in self.query("explain query plan " + trends.TREND_QUERY, "case")]
        self.assertFalse([step for step in plan if step.startswith("SCAN")], plan)
        self.assertTrue(
            [step for step in plan if step.startswith("SEARCH comparison USING INDEX comparison_by_name (name=?)")],
            plan,
        )
        self.assertTrue([step for step in plan if "row USING INDEX row_by_comparison (comparison_id=?)" in step], plan)
        # The names are found by one look-up each, not by reading all comparisons.
        with database.opened(self.database, 0) as connection:
            plans = []
            connection.set_trace_callback(plans.append)
            trends.names(connection, "*")
        plan = [row[3] for row in self.query("explain query plan " + plans[-1])]
        self.assertFalse([step for step in plan if step.startswith("SCAN comparison")], plan)
        self.assertTrue([step for step in plan if "COVERING INDEX comparison_by_name (name>?)" in step], plan)


class Changes(Case):
    def noisy(self, seed=1, deviation=0.005):
        draw = random.Random(seed)
        return lambda value: value * draw.lognormvariate(0, deviation)

    def changes(self, trend, **options):
        return trends.changes_of(trend, **options)

    def test_a_planted_regression_is_found_between_its_commits(self):
        noise = self.noisy()
        found = self.series(40, fused=lambda day: noise(500.0 if day < 25 else 530.0))
        (change,) = self.changes(found["fused", "", "speedup"])
        self.assertTrue(change.is_regression)
        self.assertAlmostEqual(change.factor, 500 / 530, delta=0.005)
        self.assertLess(change.low, 500 / 530)
        self.assertGreater(change.high, 500 / 530)
        self.assertLess(change.high - change.low, 0.02)
        self.assertEqual(change.last_before["commit_id"], "0018aaaa")
        self.assertEqual(change.first_after["commit_id"], "0019aaaa")
        self.assertAlmostEqual(change.before, 2, delta=0.01)
        # The time grows where the speed falls.
        (of_time,) = self.changes(found["fused", "", "time"])
        self.assertTrue(of_time.is_regression)
        self.assertAlmostEqual(of_time.after, 530, delta=3)

    def test_noise_alone_and_changes_below_the_least_are_none(self):
        noise = self.noisy(2)
        found = self.series(40, fused=lambda day: noise(500.0 if day < 20 else 510.0))
        self.assertEqual(self.changes(found["eager", "", "time"]), [])
        self.assertEqual(len(self.changes(found["fused", "", "speedup"])), 1)
        self.assertEqual(self.changes(found["fused", "", "speedup"], least=0.03), [])
        self.assertEqual(self.changes(found["fused", "", "speedup"], most_p=1e-30), [])

    def test_values_that_agree_to_the_last_bit_and_few_points(self):
        found = self.series(12, fused=lambda day: 500.0 if day < 6 else 250.0)
        self.assertEqual(self.changes(found["eager", "", "time"]), [])
        (change,) = self.changes(found["fused", "", "speedup"])
        self.assertEqual((change.low, change.factor, change.high), (2.0, 2.0, 2.0))
        for day in range(5):
            found["fused", "", "speedup"].points.pop()
        self.assertEqual(self.changes(found["fused", "", "speedup"]), [])

    def test_another_machine_is_no_change_of_a_time(self):
        found = self.series(
            20,
            lambda day: {"cpu": "new"} if day >= 10 else {},
            eager=lambda day: 1000.0 if day < 10 else 700.0,
            fused=lambda day: 500.0 if day < 10 else 350.0,
        )
        for trend in found.values():
            self.assertEqual(self.changes(trend), [])

    def found_in(self, values):
        trend = self.series(len(values), fused=lambda day: 1000.0 / values[day])["fused", "", "speedup"]
        return [
            (round(each.factor, 2), each.last_before["commit_id"], each.first_after["commit_id"])
            for each in self.changes(trend)
        ]

    def test_a_change_with_one_run_on_its_way_is_found(self):
        self.assertEqual(self.found_in([2.0] * 20 + [1.6] + [1.0] * 20), [(0.5, "0013aaaa", "0015aaaa")])

    def test_so_is_one_with_two(self):
        self.assertEqual(self.found_in([2.0] * 20 + [1.6, 1.5] + [1.0] * 20), [(0.5, "0013aaaa", "0016aaaa")])

    def test_a_small_change_in_two_steps_among_noise_is_found(self):
        noise = self.noisy(deviation=0.003)
        values = [noise(each) for each in [2.0] * 20 + [1.94] + [1.88] * 20]
        self.assertEqual(self.found_in(values), [(0.94, "0013aaaa", "0015aaaa")])

    def test_one_run_off_its_level_is_no_change_of_it(self):
        self.assertEqual(self.found_in([2.0] * 20 + [1.6] + [2.0] * 20), [])

    def test_runs_off_a_level_before_a_change_are_none_either(self):
        # The detector bounds both runs by points, since there is a change as well.
        noise = self.noisy(deviation=0.001)
        values = [noise(each) for each in [2.0] * 23 + [1.0] * 2 + [2.0] * 10 + [1.8] * 11]
        self.assertEqual(self.found_in(values), [(0.9, "0022aaaa", "0023aaaa")])

    def open(self, values, **more):
        found = self.series(len(values), fused=lambda day: 1000.0 / values[day], **more)
        trend = found["fused", "", "speedup"]
        return trends.is_open(trend, self.changes(trend))

    def test_too_few_runs_are_not_called_steady(self):
        self.assertTrue(self.open([1.11, 0.464]))

    def test_the_runs_of_the_latest_part_count(self):
        self.assertTrue(self.open([2.0] * 5))

    def test_enough_equal_runs_are_steady(self):
        self.assertFalse(self.open([2.0, 2.01, 1.99, 2.02, 2.0, 1.98, 2.01]))

    def test_a_latest_run_far_from_all_others_is_too_few_of_its_kind(self):
        self.assertTrue(self.open([1.11, 1.1, 1.12, 1.11, 1.1, 1.11, 0.464]))

    def test_so_are_two(self):
        self.assertTrue(self.open([1.11, 1.1, 1.12, 1.11, 1.1, 1.11, 0.464, 0.47]))

    def test_two_behind_two_on_their_way_are_too_few(self):
        self.assertTrue(self.open([2.0] * 20 + [1.6, 1.6, 1.3, 1.3]))

    def test_three_after_another_level_are_a_change_and_no_question(self):
        values = [1.11, 1.1, 1.12, 1.11, 1.1, 1.11, 1.11, 1.1, 0.464, 0.47, 0.465, 0.466]
        found = self.series(len(values), fused=lambda day: 1000.0 / values[day])["fused", "", "speedup"]
        self.assertEqual(len(self.changes(found)), 1)
        self.assertFalse(trends.is_open(found, self.changes(found)))

    def test_regressions_come_before_improvements_and_large_ones_before_small_ones(self):
        trend = trends.Trend("case", "fused", "", "speedup", [])
        changes = [trends.Change(trend, factor, 0, 0, 1, 1, {}, {}) for factor in (1.5, 0.99, 1.1, 0.5)]
        self.assertEqual([change.factor for change in trends.ranked(changes)], [0.5, 0.99, 1.5, 1.1])


class Commands(Case):
    def test_report_prints_changes_with_commits_and_a_line_for_each_trend(self):
        noise = Changes.noisy(self)
        self.series(40, fused=lambda day: noise(500.0 if day < 25 else 530.0))
        self.add(self.write("x.json", made_up.header(99), made_up.result("other/a"), made_up.result("other/b")))
        out, errors = self.run_program("report", "--database", self.database)
        self.assertEqual(errors, "")
        self.assertIn("41 runs on 1 kind of machine, from 2026-01-01T00:00:00Z to 2026-04-10T00:00:00Z", out)
        self.assertRegex(
            out,
            r"Regressions: 1\n  case: fused\n    -5\.\d % in speed \[-\d\.\d, -5\.\d\], from 2\.00x to 1\.8\dx\n"
            r"    between 0018aaaa \(2026-01-25\) and 0019aaaa \(2026-01-26\)\n\nImprovements: none\n",
        )
        self.assertRegex(out, r"  case: fused       40 runs    \d\.\d\dx ->   1\.\d\dx  [▁-█]{40}\n")
        with mock.patch.dict(os.environ, {"COLUMNS": "60"}):
            narrow, _ = self.run_program("report", "--database", self.database, "--case", "case")
        line = narrow.splitlines()[-1]
        self.assertEqual((len(line), len(re.findall("[▁-█]", line))), (60, 14), line)
        self.assertRegex(out, r"  other/b: fused     1 runs    2\.00x ->   2\.00x  ▁\n")
        self.assertIn("\nToo few runs to tell: 4 of 6 trends, such as other/a: eager, its time. A change needs 3", out)
        out, _ = self.run_program("report", "--database", self.database, "--case", "other/*")
        self.assertNotIn("case: fused", out)
        self.assertIn("other/a: fused", out)
        out, _ = self.run_program("report", "--database", self.database, "--least-change", "0.2")
        self.assertIn("Regressions: none", out)
        _, errors = self.run_program("report", "--database", self.database, "--case", "nothing*", code=1)
        self.assertIn("no comparison matches --case 'nothing*'; there are: case, other/a, other/b", errors)

    def test_list_and_export(self):
        self.add(
            self.write("a.json", made_up.header(1), made_up.result()),
            self.write("b.json", made_up.header(2, hostname="h\x1b[2J"), made_up.result("b")),
        )
        out, _ = self.run_program("list", "--database", self.database)
        self.assertEqual([line.split()[2] for line in out.splitlines()[1:]], ["0001aaaa", "0002aaaa"])
        self.assertNotIn("\x1b", out)
        path = os.path.join(self.folder, "out.csv")
        self.run_program("export", "--database", self.database, "--csv", path, "--case", "c*")
        with open(path, newline="") as file:
            rows = list(csv.DictReader(file))
        self.assertEqual(
            [
                (row["comparison"], row["implementation"], row["speedup"], row["median_ns"], row["commit_id"])
                for row in rows
            ],
            [("case", "eager", "", "1000.0", "0001aaaa"), ("case", "fused", "2.0", "500.0", "0001aaaa")],
        )
        before = pathlib.Path(path).read_bytes()
        self.run_program("export", "--database", self.database, "--csv", path, "--case", "none", code=1)
        self.assertEqual(pathlib.Path(path).read_bytes(), before)

    def test_bad_command_lines_are_refused(self):
        self.add(self.write("a.json", made_up.header(1), made_up.result()))
        for words, message in (
            ([], "COMMAND"),
            (["add"], "--database"),
            (["add", "--database", self.database], "FILE"),
            (["report", "--database", self.database, "--p-value", "0"], "--p-value: invalid"),
            (["report", "--database", self.database, "--least-change", "1.5"], "--least-change: invalid"),
            (["list", "--database", self.database, "--wait", "-1"], "--wait: invalid"),
            (["list", "--database", self.database, "--cas", "x"], "unrecognized arguments"),
            (["list", "--database", self.database, "--wait", "nan"], "expected a number from 0 to 1000000"),
            (["list", "--database", self.database, "--database", "other"], "--database: is given twice"),
            (["report", "--database", self.database, "--output", ""], "--output: the name of a file is empty"),
        ):
            _, errors = self.run_program(*words, code=2)
            self.assertIn(message, errors)

    def test_an_export_replaces_a_file_whole_or_not_at_all(self):
        self.add(self.write("a.json", made_up.header(1), made_up.result()))
        path = pathlib.Path(self.folder, "out.csv")
        path.write_text("of yesterday")
        path.chmod(0o640)
        words = ["export", "--database", self.database, "--csv", str(path)]

        def failing(connection, names, target):
            target.write("a half")
            raise OSError(28, "No space left on device")

        with mock.patch.object(program, "write_csv", failing):
            _, errors = self.run_program(*words, code=1)
        self.assertIn(f"--csv {path}: No space left on device; expected a file that can be written", errors)
        self.assertEqual(path.read_text(), "of yesterday")
        self.run_program(*words)
        self.assertTrue(path.read_text().startswith("comparison,implementation,mode,"))
        self.assertEqual(stat.S_IMODE(path.stat().st_mode), 0o640)
        self.assertEqual(sorted(os.listdir(self.folder)), ["a.json", "out.csv", "pace.db"])


class Processes(Case):
    """The program as a shell sees it."""

    def process(self, *words, shell='exec "$@"', encoding="utf-8", **more):
        code = "import runpy; runpy.run_module('history', run_name='__main__', alter_sys=True)"
        environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path), "PYTHONIOENCODING": encoding}
        return subprocess.run(
            ["bash", "-c", shell, "bash", sys.executable, "-B", "-c", code, *words],
            **{"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, **more},
            encoding=encoding,
            env=environment,
            check=False,
        )

    def test_a_reader_that_closes_its_end_ends_the_program_without_a_message(self):
        files = [self.write(f"{i}.json", made_up.header(i), made_up.result()) for i in range(3)]
        for words in (
            ["add", *files],
            ["list"],
            ["report"],
            ["export", "--csv", "-"],
        ):
            reader, writer = os.pipe()
            os.close(reader)
            with open(writer, "wb") as closed:
                ended = self.process(*words, "--database", self.database, stdout=closed)
            self.assertEqual((ended.returncode, ended.stderr), (141, ""), words)
        # All files were added nevertheless.
        self.assertEqual(self.count(), [3, 3, 6, 6])

    def test_a_standard_output_that_takes_nothing_is_an_error(self):
        self.add(self.write("a.json", made_up.header(1), made_up.result()))
        for shell, message in (('exec "$@" >&-', "is closed"), ('exec "$@" >/dev/full', "No space left on device")):
            ended = self.process("list", "--database", self.database, shell=shell)
            expected = f"history: the standard output: {message}; expected a place to write to\n"
            self.assertEqual((ended.returncode, ended.stderr), (1, expected))

    def test_a_terminal_without_unicode_has_digits_for_bars(self):
        self.add(*(self.write(f"{i}.json", made_up.header(i), made_up.result("größe π")) for i in range(3)))
        ended = self.process("report", "--database", self.database, encoding="iso-8859-1")
        self.assertEqual((ended.returncode, ended.stderr), (0, ""))
        self.assertRegex(ended.stdout, r"größe \\u03c0: fused .* [1-8]{3}\n")
        ended = self.process("export", "--database", self.database, "--csv", "-", encoding="utf-8")
        self.assertIn("größe π,fused", ended.stdout)


class BadDatabases(Case):
    def refused(self, path, message, commands=("add", "list")):
        file = self.write("a.json", made_up.header(1), made_up.result())
        for command in commands:
            words = [command, *([file] if command == "add" else []), "--database", path]
            out, errors = self.run_program(*words, code=1)
            self.assertEqual(out, "")
            self.assertRegex(errors, f"^history: {re.escape(str(path))}: {message}\n$")

    def test_a_path_that_is_no_file_is_refused(self):
        self.refused(self.folder, "cannot be opened: is a folder; expected a database that `history add` made")
        fifo = os.path.join(self.folder, "fifo")
        os.mkfifo(fifo)
        self.refused(fifo, "cannot be opened: is no regular file; expected .*")
        self.refused("/dev/null", "cannot be opened: is no regular file; expected .*")
        nowhere = os.path.join(self.folder, "no", "where.db")
        self.refused(nowhere, f"there is no folder {self.folder}/no; expected one for the database", ["add"])
        self.refused(nowhere, "there is no such file; expected .*", ["list"])

    def test_another_database_is_refused(self):
        path = pathlib.Path(self.folder, "text.db")
        path.write_text("no database " * 100)
        self.refused(str(path), "file is not a database; expected a database that `history add` made")
        self.assertEqual(path.read_text(), "no database " * 100)
        with contextlib.closing(sqlite3.connect(self.database)) as connection:
            connection.execute("create table other(a)")
        self.refused(self.database, "is no database of pace's history; expected .*")
        with contextlib.closing(sqlite3.connect(self.database)) as connection:
            connection.executescript(
                f"pragma application_id = {database.APPLICATION_ID}; pragma user_version = {database.VERSION}"
            )
        self.refused(self.database, "lacks machine, run, .*, run_overview of pace's history; expected .*")

    def test_what_may_not_be_read_or_written(self):
        """In a process without root's capabilities, since with them it would read and write everything."""
        self.add(self.write("b.json", made_up.header(2), made_up.result()))
        # Readable without the rights to write beside it.
        os.chmod(self.folder, 0o555)
        self.addCleanup(os.chmod, self.folder, 0o755)
        os.chmod(self.database, 0o444)
        os.chmod(os.path.join(self.folder, "b.json"), 0o444)
        out, errors = self.without_rights("list", "--database", self.database)
        self.assertIn("0002aaaa", out, errors)
        add = ["add", os.path.join(self.folder, "b.json"), "--database"]
        for path, message in (
            (self.database, "cannot be opened: Permission denied; expected a database that `history add` made"),
            (f"{self.folder}/new.db", f"cannot be made: the folder {self.folder} cannot be written to"),
        ):
            self.assertEqual(self.without_rights(*add, path), ("", f"history: {path}: {message}\n"))
        os.chmod(self.database, 0)
        self.assertEqual(
            self.without_rights("list", "--database", self.database),
            ("", f"history: {self.database}: cannot be opened: Permission denied; {database._EXPECTED}\n"),
        )

    def without_rights(self, *words):
        """The program's output and errors, in a process without capabilities."""
        reader, writer = os.pipe()
        child = os.fork()
        if not child:
            try:
                os.close(reader)
                with open(writer, "w", encoding="utf-8") as answer:
                    # Version 3 of the kernel's interface, this process; no effective, permitted or inheritable ones.
                    # Another user would do as well, but within a sandbox there may be no other.
                    header, none = (ctypes.c_uint32 * 2)(0x20080522, 0), (ctypes.c_uint32 * 6)()
                    if ctypes.CDLL(None, use_errno=True).capset(header, none) != 0:
                        answer.write(json.dumps(["", f"capset: {os.strerror(ctypes.get_errno())}"]))
                        return None
                    out, errors = io.StringIO(), io.StringIO()
                    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(errors):
                        with mock.patch.object(sys, "argv", ["history", *words]):
                            program.main()
                    answer.write(json.dumps([out.getvalue(), errors.getvalue()]))
            finally:
                os._exit(0)
        os.close(writer)
        with open(reader, encoding="utf-8") as answer:
            said = answer.read()
        os.waitpid(child, 0)
        return tuple(json.loads(said))


class Page(html.parser.HTMLParser):
    """The contents of a page: texts, values of <data> by class, scripts by id, and addresses."""

    def __init__(self, text):
        super().__init__()
        self.text, self.values, self.scripts, self.addresses, self.pictures, self._script = "", {}, {}, [], [], None
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        attributes = dict(attributes)
        self._script = attributes.get("id", "program") if tag == "script" else None
        if tag == "data":
            self.values.setdefault(attributes["class"], []).append(float(attributes["value"]))
        if tag == "svg":
            self.pictures.append(attributes["aria-label"])
        self.addresses += [attributes[key] for key in ("href", "src") if key in attributes]

    def handle_endtag(self, tag):
        self._script = None

    def handle_data(self, data):
        if self._script:
            self.scripts[self._script] = self.scripts.get(self._script, "") + data
        else:
            self.text += data


class Pages(Case):
    def page(self, vega="/* draws */", **more):
        self.series(20, eager=lambda day: 1000.0 if day < 10 else 1200.0, **more)
        with database.opened(self.database, 0) as connection:
            found = [trend for name in trends.names(connection, "*") for trend in trends.trends_of(connection, name)]
        changes = trends.ranked([change for trend in found for change in trends.changes_of(trend)])
        return Page(page.render("overview", found, changes, vega)), changes

    def test_figures_agree_with_the_trends_with_and_without_scripts(self):
        for vega in ("/* draws */", ""):
            shown, changes = self.page(vega)
            self.assertEqual(shown.values["change"], [change.factor for change in changes])
            self.assertEqual(shown.values["last"], [2.4, 1200.0, 500.0])
            self.assertIn("fused: from 2.00x to 2.40x", shown.pictures)
            for word in ("+20.0 %", "-16.7 %", "0009aaaa (2026-01-10)", "000aaaaa (2026-01-11)"):
                self.assertIn(word, shown.text)
            self.assertLess(shown.text.index("-16.7 %"), shown.text.index("+20.0 %"))
            self.assertEqual(bool(shown.scripts), bool(vega))
            self.assertFalse([each for each in shown.addresses if not each.startswith(("#", "data:"))])
        data = json.loads(self.page()[0].scripts["data-0-speedup"])
        self.assertEqual([each["value"] for each in data["values"]], [2.0] * 10 + [2.4] * 10)
        self.assertEqual([each["date"] for each in data["changes"]], ["2026-01-11T00:00:00Z"])
        self.assertEqual((data["values"][0]["low"], data["names"]), (1.98, ["fused"]))

    def test_times_of_a_picture_have_the_unit_of_its_axis(self):
        data = json.loads(self.page(fused=lambda day: 5000.0)[0].scripts["data-0-time"])
        self.assertEqual(data["axis"], "time of an iteration (µs)")
        self.assertEqual({each["value"] for each in data["values"] if each["implementation"] == "fused"}, {5.0})
        self.assertEqual({each["low"] for each in data["values"] if each["implementation"] == "fused"}, {4.95})
        self.assertEqual([data["names"], len(set(data["colours"]))], [["eager", "fused"], 2])

    def test_two_runs_have_too_few_to_be_steady(self):
        self.series(2, fused=lambda day: 900.0 if day == 0 else 2155.0)
        with database.opened(self.database, 0) as connection:
            found = trends.trends_of(connection, "case")
        shown = Page(page.render("overview", found, [], ""))
        self.assertIn("No change was found; 1 of 1 comparisons have too few runs to tell", shown.text)
        (comparison,) = page.view("overview", found, [])["comparisons"]
        self.assertEqual(comparison["status"], "too few runs")

    def test_hostile_names_are_texts(self):
        name = "</script><script>alert(1)</script>\x1b<img src=x onerror=alert(1)> %unit%"
        self.add(
            self.write(
                "h.json",
                made_up.header(5),
                made_up.result(name, implementations=[made_up.row("eager", 2.0), made_up.row(name, 1.0, 2.0)]),
            )
        )
        shown, _ = self.page()
        self.assertIn("</script><script>alert(1)</script>\u241b<img src=x onerror=alert(1)> %unit%", shown.text)
        self.assertEqual(
            set(shown.scripts),
            {"specifications", "data-0-speedup", "data-0-time", "data-1-speedup", "data-1-time", "program"},
        )
        self.assertNotIn("src=x", " ".join(shown.addresses))
        for key in ("data-0-speedup", "data-1-speedup"):
            json.loads(shown.scripts[key])

    def test_a_page_of_many_runs_has_the_latest_points_and_all_changes(self):
        with mock.patch.object(page, "MOST_POINTS", 15), mock.patch.object(page, "LEAST_POINTS_OF_A_TREND", 4):
            shown, changes = self.page()
        self.assertIn("Pictures have the latest 5 runs of each trend; changes are of all runs.", shown.text)
        self.assertEqual(len(json.loads(shown.scripts["data-0-speedup"])["values"]), 5)
        self.assertEqual(len(shown.values["change"]), 2)

    def test_report_writes_the_page_whole_or_not_at_all(self):
        self.add(self.write("a.json", made_up.header(1), made_up.result()))
        path = os.path.join(self.folder, "history.html")
        self.run_program("report", "--database", self.database, "--output", path)
        written = pathlib.Path(path).read_text("utf-8")
        self.assertGreater(len(written), 500_000)
        self.assertIn("vegaEmbed", written)
        _, errors = self.run_program(
            "report", "--database", self.database, "--output", "/nonexistent/history.html", code=1
        )
        self.assertIn("--output /nonexistent/history.html: No such file or directory; expected a file", errors)
        _, errors = self.run_program("report", "--database", self.database, "--output", self.database, code=1)
        self.assertIn(f"--output {self.database}: is the database, or a part of it; expected another name", errors)
        for part in ("-wal", "-shm", "-journal"):
            path = self.database + part
            _, errors = self.run_program("export", "--database", self.database, "--csv", path, code=1)
            self.assertIn(f"--csv {path}: is the database, or a part of it", errors)
        _, errors = self.run_program("export", "--database", self.database, "--csv", "/dev/full", code=1)
        self.assertIn("--csv /dev/full: No space left on device; expected a file that can be written", errors)
        self.assertEqual(self.count(), [1, 1, 2, 2])

    def test_a_name_that_is_no_text_is_shown_as_one(self):
        file = self.write("a.json", made_up.header(1), made_up.result())
        other = os.path.join(self.folder, "a\udcff.json")
        os.rename(file, other)
        self.add(other)
        self.assertRegex(self.query("select file from run")[0][0], "a\ufffd+\\.json$")


class Views(Case):
    def setUp(self):
        super().setUp()
        wrong = made_up.row("fused", 500.0, 1000.0, outcome="wrong", message="differs")
        refused = {"name": "other", "baseline": False, "outcome": "refused", "message": "no kernel"}
        failed = made_up.row(
            "fused",
            500.0,
            1000.0,
            expectations=[{"expectation": "fast", "verdict": "failed", "acceptable": False, "message": "slow"}],
        )
        self.add(
            self.write(
                "a.json", made_up.header(2), made_up.result(implementations=[made_up.row("eager", 1000.0), failed])
            ),
            self.write("b.json", made_up.header(1), made_up.result("case"), made_up.result("old")),
            self.write(
                "c.json",
                made_up.header(0),
                made_up.result("case", implementations=[made_up.row("eager", 1000.0), wrong, refused]),
            ),
        )

    def test_latest_failure_and_overview(self):
        self.assertEqual(
            self.query("select comparison, implementation, date_utc from latest order by 1, 2"),
            [
                ("case", "eager", "2026-01-03T00:00:00Z"),
                ("case", "fused", "2026-01-03T00:00:00Z"),
                ("old", "eager", "2026-01-02T00:00:00Z"),
                ("old", "fused", "2026-01-02T00:00:00Z"),
            ],
        )
        self.assertEqual(
            self.query(
                "select comparison, implementation, verdict, message, commit_id from failure order by date_utc desc"
            ),
            [("case", "fused", "failed", "slow", "0002aaaa"), ("case", "fused", None, "differs", "0000aaaa")],
        )
        plan = [row[3] for row in self.query("explain query plan select * from failure")]
        self.assertTrue([step for step in plan if "row_that_failed" in step], plan)
        self.assertEqual(
            self.query("select run_id, comparisons, cpu from run_overview order by 1"),
            [(1, 1, "as ever"), (2, 2, "as ever"), (3, 1, "as ever")],
        )

    def test_datasette_opens_it(self):
        from datasette.app import Datasette

        async def get(path):
            response = await Datasette([self.database]).client.get(path)
            self.assertEqual(response.status_code, 200, response.text)
            return response.json()

        rows = asyncio.run(
            get("/pace/trend.json?comparison=case&implementation=fused&outcome=measured&_shape=array&_sort=date_utc")
        )
        self.assertEqual([(row["commit_id"], row["speedup"]) for row in rows], [("0001aaaa", 2.0), ("0002aaaa", 2.0)])
        tables = asyncio.run(get("/pace.json"))
        self.assertEqual(
            {each["name"] for each in tables["tables"]} & {"run", "machine", "comparison", "row", "summary"},
            {"run", "machine", "comparison", "row", "summary"},
        )

    def test_every_table_and_column_is_documented(self):
        page = (ROOT / "docs/history.md").read_text()
        names = [name for (name,) in self.query("select name from sqlite_master where type in ('table', 'view')")]
        self.assertEqual(len(names), 9)
        for name in names:
            section = re.search(rf"^### {name}\n(.*?)(?=^##|\Z)", page, re.M | re.S)
            self.assertTrue(section, name)
            listed = re.findall(r"`(\w+)`", section[1])
            for column in self.query(f"pragma table_info({name})"):
                self.assertIn(column[1], listed, f"{name}.{column[1]}")


if __name__ == "__main__":
    unittest.main()
