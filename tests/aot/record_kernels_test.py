"""The records of record_kernels.py, by hand-worked figures. inductor_script_test.sh runs this.

Code for the CPU is generated, and in one test compiled. For a GPU it is only generated: stand-ins replace the calls of
the driver, so no GPU is needed.
"""

import contextlib
import glob
import io
import json
import os
import re
import tempfile
import types
import unittest
import zipfile
from unittest import mock

import torch
import torch._inductor.compile_fx
from torch._inductor.codegen.cpp import CppScheduling
from torch._inductor.decomposition import select_decomp_table
from torch._inductor.graph import GraphLowering
from torch._inductor.virtualized import V
from torch._subclasses.fake_tensor import FakeTensorMode
from torch.fx.experimental.proxy_tensor import make_fx

import record_kernels

ROWS, INNER, COLUMNS = 256, 512, 384
FLOAT = 4  # bytes


def network(x, w, b):
    y = torch.relu(torch.addmm(b, x * 2 + 1, w))
    return torch.softmax(y, -1), y.sum(0)


SIZES = ((ROWS, INNER), (INNER, COLUMNS), (COLUMNS,))
PRODUCT = FLOAT * (ROWS * INNER + INNER * COLUMNS + COLUMNS + ROWS * COLUMNS)


@contextlib.contextmanager
def pretended_gpu():
    """As much of a GPU as Inductor asks for before it compiles the code that it has written."""
    from torch._inductor.runtime.hints import DeviceProperties

    facts = {"multi_processor_count": 132, "major": 9, "max_threads_per_multi_processor": 2048, "warp_size": 32}
    facts.update(regs_per_multiprocessor=65536, max_threads_per_block=1024)
    device = types.SimpleNamespace(name="pretended", minor=0, total_memory=1 << 36, **facts)
    device.shared_memory_per_block_optin = 232448
    with contextlib.ExitStack() as stack:
        for name, value in {
            "torch.cuda.is_available": lambda: True,
            "torch.cuda.device_count": lambda: 1,
            "torch.cuda.current_device": lambda: 0,
            "torch.cuda._lazy_init": lambda: None,
            "torch.cuda.get_device_properties": lambda *_: device,
            "torch.cuda.get_device_capability": lambda *_: (9, 0),
            "torch._subclasses.fake_tensor.init_gpu_context": lambda *_: None,
            "torch._inductor.scheduler.has_triton": lambda: True,
            "torch.utils._triton.triton_backend": lambda: types.SimpleNamespace(hash=lambda: "pretended"),
            "torch._inductor.runtime.hints.DeviceProperties.create": lambda _: DeviceProperties(
                type="cuda", index=0, cc=90, **facts
            ),
        }.items():
            stack.enter_context(mock.patch(name, value))
        yield


def tensors(sizes, device):
    return [torch.empty(size, device=device) for size in sizes]


def generate(function, make_tensors, recording=None, passes=1):
    """The code that Inductor writes, which is never compiled."""
    with FakeTensorMode() as mode:
        operands = make_tensors()
    traced = make_fx(function, decomposition_table=select_decomp_table(), tracing_mode="fake")(*operands)
    graph = GraphLowering(traced, example_inputs=operands)
    debug = torch._inductor.debug.DebugContext()
    with V.set_graph_handler(graph), V.set_debug_handler(debug), V.set_fake_mode(mode), torch.no_grad():
        graph.run(*operands)
        for _ in range(passes):
            code, _ = graph.codegen()
    return code.value


def record(function, make_tensors, **options):
    with record_kernels.recorded() as recording:
        generate(function, make_tensors, **options)
    return recording


def errors_of(function):
    """The lines of progress."""
    with contextlib.redirect_stderr(io.StringIO()) as errors:
        result = function()
    return result, [line for line in errors.getvalue().splitlines() if line.startswith("pace: ")]


