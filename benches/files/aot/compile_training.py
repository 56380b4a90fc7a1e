R"""py(
Compiles TorchScript functions of parameters and inputs into AOTInductor packages. A package holds the forward alone, or
forward and backward as two models, which exchange saved tensors as PyTorch's own autograd does.

    python compile_training.py MANIFEST.json

Manifest, records, workers and time-outs follow compile_packages.py, which must stand beside this file. A case also has
`kind` (`inference`, `training` or `exported`) and `parameters`: how many of its tensors, the first ones, are
differentiated by. `differentiated` holds the positions of the outputs that receive gradients. `values`, if given, is a
file with the values of tensors that the code may hold as constants. An `ok` record also holds the `layout`: how to call
the models (see `compile_training`). For each of its `models`, `forward` and where there is one `backward`, it holds the
records of record_kernels.py. Of an `exported` case the package is the program that torch.export makes of it, which a
runtime calls operator by operator; nothing is compiled.

The first line and the last make this file a C++ raw string literal as well, for training_compiler.hpp.
"""

import contextlib
import os
import time
from unittest import mock

import compile_packages
import record_kernels


def by_graph(script):
    """Every node of the traced graph, called from Python."""
    import torch

    def convolution(*inputs):
        """The operator that `_convolution` calls. Inductor's optimisations look for this name."""
        return torch.ops.aten.convolution.default(*inputs[:9])

    def lstm(*inputs):
        """PyTorch's decomposition gives the last states a dimension too many, and has no dropout between layers
        (2.11)."""
        if not isinstance(inputs[1], list):
            return torch.ops.aten.lstm.data(*inputs)
        layers, dropout, train = inputs[4:7]
        if train and dropout > 0 and layers > 1:
            return layer_by_layer(*inputs)
        states = inputs[1]
        output, *last = torch.ops.aten.lstm.input(*inputs)
        return [output, *(state.reshape(first.shape) for state, first in zip(last, states))]

    def layer_by_layer(x, states, weights, biases, layers, dropout, train, bidirectional, batch_first):
        directions, own, after = 2 if bidirectional else 1, len(weights) // layers, []
        x = x.transpose(0, 1) if batch_first else x
        for i in range(layers):
            before = [state[i * directions : (i + 1) * directions] for state in states]
            parameters = weights[i * own : (i + 1) * own]
            x, *last = lstm(x, before, parameters, biases, 1, 0.0, train, bidirectional, False)
            after.append(last)
            x = torch.ops.aten.dropout(x, dropout, train) if i + 1 < layers else x
        return [x.transpose(0, 1) if batch_first else x, *(torch.cat(each) for each in zip(*after))]

    return compile_packages.graph_module(script, {"aten::_convolution": convolution, "aten::lstm": lstm})


def by_script(script):
    """TorchScript's interpreter, which also knows control flow."""
    return script


def output_node(graph):
    return next(iter(reversed(graph.nodes)))


def placeholders(graph):
    return [node for node in graph.nodes if node.op == "placeholder"]


def storage(node):
    """Shared by two nodes when one is a view of the other."""
    from torch.multiprocessing.reductions import StorageWeakRef

    return StorageWeakRef(node.meta["val"].untyped_storage())


def any_batch(mode, case):
    """Operands of the case whose first size is a batch get one that may be any number, the same for all of them."""
    import torch
    from torch._dynamo.source import ConstantSource
    from torch.fx.experimental.symbolic_shapes import DimDynamic, StatelessSymbolicContext

    def symbolic(position, t):
        tensor = torch.empty_strided(t["sizes"], t["strides"], dtype=getattr(torch, t["dtype"]), device=t["device"])
        dims = [DimDynamic.DUCK] + [DimDynamic.STATIC] * (tensor.dim() - 1)
        context = StatelessSymbolicContext(dynamic_sizes=dims)
        return mode.from_tensor(tensor, symbolic_context=context, source=ConstantSource(f"operand{position}"))

    return {i: symbolic(i, t) for i, t in enumerate(case["tensors"]) if t.get("batch")}


def batch_sizes(capture):
    return [node.meta["val"].shape[0] for i, node in enumerate(placeholders(capture.graph)) if i in capture.batches]


