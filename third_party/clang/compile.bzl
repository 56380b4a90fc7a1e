"""How Clang is called: as for a cc_test, and after a header compiled ahead where there is one to use."""

load("@clang//:config.bzl", "CLANG", "CLANG_VERSION")

PrecompiledInfo = provider(
    doc = "Headers compiled ahead.",
    fields = {
        "headers": "of each: struct(includes, the headers that it includes as they are spelled between < and >; file)",
    },
)

# Parts of the rules that compile.
COMPILE_ATTRS = {
    "precompiled": attr.label_list(
        providers = [PrecompiledInfo],
        doc = """Headers compiled ahead, the best first. A source is compiled after the first one whose includes it all
reaches anyway. It would read them before its own lines in any case, so this changes only how long it takes.""",
    ),
    "_closure": attr.label(default = "//third_party/clang:closure.awk", allow_single_file = True),
    "_compile": attr.label(default = "//third_party/clang:compile.sh", allow_single_file = True),
}

_FLAGS = [
    "-std=c++20",
    "-O0",
    "-DNDEBUG",
    "-fPIC",
    # Newer ones name some templates in another way than GCC 12, LibTorch's compiler.
    "-fclang-abi-compat=17",
    "-Wall",
    "-Wextra",
    "-Werror",
    # std::stable_sort of libstdc++ 12 calls a deprecated function; for our own code, GCC warns.
    "-Wno-deprecated-declarations",
]

def _clang():
    if not CLANG:
        fail("clang++-19 is missing, which compiles pace's unit tests; it comes with the package clang-19. Type: " +
             "third_party/bazel build //tests/..., which installs it, or says what to type.")
    return CLANG

def _flags(ctx, context):
    """For sources that use a CcInfo's compilation context; --copt of Bazel's command line adds others."""
    return (
        _FLAGS + ctx.fragments.cpp.copts + ctx.fragments.cpp.cxxopts +
        ["-D" + each for each in context.defines.to_list()] +
        ["-I" + each for each in context.includes.to_list()] +
        _each("-iquote", context.quote_includes) +
        # A folder of `includes` is one of system headers for Bazel; of pace's own, all warnings are wanted.
        [word for each in context.system_includes.to_list() for word in (["-Iinclude"] if each == "include" else ["-isystem", each])]
    )

def _each(flag, folders):
    return [word for each in folders.to_list() for word in [flag, each]]

def compile_with_clang(ctx, context, source, output, message, headers = [], flags = ["-c"], **kwargs):
    """Declares the action that compiles one source.

    Args:
      ctx: of a rule that has COMPILE_ATTRS and the fragment cpp.
      context: the compilation context of the files that the source includes.
      source: a file.
      output: the object file.
      message: for the line of progress.
      headers: files that it includes and `context` has not.
      flags: the form of the output, and the options.
      **kwargs: as for ctx.actions.run.
    """
    unused = ctx.actions.declare_file(output.basename + ".unused", sibling = output)
    _run(ctx, context, source, message, headers, flags + [source.path, "-o", output.path], unused, [output], **kwargs)

def check_with_clang(ctx, context, source, message):
    """Declares the action that only checks one source. Returns a file that is there if it compiles."""
    unused = ctx.actions.declare_file(source.basename + ".unused", sibling = source)
    _run(ctx, context, source, message, [], ["-fsyntax-only", source.path], unused, [])
    return unused

def _run(ctx, context, source, message, headers, arguments, unused, outputs, **kwargs):
    ahead = [header for each in ctx.attr.precompiled for header in each[PrecompiledInfo].headers]
    parameters = ctx.actions.args()
    roots = depset(transitive = [context.includes, context.system_includes, context.quote_includes])
    parameters.add_all(roots, before_each = "-I")
    parameters.add_all(context.headers, format_each = "--input=%s", map_each = _own_header)
    parameters.add_all(headers, format_each = "--input=%s")
    parameters.add_all(["--precompiled=%s=%s" % (",".join(each.includes), each.file.path) for each in ahead])
    parameters.use_param_file("%s", use_always = True)
    parameters.set_param_file_format("multiline")
    ctx.actions.run(
        executable = ctx.file._compile,
        arguments = [parameters, unused.path, source.path, _clang()] + _flags(ctx, context) + arguments,
        # Another version is another compiler, so it belongs to the inputs that Bazel compares.
        env = {"CLANG_VERSION": CLANG_VERSION, "PATH": "/usr/bin:/bin"},
        inputs = depset(
            [source, ctx.file._closure] + headers + [each.file for each in ahead],
            transitive = [context.headers],
        ),
        outputs = outputs + [unused],
        unused_inputs_list = unused,
        mnemonic = "CppCompile",
        progress_message = "Compiling " + message,
        **kwargs
    )

def _own_header(file):
    return file.path if not file.is_directory and not file.path.startswith("external/") else None
