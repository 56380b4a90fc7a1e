"""The records of record_configurations.py: kernels that Inductor writes for a pretended GPU and Triton really compiles
for it, which needs no GPU. Only their runs are pretended. Run by inductor_script_test.sh."""

import contextlib
import importlib.util
import io
import json
import os
import re
import tempfile
import types
import unittest
from unittest import mock

import torch
import torch._inductor.runtime.triton_helpers as triton_helpers
from torch._inductor import config
from torch._inductor.runtime.triton_heuristics import CachingAutotuner

import record_configurations
import record_kernels
from record_kernels_test import generate, pretended_gpu, tensors

ROWS, COLUMNS = 4096, 512


def reduction(x):
    return torch.relu(x * 2 + 1).sum(1)


def autotuner(folder):
    """Of the only kernel of the reduction, with all its configurations."""
    code = generate(reduction, lambda: tensors(((ROWS, COLUMNS),), "cuda"))
    ((name, source),) = re.findall(r"async_compile\.triton\('(\w+)', '''(.*?)'''", code, re.DOTALL)
    path = os.path.join(folder, name + ".py")
    with open(path, "w") as file:
        file.write(source)
    spec = importlib.util.spec_from_file_location(name, path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return name, getattr(module, name)


def arguments_of(kernel):
    values = {"xnumel": ROWS, "r0_numel": COLUMNS}
    settings = kernel.compile_results[0].config.kwargs
    return [values.get(argument) for argument in kernel.triton_meta["signature"] if argument not in settings]


class Configurations(unittest.TestCase):
    def setUp(self):
        stack = contextlib.ExitStack()
        self.addCleanup(stack.close)
        self.folder = stack.enter_context(tempfile.TemporaryDirectory())
        for each in (
            pretended_gpu(),
            mock.patch.object(triton_helpers, "set_driver_to_gpu", lambda: None),
            config.patch(max_autotune=True, use_static_triton_launcher=False),
            mock.patch.dict(os.environ, {"TRITON_CACHE_DIR": os.path.join(self.folder, "triton")}),
        ):
            stack.enter_context(each)
        self.name, self.kernel = autotuner(self.folder)
        self.kernel._precompile_worker()
        self.results = self.kernel.compile_results
        self.assertGreater(len(self.results), 1)

    def run_kernel(self, **patches):
        """As Inductor's run does: at its end one launcher is left, here the second one's."""

        def run(autotuner, *_, **__):
            autotuner.launchers = [types.SimpleNamespace(config=self.results[1].config)]
            return "what the kernel returned"

        cubins = os.path.join(self.folder, "model.cubins")
        with mock.patch.object(CachingAutotuner, "run", run):
            with record_configurations.recorded(cubins) as kept, contextlib.redirect_stderr(io.StringIO()) as errors:
                arguments = arguments_of(self.kernel)
                for _ in range(2):
                    self.assertEqual(self.kernel.run(*arguments, stream=None), "what the kernel returned")
            self.assertIs(CachingAutotuner.run, run)
        return kept, errors.getvalue()

    def test_all_are_kept(self):
        kept, errors = self.run_kernel()
        self.assertEqual(errors, "")
        self.assertIsNone(kept.of("another"))
        configurations = kept.of(self.name)
        self.assertEqual(len(configurations), len(self.results))
        self.assertEqual([each["chosen"] for each in configurations].index(True), 1)
        self.assertEqual(sum(each["chosen"] for each in configurations), 1)
        for each in configurations:
            self.assertIn(f"XBLOCK: {each['config']['XBLOCK']}, ", each["printed"])
            self.assertEqual(each["symbol"], self.name)
            self.assertEqual(each["grid"], [-(-ROWS // each["config"]["XBLOCK"]), 1, 1])
            self.assertEqual(each["warps"], each["config"]["num_warps"])
            with open(each["file"], "rb") as file:
                self.assertEqual(file.read(4), b"\x7fELF")
        self.assertEqual(len({each["file"] for each in configurations}), len(configurations))

    def test_one_that_cannot_be_launched_alone(self):
        scratch = self.results[0].kernel.metadata._replace(global_scratch_size=16)
        self.results[0].kernel.metadata = scratch
        kept, errors = self.run_kernel()
        self.assertIsNone(kept.of(self.name))
        self.assertIn(f"pace: the configurations of {self.name} are not kept: NotImplementedError", errors)

    def test_beside_the_package(self):
        package = os.path.join(self.folder, "model.pt2")

        def compile_package(program, package_path, **_):
            path = os.path.splitext(package_path)[0] + ".json"
            self.kernel.run(*arguments_of(self.kernel), stream=None)
            with open(path, "w") as file:
                json.dump({"inputs": [], "kernels": [{"name": self.name}, {"name": "aten::addmm"}]}, file)
            return package_path, path

        def run(autotuner, *_, **__):
            autotuner.launchers = [types.SimpleNamespace(config=self.results[0].config)]

        with mock.patch.object(CachingAutotuner, "run", run):
            with mock.patch.object(record_kernels, "aoti_compile_and_package", compile_package):
                _, path = record_configurations.aoti_compile_and_package(None, package)
        with open(path) as file:
            kernels = json.load(file)["kernels"]
        files = [each["file"] for each in kernels[0]["configurations"]]
        self.assertEqual(files[0], f"model.cubins/{self.name}-0.cubin")
        for file in files:
            self.assertTrue(os.path.exists(os.path.join(self.folder, file)), file)
        self.assertIsNone(kernels[1]["configurations"])


if __name__ == "__main__":
    unittest.main()
