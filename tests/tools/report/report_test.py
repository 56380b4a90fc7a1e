"""tools/report: figures of the page are the files' figures, with any names and lines."""

import json
import math
import os
import shlex
import stat
import subprocess
import unittest
import zipfile

import made_up
import program
from report import statistics, sweeps

EVIDENCE = os.path.abspath("tests/tools/report/evidence_of_file")


def failed_gate():
    slowed = made_up.comparison("layer_norm/64x1024", 1 / 1.1, "failed")
    wrong = made_up.row("wrong", [])
    wrong.update(baseline=False, outcome="wrong", message="output: 1 of 65536 elements differ")
    slowed["implementations"].append(wrong)
    return slowed


class Figures(program.ReportCase):
    def values(self, page, css):
        return [float(each["value"]) for each in page.all("data", css=css)]

    def test_medians_and_speedups_agree_with_the_file(self):
        results = [made_up.comparison(f"op/{i}x64", 1 + i / 4, "passed", seed=i) for i in range(1, 5)]
        page, errors = self.page_of(made_up.write(self.folder / "a.json", results))
        self.assertEqual(errors, "")
        rows = [row for result in results for row in result["implementations"]]
        self.assertEqual(self.values(page, "median"), [row["time"]["median_ns"] for row in rows])
        speedups = {row["speedup"]["median"] for row in rows if row["speedup"]}
        self.assertLessEqual(speedups, set(self.values(page, "speedup")))
        for row in rows:
            self.assertIn(row["expectations"][0]["message"] if row["expectations"] else row["name"], page.text)

    def test_verdicts_are_counted_and_the_exit_code_is_named(self):
        results = [
            made_up.comparison("a", 1.2, "passed"),
            made_up.comparison("b", 1.0, "undecided"),
            failed_gate(),
        ]
        page, _ = self.page_of(made_up.write(self.folder / "a.json", results))
        counted = {each["data-verdict"]: int(each["text"]) for each in page.all("b") if "data-verdict" in each}
        self.assertEqual(counted, {"failed": 1, "invalid": 0, "undecided": 1, "passed": 1})
        self.assertIn("Exit code 42: 1 gate closed, 1 implementation wrong, crashed, hung or out of memory.", page.text)
        self.assertIn("output: 1 of 65536 elements differ", page.text)
        (attention,) = page.all("section", id="attention")
        # Failures stand before rows that were let through.
        self.assertLess(attention["text"].index("failed"), attention["text"].index("let through"))

    def title(self, name):
        results = [made_up.comparison("a", 1.2, "passed")]
        path = made_up.write(self.folder / name, results)
        page, _ = self.page_of(path)
        title = page.all("title")[0]
        return title["text"], page

    def test_a_title_names_the_program_where_the_file_is_gone_after_the_page(self):
        for name, title in (
            ("a.html.results-0123456789abcdef.json", "1 comparison · layer_norm_test"),
            ("a.html.results-0123456789abcdef-2.json", "1 comparison · layer_norm_test, process 2"),
        ):
            found, page = self.title(name)
            self.assertEqual(found, title)
            self.assertNotIn("results-0123", page.text)

    def test_a_title_has_the_name_of_any_other_file(self):
        for name in ("a.json", "a.html.results-12.json", "results-0123456789abcdef.json"):
            self.assertEqual(self.title(name)[0], f"1 comparison · {name}")
            self.assertIn(name, self.title(name)[1].text)

    def test_each_exit_code(self):
        unmeasured = made_up.comparison("c", 1)
        for row in unmeasured["implementations"]:
            row.update(outcome="refused", time=None, speedup=None, samples_ns=[], log_ratios=[])
        exhausted = made_up.comparison("d", 1.2, "passed")
        exhausted["implementations"][1].update(outcome="out of memory", expectations=[])
        for results, code in (
            ([made_up.comparison("a", 1.2, "passed")], 0),
            ([exhausted], 42),
            ([made_up.comparison("a", 1.0, "undecided")], 43),
            ([unmeasured], 4),
        ):
            page, _ = self.page_of(made_up.write(self.folder / "a.json", results))
            self.assertIn(f"Exit code {code}:", page.text)

    def deferred(self):
        result = made_up.comparison("a", 0.8)
        result["implementations"][1]["expectations"] = [made_up.expectation("failed", deferred=True)]
        return result

    def test_gates_of_several_processes_have_no_exit_code(self):
        page, _ = self.page_of(made_up.write(self.folder / "a.json", [self.deferred()]))
        self.assertNotIn("Exit code", page.text)
        self.assertIn("Several processes decide the gates together (--processes).", page.text)

    def test_a_fault_ends_a_run_of_several_processes_too(self):
        page, _ = self.page_of(made_up.write(self.folder / "a.json", [self.deferred(), failed_gate()]))
        self.assertIn("Exit code 42: 1 gate closed, 1 implementation wrong", page.text)

    def test_a_row_without_a_context_has_no_objections(self):
        result = made_up.comparison("a", 1.2, "passed")
        del result["implementations"][1]["context"]
        page, _ = self.page_of(made_up.write(self.folder / "a.json", [result]))
        self.assertIn("fused", page.text)

    def test_a_row_has_why_no_gate_may_rest_on_its_figures(self):
        for key in ("impossible", "unproven", "unchecked", "cut_short", "too_brief"):
            result = made_up.comparison("a", 1.2, "passed")
            result["implementations"][1]["context"]["objections"] = [made_up.objection(key, f"{key}, for a reason")]
            page, _ = self.page_of(made_up.write(self.folder / "a.json", [result]))
            remarks = [each["text"] for each in page.all("tr", css="remark")]
            self.assertTrue(any(f"{key}, for a reason" in each for each in remarks), key)

    def test_intervals_are_drawn_without_a_script(self):
        page, _ = self.page_of(made_up.write(self.folder / "a.json", [made_up.comparison("a", 1.2, "passed")]))
        titles = [each["text"] for each in page.all("title")]
        self.assertTrue(any(each.startswith("speed-up 1.") and "limit 0.952" in each for each in titles), titles)
        self.assertTrue(any(each.startswith("median 8.") for each in titles), titles)
        # No style attribute: a strict policy forbids it.
        self.assertEqual([each for each in page.elements if "style" in each], [])
        self.assertEqual([each for each in page.elements if any(key.startswith("on") for key in each)], [])

    def test_samples_of_pictures_agree_with_the_file(self):
        result = made_up.comparison("a", 1.5, "passed", count=40)
        page, _ = self.page_of(made_up.write(self.folder / "a.json", [result]))
        data = page.data("data-c0")
        self.assertEqual(data["unit"], "µs")
        for row, drawn in zip(result["implementations"], data["samples"]):
            self.assertEqual(drawn["implementation"], row["name"])
            for exact, value in zip(row["samples_ns"], drawn["values"], strict=True):
                self.assertAlmostEqual(value * 1000 / exact, 1, places=4)
        self.assertEqual(len(data["ratios"][0]["values"]), 20)
        self.assertEqual(len(data["evidence"][0]["cycles"]), 20)
        # Every kind of picture that the page has a place for has a specification.
        places = {each["data-kind"] for each in page.all("div", css="chart")}
        self.assertEqual(places, {"rounds", "strip", "ecdf", "ratios", "evidence"})
        self.assertLessEqual(places, set(page.data("specifications")))

    def test_several_files_are_held_against_each_other(self):
        old = [made_up.comparison(f"op/{i}", 1.4, "passed", seed=i) for i in range(3)]
        new = [made_up.comparison(f"op/{i}", 1.1 if i == 1 else 1.4, "passed", seed=i + 9) for i in range(3)]
        page, _ = self.page_of(
            made_up.write(self.folder / "old.json", old, made_up.header(commit="1111111")),
            made_up.write(self.folder / "new.json", new, made_up.header(commit="2222222")),
        )
        (between,) = page.all("section", id="between")
        self.assertIn("1: old.json", between["text"])
        self.assertIn("2222222", between["text"])
        (slower,) = page.all("td", css="slower")
        self.assertIn("1.1", slower["text"])
        self.assertEqual(len(page.all("details", css="comparison")), 6)

    def test_files_that_ask_another_question_are_not_held_against_each_other(self):
        for key, value, said in (
            ("inputs", "Float[8, 8]", "other inputs"),
            ("clock", "cuda events", "another clock"),
            ("baseline", "by_hand", "another baseline"),
        ):
            old, new = made_up.comparison("op", 1.4, seed=1), made_up.comparison("op", 1.1, seed=2)
            if key == "baseline":
                new["implementations"][0]["name"] = value
            else:
                new[key] = value
            page, _ = self.page_of(
                made_up.write(self.folder / "old.json", [old]), made_up.write(self.folder / "new.json", [new])
            )
            (between,) = page.all("section", id="between")
            self.assertIn(said, between["text"])
            self.assertEqual(page.all("td", css="slower"), [])

    def test_the_mean_of_a_group_stands_beside_the_mean_of_all(self):
        results = [made_up.comparison(name, 2, seed=i) for i, name in enumerate(("a/1", "a/2", "b"))]
        page, _ = self.page_of(made_up.write(self.folder / "a.json", results))
        (means,) = page.all("section", id="means")
        self.assertRegex(means["text"], r"(?s)allfused3.*afused2")
        page, _ = self.page_of(made_up.write(self.folder / "a.json", results[:2]))
        (means,) = page.all("section", id="means")
        self.assertNotIn("afused", means["text"])

    def test_phases_are_no_comparisons_of_their_own_in_a_mean(self):
        results = [made_up.comparison(f"net/{i}", 2, seed=i, check_seed=i) for i in range(2)]
        slow = made_up.comparison("net/1/backward", 0.1, seed=1, check_seed=1)
        page, _ = self.page_of(made_up.write(self.folder / "a.json", [*results, slow]))
        (means,) = page.all("section", id="means")
        self.assertRegex(means["text"], r"(?s)allfused2")

    def test_means_of_groups(self):
        results = [
            made_up.comparison(f"{group}/{i}", factor, seed=i)
            for group, factor in (("a", 2), ("b", 0.5))
            for i in range(3)
        ]
        # Outputs that could not be compared may be wrong, so that the speed-up has no part in a mean.
        varies = made_up.comparison("a/3", 100, seed=3)
        varies["implementations"][1]["uncompared"] = "varies"
        page, _ = self.page_of(made_up.write(self.folder / "a.json", [*results, varies]))
        (means,) = page.all("section", id="means")
        self.assertRegex(means["text"], r"(?s)allfused6.*afused3.*bfused3")
        speedups = [result["implementations"][1]["speedup"] for result in results]
        expected, _ = statistics.geometric_mean(
            [(each["median"], each["interval"]["low"], each["interval"]["high"]) for each in speedups]
        )
        self.assertIn(expected, self.values(page, "speedup"))

    def test_a_sweep_names_the_size_at_which_the_faster_side_changes(self):
        results = [
            made_up.comparison(f"op/Float/{n}x{m}", 0.5 * (m / 16) ** 0.5, seed=n * m, count=40)
            for n in (16, 64)
            for m in (16, 64, 256)
        ]
        page, _ = self.page_of(made_up.write(self.folder / "a.json", results))
        (sweeps,) = page.all("section", id="sweeps")
        self.assertIn("op/Float/nxm", sweeps["text"])
        # 0.5 * sqrt(m / 16) is 1 at 64, about which the noise decides.
        self.assertRegex(
            sweeps["text"], r"fused becomes faster near (5|6|7)\d(\.\d)? at n = 16 \(between (16 and 64|64 and 256)\)"
        )
        self.assertEqual(len(page.data("data-s0")["values"]), 6)

    def test_a_sweep_with_a_speedup_of_exactly_1(self):
        for speedups, expected in (
            ((0.5, 1.0, 2.0), ["fused becomes faster at 64 (between 16 and 256)"]),
            ((2.0, 1.0, 0.5), ["fused becomes slower at 64 (between 16 and 256)"]),
            ((0.5, 1.0, 1.0, 2.0), ["fused becomes faster from 64 to 256 (between 16 and 1024)"]),
            ((2.0, 1.0, 2.0), []),
            ((1.0, 1.0, 2.0), []),
            ((0.5, 0.5, 1.0), []),
            ((0.5, 2.0, 1.0), ["fused becomes faster near 32 (between 16 and 64)"]),
        ):
            results = [made_up.comparison(f"op/n={16 * 4**i}", 1.0, count=4) for i in range(len(speedups))]
            for result, speedup in zip(results, speedups):
                result["implementations"][1]["speedup"]["median"] = speedup
            (sweep,) = sweeps.find(results, lambda row: "")
            self.assertEqual(sweep.crossings, expected)

    def test_kernels(self):
        kernels = {
            "call": "block",
            "device": "AMD EPYC",
            "whole_ns": 2000.0,
            "explained": 0.9,
            "peak_bytes_per_s": 4e9,
            "kernels": [
                {
                    "name": name,
                    "category": "pointwise",
                    "share": share,
                    "runs": 1.0,
                    "in_place": {"median_ns": 2000 * share, "least_ns": 1.0, "most_ns": 2000.0},
                    "bytes": 1000.0,
                    "bytes_per_s": 2e9,
                }
                for name, share in (("first", 0.3), ("second", 0.6))
            ],
        }
        path = self.folder / "kernels.json"
        path.write_text(json.dumps(kernels, indent=1) + "\n")
        page, _ = self.page_of(path)
        self.assertEqual(self.values(page, "kernel-time"), [600.0, 1200.0])
        self.assertIn("50.0\u202f%", page.text)
        self.assertTrue(any(each["text"].startswith("shares of the call: first 30.0") for each in page.all("title")))

    def test_kernels_and_the_rest_of_a_call_on_the_cpu(self):
        def kernels(names, **more):
            shares = {"copy_": 0.1, "mm": 0.2}
            return {
                "call": "block",
                "whole_ns": 2000.0,
                "kernels": [
                    {"name": name, "share": shares[name], "in_place": {"median_ns": 2000 * shares[name]}}
                    for name in names
                ],
                **more,
            }

        def title_of(report):
            path = self.folder / "kernels.json"
            path.write_text(json.dumps(report, indent=1) + "\n")
            page, _ = self.page_of(path)
            titles = [each["text"] for each in page.all("title") if each["text"].startswith("shares of the call")]
            return titles[0].replace("\u202f", " "), page.text.replace("\u202f", " ")

        title, text = title_of(kernels(["copy_", "mm"], unlisted_ns=1400.0, unlisted_share=0.7))
        self.assertEqual(title, "shares of the call: copy_ 10.0 %, mm 20.0 %, not in any listed kernel 70.0 %")
        self.assertRegex(text, r"not in any listed kernel\s*1.40 µs\s*70.0 %")
        title, _ = title_of(kernels(["copy_"], unlisted_ns=1400.0, unlisted_share=0.7))
        self.assertIn("not in any listed kernel 70.0 %, other kernels 20.0 %", title)
        # On a GPU the rest lies between kernels.
        title, text = title_of(kernels(["copy_", "mm"], unlisted_ns=None, unlisted_share=None))
        self.assertIn("between kernels 70.0 %", title)
        self.assertNotIn("not in any listed kernel", text)

    def test_what_compare_results_judged(self):
        path = self.folder / "comparison.json"
        header = {
            "comparison_version": 1,
            "expectation": "time of at most 1.05x",
            "guard": True,
            "limit": 1.05,
            "steps": [{"old": [{"path": "a.json", "commit": "abcdef"}], "new": [{"path": "b.json"}]}],
            "compared": 1,
            "exit_code": 1,
        }
        row = {
            "step": 1,
            "comparison": "op",
            "implementation": "fused",
            "then_ns": 1000.0,
            "now_ns": 1200.0,
            "factor": 0.8333,
            "interval": {"low": 0.8, "high": 0.86, "confidence": 0.98},
            "change_proven": True,
            "verdict": "failed",
            "acceptable": False,
            "unresolved": False,
            "message": "takes 1.2x",
        }
        path.write_text(json.dumps(header) + "\n" + json.dumps(row) + "\n")
        page, _ = self.page_of(path)
        self.assertIn("results compared: comparison.json", page.text)
        self.assertIn("Compared: 1 rows, exit code 1", page.text)
        self.assertIn("takes 1.2x", page.text)
        self.assertIn(0.8333, self.values(page, "speedup"))
        header["comparison_version"] = 2
        path.write_text(json.dumps(header) + "\n")
        ended = self.run_report(path, "--output", self.output)
        self.assertIn("comparison.json:1: its comparison_version is 2; this program reads version 1", ended.stderr)

    def test_modes_and_memory_of_a_gpu(self):
        result = made_up.comparison("axpy", 1.7, "passed", device="NVIDIA H200")
        for row, time in zip(result["implementations"], (81800.0, 46900.0)):
            row["modes"] = [
                {"name": "cold", "time": made_up.time_of([time] * 8), "speedup": None, "missing": ""},
                {"name": "graph", "time": None, "speedup": None, "missing": "it cannot be captured"},
            ]
            row["device_memory"] = {
                "peak_bytes": 67108864,
                "reserved_bytes": 0,
                "allocations": 1,
                "driver_allocations": 0,
            }
            row["energy"] = {
                "millijoules": 1191.25,
                "interval": {"low": 1180, "high": 1202, "confidence": 0.95},
                "moves": 40,
                "ratio": 1.25,
                "ratio_interval": {"low": 1.2, "high": 1.3, "confidence": 0.998},
                "missing": "",
            }
            counter = {"unit": "events", "calls": 32, "baseline_low": None, "baseline_high": None, "missing": ""}
            row["counters"] = [
                {**counter, "name": "page_faults", "low": 2, "high": 2.5, "baseline_low": 1, "baseline_high": 2},
                {**counter, "name": "dram_bytes", "unit": "bytes", "low": 2.139e9, "high": 2.139e9},
                {**counter, "name": "sm_active", "unit": "percent", "low": 79.94, "high": 98.2},
                {**counter, "name": "cycles", "low": 0, "high": 0, "missing": "none here"},
            ]
            row["device_counts"] = {"kernels": 2, "launches": 2, "synchronisations": 0, "graph_nodes": None}
        result["clock"] = "cold"
        result["conditions"]["gpu"] = {
            "readings": 20,
            "lowest_clock_mhz": 1980,
            "highest_clock_mhz": 1980,
            # Readings that the driver does not report.
            "hottest_celsius": 0,
            "most_power_watts": 0,
            "slowed": 0.25,
            "power_limited": 0.0,
            "suspect_cycles": 3,
            "dropped_cycles": 2,
            "paused_ns": 1.5e6,
            "sharing": ["process 7 (train)", "process 8"],
        }
        result["conditions"]["others"] = 1.1e-16
        page, _ = self.page_of(made_up.write(self.folder / "a.json", [result]))
        self.assertEqual(self.values(page, "mode"), [81800.0, 46900.0])
        self.assertIn("it cannot be captured", page.text)
        self.assertIn("1191 mJ [1180, 1202]", page.text)
        self.assertIn("1.250x [1.200x, 1.300x]", page.text)
        self.assertIn("2.000 to 2.500", page.text)
        self.assertIn("1.500x", page.text)
        self.assertIn("2.14\u202fGB", page.text)
        self.assertIn("79.9\u202f% to 98.2\u202f%", page.text)
        self.assertIn("none here", page.text)
        self.assertIn("The mode of the comparison's times and speed-ups is cold.", page.text)
        facts = dict(zip((each["text"] for each in page.all("dt")), (each["text"] for each in page.all("dd"))))
        expected = {
            "GPU clock": "1980 MHz",
            "GPU temperature": None,
            "GPU power": None,
            "at its power limit": "0\u202f%",
            "slowed by heat or hardware": "25.0\u202f%",
            "cycles in which its clock changed": "3",
            "cycles left out, at other clocks": "2",
            "rests to cool the GPU": "1.50\u202fms",
            "the GPU is shared": "process 7 (train); process 8",
            "used by other processes": "0\u202f%",
        }
        self.assertEqual({key: facts.get(key) for key in expected}, expected)
        self.assertIn("67.1\u202fMB", page.text)

    def test_times_of_a_gpu_are_shown_without_what_the_clock_adds(self):
        result = made_up.comparison("axpy", 1.7, "passed", device="NVIDIA H200")
        overhead = {"added_ns": 100.0, "error_ns": 30.0}
        raw = []
        for row in result["implementations"]:
            raw.append(row["time"]["median_ns"])
            row["time"]["clock_overhead"] = overhead
            row["modes"] = [
                {"name": "graph", "time": dict(row["time"]), "speedup": None, "missing": ""},
                {"name": "hot", "time": made_up.time_of([5000.0] * 8), "speedup": None, "missing": ""},
            ]
        page, _ = self.page_of(made_up.write(self.folder / "a.json", [result]))
        shown = self.values(page, "mode")
        self.assertEqual(shown[1::2], [5000.0, 5000.0])
        for graph, before in zip(shown[::2], raw):
            self.assertAlmostEqual(graph, before - 100)
        facts = dict(zip((each["text"] for each in page.all("dt")), (each["text"] for each in page.all("dd"))))
        self.assertIn("adds 100\u202fns ± 30.0\u202fns to each call, which times are shown without", facts["clock"])

    def test_variables_are_facts_of_a_run_and_other_ones_are_named(self):
        results = [made_up.comparison("op", 1.4, "passed")]
        page, _ = self.page_of(
            made_up.write(self.folder / "a.json", results, made_up.header(variables={})),
            made_up.write(self.folder / "b.json", results, made_up.header(variables={"OMP_NUM_THREADS": "2"})),
            made_up.write(self.folder / "c.json", results, made_up.header()),
        )
        self.assertEqual(page.text.count("with these variables: OMP_NUM_THREADS=2; "), 1)
        self.assertEqual(page.text.count("with these variables:"), 1)
        self.assertIn("Times may differ by them.", page.text)

    def commands_of(self, given, *results):
        """The command that the page names to repeat each of the results."""
        header = made_up.header(command_line=given)
        page, _ = self.page_of(made_up.write(self.folder / "a.json", results, header))
        *commands, own = page.all("pre", css="command")
        self.assertEqual(own["text"], given)
        return [each["text"] for each in commands]

    def test_the_command_that_repeats_it_has_its_name_and_seeds_and_replaces_no_file(self):
        for given, repeated in (
            ("bazel-bin/a --json results.json", "bazel-bin/a"),
            ("bazel-bin/a --html=a.html --budget 2 --csv a.csv 'two words'", "bazel-bin/a --budget 2 'two words'"),
            ("bazel-bin/a --save-baseline --json --resume '[perf]'", "bazel-bin/a '[perf]'"),
            ("bazel-bin/a --save_baseline b.json --case x --case=y --seed 3 --dry-run", "bazel-bin/a"),
        ):
            (command,) = self.commands_of(given, made_up.comparison("a", 1))
            self.assertEqual(command, repeated + " --case a --seed 39630 --check-seed 2623656200821053387")
        self.assertEqual(self.commands_of("bazel-bin/a 'no end", made_up.comparison("a", 1)), ["bazel-bin/a 'no end"])

    def test_a_shell_reads_the_name_of_the_comparison_that_is_repeated(self):
        # The shell's reading of a word, ended by a bar.
        given = "printf '%s|'"
        for name in ("aten.add.Tensor[0]", "it's $HOME `x` \\", "-n", "", "two\nlines\x1b[2J\ttab '\\", "größe"):
            (command,) = self.commands_of(given, made_up.comparison(name, 1))
            self.assertNotIn("\n", command)
            words = subprocess.run(["bash", "-c", command], capture_output=True, text=True, check=True).stdout
            case = f"--case={name}" if not name or name.startswith("-") else f"--case|{name}"
            self.assertEqual(words, f"{case}|--seed|39630|--check-seed|2623656200821053387|")

    def test_a_phase_is_repeated_with_its_comparison(self):
        whole = made_up.comparison("net/1", 1, check_seed=7, device="NVIDIA H200", clock="cuda events")
        results = [
            whole,
            {**whole, "name": "net/1/backward"},
            # The host's time, which has rounds of its own.
            {**whole, "name": "net/1/host", "rounds": 3, "elapsed_ns": 5.0, "clock": "wall"},
            # A comparison of its own with a name that begins as another one's.
            {**whole, "name": "net/1/small", "check_seed": 8},
            {**whole, "name": "net/1/large", "rounds": 3},
            {**whole, "name": "other/backward"},
        ]
        cases = [shlex.split(each)[2] for each in self.commands_of("bazel-bin/a", *results)]
        self.assertEqual(cases, ["net/1", "net/1", "net/1", "net/1/small", "net/1/large", "other/backward"])

    def test_samples_beyond_the_first_are_said_to_be_left_out(self):
        result = made_up.comparison("a", 1.5, "passed", count=20002)
        page, _ = self.page_of(made_up.write(self.folder / "a.json", [result]))
        self.assertEqual({each["of"] for each in page.data("data-c0")["samples"]}, {20002})
        self.assertIn("at most from the first 20,000", page.text)


