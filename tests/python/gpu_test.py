"""The Python package on a GPU, by its findings: Triton, torch.compile, custom operators, autograd. No test compares
times, and all are skipped without a GPU."""

import copy
import unittest

import torch

import pace

if torch.cuda.is_available():
    import triton
    import triton.language as tl

    @triton.jit
    def softmax_kernel(out, x, columns, BLOCK: tl.constexpr):
        row = tl.program_id(0)
        place = tl.arange(0, BLOCK)
        mask = place < columns
        values = tl.load(x + row * columns + place, mask=mask, other=-float("inf"))
        powers = tl.exp(values - tl.max(values, axis=0))
        tl.store(out + row * columns + place, powers / tl.sum(powers, axis=0), mask=mask)

    def triton_softmax(x):
        out = torch.empty_like(x)
        softmax_kernel[(x.shape[0],)](out, x, x.shape[1], BLOCK=triton.next_power_of_2(x.shape[1]))
        return out

    @triton.autotune([triton.Config({"BLOCK": block}, num_warps=warps) for block in (256, 1024) for warps in (2, 8)],
                     key=["size"])
    @triton.jit
    def double_kernel(out, x, size, BLOCK: tl.constexpr):
        place = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
        tl.store(out + place, 2 * tl.load(x + place, mask=place < size), mask=place < size)

    def autotuned_double(x):
        out = torch.empty_like(x)
        double_kernel[lambda meta: (triton.cdiv(x.numel(), meta["BLOCK"]),)](out, x, x.numel())
        return out

    @torch.library.custom_op("pace_test::scaled", mutates_args=())
    def scaled(x: torch.Tensor, by: float) -> torch.Tensor:
        return x * by

    class Square(torch.autograd.Function):
        @staticmethod
        def forward(context, x):
            context.save_for_backward(x)
            return x * x

        @staticmethod
        def backward(context, gradient):
            return 2 * context.saved_tensors[0] * gradient


def briefly(comparison):
    return comparison.options(budget=0.05, check_seed=7)


@unittest.skipUnless(torch.cuda.is_available(), "there is no GPU")
class OnAGpu(unittest.TestCase):
    def compared(self, baseline, candidate, *operands):
        result = briefly(pace.compare("case", *operands)).baseline("eager", baseline).candidate("mine", candidate).run()
        return result, result["mine"]

    def measured(self, baseline, candidate, *operands):
        result, row = self.compared(baseline, candidate, *operands)
        self.assertEqual(row.outcome, "measured", row.message)
        return result, row

    def setUp(self):
        torch.manual_seed(0)
        self.x = torch.randn(1024, 1000, device="cuda")

    def test_a_triton_kernel_is_timed_in_a_graph(self):
        result, row = self.measured(lambda x: torch.softmax(x, -1), triton_softmax, self.x)
        self.assertEqual(result.clock, "graph")
        self.assertGreater(row.first_call, row.time)

    def test_the_configuration_of_an_autotuned_kernel_is_noted(self):
        result, _ = self.measured(lambda x: x * 2, autotuned_double, self.x)
        self.assertTrue(any("autotuner chose BLOCK: " in note for note in result.notes), result.notes)

    def test_torch_compile_in_its_modes(self):
        model = torch.nn.Sequential(torch.nn.Linear(1000, 1000), torch.nn.ReLU(), torch.nn.Linear(1000, 10)).cuda()
        for mode in ("default", "max-autotune-no-cudagraphs"):
            with self.subTest(mode=mode), torch.no_grad():
                self.measured(model, torch.compile(model, mode=mode), self.x)

    def test_graphs_of_torch_compile_reuse_their_outputs(self):
        compiled = torch.compile(lambda x: torch.relu(x) + 1, mode="reduce-overhead")
        _, row = self.compared(lambda x: torch.relu(x) + 1, compiled, self.x)
        self.assertIn(".reuses_outputs()", row.message)
        comparison = briefly(pace.compare("case", self.x)).reuses_outputs("mine")
        result = comparison.baseline("eager", lambda x: torch.relu(x) + 1).candidate("mine", compiled).run()
        self.assertEqual(result["mine"].outcome, "measured", result["mine"].message)

    def test_a_kernel_with_a_fault_is_wrong(self):
        _, row = self.compared(lambda x: torch.softmax(x, -1), lambda x: triton_softmax(x) * 1.01, self.x)
        self.assertEqual(row.outcome, "wrong")

    def test_a_custom_operator_and_a_function_with_backward(self):
        self.measured(lambda x: x * 3, lambda x: scaled(x, 3.0), self.x)
        x = self.x.requires_grad_()
        self.measured(lambda x: x * x, Square.apply, x)

    def test_exceptions_and_memory(self):
        def raises(x):
            raise ValueError("not today")

        _, row = self.compared(lambda x: x * 2, raises, self.x)
        self.assertEqual(row.outcome, "threw")
        self.assertIn("ValueError: not today", row.message)
        _, row = self.compared(lambda x: x * 2, lambda x: torch.empty(1 << 42, device="cuda"), self.x)
        self.assertEqual(row.outcome, "out of memory")
        self.measured(lambda x: x * 2, lambda x: x + x, self.x)

    def test_a_stream_of_its_own_is_found(self):
        stream = torch.cuda.Stream()

        def escapes(x):
            out = torch.empty_like(x)
            with torch.cuda.stream(stream):
                torch.mul(x, 2, out=out)
            return out

        _, row = self.compared(lambda x: x * 2, escapes, self.x)
        self.assertNotEqual(row.outcome, "measured")

    def test_the_clocks(self):
        for clock in ("graph", "hot", "cold", "host"):
            with self.subTest(clock=clock):
                comparison = briefly(pace.compare("case", self.x)).options(clock=clock)
                result = comparison.baseline("eager", torch.relu).candidate("mine", torch.relu).run()
                self.assertEqual(result.clock, clock)
                self.assertEqual(result["mine"].outcome, "measured", result["mine"].message)

    def test_training_steps_have_phases(self):
        model = torch.nn.Linear(1000, 64, device="cuda")
        own = copy.deepcopy(model)
        step = lambda of: pace.training_step(of.parameters(), lambda x: of(x).square().mean())
        result = (briefly(pace.compare("network", self.x)).baseline("eager", step(model)).candidate("mine", step(own))
                  .expect(pace.no_slower_than(1000).in_phase("backward")).run())
        self.assertTrue(result.as_expected(), result.message)
        self.assertEqual([each.phase for each in result.phases], ["forward", "backward"])


if __name__ == "__main__":
    unittest.main()
