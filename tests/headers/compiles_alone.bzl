"""A test that each header of a library compiles as the only include of a file.

The compiler is Clang. GCC compiles everything that uses the headers, but the unit tests that use LibTorch.
"""

load("//third_party/clang:compile.bzl", "COMPILE_ATTRS", "check_with_clang")

def _own_headers(library):
    """As they are included: below `include`, or else from the workspace's root."""
    headers = library[CcInfo].compilation_context.direct_public_headers
    paths = [header.short_path for header in headers]
    paths = [path[len("include/"):] if path.startswith("include/") else path for path in paths]
    return [path for path in paths if path.endswith(".hpp")]

def _impl(ctx):
    context = ctx.attr.library[CcInfo].compilation_context
    checked = []
    for rest in _own_headers(ctx.attr.library):
        source = ctx.actions.declare_file("%s/%s.cc" % (ctx.label.name, rest))

        # Twice, for the include guard.
        ctx.actions.write(source, "#include \"%s\"\n#include \"%s\"\n" % (rest, rest))
        checked.append(check_with_clang(ctx, context, source, rest + " alone"))
    if not checked:
        fail("%s has no headers of its own" % ctx.attr.library.label)
    script = ctx.actions.declare_file(ctx.label.name + ".sh")
    ctx.actions.write(script, "#!/bin/sh\necho '%d headers compile alone'\n" % len(checked), is_executable = True)
    return DefaultInfo(executable = script, runfiles = ctx.runfiles(files = checked))

compiles_alone_test = rule(
    implementation = _impl,
    attrs = dict(
        COMPILE_ATTRS,
        library = attr.label(mandatory = True, providers = [CcInfo]),
    ),
    fragments = ["cpp"],
    test = True,
)
