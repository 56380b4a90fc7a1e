"""beside_torch_compile.py on small programs on the CPU, which are not compiled, with a script in the place of pace.
tests/aot/inductor_script_test.sh runs this."""

import csv
import json
import os
import stat
import subprocess
import sys
import tempfile
import unittest

import torch
from torch.export.pt2_archive._package import package_pt2

import beside_torch_compile as beside

# Writes pace's output of a run: eager takes 8 ms, the back end 2 ms, unless the model is called `broken`.
PACE = r"""
import sys
options = dict(zip(sys.argv, sys.argv[1:]))
assert options["--tf32"] in ("on", "off"), sys.argv
if options["--only"] == "broken":
    sys.exit("the model is broken")
with open(options["--output"], "w") as file:
    file.write("dev,name,abs_latency,eager_latency,compile_seconds,status,backend\n")
    status = "fail_accuracy" if options["--only"] == "wrong" else "pass"
    file.write(f"cpu,{options['--only']},2.0,8.0,1.5,{status},aot_inductor\n")
"""


class Tokens(torch.nn.Module):
    """A table and a factor as parameters, statistics as buffers, tokens as an input."""

    def forward(self, table, factor, tokens, mean, variance, count):
        rows = torch.nn.functional.embedding(tokens.flatten(), table)
        return torch.nn.functional.batch_norm(rows, mean, variance, factor) + rows


OPERANDS = (
    torch.zeros(7, 3),
    torch.zeros(3),
    torch.zeros(5, 2, dtype=torch.int64),
    torch.zeros(3),
    torch.zeros(3),
    torch.zeros((), dtype=torch.int64),
)


def write_program(folder, model, module=Tokens(), operands=OPERANDS, parameters=2):
    path = os.path.join(folder, f"key-of-{model}")
    package_pt2(path + ".pt2", exported_programs={"model": torch.export.export(module, operands, strict=False)})
    signature = f"exported of {model}: {parameters} parameters, inputs"
    record = {"status": "ok", "name": f"{model} (exported)", "signature": signature}
    with open(path + ".json", "w") as file:
        json.dump(record, file)
    return path + ".pt2"


class Beside(unittest.TestCase):
    def setUp(self):
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.folder = scratch.name
        self.pace = os.path.join(self.folder, "pace.py")
        with open(self.pace, "w") as file:
            file.write(PACE)
        os.chmod(self.pace, os.stat(self.pace).st_mode | stat.S_IXUSR)

    def run_script(self, *arguments):
        results = os.path.join(self.folder, "results.csv")
        done = subprocess.run(
            [sys.executable, beside.__file__, self.folder, results, "--compiler", "eager", *arguments],
            capture_output=True,
            text=True,
        )
        rows = []
        if os.path.exists(results):
            with open(results, newline="") as file:
                rows = list(csv.DictReader(file))
        return done, rows

    def test_both_sides_are_timed_in_turn(self):
        write_program(self.folder, "tokens")
        done, rows = self.run_script("--turns", "2", "--repeat", "3", "--", sys.executable, self.pace, "--performance")
        self.assertEqual(done.returncode, 0, done.stderr)
        order = [(row["turn"], row["side"], row["way"]) for row in rows]
        sides = [("pace", "compiled"), ("pace", "eager"), ("python", "eager"), ("python", "compiled")]
        self.assertEqual(order, [(turn, *side) for turn in "01" for side in sides])
        python = [row for row in rows if row["side"] == "python"]
        self.assertTrue(all(int(row["samples"]) == 3 and float(row["milliseconds"]) > 0 for row in python))
        self.assertGreater(float(python[1]["compile_seconds"]), 0)
        self.assertRegex(done.stdout, r"tokens +\d+\.\d{3} +\d+\.\d{3}")

    def test_what_fails_is_named_and_the_rest_is_kept(self):
        for model in ("broken", "wrong", "tokens"):
            write_program(self.folder, model)
        write_program(self.folder, "unknown", torch.nn.Identity(), (torch.zeros(2, dtype=torch.int64),), parameters=0)
        done, rows = self.run_script("--turns", "1", "--repeat", "2", "--", sys.executable, self.pace)
        self.assertEqual(done.returncode, 1)
        self.assertIn("broken: pace ended with exit code 1: the model is broken", done.stderr)
        self.assertIn("wrong: pace: aot_inductor: fail_accuracy", done.stderr)
        self.assertRegex(done.stderr, "unknown: Python ended with exit code 1: ValueError: operand .* expected indices")
        compiled = {(row["model"], row["side"]) for row in rows if row["way"] == "compiled"}
        python = {(model, "python") for model in ("tokens", "broken", "wrong")}
        self.assertEqual(compiled, python | {("tokens", "pace"), ("unknown", "pace")})

    def test_a_wrong_command_line_ends_with_2(self):
        done, _ = self.run_script()
        self.assertEqual(done.returncode, 2)
        self.assertIn("expected programs of the back end nativert, found none", done.stderr)
        write_program(self.folder, "tokens")
        done, _ = self.run_script("--models", "resnet")
        self.assertEqual(done.returncode, 2)
        self.assertIn("no program's model matches 'resnet'", done.stderr)

    def test_operands_are_parameters_buffers_and_inputs(self):
        model, inputs = beside.module_of(write_program(self.folder, "tokens"), 2)
        self.assertEqual([tuple(p.shape) for p in model.parameters()], [(7, 3), (3,)])
        self.assertEqual([tuple(b.shape) for b in model.buffers()], [(3,), (3,), ()])
        (tokens,) = inputs
        self.assertEqual((tokens.shape, tokens.dtype), ((5, 2), torch.int64))
        self.assertLess(int(tokens.max()), 7)
        self.assertEqual(model(*inputs)[0].shape, (10, 3))

    def test_ratios(self):
        rows = [
            {"model": "m", "way": "compiled", "turn": turn, "side": side, "milliseconds": milliseconds}
            for turn, side, milliseconds in [(0, "pace", 4), (0, "python", 2), (1, "pace", 1), (1, "python", 8)]
        ]
        self.assertAlmostEqual(beside.ratios_of(rows)["compiled"]["m"], 0.5)
        # The logarithms 0 and 2 ln 2: mean ln 2, deviation sqrt 2 ln 2, t of one degree of freedom 12.71.
        self.assertEqual(beside.mean_with_interval([1, 4]), f"2.000 [{2 / 2**12.71:.3f}, {2 * 2**12.71:.3f}]")


if __name__ == "__main__":
    unittest.main()
