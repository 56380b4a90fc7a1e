R"""py(
Records Inductor's facts of a package's kernels while it compiles them, and keeps them beside the package.

    import record_kernels
    record_kernels.aoti_compile_and_package(program, package_path="model.pt2")  # as torch._inductor's; and model.json

or around anything that makes Inductor compile a graph:

    with record_kernels.recorded() as recording:
        ...
    recording.kernels  # a list, in the order of first calls; None: not known, and `recording.problem` says why

MODEL.json, which package_facts.hpp reads, holds an object with
    inputs   of each operand {"sizes", "strides", "dtype", "device"}; null where an operand is no plain tensor
    kernels  null, or of each kernel that Inductor wrote, and of each call of an operator that it left to LibTorch,
        name       as the profiler and the driver tell it; the operator (`aten::addmm`) of a call of LibTorch
        kind       `triton`, `cpp` or `external`
        category   `pointwise`, `reduction`, ..., as wrapper_benchmark.py says of a Triton kernel's source; of C++
                   whether its nodes reduce, or are a template; null: not known
        key        of the source, as Inductor's code cache names it; null for a call of LibTorch
        bytes      that one call must read and write, null where that is not known. Triton: Inductor's own estimate.
                   C++: by the same rules, each buffer as far as it is indexed and at most whole, without buffers
                   that only the kernel itself uses. Where the index is data, as many elements as there are
                   indices. LibTorch: products and convolutions.
        arguments  their names, in order; null for a call of LibTorch
        argument_bytes  of each argument of a call of a Triton kernel, in order, the bytes of the whole tensor; null for
                   one that is no tensor. Null where that is not known, or differs between calls
        range      the name that a package compiled with `cpp.enable_kernel_profile` announces on the CPU, less a
                   `graph_N_` that may stand before it; null: none, or not known
        calls      in one run; null in the branches of a graph, which may run or not
    problem  why something of this is null as a whole; null otherwise
With several models in one package, `models` holds such an object for each by its name, in the place of the fields.

Inductor's methods are replaced while the recording lasts, by ones that call them and look on: the code does not change.
If a version of Inductor has no such methods, or others, a line on standard error says so, and nothing fails.

The first line and the last make this file a C++ raw string literal as well, for package_key.hpp.
"""

import contextlib
import functools
import importlib
import inspect
import json
import math
import os
import re
import sys


class Recording:
    """The facts seen of the graphs that were compiled."""

    def __init__(self):
        self.problem = "Inductor compiled nothing"
        self._failed = False
        self._open = []  # graphs whose code is being written
        self._done = []

    @property
    def kernels(self):
        """Of the graph that was compiled last."""
        return None if self.problem else self._done[-1].kernels()

    def facts(self):
        """As they stand in the file."""
        return {"kernels": self.kernels, "problem": self.problem}

    def fail(self, problem):
        if not self._failed:
            self._failed, self.problem = True, problem

    def begin(self):
        self._open.append(Graph())

    def end(self, keep):
        graph = self._open.pop()
        if keep:
            self._done.append(graph)
            self.problem = self.problem if self._failed else None

    @property
    def graph(self):
        return self._open[-1]


class Graph:
    def __init__(self):
        self.argument_bytes = {}  # by name, the bytes of each call
        self.definitions = {}  # by name
        self.steps = []
        self.written = {}  # by name, those steps that Inductor wrote

    def define(self, name, **facts):
        self.definitions.setdefault(name, {"bytes": set()}).update(facts)

    def call(self, name, kind, calls, **facts):
        """`calls`: 1, or None where that is not known."""
        step = self.written.get(name)
        if step is None or kind == "external":  # each call of an operator is a step of its own
            step = self.written[name] = {"name": name, "kind": kind, "calls": 0, **facts}
            self.steps.append(step)
        step["calls"] = None if calls is None or step["calls"] is None else step["calls"] + calls

    def kernels(self):
        def described(step):
            known = {**step, **self.definitions.get(step["name"], {})}
            if isinstance(known.get("bytes"), set):  # calls may differ in their arguments
                known["bytes"] = next(iter(known["bytes"])) if len(known["bytes"]) == 1 else None
            calls = self.argument_bytes.get(step["name"], ())
            known["argument_bytes"] = calls[0] if calls and calls.count(calls[0]) == len(calls) else None
            fields = ("name", "kind", "category", "key", "bytes", "arguments", "argument_bytes", "range", "calls")
            return {field: known.get(field) for field in fields}

        return [described(step) for step in self.steps]


