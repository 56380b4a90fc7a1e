"""@clang: the C++ compiler of LLVM, which compiles pace's own unit tests; nothing else needs it."""

def _clang_impl(ctx):
    path = ctx.which("clang++-19") or ctx.which("clang++")
    version = ""
    if path:
        version = ctx.execute([path, "-dumpversion"]).stdout.strip()
    ctx.file("BUILD")
    ctx.file("config.bzl", "\n".join([
        "# None where there is none.",
        "CLANG = %r" % (str(path) if path else None),
        "CLANG_VERSION = %r" % version,
        "",
    ]))

clang_repository = repository_rule(
    implementation = _clang_impl,
    # third_party/bazel sets PACE_INSTALLED. With it, a server sees tools that were installed after it had looked.
    environ = ["PATH", "PACE_INSTALLED"],
    local = True,
)