class Evidence(program.ReportCase):
    def test_it_is_what_the_gates_knew(self):
        results = [
            made_up.comparison("a guard that passes", 1.3, "passed", count=60),
            made_up.comparison("one that fails", 0.8, "failed", count=60),
            made_up.comparison("one that is near its limit", 0.955, "undecided", count=400),
            made_up.comparison("slow cycles", 30, "passed", count=8, median=4e9),
            made_up.comparison("seldom calls that take long", 1.0, "undecided", count=300, seed=11),
        ]
        claim = made_up.comparison("a claim", 1.25, count=200, seed=5)
        claim["implementations"][1]["expectations"] = [made_up.expectation("passed", 1.2, guard=False)]
        results.append(claim)
        ended = subprocess.run(
            [EVIDENCE, made_up.write(self.folder / "a.json", results)], capture_output=True, text=True, check=True
        )
        found = [json.loads(line) for line in ended.stdout.splitlines()]
        self.assertEqual(len(found), len(results))
        for result, expected in zip(results, found):
            baseline, row = result["implementations"]
            points = statistics.evidence(
                row["expectations"][0]["demanded_speed"],
                row["log_ratios"],
                baseline["samples_ns"],
                row["samples_ns"],
                row["context"]["rounds_per_cycle"],
                result["iterations"],
            )
            self.assertEqual(len(points), len(expected), result["name"])
            for cycle, (own, theirs) in enumerate(zip(points, expected)):
                for ours, other in zip(own, theirs):
                    self.assertAlmostEqual(
                        ours, other, delta=1e-9 * max(ours, other), msg=f"{result['name']}, {cycle}"
                    )
        # Each kind of evidence occurs: for the limit, against it, and by slow cycles alone.
        self.assertLess(min(point[0] for point in found[0]), 1e-3)
        self.assertLess(min(point[1] for point in found[1]), 1e-3)
        self.assertLess(found[3][-1][0], 1e-3)


    def test_the_levels_agree_with_the_verdict(self):
        result = made_up.comparison("case", 1.3, "passed")
        (expectation,) = result["implementations"][1]["expectations"]
        for message, levels in (
            ("no rates", [("met: 1/0.01", 100), ("broken: 1/0.001", 1000)]),
            (
                "'fused' takes 0.769x (wrongly passed: 0.5 %, wrongly failed: 1e-05 %; 60 cycles)",
                [("met: 1/0.005", 200), ("broken: 1/1e-07", 1e7)],
            ),
            ("wrongly passed: 1-1 %, wrongly failed: 0 %", [("met: 1/0.01", 100), ("broken: 1/0.001", 1000)]),
        ):
            expectation["message"] = message
            page, _ = self.page_of(made_up.write(self.folder / "a.json", [result]))
            (curve,) = page.data("data-c0")["evidence"]
            self.assertEqual([(each["text"], each["level"]) for each in curve["levels"]], levels)

    def test_an_expectation_without_a_curve_is_named_with_the_reason(self):
        result = made_up.comparison("case", 1.3, "passed")
        baseline, own = result["implementations"]
        for text in (
            "mean time of at most 1.02x the baseline's",
            "99 % quantile of at most 1.50x the baseline's",
            "time of at most 1.00 ms",
            "speed-up of more than 1.05x over 'other'",
            "count of at most 3 kernels",
        ):
            own["expectations"].append({**made_up.expectation("passed"), "expectation": text, "demanded_speed": None})
        wrong = made_up.row("wrong", [], baseline, outcome="wrong")
        wrong["expectations"] = [{**made_up.expectation("failed"), "demanded_speed": None}]
        bare = made_up.row("bare", own["samples_ns"], baseline, expectations=[made_up.expectation("passed")])
        bare.update(samples_ns=[], log_ratios=[])
        result["implementations"] += [wrong, bare]
        page, _ = self.page_of(made_up.write(self.folder / "a.json", [result]))
        said = [" ".join(each["text"].split()) for each in page.all("p", css="no-evidence")]
        self.assertEqual(
            said,
            [
                "No picture of the evidence for fused: mean time of at most 1.02x the baseline's; fused: 99 % quantile "
                "of at most 1.50x the baseline's; fused: time of at most 1.00 ms; fused: speed-up of more than 1.05x "
                "over 'other': of the demands on times, a file of results has limit and error rates only where the "
                "median speed-up over the baseline is demanded.",
                "No picture of the evidence for fused: count of at most 3 kernels: it is judged once, "
                "after the rounds, and no test follows it from cycle to cycle.",
                "No picture of the evidence for wrong: time of at most 1.05x the baseline's: the implementation has no "
                "times.",
                "No picture of the evidence for bare: time of at most 1.05x the baseline's: the file has no single "
                "samples of it.",
            ],
        )
        self.assertEqual(
            [each["expectation"] for each in page.data("data-c0")["evidence"]],
            ["fused: time of at most 1.05x the baseline's"],
        )
        page, _ = self.page_of(made_up.write(self.folder / "a.json", [made_up.comparison("case", 1.3, "passed")]))
        self.assertEqual(page.all("p", css="no-evidence"), [])


