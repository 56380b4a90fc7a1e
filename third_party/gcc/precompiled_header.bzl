"""Headers that GCC compiles ahead for libraries with many files that would each begin by reading them.

The files compile to the same, in half the time. GCC reads a compiled header only before everything else, and only if its
own flags were the same; otherwise it reads the header itself.

    precompiled_header(name = "nn", copts = COPTS, headers = ["torch/nn/module.h"], deps = ["@libtorch//:headers"])
    cc_library(..., copts = COPTS + after("//a/package:nn"), deps = ["//a/package:nn"])

The files include the headers that they use as if this were not there.
https://gcc.gnu.org/onlinedocs/gcc/Precompiled-Headers.html
"""

load("@bazel_tools//tools/build_defs/cc:action_names.bzl", "CPP_COMPILE_ACTION_NAME")
load("@bazel_tools//tools/cpp:toolchain_utils.bzl", "find_cpp_toolchain")

def after(label):
    """The copts for code with the precompiled_header "//PACKAGE:NAME" of its own workspace among its deps."""
    return ["-include", label[2:].replace(":", "/") + ".hpp"]

def _compile(ctx, toolchain, context, header):
    """Declares the action that compiles `header`; returns the file, which lies where GCC looks for it."""
    features = cc_common.configure_features(
        ctx = ctx,
        cc_toolchain = toolchain,
        requested_features = ctx.features,
        unsupported_features = ctx.disabled_features,
    )
    output = ctx.actions.declare_file(header.basename + ".gch", sibling = header)
    variables = cc_common.create_compile_variables(
        feature_configuration = features,
        cc_toolchain = toolchain,
        source_file = header.path,
        output_file = output.path,
        user_compile_flags = ctx.fragments.cpp.copts + ctx.fragments.cpp.cxxopts + ctx.attr.copts,
        include_directories = context.includes,
        quote_include_directories = context.quote_includes,
        system_include_directories = context.system_includes,
        preprocessor_defines = context.defines,
        # As Bazel compiles for programs: otherwise than for shared objects only where they are optimised.
        use_pic = (ctx.var["COMPILATION_MODE"] != "opt" and
                   toolchain.needs_pic_for_dynamic_libraries(feature_configuration = features)),
    )
    ctx.actions.run(
        executable = cc_common.get_tool_for_action(
            feature_configuration = features,
            action_name = CPP_COMPILE_ACTION_NAME,
        ),
        arguments = cc_common.get_memory_inefficient_command_line(
            feature_configuration = features,
            action_name = CPP_COMPILE_ACTION_NAME,
            variables = variables,
        ),
        env = cc_common.get_environment_variables(
            feature_configuration = features,
            action_name = CPP_COMPILE_ACTION_NAME,
            variables = variables,
        ),
        inputs = depset([header], transitive = [context.headers, toolchain.all_files]),
        outputs = [output],
        mnemonic = "CppCompile",
        progress_message = "Compiling <%s> ahead" % ">, <".join(ctx.attr.headers),
        # Half a gigabyte, which is made sooner than fetched.
        execution_requirements = {"local": "1", "no-cache": "1"},
    )
    return output

def _impl(ctx):
    toolchain = find_cpp_toolchain(ctx)
    info = cc_common.merge_cc_infos(cc_infos = [each[CcInfo] for each in ctx.attr.deps])
    header = ctx.actions.declare_file("%s.hpp" % ctx.label.name)
    ctx.actions.write(header, "".join(["#include <%s>\n" % each for each in ctx.attr.headers]))
    files = [header]

    # Others look for another kind of file, and get the header itself. Bazel knows a compiler's name and no more.
    if toolchain.compiler_executable.rpartition("/")[2].startswith(("gcc", "g++")):
        files.append(_compile(ctx, toolchain, info.compilation_context, header))
    own = CcInfo(compilation_context = cc_common.create_compilation_context(headers = depset(files)))
    return [
        DefaultInfo(files = depset(files)),
        cc_common.merge_cc_infos(direct_cc_infos = [own, info]),
    ]

precompiled_header = rule(
    doc = "A header of that name, compiled ahead, for the deps of libraries and programs of its own workspace.",
    implementation = _impl,
    attrs = {
        "copts": attr.string_list(doc = "Options of the files that include it."),
        "deps": attr.label_list(mandatory = True, providers = [CcInfo], doc = "Whose headers they are."),
        "headers": attr.string_list(mandatory = True, doc = "As they are spelled between < and >."),
        "_cc_toolchain": attr.label(default = "@bazel_tools//tools/cpp:current_cc_toolchain"),
    },
    fragments = ["cpp"],
    toolchains = ["@bazel_tools//tools/cpp:toolchain_type"],
)
