"""Rules for programs that measure with pace, and for pace's own unit tests."""

load("//third_party:build_info.bzl", "build_info")
load("//third_party:copts.bzl", "LANGUAGE")
load("//third_party:nvcc.bzl", "NEEDS_TOOLKIT", "nvcc_objects")
load("//third_party:optimised.bzl", "optimised_binary", "optimised_test")
load("//third_party:pools.bzl", "properties_of_pool")
load("//third_party/clang:objects.bzl", "clang_objects")

# Alignment: code layout alone was worth a factor of 1.7 between two builds of one benchmark.
_TIMED = LANGUAGE + ["-O3", "-falign-functions=64", "-falign-loops=64"]

# Unit tests are compiled for longer than they run.
_UNIT = LANGUAGE + ["-O0", "-Wall", "-Wextra", "-Werror"]

_PACE = [Label("//:pace"), Label("//:main")]

def _timed_program(name, srcs, deps, copts, kwargs):
    """The cc_binary that pace_test and pace_binary wrap; returns its label."""
    program = name + "_program"
    build_info(
        name = program + "_build",
        flags = _TIMED + copts,
        visibility = ["//visibility:private"],
    )
    native.cc_binary(
        name = program,
        srcs = srcs + [":" + program + "_build"],
        copts = _TIMED + copts,
        deps = deps + [str(label) for label in _PACE],
        tags = ["manual"],
        visibility = ["//visibility:private"],
        **kwargs
    )
    return ":" + program

# Figures that a cache has kept are of another time, and perhaps of another machine.
_NEVER_CACHED = ["external", "no-remote-cache"]

# Two tests that time at once would time each other: after everything else, one at a time.
_ALONE = ["exclusive"]

# Bazel runs exclusive tests one at a time on a fleet, too. These ask for more cores than a machine has, so that here
# each of them waits until nothing else runs, and nothing else begins; on a fleet they run at once, each on a machine.
_ALONE_HERE = ["cpu:4096"]

# Attributes of a test, beside those that pace_test names; of what runs a program; and of the program, too.
_OF_TEST = ["exec_compatible_with", "exec_properties", "local", "shard_count"]
_OF_RUNNER = ["deprecation"]
_OF_BOTH = ["compatible_with", "restricted_to", "target_compatible_with", "testonly"]

def _split(kwargs, of_runner):
    """Splits attributes into those of what runs a program and those of the program."""
    runner = {name: value for name, value in kwargs.items() if name in of_runner + _OF_BOTH}
    return runner, {name: value for name, value in kwargs.items() if name not in of_runner}

def _refuse(where, kwargs, reasons):
    for name, reason in reasons.items():
        if kwargs.get(name):
            fail("%s: `%s` is refused: %s" % (where, name, reason))

def pace_test(
        name,
        srcs,
        deps = [],
        args = [],
        data = [],
        size = "medium",
        timeout = None,
        tags = [],
        env = {},
        copts = [],
        pool = "",
        visibility = None,
        **kwargs):
    """A Catch2 test that may time: optimised as a whole, never run beside another test, and never taken from a cache.

    Args:
      name: the target; `bazel test` runs it as a test, `bazel run TARGET -- OPTIONS` as a program.
      srcs: sources with TEST_CASEs; pace and its main function are linked.
      deps: the code under test. It is compiled optimised, whatever --compilation_mode says.
      args: given to the program; pace's options and Catch2's. The same option on the command line
        (--test_arg, or after -- of `bazel run`) replaces one of them.
      data: files that it reads.
      size: medium is five minutes.
      timeout: as for any test.
      tags: added to pace's own.
      env: environment variables of the test.
      copts: added after pace's own.
      pool: the machines of a remote engine that may run it, by the name that their administrator gave them
        (docs/fleet.md); results name it. With --config=remote such tests run at once, one on each machine.
      visibility: as for any target.
      **kwargs: what any test has, such as shard_count, local or exec_properties, but not `flaky`; the rest is as for
        cc_binary, such as linkopts or local_defines.
    """
    _refuse("pace_test(name = \"%s\")" % name, kwargs, {
        "flaky": "a gate that is measured again until it passes has lost its error rates. pace keeps sampling " +
                 "instead; give the test more time (timeout, --test_arg=--budget=...) or a wider margin",
        "env_inherit": "use `env`, or --test_env on the command line",
    })
    kwargs.pop("flaky", None)
    kwargs.setdefault("testonly", True)
    if pool:
        kwargs["exec_properties"] = dict(properties_of_pool(pool), **kwargs.get("exec_properties", {}))
        env = dict({"PACE_POOL": pool}, **env)
    of_test, of_program = _split(kwargs, _OF_TEST + _OF_RUNNER)
    optimised_test(
        name = name,
        program = _timed_program(name, srcs, deps, copts, of_program),
        args = args,
        data = data,
        size = size,
        timeout = timeout,
        tags = tags + (_ALONE_HERE if pool else _ALONE) + _NEVER_CACHED,
        env = env,
        visibility = visibility,
        **of_test
    )

