"""Files that tools/export.py writes, as build outputs."""

load("@libtorch//:python.bzl", "PYTHON")

_SUFFIXES = {
    "aot_inductor": ".aot.pt2",
    "export": ".pt2",
    "torchscript": ".pt",
}

def _impl(ctx):
    formats = ctx.attr.formats
    outputs = [ctx.actions.declare_file(ctx.label.name + _SUFFIXES[each]) for each in formats]
    outputs.append(ctx.actions.declare_file(ctx.label.name + ".inputs.pt"))
    arguments = [ctx.file._export.path, ctx.file.src.path + ":" + ctx.attr.function]
    arguments += ["--name", ctx.label.name, "--output-directory", outputs[0].dirname]
    for each in formats:
        arguments += ["--format", each]
    if ctx.attr.dynamic_batch:
        arguments.append("--dynamic-batch")
    ctx.actions.run_shell(
        # Inductor's own folder is one that all programs of a user share, half-written files included.
        command = "TORCHINDUCTOR_CACHE_DIR=$(mktemp -d) && export TORCHINDUCTOR_CACHE_DIR || exit; " +
                  "trap 'rm -rf \"$TORCHINDUCTOR_CACHE_DIR\"' EXIT; \"$@\"",
        arguments = [PYTHON] + arguments,
        inputs = [ctx.file._export, ctx.file.src],
        outputs = outputs,
        # Inductor calls the C++ compiler.
        env = {
            "AOT_INDUCTOR_COMPILE_WRAPPER_OPT_LEVEL": "O0",
            "PATH": "/bin:/usr/bin:/usr/local/bin",
        },
        mnemonic = "TorchExport",
        progress_message = "Exporting %s" % ctx.label,
    )
    return DefaultInfo(files = depset(outputs), runfiles = ctx.runfiles(outputs))

_exported_files = rule(
    implementation = _impl,
    attrs = {
        "dynamic_batch": attr.bool(),
        "formats": attr.string_list(mandatory = True),
        "function": attr.string(mandatory = True),
        "src": attr.label(allow_single_file = [".py"], mandatory = True),
        "_export": attr.label(allow_single_file = True, default = Label("//tools:export.py")),
    },
)

def exported_files(name, **kwargs):
    """NAME.pt, NAME.pt2, NAME.aot.pt2 (by `formats`) and NAME.inputs.pt of the value that a function in `src` returns.

    There is no such target where the build knows no Python with torch.
    """
    if PYTHON:
        _exported_files(name = name, **kwargs)
