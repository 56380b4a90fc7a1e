"""Every external repository of pace, for its own WORKSPACE, for any workspace that embeds it, and for Bazel's modules."""

load("//third_party:checkout.bzl", "checkout_repository")
load("//third_party/clang:repository.bzl", "clang_repository")
load("//third_party:cuda.bzl", "cuda_repository")
load("//third_party:libtorch.bzl", "libtorch_repository")
load("//third_party:system.bzl", "shim_repository", "system_repository")
load("//third_party:tools.bzl", "python_repository")

_DEBIAN_BAZEL = "/usr/share/bazel"

# The rule of each, its name, and its attributes. MODULE.bazel names them, too.
_REPOSITORIES = [
    (checkout_repository, "pace_checkout", {}),
    (libtorch_repository, "libtorch", {}),
    (python_repository, "page_python", {
        "environment": "page",
        "installed_by": "third_party/bazel version",
    }),
    (python_repository, "tools_python", {
        "environment": "tools",
        "installed_by": "third_party/bazel run //tools/history",
    }),
    (cuda_repository, "cuda", {}),
    (clang_repository, "clang", {}),
    (system_repository, "catch2", {
        "headers": ["catch2/catch_all.hpp"],
        "libraries": ["libCatch2.a", "libCatch2Main.a"],
        "overlay": "catch2.BUILD",
        "package": "libcatch2-dev (version 3)",
    }),
    (system_repository, "cli11", {
        "headers": ["CLI/CLI.hpp"],
        "overlay": "cli11.BUILD",
        "package": "libcli11-dev",
    }),
    (system_repository, "nlohmann_json", {
        "headers": ["nlohmann/json.hpp"],
        "overlay": "nlohmann_json.BUILD",
        "package": "nlohmann-json3-dev",
    }),
    (system_repository, "yaml_cpp", {
        "headers": ["yaml-cpp/yaml.h"],
        "libraries": ["libyaml-cpp.so"],
        "overlay": "yaml_cpp.BUILD",
        "package": "libyaml-cpp-dev",
    }),
    (system_repository, "boost_math", {
        "headers": ["boost/math/distributions.hpp"],
        "overlay": "boost_math.BUILD",
        "package": "libboost-math-dev",
    }),
    (system_repository, "benchmark", {
        "headers": ["benchmark/benchmark.h"],
        "libraries": ["libbenchmark.so"],
        "overlay": "benchmark.BUILD",
        "package": "libbenchmark-dev",
    }),
    (system_repository, "zlib", {
        "headers": ["zlib.h"],
        "libraries": ["libz.so"],
        "overlay": "zlib.BUILD",
        "package": "zlib1g-dev",
    }),
]

def _once(rule, name, **kwargs):
    """Declares a repository unless the embedding workspace has already chosen one of that name."""
    if not native.existing_rule(name):
        rule(name = name, **kwargs)

def _bazel_repositories():
    """The repositories that Bazel itself asks for. Debian's Bazel downloads nothing: its packages and our shims stand
    in."""

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
    """Declares the repositories of pace and Bazel's own, for a WORKSPACE."""
    _bazel_repositories()
    for rule, name, attributes in _REPOSITORIES:
        _once(rule, name, **attributes)

def declare_for_modules():
    """Declares the repositories of pace, for an extension of MODULE.bazel: Bazel's own are modules there."""
    for rule, name, attributes in _REPOSITORIES:
        rule(name = name, **attributes)
