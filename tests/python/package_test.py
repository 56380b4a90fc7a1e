"""The Python package, by its findings. No test compares times."""

import collections
import contextlib
import copy
import dataclasses
import itertools
import json
import os
import subprocess
import sys
import tempfile
import unittest

import torch

import pace
from pace import named


def briefly(comparison):
    return comparison.options(budget=0.01, least_duration=0, warm_up=0.001, min_sample=1e-6, check_seed=7,
                              max_interference=1)


def compared(candidate, baseline=lambda x: x.mul(2), *operands, **named):
    operands = operands or (torch.randn(8, 4),)
    return briefly(pace.compare("case", *operands, **named)).baseline("eager", baseline).candidate("mine", candidate)


class Verdicts(unittest.TestCase):
    def test_a_right_candidate_is_measured_and_its_guard_passes(self):
        result = compared(lambda x: x + x).expect(pace.no_slower_than(1000)).run()
        self.assertTrue(result.as_expected(), result.message)
        row = result["mine"]
        self.assertEqual(row.outcome, "measured")
        self.assertEqual([each.verdict for each in row.judgements], ["passed"])
        self.assertGreater(row.time, 0)
        self.assertEqual(len(row.samples), result.rounds)

    def test_a_claim_that_fails_says_why(self):
        result = compared(lambda x: x + x).expect("mine", pace.speedup_at_least(1e6)).run()
        self.assertFalse(result.as_expected())
        self.assertIn("as fast as the baseline", result.message)

    def test_a_wrong_output_is_wrong(self):
        result = compared(lambda x: x.mul(2.001)).run()
        self.assertEqual(result["mine"].outcome, "wrong")
        self.assertIn("expected", result["mine"].message)
        self.assertFalse(result.correct())

    def test_a_kept_answer_is_found(self):
        kept = {}
        result = compared(lambda x: kept.setdefault(x.data_ptr(), x.mul(2))).run()
        self.assertEqual(result["mine"].outcome, "wrong")

    def test_counts(self):
        result = compared(lambda x: x + x).expect("mine", pace.exactly("operator_calls", 1)).run()
        self.assertTrue(result.as_expected(), result.message)
        with self.assertRaisesRegex(pace.Error, "no count 'calls'; expected one of 'operator_calls'"):
            pace.at_most("calls", 1)

    def test_counts_have_the_names_of_cpp(self):
        for name in ("operator_calls", "allocations", "bytes_allocated", "peak_bytes", "kernels", "launches",
                     "synchronisations", "graph_nodes"):
            self.assertIsInstance(pace.at_most(name, 1), pace.Expectation)
        result = compared(lambda x: x + x).expect("mine", pace.exactly("bytes_allocated", 128)).run()
        self.assertTrue(result.as_expected(), result.message)
        self.assertEqual(repr(pace.at_most("bytes", 1)), repr(pace.at_most("bytes_allocated", 1)))

    def test_peak_memory(self):
        whole = compared(lambda x: x.add(x)).expect("mine", pace.peak_memory_at_most(1)).run()
        self.assertTrue(whole.as_expected(), whole.message)
        copying = compared(lambda x: x.clone().add(x)).expect("mine", pace.peak_memory_at_most(1)).run()
        self.assertIn("bytes at once in one call", copying.message)
        self.assertIsNone(whole["mine"].clock_overhead)

    def test_energy_needs_a_gpu(self):
        result = compared(lambda x: x + x).expect("mine", pace.energy_at_most(1.5)).run()
        self.assertEqual([each.verdict for each in result["mine"].judgements], ["invalid"])
        self.assertIn("do not run on a GPU", result.message)

    def test_counters_of_the_cpu_are_read_or_have_a_reason(self):
        result = compared(lambda x: x + x).options(counters=["page_faults"]).expect(
            "mine", pace.counter_at_most("page_faults", 1000)).run()
        counter = result.to_dict()["implementations"][1]["counters"][0]
        self.assertEqual(counter["name"], "page_faults")
        verdict = result["mine"].judgements[0].verdict
        self.assertEqual(verdict, "invalid" if counter["missing"] else "passed")
        with self.assertRaisesRegex(pace.Error, "'cycle' is no counter, or there twice; expected names of cycles, "):
            compared(lambda x: x + x).options(counters=["cycle"]).run()
        with self.assertRaisesRegex(pace.Error, "counters='page_faults'; expected a list of names"):
            pace.compare("case").options(counters="page_faults")

    def test_a_function_of_the_user_compares(self):
        result = compared(lambda x: x.mul(3)).compare_outputs(lambda expected, actual: None).run()
        self.assertEqual(result["mine"].outcome, "measured")
        like = lambda expected, actual: None if torch.equal(expected, actual) else "not like this"
        result = compared(lambda x: x.mul(3)).compare_outputs(like).run()
        self.assertIn("not like this", result["mine"].message)