class Kernels(unittest.TestCase):
    def check(self, kernels, expected):
        """`expected`: (kind, category, bytes) of each."""
        self.assertEqual([(k["kind"], k["category"], k["bytes"]) for k in kernels], expected)

    def test_cpu(self):
        make = lambda: tensors(SIZES, "cpu")
        plain = generate(network, make)
        with record_kernels.recorded() as recording:
            self.assertEqual(generate(network, make), plain)
        recording, told = errors_of(lambda: record(network, make))
        self.assertEqual(told, [])
        self.assertIsNone(recording.problem)
        kernels = recording.kernels
        self.check(
            kernels,
            [
                ("cpp", "pointwise", FLOAT * 2 * ROWS * INNER),
                ("external", None, PRODUCT),
                # One function: the buffer between its loops is its own.
                ("cpp", "reduction", FLOAT * (2 * ROWS * COLUMNS + COLUMNS)),
            ],
        )
        self.assertEqual(kernels[1]["name"], "aten::addmm")
        self.assertEqual(kernels[0]["arguments"], ["in_ptr0", "out_ptr0"])
        self.assertEqual([k["calls"] for k in kernels], [1, 1, 1])
        self.assertEqual(len({kernels[0]["key"], kernels[2]["key"], None}), 3)
        for kernel in (kernels[0], kernels[2]):
            self.assertTrue(kernel["name"].startswith("cpp_fused_"), kernel["name"])
            self.assertEqual(kernel["range"], kernel["name"])

    def test_triton(self):
        make = lambda: tensors(SIZES, "cuda:0")
        with pretended_gpu():
            plain = generate(network, make)
            with record_kernels.recorded() as recording:
                code = generate(network, make)
        self.assertEqual(code, plain)
        kernels = recording.kernels
        self.check(
            kernels[:3],
            [
                ("triton", "pointwise", FLOAT * 2 * ROWS * INNER),
                ("external", None, PRODUCT),
                ("triton", "persistent_reduction", FLOAT * 2 * ROWS * COLUMNS),
            ],
        )
        # The sum over rows may be split into parts.
        sums = kernels[3:]
        self.assertGreaterEqual(sum(k["bytes"] for k in sums), FLOAT * (ROWS * COLUMNS + COLUMNS))
        self.assertEqual([k for k in sums if not k["category"].endswith("reduction")], [])
        self.assertEqual(kernels[0]["arguments"], ["in_ptr0", "out_ptr0", "xnumel", "XBLOCK"])
        self.assertEqual(kernels[0]["argument_bytes"], [FLOAT * ROWS * INNER] * 2 + [None])
        self.assertIsNone(kernels[1]["argument_bytes"])
        for kernel in kernels:
            if kernel["kind"] == "triton":
                self.assertIn(f"async_compile.triton('{kernel['name']}'", code)
                self.assertIn(f"/{kernel['key']}.py", code)  # where Inductor keeps the source

    def test_equal_kernels_are_one_and_each_call_of_an_operator_is_its_own(self):
        def function(x, w):
            for _ in range(3):
                x = torch.mm(torch.sin(x), w)
            return x

        def check(kind, device):
            size = 128
            kernels = record(function, lambda: tensors([(size, size)] * 2, device)).kernels
            sines = [k for k in kernels if k["kind"] == kind]
            # The input must stay; everything after it is overwritten.
            self.assertEqual([(k["calls"], k["bytes"]) for k in sines], [(n, FLOAT * 2 * size**2) for n in (1, 2)])
            self.assertRegex(sines[1]["arguments"][0], "^in_out_ptr")
            products = [k for k in kernels if k["kind"] == "external"]
            self.assertEqual([(k["calls"], k["bytes"]) for k in products], [(1, FLOAT * 3 * size**2)] * 3)

        check("cpp", "cpu")
        with pretended_gpu():
            check("triton", "cuda:0")

    def test_only_touched_memory_counts(self):
        def slices(x, i):
            return x[:, ::4] * 3, x[i] + 1

        def make():
            return [torch.empty(64, 128), torch.empty(10, dtype=torch.int64)]

        (kernel,) = record(slices, make).kernels
        part, rows = 64 * 32, 10 * 128
        # Read by two ways, each as far as it goes; written; the indices.
        self.assertEqual(kernel["bytes"], FLOAT * (part + rows + part + rows) + 8 * 10)

        def broadcast(x, row):
            return x + row

        (kernel,) = record(broadcast, lambda: tensors([(64, 128), (128,)], "cpu")).kernels
        self.assertEqual(kernel["bytes"], FLOAT * (2 * 64 * 128 + 128))

        def in_place(x):
            return x.add_(1)

        (kernel,) = record(in_place, lambda: tensors([(64, 128)], "cpu")).kernels
        self.assertEqual(kernel["bytes"], FLOAT * 2 * 64 * 128)

        def part_of_zeros(x):
            zeros = torch.zeros(64, 128)
            zeros[:4] += x
            return zeros

        kernels = record(part_of_zeros, lambda: tensors([(4, 128)], "cpu")).kernels
        self.assertEqual(sum(k["bytes"] for k in kernels), FLOAT * (64 * 128 + 4 * 128))

    def test_products_and_convolutions_only(self):
        def bytes_of(function, *sizes):
            kernels = record(function, lambda: tensors(sizes, "cpu")).kernels
            return {k["name"]: k["bytes"] for k in kernels if k["kind"] == "external"}

        def convolve(**options):
            return lambda x, w: torch.conv2d(x, w, **options)

        image, weight = (2, 3, 16, 16), (8, 3, 3, 3)
        whole = FLOAT * (2 * 3 * 256 + 8 * 27 + 2 * 8 * 256)
        self.assertEqual(bytes_of(convolve(padding=1), image, weight), {"aten::convolution": whole})
        # Windows that leave out part of the image.
        self.assertEqual(bytes_of(convolve(stride=2), image, (8, 3, 1, 1)), {"aten::convolution": None})
        self.assertEqual(bytes_of(convolve(dilation=2, stride=2), image, weight), {"aten::convolution": None})
        self.assertEqual(bytes_of(lambda x: torch.sort(x)[0], (3, 5)), {"aten::sort": None})
        # One row for all: its memory is read once.
        batched = bytes_of(lambda a, b: torch.bmm(a.expand(4, 8, 8), b), (1, 8, 8), (4, 8, 8))
        self.assertEqual(batched, {"aten::bmm": FLOAT * (64 + 2 * 256)})

    def test_a_graph_written_twice_counts_once(self):
        once = record(network, lambda: tensors(SIZES, "cpu")).kernels
        twice = record(network, lambda: tensors(SIZES, "cpu"), passes=2).kernels
        self.assertEqual([k["calls"] for k in twice], [k["calls"] for k in once])
        self.assertEqual([k["bytes"] for k in twice], [k["bytes"] for k in once])

    def test_no_kernel_is_not_nothing_known(self):
        recording = record(lambda x: x.t(), lambda: tensors([(2, 3)], "cpu"))
        self.assertEqual((recording.kernels, recording.problem), ([], None))


