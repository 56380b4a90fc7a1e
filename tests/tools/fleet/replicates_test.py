"""fleet replicates: the machine as a factor, by hand, against scipy and by simulation; and where a gate fails."""

import math
import os
import pathlib
import shutil
import tempfile
import unittest

import machines
import made_up
import numpy
from fleet import factor
from scipy import stats


class Factor(unittest.TestCase):
    def test_a_layout_by_hand(self):
        layout = factor.lay_out({"b": [3.0, 5.0], "a": [1.0, 2.0, 3.0], "c": [6.0]})
        self.assertEqual([each.name for each in layout.machines], ["a", "b", "c"])
        self.assertEqual([each.mean for each in layout.machines], [2.0, 4.0, 6.0])
        # Squares within: 2 of a, 2 of b, with 6 - 3 degrees of freedom.
        self.assertAlmostEqual(layout.scatter, math.sqrt(4 / 3))
        self.assertEqual((layout.freedom, layout.processes), (3, 6))
        # The mean of 2, 4 and 6, whose deviation is 2.
        self.assertAlmostEqual(layout.whole.centre, 4.0)
        self.assertAlmostEqual(layout.whole.error, 2 / math.sqrt(3))
        self.assertEqual(layout.whole.freedom, 2)
        a = layout.machines[0]
        self.assertAlmostEqual(a.own.error, math.sqrt(4 / 3 / 3))
        # The farthest from 4 is a; 2 less the mean of 4 and 6, with variances 4/9 + (2/3 + 4/3) / 4; then 4 beside 6.
        first, second, third = factor.outliers(layout, 0, 1)
        self.assertEqual((first.name, first.difference), ("a", -3.0))
        self.assertAlmostEqual(first.p, min(1, 3 * 2 * stats.t.sf(3 / math.sqrt(4 / 9 + 0.5), 3)))
        self.assertEqual((second.name, second.difference, third.name, third.difference), ("b", -2.0, "c", 2.0))
        self.assertAlmostEqual(second.p, min(1, 2 * 2 * stats.t.sf(2 / math.sqrt(2), 3)))
        with_margin = factor.outliers(layout, 1.0, 1)[0]
        self.assertAlmostEqual(with_margin.p, min(1, 3 * 2 * stats.t.sf(2 / math.sqrt(4 / 9 + 0.5), 3)))
        self.assertEqual(factor.outliers(layout, 0, first.p * 0.99), [])

    def test_figures_agree_with_scipy(self):
        random_ = numpy.random.default_rng(1)
        numbers = {name: list(random_.normal(0, 1, size)) for name, size in (("a", 3), ("b", 5), ("c", 4))}
        layout = factor.lay_out(numbers)
        self.assertAlmostEqual(layout.p_equal, stats.f_oneway(*numbers.values()).pvalue)
        for threshold in (-1.0, 0.0, 0.5):
            for side, alternative in (("above", "greater"), ("below", "less")):
                expected = stats.ttest_1samp(
                    [each.mean for each in layout.machines], threshold, alternative=alternative
                )
                self.assertAlmostEqual(getattr(layout.whole, side)(threshold), expected.pvalue)
        low, high = layout.whole.interval(0.025, 0.025)
        expected = stats.ttest_1samp([each.mean for each in layout.machines], 0).confidence_interval(0.95)
        self.assertAlmostEqual(low, expected.low)
        self.assertAlmostEqual(high, expected.high)
        two = factor.lay_out({name: numbers[name] for name in "ab"})
        expected = stats.ttest_ind(numbers["a"], numbers["b"]).pvalue
        self.assertAlmostEqual(two.p_equal, expected)
        self.assertAlmostEqual(factor.outliers(two, 0, 1)[0].p, min(1, 2 * expected))
        self.assertAlmostEqual(factor.at_least(2, 9, 0.1), stats.binom.sf(1, 9, 0.1))
        self.assertEqual(factor.at_least(0, 9, 0.1), 1)
        far = factor.Estimate(40.0, 1.0, 5)
        self.assertAlmostEqual(far.above(0) / stats.t.sf(40, 5), 1)
        # Cochran's Q, where the spread is known.
        known = factor.lay_out({"a": [1.0], "b": [4.0]}, spread=1.0)
        self.assertAlmostEqual(known.p_equal, stats.chi2.sf(4.5, 1))
        self.assertAlmostEqual(known.machines[0].own.above(0), stats.norm.sf(1))
        self.assertAlmostEqual(known.machines[0].own.interval(0.1, 0.1)[1], 1 + stats.norm.isf(0.1))

    def test_holm_s_procedure(self):
        adjusted = factor.holm({"a": 0.01, "b": 0.04, "c": 0.03, "d": 0.6})
        self.assertEqual([round(adjusted[each], 9) for each in "abcd"], [0.04, 0.09, 0.09, 0.6])

    def test_too_few_processes_and_processes_that_agree(self):
        few = factor.lay_out({"a": [1.0, 2.0], "b": [1.5], "c": [3.0, 4.0]})
        self.assertIsNone(few.p_equal)
        self.assertIsNone(few.scatter)
        self.assertIsNone(factor.outliers(few, 0, 0.01))
        self.assertIsNotNone(few.whole)
        self.assertIsNone(factor.lay_out({"a": [1.0] * 9}).whole)

    def test_numbers_without_scatter_prove_nothing(self):
        # The mean of three times 0.1 differs from 0.1 by a rounding.
        for centre in (1.0, 0.1):
            same = factor.lay_out({"a": [centre] * 3, "b": [centre] * 3, "c": [centre] * 2})
            self.assertEqual(same.p_equal, 1.0)
            for each in (same.whole, same.machines[0].own):
                self.assertEqual((each.above(0.05), each.below(2.0)), (1.0, 1.0))
                self.assertEqual(each.interval(0.01, 0.01), (-math.inf, math.inf))
        apart = factor.lay_out({"a": [1.0] * 3, "b": [2.0] * 3})
        self.assertIsNone(apart.p_equal)
        self.assertIsNone(factor.outliers(apart, 0, 0.01))
        self.assertEqual(factor.outliers(same, 0, 0.01), [])

    def test_a_known_spread_stands_for_the_scatter_that_is_missing(self):
        # The means of two and of eight processes have variances of 0.01 / 2 and 0.01 / 8.
        same = factor.lay_out({"a": [1.0] * 2, "b": [1.0] * 8}, spread=0.1)
        error = math.sqrt((0.01 / 2 + 0.01 / 8) / 2) / math.sqrt(2)
        self.assertAlmostEqual(same.whole.error, error)
        self.assertAlmostEqual(same.whole.above(0.9), stats.t.sf(0.1 / error, 1))
        self.assertAlmostEqual(same.machines[1].own.above(0.9), stats.norm.sf(0.1 / 0.1 * math.sqrt(8)))

    def test_error_rates_by_simulation(self):
        # Effects of machines three times the effects of processes: a mean over all processes would err at half of the
        # tries.
        random_ = numpy.random.default_rng(7)
        tries, level = 2000, 0.05
        whole = equal = named = 0
        for _ in range(tries):
            numbers = {name: random_.normal(random_.normal(0, 3), 1, 4) for name in "abcde"}
            whole += factor.lay_out(numbers).whole.above(0) <= level
            equal_ones = factor.lay_out({name: random_.normal(0, 1, size) for name, size in zip("abcd", (2, 3, 4, 5))})
            equal += equal_ones.p_equal <= level
            named += bool(factor.outliers(equal_ones, 0, level))
        deviation = math.sqrt(level * (1 - level) / tries)
        for count in (whole, equal):
            self.assertAlmostEqual(count / tries, level, delta=4 * deviation)
        self.assertLess(named / tries, level + 4 * deviation)
        self.assertGreater(named / tries, level / 4)


