"""tools/export.py as a function and as a program. export_test.sh runs this with the Python that has torch."""

import os
import subprocess
import sys
import tempfile
import unittest
from unittest import mock

import export
import modules
import torch


class Scaled(torch.nn.Module):
    def forward(self, a, b, by):
        return a * by - b, a + 1


class Writing(torch.nn.Module):
    def forward(self, x):
        return x.add_(1)


class Failing(torch.nn.Module):
    def forward(self, x):
        raise RuntimeError("no reason")


class Paired(torch.nn.Module):
    def forward(self, x, pair, z, last):
        return x * pair[0] + pair[1] + z * last


LIMITED = """import torch

class Limited(torch.nn.Module):
    def forward(self, x):
        torch._check(x.shape[0] <= 100)
        return x + 1

class Constant(torch.nn.Module):
    def forward(self, x):
        return x + torch.ones(4, 2)

def limited():
    return Limited(), (torch.ones(4, 2),)

def constant():
    return Constant(), (torch.ones(4, 2),)
"""
BESIDE = """
def less(x):
    return x - 1
"""
BRANCHES = """
import torch
from beside import less

class Branches(torch.nn.Module):
    def forward(self, x):
        return torch.cond(x.sum() > 0, lambda x: x + 1, less, (x,))

def made():
    return Branches(), (torch.ones(3),)
"""


