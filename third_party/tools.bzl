"""@page_python and @tools_python: the Python that makes pages, and the Python of tools/history and tools/fleet."""

# third_party/bazel sets PACE_INSTALLED. With it, a server sees tools that were installed after it had looked.
_ENVIRONMENT = ["PACE_TOOLS_PYTHON", "PACE_HOME", "XDG_CACHE_HOME", "HOME", "PACE_INSTALLED"]

def _installed(ctx):
    """The Python that third_party/bazel installed, or an empty text and the reason."""
    env = ctx.os.environ
    name = ctx.attr.environment
    requirements = ctx.read(Label("//third_party:%s_requirements.txt" % name)).rstrip("\n")
    cache = env.get("XDG_CACHE_HOME") or (env.get("HOME", "") + "/.cache")

    # needs_hash in setup/needs.sh is the same function.
    home = "%s/%s-%d" % (env.get("PACE_HOME") or cache + "/pace", name, hash(requirements) % 4294967296)
    stamp = ctx.path(home + "/complete")
    if stamp.exists and ctx.read(stamp).rstrip("\n") == requirements:
        return home + "/venv/bin/python3", ""
    return "", ("its Python is not installed in %s. Type: %s, which installs it, or set PACE_TOOLS_PYTHON to a Python " +
                "that has what third_party/%s_requirements.txt names.") % (home, ctx.attr.installed_by, name)

def _python_impl(ctx):
    given = ctx.os.environ.get("PACE_TOOLS_PYTHON")
    if given == "none":
        python, reason = "", "PACE_TOOLS_PYTHON=none: without Python the programs in tools/ cannot run. Unset it."
    elif given and not given.startswith("/"):
        # It would mean another program to this rule than to the shell.
        fail("PACE_TOOLS_PYTHON=%s: expected an absolute path (third_party/bazel in place of bazel makes it one)" % given)
    elif given:
        python, reason = given, ""
    else:
        python, reason = _installed(ctx)
    ctx.file("config.bzl", "# The interpreter, or why there is none.\nPYTHON = %r\nREASON = %r\n" % (python, reason))
    ctx.file("BUILD")

# A Python that is not there fails no build: the programs that need it say so when they run.
python_repository = repository_rule(
    implementation = _python_impl,
    attrs = {
        "environment": attr.string(mandatory = True, doc = "Of setup/install.sh: page or tools."),
        "installed_by": attr.string(mandatory = True, doc = "A command that installs it."),
    },
    environ = _ENVIRONMENT,
    local = True,
)
