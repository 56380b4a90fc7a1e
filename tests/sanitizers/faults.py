#!/usr/bin/env python3
"""Prints the faults that sanitizers reported, each once, and how many tests ran: the last step of run.sh.

    faults.py KIND EVENTS FOLDER STATUS     Bazel's events, the folder of reports, the exit code of Bazel
"""

import collections
import json
import pathlib
import re
import sys

# What stands before the words for a fault. A report of leaks names several. AddressSanitizer warns of allocations that
# are too large, which some tests ask for.
BEGINS = re.compile(
    r"(?:(?:ERROR|FATAL): (?:Address|Thread)Sanitizer: |WARNING: ThreadSanitizer: |: runtime error: "
    r"|Sanitizer: (?=CHECK failed)|(?=(?:Direct|Indirect) leak of ))(.*)"
)
FRAME = re.compile(r"\s+#\d+ (?:0x[0-9a-f]+ in )?(.*?)(?: \(\S+\+0x[0-9a-f]+\).*)?$")

# A report has several stacks; one of LibTorch's may have a hundred frames.
MOST_LINES = 50


def reports(text):
    """The faults that a process reported: the words for each, and its lines."""
    found = []
    goes_on = False
    for line in text.splitlines():
        begins = BEGINS.search(line)
        if begins:
            # Without addresses and numbers, which differ from process to process.
            found.append((re.split(r"[(:\d]| on address | of \d", begins[1])[0].strip(), [line]))
            goes_on = True
        elif goes_on:
            found[-1][1].append(line)
            # Then come the bytes around, or the end.
            goes_on = not line.startswith("SUMMARY:")
    if not found and "WARNING: AddressSanitizer failed to allocate" not in text:
        found.append(("a report of another form", text.splitlines()))
    return found


def place(lines):
    """The first frames: a fault that several processes report is one."""
    return tuple(frame[1] for frame in map(FRAME.match, lines) if frame)[:4]


def main():
    kind, events, folder, status = sys.argv[1:]
    results = collections.defaultdict(set)
    for line in open(events):
        event = json.loads(line)
        if "testResult" in event:
            results[event["id"]["testResult"]["label"]].add(event["testResult"]["status"])
    faults = collections.defaultdict(list)
    for path in sorted(pathlib.Path(folder).iterdir()):
        program = re.sub(r"^report\.|\.\d+$", "", path.name)
        for words, lines in reports(path.read_text(errors="replace")):
            faults[words, place(lines)].append((program, lines))
    for (words, _), seen in faults.items():
        print(f"\n{words}: {len(seen)} times, in {', '.join(sorted({program for program, _ in seen}))}")
        print("\n".join(seen[0][1][:MOST_LINES]))
    red = sorted(label for label, statuses in results.items() if statuses != {"PASSED"})
    for label in red:
        print(f"{label} did not pass")
    print(f"{kind}: {len(results) - len(red)} tests passed, {len(red)} did not; {len(faults)} faults")
    if status != "0":
        print(f"Bazel ended with {status}")
    return not results or bool(red) or bool(faults) or status != "0"


if __name__ == "__main__":
    sys.exit(main())
