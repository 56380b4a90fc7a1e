"""Compiled AOTInductor packages as build outputs: made once, cached by Bazel, found by a bench in its runfiles."""

load("@libtorch//:python.bzl", "PYTHON")

# Precompiled headers and the like are compiled by the first action or test, and used by all: they take longer than most
# packages. Their names hold the compiler and its options, not the contents of LibTorch's headers. Remove the folder
# (0.5 GB) after you replaced a LibTorch in its place.
COMMON_PARTS = "/tmp/pace-common-parts"

def compiled_packages(ctx, compiler, arguments, inputs):
    """A directory of packages that `compiler ARGUMENTS... DIRECTORY` writes.

    Args:
      ctx: of the rule whose output it is.
      compiler: an executable.
      arguments: its first arguments.
      inputs: files that it reads.

    Returns:
      DefaultInfo with the directory, named as the target.
    """
    packages = ctx.actions.declare_directory(ctx.label.name)
    if not PYTHON:
        # The bench says for each row that there is no Python to compile with.
        ctx.actions.run_shell(outputs = [packages], command = "mkdir -p '%s'" % packages.path)
        return DefaultInfo(files = depset([packages]), runfiles = ctx.runfiles([packages]))
    ctx.actions.run(
        executable = compiler,
        arguments = arguments + [packages.path],
        inputs = inputs,
        outputs = [packages],
        # Inductor calls the C++ compiler, and keeps its caches in the folder for temporary files. Tests have this PATH
        # (--incompatible_strict_action_env), so that they find the same compiler: it is part of a package's key.
        env = {"PACE_COMMON_PARTS": COMMON_PARTS, "PACE_PYTHON": PYTHON, "PATH": "/bin:/usr/bin:/usr/local/bin"},
        mnemonic = "InductorCompile",
        progress_message = "Compiling AOTInductor packages for %s" % ctx.label,
    )
    return DefaultInfo(files = depset([packages]), runfiles = ctx.runfiles([packages]))

def _definition_packages_impl(ctx):
    return compiled_packages(ctx, ctx.executable.compiler, ctx.attr.arguments, ctx.files.data)

definition_packages = rule(
    doc = "Packages of the definitions that a program compiles (benches/files/aot/compile_definitions.hpp).",
    implementation = _definition_packages_impl,
    attrs = {
        "arguments": attr.string_list(doc = "For the program, before the directory to write to."),
        # In the target configuration: the bench has it compiled like that already.
        "compiler": attr.label(executable = True, cfg = "target", mandatory = True),
        "data": attr.label_list(allow_files = True, doc = "Files that the program reads."),
    },
)
