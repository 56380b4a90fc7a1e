"""fleet pool: a machine that differs from its pool is named, with its difference; equal ones are not."""

import os
import pathlib
import tempfile
import unittest

import machines
import made_up

MARGINS = (0.001, 0.002, 0.005, 0.01, 0.02, 0.05)


class Pool(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(dir=os.environ.get("TEST_TMPDIR"))
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.count = 0

    def process(
        self,
        machine,
        slower=None,
        scatter=0.001,
        supported=0.005,
        alarms=0,
        works=("exp", "add"),
        step=0.001,
        disturbed="",
        change=None,
        options=None,
        **facts,
    ):
        """The results of one process of the self-test: times of each work, and verdicts of each margin. Times of
        processes differ by `step`."""
        self.count += 1
        results = []
        for work in works:
            for repeat in (1, 2):
                time = 8000.0 * (slower or {}).get(work, 1.0) * (1 + step * (self.count % 3))
                limits = [1 + each for each in MARGINS]
                seed = 100 * self.count + 10 * repeat + len(work)
                result = machines.comparison(
                    f"pool/{work}/{repeat}",
                    0.0,
                    limits,
                    "passed",
                    scatter,
                    time=time,
                    seed=seed,
                    disturbed=disturbed,
                )
                result["check_seed"] = len(results)
                expectations = result["implementations"][1]["expectations"]
                for i, margin in enumerate(MARGINS):
                    if margin < supported:
                        expectations[i] = made_up.expectation("undecided", 1 + margin)
                if alarms > len(results):
                    expectations[0] = made_up.expectation("failed", 1 + MARGINS[0])
                if change:
                    change(*result["implementations"])
                results.append(result)
        name = self.folder / f"{machine}-{self.count}.json"
        first = machines.header(machine, self.count, **{"pool": "quiet", **facts})
        first["options"] |= options or {}
        return made_up.write(name, results, first)

    def pool(self, equal=("m1", "m2", "m3"), processes=3):
        return [self.process(machine) for machine in equal for _ in range(processes)]

    def run_on(self, files, *words, machines_=3):
        return machines.run("pool", *files, "--machines", machines_, *words)

    def test_equal_machines(self):
        out, errors, code = self.run_on(self.pool())
        self.assertEqual((code, errors), (0, ""), out)
        self.assertIn("pool quiet: 3 machines, 9 processes", out)
        self.assertRegex(out, r"m2 +3 +AMD EPYC, 2 cores +none +0\.5 % +0 of 12 +0\.\d+ % +8\.01.*8\.01")
        self.assertIn("pass within 2 s", out)
        self.assertIn("No machine is proven to differ", out)

    def test_a_machine_whose_memory_is_slow(self):
        files = self.pool() + [self.process("m4", {"add": 1.2}) for _ in range(3)]
        out, _, code = self.run_on(files, machines_=4)
        self.assertEqual(code, 42)
        named = [line for line in out.splitlines() if line.startswith("'m")]
        self.assertEqual(len(named), 1, out)
        self.assertRegex(named[0], r"'m4' differs: 'add' takes 1\.2x the others' time \(t test, p = ")
        self.assertRegex(out, r"m4 .* differs")
        # A difference within the margin passes.
        self.assertEqual(self.run_on(files, "--margin", 0.25, machines_=4)[2], 0)

    def test_times_that_a_coarse_clock_makes_equal(self):
        files = [self.process(name, {"add": slow}, step=0) for name, slow in (("m1", 1), ("m2", 1.2)) for _ in "abc"]
        out, _, code = self.run_on(files, machines_=2)
        self.assertEqual(code, 43, out)
        self.assertIn("Whether machines differ is not known: expected 5 processes at least", out)
        self.assertEqual(self.run_on(files, "--process-spread", 0.001, machines_=2)[2], 42)

    def test_a_noisy_machine(self):
        files = self.pool() + [self.process("m4", scatter=0.02, supported=0.05) for _ in range(3)]
        out, _, code = self.run_on(files, machines_=4)
        self.assertEqual(code, 42)
        self.assertRegex(out, r"'m4' differs: its log ratios scatter 1\d\.\dx as much as the others' \(t test")
        self.assertRegex(out, r"m4 .* 5 % +0 of 12 +1\.7 %")
        self.assertEqual(self.run_on(files, "--noise", 50, machines_=4)[2], 0)

    def test_a_machine_that_supports_no_margin(self):
        files = self.pool() + [self.process("m4", supported=1.0)]
        out, _, code = self.run_on(files)
        self.assertRegex(out, r"m4 .*none +none +0 of 4")
        self.assertEqual(code, 43, out)
        self.assertIn("'m4' supports none of the margins: 0 of 24 gates passed", out)

    def test_a_machine_that_was_disturbed_throughout(self):
        files = self.pool() + [self.process("m4", disturbed="other processes used 95 %")]
        out, _, code = self.run_on(files)
        self.assertEqual(code, 43, out)
        self.assertIn("'m4' was disturbed in all of its 4 comparisons: other processes used 95 %", out)
        self.assertNotIn("No machine is proven to differ", out)

    def test_a_machine_without_results(self):
        files = [*self.pool(), made_up.write(self.folder / "empty.json", [], machines.header("m4", 50, pool="quiet"))]
        out, _, code = self.run_on(files)
        self.assertEqual(code, 43, out)
        self.assertIn("'m4' has no results", out)

    def test_false_alarms(self):
        files = self.pool() + [self.process("m4", alarms=2)]
        out, _, code = self.run_on(files)
        self.assertEqual(code, 42)
        self.assertIn(
            "'m4' differs: 2 of 4 comparisons of identical code failed, promised is 0.001 (binomial test", out
        )
        # One in twelve is the share of one machine in eighty by chance.
        out, _, code = self.run_on(self.pool()[:-1] + [self.process("m3", alarms=1)])
        self.assertEqual(code, 0, out)
        self.assertIn("1 of 12", out)

    def test_facts(self):
        out, _, code = self.run_on([*self.pool(), self.process("m4", kernel="Linux 6.1")])
        self.assertEqual(code, 42)
        self.assertIn("'m4' differs: kernel is 'Linux 6.1', elsewhere 'nothing'", out)
        out, _, code = self.run_on(
            [self.process(each, gpu=f"H{each}", gpu_driver="580") for each in "12" for _ in "abc"], machines_=2
        )
        self.assertEqual(code, 42)
        self.assertIn("'1' differs: gpu is 'H1', and not so on all machines", out)
        self.assertIn("H2, 580", out)

    def test_work_that_a_machine_has_not_run(self):
        files = self.pool() + [self.process("m4", works=("exp",)) for _ in range(3)]
        out, _, code = self.run_on(files)
        self.assertEqual(code, 42)
        self.assertIn("'m4' differs: has not run 'add'", out)

    def test_too_few_processes(self):
        files = self.pool(processes=1)
        out, _, code = self.run_on(files)
        self.assertEqual(code, 43)
        self.assertIn("Whether machines differ is not known: expected 6 processes at least", out)
        # A known spread of times says nothing of deviations.
        scattered = [*files, self.process("m4", scatter=0.1)]
        for each in (files, scattered):
            out, _, code = self.run_on(each, "--process-spread", 0.002)
            self.assertEqual(code, 43, out)
            self.assertIn("Whether log ratios scatter more on a machine is not known: expected ", out)
            self.assertNotIn("No machine is proven to differ", out)
        files.append(self.process("m4", {"exp": 1.5}))
        out, _, code = self.run_on(files, "--process-spread", 0.002)
        self.assertEqual(code, 42)
        self.assertIn("'m4' differs: 'exp' takes 1.5x the others' time", out)

    def test_results_that_cannot_be_compared(self):
        def refused(files, machines_=3):
            out, errors, code = self.run_on(files, machines_=machines_)
            self.assertEqual((code, out), (1, ""))
            return errors

        files = self.pool()
        self.assertIn("--machines 4: results of 3: 'm1', 'm2', 'm3'", refused(files, 4))
        self.assertIn("expected each process once", refused(files + [self.copy_of(files[0])]))
        self.assertIn("differ in commit", refused(files + [self.process("m4", commit="c0ffee")]))
        self.assertIn("is of pool 'quiet' and", refused(files + [self.process("m4", pool="loud")]))
        errors = refused(files + [self.process("m1", cpu="Xeon")])
        self.assertIn("machine 'm1' has cpu 'Xeon', and 'AMD EPYC' in another file", errors)
        other = made_up.write(
            self.folder / "other.json", [machines.comparison("add", 0.0)], machines.header("m4", 50, pool="quiet")
        )
        self.assertIn("'add' is no comparison of a pool's self-test", refused(files + [other]))
        self.assertIn("nowhere", refused([*files, self.folder / "nowhere"]))

    def test_values_that_are_none(self):
        def no_demand(_, other):
            other["expectations"][1]["demanded_speed"] = None

        def no_time(baseline, _):
            baseline["time"] = None

        for changes, what in (
            ({"change": no_demand}, "'pool/exp/1': demanded_speed of 'time of at most 1.00x the baseline's' is null"),
            ({"change": no_time}, "'pool/exp/1': time of 'by_steps' is null"),
            ({"options": {"alpha": "often"}}, "options: alpha is 'often'; expected a number"),
            ({"options": {"alpha": "nan"}}, "options: alpha is 'nan'; expected a number"),
            ({"options": {"budget_ns": "long"}}, "options: budget_ns is 'long'; expected a number"),
        ):
            with self.subTest(what):
                files = [self.process(machine, **changes) for machine in ("m1", "m2")]
                out, errors, code = self.run_on(files, machines_=2)
                self.assertEqual((code, out), (1, ""))
                self.assertIn(f"{files[0]}: {what}", errors)

    def copy_of(self, path):
        copy = self.folder / "copy.json"
        copy.write_bytes(pathlib.Path(path).read_bytes())
        return copy


if __name__ == "__main__":
    unittest.main()
