#!/usr/bin/env python3
"""Exports a module of PyTorch with its inputs, as files that `//benches/files` and `//benches/models` run.

In a program or a notebook:

    import export                                             # with the folder of this file in sys.path
    export.export(module.eval(), (x,), folder="files")        # model.pt, model.pt2, model.inputs.pt

From a shell, where `models.py` has a function `small()` that returns a module and its inputs:

    python3 tools/export.py models.py:small --output-directory files

It needs the Python that has the user's torch, in the version of the LibTorch that the program is built with.
"""

import argparse
import importlib
import importlib.util
import inspect
import io
import os
import sys

FORMATS = {
    "torchscript": "a trace in TorchScript, NAME.pt",
    "export": "an exported program, NAME.pt2",
    "aot_inductor": "a package that AOTInductor compiles, NAME.aot.pt2",
}


def _torchscript(module, args, kwargs, path, dynamic_shapes):
    import torch

    for leaf in torch.utils._pytree.tree_leaves((args, kwargs)):
        if not isinstance(leaf, torch.Tensor):
            found = f"the inputs have {leaf!r}; expected another format"
            raise ValueError(f"a trace in TorchScript takes tensors alone, and {found}")
    held = [
        (owner, name, buffer, buffer.clone())
        for owner in module.modules()
        for name, buffer in owner._buffers.items()
        if buffer is not None
    ]
    if kwargs:
        named = inspect.signature(module.forward).bind(*args, **kwargs).arguments
        trace = torch.jit.trace(module, example_kwarg_inputs=dict(named))
    else:
        trace = torch.jit.trace(module, args)
    # Tracing calls the module, which may write to its buffers or replace them; the trace has the first tensors.
    replaced = []
    for owner, name, buffer, value in held:
        if owner._buffers[name] is not buffer:
            replaced.append(name)
        owner._buffers[name] = buffer
        with torch.no_grad():
            buffer.copy_(value)
    if replaced:
        raise ValueError(
            f"forward replaces the buffer '{replaced[0]}', which a trace in TorchScript does not store; expected "
            f"self.{replaced[0]}.copy_(...), or formats without 'torchscript'"
        )
    trace.save(path)


def _exported(module, args, kwargs, dynamic_shapes):
    import torch

    return torch.export.export(module, args, kwargs, dynamic_shapes=dynamic_shapes)


def _export(module, args, kwargs, path, dynamic_shapes):
    import torch

    torch.export.save(_exported(module, args, kwargs, dynamic_shapes), path)


def _aot_inductor(module, args, kwargs, path, dynamic_shapes):
    import torch._inductor

    program = _exported(module, args, kwargs, dynamic_shapes)
    options = {}
    if program.graph_signature.buffers and program.run_decompositions({}).graph_signature.buffers_to_mutate:
        # Inductor compiles the values of small and of uniform buffers in, so a position would keep its value of the
        # first call.
        options = {"joint_graph_constant_folding": False, "always_keep_tensor_constants": True}
    torch._inductor.aoti_compile_and_package(program, package_path=path, inductor_configs=options)


_WRITERS = {
    "torchscript": (_torchscript, ".pt"),
    "export": (_export, ".pt2"),
    "aot_inductor": (_aot_inductor, ".aot.pt2"),
}


def export(
    module,
    args=(),
    kwargs=None,
    folder=".",
    name="model",
    formats=("torchscript", "export"),
    dynamic_shapes=None,
    threads=1,
):
    """Writes the module in each of `formats` (keys of FORMATS), and its inputs, into `folder`, which is made if need
    be.

    `args` is a tuple, `kwargs` a dict of keyword arguments; `dynamic_shapes` is as for torch.export.export. Code for
    CPUs that is compiled here uses `threads` threads, which is `--threads` of pace's programs, 1 by default. The module
    is exported as it is: call `module.eval()` before. Returns the paths by format, with the inputs' path under
    `inputs`. Throws ValueError for an unknown format or other inputs, and torch's exception for a module that it cannot
    export; then none of the files is there.
    """
    import torch

    if threads < 1:
        raise ValueError(f"threads: expected at least 1, found {threads}")
    unknown = [each for each in formats if each not in _WRITERS]
    if unknown or not formats:
        raise ValueError(f"formats: expected some of {', '.join(_WRITERS)}, found {', '.join(unknown) or 'none'}")
    if not isinstance(args, tuple):
        raise ValueError(f"args: expected a tuple of inputs, found a {type(args).__name__}")
    if not name or os.path.basename(name) != name:
        raise ValueError(f"name: expected the beginning of a file's name, found '{name}'")
    kwargs = dict(kwargs or {})
    os.makedirs(folder, exist_ok=True)
    paths = {each: os.path.join(folder, name + _WRITERS[each][1]) for each in formats}
    paths["inputs"] = os.path.join(folder, name + ".inputs.pt")
    # Tracing calls the module, which may write to its inputs.
    detached = torch.utils._pytree.tree_map_only(torch.Tensor, torch.Tensor.detach, {"args": args, "kwargs": kwargs})
    given = io.BytesIO()
    torch.save(detached, given)
    threads_before = torch.get_num_threads()
    try:
        torch.set_num_threads(threads)  # the number is compiled in
        with torch.no_grad():
            for each in formats:
                _WRITERS[each][0](module, args, kwargs, paths[each], dynamic_shapes)
        with open(paths["inputs"], "wb") as file:
            file.write(given.getbuffer())
    except BaseException:
        # A part of the files would pass for all of them.
        for path in paths.values():
            if os.path.isfile(path):
                os.remove(path)
        raise
    finally:
        torch.set_num_threads(threads_before)
    return paths