def range_of_batch(capture, batches):
    """The batches that the code is for, least and most (None: no bound). Raises where they have become one."""
    import math

    bound = capture.fake_mode.shape_env.bound_sympy
    ranges = [bound(batch.node.expr) for batch in batches if not isinstance(batch, int)]
    if len(ranges) < len(batches) or any(one.is_singleton() for one in ranges):
        raise ValueError("its code is for one size of batch only: something in it makes a number of that")
    most = min(one.upper for one in ranges)
    return [int(max(one.lower for one in ranges)), int(most) if most < 2**62 and math.isfinite(most) else None]


def decompositions():
    """Inductor's, but for one. AOTInductor calls index_add, the fallback for bfloat16, without its alpha (2.11:
    "Mismatch between ints consumed and num_ints" at run time)."""
    import torch
    from torch._inductor.decomposition import select_decomp_table

    table = dict(select_decomp_table())
    table[torch.ops.aten.index_add.default] = torch._decomp.decompositions.index_add
    return table


class Capture:
    """The graph of a case, without mutations: outputs, then new values of the inputs that are written to, then (when
    training) one gradient or None for each parameter."""

    def __init__(self, case, route, copy_outputs):
        import torch
        from torch._functorch.aot_autograd import aot_export_joint_simple
        from torch._subclasses.fake_tensor import FakeTensorMode
        from torch.fx.experimental.symbolic_shapes import ShapeEnv

        self.training = case["kind"] == "training"
        self.parameters = case["parameters"]
        differentiated = set(case["differentiated"])
        self.outputs = None  # how many
        function = route(torch.jit.load(case["script"]))

        def pure(*tensors):
            # Inputs that are written to (running statistics) show as changed copies.
            inputs = [tensor.clone() for tensor in tensors[self.parameters :]]
            results = function(*tensors[: self.parameters], *inputs)
            results = list(results) if isinstance(results, (tuple, list)) else [results]
            self.outputs = len(results)
            for i, result in enumerate(results):
                if copy_outputs:
                    results[i] = result = result.clone()
                if not self.training or i not in differentiated:
                    results[i] = result.detach()
                elif not result.requires_grad:
                    raise ValueError(f"output {i} does not depend on any parameter by a way that has a gradient")
            return (*results, *inputs)

        dynamic = any(t.get("batch") for t in case["tensors"])
        mode = FakeTensorMode(allow_non_fake_inputs=True, shape_env=ShapeEnv() if dynamic else None)
        self.batches = any_batch(mode, case)
        with mode:
            tensors = tuple(
                self.batches[i]
                if i in self.batches
                else torch.empty_strided(t["sizes"], t["strides"], dtype=getattr(torch, t["dtype"]), device=t["device"])
                for i, t in enumerate(case["tensors"])
            )
            for tensor in tensors[: self.parameters]:
                tensor.requires_grad_(self.training)
        # The backward of oneDNN's fused LSTM gets lost between AOTInductor and its kernel (2.11: "Expected IntList but
        # got None" at run time), so an LSTM becomes its steps.
        lstms = torch._decomp.decompositions
        steps = mock.patch.object(lstms, "select_one_layer_lstm_function", lambda *_: lstms.one_layer_lstm)
        with steps if self.training else contextlib.nullcontext():
            self.module = aot_export_joint_simple(
                pure, tensors, trace_joint=self.training, decompositions=decompositions()
            )
        self.graph = self.module.graph
        self.graph.set_codegen(torch.fx.graph.CodeGen())  # flat tensors in, a flat tuple out
        self.fake_mode = placeholders(self.graph)[0].meta["val"].fake_mode
        self._know_constants()
        self._resolve_inputs(len(case["tensors"]))

    def _know_constants(self):
        """Compiling needs the metadata of constants, too, which the export leaves out."""
        from operator import attrgetter

        for node in self.graph.nodes:
            if node.op == "get_attr" and "val" not in node.meta:
                constant = attrgetter(node.target)(self.module)
                node.meta["val"] = self.fake_mode.from_tensor(constant, static_shapes=True)

    def _resolve_inputs(self, tensors):
        """Drops the copies of inputs that nothing was written to."""
        import torch

        output = output_node(self.graph)
        results = list(output.args[0])
        operands = placeholders(self.graph)[:tensors]
        self.written = []  # placeholders, whose new values follow the outputs
        values = []
        for operand, value in zip(operands[self.parameters :], results[self.outputs :]):
            if value.target is torch.ops.aten.clone.default and value.args[0] is operand:
                value.replace_all_uses_with(operand, delete_user_cb=lambda user: user is not output)
            else:
                self.written.append(operand.name)
                values.append(value)
        gradients = results[self.outputs + tensors - self.parameters :][: self.parameters]
        output.args = ((*results[: self.outputs], *values, *gradients),)
        output.meta.pop("desc", None)  # of outputs that are no longer there
        self.graph.eliminate_dead_code()
        self.module.recompile()