def quietly(function, *arguments):
    """The value of a detail, or None where Inductor cannot say."""
    try:
        return function(*arguments)
    except Exception:  # its estimates raise anything: NotImplementedError, TypeError for symbolic sizes, ...
        return None


def elements(dependency):
    """How many elements a node reads or writes by one index."""
    from torch._inductor.virtualized import V

    whole = int(V.graph.get_numel(dependency.name))
    if not hasattr(dependency, "size"):  # a StarDep
        return whole
    steps = math.prod(int(size) for size in dependency.size)
    return min(whole, steps if dependency.is_indirect() else int(dependency.get_numel()))


def bytes_of_nodes(nodes):
    """That a kernel made of these nodes, in this order, must read and write. Throws where sizes are symbolic."""
    from torch._inductor.dependencies import WeakDep
    from torch._inductor.virtualized import V

    nodes = [part for node in nodes for part in node.get_nodes()]
    inside, made, seen, accesses = {node.get_name() for node in nodes}, set(), set(), {}

    def access(dependency, how):
        """A node that writes to a buffer in place gives it another name."""
        name = V.graph.scheduler.mutation_real_name.get(dependency.name, dependency.name)
        if how == "written" or not (name in made or isinstance(dependency, WeakDep)):
            accesses.setdefault((name, how), set()).add(dependency)
        return name

    for node in nodes:
        for dependency in node.read_writes.reads:
            access(dependency, "read")
        for dependency in node.read_writes.writes:
            made.add(access(dependency, "written"))
            users = V.graph.scheduler.name_to_buf[dependency.name].users
            if any(user.node.get_name() not in inside for user in users):
                seen.add(access(dependency, "written"))
    return sum(
        V.graph.get_dtype(name).itemsize * min(int(V.graph.get_numel(name)), sum(map(elements, dependencies)))
        for (name, how), dependencies in accesses.items()
        if how == "read" or name in seen
    )


def bytes_of_triton(kernel, nodes):
    symbolic = any(not str(size).isdigit() for size in getattr(kernel, "numels", {}).values())
    if hasattr(kernel, "estimate_kernel_num_bytes"):
        return None if symbolic else int(kernel.estimate_kernel_num_bytes())
    return bytes_of_nodes(nodes)


def reads_everything(node):
    """Whether a convolution reads all of its input: windows may leave some out."""
    origin = node.get_origin_node()
    image, weight, _, strides, paddings, dilations, transposed = origin.args[:7]
    if transposed:
        return True
    kernel = weight.meta["val"].shape[2:]
    sizes = image.meta["val"].shape[2:]
    return all(
        d == 1 and s <= k and (n + 2 * p - k) % s <= p
        for n, k, s, p, d in zip(sizes, kernel, strides, paddings, dilations, strict=True)
    )


def bytes_of_operator(node, operator):
    """Of operators that read all of their operands and write one tensor."""
    if operator == "aten::convolution":
        if not reads_everything(node):
            return None
    elif operator not in ("aten::mm", "aten::addmm", "aten::bmm", "aten::baddbmm"):
        return None
    elif node.kwargs.get("beta", 1) == 0:
        return None
    return sum(
        tensor.get_dtype().itemsize
        * math.prod(int(n) for n, stride in zip(tensor.get_size(), tensor.get_stride()) if stride != 0)
        for tensor in (*node.inputs, node)
    )


def operator_of(node):
    """`aten::addmm`; None for a node that calls nothing, such as one part of a result."""
    from torch._inductor import ir
    from torch._ops import OpOverload

    if isinstance(node, ir.MultiOutput):
        return None
    if isinstance(getattr(node, "op_overload", None), OpOverload):
        return node.op_overload._schema.name
    name = getattr(node, "python_kernel_name", None)
    if not isinstance(name, str):
        return None
    parts = name.removeprefix("torch.ops.").split(".")
    return "::".join(("aten" if parts[0] == "extern_kernels" else parts[0], *parts[1:2]))


