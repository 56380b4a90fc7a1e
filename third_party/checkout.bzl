"""The folder of the workspace being built, so that a test can name the commit of its results."""

def _impl(repository_ctx):
    # Bazel 6 and later have the attribute.
    folder = getattr(repository_ctx, "workspace_root", None) or repository_ctx.path(Label("@//:WORKSPACE")).dirname
    repository_ctx.file("BUILD")
    repository_ctx.file("checkout.bzl", "CHECKOUT = %r\n" % str(folder))

checkout_repository = repository_rule(implementation = _impl, local = True)
