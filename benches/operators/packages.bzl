"""Compiled AOTInductor packages as build outputs: made once, cached by Bazel, found by the bench in its runfiles."""

load("@libtorch//:python.bzl", "PYTHON")

def _impl(ctx):
    packages = ctx.actions.declare_directory(ctx.label.name)
    if not PYTHON:
        # The bench says for each row that there is no Python to compile with.
        ctx.actions.run_shell(outputs = [packages], command = "mkdir -p '%s'" % packages.path)
        return DefaultInfo(files = depset([packages]), runfiles = ctx.runfiles([packages]))
    ctx.actions.run(
        executable = ctx.executable.compiler,
        arguments = [ctx.files.corpus[0].dirname, ctx.file.set.path, packages.path],
        inputs = ctx.files.corpus + [ctx.file.set],
        outputs = [packages],
        # Inductor calls the C++ compiler, and keeps its caches in the folder for temporary files.
        env = {"PACE_PYTHON": PYTHON, "PATH": "/usr/local/bin:/usr/bin:/bin"},
        mnemonic = "InductorCompile",
        progress_message = "Compiling AOTInductor packages for %s" % ctx.label,
    )
    return DefaultInfo(files = depset([packages]), runfiles = ctx.runfiles([packages]))

inductor_packages = rule(
    implementation = _impl,
    attrs = {
        # In the target configuration: the bench has it compiled like that already.
        "compiler": attr.label(executable = True, cfg = "target", mandatory = True),
        "corpus": attr.label(mandatory = True),
        "set": attr.label(allow_single_file = True, mandatory = True),
    },
)
