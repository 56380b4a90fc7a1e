#!/usr/bin/env python3
"""MODULE.bazel and WORKSPACE agree. Its repositories are the ones that third_party/repositories.bzl makes, pace's files
name no other, and its version is pace's. No Bazel that reads the file is asked: Debian's knows no modules."""

import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]

# Both files are Python, too, but for Bazel's own functions.
module = {"repositories": [], "modules": []}
exec(
    (ROOT / "MODULE.bazel").read_text(),
    {
        "module": lambda **attributes: module.update(attributes),
        "bazel_dep": lambda name, version: module["modules"].append(name),
        "use_extension": lambda file, name: (file, name),
        "use_repo": lambda extension, *names: module.update(extension=extension, repositories=list(names)),
    },
)
loaded = {}
rules = {name: name for name in re.findall(r'"(\w+)"\)', (ROOT / "third_party/repositories.bzl").read_text())}
exec((ROOT / "third_party/repositories.bzl").read_text(), {"load": lambda *_: None, **rules}, loaded)
made = [name for _, name, _ in loaded["_REPOSITORIES"]]

problems = []
for name in sorted(set(made) ^ set(module["repositories"])):
    where = "third_party/repositories.bzl" if name in made else "MODULE.bazel"
    problems.append(f"the repository {name} is in {where} alone")
file, extension = module["extension"]
if f"{extension} = module_extension(" not in (ROOT / file.replace("//", "").replace(":", "/")).read_text():
    problems.append(f"{file} has no extension {extension}")

version = (ROOT / "include/pace/version.hpp").read_text()
numbers = re.findall(r"#define PACE_VERSION_(?:MAJOR|MINOR|PATCH) (\d+)", version)
if module["version"] != ".".join(numbers):
    problems.append(f"MODULE.bazel is of version {module['version']}, include/pace/version.hpp of {'.'.join(numbers)}")

known = {*module["repositories"], *module["modules"], "pace", "bazel_tools"}
listed = subprocess.run(
    ["git", "-C", ROOT, "ls-files", "BUILD", "*/BUILD", "*.bzl", "*.BUILD", "*.BUILD.tpl"],
    check=True,
    capture_output=True,
    text=True,
).stdout.split()
assert len(listed) > 50, listed
for path in listed:
    for name in re.findall(r'"@(\w+)//', (ROOT / path).read_text()):
        if name not in known:
            problems.append(f"{path}: MODULE.bazel has no repository @{name}")

for problem in problems:
    print(problem, file=sys.stderr)
print(f"MODULE.bazel: {len(made)} repositories, {len(problems)} problems")
sys.exit(1 if problems else 0)