class Hostile(program.ReportCase):
    NAMES = [
        "</script><script>document.title='taken'</script>",
        '"><img src=x onerror="document.title=1">',
        "'; alert(1); //",
        "<!--<script>",
        "\u202eright to left\u2066",
        "two\nlines\r\n\tand a tab\x00\x1b[31m",
        "x" * 10000,
        "{{ 7 * 7 }} {% raw %}",
        "%unit% %names%",
        "lone \ud800 surrogate",
        "&amp; &lt;b&gt; ]]>",
        "",
    ]

    def test_names_are_text(self):
        results = []
        for i, name in enumerate(self.NAMES):
            result = made_up.comparison(name, 1.3, "passed", seed=i, count=12, inputs=name, notes=[name], device=name)
            result["implementations"][1]["name"] = "own " + name
            result["implementations"][1]["expectations"][0].update(message=name, expectation=name, acceptable=False)
            results.append(result)
        header = made_up.header(command_line=self.NAMES[0], hostname=self.NAMES[1], own=self.NAMES[2])
        page, _ = self.page_of(made_up.write(self.folder / "a.json", results, header))
        self.assertEqual(len(page.all("details", css="comparison")), len(self.NAMES))
        self.assertEqual(page.all("img"), [])
        kinds = [each.get("type") for each in page.all("script")]
        # Two programs and data: a name that ended an element would have made more of them.
        self.assertEqual(kinds.count(None), 2)
        self.assertEqual(set(kinds), {None, "application/json"})
        self.assertEqual(page.unclosed, [])
        self.assertIn("</script><script>document.title='taken'</script>", page.text)
        self.assertIn("{{ 7 * 7 }}", page.text)
        self.assertIn("x" * 10000, page.text)
        self.assertEqual(page.data("data-c0")["names"][1], "own " + self.NAMES[0])
        self.assertLess(page.size, 2_000_000)

    def test_no_address_of_another_machine_is_asked(self):
        page, _ = self.page_of(made_up.write(self.folder / "a.json", [made_up.comparison("a", 1)]))
        for each in page.elements:
            for attribute in ("src", "href", "action", "srcset"):
                if attribute in each:
                    self.assertRegex(each[attribute], r"^(#|data:)")

    def test_licences_of_what_the_page_contains(self):
        page, _ = self.page_of(made_up.write(self.folder / "a.json", [made_up.comparison("a", 1)]))
        (licences,) = page.all("details", id="licences")
        for text in ("University of Washington Interactive Data Lab", "Mike Bostock", "BSD 3-Clause", "ISC License"):
            self.assertIn(text, licences["text"])