def pace_binary(name, srcs, deps = [], args = [], data = [], tags = [], copts = [], visibility = None, **kwargs):
    """A program that measures: pace_test without the test. The arguments are the same."""
    _refuse("pace_binary(name = \"%s\")" % name, kwargs, {
        "env": "`bazel run` gives a program the environment of the shell",
    })
    of_runner, of_program = _split(kwargs, _OF_RUNNER)
    optimised_binary(
        name = name,
        program = _timed_program(name, srcs, deps, copts, of_program),
        args = args,
        data = data,
        tags = tags,
        visibility = visibility,
        **of_runner
    )

def _unit_sources(name, srcs, deps, copts, precompiled):
    """The srcs and the copts of a cc_test or a cc_binary that Clang compiles, if that is asked for."""
    if not precompiled:
        return {"srcs": srcs, "copts": _UNIT + copts}
    clang_objects(
        name = name + "_objects",
        testonly = True,
        srcs = srcs,
        copts = copts,
        precompiled = precompiled,
        deps = deps,
        tags = ["manual"],
        visibility = ["//visibility:private"],
    )
    return {"srcs": [":" + name + "_objects"]}

def pace_unit_test(name, srcs, deps = [], copts = [], size = "small", precompiled = [], **kwargs):
    """An ordinary Catch2 test that times nothing. Everything else is as for cc_test.

    Args:
      name: the target.
      srcs: sources; Catch2's own main is linked, without what pace/catch2.hpp adds to it.
      deps: what they include, e.g. "//include/pace:check".
      copts: added after pace's own.
      size: small (one minute) unless the test needs more.
      precompiled: headers compiled ahead, ["//tests/precompiled"], for sources with much of LibTorch; then Clang
        compiles them.
      **kwargs: as for cc_test.
    """
    deps = deps + [Label("//tests/support:own_verdicts"), "@catch2//:catch2_main"]
    native.cc_test(
        name = name,
        # A library that a program uses as well would be compiled a second time for a test that loads it.
        linkstatic = kwargs.pop("linkstatic", True),
        size = size,
        deps = deps,
        # Catch2 draws another seed for each run, and a test that fails once in a hundred seeds is of no use to anyone.
        args = ["--rng-seed=1"] + kwargs.pop("args", []),
        # A pipe that no program writes to is an error at once.
        env = dict({"PACE_PIPE_TIMEOUT": "0"}, **kwargs.pop("env", {})),
        **dict(kwargs, **_unit_sources(name, srcs, deps, copts, precompiled))
    )

def pace_unit_program(name, srcs, deps, copts = [], precompiled = [], **kwargs):
    """A program for a unit test to run, compiled like one; its main function is its own. The rest is as above."""
    native.cc_binary(
        name = name,
        testonly = True,
        deps = deps,
        **dict(kwargs, **_unit_sources(name, srcs, deps, copts, precompiled))
    )

def pace_cuda_library(name, srcs, hdrs = [], deps = [], arch = [], copts = [], **kwargs):
    """A cc_library of CUDA sources, for a pace_test's deps. Skipped where there is no CUDA toolkit.

    Args:
      name: the target.
      srcs: .cu files; nvcc compiles them with -O3 as C++17, once per file.
      hdrs: what they and their users include, from the workspace's root.
      deps: other libraries that they include.
      arch: the architectures to build for, such as "sm_90" (Hopper), whatever --@pace//:cuda_arch says: machine code for
        these alone. Without it, machine code for those of the flag, and PTX, which newer GPUs compile. A GPU that has
        neither is an error at run time.
      copts: for nvcc, after these.
      **kwargs: as for cc_library, such as visibility.
    """
    cudart = str(Label("@cuda//:cudart"))
    nvcc_objects(
        name = name + "_objects",
        srcs = srcs,
        hdrs = hdrs,
        deps = deps + [cudart],
        arch = [arch] if type(arch) == type("") else arch,
        copts = copts,
        target_compatible_with = NEEDS_TOOLKIT,
        visibility = ["//visibility:private"],
    )
    native.cc_library(
        name = name,
        srcs = [":" + name + "_objects"],
        hdrs = hdrs,
        deps = deps + [cudart],
        target_compatible_with = NEEDS_TOOLKIT,
        **kwargs
    )