class Changes(unittest.TestCase):
    """Versions of Inductor that are not as expected."""

    def expect_problem(self, start):
        recording, told = errors_of(lambda: record(network, lambda: tensors(SIZES, "cpu")))
        self.assertIsNone(recording.kernels)
        self.assertIsNone(recording.facts()["kernels"])
        self.assertTrue(recording.problem.startswith(start), recording.problem)
        self.assertEqual(told, ["pace: what kernels there are is not recorded: " + recording.problem])

    def test_a_method_that_is_gone(self):
        gone = ("codegen.cpp", "CppScheduling", "no_such_method", record_kernels.define_cpp)
        with mock.patch.object(record_kernels, "HOOKS", (*record_kernels.HOOKS, gone)):
            self.expect_problem("this Inductor has no CppScheduling.no_such_method")

    def test_a_module_that_is_gone(self):
        gone = ("codegen.no_such_module", "CppScheduling", "define_kernel", record_kernels.define_cpp)
        with mock.patch.object(record_kernels, "HOOKS", (*record_kernels.HOOKS, gone)):
            self.expect_problem("this Inductor has no CppScheduling.define_kernel")

    def test_arguments_of_other_names(self):
        original = CppScheduling.define_kernel

        def define_kernel(self, text, schedule):
            return original(self, text, schedule)

        with mock.patch.object(CppScheduling, "define_kernel", define_kernel):
            self.expect_problem("CppScheduling.define_kernel is not what it was: TypeError")

    def test_an_estimate_that_fails_is_not_known(self):
        with mock.patch.object(record_kernels, "bytes_of_nodes", side_effect=KeyError("buf7")):
            kernels = record(network, lambda: tensors(SIZES, "cpu")).kernels
        self.assertEqual([k["bytes"] for k in kernels], [None, PRODUCT, None])

    def test_nothing_was_compiled(self):
        def nothing():
            with record_kernels.recorded() as recording:
                pass
            return recording

        recording, told = errors_of(nothing)
        self.assertEqual(recording.facts(), {"kernels": None, "problem": "Inductor compiled nothing"})
        self.assertEqual(len(told), 1)

    def test_all_is_as_before(self):
        methods = (*record_kernels.HOOKS, ("graph", "GraphLowering", "codegen", None))

        def present():
            modules = [record_kernels.importlib.import_module("torch._inductor." + module) for module, *_ in methods]
            return [vars(getattr(m, owner))[name] for m, (_, owner, name, _) in zip(modules, methods)]

        before = present()
        with self.assertRaises(ZeroDivisionError), record_kernels.recorded():
            self.assertTrue(all(a is not b for a, b in zip(before, present())))
            raise ZeroDivisionError
        self.assertTrue(all(a is b for a, b in zip(before, present())))