class Sizes(program.ReportCase):
    def test_without_and_with_one_sample(self):
        none = made_up.comparison("none", 1)
        for row in none["implementations"]:
            row.update(samples_ns=[], log_ratios=[], time=None, speedup=None)
        one = made_up.result("one", [made_up.row("only", [1000.0])])
        page, _ = self.page_of(made_up.write(self.folder / "a.json", [none, one, made_up.result("empty", [])]))
        self.assertEqual(len(page.all("details", css="comparison")), 3)
        self.assertEqual([float(each["value"]) for each in page.all("data", css="median")], [1000.0])

    def test_20000_samples_are_below_2_MB(self):
        result = made_up.comparison("many", 1.2, "passed", count=10000)
        page, _ = self.page_of(made_up.write(self.folder / "a.json", [result]))
        drawn = [len(each["values"]) for each in page.data("data-c0")["samples"]]
        self.assertEqual(drawn, [10000, 10000])
        self.assertLess(page.size, 2_000_000)

    def test_more_samples_are_thinned_and_the_page_says_so(self):
        results = [made_up.comparison(f"many{i}", 1.2, "passed", count=4000, seed=i) for i in range(12)]
        page, _ = self.page_of(made_up.write(self.folder / "a.json", results))
        self.assertLess(page.size, 2_500_000)
        self.assertIn("Pictures show a part of the samples", page.text)
        self.assertEqual(page.data("data-c0")["samples"][0]["of"], 4000)
        # The figures are of all samples.
        self.assertIn(
            results[0]["implementations"][0]["time"]["median_ns"],
            [float(e["value"]) for e in page.all("data", css="median")],
        )

    def test_of_very_many_comparisons_those_that_failed_are_shown(self):
        results = [made_up.result(f"c{i}", [made_up.row("only", [1000.0, 1001.0])]) for i in range(1100)]
        results[1050] = failed_gate()
        page, _ = self.page_of(made_up.write(self.folder / "a.json", results))
        self.assertEqual(len(page.all("details", css="comparison")), 1000)
        self.assertIn("100 more comparisons are counted above and left out", page.text)
        self.assertEqual(len(page.all("details", css="comparison", **{"data-status": "failed"})), 1)


