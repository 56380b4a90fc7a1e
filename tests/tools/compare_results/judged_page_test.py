"""Verdicts of compare_results on the page of tools/report: the figures of the file, and what is refused."""

import html.parser
import json
import os
import tempfile
import unittest

from report import page, read


def header(**more):
    file = {"path": "/a/old.json", "date_utc": "", "commit": "c0ffee", "hostname": "", "cut_off": False}
    return {
        "comparison_version": 1,
        "expectation": "time of at most 1.02x the old results's",
        "by": "time",
        "guard": True,
        "limit": 1.02,
        "steps": [{"old": [file], "new": [{**file, "path": "/a/new.json", "cut_off": True}]}],
        "compared": 3,
        "not_acceptable": 1,
        "let_through": 1,
        "exit_code": 1,
        **more,
    }


def row(implementation, factor, verdict, **more):
    interval = None if factor is None else {"low": 0.99 * factor, "high": 1.01 * factor, "confidence": 0.99}
    return {
        "step": 1,
        "comparison": "case",
        "implementation": implementation,
        "then_ns": 500.0,
        "now_ns": None if factor is None else 500 / factor,
        "factor": factor,
        "interval": interval,
        "change_proven": factor is not None and abs(factor - 1) > 0.01,
        "verdict": verdict,
        "acceptable": verdict in ("passed", "undecided"),
        "message": "why",
        **more,
    }


class Shown(html.parser.HTMLParser):
    def __init__(self, text):
        super().__init__()
        self.factors, self.words, self._in_data = [], "", False
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        if tag == "data" and ("class", "factor") in attributes:
            self.factors.append(float(dict(attributes)["value"]))

    def handle_data(self, data):
        self.words += data


class JudgedPage(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.path = os.path.join(folder.name, "compared.json")

    def read(self, *values):
        with open(self.path, "w", encoding="utf-8") as file:
            file.write("".join(json.dumps(value) + "\n" if not isinstance(value, str) else value for value in values))
        return read.read([self.path])

    def test_rows_from_the_largest_loss_on_with_their_figures(self):
        inputs = self.read(
            header(),
            row("better", 1.25, "passed"),
            row("open", 1.0, "undecided", processes_needed=7, time_needed_ns=4e9),
            row("worse</td>", 0.8, "failed"),
            row("gone", None, "invalid", message="has no figures <b>"),
        )
        self.assertEqual(inputs.problems, [])
        shown = Shown(page.render(inputs, [self.path], ""))
        self.assertEqual(shown.factors, [0.8, 1.25, 1.0])
        for words in (
            "Compared with old.json (c0ffee)",
            "of 3 compared, 1 not acceptable, 1 open and let through",
            "The last line was cut off of new.json (c0ffee)",
            "worse</td>",
            "0.800×",
            "[0.792, 0.808]",
            "has no figures <b>",
            "7 processes on each side, 4.00\u202fs of rounds",
        ):
            self.assertIn(words, shown.words)
        self.assertLess(shown.words.index("gone"), shown.words.index("worse"))

    def test_what_is_no_comparison_is_named_with_its_line(self):
        for values, problem in (
            ([header(comparison_version=2)], ":1: its comparison_version is 2; this program reads version 1"),
            ([{"comparison_version": 1}], ':1: is no comparison of files: has no "steps"'),
            ([header(), row("a", 1.0, "passed"), "{\n"], ":3: is no comparison of files: "),
            (
                [header(), row("a", 1.0, "passed", step=2)],
                ":2: is no comparison of files: expected a row of one of the steps",
            ),
            (
                [header(), {**row("a", 1.0, "passed"), "factor": "fast"}],
                ":2: is no comparison of files: factor: expected a number",
            ),
        ):
            inputs = self.read(*values)
            self.assertFalse(inputs.any())
            self.assertEqual(len(inputs.problems), 1)
            self.assertIn(self.path + problem, inputs.problems[0])


if __name__ == "__main__":
    unittest.main()