class Words(unittest.TestCase):
    def test_remedies_name_what_python_has(self):
        result = compared(lambda x: x.mul(2)).options(least_duration=1e6).expect(pace.speedup_at_least(1.0)).run()
        self.assertIn("options(least_duration=...)", result.message)
        self.assertNotIn("--", result.message)
        result = compared(lambda x: x.flip(0).mul(2)).run()
        self.assertIn("declare .order_free(), if rows", result["mine"].message)
        self.assertNotIn("//benches", result["mine"].message)

    def test_functions_have_their_names_of_python(self):
        with self.assertRaisesRegex(pace.Error, "^no_slower_than: the factor must be"):
            pace.no_slower_than(0)
        with self.assertRaisesRegex(pace.Error, "^quantile_no_slower_than: the quantile must be"):
            pace.quantile_no_slower_than(2, 1.5)
        with self.assertRaisesRegex(pace.Error, r"such as \.sign_free\(0, -1\)") as refused:
            compared(lambda x: x.mul(2)).sign_free().run()
        self.assertNotIn("::", str(refused.exception))

    def test_several_processes_are_refused(self):
        with self.assertRaisesRegex(pace.Error, r"options\(processes=...\): .*try: //benches/files with --processes"):
            pace.compare("case").options(processes=12)

    def test_the_inputs_are_described_as_in_cpp(self):
        result = compared(lambda x, y: x.mul(2), lambda x, y: x.mul(2), torch.randn(8, 4), torch.zeros(3, 2).t()).run()
        self.assertEqual(result.inputs, "Float[8, 4], Float[2, 3] with strides [1, 2]")

    def test_a_process_for_each_side(self):
        code = """import torch, pace
result = (pace.compare("case", torch.randn(8, 4)).baseline("eager", lambda x: x.mul(2))
          .candidate("mine", lambda x: x + x).candidate("ends", lambda x: __import__("os")._exit(0))
          .options(isolate="sides", budget=0.01, least_duration=0, warm_up=0.001).run())
print(result["mine"].outcome, result["ends"].message, result.notes)"""
        # NumPy's pool of threads would keep the process from being copied.
        run = subprocess.run([sys.executable, "-c", code], env={**os.environ, "OPENBLAS_NUM_THREADS": "1"},
                             capture_output=True, text=True, timeout=120)
        self.assertIn("measured it ended its process with exit code 0", run.stdout, run.stderr)
        self.assertIn('options(isolate="sides")', run.stdout)


