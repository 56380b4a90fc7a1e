"""Compiles unit tests header-only by g++ and runs them, for tests/mutation and tests/coverage.

It needs no Bazel and no network: g++, LibTorch, and Catch2, nlohmann-json and CLI11.
"""

import concurrent.futures
import contextlib
import importlib.util
import os
import pathlib
import queue
import re
import signal
import subprocess

ROOT = pathlib.Path(__file__).resolve().parents[2]
LIBRARY = ROOT / "include" / "pace"
ROOMS = sorted(each.name for each in LIBRARY.iterdir() if each.is_dir())

# Linked to every test. The latter gives each test case the same random numbers.
_SUPPORT = ("tests/support/own_verdicts.cc", "tests/support/fixed_seed.cc")

_SAMPLE = ("tests/runner/sample_program", ("tests/runner/sample_program.cc", "tests/runner/own_sink.cc"))
_HIDDEN = ("tests/runner/hidden_program", ("tests/runner/hidden_program.cc",))
_CATCH2 = ("tests/runner/catch2_main_program", ("tests/runner/catch2_main_program.cc",))
_ENDING = ("tests/cheats/ending_program", ("tests/cheats/ending_program.cc", "include/pace/runner/main.cc"))

# The programs that a test starts, each with its sources, as the test's BUILD file has them.
_PROGRAMS = {
    "tests/cheats/ending_test.cc": (_ENDING,),
    "tests/os/coverage_test.cc": (("tests/os/coverage_program", ("tests/os/coverage_program.cc",)),),
    "tests/runner/bazel_protocol_test.cc": (_SAMPLE, _HIDDEN),
    "tests/runner/catch2_main_test.cc": (_CATCH2,),
    "tests/runner/continuation_test.cc": (_SAMPLE, _HIDDEN),
    "tests/runner/html_test.cc": (_SAMPLE,),
    "tests/runner/refusals_test.cc": (_SAMPLE,),
    "tests/runner/session_test.cc": (_SAMPLE, _HIDDEN),
    "tests/runner/supervisor_test.cc": (_SAMPLE, _HIDDEN),
}

# Others end within seconds.
_LONG_FOLDERS = ("tests/cheats/", "tests/isolate/", "tests/ranks/")

# A hung test does not hang the run. The longest ones take two minutes alone.
TIME_LIMIT_S = 600

def add_arguments(parser):
    """Adds the options that say where compilers and libraries are, and how much runs at once."""
    parser.add_argument("--jobs", type=int, default=2, metavar="N", help="compilers and tests at once (2), 3 GB each")
    parser.add_argument("--compiler", default="g++", metavar="PROGRAM", help="version 12 or newer (g++)")
    parser.add_argument("--libtorch", type=pathlib.Path, metavar="FOLDER", help="with include and lib in it")
    parser.add_argument("-I", "--include", type=pathlib.Path, action="append", default=[], metavar="FOLDER",
                        help="headers of Catch2, nlohmann-json and CLI11, where they are not the system's")
    parser.add_argument("-L", "--library", type=pathlib.Path, action="append", default=[], metavar="FOLDER",
                        help="libCatch2Main.a and libCatch2.a, where they are not the system's")


def _find_libtorch():
    """That of PACE_LIBTORCH, of third_party/bazel, or of the Python that runs this."""
    places = [os.environ["PACE_LIBTORCH"]] if os.environ.get("PACE_LIBTORCH") else []
    caches = os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")
    version = re.search(r"^torch==(\S+)", (ROOT / "third_party/requirements.txt").read_text(), re.MULTILINE)
    home = pathlib.Path(os.environ.get("PACE_HOME") or os.path.join(caches, "pace"))
    places += sorted(home.glob(f"libtorch-{version[1]}/venv/lib/python*/site-packages/torch"))
    package = importlib.util.find_spec("torch")
    places += package.submodule_search_locations if package else []
    for place in places:
        if (pathlib.Path(place) / "include/ATen").is_dir():
            return pathlib.Path(place)
    raise SystemExit("no LibTorch found; expected --libtorch FOLDER with include/ATen and lib/libtorch_cpu.so in it")


def takes_long(test):
    """Whether to begin with a test, so that none is left alone at the end."""
    return test in _PROGRAMS or test.startswith(_LONG_FOLDERS)


def program_of(test):
    """The program of a test's source, in the folder that it runs in, as it is in Bazel's."""
    return test.removesuffix(".cc")