class Folders(program.ReportCase):
    """Results below a folder, as `bazel test` leaves them."""

    def leave(self, test, *results, packed=True, suite_alpha=None):
        outputs = self.folder / "logs" / test / "test.outputs"
        outputs.mkdir(parents=True)
        path = made_up.write(outputs / "results.json", results, {**made_up.header(), "suite_alpha": suite_alpha})
        if packed:
            with zipfile.ZipFile(outputs / "outputs.zip", "w", zipfile.ZIP_DEFLATED) as archive:
                archive.write(path, "results.json")
                archive.writestr("report.html", "a page")
            os.remove(path)

    def test_results_of_tests_and_of_their_shards_are_one_page(self):
        self.leave("tests/suite/shard_1_of_2", made_up.comparison("first", 1.2, "passed"))
        self.leave("tests/suite/shard_2_of_2", made_up.comparison("second", 1.3, "passed"))
        self.leave("tests/gate", made_up.comparison("third", 1.4, "passed"), packed=False)
        page, errors = self.page_of(self.folder / "logs")
        self.assertEqual(errors, "")
        self.assertIn("3 comparisons", page.text)
        for words in ("1: gate", "2: suite/shard_1_of_2", "3: suite/shard_2_of_2", "outputs.zip/results.json"):
            self.assertIn(words, page.text)
        self.assertNotIn("error rate", page.text)

    def test_shards_of_an_earlier_number_are_left_out(self):
        self.leave("suite/shard_1_of_3", made_up.comparison("superseded", 1.2, "passed"))
        self.leave("suite/shard_1_of_2", made_up.comparison("present", 1.2, "passed"))
        for name, time in (("shard_1_of_3", 1000), ("shard_1_of_2", 2000)):
            os.utime(self.folder / "logs" / "suite" / name, (time, time))
        page, errors = self.page_of(self.folder / "logs")
        self.assertIn("suite: left out shard_1_of_3: the test has been run in 2 shards since", errors)
        self.assertIn("present", page.text)
        self.assertNotIn("superseded", page.text)

    def after_a_run_in_another_number(self, old, new):
        """The page's text and errors after a run of `suite` into the folder `old`, and a later one into `new`."""
        for part, name, time in ((old, "superseded", 1000), (new, "present", 2000)):
            self.leave(f"suite/{part}", made_up.comparison(name, 1.2, "passed"))
            folder = self.folder / "logs" / "suite" / part
            os.utime(folder if part else folder / "test.outputs", (time, time))
        page, errors = self.page_of(self.folder / "logs")
        self.assertIn("present", page.text)
        self.assertNotIn("superseded", page.text)
        return errors

    def test_results_of_before_a_test_had_shards_are_left_out(self):
        errors = self.after_a_run_in_another_number("", "run_1_of_3")
        self.assertIn("suite: left out test.outputs: the test has been run 3 times since", errors)

    def test_shards_of_before_a_test_had_none_are_left_out(self):
        errors = self.after_a_run_in_another_number("shard_1_of_2", "")
        self.assertIn("suite: left out shard_1_of_2: the test has been run in one piece since", errors)

    def test_shards_of_each_run_are_named(self):
        for part in ("shard_1_of_2_run_1_of_2", "shard_1_of_2_run_2_of_2", "shard_2_of_2_run_2_of_2"):
            self.leave(f"suite/{part}", made_up.comparison(part, 1.2, "passed"))
        errors = self.page_of(self.folder / "logs")[1]
        self.assertIn("suite: of the 2 shards of this test in run 1 of 2, the results of shard 2 are not on", errors)
        self.assertNotIn("in run 2 of 2", errors)

    def test_shards_that_are_not_on_the_page_are_named(self):
        for shard in (1, 2):
            self.leave(f"suite/shard_{shard}_of_4", made_up.comparison(f"c{shard}", 1.2, "passed"), packed=shard == 1)
        suite = self.folder / "logs" / "suite"
        missing = "suite: of the 4 shards of this test, the results of shards "
        page, errors = self.page_of(self.folder / "logs")
        self.assertIn(missing + "3, 4 are not on this page", page.text)
        self.assertIn(missing + "3, 4 are not on this page", errors)
        for one in (suite / "shard_2_of_4", suite / "shard_2_of_4" / "test.outputs" / "results.json"):
            page, _ = self.page_of(one)
            self.assertIn(missing + "1, 3, 4 are not on this page", page.text)
        # Shards without anything to measure leave no results.
        (suite / "shard_3_of_4").mkdir()
        page, _ = self.page_of(self.folder / "logs")
        self.assertIn("the results of shard 4 are not on this page", page.text)
        (suite / "shard_4_of_4").mkdir()
        page, errors = self.page_of(self.folder / "logs")
        self.assertNotIn("of this test", page.text)
        self.assertEqual(errors, "")

    def test_files_below_two_of_the_given_folders_count_once(self):
        self.leave("a/first", made_up.comparison("c1", 1.2, "passed"))
        self.leave("a/second", made_up.comparison("c2", 1.2, "passed"), packed=False)
        logs = self.folder / "logs"
        second = logs / "a" / "second" / "test.outputs" / "results.json"
        link = self.folder / "link"
        link.symlink_to(logs)
        for given, note in (
            ((logs, logs / "a"), f"{logs / 'a'}: {logs}/a/first/test.outputs/outputs.zip/results.json and 1 more was"),
            ((logs / "a", link / "a" / "second"), f"{link}/a/second: {second} was given before; each file counts once"),
            ((second, logs), f"{logs}: {second} was given before; each file counts once"),
            ((logs, second), f"{second}: {second} was given before; each file counts once"),
        ):
            page, errors = self.page_of(*given)
            self.assertIn("2 comparisons", page.text)
            self.assertIn(note, errors)
            self.assertIn("each file counts once", page.text)

    def test_error_rates_of_shards_add_up(self):
        for shard in (1, 2, 3):
            self.leave(f"suite/shard_{shard}_of_3", made_up.comparison(f"c{shard}", 1.2, "passed"), suite_alpha=0.002)
        page, _ = self.page_of(self.folder / "logs")
        self.assertIn("Each of 3 runs has an error rate of its own for its gates", page.text)
        self.assertIn("with a rate of at most 0.00600, the sum", page.text)
        page, _ = self.page_of(self.folder / "logs" / "suite" / "shard_1_of_3")
        self.assertIn("All gates together err with a rate of at most 0.00200.", page.text)