def dynamic_batch(module, args, kwargs):
    """Shapes for torch.export.export: the first size is dynamic, of all tensors that have the same as the first one."""
    import torch

    leaves = torch.utils._pytree.tree_leaves((args, kwargs))
    sizes = [leaf.shape[0] for leaf in leaves if isinstance(leaf, torch.Tensor) and leaf.dim() > 0]
    if not sizes:
        raise ValueError("there is no tensor with a first size; expected one for a dynamic batch")
    batch = torch.export.Dim("batch")

    def shape_of(value):
        is_batch = isinstance(value, torch.Tensor) and value.dim() > 0 and value.shape[0] == sizes[0]
        return {0: batch} if is_batch else None

    # By name, since torch takes shapes without names in the order of the parameters, even if kwargs have another order.
    named = inspect.signature(module.forward).bind(*args, **kwargs).arguments
    return {name: torch.utils._pytree.tree_map(shape_of, value) for name, value in named.items()}


def within_limits(error, shapes):
    """`shapes` with the largest and smallest sizes that torch.export found, if `error` says that they were missing.
    None if it says something else, such as that a size cannot be dynamic.

    Some operators of a GPU take batches up to a largest one.
    """
    import torch

    paragraph = _first_paragraph(error)
    if not isinstance(error, torch._dynamo.exc.UserError) or "Suggested fixes:" not in paragraph:
        return None
    found = torch.export.dynamic_shapes.refine_dynamic_shapes_from_suggested_fixes(paragraph, shapes)
    # A size that becomes a number is no dynamic one.
    return None if any(isinstance(each, int) for each in torch.utils._pytree.tree_leaves(found)) else found


def _first_paragraph(error):
    return (str(error).strip() or "no reason is given").split("\n\n")[0]


def made_by(place):
    """The value of the function in `FILE.py:FUNCTION` or `MODULE:FUNCTION`: a module, its args and its kwargs."""
    source, colon, function = place.rpartition(":")
    if not colon or not source or not function:
        raise ValueError(f"'{place}': expected FILE.py:FUNCTION or MODULE:FUNCTION")
    if source.endswith(".py"):
        if not os.path.isfile(source):
            raise ValueError(f"'{source}': no such file")
        # As with `python3 FILE.py`, modules beside the file can be imported; torch imports the file by its name.
        sys.path.insert(0, os.path.dirname(os.path.abspath(source)))
        spec = importlib.util.spec_from_file_location(os.path.basename(source)[:-3], source)
        module = importlib.util.module_from_spec(spec)
        sys.modules.setdefault(spec.name, module)
        spec.loader.exec_module(module)
    else:
        # As with `python3 -m MODULE`.
        sys.path.insert(0, os.getcwd())
        module = importlib.import_module(source)
    if not hasattr(module, function):
        raise ValueError(f"'{source}' has no function '{function}'")
    made = getattr(module, function)()
    if not isinstance(made, tuple) or [type(each) for each in made[1:]] not in ([tuple], [tuple, dict]):
        raise ValueError(f"'{place}': expected a function that returns (module, args) or (module, args, kwargs)")
    return made[0], made[1], made[2] if len(made) == 3 else {}


def main():
    parser = argparse.ArgumentParser(description="Exports a module of PyTorch with its inputs, for //benches/files.")
    parser.add_argument("place", metavar="FILE.py:FUNCTION", help="a function that returns (module, args[, kwargs])")
    parser.add_argument("--output-directory", default=".", help="where the files are written (default: here)")
    parser.add_argument("--name", help="how the files are called (default: as the function)")
    parser.add_argument(
        "--format",
        action="append",
        choices=list(FORMATS),
        help="again for another: " + "; ".join(f"{name}: {text}" for name, text in FORMATS.items())
        + " (default: torchscript and export)",
    )
    parser.add_argument("--dynamic-batch", action="store_true", help="export the first size of inputs as dynamic")
    parser.add_argument("--threads", type=int, default=1, help="threads of code that is compiled for CPUs (default: 1)")
    line = parser.parse_args()
    try:
        module, args, kwargs = made_by(line.place)
        name = line.name or line.place.rpartition(":")[2]
        formats = tuple(dict.fromkeys(line.format or ("torchscript", "export")))
        shapes = dynamic_batch(module, args, kwargs) if line.dynamic_batch else None
        try:
            paths = export(module, args, kwargs, line.output_directory, name, formats, shapes, line.threads)
        except Exception as error:
            shapes = within_limits(error, shapes) if shapes else None
            if shapes is None:
                raise
            paths = export(module, args, kwargs, line.output_directory, name, formats, shapes, line.threads)
    except (ValueError, ImportError, OSError) as error:
        sys.exit(f"export.py: {error}")
    except Exception as error:
        # Exceptions of torch and of the user's function have any type. Its first paragraph describes the problem, line
        # by line where torch.export refuses sizes.
        sys.exit(f"export.py: {line.place}: {type(error).__name__}: {_first_paragraph(error)}")
    for path in paths.values():
        print(path)


if __name__ == "__main__":
    main()
