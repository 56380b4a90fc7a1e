"""The pytest plugin, by pytest's output for small files of tests."""

import json
import os
import subprocess
import sys
import tempfile
import textwrap
import unittest

TESTS = textwrap.dedent("""
    import pytest, torch

    def twice(x): return x.mul(2)
    BRIEF = dict(budget=0.01, least_duration=0, warm_up=0.001, min_sample=1e-6, max_interference=1)

    @pytest.mark.pace(**BRIEF)
    def test_green(pace):
        result = (pace.compare("green", torch.ones(8)).baseline("eager", twice).candidate("mine", lambda x: x + x)
                  .expect(pace.no_slower_than(1000)).run())
        assert result.as_expected(), result.message

    @pytest.mark.pace(**BRIEF)
    def test_red(pace):
        result = (pace.compare("red", torch.ones(8)).baseline("eager", twice).candidate("mine", lambda x: x * 3).run())
        assert result.as_expected(), result.message

    @pytest.mark.pace(**BRIEF)
    def test_without_an_assertion(pace):
        pace.compare("silent", torch.ones(8)).baseline("eager", twice).candidate("mine", lambda x: x * 3).run()

    @pytest.mark.pace(**BRIEF)
    def test_names(pace):
        result = (pace.compare("names", name=torch.ones(8), self=2)
                  .baseline("eager", lambda name, self: name * self).run())
        assert result.as_expected(), result.message

    @pytest.fixture
    def compared(pace):
        return pace.compare("silent", torch.ones(8)).baseline("eager", twice).candidate("mine", lambda x: x * 3).run()

    @pytest.mark.pace(**BRIEF)
    def test_by_a_fixture(compared):
        pass

    @pytest.mark.pace(0.5)
    def test_marked(pace):
        pass

    @pytest.mark.pace(**{**BRIEF, "max_rounds": 2})
    def test_undecided(pace):
        (pace.compare("open", torch.ones(8)).baseline("eager", twice).candidate("mine", twice)
         .expect(pace.no_slower_than(1.0)).run())

    @pytest.mark.pace(**{**BRIEF, "max_rounds": 2})
    def test_open_phase(pace):
        first, second = (torch.ones(8, requires_grad=True) for _ in range(2))
        (pace.compare("steps", torch.ones(8))
         .baseline("eager", pace.training_step([first], lambda x: (first * x).square().sum()))
         .candidate("mine", pace.training_step([second], lambda x: (second * x).square().sum()))
         .expect(pace.no_slower_than(1.0).in_phase("backward")).run())
""")


def pytest(*arguments):
    with tempfile.TemporaryDirectory() as folder:
        with open(os.path.join(folder, "test_gates.py"), "w") as file:
            file.write(TESTS)
        run = subprocess.run([sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "-q", *arguments], cwd=folder,
                             stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        results = os.path.join(folder, "results.json")
        lines = []
        if os.path.exists(results):
            with open(results) as file:
                lines = [json.loads(line) for line in file]
    return run.returncode, run.stdout, lines


class Plugin(unittest.TestCase):
    def test_a_gate_that_is_met_passes_and_is_summed_up(self):
        code, output, results = pytest("-k", "green", "--pace-json", "results.json")
        self.assertEqual(code, 0, output)
        self.assertRegex(output, r"green: mine .*x .* passed")
        self.assertEqual([line["name"] for line in results[1:]], ["green"])

    def test_a_wrong_candidate_fails_its_test_with_the_reason(self):
        code, output, _ = pytest("-k", "red")
        self.assertEqual(code, 1, output)
        self.assertIn("expected 2.0, got 3.0", output)

    def test_a_result_that_nothing_asserts_fails_its_test(self):
        for test in ("without", "fixture"):
            code, output, _ = pytest("-k", test)
            self.assertEqual(code, 1, output)
            self.assertIn("1 failed", output)
            self.assertIn("the test passed, and a result is not as expected", output)

    def test_undecided_guards_are_let_through_fail_or_are_skipped(self):
        for test, case in (("undecided", "open"), ("open_phase", "steps/backward")):
            code, output, _ = pytest("-k", test)
            self.assertEqual(code, 0, output)
            self.assertRegex(output, rf"\n{case}: mine .*x undecided")
            code, output, _ = pytest("-k", test, "--pace-undecided", "fail")
            self.assertEqual(code, 1, output)
            self.assertRegex(output, r"\n1 failed, \d+ deselected")
            code, output, _ = pytest("-k", test, "--pace-undecided", "skip")
            self.assertEqual(code, 0, output)
            self.assertRegex(output, r"\n1 skipped, \d+ deselected")

    def test_an_argument_may_have_any_name(self):
        code, output, _ = pytest("-k", "names")
        self.assertEqual(code, 0, output)

    def test_a_marker_takes_named_options(self):
        code, output, _ = pytest("-k", "marked")
        self.assertEqual(code, 1, output)
        self.assertIn("pytest.mark.pace(0.5,); expected options by name", output)

    def test_results_that_cannot_be_written_fail_the_run(self):
        code, output, _ = pytest("-k", "green", "--pace-json", "/dev/full")
        self.assertEqual(code, 1, output)
        self.assertIn("--pace-json: cannot write '/dev/full': No space left on device", output)
        self.assertIn("1 passed", output)

    def test_the_command_line_has_options_for_all(self):
        code, output, _ = pytest("-k", "green", "--no-pace")
        self.assertIn("1 skipped", output)
        code, output, results = pytest("-k", "green", "--pace-audit", "strict", "--pace-tables", "-s", "--pace-json",
                                       "results.json")
        self.assertEqual(code, 0, output)
        self.assertEqual(results[1]["audit"], "strict")
        self.assertIn("speed-up", output)


if __name__ == "__main__":
    unittest.main()