class BadInput(program.ReportCase):
    def setUp(self):
        super().setUp()
        self.good = made_up.write(self.folder / "good.json", [made_up.comparison("kept", 1.2, "passed")])

    def bad(self, text, *expected, name="bad.json"):
        """The page of a good file beside this one has the good results, and the messages name the bad one."""
        path = self.folder / name
        path.write_bytes(text if isinstance(text, bytes) else text.encode("utf-8"))
        page, errors = self.page_of(path, self.good, code=1)
        for each in expected:
            self.assertIn(each, errors)
            self.assertIn(each, page.text)
        self.assertIn("kept", page.text)
        self.assertIn("What could not be read", page.text)
        # Alone, the page of a file without results is not written.
        self.output.unlink()
        return path

    def alone(self, path):
        ended = self.run_report(path, "--output", self.output)
        self.assertEqual(ended.returncode, 1)
        self.assertIn("no page is written", ended.stderr)
        self.assertFalse(self.output.exists())

    def lines(self, *results):
        return "".join(json.dumps(each) + "\n" for each in (made_up.header(), *results))

    def test_empty(self):
        self.alone(self.bad("", "bad.json: is empty; expected a file that --json"))

    def test_cut_in_its_first_line(self):
        self.alone(self.bad('{"schema_version":3,"pace_', "bad.json:1: was cut off in its first line"))

    def test_cut_in_its_last_line(self):
        text = self.lines(made_up.comparison("first", 1.2), made_up.comparison("second", 1.2))
        path = self.bad(text[:-300], "bad.json:3: the last line was cut off")
        page, _ = self.page_of(path, code=1)
        self.assertIn("first", page.text)
        self.assertEqual(len(page.all("details", css="comparison")), 1)

    def test_another_version(self):
        header = {**made_up.header(), "schema_version": 4, "pace_version": "9.9"}
        path = self.bad(
            json.dumps(header) + "\n",
            "bad.json:1: its schema_version is 4 (of pace 9.9); this program reads version 3",
        )
        self.alone(path)

    def test_a_date_that_no_calendar_has(self):
        for date in ("9999-99-99T00:00:00Z", "2026-02-30T10:00:00Z", "2026-11-26", "26. November", 20261126):
            header = made_up.header(date_utc=date)
            self.bad(
                "".join(json.dumps(each) + "\n" for each in (header, made_up.comparison("of no day", 1.2))),
                "bad.json:1: is no first line of results: environment: date_utc: expected a time such as "
                f"2026-11-21T10:00:00Z, found '{date}'",
            )

    def test_no_results_file(self):
        self.alone(self.bad("case,implementation\nx,y\n", "bad.json:1: is no results file"))
        self.alone(self.bad('{"some": "json"}\n', "bad.json:1: is no results file: it has no schema_version"))
        self.alone(self.bad(b"\x89PNG\r\n\x1a\n\xff\xfe", "bad.json:1: is no text in UTF-8"))

    def test_a_line_that_is_no_result(self):
        good = made_up.comparison("first", 1.2)
        without_name = {**good, "name": None}
        wrong_kind = json.loads(json.dumps(good))
        wrong_kind["implementations"][1]["samples_ns"][3] = "fast"
        self.bad(
            self.lines(good, without_name, wrong_kind, [], good) + "{]\n",
            'bad.json:3: is no result: has no "name"',
            "bad.json:4: is no result: implementations: element 2: samples_ns: element 4: expected a number, "
            "found 'fast'",
            "bad.json:5: is no result: expected an object",
            "bad.json:7: is no result",
        )

    def test_figures_that_cannot_be_drawn(self):
        good = made_up.comparison("first", 1.2, "passed")

        def line(*keys, to):
            copy = json.loads(json.dumps(good))
            place = copy["implementations"][1]
            for key in keys[:-1]:
                place = place[key]
            place[keys[-1]] = to
            return json.dumps(copy).replace("Infinity", "1e999") + "\n"

        for keys, to, message in (
            (("time", "median_ns"), math.inf, "time: median_ns: expected a number from 0 to 1e+30, found inf"),
            (("time", "median_ns"), -5, "time: median_ns: expected a number from 0 to 1e+30, found -5"),
            (("time", "interval", "low_ns"), 10**400, "interval: low_ns: expected a number from 0 to 1e+30"),
            (("speedup", "median"), 1e308, "speedup: median: expected a number from 1e-30 to 1e+30"),
            (("log_ratios", 2), 1e308, "log_ratios: element 3: expected a number from -69.0776 to 69.0776"),
            (("expectations", 0), None, "expectations: element 1: expected an object, found null"),
            (("modes",), [None], "modes: element 1: expected an object, found null"),
            (("expectations", 0, "demanded_speed", "limit"), 10**400, "limit: expected a number from 1e-30 to 1e+30"),
            (("expectations", 0, "demanded_speed", "limit"), 0, "limit: expected a number from 1e-30 to 1e+30"),
        ):
            with self.subTest(keys):
                self.bad(
                    self.lines(good) + line(*keys, to=to),
                    "bad.json:3: is no result: implementations: element 2: ",
                    message,
                )

    def test_a_rate_without_an_inverse_has_no_evidence(self):
        result = made_up.comparison("small", 1.2, "passed")
        result["implementations"][1]["expectations"][0]["demanded_speed"]["beta"] = 5e-324
        self.assertIn("small", self.page_of(made_up.write(self.folder / "a.json", [result]))[0].text)

    def test_a_name_that_is_no_text(self):
        named = self.folder / "a\udcff.json"
        os.rename(self.good, named)
        page, _ = self.page_of(named)
        self.assertRegex(page.text, "a\ufffd+\\.json")

    def test_deeply_nested_values(self):
        self.bad(self.lines() + "[" * 100000 + "\n", "bad.json:2: is no result")

    def test_kernels_that_are_cut_or_wrong(self):
        self.alone(self.bad('{\n "call": "block",\n "kernels": [\n  {', "bad.json:4: was cut off"))
        self.alone(
            self.bad(
                '{"call": "block", "kernels": [{"symbol": "x"}]}', 'bad.json:1: kernels: element 1: has no "name"'
            )
        )

    def test_a_line_longer_than_is_read(self):
        path = self.folder / "bad.json"
        with open(path, "wb") as file:
            file.write(self.lines(made_up.comparison("first", 1.2)).encode())
            # A file with a hole: it takes no room on the disk.
            file.truncate(file.tell() + (300 << 20))
        page, errors = self.page_of(path, code=1)
        self.assertIn("bad.json:3: the line is longer than 256 MB", errors)
        self.assertIn("first", page.text)

    def test_a_file_that_is_not_there(self):
        page, errors = self.page_of(self.folder / "nowhere.json", self.good, code=1)
        self.assertIn("nowhere.json: No such file or directory", errors)
        self.assertIn("kept", page.text)

    def test_a_folder_without_results(self):
        empty = self.folder / "empty"
        empty.mkdir()
        page, errors = self.page_of(empty, self.good, code=1)
        self.assertIn(f"{empty}: has no results.json below it, and no outputs.zip with one; expected a folder", errors)
        self.assertIn("kept", page.text)

    def test_an_archive_that_is_none(self):
        logs = self.folder / "logs"
        (logs / "gate").mkdir(parents=True)
        (logs / "gate" / "outputs.zip").write_bytes(b"PK\x03\x04 cut")
        page, errors = self.page_of(logs, self.good, code=1)
        self.assertIn(f"{logs}/gate/outputs.zip: cannot be unpacked", errors)
        self.assertIn("kept", page.text)
        # Its directory is whole, and a member is not.
        good = made_up.write(self.folder / "results.json", [made_up.comparison(str(i), 1.2) for i in range(20)])
        with zipfile.ZipFile(logs / "gate" / "outputs.zip", "w", zipfile.ZIP_DEFLATED) as archive:
            archive.write(good, "results.json")
        data = bytearray((logs / "gate" / "outputs.zip").read_bytes())
        data[2000:2100] = bytes(100)
        (logs / "gate" / "outputs.zip").write_bytes(data)
        _, errors = self.page_of(logs, self.good, code=1)
        self.assertIn(f"{logs}/gate/outputs.zip/results.json: ", errors)

    def test_a_path_that_is_neither_a_file_nor_a_pipe_is_refused(self):
        self.assertIn(
            "/dev/zero: is neither a regular file nor a pipe; expected", self.page_of("/dev/zero", self.good, code=1)[1]
        )

    def test_a_pipe_is_read_and_one_without_a_writer_is_not_waited_for(self):
        for shell in ("<(cat {good})", "/dev/stdin <{good}", "/dev/stdin < <(cat {good})"):
            words = shell.format(good=shlex.quote(self.good))
            ended = subprocess.run(
                ["bash", "-c", f"{shlex.quote(program.REPORT)} --output {shlex.quote(str(self.output))} {words}"],
                capture_output=True,
                text=True,
                check=False,
            )
            self.assertEqual((ended.returncode, ended.stderr), (0, ""), words)
            self.assertIn("kept", self.output.read_text("utf-8"))
            self.output.unlink()
        fifo = self.folder / "fifo"
        os.mkfifo(fifo)
        for timeout, message in (
            ("0", "fifo: is a pipe to which no program has written for 0 s (PACE_PIPE_TIMEOUT=SECONDS changes that)"),
            ("soon", "fifo: PACE_PIPE_TIMEOUT: invalid value 'soon'; expected a number of seconds from 0 to 1000000"),
        ):
            ended = self.run_report(
                fifo, self.good, "--output", self.output, environment={"PACE_PIPE_TIMEOUT": timeout}
            )
            self.assertEqual(ended.returncode, 1)
            self.assertIn(message, ended.stderr)
            self.assertIn("kept", self.output.read_text("utf-8"))


