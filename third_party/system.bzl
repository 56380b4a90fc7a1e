"""Repositories made of the packages that the machine has installed, and small stand-ins for the missing parts."""

_LIBRARY_FOLDERS = ["/usr/lib", "/usr/lib/x86_64-linux-gnu", "/usr/lib/aarch64-linux-gnu", "/usr/lib64"]

def _overlay(name):
    # A Label made here is one of this file's repository; a string would be one of the repository that loads it.
    return Label("//third_party:overlays/" + name)

def _system_impl(ctx):
    # The headers need no link: /usr/include is on the compiler's own path. They are only looked for.
    for header in ctx.attr.headers:
        if not ctx.path("/usr/include/" + header).exists:
            _missing(ctx, "/usr/include/" + header)
    for library in ctx.attr.libraries:
        found = [f for f in _LIBRARY_FOLDERS if ctx.path(f + "/" + library).exists]
        if not found:
            _missing(ctx, library)
        ctx.symlink(found[0] + "/" + library, "lib/" + library)
    ctx.symlink(_overlay(ctx.attr.overlay), "BUILD")

def _missing(ctx, what):
    fail(("@%s: %s is missing; it comes with the package %s. Run third_party/bazel in place of bazel, " +
          "with the whole names of targets: it installs missing packages, or says what to type.") % (ctx.name, what, ctx.attr.package))

system_repository = repository_rule(
    implementation = _system_impl,
    attrs = {
        "headers": attr.string_list(doc = "Below /usr/include."),
        "libraries": attr.string_list(doc = "Linked as lib/NAME."),
        "overlay": attr.string(mandatory = True, doc = "The BUILD file, by its name in overlays/."),
        "package": attr.string(mandatory = True, doc = "The Debian package to name when something is missing."),
    },
    # As in clang/repository.bzl.
    environ = ["PACE_INSTALLED"],
    local = True,
)

def _shim_impl(ctx):
    for path, overlay in ctx.attr.files.items():
        if overlay:
            ctx.symlink(_overlay(overlay), path)
        else:
            ctx.file(path)
    if "BUILD" not in ctx.attr.files:
        ctx.file("BUILD")

shim_repository = repository_rule(
    implementation = _shim_impl,
    attrs = {"files": attr.string_dict(doc = "Path in the repository: its content by name in overlays/, or nothing.")},
)