def range_of(node, operator):
    """By the callee of the C++ wrapper: a function of LibTorch's C interface, or the dispatcher, which gets the
    operator."""
    from torch._inductor import ir
    from torch._inductor.virtualized import V

    if isinstance(node, (ir.ScatterFallback, ir.IndexPutFallback)) or not V.graph.cpp_wrapper:
        return None
    if getattr(node, "use_runtime_dispatch", False):
        return operator
    return V.graph.wrapper_code.get_c_shim_func_name(node.get_kernel_name(), node.get_device().type)


def calls_of_one_run():
    from torch._inductor.graph import SubgraphLowering
    from torch._inductor.virtualized import V

    return None if isinstance(V.graph, SubgraphLowering) else 1


def define_triton(graph, name, src_code, node_schedule, kernel, **_):
    from torch._inductor.scheduler import BaseSchedulerNode
    from torch._inductor.utils import Placeholder
    from torch._inductor.wrapper_benchmark import get_kernel_category_by_source_code

    category = get_kernel_category_by_source_code(src_code)
    arguments = re.search(rf"^def {Placeholder.KERNEL_NAME}\((.*?)\):", src_code, re.MULTILINE | re.DOTALL)
    nodes = [node for node in node_schedule if isinstance(node, BaseSchedulerNode)]
    graph.define(
        name,
        category=None if category == "unknown" else category,
        arguments=arguments and [part.split(":")[0].strip() for part in arguments.group(1).split(",") if part.strip()],
    )
    graph.definitions[name]["bytes"].add(quietly(bytes_of_triton, kernel, nodes))


def define_cpp(graph, name, self, nodes, kernel_args=None, **_):
    arguments, _, _ = (kernel_args or self.kernel_group.args).cpp_argdefs()
    template = any(node.is_template() for node in nodes)
    reduces = any(node.is_reduction() for node in nodes)
    graph.define(
        name,
        category="template" if template else "reduction" if reduces else "pointwise",
        arguments=[argument.split()[-1].lstrip("*&") for argument in arguments],
        range=name,
    )
    graph.definitions[name]["bytes"].add(quietly(bytes_of_nodes, nodes))


def define_source(graph, _, kernel_name, kernel_body, metadata=None, **__):
    from torch._inductor.codecache import code_hash

    path = re.search(r"kernel path: (\S+)", metadata or "")
    key = os.path.splitext(os.path.basename(path.group(1)))[0] if path else code_hash(kernel_body)
    graph.define(kernel_name, key=key)


def bytes_of_arguments(names, types, nodes):
    """Of each argument, by its name in the wrapper's code or, where the code has one, by its node; the type of a tensor
    is its dtype. Throws where sizes are symbolic."""
    import torch
    from torch._inductor.virtualized import V

    def size(name, node):
        return int(node.get_numel() if hasattr(node, "get_numel") else V.graph.get_numel(name))

    return [
        kind.itemsize * size(name, node) if isinstance(kind, torch.dtype) else None
        for name, kind, node in zip(names, types, nodes or [None] * len(names), strict=True)
    ]


def call_kernel(
    graph, _, kernel_name, call_args=(), device=None, triton=True, arg_types=None, raw_keys=None, raw_args=None, **__
):
    from torch._inductor.virtualized import V

    device = device or V.graph.get_current_device_or_throw()
    kind = "triton" if triton and device.type != "cpu" else "cpp" if device.type == "cpu" else "external"
    graph.call(kernel_name, kind, calls_of_one_run(), arguments=list(raw_keys) if raw_keys else None)
    if kind == "triton":
        sizes = quietly(bytes_of_arguments, call_args, arg_types, raw_args)
        graph.argument_bytes.setdefault(kernel_name, []).append(sizes)


def call_operator(graph, _, scheduler_node, **__):
    node = scheduler_node.node
    operator = operator_of(node)
    if operator is not None:
        size, announced = quietly(bytes_of_operator, node, operator), quietly(range_of, node, operator)
        graph.call(operator, "external", calls_of_one_run(), bytes=size, range=announced)


