"""Runs a program in the optimised configuration, for any configuration of the rest of the build.

A user's library under test belongs to the measurement: without this, `bazel test` in a workspace whose .bazelrc does
not say `--compilation_mode=opt` would compile it with -O0 and time that.
"""

load("@pace_checkout//:checkout.bzl", "CHECKOUT")
load("@page_python//:config.bzl", "PYTHON")

_MODE = "//command_line_option:compilation_mode"

def _optimise(_settings, _attr):
    return {_MODE: "opt"}

_optimised = transition(
    implementation = _optimise,
    inputs = [],
    outputs = [_MODE],
)

def _impl(ctx):
    # A link of the target's own name: users run the program itself.
    link = ctx.actions.declare_file(ctx.label.name)
    ctx.actions.symlink(output = link, target_file = ctx.executable.program, is_executable = True)

    # An attribute with a transition is a list of one.
    program = ctx.attr.program[0]
    runfiles = ctx.runfiles(files = ctx.files.data).merge(program[DefaultInfo].default_runfiles)
    for target in ctx.attr.data + ctx.attr._report:
        runfiles = runfiles.merge(target[DefaultInfo].default_runfiles)
    return [
        DefaultInfo(executable = link, runfiles = runfiles),
        # A variable of the test, not of the compilation: nothing is built anew for another commit or folder.
        testing.TestEnvironment(dict({"PACE_CHECKOUT": CHECKOUT}, **ctx.attr.env)),
    ]

_ATTRS = {
    "data": attr.label_list(allow_files = True),
    "env": attr.string_dict(),
    "program": attr.label(cfg = _optimised, executable = True, mandatory = True),
    # The program that makes a page of the results; without its Python no program has it.
    "_report": attr.label_list(default = ["//tools/report"] if PYTHON else []),
    "_allowlist_function_transition": attr.label(default = "@bazel_tools//tools/allowlists/function_transition_allowlist"),
}

optimised_binary = rule(implementation = _impl, attrs = _ATTRS, executable = True)

optimised_test = rule(implementation = _impl, attrs = _ATTRS, test = True)
