# Without a toolkit these targets are there and empty; @cuda//:config.bzl says which it is (HAVE_CUDA).
package(default_visibility = ["//visibility:public"])

exports_files(["config.bzl"])

cc_library(
    name = "headers",
    hdrs = %{headers},
    includes = %{includes},
)

cc_library(
    name = "cudart",
    linkopts = %{cudart},
    deps = [":headers"],
)
