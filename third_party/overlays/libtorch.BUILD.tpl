package(default_visibility = ["//visibility:public"])

exports_files(["python.bzl", "config.bzl"])

# The folder is one input on purpose. Its 9,400 files one by one would be that many links in the sandbox of every
# compilation, and tell Bazel nothing: a LibTorch that changes is another LibTorch, at another path.
cc_library(
    name = "headers",
    hdrs = ["include"],
    includes = [
        "include",
        "include/torch/csrc/api/include",
    ],
)

# For the CPU, from any LibTorch. libtorch.so itself is left out: it is empty, and where LibTorch has CUDA it
# loads CUDA's libraries (350 MB resident and a third of the start-up time).
cc_library(
    name = "torch",
    linkopts = %{cpu_linkopts},
    deps = [":headers"],
)

# The same with LibTorch's CUDA half where it has one: for programs that run on a GPU.
cc_library(
    name = "torch_cuda",
    linkopts = %{cuda_linkopts},
    deps = [":torch"],
)

# c10d::ProcessGroupNCCL, where config.bzl says HAS_NCCL.
cc_library(
    name = "c10d_nccl",
    hdrs = ["nccl"],
    defines = ["USE_C10D_NCCL"],
    includes = ["nccl"],
    tags = ["manual"],
    deps = [":torch_cuda"],
)

# LibTorch's Python half and Python's headers, for extension modules: only where python.bzl has a PYTHON_LIBRARY.
# An extension finds Python itself in the process that loads it.
cc_library(
    name = "torch_python",
    hdrs = glob(["python/**/*.h"]),
    includes = ["python"],
    linkopts = ["-Wl,--no-as-needed", "-ltorch_python"],
    deps = [":torch"],
)
