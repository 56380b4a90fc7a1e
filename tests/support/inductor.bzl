"""The environment of tests that compile packages."""

load("@libtorch//:python.bzl", "PYTHON")

INDUCTOR_ENV = {
    # What calls a package's kernels is compiled for longer than the tests run it.
    "AOT_INDUCTOR_COMPILE_WRAPPER_OPT_LEVEL": "O0",
    "PACE_PYTHON": PYTHON,
}