class CommandLine(program.ReportCase):
    def setUp(self):
        super().setUp()
        self.good = made_up.write(self.folder / "good.json", [made_up.comparison("kept", 1.2, "passed")])

    def test_relative_paths_start_from_the_folder_of_the_shell(self):
        ended = self.run_report(
            "good.json", "--output", "out.html", environment={"BUILD_WORKING_DIRECTORY": str(self.folder)}
        )
        self.assertEqual(ended.returncode, 0, ended.stderr)
        self.assertTrue((self.folder / "out.html").exists())

    def test_no_file_is_an_error(self):
        ended = self.run_report()
        self.assertEqual(ended.returncode, 2)
        self.assertIn("FILE", ended.stderr)
        for words, message in (
            (["", "--output", "a"], "FILE: the name of a file is empty"),
            ([self.good, "--output", ""], "--output: the name of a file is empty"),
            ([self.good, "--output", "a", "--output", "b"], "--output: is given twice"),
        ):
            ended = self.run_report(*words)
            self.assertEqual(ended.returncode, 2)
            self.assertIn(message, ended.stderr)

    def test_the_page_is_none_of_the_files_that_are_read(self):
        good = self.folder / "good.json"
        before = good.read_text("utf-8")
        ended = self.run_report(self.good, "--output", self.good)
        self.assertEqual(ended.returncode, 2)
        self.assertIn("is one of the files that are read", ended.stderr)
        self.assertEqual(good.read_text("utf-8"), before)

    def test_a_page_that_cannot_be_written_leaves_no_rest(self):
        ended = self.run_report(self.good, "--output", self.folder / "no" / "where.html")
        self.assertEqual(ended.returncode, 1)
        self.assertIn("where.html: No such file or directory", ended.stderr)
        ended = self.run_report(self.good, "--output", "/dev/full")
        self.assertEqual(ended.returncode, 1)
        self.assertIn("/dev/full: No space left on device", ended.stderr)
        self.assertEqual(os.listdir(self.folder), ["good.json"])

    def test_a_page_replaces_an_older_one_and_has_usual_rights(self):
        self.output.write_text("old")
        self.page_of(self.good)
        self.assertEqual(stat.S_IMODE(self.output.stat().st_mode) & 0o600, 0o600)
        self.assertIn("kept", self.output.read_text("utf-8"))

    def test_what_a_killed_run_has_left_is_used_and_gone(self):
        left = self.output.with_name(self.output.name + ".new")
        left.write_text("a half, and longer than the page by far " * 100_000)
        self.page_of(self.good)
        self.assertTrue(self.output.read_text("utf-8").rstrip().endswith("</html>"))
        self.assertEqual(sorted(os.listdir(self.folder)), ["good.json", self.output.name])

    def test_a_hyphen_is_the_standard_input_or_output(self):
        with open(self.good, "rb") as file:
            ended = subprocess.run(
                [program.REPORT, "-", "--output", "-"], stdin=file, capture_output=True, check=False, cwd=self.folder
            )
        self.assertEqual((ended.returncode, ended.stderr), (0, b""))
        self.assertIn("kept", program.Page(ended.stdout.decode("utf-8")).text)
        self.assertEqual(os.listdir(self.folder), ["good.json"])

    def test_a_file_that_is_given_twice_is_refused(self):
        other = self.folder / "link.json"
        other.symlink_to(self.good)
        for words, message in (
            ([self.good, self.good], f"{self.good}: is given twice; expected each file once"),
            ([self.good, other], f"{other}: is given twice, as {self.good}; expected each file once"),
            (["-", "-"], "-: is given twice"),
        ):
            ended = self.run_report(*words, "--output", self.output)
            self.assertEqual(ended.returncode, 2)
            self.assertIn(message, ended.stderr)
            self.assertFalse(self.output.exists())

    def test_a_standard_output_that_takes_nothing(self):
        report = f"{shlex.quote(program.REPORT)} "
        for words, code, message in (
            ("--help >/dev/full", 1, "report: the standard output: No space left on device; expected a place"),
            ("--help >&-", 1, "report: the standard output: is closed; expected a place"),
            (f"{shlex.quote(self.good)} --output - | head -c 10 >/dev/null; exit ${{PIPESTATUS[0]}}", 141, ""),
        ):
            ended = subprocess.run(["bash", "-c", report + words], capture_output=True, text=True, check=False)
            self.assertEqual(ended.returncode, code, ended.stderr)
            self.assertTrue(ended.stderr.startswith(message) and ended.stderr.count("\n") == bool(message), ended)

    def test_help(self):
        ended = self.run_report("--help")
        self.assertEqual(ended.returncode, 0)
        self.assertIn("--output", ended.stdout)
        narrow = self.run_report("--help", environment={"COLUMNS": "40"}).stdout
        self.assertLessEqual(max(map(len, narrow.splitlines())), 40)


if __name__ == "__main__":
    unittest.main()
