"""@libtorch: the LibTorch that PACE_LIBTORCH points at, or else the one that third_party/bazel installed."""

_FOLDERS = ["PACE_LIBTORCH", "PACE_PYTHON", "PACE_HOME", "XDG_CACHE_HOME", "HOME"]
_VERSION = "PACE_LIBTORCH_VERSION"

# cmake/FindLibTorch.cmake and setup/needs.sh have it, too.
_OLDEST = [2, 9]

def _is_new_enough(version):
    numbers = version.split("+")[0].split(".")
    if len(numbers) < 3 or not (numbers[0].isdigit() and numbers[1].isdigit()):
        return False
    return [int(numbers[0]), int(numbers[1])] >= _OLDEST

def _requirements(ctx):
    """The packages that pip installs: requirements.txt, with the version of torch that PACE_LIBTORCH_VERSION asks
    for."""
    requirements = ctx.read(Label("//third_party:requirements.txt"))
    for line in requirements.splitlines():
        if line.startswith("torch=="):
            version = ctx.os.environ.get(_VERSION) or line[len("torch=="):].strip()
            return version, requirements.replace(line, "torch==" + version)
    fail("third_party/requirements.txt pins no torch")

def _installed(ctx, version, requirements):
    """The `torch` folder that third_party/bazel made, and its Python."""
    env = ctx.os.environ
    cache = env.get("XDG_CACHE_HOME") or (env.get("HOME", "") + "/.cache")
    home = (env.get("PACE_HOME") or cache + "/pace") + "/libtorch-" + version
    stamp = ctx.path(home + "/complete")
    if not stamp.exists or ctx.read(stamp).strip() != requirements.strip():
        fail(("LibTorch %s is not installed in %s. Run third_party/bazel in place of bazel, which installs it, or " +
              "set PACE_LIBTORCH to the folder of an existing one.") % (version, home))
    for folder in ctx.path(home + "/venv/lib").readdir():
        if folder.get_child("site-packages").get_child("torch").exists:
            return folder.get_child("site-packages").get_child("torch"), home + "/venv/bin/python3"
    fail("no LibTorch in %s: remove that folder and run third_party/bazel" % home)

def _pointed_at(ctx, given):
    """The version and folder of the LibTorch that PACE_LIBTORCH means, and the Python beside it if there is one."""
    candidates = [ctx.path(given + "/torch"), ctx.path(given), ctx.path(given + "/libtorch")]
    for root in candidates:
        if root.get_child("include").get_child("ATen").exists and root.get_child("lib").exists:
            found = _version(ctx, root)
            if not _is_new_enough(found):
                fail("PACE_LIBTORCH=%s is LibTorch %s; pace needs %d.%d or newer" % tuple([given, found] + _OLDEST))
            python = ctx.path(str(root) + "/../../../../bin/python3")
            return found.split("+")[0], root, str(python) if python.exists else ""
    fail(("PACE_LIBTORCH=%s is no LibTorch: expected a folder with include/ATen and lib/ (an unzipped libtorch), a " +
          "wheel's `torch` folder, or the site-packages that hold it") % given)

def _version(ctx, root):
    if root.get_child("build-version").exists:
        return ctx.read(root.get_child("build-version")).strip()
    if root.get_child("version.py").exists:
        for line in ctx.read(root.get_child("version.py")).splitlines():
            if line.startswith("__version__"):
                return line.split("'")[1]
    return "of unknown version (no build-version or version.py)"

def _check_python(ctx, python, version):
    """PACE_PYTHON compiles packages for this LibTorch, so it must have the same one."""
    code = "import importlib.metadata as m; print(m.version('torch'))"
    result = ctx.execute([python, "-c", code])
    if result.return_code != 0 or result.stdout.strip().split("+")[0] != version:
        fail("PACE_PYTHON=%s: expected a Python that has torch %s; asked for its version, it said: %s" %
             (python, version, (result.stdout + result.stderr).strip()))

