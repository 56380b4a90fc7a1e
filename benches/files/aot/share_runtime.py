R"""py(
Compiles the common parts of all AOTInductor packages once, instead of with each.

    share_runtime.share(FOLDER)  # from here on, in this process

Inductor writes its runtime's interface (`interface.cpp`: C functions over a container of models) into the source of
each package. The templates and `std::regex` that this needs take two thirds of the time of compiling that source. From
here on the source declares those templates as instantiated elsewhere, and an object file with them and the interface is
linked to it. FOLDER, which exists, keeps the object files: one for each compiler's command.

The code is Inductor's own, compiled by its own command. Where a version of Inductor works otherwise than expected here,
it goes on without this. So it does for packages of source code, which must be whole.

The first line and the last make this file a C++ raw string literal as well, for package_key.hpp.
"""

import hashlib
import os
import shutil
import sys
import tempfile

DEVICE_HEADER = "#include <torch/csrc/inductor/aoti_include/{}.h>\n"
BASE = "torch::aot_inductor::AOTInductorModelBase<torch::aot_inductor::AOTInductorModel>;\n"
ELSEWHERE = "extern template class " + BASE
HERE = "template class " + BASE


def interface_object(builder, options, device, interface, folder):
    """Path of the object file, compiled as `options` say unless it is there."""
    from torch.utils._filelock import FileLock

    source = DEVICE_HEADER.format(device) + interface + "\n" + HERE
    command = repr(builder(name="o", sources="i", BuildOption=options).get_command_line())
    name = "interface-" + hashlib.sha256((command + source).encode()).hexdigest()[:32]
    path = os.path.join(folder, name + ".o")
    with FileLock(os.path.join(folder, name + ".lock")):
        if not os.path.exists(path):
            scratch = tempfile.mkdtemp(prefix=name, dir=folder)
            try:
                with open(os.path.join(scratch, "interface.cpp"), "w") as file:
                    file.write(source)
                compiling = builder("interface", os.path.join(scratch, "interface.cpp"), options, scratch)
                compiling.build()
                # A power failure must not leave an empty file in its place.
                with open(compiling.get_target_file_path(), "rb") as file:
                    os.fsync(file.fileno())
                os.replace(compiling.get_target_file_path(), path)
            finally:
                shutil.rmtree(scratch, ignore_errors=True)
    return path


def share(folder):
    """Throws nothing: a line on standard error says why nothing is shared."""
    try:
        from torch._inductor import codecache, config
        from torch._inductor.codegen import cpp_wrapper_cpu

        original, builder = codecache.AotCodeCompiler.compile.__func__, codecache.CppBuilder
        with open(os.path.join(os.path.dirname(cpp_wrapper_cpu.__file__), "aoti_runtime", "interface.cpp")) as file:
            interface = file.read().rstrip()
        # The rest of the source may use the part before the functions (headers, macros).
        declarations = interface[: interface.index('extern "C" {')] + ELSEWHERE
    except (ImportError, AttributeError, OSError, ValueError) as error:
        reason = f"{type(error).__name__}: {error}"
        print(f"pace: each package is compiled whole, which takes longer: {reason}", file=sys.stderr, flush=True)
        return

    def compile_rest(cls, graph, wrapper_code, *others, device_type, **more):
        if config.aot_inductor.package_cpp_only or wrapper_code.count(interface) != 1:
            return original(cls, graph, wrapper_code, *others, device_type=device_type, **more)
        shared = []

        def build(name, sources, BuildOption, output_dir=""):
            if isinstance(sources, list):  # to be linked
                sources = sources + shared
            elif sources.endswith(".wrapper.cpp"):
                shared[:] = [interface_object(builder, BuildOption, device_type, interface, folder)]
            return builder(name, sources, BuildOption, output_dir)

        codecache.CppBuilder = build
        try:
            rest = wrapper_code.replace(interface, declarations)
            return original(cls, graph, rest, *others, device_type=device_type, **more)
        finally:
            codecache.CppBuilder = builder

    codecache.AotCodeCompiler.compile = classmethod(compile_rest)
#)""py"