class Exceptions(unittest.TestCase):
    def test_what_a_candidate_raises_is_in_its_row_with_the_place(self):
        def raises(x):
            raise ValueError("no such size")

        result = compared(raises).run()
        row = result["mine"]
        self.assertEqual(row.outcome, "threw")
        self.assertRegex(row.message, r"ValueError: no such size \(in raises, .*package_test.py:\d+\)")
        self.assertIsInstance(row.exception, ValueError)
        self.assertIsNotNone(row.exception.__traceback__)
        self.assertEqual(result["eager"].outcome, "measured")

    def test_a_later_call_may_raise_too(self):
        calls = []

        def third(x):
            calls.append(x)
            if len(calls) == 3:
                raise RuntimeError("third call")
            return x.mul(2)

        self.assertIn("third call", compared(third).run()["mine"].message)

    def test_memory_that_runs_out_is_told_with_the_place(self):
        def full(x):
            raise MemoryError("no room for it")

        row = compared(full).run()["mine"]
        self.assertEqual(row.outcome, "out of memory")
        self.assertRegex(row.message,
                         r"memory ran out \(MemoryError: no room for it \(in full, .*package_test.py:\d+\)\)")

    def test_what_functions_beside_the_implementations_raise(self):
        def raises(*_):
            raise ValueError("not today")

        result = compared(lambda x: x.mul(2)).compare_outputs(raises).run()
        self.assertRegex(result["eager"].message,
                         r"the function of compare_outputs\(\) raised ValueError: not today \(in raises, .*\)$")
        with self.assertRaisesRegex(ValueError, "not today"):
            compared(lambda x: x.mul(2)).renew_each_round(raises).run()
        for declare in ("compare_outputs", "renew_each_round", "float64_reference"):
            with self.assertRaisesRegex(pace.Error, f"'{declare}': a value of the type 'int' is no function"):
                getattr(pace.compare("case"), declare)(3)

    def test_an_interrupt_ends_the_comparison(self):
        calls = []

        def interrupted(x):
            calls.append(x)
            raise KeyboardInterrupt

        with self.assertRaises(KeyboardInterrupt):
            compared(interrupted).run()
        self.assertEqual(len(calls), 1)

    def test_what_computes_nothing_when_called_is_refused(self):
        def generator(x):
            yield x

        async def later(x):
            return x

        for function, why in ((generator, "generator"), (later, "async"), (3, "callable")):
            with self.assertRaisesRegex(pace.Error, why):
                compared(function)
        self.assertIn("'generator'", compared(lambda x: (each for each in x)).run()["mine"].message)

    def test_ill_formed_comparisons(self):
        with self.assertRaisesRegex(pace.Error, "no option 'budgt'"):
            pace.compare("case").options(budgt=1)
        with self.assertRaisesRegex(pace.Error, "'off', 'standard', 'strict'"):
            pace.compare("case").options(audit="no")
        for option, value, expected in (("budget", "1s", "a number"), ("audit", 1, "a text in quotes"),
                                        ("seed", -1, "a whole number from 0 on"), ("controls", 1, "True or False"),
                                        ("max_iterations", 1.5, "a whole number"), ("confidence", True, "a number"),
                                        ("threads", "2", "a whole number from 1 on")):
            with self.assertRaisesRegex(pace.Error, f"^{option}={value!r}; expected {expected}$"):
                pace.compare("case").options(**{option: value})
        with self.assertRaisesRegex(pace.Error, "^rtol='1'; expected a number$"):
            pace.compare("case").check(rtol="1")
        for what in (("mine",), ("mine", 1.5), (), (1, pace.no_slower_than(1), 2)):
            with self.assertRaisesRegex(pace.Error, "expected an expectation, such as"):
                pace.compare("case").expect(*what)
        with self.assertRaisesRegex(pace.Error, "needs exactly one baseline"):
            pace.compare("case", torch.ones(2)).run()
        with self.assertRaisesRegex(KeyError, "it has: eager, mine"):
            compared(lambda x: x.mul(2)).run()["other"]


@dataclasses.dataclass(frozen=True)
class Batch:
    tokens: torch.Tensor
    layers: list
    heads: int = 2


@dataclasses.dataclass
class Scaled:
    values: torch.Tensor
    scale: torch.Tensor = dataclasses.field(init=False)

    def __post_init__(self):
        self.scale = torch.ones(4)
        self.first = self.values[:2]


Pair = collections.namedtuple("Pair", "left right")


class Operands(unittest.TestCase):
    def test_structures_arrive_as_they_were_given(self):
        batch = Batch(torch.ones(4), [torch.ones(4), {"bias": torch.ones(4)}])

        def add(batch, pair, *, scale):
            assert isinstance(batch, Batch) and isinstance(pair, Pair) and batch.heads == 2
            return batch.tokens + batch.layers[1]["bias"] * pair.left * scale

        def addcmul(batch, pair, *, scale):
            return torch.addcmul(batch.tokens, batch.layers[1]["bias"], pair.left, value=scale)

        result = compared(addcmul, add, batch, Pair(torch.ones(4), 3), scale=2.0).run()
        self.assertEqual(result["mine"].outcome, "measured", result["mine"].message)
        self.assertIn("Float[4]", result.inputs)
        self.assertIn("2.0", result.inputs)

    def test_a_dataclass_keeps_attributes_that_are_no_fields(self):
        given = Scaled(torch.zeros(4))

        def add(batch):
            batch.first.add_(batch.scale[:2])
            return batch.values.sum()

        result = compared(add, add, given).run()
        self.assertEqual(result["mine"].outcome, "measured", result["mine"].message)
        self.assertTrue(torch.equal(given.values, torch.zeros(4)))

    def test_the_users_tensors_are_never_written_to(self):
        x = torch.zeros(4)
        result = compared(lambda x: x.add_(1), lambda x: x.add_(1), x).run()
        self.assertEqual(result["mine"].outcome, "measured", result["mine"].message)
        self.assertTrue(torch.equal(x, torch.zeros(4)))

    def test_tensors_that_share_memory_still_do(self):
        whole = torch.arange(8.0)

        def writes(whole, half):
            half.mul_(2)
            return whole.sum()

        result = compared(writes, writes, whole, whole[:4]).run()
        self.assertEqual(result["mine"].outcome, "measured", result["mine"].message)

    def test_values_of_each_round(self):
        written = []

        def write(x):
            written.append(1)
            x.normal_()

        result = compared(lambda x: x + x).renew_each_round(write).run()
        self.assertEqual(result["mine"].outcome, "measured", result["mine"].message)
        self.assertGreater(len(written), 1)