def _headers_of_python(ctx, python, root):
    """The folder of Python's headers and its shared library; empty where one of them, or torch's half, is missing."""
    nothing = ("", "")
    if not python or not root.get_child("lib").get_child("libtorch_python.so").exists:
        return nothing
    code = """import os, sysconfig as s
print(s.get_path('include'))
print(os.path.join(s.get_config_var('LIBDIR') or '', s.get_config_var('INSTSONAME') or ''))
print(os.path.join(s.get_config_var('LIBDIR') or '', s.get_config_var('MULTIARCH') or '', s.get_config_var('INSTSONAME') or ''))"""
    result = ctx.execute([python, "-c", code])
    lines = result.stdout.splitlines()
    if result.return_code != 0 or not lines or not ctx.path(lines[0] + "/Python.h").exists:
        return nothing
    for library in lines[1:]:
        if ".so" in library and ctx.path(library).exists:
            return lines[0], library
    return nothing

def _without_blanks(ctx, folders):
    """The folders, or links to them: Bazel writes the options of the linker into a file where a blank ends each."""
    result = []
    for folder in folders:
        link = ctx.path("linked/%d" % len(result))
        if " " in folder:
            ctx.symlink(folder, link)
        result.append(str(link) if " " in folder else folder)
    return result

def _libtorch_impl(ctx):
    env = ctx.os.environ
    for name in _FOLDERS:
        # It would mean another folder to this rule than to the programs that it configures.
        if env.get(name) and not env[name].startswith("/"):
            fail("%s=%s: expected an absolute path (third_party/bazel in place of bazel makes it one)" % (name, env[name]))
    if env.get("PACE_LIBTORCH"):
        version, root, python = _pointed_at(ctx, env["PACE_LIBTORCH"])
    else:
        version, requirements = _requirements(ctx)
        if not _is_new_enough(version):
            fail("%s=%s: expected a version such as 2.15.0, %d.%d or newer" % tuple([_VERSION, version] + _OLDEST))
        root, python = _installed(ctx, version, requirements)
        version = version.split("+")[0]
    if env.get("PACE_PYTHON"):
        python = env["PACE_PYTHON"]
        _check_python(ctx, python, version)

    lib = root.get_child("lib")
    has_cuda = lib.get_child("libtorch_cuda.so").exists

    # The wheel's CUDA libraries lie beside torch/. LibTorch's own run path names their folders too, but not for the
    # libraries that those load in turn (libcufile, libcusparseLt, libtorch_nvshmem): hence DT_RPATH below.
    nvidia = root.dirname.get_child("nvidia")
    folders = [str(lib)] + sorted([
        str(folder.get_child("lib"))
        for folder in (nvidia.readdir() if nvidia.exists else [])
        if folder.get_child("lib").exists
    ])
    linked = _without_blanks(ctx, folders)
    cpu = ["-L" + linked[0], "-Wl,--no-as-needed", "-ltorch_cpu", "-lc10", "-Wl,--disable-new-dtags"]
    cpu += ["-Wl,-rpath," + folder for folder in linked]
    cuda = ["-Wl,--no-as-needed", "-ltorch_cuda", "-lc10_cuda"] if has_cuda else []
    python_headers, python_library = _headers_of_python(ctx, python, root)

    # NCCL's headers are a wheel of their own beside torch/.
    nccl = nvidia.get_child("nccl").get_child("include")
    has_nccl = has_cuda and nccl.get_child("nccl.h").exists
    if has_nccl:
        ctx.symlink(nccl, "nccl")

    ctx.symlink(root.get_child("include"), "include")
    if python_headers:
        ctx.symlink(python_headers, "python")
    ctx.template("BUILD", ctx.attr._build_file, {
        "%{cpu_linkopts}": repr(cpu),
        "%{cuda_linkopts}": repr(cuda),
    })
    ctx.file("python.bzl", "# The interpreter that has this LibTorch's Python half; empty when there is none.\n" +
                           "PYTHON = %r\n" % python +
                           "# Its shared library; empty without that, and without Python's headers.\n" +
                           "PYTHON_LIBRARY = %r\n" % python_library)
    ctx.file("config.bzl", "\n".join([
        "VERSION = %r" % version,
        "ROOT = %r" % str(root),
        "HAS_CUDA = %r" % has_cuda,
        "HAS_NCCL = %r" % has_nccl,
        "LIBRARY_FOLDERS = %r" % folders,
        "",
    ]))

libtorch_repository = repository_rule(
    implementation = _libtorch_impl,
    attrs = {"_build_file": attr.label(default = "//third_party:overlays/libtorch.BUILD.tpl")},
    environ = _FOLDERS + [_VERSION],
    local = True,
)