def write_back(module, written, outputs):
    """The new values of written inputs, which follow the outputs, are stored instead of being returned."""
    import torch

    graph, output = module.graph, output_node(module.graph)
    operands = {node.name: node for node in placeholders(graph)}
    results = list(output.args[0])
    saved = results[outputs + len(written) :]
    for name, value in zip(written, results[outputs:]):
        operand = operands[name]
        if operand in saved:  # the backward wants the old value
            with graph.inserting_before(next(n for n in graph.nodes if n.op != "placeholder")):
                old = graph.call_function(torch.ops.aten.clone.default, (operand,))
                old.meta["val"] = operand.meta["val"]
            saved = [old if node is operand else node for node in saved]
        with graph.inserting_before(output):
            stored = graph.call_function(torch.ops.aten.copy_.default, (operand, value))
            stored.meta["val"] = operand.meta["val"]
    output.args = ((*results[:outputs], *saved),)


def take_out(module, keep):
    """Drops outputs that need no code: those that are operands, given twice, or None. Returns where each is to be found
    instead: {"operand": position}, {"output": position} or None. The first `keep` outputs stay."""
    graph, output = module.graph, output_node(module.graph)
    operands = placeholders(graph)
    results, places = list(output.args[0]), []
    kept = results[:keep]
    for node in results[keep:]:
        if node is None:
            places.append(None)
        elif node in operands:
            places.append({"operand": operands.index(node)})
        else:
            if node not in kept:
                kept.append(node)
            places.append({"output": kept.index(node)})
    output.args = (tuple(kept),)
    return places


def own_gradients(module):
    """Gradients are written to later on, so they may share memory neither with the incoming ones nor with each
    other."""
    import torch

    graph, output = module.graph, output_node(module.graph)
    seen = {storage(node) for node in placeholders(graph)}
    results = list(output.args[0])
    for i, node in enumerate(results):
        if node is None:
            continue
        if storage(node) in seen:
            with graph.inserting_before(output):
                copy = graph.call_function(torch.ops.aten.clone.default, (node,))
                copy.meta["val"] = torch.ops.aten.clone.default(node.meta["val"])
            results[i] = copy
        else:
            seen.add(storage(node))
    output.args = (tuple(results),)


def compile_graph(module, fake_mode, folder, backward, visible):
    """The files of one model, the strides that its outputs have (None where not known), and its record. The strides of
    the first `visible` outputs are the graph's; Inductor may choose others for the rest."""
    import torch
    import torch._inductor.compile_fx as compile_fx
    from torch._guards import TracingContext, tracing
    from torch._inductor import config
    from torch._inductor.virtualized import V

    strides = []

    class Lowering(compile_fx.GraphLowering):
        def run(self, *inputs):
            result = super().run(*inputs)
            if self.graph_outputs is not None:
                strides[:] = [strides_of(out) for out in self.graph_outputs]
            return result

    def strides_of(out):
        try:
            return [int(stride) for stride in out.get_stride()]
        except Exception:  # such as an output that is no tensor
            return None

    module.recompile()
    module.graph.lint()
    inputs = [node.meta["val"] for node in placeholders(module.graph)]
    output_node(module.graph).meta["user_visible_output_idxs"] = list(range(visible))
    patches = {"cpp_wrapper": True, "aot_inductor.package": True, "aot_inductor.output_path": folder}
    original = compile_fx.GraphLowering
    compile_fx.GraphLowering = Lowering
    try:
        with contextlib.ExitStack() as stack:
            stack.enter_context(config.patch(patches))
            stack.enter_context(config.patch(compile_fx.get_cpp_wrapper_config()))
            stack.enter_context(V.set_aot_compilation(True))
            stack.enter_context(V.set_fake_mode(fake_mode))
            stack.enter_context(V.set_real_inputs(inputs))
            stack.enter_context(tracing(TracingContext(fake_mode)))
            stack.enter_context(torch.no_grad())
            recording = stack.enter_context(record_kernels.recorded())
            compiled = compile_fx.compile_fx_inner(
                module,
                inputs,
                static_input_idxs=list(range(len(inputs))),
                cudagraphs=compile_fx.BoxedBool(False),
                is_inference=not backward,
                is_backward=backward,
                cpp_wrapper=True,
            )
    finally:
        compile_fx.GraphLowering = original
    facts = {"inputs": [record_kernels.metadata(value) for value in inputs], **recording.facts()}
    return compiled.filename, strides, facts


