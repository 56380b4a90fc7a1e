"""Sources compiled by Clang, for the srcs of a cc_test or a cc_binary."""

load(":compile.bzl", "COMPILE_ATTRS", "compile_with_clang")

def _impl(ctx):
    context = cc_common.merge_cc_infos(cc_infos = [each[CcInfo] for each in ctx.attr.deps]).compilation_context
    headers = [file for file in ctx.files.srcs if file.extension == "hpp"]
    objects = []
    for source in ctx.files.srcs:
        if source.extension == "cc":
            output = ctx.actions.declare_file("%s/%s.o" % (ctx.label.name, source.basename[:-len(".cc")]))
            compile_with_clang(ctx, context, source, output, source.short_path, headers, ctx.attr.copts + ["-c"])
            objects.append(output)
    return DefaultInfo(files = depset(objects))

clang_objects = rule(
    implementation = _impl,
    attrs = dict(
        COMPILE_ATTRS,
        copts = attr.string_list(doc = "Options after the ones of all rules."),
        deps = attr.label_list(providers = [CcInfo], doc = "Libraries with the headers that the sources include."),
        srcs = attr.label_list(mandatory = True, allow_files = [".cc", ".hpp"]),
    ),
    fragments = ["cpp"],
)
