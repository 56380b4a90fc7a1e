"""Python programs, and tests of them, that run with a Python that third_party/bazel installs."""

load("@page_python//:config.bzl", PAGE_PYTHON = "PYTHON", PAGE_REASON = "REASON")
load("@tools_python//:config.bzl", TOOLS_PYTHON = "PYTHON", TOOLS_REASON = "REASON")

# The program stands beside a folder of runfiles of its own, or in the folder of a program that has it as data. It may
# be called by a link.
_LAUNCHER = """#!/usr/bin/env bash
self=$0
[[ -d $self.runfiles || -e ${self%%{path}}/%{source} ]] || self=$(readlink -f "$self")
if [[ -d $self.runfiles ]]; then root=$self.runfiles/%{workspace}; else root=${self%%{path}}; fi
[[ $root == /* ]] || root=$PWD/$root
python=%{python}
if [[ ! $python ]]; then
  printf '%s: %s\\n' %{name} %{reason} >&2
  exit 1
fi
if [[ ! -x $python ]]; then
  printf '%s: its Python is no longer in %s. Type: third_party/bazel run %s, which installs it.\\n' %{name} "$python" %{label} >&2
  exit 1
fi
# No variable and no folder of the user's changes the imports.
exec "$python" -I -B -c 'import runpy, sys
root, imports, module = sys.argv[1:4]
sys.argv[1:4] = []
sys.path[:0] = [root + "/" + folder for folder in imports.split()]
runpy.run_module(module, run_name="__main__", alter_sys=True)' "$root" %{imports} %{module} "$@"
"""

def _quoted(text):
    return "'" + text.replace("'", "'\\''") + "'"

def _below_root(file):
    """The path of a file from the root of its workspace; runfiles of other workspaces begin with ../NAME."""
    parts = file.short_path.split("/")
    return "/".join(parts[2:] if parts[0] == ".." else parts)

def _impl(ctx):
    launcher = ctx.actions.declare_file(ctx.label.name)
    path = "/" + (ctx.label.package + "/" + ctx.label.name).lstrip("/")
    text = _LAUNCHER
    of_page = ctx.attr.environment == "page"
    for name, value in {
        "%{imports}": _quoted(" ".join(ctx.attr.imports)),
        "%{label}": _quoted(str(ctx.label)),
        "%{module}": _quoted(ctx.attr.module),
        "%{name}": _quoted(ctx.label.name),
        "%{path}": path,
        "%{python}": _quoted(PAGE_PYTHON if of_page else TOOLS_PYTHON),
        "%{reason}": _quoted(PAGE_REASON if of_page else TOOLS_REASON),
        "%{source}": _quoted(_below_root(ctx.files.srcs[0])),
        "%{workspace}": ctx.label.workspace_name or ctx.workspace_name,
    }.items():
        text = text.replace(name, value)
    ctx.actions.write(launcher, text, is_executable = True)
    runfiles = ctx.runfiles(files = [launcher] + ctx.files.srcs + ctx.files.data)
    for target in ctx.attr.srcs + ctx.attr.data:
        runfiles = runfiles.merge(target[DefaultInfo].default_runfiles)
    return [DefaultInfo(executable = launcher, runfiles = runfiles)]

_ATTRS = {
    "data": attr.label_list(allow_files = True, doc = "Files that it reads, and programs that it runs."),
    "environment": attr.string(default = "tools", doc = "Its Python: page or tools.", values = ["page", "tools"]),
    "imports": attr.string_list(mandatory = True, doc = "Folders below the workspace that packages are imported from."),
    "module": attr.string(mandatory = True, doc = "The module to run, as by `python3 -m`."),
    "srcs": attr.label_list(allow_files = True, mandatory = True, doc = "Its sources, with the modules it imports."),
}

python_program = rule(implementation = _impl, attrs = _ATTRS, executable = True)

python_test = rule(implementation = _impl, attrs = _ATTRS, test = True)
