"""Packages that share an object file with Inductor's runtime; other tests check their results. inductor_script_test.sh
runs this."""

import contextlib
import ctypes
import io
import os
import re
import tempfile
import unittest
import zipfile
from unittest import mock

import torch
import torch._inductor
from torch._inductor import codecache, cpu_vec_isa
from torch._inductor.codegen import cpp_wrapper_cpu

import compile_packages
import share_runtime

# Preparing headers takes longer than three packages.
OPTIONS = {"aot_inductor.precompile_headers": False}
LEVEL = "aot_inductor.compile_wrapper_opt_level"


class Scaled(torch.nn.Module):
    def __init__(self, factor):
        super().__init__()
        self.factor = factor

    def forward(self, x):
        return x * self.factor


class ShareRuntime(unittest.TestCase):
    def setUp(self):
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.folder = scratch.name
        self.operand = torch.arange(12.0).reshape(3, 4)
        # Trying instruction sets takes longer than three packages, too.
        scalar = mock.patch.object(cpu_vec_isa, "valid_vec_isa_list", lambda: [])
        scalar.start()
        self.addCleanup(scalar.stop)
        original = codecache.AotCodeCompiler.__dict__["compile"]
        self.addCleanup(setattr, codecache.AotCodeCompiler, "compile", original)

    def package(self, factor, **options):
        program = torch.export.export(Scaled(factor), (self.operand,))
        path = os.path.join(self.folder, f"by_{factor}.pt2")
        return torch._inductor.aoti_compile_and_package(
            program, package_path=path, inductor_configs={**OPTIONS, **options}
        )

    def source(self, package):
        with zipfile.ZipFile(package) as file:
            (name,) = (name for name in file.namelist() if name.endswith(".wrapper.cpp"))
            return file.read(name).decode()

    def library(self, package):
        with zipfile.ZipFile(package) as file:
            (name,) = (name for name in file.namelist() if name.endswith(".so"))
            return ctypes.CDLL(file.extract(name, self.folder), mode=os.RTLD_NOW)

    def objects(self):
        return [name for name in os.listdir(self.folder) if name.endswith(".o")]

    def test_packages_of_one_command_share_one_object(self):
        share_runtime.share(self.folder)
        fast = {LEVEL: "O0"}
        interface = os.path.join(os.path.dirname(cpp_wrapper_cpu.__file__), "aoti_runtime", "interface.cpp")
        with open(interface) as file:
            functions = set(re.findall(r"^AOTIRuntimeError (AOTInductor\w+)\(", file.read(), re.MULTILINE))
        self.assertGreater(len(functions), 20)
        for factor, options, objects in ((2, fast, 1), (3, fast, 1), (5, {LEVEL: "O1"}, 2)):
            with self.subTest(factor=factor):
                package = self.package(factor, **options)
                self.assertEqual(len(self.objects()), objects)
                self.assertNotIn("AOTInductorModelContainerRun(", self.source(package))
                library = self.library(package)
                self.assertEqual([name for name in functions if not hasattr(library, name)], [])
                model, operands = ctypes.c_void_p(), ctypes.c_size_t()
                create = library.AOTInductorModelContainerCreateWithDevice
                self.assertEqual(create(ctypes.byref(model), ctypes.c_size_t(1), b"cpu", None), 0)
                self.assertEqual(library.AOTInductorModelContainerGetNumInputs(model, ctypes.byref(operands)), 0)
                self.assertEqual(operands.value, 1)
                self.assertEqual(library.AOTInductorModelContainerDelete(model), 0)

    def test_shared_parts_are_compiled_ahead(self):
        """Headers as well: all common parts of packages are there before the first of them."""

        def prepared(*suffixes):
            paths = [os.path.join(place, name) for place, _, names in os.walk(self.folder) for name in names]
            return {path: os.stat(path).st_mtime_ns for path in paths if path.endswith(suffixes)}

        share_runtime.share(self.folder)
        options = {LEVEL: "O0", "aot_inductor.precompile_headers": True}
        with mock.patch.multiple(codecache, _HEADER_DIR=self.folder, _HEADER_LOCK_DIR=self.folder):
            compile_packages.compile_shared_parts(None, {"device": "cpu", "options": options}, self.folder)
            made = prepared(".o", ".gch")
            self.assertEqual(len(prepared(".o")), 1)
            self.assertGreater(len(prepared(".gch")), 0)
            self.package(2, **options)
        self.assertEqual(prepared(".o", ".gch"), made)

    def test_packages_of_source_code_are_whole(self):
        share_runtime.share(self.folder)
        package = self.package(7, **{"aot_inductor.package_cpp_only": True})
        self.assertIn("AOTInductorModelContainerRun(", self.source(package))
        self.assertEqual(self.objects(), [])

    def test_another_inductor_compiles_as_it_does(self):
        errors = io.StringIO()
        original = codecache.AotCodeCompiler.compile
        builder = codecache.CppBuilder
        self.addCleanup(setattr, codecache, "CppBuilder", builder)
        del codecache.CppBuilder
        with contextlib.redirect_stderr(errors):
            share_runtime.share(self.folder)
        self.assertEqual(codecache.AotCodeCompiler.compile, original)
        self.assertIn("each package is compiled whole, which takes longer: AttributeError", errors.getvalue())

    def test_a_text_that_is_not_there_changes_nothing(self):
        seen = []

        class Compiler:
            @classmethod
            def compile(cls, graph, wrapper_code, kernel_code, *, device_type):
                seen.append((graph, wrapper_code, kernel_code, device_type, codecache.CppBuilder))
                return "result"

        with mock.patch.object(codecache, "AotCodeCompiler", Compiler):
            share_runtime.share(self.folder)
            self.assertEqual(Compiler.compile("graph", "wrapper", "kernel", device_type="cpu"), "result")
        self.assertEqual(seen, [("graph", "wrapper", "kernel", "cpu", codecache.CppBuilder)])


if __name__ == "__main__":
    unittest.main()
