"""A test that each header of a library compiles as the only include of a file.

The compiler is Clang; whatever uses the headers is compiled by GCC, but the unit tests that use LibTorch.
"""

load("//third_party/clang:compile.bzl", "COMPILE_ATTRS", "compile_with_clang")

def _impl(ctx):
    context = ctx.attr.library[CcInfo].compilation_context
    objects = []
    for header in context.direct_public_headers:
        # The library's own spelling of the path is what follows its virtual include folder.
        _, found, rest = header.path.partition("/_virtual_includes/" + ctx.attr.library.label.name + "/")
        if not found or not rest.endswith(".hpp"):
            continue
        source = ctx.actions.declare_file("%s/%s.cc" % (ctx.label.name, rest))

        # Twice, for the include guard.
        ctx.actions.write(source, "#include \"%s\"\n#include \"%s\"\n" % (rest, rest))
        output = ctx.actions.declare_file("%s/%s.o" % (ctx.label.name, rest))
        compile_with_clang(ctx, context, source, output, rest + " alone")
        objects.append(output)
    if not objects:
        fail("%s has no headers of its own" % ctx.attr.library.label)
    script = ctx.actions.declare_file(ctx.label.name + ".sh")
    ctx.actions.write(script, "#!/bin/sh\necho '%d headers compile alone'\n" % len(objects), is_executable = True)
    return DefaultInfo(executable = script, runfiles = ctx.runfiles(files = objects))

compiles_alone_test = rule(
    implementation = _impl,
    attrs = dict(
        COMPILE_ATTRS,
        library = attr.label(mandatory = True, providers = [CcInfo]),
    ),
    fragments = ["cpp"],
    test = True,
)