class Export(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = os.path.join(folder.name, "new")

    def test_inputs_are_those_from_before_the_module_was_called(self):
        paths = export.export(Writing(), (torch.zeros(3),), folder=self.folder, formats=("torchscript",))
        self.assertEqual(torch.load(paths["inputs"])["args"][0].tolist(), [0, 0, 0])

    def test_a_module_that_cannot_be_exported_leaves_no_files(self):
        os.makedirs(self.folder)
        with self.assertRaises(RuntimeError):
            export.export(Failing(), (torch.zeros(3),), folder=self.folder)
        self.assertEqual(os.listdir(self.folder), [])
        with self.assertRaisesRegex(ValueError, "found 'a/b'"):
            export.export(Scaled(), (), folder=self.folder, name="a/b")

    def test_files_compute_what_the_module_computes(self):
        module, args, kwargs = Scaled(), (torch.rand(3, 4), torch.rand(4)), {"by": torch.rand(4)}
        paths = export.export(module, args, kwargs, folder=self.folder, name="small")
        self.assertEqual(
            {name: os.path.basename(path) for name, path in paths.items()},
            {"torchscript": "small.pt", "export": "small.pt2", "inputs": "small.inputs.pt"},
        )
        saved = torch.load(paths["inputs"], weights_only=True)
        expected = module(*saved["args"], **saved["kwargs"])
        for found in (
            torch.jit.load(paths["torchscript"])(*saved["args"], **saved["kwargs"]),
            torch.export.load(paths["export"]).module()(*saved["args"], **saved["kwargs"]),
        ):
            for one, other in zip(expected, found, strict=True):
                torch.testing.assert_close(one, other)

    def test_numbers_are_exported_but_not_traced(self):
        module, args, kwargs = modules.classifier()
        paths = export.export(module, args, kwargs, folder=self.folder, formats=("export",))
        saved = torch.load(paths["inputs"], weights_only=True)
        self.assertEqual(saved["args"][2], 3)
        with self.assertRaisesRegex(ValueError, "takes tensors alone, and the inputs have 3"):
            export.export(module, args, kwargs, folder=self.folder, formats=("torchscript",))

    def test_inputs_alone_have_no_graph(self):
        x = torch.ones(2, 3, requires_grad=True)
        paths = export.export(torch.nn.ReLU(), (x,), folder=self.folder, formats=("torchscript",))
        self.assertFalse(torch.load(paths["inputs"], weights_only=True)["args"][0].requires_grad)

    def test_a_buffer_that_is_replaced_is_put_back_and_refused_for_a_trace(self):
        class Ring(torch.nn.Module):
            def __init__(self):
                super().__init__()
                self.register_buffer("rows", torch.ones(3, 2))

            def forward(self, x):
                self.rows = torch.cat([self.rows[1:], x])
                return self.rows.sum()

        ring = Ring()
        before = ring.rows
        with self.assertRaisesRegex(ValueError, "forward replaces the buffer 'rows'"):
            export.export(ring, (torch.zeros(1, 2),), folder=self.folder, formats=("torchscript",))
        self.assertIs(ring.rows, before)
        self.assertTrue(torch.equal(before, torch.ones(3, 2)))

    def test_a_package_is_compiled_from_the_exported_program(self):
        def compile_and_package(program, package_path, inductor_configs):
            self.assertIsInstance(program, torch.export.ExportedProgram)
            self.assertEqual(inductor_configs, {})
            with open(package_path, "w") as file:
                file.write("package")

        with mock.patch("torch._inductor.aoti_compile_and_package", compile_and_package):
            paths = export.export(torch.nn.ReLU(), (torch.ones(2),), folder=self.folder, formats=("aot_inductor",))
        with open(paths["aot_inductor"]) as file:
            self.assertEqual(file.read(), "package")

    def test_a_dynamic_batch_is_the_first_size_of_all_that_have_it(self):
        x, y, other = torch.ones(8, 3), torch.ones(8), torch.ones(5)
        shapes = export.dynamic_batch(Paired(), (x, (y, other)), {"last": other, "z": x})
        self.assertEqual(shapes["x"].keys(), {0})
        self.assertEqual(shapes, {"x": shapes["x"], "pair": (shapes["x"], None), "z": shapes["x"], "last": None})
        with self.assertRaises(ValueError):
            export.dynamic_batch(torch.nn.ReLU(), (torch.tensor(1),), {})

    def test_a_dynamic_batch_does_not_depend_on_the_order_of_keyword_arguments(self):
        args = (torch.ones(8, 3), (torch.ones(8, 1), torch.ones(3)))
        kwargs = {"last": torch.ones(3), "z": torch.ones(8, 3)}
        shapes = export.dynamic_batch(Paired(), args, kwargs)
        paths = export.export(Paired(), args, kwargs, self.folder, formats=("export",), dynamic_shapes=shapes)
        program = torch.export.load(paths["export"]).module()
        called = program(torch.ones(5, 3), (torch.ones(5, 1), torch.ones(3)), z=torch.ones(5, 3), last=torch.ones(3))
        self.assertEqual(called.shape, (5, 3))

    def test_mistakes_are_named(self):
        for arguments, text in (
            (dict(args=[torch.ones(2)]), "expected a tuple"),
            (dict(args=(torch.ones(2),), formats=("onnx",)), "found onnx"),
            (dict(args=(torch.ones(2),), formats=()), "found none"),
        ):
            with self.assertRaisesRegex(ValueError, text):
                export.export(torch.nn.ReLU(), folder=self.folder, **arguments)
        for place in ("modules", "modules:", "missing.py:f", "modules:missing", "modules:torch"):
            with self.assertRaises((ValueError, TypeError)):
                export.made_by(place)
        with mock.patch.object(modules, "list_of_keywords", lambda: (None, (), []), create=True):
            with self.assertRaisesRegex(ValueError, "module, args, kwargs"):
                export.made_by("modules:list_of_keywords")

    def run_program(self, *words):
        return subprocess.run([sys.executable, export.__file__, *words], capture_output=True, text=True)

    def test_the_program_writes_the_files_and_prints_their_names(self):
        source = os.path.join(self.folder, "source.py")
        os.makedirs(self.folder)
        with open(source, "w") as file:
            file.write("import torch\ndef small():\n    return torch.nn.ReLU(), (torch.ones(4, 2),)\n")
        options = ["--output-directory", self.folder, "--format", "export", "--dynamic-batch"]
        done = self.run_program(source + ":small", *options)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual([os.path.basename(line) for line in done.stdout.split()], ["small.pt2", "small.inputs.pt"])
        program = torch.export.load(os.path.join(self.folder, "small.pt2")).module()
        self.assertEqual(program(torch.ones(9, 2)).shape, (9, 2))

    def test_a_dynamic_batch_has_the_limits_that_operators_have_and_is_refused_where_it_is_a_constant(self):
        source = os.path.join(self.folder, "source.py")
        os.makedirs(self.folder)
        with open(source, "w") as file:
            file.write(LIMITED)
        options = ["--output-directory", self.folder, "--format", "export", "--dynamic-batch"]
        done = self.run_program(source + ":limited", *options)
        self.assertEqual(done.returncode, 0, done.stderr)
        program = torch.export.load(os.path.join(self.folder, "limited.pt2"))
        self.assertEqual([(each.lower, each.upper) for each in program.range_constraints.values()], [(0, 100)])
        self.assertEqual(program.module()(torch.ones(9, 2)).shape, (9, 2))
        done = self.run_program(source + ":constant", *options)
        self.assertEqual(done.returncode, 1)
        self.assertIn("source.py:constant: UserError: Constraints violated (batch)", done.stderr)
        self.assertIn("specialized it to be a constant (4)", done.stderr)
        self.assertFalse(os.path.exists(os.path.join(self.folder, "constant.pt2")))

    def test_a_file_imports_what_stands_beside_it_and_torch_finds_it_by_its_name(self):
        os.makedirs(self.folder)
        for name, text in (("beside", BESIDE), ("branches", BRANCHES)):
            with open(os.path.join(self.folder, name + ".py"), "w") as file:
                file.write(text)
        place = os.path.join(self.folder, "branches.py:made")
        done = self.run_program(place, "--output-directory", self.folder, "--format", "export")
        self.assertEqual(done.returncode, 0, done.stderr)

    def test_the_program_fails_with_a_message(self):
        done = self.run_program("missing.py:small")
        self.assertEqual(done.returncode, 1)
        self.assertIn("'missing.py': no such file", done.stderr)
        done = self.run_program("modules:classifier", "--output-directory", os.path.join(export.__file__, "below"))
        self.assertEqual((done.returncode, done.stderr.count("\n")), (1, 1), done.stderr)


if __name__ == "__main__":
    unittest.main()