HOOKS = (  # functions called after each of Inductor's methods, with its result and, by their names, its arguments
    ("codegen.triton", "TritonScheduling", "define_kernel", define_triton),
    ("codegen.cpp", "CppScheduling", "define_kernel", define_cpp),
    ("codegen.wrapper", "PythonWrapperCodegen", "define_kernel", define_source),
    ("codegen.wrapper", "PythonWrapperCodegen", "generate_kernel_call", call_kernel),
    ("scheduler", "Scheduler", "codegen_extern_call", call_operator),
)


def watch(recording, owner, method, look):
    """Replaces a method by one that calls it and then looks on; returns a function that undoes that."""
    original = owner.__dict__[method]
    signature = inspect.signature(original)

    @functools.wraps(original)
    def watched(*args, **kwargs):
        result = original(*args, **kwargs)
        try:
            look(recording.graph, result, **signature.bind(*args, **kwargs).arguments)
        except Exception as error:  # the compilation must not end by any of them
            recording.fail(f"{owner.__name__}.{method} is not what it was: {type(error).__name__}: {error}")
        return result

    setattr(owner, method, watched)
    return lambda: setattr(owner, method, original)


def watch_graphs(recording, owner, method):
    original = owner.__dict__[method]

    @functools.wraps(original)
    def watched(graph, *args, **kwargs):
        recording.begin()
        written = False
        try:
            result = original(graph, *args, **kwargs)
            written = True
            return result
        finally:
            # The graph of constants is run once, when the package is loaded.
            recording.end(keep=written and not getattr(graph, "is_const_graph", False))

    setattr(owner, method, watched)
    return lambda: setattr(owner, method, original)


@contextlib.contextmanager
def recorded():
    """Records the graphs that Inductor compiles in this process meanwhile."""
    recording = Recording()

    def install(module, owner, method, hook, *look):
        try:
            found = getattr(importlib.import_module("torch._inductor." + module), owner)
            undo.callback(hook(recording, found, method, *look))
        except (ImportError, AttributeError, KeyError) as error:
            recording.fail(f"this Inductor has no {owner}.{method} ({type(error).__name__}: {error})")

    with contextlib.ExitStack() as undo:
        install("graph", "GraphLowering", "codegen", watch_graphs)
        for module, owner, method, look in HOOKS:
            install(module, owner, method, watch, look)
        yield recording
    if recording.problem:
        print(f"pace: what kernels there are is not recorded: {recording.problem}", file=sys.stderr, flush=True)


def number(size):
    """The present value of a symbolic size. To ask it for an int would make it that for good."""
    return size if isinstance(size, int) else int(size.node.hint)


def metadata(tensor):
    return {
        "sizes": [number(size) for size in tensor.shape],
        "strides": [number(stride) for stride in tensor.stride()],
        "dtype": str(tensor.dtype).removeprefix("torch."),
        "device": str(tensor.device),
    }


def inputs_of(program):
    """Of an exported program; None where one is no plain tensor."""
    from torch.utils._pytree import tree_leaves

    return quietly(lambda: [metadata(leaf) for leaf in tree_leaves(program.example_inputs)])


def aoti_compile_and_package(program, package_path, **options):
    """As torch._inductor.aoti_compile_and_package, whose options it takes; writes MODEL.json beside MODEL.pt2, and
    returns the paths of both. Throws FileExistsError before it compiles if MODEL.json is there and is not such a
    file."""
    import torch
    import torch._inductor

    path = os.path.splitext(package_path)[0] + ".json"
    if os.path.exists(path):
        with open(path) as file:
            there = quietly(json.load, file)
        if not isinstance(there, dict) or "kernels" not in there:
            raise FileExistsError(f"{path} is where the package's kernels would be kept, but is something else")
    with recorded() as recording:
        package = torch._inductor.aoti_compile_and_package(program, package_path=package_path, **options)
    facts = {"torch": torch.__version__, "inputs": inputs_of(program), **recording.facts()}
    temporary = f"{path}.{os.getpid()}.tmp"
    with open(temporary, "w") as file:
        file.write(json.dumps(facts, indent=1) + "\n")
    os.replace(temporary, path)
    return package, path
#)""py"