class TrainingSteps(unittest.TestCase):
    def compared_steps(self, loss_of_candidate, *, model=None):
        torch.manual_seed(1)
        model = model or torch.nn.Linear(4, 2)
        own = copy.deepcopy(model)
        return (briefly(pace.compare("network", torch.randn(8, 4)))
                .baseline("module", pace.training_step(model.parameters(), lambda x: model(x).square().mean()))
                .candidate("mine", pace.training_step(own.parameters(), lambda x: loss_of_candidate(own, x))))

    def test_forward_and_backward_are_phases(self):
        result = (self.compared_steps(lambda own, x: own(x).pow(2).mean())
                  .expect("mine", pace.no_slower_than(1000).in_phase("backward")).run())
        self.assertTrue(result.as_expected(), result.message)
        self.assertEqual([each.phase for each in result.phases], ["forward", "backward"])
        backward = result.in_phase("backward")
        self.assertEqual([each.verdict for each in backward["mine"].judgements], ["passed"])
        self.assertGreater(backward["mine"].time, 0)
        self.assertEqual(result.phase, "")
        phases = result.to_dict()["phases"]
        self.assertEqual([each["name"] for each in phases], ["network/forward", "network/backward"])
        self.assertEqual(phases[1]["implementations"][1]["expectations"][0]["verdict"],
                         backward["mine"].judgements[0].verdict)
        with self.assertRaisesRegex(KeyError, "has no phase 'update'; it has: forward, backward"):
            result.in_phase("update")
        with contextlib.suppress(ImportError):
            table = result.to_pandas()
            self.assertEqual(list(dict.fromkeys(table["comparison"])),
                             ["network", "network/forward", "network/backward"])

    def test_a_guard_of_a_phase_that_is_undecided_has_its_exit_code(self):
        result = (self.compared_steps(lambda own, x: own(x).square().mean()).options(max_rounds=2)
                  .expect("mine", pace.no_slower_than(1.0).in_phase("backward")).run())
        self.assertEqual([each.verdict for each in result.in_phase("backward")["mine"].judgements], ["undecided"])
        self.assertTrue(result.as_expected(), result.message)
        self.assertEqual(result.exit_code(), 43)
        self.assertEqual(result.in_phase("forward").exit_code(), 0)

    def test_a_wrong_gradient_is_wrong(self):
        def loss(own, x):
            right = own(x).square().mean()
            return right.detach() + (right - right.detach()) * 2

        self.assertEqual(self.compared_steps(loss).run()["mine"].outcome, "wrong")

    def test_what_a_backward_pass_raises_is_in_its_row(self):
        class Raises(torch.autograd.Function):
            @staticmethod
            def forward(context, x):
                return x.clone()

            @staticmethod
            def backward(context, gradient):
                raise ValueError("no gradient today")

        row = self.compared_steps(lambda own, x: Raises.apply(own(x)).square().mean()).run()["mine"]
        self.assertEqual(row.outcome, "threw")
        self.assertIn("ValueError: no gradient today", row.message)

    def test_each_step_has_parameters_of_its_own(self):
        model = torch.nn.Linear(4, 2)
        step = lambda: pace.training_step(model.parameters(), lambda x: model(x).sum())
        with self.assertRaisesRegex(pace.Error, "'mine': has a parameter of 'module'.*try: copy.deepcopy"):
            pace.compare("network", torch.randn(8, 4)).baseline("module", step()).candidate("mine", step())
        with self.assertRaisesRegex(pace.Error, "parameter 0 .* is no leaf that requires gradients"):
            pace.training_step([torch.ones(2)], lambda x: x)
        with self.assertRaisesRegex(pace.Error, "'mine': a value of the type 'int' is no function"):
            pace.compare("network").candidate("mine", pace.training_step([], 3))
        with self.assertRaisesRegex(pace.Error, "either training steps or plain callables"):
            pace.compare("network", torch.randn(8, 4)).baseline("module", step()).candidate("mine", lambda x: x)


