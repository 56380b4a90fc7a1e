"""Headers that are compiled ahead for the many files of tests that would each begin by reading them.

GCC takes a precompiled header for the real one when everything that matters is the same, so the flags here are those of
pace_unit_test. https://gcc.gnu.org/onlinedocs/gcc-12.2.0/gcc/Precompiled-Headers.html
"""

load("@bazel_tools//tools/build_defs/cc:action_names.bzl", "CPP_COMPILE_ACTION_NAME")
load("@bazel_tools//tools/cpp:toolchain_utils.bzl", "find_cpp_toolchain")
load("//:pace.bzl", "UNIT_FLAGS")

PrecompiledInfo = provider(
    doc = "A header of one include, compiled ahead.",
    fields = {
        "files": "the header and what GCC made of it, which lie side by side",
        "includes": "the one header that it includes, as it is spelled between < and >",
        "path": "the header's path, for -include",
    },
)

def compiler_command(ctx, toolchain, context, source, output, flags):
    """The compiler, its arguments and its environment, as cc_library would have them."""
    features = cc_common.configure_features(ctx = ctx, cc_toolchain = toolchain)
    variables = cc_common.create_compile_variables(
        feature_configuration = features,
        cc_toolchain = toolchain,
        source_file = source,
        output_file = output,
        user_compile_flags = flags,
        include_directories = context.includes,
        quote_include_directories = context.quote_includes,
        system_include_directories = context.system_includes,
        preprocessor_defines = context.defines,
    )
    how = {"feature_configuration": features, "action_name": CPP_COMPILE_ACTION_NAME}
    return struct(
        compiler = cc_common.get_tool_for_action(**how),
        arguments = cc_common.get_memory_inefficient_command_line(variables = variables, **how),
        environment = cc_common.get_environment_variables(variables = variables, **how),
    )

def _impl(ctx):
    toolchain = find_cpp_toolchain(ctx)
    context = ctx.attr.library[CcInfo].compilation_context
    header = ctx.actions.declare_file("precompiled/%s.hpp" % ctx.label.name)
    ctx.actions.write(header, "#include <%s>\n" % ctx.attr.header)
    output = ctx.actions.declare_file("precompiled/%s.hpp.gch" % ctx.label.name)
    command = compiler_command(ctx, toolchain, context, header.path, output.path, UNIT_FLAGS + ["-x", "c++-header"])
    ctx.actions.run(
        executable = command.compiler,
        arguments = command.arguments,
        env = command.environment,
        inputs = depset([header], transitive = [context.headers, toolchain.all_files]),
        outputs = [output],
        mnemonic = "CppPrecompile",
        progress_message = "Compiling <%s> ahead" % ctx.attr.header,
    )
    files = depset([header, output])
    return [
        DefaultInfo(files = files),
        PrecompiledInfo(files = files, includes = ctx.attr.header, path = header.path),
        # For `-include precompiled/NAME.hpp`.
        CcInfo(compilation_context = cc_common.create_compilation_context(
            headers = files,
            quote_includes = depset([output.dirname[:-len("/precompiled")]]),
        )),
    ]

precompiled_header = rule(
    implementation = _impl,
    attrs = {
        "header": attr.string(mandatory = True, doc = "As it is spelled between < and >."),
        "library": attr.label(mandatory = True, providers = [CcInfo], doc = "Whose header it is."),
        "_cc_toolchain": attr.label(default = "@bazel_tools//tools/cpp:current_cc_toolchain"),
    },
    fragments = ["cpp"],
    toolchains = ["@bazel_tools//tools/cpp:toolchain_type"],
    incompatible_use_toolchain_transition = True,
)
