"""A room of the library: one folder of include/pace."""

load("//third_party:copts.bzl", "COMPILED")

def room(headers = ["*.hpp"], deps = [], defines = []):
    """A library named as its folder, and a filegroup `headers` for targets that copy or compile them by themselves.

    What is no template is compiled once, in FOLDER.cc, where there is one.

    Args:
      headers: patterns.
      deps: the rooms, and the libraries of others, that its headers may include.
      defines: for all that include it.
    """
    folders = native.package_name().split("/")
    name = folders[-1]
    native.cc_library(
        name = name,
        srcs = native.glob([name + ".cc"], allow_empty = True),
        hdrs = native.glob(headers),
        copts = COMPILED,
        defines = defines,
        # The folder `include` itself. A folder of links (`strip_include_prefix`) would keep those of older commits,
        # which a build without sandboxes finds.
        includes = ["/".join([".."] * (len(folders) - 1))],
        deps = deps,
    )
    native.filegroup(
        name = "headers",
        srcs = native.glob(headers),
    )