class Compiler:
    """Compiles tests with the same options. `folder` takes the sources that all of them link."""

    def __init__(self, arguments, folder, flags=()):
        torch = (arguments.libtorch or _find_libtorch()).absolute()
        if not (torch / "include/ATen").is_dir():
            raise SystemExit(f"--libtorch {torch}: there is no include/ATen in it")
        self._includes = [each.absolute() for each in arguments.include]
        self._command = [arguments.compiler, "-std=c++20", "-O0", "-w", "-DPACE_HEADER_ONLY",
                         "--param=ggc-min-heapsize=1048576"]
        self._search = [f"-I{ROOT}"]
        for each in (torch / "include", torch / "include/torch/csrc/api/include", *self._includes):
            self._search += ["-isystem", each]
        self._libraries = [f"-L{each.absolute()}" for each in arguments.library]
        self._libraries += ["-lCatch2Main", "-lCatch2", "-Wl,--as-needed", f"-L{torch / 'lib'}",
                            f"-Wl,-rpath,{torch / 'lib'}", "-ltorch", "-ltorch_cpu", "-lc10"]
        self._flags = list(flags)
        self._support = [self._object(source, folder) for source in _SUPPORT]

    def link_also(self, source, options):
        """Links a source to all tests and programs, compiled without the flags of this compiler."""
        self._libraries = [*options, self._object(source, self._support[0].parent), *self._libraries]

    def _object(self, source, folder):
        built = folder / (pathlib.Path(source).stem + ".o")
        if said := self._call(["-c", ROOT / source, "-o", built]):
            raise SystemExit(said)
        return built

    def _call(self, words, include=LIBRARY.parent):
        """Returns the compiler's complaints; nothing if there are none."""
        command = [str(each) for each in [*self._command, f"-I{include}", *self._search, *words]]
        done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False)
        return "" if done.returncode == 0 else done.stderr or f"exit code {done.returncode}"

    def build(self, test, folder, include=LIBRARY.parent):
        """Compiles a test, and the programs that it starts, into `folder`. Returns complaints, empty if all is well.

        `include` has the library: a folder with a changed copy of it, for a planted fault.
        """
        for name, sources in ((program_of(test), (test,)), *_PROGRAMS.get(test, ())):
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            if said := self._link(sources, folder / name, self._support if sources == (test,) else [], include):
                return said
        return ""

    def _link(self, sources, output, support, include):
        # Of functions that are defined twice, the linker takes the first: that of the changed library.
        own = [include / each[len("include/"):] if each.startswith("include/") else ROOT / each for each in sources]
        return self._call([*self._flags, *own, *support, "-o", output, *self._libraries], include)

    def compile_all_lines(self, source, folder):
        """Compiles `source` into notes of all code in its headers, also of functions that nothing calls."""
        return self._call([*self._flags, "-fkeep-inline-functions", "-c", source, "-o", folder / "all.o"])

    def lacks(self, test):
        """What a test needs that is not there; empty: nothing."""
        if "#include <boost/" not in (ROOT / test).read_text():
            return ""
        places = [*self._includes, pathlib.Path("/usr/include")]
        return "" if any((each / "boost/math/distributions.hpp").is_file() for each in places) else "Boost.Math"


def run(test, folder, limit=TIME_LIMIT_S, cpus=None):
    """Runs the test whose program was built in `folder`. Returns how it ended, empty if all is well, and its output.

    Its environment is much as Bazel's, without the GPU, and the test sees at most the CPUs `cpus`.
    """
    scratch = folder / "tmp"
    scratch.mkdir()
    (folder / "docs").symlink_to(ROOT / "docs")
    environment = {"PATH": os.environ.get("PATH", os.defpath), "TZ": "UTC", "TMPDIR": str(scratch),
                   "TEST_TMPDIR": str(scratch), "PACE_PIPE_TIMEOUT": "0", "CUDA_VISIBLE_DEVICES": ""}
    # Background jobs of a shell ignore signals, and so would the test.
    command = ["env", "--default-signal"]
    command += ["taskset", "-c", ",".join(map(str, cpus))] if cpus else []
    command += [str(folder / program_of(test)), "--rng-seed=1"]
    with open(folder / "output", "wb") as output:
        process = subprocess.Popen(command, cwd=folder, env=environment, stdin=subprocess.DEVNULL, stdout=output,
                                   stderr=subprocess.STDOUT, start_new_session=True)
        try:
            code = process.wait(limit)
            ended = "" if code == 0 else f"signal {-code}" if code < 0 else f"exit code {code}"
        except subprocess.TimeoutExpired:
            ended = f"no end within {limit} s"
        finally:
            # Processes of the test that outlive it, too.
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()
    return ended, (folder / "output").read_text(errors="replace")


class Slots:
    """Runs tasks at once, each on two CPUs of its own while there are enough: the tests were written for two cores."""

    def __init__(self, jobs):
        cpus = sorted(os.sched_getaffinity(0))
        self._jobs = jobs
        self._free = queue.SimpleQueue()
        for slot in range(jobs):
            self._free.put([cpus[(2 * slot + i) % len(cpus)] for i in range(min(2, len(cpus)))])

    def each(self, task, items):
        """Yields `task(item, cpus)` of each item, in the order in which they end."""
        def with_cpus(item):
            cpus = self._free.get()
            try:
                return task(item, cpus)
            finally:
                self._free.put(cpus)

        with concurrent.futures.ThreadPoolExecutor(self._jobs) as pool:
            for done in concurrent.futures.as_completed([pool.submit(with_cpus, item) for item in items]):
                yield done.result()


def tail(text, lines=15):
    """The last lines of a program's output, indented."""
    return "\n".join("    " + line for line in text.strip().splitlines()[-lines:])
