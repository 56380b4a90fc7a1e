"""An archive of tests for a machine without Bazel: programs, shared libraries, data, and a script that runs them."""

load("@bazel_tools//tools/cpp:toolchain_utils.bzl", "find_cpp_toolchain")
load("@libtorch//:config.bzl", "VERSION")

_HowItRuns = provider(
    doc = "The arguments and variables that Bazel would run a test with.",
    fields = {
        "args": "list of words",
        "env": "dictionary of words",
        "seconds": "how long the test may take",
    },
)

_TIMEOUTS = {"small": "short", "medium": "moderate", "large": "long", "enormous": "eternal"}
_SECONDS = {"short": 60, "moderate": 300, "long": 900, "eternal": 3600}

def _how_it_runs_impl(_target, ctx):
    attr = ctx.rule.attr
    args = [
        # Bazel gives a test the path in its runfiles.
        ctx.expand_location(each.replace("$(location ", "$(rootpath "), getattr(attr, "data", [])).replace("$$", "$")
        for each in attr.args
    ]
    env = getattr(attr, "env", {})
    for word in args + env.values():
        # The list of tests has a line each, of words between spaces; Bazel would also take quotes off.
        if not word or [c for c in word.elems() if c in " \t\n\"'\\"]:
            fail("%s: `%s` is refused: in a folder of tests, arguments and variables have no spaces, quotes or " %
                 (ctx.label, word) + "backslashes, and are not empty")
    timeout = getattr(attr, "timeout", "") or _TIMEOUTS[getattr(attr, "size", "medium")]
    return [_HowItRuns(args = args, env = env, seconds = _SECONDS[timeout])]

_how_it_runs = aspect(implementation = _how_it_runs_impl)

def _name(target):
    return "%s:%s" % (target.label.package, target.label.name)

def _executable(target):
    return target[DefaultInfo].files_to_run.executable

def _line(test):
    how = test[_HowItRuns]
    env = ["%s=%s" % pair for pair in how.env.items()]
    return " ".join([_name(test), str(how.seconds), _executable(test).short_path] + env + ["--"] + how.args)

def _list(ctx, what, lines):
    file = ctx.actions.declare_file("%s_%s.txt" % (ctx.label.name, what))
    ctx.actions.write(file, "".join([line + "\n" for line in lines]))
    return file

def _impl(ctx):
    # `allow_empty` would also refuse builds that skip this target, where a select() has no tests.
    if not ctx.attr.tests:
        fail("%s: expected at least one test, found none" % ctx.label)
    all_of_them = ctx.attr.tests + ctx.attr.programs
    files = depset(
        [_executable(each) for each in all_of_them],
        transitive = [each[DefaultInfo].default_runfiles.files for each in all_of_them],
    )
    by_place = {}
    for file in files.to_list():
        other = by_place.setdefault(file.short_path, file)
        if other != file:
            fail("%s and %s would be one file: build both with --compilation_mode=opt" % (other.path, file.path))

    lists = [
        _list(ctx, "tests", [_line(test) for test in ctx.attr.tests]),
        _list(ctx, "programs", ["%s %s" % (_name(each), _executable(each).short_path) for each in ctx.attr.programs]),
        _list(ctx, "files", ["%s\t%s" % (file.path, place) for place, file in by_place.items()]),
    ]

    archive = ctx.actions.declare_file(ctx.attr.folder + ".tar.gz")
    toolchain = find_cpp_toolchain(ctx)
    ctx.actions.run(
        executable = ctx.file._pack,
        arguments = [archive.path, ctx.attr.folder, ctx.workspace_name, VERSION, toolchain.strip_executable] +
                    [file.path for file in lists + [ctx.file._run, ctx.info_file]],
        # The status has the commit, and is an input of this alone: for another commit nothing is compiled anew.
        inputs = depset(lists + [ctx.file._run, ctx.info_file], transitive = [files, toolchain.all_files]),
        outputs = [archive],
        use_default_shell_env = True,
        mnemonic = "PackTests",
        progress_message = "Packing %s" % ctx.label,
    )
    return [DefaultInfo(files = depset([archive]), runfiles = ctx.runfiles([archive]))]

test_folder = rule(
    doc = "FOLDER.tar.gz with tests and programs, without LibTorch and CUDA, and a script `run` (run.sh beside this).",
    implementation = _impl,
    attrs = {
        "folder": attr.string(mandatory = True, doc = "The folder that the archive is unpacked to."),
        "programs": attr.label_list(doc = "Programs that a person runs with options."),
        "tests": attr.label_list(
            aspects = [_how_it_runs],
            doc = "They are run with the arguments, variables and time limits that Bazel would use.",
        ),
        "_cc_toolchain": attr.label(default = "@bazel_tools//tools/cpp:current_cc_toolchain"),
        "_pack": attr.label(default = "//tests/gpu/folder:pack.sh", allow_single_file = True),
        "_run": attr.label(default = "//tests/gpu/folder:run.sh", allow_single_file = True),
    },
    toolchains = ["@bazel_tools//tools/cpp:toolchain_type"],
)
