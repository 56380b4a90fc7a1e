"""Where the workspace lies that is being built, so that a test can say of which commit its results are."""

def _impl(repository_ctx):
    # Bazel 6 and later have the attribute.
    folder = getattr(repository_ctx, "workspace_root", None) or repository_ctx.path(Label("@//:WORKSPACE")).dirname
    repository_ctx.file("BUILD")
    repository_ctx.file("checkout.bzl", "CHECKOUT = %r\n" % str(folder))

checkout_repository = repository_rule(implementation = _impl, local = True)
