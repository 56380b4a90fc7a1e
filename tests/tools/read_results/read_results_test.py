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
        wrong = {
            "name": "wrong",
            "baseline": False,
            "outcome": "wrong",
            "time": None,
            "speedup": None,
            "expectations": [],
        }
        result = made_up.result(implementations=[made_up.row("eager", 1000.0), guarded, wrong])
        table = read_results.read_results(
            made_up.write(self.folder, "a.json", made_up.header(), result, made_up.result("b"))
        )
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
        self.assertTrue(table.attrs["cut_off"])
        with self.assertRaisesRegex(ValueError, "a.json:1: .*expected schema_version 3, found 4"):
            read_results.read_results(
                made_up.write(self.folder, "a.json", text.replace('"schema_version": 3', '"schema_version": 4'))
            )

    def test_the_program_prints_all_files_as_one_table(self):
        files = [made_up.write(self.folder, f"{day}.json", made_up.header(day), made_up.result()) for day in range(2)]
        out, said = self.run_program(*files)
        self.assertEqual(said, 0)
        self.assertEqual(
            [line.split()[:2] for line in out.splitlines()[1:]],
            [["0", "0000aaaa"], ["1", "0000aaaa"], ["2", "0001aaaa"], ["3", "0001aaaa"]],
        )

    def run_program(self, *files):
        """The program's output, and its message or exit code."""
        out = io.StringIO()
        with contextlib.redirect_stdout(out), mock.patch.object(sys, "argv", ["read_results.py", *files]):
            with self.assertRaises(SystemExit) as end:
                runpy.run_path(read_results.__file__, run_name="__main__")
        return out.getvalue(), end.exception.code

    def test_what_cannot_be_read_ends_the_program_with_a_line_that_names_the_file(self):
        whole = made_up.lines(made_up.header(), made_up.result("a"), made_up.result("b"))
        for text, message in (
            ("", "bad.json: holds no results: it is empty, or was cut off"),
            (whole[:30], "bad.json: holds no results: it is empty, or was cut off"),
            (made_up.lines(made_up.header()), "bad.json: holds no results"),
            (whole.replace('"b"', "b"), "bad.json:3: is no line of results: JSONDecodeError("),
            (whole + "[]\n", "bad.json:4: is no line of results: TypeError("),
            (whole + "{}\n", "bad.json:4: is no line of results: KeyError('implementations')"),
            ("\udcff\udcfe\n", "bad.json:1: is no line of results: JSONDecodeError("),
        ):
            path = f"{self.folder}/bad.json"
            with open(path, "w", encoding="utf-8", errors="surrogateescape") as file:
                file.write(text)
            out, said = self.run_program(path)
            self.assertEqual(out, "")
            self.assertIn(f"read_results.py: {self.folder}/{message}", said)
            self.assertNotIn("\n", said)
        for path in (f"{self.folder}/none.json", self.folder):
            out, said = self.run_program(path)
            self.assertIn(path, said)
        self.assertIn("expected results files", self.run_program()[1])
        cut = made_up.write(self.folder, "cut.json", whole[:-5])
        out, said = self.run_program(cut)
        self.assertEqual(len(out.splitlines()), 3)
        self.assertEqual(said, f"read_results.py: the last line was cut off, and is left out, of: {cut}")


if __name__ == "__main__":
    unittest.main()