class Compilation(unittest.TestCase):
    def test_the_first_call_has_a_time_of_its_own(self):
        result = compared(lambda x: x + x).run()
        self.assertGreater(result["mine"].first_call, 0)

    def test_what_is_compiled_again_in_the_rounds_has_no_figures(self):
        compiled = torch.compile(lambda x, name="": x.mul(2) if name != "none" else x, backend="eager")
        calls = itertools.count()
        many = 1_000_000
        with torch._dynamo.config.patch(recompile_limit=many, accumulated_recompile_limit=many):
            result = compared(lambda x: compiled(x, str(next(calls)))).run()
        self.assertEqual(result["mine"].outcome, "threw")
        self.assertIn("compiled again while it was timed (torch.compile, dynamo", result["mine"].message)
        self.assertEqual(compared(compiled).run()["mine"].outcome, "measured")

    def test_what_is_compiled_again_in_a_process_of_its_own_has_no_figures(self):
        code = """import itertools, torch, pace
compiled = torch.compile(lambda x, name="": x.mul(2) if name != "none" else x, backend="eager")
torch._dynamo.config.recompile_limit = torch._dynamo.config.accumulated_recompile_limit = 1_000_000
calls = itertools.count()
result = (pace.compare("case", torch.randn(8, 4)).baseline("eager", lambda x: x.mul(2))
          .candidate("anew", lambda x: compiled(x, str(next(calls)))).candidate("once", compiled)
          .options(isolate="sides", budget=0.01, least_duration=0, warm_up=0.001).run())
print(result["anew"].message, result["once"].outcome)"""
        run = subprocess.run([sys.executable, "-c", code], env={**os.environ, "OPENBLAS_NUM_THREADS": "1"},
                             capture_output=True, text=True, timeout=120)
        self.assertRegex(run.stdout, "it was compiled again while it was timed .* measured", run.stderr)

    def test_the_configuration_that_an_autotuner_chose_is_noted(self):
        try:
            import triton
        except ImportError:
            self.skipTest("no Triton")

        def kernel(x, BLOCK):
            pass

        kernel = triton.autotune([triton.Config({"BLOCK": 64}, num_warps=2)], key=[])(triton.JITFunction(kernel))
        kernel.best_config = kernel.configs[0]

        def launch():
            return kernel

        result = compared(lambda x: x + x if launch() is kernel else None).run()
        chosen = "'mine': Triton's autotuner chose BLOCK: 64, num_warps: 2"
        self.assertTrue(any(chosen in note for note in result.notes), result.notes)