def optimise(capture):
    import torch._inductor.compile_fx as compile_fx
    from torch._inductor.virtualized import V

    with V.set_fake_mode(capture.fake_mode):
        compile_fx._recursive_joint_graph_passes(capture.module)


def freeze(capture, case):
    """Makes constants of the operands whose values are known and never written to, and lets Inductor fold them. A batch
    norm goes into the convolution before it, and weights get the order in which kernels read them. Returns the
    positions of the operands that are left, and how often something was folded into a weight."""
    import torch
    from torch._dynamo.utils import counters
    from torch._inductor import compile_fx, constant_folding, freezing, freezing_utils

    module = capture.module
    values = torch.load(case["values"], weights_only=True)
    operands = placeholders(module.graph)
    inputs = [node.meta["val"] for node in operands]
    folded = counters["inductor"]["binary_folding"]
    if compile_fx.GraphLowering.decide_layout_opt(module, is_inference=True):
        compile_fx.fake_tensor_prop(module, inputs, True)
        freezing.convert_conv_weights_to_channels_last(module)
    kept = []
    with freezing_utils.enter_freezing():
        for position, (node, value) in enumerate(zip(operands, values)):
            if value is None or node.name in capture.written:
                kept.append(position)
            else:
                value = value.to(case["tensors"][position]["device"])
                constant_folding.replace_node_with_constant(module, node, value)
    # Without a tracing context this takes the operands that are left as they are.
    freezing.freeze(None, module, [inputs[position] for position in kept])
    return kept, counters["inductor"]["binary_folding"] - folded


def compile_inference(capture, folder, case):
    optimise(capture)
    module, batches = capture.module, batch_sizes(capture)
    layout = {"outputs": capture.outputs, "written": len(capture.written)}
    if "values" in case:
        layout["operands"], layout["folded"] = freeze(capture, case)
    write_back(module, capture.written, capture.outputs)
    files, _, facts = compile_graph(module, capture.fake_mode, folder + "/forward", False, capture.outputs)
    if capture.batches:
        layout["batch"] = range_of_batch(capture, batches)
    return {"forward": files}, layout, {"forward": facts}


def compile_training(capture, folder, case):
    """`layout` of the record. `saved`: the backward's first arguments, with metadata. Each is either {"operand":
    position}, an operand of the forward, or {"output": position}, an output of the forward's model (the first `outputs`
    are the user's). `tangents`: metadata of the gradients that it takes next. `gradients`: for each parameter the
    position of its gradient among the backward's outputs, or null where there is none."""
    from torch._functorch.partitioners import min_cut_rematerialization_partition

    optimise(capture)
    forward, backward = min_cut_rematerialization_partition(
        capture.module, None, num_fwd_outputs=capture.outputs + len(capture.written), compiler="inductor"
    )
    returned = output_node(forward.graph).args[0]
    names = [node.name for node in returned[capture.outputs + len(capture.written) :]]
    write_back(forward, capture.written, capture.outputs)
    saved = take_out(forward, capture.outputs)
    own_gradients(backward)
    gradients = take_out(backward, 0)
    times = [time.monotonic()]
    forward_files, strides, forward_facts = compile_graph(
        forward, capture.fake_mode, folder + "/forward", False, capture.outputs
    )
    times.append(time.monotonic())
    # The backward is compiled for the strides that Inductor chose for saved tensors.
    operands = placeholders(backward.graph)
    assert [node.name for node in operands if not node.name.startswith("tangents")] == names
    for place, node in zip(saved, operands):
        position = place.get("output", -1)
        if position >= capture.outputs and position < len(strides) and strides[position] is not None:
            value = node.meta["val"]
            if list(value.stride()) != strides[position]:
                with capture.fake_mode:
                    node.meta["val"] = value.as_strided(value.shape, strides[position])
    count = len(output_node(backward.graph).args[0])
    backward_files, _, backward_facts = compile_graph(
        backward, capture.fake_mode, folder + "/backward", True, count
    )
    times.append(time.monotonic())
    described = [{**place, **record_kernels.metadata(node.meta["val"])} for place, node in zip(saved, operands)]
    layout = {
        "outputs": capture.outputs,
        "written": len(capture.written),
        "saved": described,
        "tangents": [record_kernels.metadata(node.meta["val"]) for node in operands[len(saved) :]],
        "gradients": [place and place["output"] for place in gradients],
        "forward_seconds": round(times[1] - times[0], 2),
        "backward_seconds": round(times[2] - times[1], 2),
    }
    files = {"forward": forward_files, "backward": backward_files}
    return files, layout, {"forward": forward_facts, "backward": backward_facts}


