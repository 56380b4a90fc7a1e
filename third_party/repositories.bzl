"""Every external repository of pace, for its own WORKSPACE and for any workspace that embeds it."""

load("//third_party:checkout.bzl", "checkout_repository")
load("//third_party/clang:repository.bzl", "clang_repository")
load("//third_party:cuda.bzl", "cuda_repository")
load("//third_party:libtorch.bzl", "libtorch_repository")
load("//third_party:system.bzl", "shim_repository", "system_repository")
load("//third_party:tools.bzl", "tools_python_repository")

_DEBIAN_BAZEL = "/usr/share/bazel"

def _once(rule, name, **kwargs):
    """Declares a repository unless the embedding workspace has already chosen one of that name."""
    if not native.existing_rule(name):
        rule(name = name, **kwargs)

def _bazel_repositories():
    """What Bazel itself asks for. Debian's Bazel downloads nothing: its packages and our shims stand in."""

    # Any other has its own of these, for its own version. (Debian's has `4.2.3- (@non-git)` or no version at all.)
    if native.bazel_version and not native.bazel_version.startswith("4.2"):
        return
    _once(
        shim_repository,
        "rules_cc",
        files = {"cc/defs.bzl": "rules_cc_defs.bzl.tpl", "cc/BUILD": ""},
    )
    _once(
        shim_repository,
        "remote_coverage_tools",
        files = {"BUILD": "remote_coverage_tools.BUILD"},
    )
    for name, folder in {
        "rules_java": "rules/java",
        "rules_proto": "rules/proto",
        "platforms": "tools/platforms",
        "bazel_skylib": "tools/skylib",
    }.items():
        _once(native.local_repository, name, path = _DEBIAN_BAZEL + "/" + folder)

def pace_repositories():
    """Declares @libtorch, @cuda, @catch2, @cli11, @nlohmann_json, @yaml_cpp, @boost_math, @benchmark, @zlib, @clang,
    @tools_python, @pace_checkout and Bazel's own."""
    _bazel_repositories()
    _once(checkout_repository, "pace_checkout")
    _once(libtorch_repository, "libtorch")
    _once(tools_python_repository, "tools_python")
    _once(cuda_repository, "cuda")
    _once(clang_repository, "clang")
    _once(
        system_repository,
        "catch2",
        overlay = "catch2.BUILD",
        package = "libcatch2-dev (version 3)",
        headers = ["catch2/catch_all.hpp"],
        libraries = ["libCatch2.a", "libCatch2Main.a"],
    )
    _once(
        system_repository,
        "cli11",
        overlay = "cli11.BUILD",
        package = "libcli11-dev",
        headers = ["CLI/CLI.hpp"],
    )
    _once(
        system_repository,
        "nlohmann_json",
        overlay = "nlohmann_json.BUILD",
        package = "nlohmann-json3-dev",
        headers = ["nlohmann/json.hpp"],
    )
    _once(
        system_repository,
        "yaml_cpp",
        overlay = "yaml_cpp.BUILD",
        package = "libyaml-cpp-dev",
        headers = ["yaml-cpp/yaml.h"],
        libraries = ["libyaml-cpp.so"],
    )
    _once(
        system_repository,
        "boost_math",
        overlay = "boost_math.BUILD",
        package = "libboost-math-dev",
        headers = ["boost/math/distributions.hpp"],
    )
    _once(
        system_repository,
        "benchmark",
        overlay = "benchmark.BUILD",
        package = "libbenchmark-dev",
        headers = ["benchmark/benchmark.h"],
        libraries = ["libbenchmark.so"],
    )
    _once(
        system_repository,
        "zlib",
        overlay = "zlib.BUILD",
        package = "zlib1g-dev",
        headers = ["zlib.h"],
        libraries = ["libz.so"],
    )