class CommandLine(unittest.TestCase):
    """python -m pace."""

    source = """
import torch
def eager(x, factor): return x.mul(factor)
def fused(x, factor): return x * factor
def größe(x, factor): return factor * x
def wrong(x, factor): return x * 3
def inputs(): return torch.randn(64), 2.0
"""

    def run_on(self, *words, source=source):
        with tempfile.TemporaryDirectory() as folder:
            model = os.path.join(folder, "model.py")
            with open(model, "w") as file:
                file.write(source)
            words = [word.replace("model.py", model).replace("FOLDER", folder) for word in words]
            command = [sys.executable, "-m", "pace", "--budget", "0.01", *words]
            ran = subprocess.run(command, capture_output=True, text=True)
            results = os.path.join(folder, "results.json")
            lines = open(results).read().splitlines() if os.path.exists(results) else []
            return ran.returncode, ran.stdout, ran.stderr, [json.loads(line) for line in lines]

    three = ("--baseline", "model.py:eager", "--candidate", "model.py:fused", "--inputs", "model.py:inputs")

    def test_red_green_and_the_file(self):
        code, out, errors, lines = self.run_on(*self.three, "--no-slower-than", "1000", "--json", "FOLDER/results.json")
        self.assertEqual(code, 0, errors)
        self.assertIn("fused", out)
        self.assertEqual(lines[1]["name"], "model.py:eager")
        code, _, errors, _ = self.run_on(*self.three, "--speedup-at-least", "1000")
        self.assertEqual(code, 42, errors)
        self.assertIn("'fused'", errors)
        # The second one has a mark of its own for the two dots, which Python takes for the same name.
        for name in ("gr\u00f6\u00dfe", "gro\u0308\u00dfe"):
            code, _, errors, _ = self.run_on(*self.three, "--candidate", f"model.py:{name}")
            self.assertEqual(code, 0, errors)
        code, out, errors, _ = self.run_on(*self.three, "--candidate", "model.py:wrong")
        self.assertEqual(code, 42, errors)
        self.assertIn("wrong", errors)

    def test_an_argument_may_have_any_name(self):
        source = """
import torch
def eager(name, self): return name + self
def inputs(): return {"name": torch.ones(8), "self": 1.0}
"""
        code, _, errors, _ = self.run_on("--baseline", "model.py:eager", "--inputs", "model.py:inputs", source=source)
        self.assertEqual(code, 0, errors)

    def test_places_that_name_nothing(self):
        for place, why in (("model.py", "expected FILE.py:NAME"), ("model.py:other", "has no 'other'"),
                           ("FOLDER/missing.py:f", "there is no such file")):
            code, _, errors, _ = self.run_on("--baseline", place, "--inputs", "model.py:inputs")
            self.assertEqual(code, 1, errors)
            self.assertIn(why, errors)
        code, _, errors, _ = self.run_on(*self.three, source="raise ValueError('here')")
        self.assertEqual(code, 1)
        self.assertIn("cannot be run: ValueError: here", errors)
        for words, why in ((("--inputs", "model.py:inputs"), "pace: .*required: --baseline"),
                           ((*self.three, "--bogus"), "pace: unrecognized arguments: --bogus")):
            code, _, errors, _ = self.run_on(*words)
            self.assertEqual(code, 1, errors)
            self.assertRegex(errors, why)
        code, _, errors, _ = self.run_on(*self.three, "--device", "nowhere")
        self.assertEqual(code, 1)
        self.assertTrue(errors.startswith("pace: --device nowhere: "), errors)

    def test_a_device_is_for_tensors_in_dataclasses_too(self):
        source = """
import dataclasses, torch
@dataclasses.dataclass(frozen=True)
class Batch:
    x: torch.Tensor
    rest: list
    name: str = "first"
def inputs(): return [Batch(torch.ones(2), [Batch(torch.ones(3), []), {"y": torch.ones(4)}])]
"""
        with tempfile.TemporaryDirectory() as folder:
            model = os.path.join(folder, "model.py")
            with open(model, "w") as file:
                file.write(source)
            (batch,), _ = named.arguments(model, "inputs", "meta")
        tensors = (batch.x, batch.rest[0].x, batch.rest[1]["y"])
        self.assertEqual([tensor.device.type for tensor in tensors], ["meta"] * 3)
        self.assertEqual((type(batch).__name__, batch.name), ("Batch", "first"))

    def test_an_interrupt_ends_it(self):
        source = self.source + "def interrupts(x, factor): raise KeyboardInterrupt"
        code, _, errors, _ = self.run_on(*self.three, "--candidate", "model.py:interrupts", source=source)
        self.assertEqual((code, errors), (130, "pace: interrupted\n"))

    def test_files_of_two_folders_import_their_own_modules(self):
        model = """
import helpers, parts.scale, torch
def eager(x): return helpers.double(x) * parts.scale.one()
def later(x):
    import helpers
    return helpers.double(x)
compiled = torch.compile(eager, backend="eager")
"""
        with tempfile.TemporaryDirectory() as folder:
            for version, factor in (("old", 2), ("new", 3)):
                os.makedirs(os.path.join(folder, version, "parts"))
                for name, source in (("model.py", model), ("helpers.py", f"def double(x): return x * {factor}"),
                                     ("parts/__init__.py", ""), ("parts/scale.py", "def one(): return 1")):
                    with open(os.path.join(folder, version, name), "w") as file:
                        file.write(source)
            code = """
import sys, torch
from pace import named
old, new = (lambda name, version=version: named.function(f"{sys.argv[1]}/{version}/model.py", name)
            for version in ("old", "new"))
for name in ("eager", "compiled"):
    print(name, *(version(name)(torch.ones(1)).item() for version in (old, new)))
for version in (old, new):
    try:
        print(version("later")(torch.ones(1)))
    except ModuleNotFoundError as error:
        print(error)
"""
            run = subprocess.run([sys.executable, "-c", code, folder], capture_output=True, text=True)
        self.assertEqual(run.stdout.splitlines(), ["eager 2.0 3.0", "compiled 2.0 3.0",
                                                   *2 * ["No module named 'helpers'"]], run.stderr)


