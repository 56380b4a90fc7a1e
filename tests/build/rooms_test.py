#!/usr/bin/env python3
"""Rooms of benches use only the public part of each other. No code names the namespace `detail` of another room, or
includes a header behind another room's door. Each room is in the table of docs/architecture.md. Bazel ignores the links
that it leaves in the folders of examples."""

import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]

listed = subprocess.run(
    ["git", "-C", ROOT, "ls-files", "--cached", "--others", "--exclude-standard", "benches"],
    check=True,
    capture_output=True,
    text=True,
).stdout.split("\n")
code = [path for path in listed if path.endswith((".hpp", ".cc")) and (ROOT / path).exists()]
rooms = sorted({path.split("/")[1] for path in listed if path.count("/") == 2 and path.endswith("/BUILD")})
assert len(code) > 200 and len(rooms) > 10, (code, rooms)

# A name such as corpus::detail may belong to the library's room.
own_names = [room for room in rooms if not (ROOT / "include/pace" / room).exists()]

# Folders whose headers only their own room includes. The room's own headers are its door.
BEHIND_DOORS = ("files/kernels", "files/loaders")

problems = []
links = {
    f"examples/{example.parent.name}/bazel-{link}"
    for example in ROOT.glob("examples/*/WORKSPACE")
    for link in ("bin", "out", "testlogs", example.parent.name)
}
ignored = {line for line in (ROOT / ".bazelignore").read_text("utf-8").splitlines() if not line.startswith("#")}
problems += [f".bazelignore: expected {link}" for link in sorted(links - ignored)]
problems += [f".bazelignore: {link} is no link of an example" for link in sorted(ignored - links)]
of_detail = re.compile(rf"\b({'|'.join(own_names)})::detail::(\w+)")
for path in code:
    own = path.split("/")[1]
    for number, line in enumerate((ROOT / path).read_text("utf-8").splitlines(), 1):
        for room, name in of_detail.findall(line):
            if room != own:
                problems.append(
                    f"{path}:{number}: {room}::detail::{name} is of the room benches/{room} alone; expected a public "
                    "name, with a docstring, for what other rooms use"
                )
        included = re.match(rf'#include "benches/({"|".join(BEHIND_DOORS)})/', line)
        if included and included[1].split("/")[0] != own:
            problems.append(f"{path}:{number}: {line} is behind the door of its room; expected benches/files/files.hpp")

page = (ROOT / "docs/architecture.md").read_text("utf-8")
for room in rooms:
    if f"`benches/{room}`" not in page:
        problems.append(f"docs/architecture.md: has no row for the room benches/{room}")

for problem in problems:
    print(problem, file=sys.stderr)
print(f"benches: {len(rooms)} rooms, {len(code)} files, {len(problems)} problems")
sys.exit(1 if problems else 0)
