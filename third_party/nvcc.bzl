"""Compiles CUDA sources with the toolkit's nvcc, and says which targets can be built without it."""

load("@cuda//:config.bzl", "ARCHITECTURES", "CUDA_HOME", "HAVE_CUDA")
load("@libtorch//:config.bzl", "HAS_CUDA")

# For targets that cannot be built here: skipped by wildcards.
NEVER = [str(Label("@platforms//:incompatible"))]

# For targets that need the toolkit: skipped by wildcards where there is none.
NEEDS_TOOLKIT = [] if HAVE_CUDA else NEVER

# For pace's own targets that need LibTorch's CUDA half as well: only with --config=cuda.
NEEDS_CUDA = select({
    str(Label("//third_party:cuda")): [] if HAVE_CUDA and HAS_CUDA else NEVER,
    "//conditions:default": NEVER,
})

def only_with_cuda(deps):
    """These dependencies under --config=cuda, where CUDA can be built at all; otherwise none."""
    return select({
        str(Label("//third_party:cuda")): deps if HAVE_CUDA and HAS_CUDA else [],
        "//conditions:default": [],
    })

_Architectures = provider(fields = {"names": "such as sm_90"})

def _number(where, architecture):
    """`90` of `sm_90`, `90a` of `sm_90a`."""
    number = architecture[3:]
    if not architecture.startswith("sm_") or not (number.isdigit() or number[:-1].isdigit() and number[-1] in "af"):
        fail("%s: '%s' is no architecture of a GPU; expected such as sm_80" % (where, architecture))
    known = architecture if number.isdigit() else architecture[:-1]
    if HAVE_CUDA and known not in ARCHITECTURES:
        fail("%s: the toolkit in %s compiles nothing for %s; expected some of %s" %
             (where, CUDA_HOME, architecture, ", ".join(ARCHITECTURES)))
    return number

def _flag_impl(ctx):
    names = ctx.build_setting_value
    if not names:
        fail("%s: no architecture is given; expected some, such as sm_80,sm_90" % ctx.label)
    for name in names:
        _number(str(ctx.label), name)
    return _Architectures(names = names)

cuda_arch_flag = rule(
    implementation = _flag_impl,
    build_setting = config.string_list(flag = True),
)

def _generated_code(ctx):
    """The code that nvcc generates: machine code for each architecture."""
    if ctx.attr.arch:
        # Code for just these: a kernel without it fails at its first launch, by name.
        return [(_number(str(ctx.label), name), "sm") for name in ctx.attr.arch]
    numbers = [_number("", name) for name in ctx.attr._flag[_Architectures].names]

    # A GPU that is newer than all of them compiles the PTX of the newest when it loads it. PTX of sm_90a and its kind
    # is for that GPU alone.
    portable = sorted([int(number) for number in numbers if number.isdigit()])
    return [(number, "sm") for number in numbers] + [(str(number), "compute") for number in portable[-1:]]

def _impl(ctx):
    context = cc_common.merge_cc_infos(cc_infos = [dep[CcInfo] for dep in ctx.attr.deps]).compilation_context
    flags = ctx.actions.args()
    flags.add_all(["-O3", "-std=c++17", "-Xcompiler", "-fPIC"])
    code = _generated_code(ctx)
    for number, kind in code:
        flags.add("--generate-code=arch=compute_%s,code=%s_%s" % (number, kind, number))

    # The root of the target's workspace, and of the files generated for it.
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
            progress_message = "Compiling %s for %s" %
                               (source.short_path, ", ".join([kind + "_" + number for number, kind in code])),
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
        "_flag": attr.label(default = "//:cuda_arch"),
    },
)
