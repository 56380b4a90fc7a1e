"""The driver finds what programs do wrong that are made to do it, and nothing where they do it right."""

import os
import sys
import tempfile
import unittest
from unittest import mock

from killed import killed, outputs, scenarios, tree

LIBRARY = os.path.abspath(sys.argv.pop(1))

_HEADER = scenarios.results(1)
_LINE = scenarios.results(1, "new").splitlines(keepends=True)[1]

# Programs in Python, which write a header and a row to a.json.
_WRITE = f"""
import os, subprocess, sys
def write(name, flags=os.O_TRUNC):
    file = os.open(name, os.O_WRONLY | os.O_CREAT | flags, 0o666)
    for text in ({_HEADER!r}, {_LINE!r}):
        text = text.encode()
        while text:
            text = text[os.write(file, text):]
    return file
def fail(error, name="a.json"):
    sys.exit(f"{{name}}: {{error.strerror}}")
"""

GOOD = """
try:
    write("a.json.new")
    os.replace("a.json.new", "a.json")
except OSError as error:
    if os.path.exists("a.json.new"): os.unlink("a.json.new")
    fail(error)
"""


class Faults(unittest.TestCase):
    def found(self, program, call, resume=""):
        """The faults of a program whose a.json exists, with an older row."""
        with tempfile.TemporaryDirectory() as folder:

            def make(box, run):
                del run
                (box / "a.json").write_text(scenarios.results(1, "old", "older"), "utf-8")

            scenario = scenarios.Scenario(
                "made up",
                (),
                lambda programs, box: [sys.executable, "-I", "-c", _WRITE + program],
                {"a.json": outputs.Results()},
                make,
            )
            runner = killed.Runner(scenario, {}, LIBRARY, os.path.realpath(folder))
            runner.measure()
            was_hit, faults = runner.faults_of(call)
            self.assertTrue(was_hit)
            return "\n".join(faults[1:])

    def test_a_good_program_has_none(self):
        for kind, number in (("create", 1), ("write", 1), ("write", 2), ("rename", 1)):
            for how, error in killed.HOWS[kind]:
                with self.subTest(kind=kind, number=number, how=how):
                    self.assertEqual(self.found(GOOD, tree.Call(kind, number, how, error)), "")

    def test_a_mixture_of_old_and_new(self):
        end = len(_HEADER + _LINE)
        over = f'try: os.ftruncate(write("a.json", 0), {end})\nexcept OSError as error: fail(error)'
        for how in ("kill", "error"):
            self.assertIn("a.json has other rows: ", self.found(over, tree.Call("truncate", 1, how)))

    def test_a_failure_that_nobody_hears_of(self):
        silent = 'try: write("a.json")\nexcept OSError: pass'
        found = self.found(silent, tree.Call("write", 2, "error"))
        self.assertIn("exit code 0, though not all rows are written", found)

    def test_a_message_without_the_file(self):
        nameless = 'try: write("a.json")\nexcept OSError as error: fail(error, "a file")'
        self.assertIn("the message does not name the file", self.found(nameless, tree.Call("write", 1, "error")))
        traceback = 'write("a.json")'
        self.assertIn("prints no message for its user", self.found(traceback, tree.Call("write", 1, "error")))

    def test_a_line_that_an_error_cuts_off(self):
        cut = 'try: write("a.json")\nexcept OSError as error: fail(error)'
        self.assertIn("its last line is cut off", self.found(cut, tree.Call("write", 2, "half", 28)))

    def test_what_is_left(self):
        unique = GOOD.replace('"a.json.new"', "name").replace("try:", 'name = f"{os.getpid()}.new"\ntry:')
        self.assertIn("then again: leaves ", self.found(unique, tree.Call("rename", 1, "kill")))
        no_cleaning = GOOD.replace("    if os.path.exists", "    if False and os.path.exists")
        self.assertIn("leaves a.json.new", self.found(no_cleaning, tree.Call("rename", 1, "error")))
        goes_on = GOOD.replace("    fail(error)", '    subprocess.Popen(["sleep", "1000"])\n    fail(error)')
        with mock.patch.object(tree, "GONE", 0):
            self.assertRegex(self.found(goes_on, tree.Call("rename", 1, "error")), r"leaves process \d+ \(sleep 1000\)")


if __name__ == "__main__":
    unittest.main()
