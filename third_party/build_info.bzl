"""A source file that tells a program how it was built."""

load("@libtorch//:python.bzl", "PYTHON")

_SOURCE = """// Written by the build.
#include "pace/base/build_info.hpp"

namespace {{

const bool filled_in = [] {{
  pace::build_info() = {{{flags}, {python}}};
  return true;
}}();

}}  // namespace
"""

def _literal(text):
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'

def _impl(ctx):
    source = ctx.actions.declare_file(ctx.label.name + ".cc")

    # The configuration's own options are the same for all; a person chose the options of the command line.
    flags = ctx.attr.flags + ctx.fragments.cpp.copts + ctx.fragments.cpp.cxxopts
    ctx.actions.write(source, _SOURCE.format(
        flags = _literal(" ".join(flags)),
        python = _literal(PYTHON or ""),
    ))
    return DefaultInfo(files = depset([source]))

build_info = rule(
    implementation = _impl,
    attrs = {"flags": attr.string_list()},
    fragments = ["cpp"],
)
