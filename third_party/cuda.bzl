"""@cuda: the CUDA toolkit of CUDA_HOME or /usr/local/cuda, or an empty stand-in where there is none."""

def _toolkit(ctx):
    given = ctx.os.environ.get("CUDA_HOME", "")
    if given == "none":
        return None
    folder = ctx.path(given or "/usr/local/cuda")
    if folder.get_child("bin").get_child("nvcc").exists and folder.get_child("include").get_child("cuda.h").exists:
        return folder
    if given:
        # buildifier: disable=print
        print("CUDA_HOME=%s has no bin/nvcc and include/cuda.h: building without CUDA (CUDA_HOME=none is silent)" % given)
    return None

def _cuda_impl(ctx):
    toolkit = _toolkit(ctx)
    if toolkit:
        ctx.symlink(toolkit.get_child("include"), "include")
    lib = str(toolkit) + "/lib64" if toolkit else ""
    codes = []
    if toolkit:
        listed = ctx.execute([str(toolkit) + "/bin/nvcc", "--list-gpu-code"])
        if listed.return_code != 0:
            fail("%s/bin/nvcc --list-gpu-code failed: %s" % (toolkit, listed.stdout + listed.stderr))
        codes = listed.stdout.strip().split("\n")
    ctx.template("BUILD", ctx.attr._build_file, {
        "%{headers}": repr(["include"] if toolkit else []),
        "%{includes}": repr(["include"] if toolkit else []),
        "%{cudart}": repr(["-L" + lib, "-lcudart", "-Wl,-rpath," + lib] if toolkit else []),
    })
    ctx.file("config.bzl", "\n".join([
        "HAVE_CUDA = %r" % (toolkit != None),
        "CUDA_HOME = %r" % (str(toolkit) if toolkit else ""),
        "ARCHITECTURES = %r" % codes,
        "",
    ]))

cuda_repository = repository_rule(
    implementation = _cuda_impl,
    attrs = {"_build_file": attr.label(default = "//third_party:overlays/cuda.BUILD.tpl")},
    environ = ["CUDA_HOME"],
    local = True,
)
