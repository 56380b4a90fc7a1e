#!/usr/bin/env python3
"""Prints what pace is built with and installs as a bill of materials (SBOM): CycloneDX 1.6, JSON.

    third_party/sbom.py >pace.cdx.json

Python packages are those of third_party/locks, with the hashes of their files. Debian's are those of
third_party/setup/needs.sh, in the versions that this machine has. Licences are not among it."""

import json
import pathlib
import re
import subprocess
import sys
import urllib.parse

HERE = pathlib.Path(__file__).resolve().parent

# The parts of third_party/setup/needs.sh: what works without them says the scope.
SCOPES = {"libtorch": "required", "library": "required", "bazel": "required", "bazel_rules": "required",
          "python": "required", "page": "optional", "tools": "optional", "own": "excluded", "checks": "excluded",
          "remote": "excluded"}


def pace_version():
    text = (HERE.parent / "include/pace/version.hpp").read_text()
    return ".".join(re.search(rf"PACE_VERSION_{part} (\d+)", text)[1] for part in ("MAJOR", "MINOR", "PATCH"))


def locked(part):
    """Yields name, version and hashes of each package of a lock."""
    text = (HERE / "locks" / f"{part}.txt").read_text()
    for entry in re.findall(r"^[a-z].*(?:\n .*)*", text, re.MULTILINE):
        name, version = re.match(r"([\w.-]+)==([\w.+!-]+)", entry).groups()
        yield name, version, re.findall(r"--hash=sha256:([0-9a-f]{64})", entry)


def debian():
    """Returns the part of each of Debian's packages, their installed versions, and the name of the distribution."""
    parts = [part for part in SCOPES if part not in ("libtorch", "page", "tools")]
    lists = "".join(f'printf "{part} %s\\n" "${{{part}_packages[@]%%:*}}"\n' for part in parts)
    said = subprocess.run(["bash", "-c", f'here=$1; source "$here/setup/needs.sh"\n{lists}', "-", str(HERE)],
                          check=True, capture_output=True, text=True).stdout
    pairs = [line.split() for line in said.splitlines()]
    try:
        found = subprocess.run(["dpkg-query", "--show", "--showformat", "${Package} ${Version} ${db:Status-Status}\n",
                                *(name for _, name in pairs)], capture_output=True, text=True).stdout
    except FileNotFoundError:
        found = ""
    versions = {name: version for name, version, *status in map(str.split, found.splitlines())
                if status == ["installed"]}
    release = pathlib.Path("/etc/os-release")
    distribution = re.search(r"^ID=\"?(\w+)", release.read_text() if release.exists() else "", re.MULTILINE)
    return pairs, versions, distribution[1] if distribution else "debian"


def component(kind, name, version, part, hashes=()):
    purl = f"pkg:{kind}/{urllib.parse.quote(name, safe='')}"
    if version:
        purl += f"@{urllib.parse.quote(version, safe='')}"
    made = {"type": "library", "bom-ref": purl, "name": name, "purl": purl, "scope": SCOPES[part],
            "properties": [{"name": "pace:part", "value": part}]}
    if version:
        made["version"] = version
    if hashes:
        made["hashes"] = [{"alg": "SHA-256", "content": each} for each in hashes]
    return made


def components():
    """All of them, each once: with the scope of the first part in SCOPES that has it, and with all its parts."""
    pairs, versions, distribution = debian()
    all_of = {}
    for part in SCOPES:
        found = [component(f"deb/{distribution}", name, versions.get(name), part) for of, name in pairs if of == part]
        if (HERE / "locks" / f"{part}.txt").exists():
            found += [component("pypi", name, version, part, hashes) for name, version, hashes in locked(part)]
        for each in found:
            first = all_of.setdefault(each["purl"], each)
            if first is not each:
                first["properties"] += each["properties"]
    return sorted(all_of.values(), key=lambda each: each["purl"])


def main():
    if len(sys.argv) > 1:
        sys.exit(f"sbom.py: invalid argument '{sys.argv[1]}'; expected nothing")
    bom = {"$schema": "http://cyclonedx.org/schema/bom-1.6.schema.json", "bomFormat": "CycloneDX", "specVersion": "1.6",
           "version": 1, "components": components(),
           "metadata": {"component": {"type": "library", "bom-ref": "pace", "name": "pace", "version": pace_version(),
                                      "licenses": [{"license": {"id": "BSD-3-Clause"}}]}}}
    json.dump(bom, sys.stdout, indent=1)
    print()


if __name__ == "__main__":
    main()
