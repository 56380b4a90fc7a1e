"""The repositories of pace as an extension of Bazel's modules, for MODULE.bazel."""

load("//third_party:repositories.bzl", "declare_for_modules")

def _impl(_module_ctx):
    declare_for_modules()

# Bazel 4, which has no modules, loads this file for no target.
dependencies = module_extension(implementation = _impl)