class Outputs(unittest.TestCase):
    def test_structures_are_compared_by_their_parts(self):
        def parts(factor):
            return lambda x: {"sum": x.sum() * factor, "pair": Pair(x, [1, None]), "batch": Batch(x, [])}

        self.assertEqual(compared(parts(1), parts(1)).run()["mine"].outcome, "measured")
        self.assertEqual(compared(parts(2), parts(1)).run()["mine"].outcome, "wrong")

    def test_an_integer_that_no_number_of_cpp_holds_is_named(self):
        self.assertIn("an integer that has more than 64 bits", compared(lambda x: 2**70).run()["mine"].message)

    def test_gradients_are_compared(self):
        weight = torch.randn(4, 4, requires_grad=True)

        def step(factor):
            def make(x):
                return torch.autograd.grad(((x @ weight) * factor).sum(), weight)[0]
            return make

        self.assertEqual(compared(step(1), step(1)).run()["mine"].outcome, "measured")
        self.assertEqual(compared(step(2), step(1)).run()["mine"].outcome, "wrong")

    def test_a_wrong_backward_pass_behind_right_outputs_is_wrong(self):
        def with_backward(backward):
            class Double(torch.autograd.Function):
                @staticmethod
                def forward(context, x):
                    return x * 2

                @staticmethod
                def backward(context, gradient):
                    return backward(gradient)

            return Double.apply

        def raises(gradient):
            raise ValueError("no gradient today")

        x = torch.randn(8, 4, requires_grad=True)
        eager = lambda x: x.mul(2)
        result = compared(with_backward(lambda gradient: gradient * 2), eager, x).run()
        self.assertEqual(result["mine"].outcome, "measured", result["mine"].message)
        self.assertFalse(any("Gradients" in note for note in result.notes), result.notes)
        result = compared(with_backward(lambda gradient: gradient * 3), eager, x).run()
        self.assertEqual(result["mine"].outcome, "wrong")
        self.assertIn("the gradient of operand tensor 0 is not the baseline's", result["mine"].message)
        result = compared(with_backward(raises), eager, x).run()
        self.assertIn("its backward pass throws, and the baseline's does not: ValueError: no gradient today",
                      result["mine"].message)
        result = compared(eager, with_backward(raises), x).run()
        self.assertTrue(any("backward pass throws: ValueError: no gradient today" in note for note in result.notes),
                        result.notes)


class Results(unittest.TestCase):
    def written(self, *results):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "results.json")
            pace.write_results(path, *results)
            with open(path) as file:
                return [json.loads(line) for line in file]

    def test_a_file_says_how_its_results_were_measured(self):
        def run(threads, seed):
            return compared(lambda x: x + x).options(threads=threads, seed=seed, max_rounds=50).run()

        one, two, other = run(1, 11), run(2, 11), run(1, 12)
        header = self.written(one)[0]
        self.assertEqual(header["environment"]["libtorch_threads"], "1")
        options = {key: header["options"][key] for key in ("budget_ns", "seed", "max_rounds", "check_seed")}
        self.assertEqual(options, {"budget_ns": 1e7, "seed": 11, "max_rounds": 50, "check_seed": 7})
        header = self.written(two, one)[0]
        self.assertEqual(header["environment"]["libtorch_threads"], "1; 2")
        self.assertEqual(header["options"]["seed"], 11)
        header = self.written(one, other)[0]
        self.assertEqual(header["environment"]["libtorch_threads"], "1")
        self.assertIsNone(header["options"])

    def test_a_file_has_what_the_result_has(self):
        result = compared(lambda x: x + x).run()
        header, row = self.written(result)
        self.assertEqual(header["pace_version"], pace.__version__)
        self.assertIn("python", header["environment"])
        self.assertEqual({**row, "phases": []}, result.to_dict())
        self.assertIn("mine", result.table())
        self.assertIn("<svg", result._repr_html_())

    def test_the_user_has_the_same_threads_again(self):
        before = torch.get_num_threads()
        seen = set()

        def observed(x):
            seen.add(torch.get_num_threads())
            return x.mul(2)

        compared(observed).options(threads=1).run()
        self.assertEqual(seen, {1})
        self.assertEqual(torch.get_num_threads(), before)


if __name__ == "__main__":
    unittest.main()
