"""A test that each header of a library compiles as the only include of a file."""

load("@bazel_tools//tools/cpp:toolchain_utils.bzl", "find_cpp_toolchain")

def _impl(ctx):
    toolchain = find_cpp_toolchain(ctx)
    features = cc_common.configure_features(ctx = ctx, cc_toolchain = toolchain)
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
        _, outputs = cc_common.compile(
            name = ctx.label.name + "_" + rest.replace("/", "_"),
            actions = ctx.actions,
            feature_configuration = features,
            cc_toolchain = toolchain,
            srcs = [source],
            compilation_contexts = [context],
            disallow_pic_outputs = True,
            # The last as in pace.bzl: a tenth less time.
            user_compile_flags = ["-std=c++20", "-O0", "-Wall", "-Wextra", "-Werror", "--param=ggc-min-heapsize=1048576"],
        )
        objects += outputs.objects + outputs.pic_objects
    if not objects:
        fail("%s has no headers of its own" % ctx.attr.library.label)
    script = ctx.actions.declare_file(ctx.label.name + ".sh")
    ctx.actions.write(script, "#!/bin/sh\necho '%d headers compile alone'\n" % len(objects), is_executable = True)
    return DefaultInfo(executable = script, runfiles = ctx.runfiles(files = objects))

compiles_alone_test = rule(
    implementation = _impl,
    attrs = {
        "library": attr.label(mandatory = True, providers = [CcInfo]),
        "_cc_toolchain": attr.label(default = "@bazel_tools//tools/cpp:current_cc_toolchain"),
    },
    fragments = ["cpp"],
    test = True,
    toolchains = ["@bazel_tools//tools/cpp:toolchain_type"],
    incompatible_use_toolchain_transition = True,
)