class Package(unittest.TestCase):
    """Compiled for real."""

    class Model(torch.nn.Module):
        def forward(self, x, w, b):
            return network(x, w, b)

    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)

    def sources(self, package):
        """Inductor's files, by their kind. From one program it makes, at two times, other names for lists of numbers,
        so their values take the place of their names; comments tell where it was written."""

        def settled(text):
            text = re.sub(r"^//.*\n|^\n", "", text, flags=re.MULTILINE)
            declaration = r"^ *static constexpr int64_t (int_array_\d+)\[\] = (\{.*\});\n"
            values = dict(re.findall(declaration, text, re.MULTILINE))
            text = re.sub(declaration, "", text, flags=re.MULTILINE)
            return re.sub(r"\bint_array_\d+\b", lambda name: values[name.group()], text)

        with zipfile.ZipFile(package) as files:
            names = [name for name in files.namelist() if name.endswith(".cpp")]
            return {name.rsplit(".", 2)[1]: settled(files.read(name).decode()) for name in names}

    def test_package(self):
        path = os.path.join(self.folder.name, "net.v2.pt2")
        operands = (torch.randn(*SIZES[0]), torch.randn(SIZES[1]).half().float(), torch.randn(*SIZES[2]))
        program = torch.export.export(self.Model(), operands)
        package, facts_path = record_kernels.aoti_compile_and_package(program, package_path=path)
        self.assertEqual((package, facts_path), (path, os.path.join(self.folder.name, "net.v2.json")))
        with open(facts_path) as file:
            facts = json.load(file)
        self.assertEqual(facts["torch"], torch.__version__)
        self.assertIsNone(facts["problem"])
        self.assertEqual([i["sizes"] for i in facts["inputs"]], [list(size) for size in SIZES])
        first = {"sizes": [ROWS, INNER], "strides": [INNER, 1], "dtype": "float32", "device": "cpu"}
        self.assertEqual(facts["inputs"][0], first)
        self.assertEqual([k["kind"] for k in facts["kernels"]], ["cpp", "external", "cpp"])
        self.assertEqual(facts["kernels"][1]["range"], "aoti_torch_cpu_addmm_out")
        text = "".join(self.sources(path).values())
        for kernel in facts["kernels"]:
            self.assertIn(kernel["range"] + "(", text)
        # The same without a recording.
        plain = os.path.join(self.folder.name, "plain.pt2")
        torch._inductor.aoti_compile_and_package(program, package_path=plain)
        self.assertEqual(set(self.sources(plain)), {"kernel", "wrapper"})
        for kind, source in self.sources(plain).items():
            self.assertEqual(source, self.sources(path)[kind])

    def test_a_file_of_somebody_else_stays(self):
        theirs = os.path.join(self.folder.name, "net.json")
        for text in ('{"hidden_size": 8}', "no JSON"):
            with open(theirs, "w") as file:
                file.write(text)
            with self.assertRaisesRegex(FileExistsError, "net.json is where the package's kernels would be kept"):
                record_kernels.aoti_compile_and_package(None, package_path=os.path.join(self.folder.name, "net.pt2"))
            with open(theirs) as file:
                self.assertEqual(file.read(), text)
        self.assertEqual(glob.glob(self.folder.name + "/*.pt2"), [])

    def test_inputs_that_are_no_tensors(self):
        program = types.SimpleNamespace(example_inputs=((torch.randn(2), 3), {}))
        self.assertIsNone(record_kernels.inputs_of(program))
        named = {"k": torch.zeros(1, dtype=torch.int8)}
        nested = types.SimpleNamespace(example_inputs=(([torch.randn(2, 3).t()],), named))
        self.assertEqual(
            record_kernels.inputs_of(nested),
            [
                {"sizes": [3, 2], "strides": [1, 3], "dtype": "float32", "device": "cpu"},
                {"sizes": [1], "strides": [1], "dtype": "int8", "device": "cpu"},
            ],
        )


if __name__ == "__main__":
    unittest.main()
