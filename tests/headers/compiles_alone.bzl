"""A test that each header of a library compiles as the only include of a file."""

load("@bazel_tools//tools/cpp:toolchain_utils.bzl", "find_cpp_toolchain")
load("//:pace.bzl", "UNIT_FLAGS")
load("//tests/precompiled:precompiled.bzl", "PrecompiledInfo", "compiler_command")

def _impl(ctx):
    toolchain = find_cpp_toolchain(ctx)
    context = ctx.attr.library[CcInfo].compilation_context
    ahead = [target[PrecompiledInfo] for target in ctx.attr.precompiled]
    inputs = depset(
        ctx.files._closure,
        transitive = [context.headers, toolchain.all_files] + [each.files for each in ahead],
    )
    roots = context.includes.to_list() + context.system_includes.to_list() + context.quote_includes.to_list()
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
        unused = ctx.actions.declare_file("%s/%s.unused" % (ctx.label.name, rest))
        command = compiler_command(ctx, toolchain, context, source.path, output.path, UNIT_FLAGS)

        # What the header reaches, and so what of it may have been compiled ahead, is found when it is compiled.
        closure = ctx.actions.args()
        closure.add_all(roots, before_each = "-I")
        closure.add_all(context.headers, format_each = "--input=%s", map_each = _pace_header)
        closure.add_all(["--precompiled=%s=%s" % (each.includes, each.path) for each in ahead])
        closure.use_param_file("%s", use_always = True)
        closure.set_param_file_format("multiline")
        ctx.actions.run(
            executable = ctx.file._compile,
            arguments = [
                closure,
                unused.path,
                source.path,
                command.compiler,
            ] + command.arguments,
            env = command.environment,
            inputs = depset([source], transitive = [inputs]),
            outputs = [output, unused],
            unused_inputs_list = unused,
            mnemonic = "CppCompile",
            progress_message = "Compiling %s alone" % rest,
        )
        objects.append(output)
    if not objects:
        fail("%s has no headers of its own" % ctx.attr.library.label)
    script = ctx.actions.declare_file(ctx.label.name + ".sh")
    ctx.actions.write(script, "#!/bin/sh\necho '%d headers compile alone'\n" % len(objects), is_executable = True)
    return DefaultInfo(executable = script, runfiles = ctx.runfiles(files = objects))

def _pace_header(file):
    return file.path if not file.is_directory and not file.path.startswith("external/") else None

compiles_alone_test = rule(
    implementation = _impl,
    attrs = {
        "library": attr.label(mandatory = True, providers = [CcInfo]),
        "precompiled": attr.label_list(
            providers = [PrecompiledInfo],
            doc = """Tried in this order: the first that the header reaches anyway is put before it. As everything of
it would be read before the header's own first line after the includes, this changes only how long it takes.""",
        ),
        "_cc_toolchain": attr.label(default = "@bazel_tools//tools/cpp:current_cc_toolchain"),
        "_closure": attr.label(default = ":closure.awk", allow_single_file = True),
        "_compile": attr.label(default = ":compile_alone.sh", allow_single_file = True),
    },
    fragments = ["cpp"],
    test = True,
    toolchains = ["@bazel_tools//tools/cpp:toolchain_type"],
    incompatible_use_toolchain_transition = True,
)
