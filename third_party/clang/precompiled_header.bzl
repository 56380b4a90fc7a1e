"""Headers that are compiled ahead for the many files of tests that would each begin by reading them.

Clang also instantiates ahead (-fpch-instantiate-templates) the templates that those headers ask for, and reads only the
parts that a file uses. An empty file after LibTorch's headers took a sixth of the time that it takes GCC 12, which
instantiates all that anew for each file. https://clang.llvm.org/docs/PCHInternals.html
"""

load(":compile.bzl", "COMPILE_ATTRS", "PrecompiledInfo", "compile_with_clang")

def _header_impl(ctx):
    context = cc_common.merge_cc_infos(cc_infos = [each[CcInfo] for each in ctx.attr.deps]).compilation_context
    header = ctx.actions.declare_file("%s.hpp" % ctx.label.name)
    ctx.actions.write(header, "".join(["#include \"%s\"\n" % each for each in ctx.attr.headers]))
    output = ctx.actions.declare_file("%s.pch" % ctx.label.name)
    compile_with_clang(
        ctx,
        context,
        header,
        output,
        "<%s> ahead" % ">, <".join(ctx.attr.headers),
        flags = ["-fpch-instantiate-templates", "-Xclang", "-fno-pch-timestamp", "-xc++-header"],
        # It keeps absolute paths, so neither a sandbox's nor another folder's will do.
        execution_requirements = {"local": "1", "no-cache": "1"},
    )
    return [
        DefaultInfo(files = depset([output])),
        PrecompiledInfo(headers = [struct(includes = ctx.attr.headers, file = output)]),
    ]

precompiled_header = rule(
    implementation = _header_impl,
    attrs = dict(
        COMPILE_ATTRS,
        deps = attr.label_list(mandatory = True, providers = [CcInfo], doc = "Whose headers they are."),
        headers = attr.string_list(mandatory = True, doc = "As they are spelled between < and >."),
    ),
    fragments = ["cpp"],
)

def _headers_impl(ctx):
    return PrecompiledInfo(headers = [header for each in ctx.attr.headers for header in each[PrecompiledInfo].headers])

precompiled_headers = rule(
    implementation = _headers_impl,
    attrs = {"headers": attr.label_list(mandatory = True, providers = [PrecompiledInfo], doc = "The best first.")},
)
