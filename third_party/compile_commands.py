#!/usr/bin/env python3
"""Writes compile_commands.json at the top of the tree, for clangd and clang-tidy. Analyses the build; compiles nothing.

    third_party/compile_commands.py [BAZEL_OPTION...] [TARGET...]

Options and targets are such as --config=cuda //include/...; without targets they are //...

Headers below bazel-out are found once the targets have been built.
"""
import json
import os
import subprocess
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
GCC_ALONE = ("-fno-canonical-system-headers", "--param=ggc")  # clangd knows neither


def bazel(*words):
    command = [ROOT + "/third_party/bazel", *words]
    return subprocess.run(command, cwd=ROOT, check=True, stdout=subprocess.PIPE).stdout.decode()


def command_of(arguments, execution_root):
    """An entry of the file for one action, or None if it compiles no source file."""
    sources = [word for word in arguments if word.endswith((".cc", ".cpp"))]
    compilers = [i for i, word in enumerate(arguments) if os.path.basename(word).startswith(("gcc", "g++", "clang"))]
    if not sources or not compilers:
        return None
    first = compilers[0]  # a script that calls it stands before it
    own = ["-iquote", ROOT, "-I" + ROOT + "/include"]  # an editor opens the tree, not the execution root
    source = os.path.join(ROOT, sources[-1])
    source = source if os.path.exists(source) else os.path.join(execution_root, sources[-1])
    others = [word for word in arguments[first + 1 :] if not word.startswith(GCC_ALONE)]
    words = [source if word == sources[-1] else word for word in others]
    return {"directory": execution_root, "file": source, "arguments": [arguments[first], *own, *words]}


def main(words):
    options = [word for word in words if word.startswith("-")]
    targets = [word for word in words if not word.startswith("-")] or ["//..."]
    execution_root = bazel("info", *options, "execution_root").strip()
    query = 'mnemonic("CppCompile", %s)' % " + ".join(targets)
    graph = json.loads(bazel("aquery", "--output=jsonproto", *options, query))
    entries = {}
    for action in graph.get("actions", []):
        entry = command_of(action.get("arguments", []), execution_root)
        if entry:
            entries.setdefault(entry["file"], entry)
    with open(ROOT + "/compile_commands.json", "w", encoding="utf-8") as out:
        json.dump(list(entries.values()), out, indent=1)
    print("compile_commands.json: %d files" % len(entries))


if __name__ == "__main__":
    main(sys.argv[1:])
