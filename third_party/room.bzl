"""A room of the library: one folder of include/pace."""

load("//third_party:copts.bzl", "COMPILED")

def room(headers = ["*.hpp"], deps = [], defines = []):
    """A library named as its folder, and a filegroup `headers` for targets that copy or compile them by themselves.

    Everything but templates is compiled once, in FOLDER.cc, if the folder has one.

    Args:
      headers: patterns.
      deps: the rooms, and the libraries of others, that its headers may include.
      defines: for all that include it.
    """
    name = native.package_name().rpartition("/")[2]
    native.cc_library(
        name = name,
        srcs = native.glob([name + ".cc"], allow_empty = True),
        hdrs = native.glob(headers),
        copts = COMPILED,
        defines = defines,
        deps = deps + [Label("//include:folder")],
    )
    native.filegroup(
        name = "headers",
        srcs = native.glob(headers),
    )
