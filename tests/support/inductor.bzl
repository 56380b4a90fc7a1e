"""The environment of tests that run whole programs of models, and of those that compile packages."""

load("@libtorch//:python.bzl", "PYTHON")
load("//third_party:inductor.bzl", "COMMON_PARTS")

# On a machine with other work, each call waits for the thread that is put aside. The baseline of a small model once
# took 240 times as long as a moment before.
ONE_THREAD = {"OMP_NUM_THREADS": "1"}

# The tags of unit tests that start a Python, or compile packages. A sanitizer sees neither, so tests/sanitizers/run.sh
# leaves them out.
STARTS_PYTHON = ["unsanitized"]

INDUCTOR_ENV = dict(
    ONE_THREAD,
    # Compiling the code that calls a package's kernels takes longer than the tests run it.
    AOT_INDUCTOR_COMPILE_WRAPPER_OPT_LEVEL = "O0",
    PACE_COMMON_PARTS = COMMON_PARTS,
    PACE_PYTHON = PYTHON,
)
