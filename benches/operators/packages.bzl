"""The packages of the operators that the default set replays."""

load("//third_party:inductor.bzl", "compiled_packages")

def _impl(ctx):
    return compiled_packages(
        ctx,
        compiler = ctx.executable.compiler,
        arguments = [ctx.attr.part, ctx.files.corpus[0].dirname, ctx.file.set.path],
        inputs = ctx.files.corpus + [ctx.file.set],
    )

inductor_packages = rule(
    implementation = _impl,
    attrs = {
        # In the target configuration: the bench has it compiled like that already.
        "compiler": attr.label(executable = True, cfg = "target", mandatory = True),
        "corpus": attr.label(mandatory = True),
        "part": attr.string(doc = "The part of the set: its first run, or the rest.", values = ["first", "more"]),
        "set": attr.label(allow_single_file = True, mandatory = True),
    },
)
