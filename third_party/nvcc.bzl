"""Compiles CUDA sources with the toolkit's nvcc, and says which targets can be built without it."""

load("@cuda//:config.bzl", "CUDA_HOME", "HAVE_CUDA")
load("@libtorch//:config.bzl", "HAS_CUDA")

_NEVER = [str(Label("@platforms//:incompatible"))]

# For targets that need the toolkit: skipped by wildcards where there is none.
NEEDS_TOOLKIT = [] if HAVE_CUDA else _NEVER

# For pace's own targets that need LibTorch's CUDA half as well: only with --config=cuda.
NEEDS_CUDA = select({
    str(Label("//third_party:cuda")): [] if HAVE_CUDA and HAS_CUDA else _NEVER,
    "//conditions:default": _NEVER,
})

def only_with_cuda(deps):
    """These dependencies under --config=cuda, where CUDA can be built at all; otherwise none."""
    return select({
        str(Label("//third_party:cuda")): deps if HAVE_CUDA and HAS_CUDA else [],
        "//conditions:default": [],
    })

def _impl(ctx):
    context = cc_common.merge_cc_infos(cc_infos = [dep[CcInfo] for dep in ctx.attr.deps]).compilation_context
    flags = ctx.actions.args()
    flags.add_all(["-O3", "-std=c++17", "-Xcompiler", "-fPIC"])
    for arch in ctx.attr.arch:
        # Code for just this: a kernel without it fails at its first launch, by name.
        number = arch.replace("sm_", "")
        flags.add("--generate-code=arch=compute_%s,code=sm_%s" % (number, number))

    # The root of the workspace that the target is in, and of what was generated for it.
    root = ctx.label.workspace_root or "."
    flags.add_all([root, ctx.bin_dir.path + "/" + root], before_each = "-I")
    flags.add_all(context.defines, before_each = "-D")
    flags.add_all(context.quote_includes, before_each = "-I")
    flags.add_all(context.includes, before_each = "-I")
    flags.add_all(context.system_includes, before_each = "-isystem")
    flags.add_all(ctx.attr.copts)
    objects = []
    for source in ctx.files.srcs:
        object_file = ctx.actions.declare_file("%s/%s.o" % (ctx.label.name, source.basename))
        objects.append(object_file)
        one = ctx.actions.args()
        one.add("-c", source)
        one.add("-o", object_file)
        ctx.actions.run(
            executable = CUDA_HOME + "/bin/nvcc",
            arguments = [flags, one],
            inputs = depset(ctx.files.srcs + ctx.files.hdrs, transitive = [context.headers]),
            outputs = [object_file],
            mnemonic = "CudaCompile",
            progress_message = "Compiling %s for %s" % (source.short_path, ", ".join(ctx.attr.arch)),
            # nvcc looks for the host's compiler on the path.
            use_default_shell_env = True,
        )
    return DefaultInfo(files = depset(objects))

nvcc_objects = rule(
    implementation = _impl,
    attrs = {
        "arch": attr.string_list(),
        "copts": attr.string_list(),
        "deps": attr.label_list(providers = [CcInfo]),
        "hdrs": attr.label_list(allow_files = True),
        "srcs": attr.label_list(allow_files = [".cu"], mandatory = True),
    },
)
