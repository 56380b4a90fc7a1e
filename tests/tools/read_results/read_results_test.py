"""The reader that docs/results.md shows: its table has the figures of the file."""

import contextlib
import io
import runpy
import sys
import tempfile
import unittest
from unittest import mock

import made_up
import read_results


class ReadResults(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name

    def test_rows_and_figures(self):
        guarded = made_up.row("fused", 500.0, 1000.0, expectations=[{"expectation": "fast", "verdict": "passed"}])
        wrong = {"name": "wrong", "baseline": False, "outcome": "wrong", "time": None, "speedup": None, "expectations": []}
        result = made_up.result(implementations=[made_up.row("eager", 1000.0), guarded, wrong])
        table = read_results.read_results(made_up.write(self.folder, "a.json", made_up.header(), result, made_up.result("b")))
        self.assertEqual(list(table.comparison), ["case"] * 3 + ["b"] * 2)
        self.assertEqual(list(table.implementation), ["eager", "fused", "wrong", "eager", "fused"])
        self.assertEqual(list(table.median_ns.dropna()), [1000, 500, 1000, 500])
        self.assertEqual(list(table.speedup.dropna()), [2, 2])
        self.assertEqual(list(table.low.dropna()), [1.98, 1.98])
        self.assertEqual(list(table.verdicts), [[], ["passed"], [], [], []])
        self.assertEqual(set(table.commit), {"0000aaaa"})

    def test_a_line_that_was_cut_off_is_left_out_and_another_version_refused(self):
        text = made_up.lines(made_up.header(), made_up.result("a"), made_up.result("b"))
        table = read_results.read_results(made_up.write(self.folder, "a.json", text[:-5]))
        self.assertEqual(set(table.comparison), {"a"})
        with self.assertRaisesRegex(ValueError, "a.json: expected schema_version 2, found 3"):
            read_results.read_results(made_up.write(self.folder, "a.json", text.replace('"schema_version": 2', '"schema_version": 3')))

    def test_the_program_prints_all_files_as_one_table(self):
        files = [made_up.write(self.folder, f"{day}.json", made_up.header(day), made_up.result()) for day in range(2)]
        out = io.StringIO()
        with contextlib.redirect_stdout(out), mock.patch.object(sys, "argv", ["read_results.py", *files]):
            runpy.run_path(read_results.__file__, run_name="__main__")
        self.assertEqual([line.split()[:2] for line in out.getvalue().splitlines()[1:]],
                         [["0", "0000aaaa"], ["1", "0000aaaa"], ["2", "0001aaaa"], ["3", "0001aaaa"]])


if __name__ == "__main__":
    unittest.main()