def export_case(case, manifest, scratch):
    """Writes a package of the exported program `model`; the rest of the record is the result."""
    import torch
    from torch.export.pt2_archive._package import package_pt2

    program, started = None, time.monotonic()
    try:
        inputs = compile_packages.make_inputs(case["tensors"], fake=True)
        program = torch.export.export(by_graph(torch.jit.load(case["script"])), inputs, strict=False)
        written = program.graph_signature.user_inputs_to_mutate
        if written:
            raise NotImplementedError(f"it writes to {len(written)} of its inputs")
        temporary = os.path.join(scratch, "package.pt2")
        package_pt2(temporary, exported_programs={"model": program})
        size = os.path.getsize(temporary)
        compile_packages.put_in_place(temporary, manifest["out"], case["key"])
        return {
            "status": "ok",
            "route": "by_graph",
            "export_seconds": round(time.monotonic() - started, 2),
            "package_bytes": size,
            "layout": {"outputs": len(program.graph_signature.user_outputs), "written": 0},
        }
    except Exception as error:  # a case that cannot be exported is a result, for any exception of the exporter
        step = "export" if program is None else "package"
        return compile_packages.failure([compile_packages.problem(error, by_graph, step)])


def compile_case(case, manifest, scratch):
    """Writes the package; the rest of the record is the result."""
    import torch
    from torch._inductor import config
    from torch._inductor.package import package_aoti

    if case["kind"] == "exported":
        return export_case(case, manifest, scratch)
    torch.set_num_threads(manifest["threads"])  # the number is compiled in
    problems = []
    waiting = [(by_graph, False)]
    while waiting:
        route, copy_outputs = waiting.pop()
        capture, started = None, time.monotonic()
        try:
            torch._dynamo.reset()
            with config.patch(manifest["options"]):  # some choose decompositions
                capture = Capture(case, route, copy_outputs)
                exported = time.monotonic()
                folder = os.path.join(scratch, "package-of-" + case["key"])
                compile_kind = compile_training if capture.training else compile_inference
                files, layout, models = compile_kind(capture, folder, case)
            temporary = os.path.join(scratch, "package.pt2")
            package_aoti(temporary, files)
            compiled = time.monotonic()
            size = os.path.getsize(temporary)
            compile_packages.put_in_place(temporary, manifest["out"], case["key"])
            return {
                "status": "ok",
                "route": route.__name__,
                "export_seconds": round(exported - started, 2),
                "compile_seconds": round(compiled - exported, 2),
                "package_bytes": size,
                "layout": layout,
                "models": models,
            }
        except Exception as error:  # a case that cannot be compiled is a result, for any exception of the compiler
            problems.append(compile_packages.problem(error, route, "export" if capture is None else "compile"))
            if capture is None and route is by_graph:
                if isinstance(error, NotImplementedError):
                    waiting.append((by_script, True))
                elif not copy_outputs and "alias" in str(error):
                    waiting.append((by_graph, True))  # outputs that are operands, or views of each other
    return compile_packages.failure(problems)


if __name__ == "__main__":
    compile_packages.main(compile_case)
#)""py"