class Replicates(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(dir=os.environ.get("TEST_TMPDIR"))
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def write(self, machine, process, centre, first=None, **more):
        """One process of a machine, in the folder of its run."""
        place = self.place(len(list(self.folder.glob("gate/*"))) + 1)
        results = [machines.comparison("add", centre, seed=process, **more)]
        return made_up.write(place / "results.json", results, first or machines.header(machine, process))

    def place(self, run):
        """The folder of the outputs of a run, which is made."""
        place = self.folder / "gate" / f"run_{run}_of_12" / "test.outputs"
        place.mkdir(parents=True)
        return place

    def write_all(self, centres, **more):
        for number, (machine, centre) in enumerate(centres.items()):
            for process in range(3):
                # Processes of a machine differ by a thousandth.
                self.write(machine, 3 * number + process, centre + 0.001 * (process - 1), **more)

    def run_on(self, machines_, *words):
        return machines.run("replicates", self.folder, "--machines", machines_, *words)

    def test_slower_on_one_machine(self):
        self.write_all({"m1": 0.0, "m2": 0.001, "m3": -0.10, "m4": -0.001})
        out, _, code = self.run_on(4)
        self.assertEqual(code, 42, out)
        self.assertIn("12 processes on 4 machines", out)
        self.assertIn("Slower on 'm3' of 4 machines; within the limit on 'm1', 'm2', 'm4'.", out)
        self.assertRegex(out, r"Machines differ: 'm3' \(F test: p = ")
        rows = {line.split("  ")[1].strip(): line for line in out.splitlines() if line.startswith("  ")}
        self.assertRegex(rows["m3"], r" 3 .* 0\.9048x .*failed .*differs from the others")
        self.assertRegex(rows["m1"], r" 3 .* 1x .*passed")
        # One machine of four proves nothing of the pool.
        self.assertRegex(rows["all 4 machines"], r" 12 .*undecided")

    def test_slower_on_every_machine(self):
        self.write_all({"m1": -0.10, "m2": -0.101, "m3": -0.099, "m4": -0.10})
        out, _, code = self.run_on(4)
        self.assertEqual(code, 42, out)
        self.assertIn("Slower on every machine. No difference between machines is proven (F test", out)
        self.assertRegex(out, r"all 4 machines +12 +0\.9048x .*failed")

    def test_what_rounds_owe_to_known_values_is_no_part_of_a_number(self):
        self.write_all({"m1": 0.0, "m2": 0.001, "m3": -0.001}, excess_in_rounds=1.25)
        out, _, code = self.run_on(3)
        self.assertEqual(code, 42, out)
        self.assertIn("Slower on every machine.", out)
        self.assertRegex(out, r"all 3 machines +9 +0\.8x .*failed")

    def test_as_fast_on_every_machine(self):
        self.write_all({"m1": 0.0, "m2": 0.001, "m3": -0.001})
        out, _, code = self.run_on(3)
        self.assertEqual(code, 0, out)
        self.assertIn("Within the limit on every machine. No difference between machines is proven", out)
        self.assertEqual(self.run_on(3, "--no-slower-than", 1.05)[2], 0)
        out, _, code = self.run_on(3, "--speedup-at-least", 1.5)
        self.assertEqual(code, 42)
        self.assertIn("Not fast enough on every machine.", out)

    def test_the_interval_is_what_the_verdict_rests_on(self):
        self.write_all({"m1": 0.0, "m2": 0.0, "m3": 0.0})
        out = self.run_on(3)[0]
        # 0.001 within, 6 degrees of freedom, a sixth of 1 % and of 0.1 %.
        low, high = (
            math.exp(sign * stats.t.isf(level / 6, 6) * 0.001 / math.sqrt(3))
            for sign, level in ((-1, 0.01), (1, 0.001))
        )
        self.assertIn(f"m1              3          1x        [{low:.4g}, {high:.4g}]", out)

    def test_machines_share_half_of_the_rates(self):
        # Where one gate's rates prove a machine to be within the limit, and a sixth of them do not.
        half = 0.001 / math.sqrt(3)
        limit = math.exp((stats.t.isf(0.01, 6) + stats.t.isf(0.01 / 6, 6)) / 2 * half)
        self.write_all({"m1": 0.0, "m2": 0.0, "m3": 0.0}, limits=(limit,))
        self.assertRegex(self.run_on(3)[0], r"m1 +3 .*undecided")

    def test_an_undecided_gate_is_no_success(self):
        self.write_all({"m1": -0.0198, "m2": -0.0200, "m3": -0.0196})
        out, _, code = self.run_on(3)
        self.assertEqual(code, 43, out)
        self.assertIn("Undecided on every machine.", out)
        self.assertEqual(self.run_on(3, "--allow-undecided")[2], 0)
        shutil.rmtree(self.folder / "gate")
        self.write_all({"m1": 0.0198, "m2": 0.0200, "m3": 0.0196}, guard=False)
        self.assertEqual(self.run_on(3, "--allow-undecided")[2], 42)

    def test_one_process_of_each_machine_says_nothing_of_differences(self):
        for process, machine in enumerate(("m1", "m2", "m3")):
            self.write(machine, process, 0.0001 * process)
        out, _, code = self.run_on(3)
        self.assertIn("Whether machines differ is not known: 3 processes were measured; expected 6 at least", out)
        # The whole is known all the same: by the means of the machines.
        self.assertEqual(code, 0, out)
        out = self.run_on(3, "--process-spread", 0.001)[0]
        self.assertIn("(Cochran's Q: p = 0.99)", out)
        self.assertIn("Within the limit on every machine.", out)

    def test_a_coarse_clock_proves_no_gate(self):
        for number in range(6):
            self.write("m1" if number < 3 else "m2", number, 0.0, scatter=0.0)
        out, _, code = self.run_on(2)
        self.assertEqual(code, 43, out)
        self.assertIn("Undecided on every machine.", out)
        self.assertRegex(out, r"m1 +3 +1x +\[0, inf\] +undecided")
        out, _, code = self.run_on(2, "--process-spread", 0.001)
        self.assertEqual(code, 0, out)

    def test_machines_whose_numbers_do_not_scatter_are_not_said_to_differ(self):
        for number in range(6):
            self.write("m1" if number < 3 else "m2", number, 0.0 if number < 3 else 0.1, scatter=0.0)
        out, _, code = self.run_on(2)
        self.assertEqual(code, 43, out)
        self.assertIn("Whether machines differ is not known: the processes of each machine have one number", out)

    def test_a_claim_that_a_process_refuses_is_not_proven(self):
        why = "its outputs are NaN throughout"
        for number in range(9):
            self.write(f"m{number // 3 + 1}", number, 1.0 + 0.001 * number, guard=False, unproven=why)
        for words in ((), ("--speedup-at-least", 1.5)):
            out, _, code = self.run_on(3, *words)
            self.assertEqual(code, 42, out)
            self.assertNotIn("passed", out)
            self.assertNotIn("ast enough", out)
            self.assertIn("0 of 9 processes on 0 machines", out)
            self.assertRegex(out, r"add: fused, speed-up of at least 1.*x: not proven\n")
            self.assertIn(f"  without 3 processes of 'm2': {why}\n", out)
            self.assertRegex(out, rf"m3: 'add': 'fused': speed-up of at least 1.*x is not proven: {why}\n")
        # A guard asks nothing that such a row leaves open.
        out, _, code = self.run_on(3, "--no-slower-than", 1.05)
        self.assertEqual(code, 0, out)

    def test_a_claim_about_which_a_question_was_left_out_is_undecided_as_with_processes(self):
        why = "it was not checked further"
        for left_out, centre, verdict in ((range(9), 1.0, "undecided"), ([4], 1.0, "undecided"), ([4], 0.1, "failed")):
            with self.subTest(left_out=left_out, centre=centre):
                shutil.rmtree(self.folder / "gate", ignore_errors=True)
                for number in range(9):
                    unchecked = why * (number in left_out)
                    self.write(f"m{number // 3 + 1}", number, centre + 0.001 * number, guard=False, unchecked=unchecked)
                out, _, code = self.run_on(3, "--speedup-at-least", 1.5)
                self.assertEqual(code, 42, out)
                self.assertIn(", 9 processes on 3 machines", out)
                self.assertIn(f"add: fused, speed-up of at least 1.5x: {verdict}\n", out)
                self.assertRegex(out, rf"m2 +3 .*{verdict}")
                self.assertRegex(out, rf"all 3 machines +9 .*{verdict}")
                some = "3 processes" if len(left_out) == 9 else "1 process"
                self.assertIn(f"  no claim rests on {some} of 'm2': {why}\n", out)
                self.assertNotIn("not proven", out)
                # A guard asks nothing that such a row leaves open.
                if centre == 1.0:
                    out, _, code = self.run_on(3, "--no-slower-than", 1.05)
                    self.assertEqual(code, 0, out)
                    self.assertNotIn("rests on", out)

    def test_a_claim_that_one_process_refuses_is_not_proven(self):
        for number in range(9):
            why = "its outputs are NaN throughout" if number == 4 else ""
            self.write(f"m{number // 3 + 1}", number, 1.0 + 0.001 * number, guard=False, unproven=why)
        out, _, code = self.run_on(3)
        self.assertEqual(code, 42, out)
        self.assertIn("8 of 9 processes on 3 machines", out)
        self.assertIn("x: not proven\n", out)
        self.assertRegex(out, r"m2 +2 .*passed")
        self.assertIn("  without 1 process of 'm2': its outputs are NaN throughout\n", out)
        self.assertNotIn("Fast enough", out)

    def test_times_that_cannot_be_true_close(self):
        for number in range(9):
            why = "its calls take 1 ns, and this machine needs 1 us" if number % 3 == 0 else ""
            self.write(f"m{number // 3 + 1}", number, 0.001 * number, impossible=why)
        for words in ((), ("--no-slower-than", 1.05), ("--speedup-at-least", 0.9)):
            out, _, code = self.run_on(3, *words)
            self.assertEqual(code, 42, out)
            self.assertIn("6 of 9 processes on 3 machines", out)
            self.assertIn("  without 1 process of 'm1': its calls take 1 ns", out)
            self.assertIn("m1: 'add': 'fused': its calls take 1 ns, and this machine needs 1 us", out)
            self.assertNotIn("Within the limit", out)

    def test_a_baseline_whose_times_cannot_be_true_closes(self):
        self.write_all({"m1": 0.0, "m2": 0.0})
        slowed = machines.comparison("add", 0.0, seed=57)
        slowed["implementations"][0]["context"]["objections"] = [
            made_up.objection("impossible", "the baseline was slowed")
        ]
        extra = made_up.write(self.folder / "slowed.json", [slowed], machines.header("m2", 57))
        out, _, code = machines.run("replicates", self.folder / "gate", extra, "--machines", 2)
        self.assertEqual(code, 42, out)
        self.assertIn("6 of 7 processes on 2 machines", out)
        self.assertIn("  without 1 process of 'm2': the baseline was slowed\n", out)
        self.assertIn("m2: 'add': 'by_steps': the baseline was slowed", out)

    def test_what_a_gate_is_without_is_printed(self):
        for number in range(15):
            disturbed = number % 5 < 2
            self.write(f"m{number // 5 + 1}", number, 1.0 + 0.001 * number, disturbed="other processes" * disturbed)
        for words in ((), ("--speedup-at-least", 1.5)):
            out, _, code = self.run_on(3, *words)
            self.assertEqual(code, 0, out)
            self.assertIn("9 of 15 processes on 3 machines", out)
            for name in ("m1", "m2", "m3"):
                self.assertIn(f"  without 2 processes of '{name}': other processes\n", out)

    def test_rounds_that_a_verdict_has_ended_are_refused(self):
        self.write_all({"m1": 0.0, "m2": 0.0})
        decided = machines.comparison("add", 0.0, seed=58)
        decided["stop_reason"] = "rule"
        extra = made_up.write(self.folder / "decided.json", [decided], machines.header("m2", 58))
        for words in ((), ("--speedup-at-least", 0.9)):
            errors = self.refused(*machines.run("replicates", self.folder / "gate", extra, "--machines", 2, *words))
            self.assertIn("decided.json: the rounds of 'add' ended once their gates were decided", errors)
            self.assertIn("expected --stop budget", errors)

    def test_rounds_that_an_audit_has_ended_are_a_fault(self):
        self.write_all({"m1": 0.0, "m2": 0.0})
        audited = machines.comparison("add", 0.0, seed=58)
        audited["stop_reason"] = "rule"
        audited["implementations"].append({**audited["implementations"][1], "name": "cheat", "outcome": "wrong"})
        extra = made_up.write(self.folder / "audited.json", [audited], machines.header("m2", 58))
        out, _, code = machines.run("replicates", self.folder / "gate", extra, "--machines", 2)
        self.assertEqual(code, 42, out)
        self.assertIn("m2: 'add': 'cheat' wrong", out)

    def test_implementations_at_fault_and_gates_of_each_process_close(self):
        self.write_all({"m1": 0.0, "m2": 0.0})
        wrong = machines.comparison("add", 0.0, seed=50)
        wrong["implementations"][1] |= {"outcome": "wrong", "message": "differs in element 3", "log_ratios": []}
        extra = made_up.write(self.folder / "wrong.json", [wrong], machines.header("m2", 40))
        out, _, code = machines.run("replicates", self.folder / "gate", extra, "--machines", 2)
        self.assertEqual(code, 42)
        self.assertIn("m2: 'add': 'fused' wrong: differs in element 3", out)
        counted = machines.comparison("add", 0.0, seed=51)
        counted["implementations"][1]["expectations"].append(
            {"expectation": "at most 2 allocations", "verdict": "failed", "acceptable": False, "message": "made 3"}
        )
        extra = made_up.write(self.folder / "counted.json", [counted], machines.header("m2", 41))
        out, _, code = machines.run("replicates", self.folder / "gate", extra, "--machines", 2)
        self.assertEqual(code, 42)
        self.assertIn("m2: made 3", out)

    def changed(self, change, names, guard=True):
        """Writes three processes of each machine, whose comparison `change` has changed."""
        for name in names:
            for process in range(3):
                run = len(list(self.folder.glob("gate/*"))) + 1
                place = self.place(run)
                result = machines.comparison("add", 0.001 * (process - 1), seed=run, guard=guard)
                change(result)
                made_up.write(place / "results.json", [result], machines.header(name, run))

    @staticmethod
    def refuse(result):
        """As a program writes a row that was refused: `demanded_speed` is null."""
        row = result["implementations"][1]
        row |= {"outcome": "refused", "message": "not on this machine", "log_ratios": [], "samples_ns": []}
        for each in row["expectations"]:
            each |= {"verdict": "invalid", "acceptable": False, "unresolved": False, "demanded_speed": None}
            each["message"] = "'fused' could not be run here: not on this machine"

    def test_a_refused_candidate_closes(self):
        self.changed(self.refuse, ("m1", "m2"))
        for words in ((), ("--no-slower-than", 1.05)):
            out, _, code = self.run_on(2, *words)
            self.assertEqual(code, 42, out)
            self.assertIn("not on this machine", out)
        self.write_all({"m4": 0.0, "m5": 0.0})
        for words in ((), ("--no-slower-than", 1.05)):
            out, _, code = self.run_on(2, *words)
            self.assertEqual(code, 42, out)
            self.assertIn("the baseline's: not proven\n", out)
            self.assertIn("  without 3 processes of 'm2': it was refused: not on this machine\n", out)

    def test_an_invalid_verdict_closes(self):
        def invalid(result):
            result["implementations"][1]["expectations"][0] |= {"verdict": "invalid", "message": "cannot be"}

        self.changed(invalid, ("m1", "m2"))
        out, _, code = self.run_on(2)
        self.assertEqual(code, 42, out)
        self.assertIn("is not proven: cannot be", out)

    def test_gates_of_the_baseline_and_lost_devices_close(self):
        def count(result):
            result["implementations"][0]["expectations"] = [
                {"expectation": "at most 2 allocations", "verdict": "failed", "acceptable": False, "message": "made 3"}
            ]

        self.changed(count, ("m1", "m2"))
        out, _, code = self.run_on(2)
        self.assertEqual(code, 42, out)
        self.assertIn("m1: made 3", out)
        shutil.rmtree(self.folder / "gate")
        self.changed(lambda result: result.update(lost_device="GPU 0 fell off the bus"), ("m1", "m2"))
        out, _, code = self.run_on(2)
        self.assertEqual(code, 42, out)
        self.assertIn("m2: 'add': the device was lost: GPU 0 fell off the bus", out)

    def test_a_machine_without_a_figure_is_named_and_proves_nothing(self):
        def disturb(result):
            result["conditions"]["disturbances"] = ["other processes used 95 % of the cores"]

        def drop(result):
            result["implementations"].pop()

        def unreached(result):
            row = result["implementations"][1]
            row |= {"outcome": "unreached", "message": "the time was over", "log_ratios": []}
            row["expectations"][0]["demanded_speed"] = None

        def known_values(result):
            row = result["implementations"][1]
            row["speedup_on_unseen_values"] = {"median": math.exp(row["log_ratios"][-1]) / 1.2, "interval": None}
            row["context"]["objections"] = [made_up.objection("unchecked", "it was not checked how much it keeps")]

        for change, why in (
            (known_values, "it was not checked how much it keeps"),
            (disturb, "other processes used 95 % of the cores"),
            (drop, "its results have no such row"),
            (unreached, "the time was over"),
        ):
            for guard in (True, False):
                with self.subTest(why, guard=guard):
                    shutil.rmtree(self.folder / "gate", ignore_errors=True)
                    fast = 0.0 if guard else 1.0
                    self.write_all({"m1": fast, "m2": fast + 0.001, "m3": fast - 0.001}, guard=guard)
                    self.changed(change, ("m4",), guard)
                    out, _, code = self.run_on(3)
                    self.assertEqual(code, 43 if guard else 42, out)
                    self.assertEqual(self.run_on(3, "--allow-undecided")[2], 0 if guard else 42)
                    self.assertRegex(out, r"the baseline's: undecided\n|at least 1.02x: undecided\n")
                    self.assertIn(f"  without 3 processes of 'm4': {why}\n", out)
                    self.assertRegex(out, r"\n  m4 +0 +undecided +has no figure\n")
                    self.assertRegex(out, r"\n  3 of 4 machines +9 .*passed")
                    self.assertRegex(out, r"Undecided on 'm4'; .* on the whole\.")
                    self.assertIn("No process of 'm4' has a figure.", out)
                    self.assertNotIn("on every machine", out)
                    self.assertIn("has figures of 3", self.refused(4))

    def test_a_machine_whose_files_have_no_results_is_named(self):
        self.write_all({"m1": 0.0, "m2": 0.0})
        made_up.write(self.place(7) / "results.json", [], machines.header("m3", 50))
        out, _, code = self.run_on(2)
        self.assertEqual(code, 43, out)
        self.assertIn("  without 1 process of 'm3': its results have no such row\n", out)

    def test_an_undecided_guard_of_another_kind_is_no_success(self):
        def mean(result):
            result["implementations"][1]["expectations"].append(
                {
                    "expectation": "mean time of at most 1.02x the baseline's",
                    "verdict": "undecided",
                    "acceptable": True,
                    "unresolved": True,
                    "message": "it is open",
                }
            )

        self.changed(mean, ("m1", "m2"))
        for words in ((), ("--no-slower-than", 1.05)):
            out, _, code = self.run_on(2, *words)
            self.assertEqual(code, 43, out)
            self.assertIn("fused, mean time of at most 1.02x the baseline's: undecided in 6 of 6 processes", out)
            self.assertEqual(self.run_on(2, "--allow-undecided", *words)[2], 0)

    def refused(self, *words):
        out, errors, code = words if len(words) == 3 else self.run_on(*words)
        self.assertEqual((code, out), (1, ""))
        return errors

    def test_fewer_machines_than_asked_for(self):
        self.write_all({"m1": 0.0, "m2": 0.0})
        self.assertIn("--machines 3: 'fused' in 'add' has figures of 2: 'm1', 'm2'", self.refused(3))
        disturbed = machines.comparison("add", 0.0, seed=59)
        disturbed["conditions"]["disturbances"] = ["other processes used 95 % of the cores"]
        extra = made_up.write(self.folder / "disturbed.json", [disturbed], machines.header("m3", 59))
        errors = self.refused(*machines.run("replicates", self.folder / "gate", extra, "--machines", 3))
        self.assertIn("none of 'm3': other processes used 95 % of the cores", errors)
        for number in (0, 1, 1.5, "x"):
            self.assertEqual(self.run_on(number)[2], 2)

    def test_one_process_twice(self):
        self.write_all({"m1": 0.0, "m2": 0.0})
        shutil.copytree(self.folder / "gate/run_1_of_12", self.folder / "copy")
        self.assertIn("are one process of machine 'm1'; expected each process once", self.refused(2))

    def test_one_process_under_two_hostnames(self):
        # Each is a copy of a process of m1, with more and more changed by hand.
        for what in ("hostname", "date", "seeds and duration"):
            with self.subTest(what):
                shutil.rmtree(self.folder / "gate", ignore_errors=True)
                self.write_all({"m1": 0.0})
                for process in range(3):
                    first = machines.header("m2", process if what == "hostname" else 30 + process)
                    result = machines.comparison("add", 0.001 * (process - 1), seed=process)
                    if what == "seeds and duration":
                        first["options"]["check_seed"] = 900 + process
                        result |= {"check_seed": 900 + process, "elapsed_ns": 1e9 + process}
                    made_up.write(self.place(4 + process) / "results.json", [result], first)
                errors = self.refused(2)
                self.assertRegex(errors, r"run_1_of_12/\S+ of machine 'm1' and \S+run_4_of_12/\S+ of machine 'm2' have")
                self.assertIn("the same samples of 'add': they are one process under two hostnames", errors)

    def test_one_comparison_of_another_process(self):
        self.write_all({"m1": 0.0, "m2": 0.0})
        results = [machines.comparison("add", 0.0, seed=90), machines.comparison("mul", 0.0, seed=91)]
        made_up.write(self.place(7) / "results.json", results, machines.header("m1", 50))
        results[0] = machines.comparison("add", 0.0, seed=92)
        made_up.write(self.place(8) / "results.json", results, machines.header("m2", 51))
        self.assertIn("have the same samples of 'mul'", self.refused(2))

    def test_equal_samples_by_a_coarse_clock_are_of_two_processes(self):
        self.write_all({"m1": 0.0, "m2": 0.0})
        for process, machine in ((8, "m1"), (9, "m2")):
            result = machines.comparison("add", 0.0, seed=process, scatter=0.0)
            made_up.write(self.place(process) / "results.json", [result], machines.header(machine, process))
        self.assertEqual(self.run_on(2)[2], 0)

    def test_other_code_and_other_questions(self):
        self.write_all({"m1": 0.0, "m2": 0.0})
        last = self.folder / "gate/run_6_of_12/test.outputs/results.json"
        result = machines.comparison("add", 0.0, seed=5)

        def with_header(change):
            first = machines.header("m2", 5)
            change(first)
            made_up.write(last, [result], first)
            return self.refused(2)

        self.assertIn(
            "differ in commit: 'b99b64", with_header(lambda first: first["environment"].update(commit="c0ffee"))
        )
        self.assertIn("differ in budget_ns", with_header(lambda first: first["options"].update(budget_ns=1e9)))
        self.assertIn(
            "differ in --suite", with_header(lambda first: first["configuration"].update({"--suite": "timm"}))
        )
        for commit in (machines.COMMIT, ""):
            self.assertIn(
                "differ in the build: '0123' and '4567'; expected",
                self.refused(*machines.run("replicates", *self.of_builds(commit), "--machines", 2)),
            )
        self.assertIn("does not name its machine", with_header(lambda first: first["environment"].update(hostname="")))
        result["implementations"][0]["name"] = "eager"
        self.assertIn("other gates or another baseline", with_header(lambda first: None))
        made_up.write(last, [machines.comparison("add", 0.0, limits=(1.05,), seed=5)], machines.header("m2", 5))
        self.assertIn("time of at most 1.02x", self.refused(2))
        made_up.write(last, [machines.comparison("add", 0.0, limits=(), seed=5)], machines.header("m2", 5))
        self.assertIn("and none; expected one question", self.refused(2))
        last.write_text("{}", "utf-8")
        self.assertIn("results.json:1", self.refused(2))

    def of_builds(self, commit):
        """Files of two builds."""
        for machine, build in (("m1", "0123"), ("m2", "4567")):
            first = machines.header(machine, 7, commit=commit)
            first["configuration"]["the build"] = build
            yield made_up.write(self.folder / f"{machine}.json", [machines.comparison("add", 0.0, seed=7)], first)

    def test_no_gate_on_a_speed_up(self):
        self.write_all({"m1": 0.0, "m2": 0.0}, limits=())
        self.assertIn("state one: --no-slower-than", self.refused(2))

    def test_processes_of_one_action(self):
        # --runs_per_test=2 --test_arg=--processes=3: a file for each process of a run.
        for run, machine in enumerate(("m1", "m2"), 1):
            place = self.folder / "gate" / f"run_{run}_of_2" / "test.outputs"
            place.mkdir(parents=True)
            for process in range(1, 4):
                number = 3 * run + process
                results = [machines.comparison("add", 0.001 * process, seed=number)]
                made_up.write(place / f"results-{process}.json", results, machines.header(machine, number))
        out, _, code = self.run_on(2)
        self.assertEqual(code, 0, out)
        self.assertIn("6 processes on 2 machines", out)


if __name__ == "__main__":
    unittest.main()
