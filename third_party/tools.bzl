"""@tools_python: the Python of the programs in tools/, and rules for such programs and their tests."""

_ENVIRONMENT = ["PACE_TOOLS_PYTHON", "PACE_HOME", "XDG_CACHE_HOME", "HOME"]

def _installed(ctx):
    """The Python that third_party/bazel installed, or an empty text and the reason."""
    env = ctx.os.environ
    requirements = ctx.read(Label("//third_party:tools_requirements.txt")).rstrip("\n")
    cache = env.get("XDG_CACHE_HOME") or (env.get("HOME", "") + "/.cache")

    # needs_hash in setup/needs.sh is the same function.
    home = "%s/tools-%d" % (env.get("PACE_HOME") or cache + "/pace", hash(requirements) % 4294967296)
    stamp = ctx.path(home + "/complete")
    if stamp.exists and ctx.read(stamp).rstrip("\n") == requirements:
        return home + "/venv/bin/python3", ""
    return "", ("the Python of the programs in tools/ is not installed in %s. Run third_party/bazel in place of " +
                "bazel, which installs it, or set PACE_TOOLS_PYTHON to a Python that has what " +
                "third_party/tools_requirements.txt names.") % home

def _tools_python_impl(ctx):
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
tools_python_repository = repository_rule(
    implementation = _tools_python_impl,
    environ = _ENVIRONMENT,
    local = True,
)
