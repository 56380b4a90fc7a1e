R"""py(
Compiles exported programs (files of torch.export.save) into AOTInductor packages.

    python compile_exported.py MANIFEST.json

The manifest and the written files have the form of compile_packages.py, which must stand beside this file. The `script`
of a case is the file of an exported program, and `model` is the program's name in it. `libraries` are shared libraries
that register its operators.

The first line and the last make this file a C++ raw string literal as well: exported_packages.hpp includes it as text.
"""

import os
import time

import compile_packages


def load(case):
    import torch
    from torch.export.pt2_archive._package import load_pt2

    for library in case["libraries"]:
        torch.ops.load_library(library)
    with open(case["script"], "rb") as file:
        return load_pt2(file).exported_programs[case["model"]]


def writes_to_buffers(program):
    """Whether calls change the module's tensors, as a cache of keys and values."""
    signature = program.graph_signature
    # Making the program functional shows the writes in place.
    return bool(signature.buffers) and bool(program.run_decompositions({}).graph_signature.buffers_to_mutate)


def as_exported(program, manifest, scratch):
    """The only route: the program stays as it is, with its dynamic dimensions."""
    import torch

    options = manifest["options"]
    if writes_to_buffers(program):
        # Inductor compiles the values of small and of uniform buffers in: a position would stay as in the first call.
        options = {**options, "joint_graph_constant_folding": False, "always_keep_tensor_constants": True}
    temporary = os.path.join(scratch, "package.pt2")
    torch._inductor.aoti_compile_and_package(program, package_path=temporary, inductor_configs=options)
    return temporary


def compile_case(case, manifest, scratch):
    """Writes the package; the rest of the record is the result."""
    import torch

    torch.set_num_threads(manifest["threads"])  # the number is compiled in
    started = time.monotonic()
    program = None
    try:
        program = load(case)
        loaded = time.monotonic()
        temporary = as_exported(program, manifest, scratch)
        compiled = time.monotonic()
        size = os.path.getsize(temporary)
        compile_packages.put_in_place(temporary, manifest["out"], case["key"])
        return {
            "status": "ok",
            "route": as_exported.__name__,
            "export_seconds": round(loaded - started, 2),
            "compile_seconds": round(compiled - loaded, 2),
            "package_bytes": size,
        }
    except Exception as error:  # a program that cannot be compiled is a result, for any exception of the compiler
        stage = "load" if program is None else "compile"
        return compile_packages.failure([compile_packages.problem(error, as_exported, stage)])


if __name__ == "__main__":
    compile_packages.main(compile_case)
#)""py"
