#!/usr/bin/env python3
"""What may be built in, by deny.toml: licences, banned crates, sources. Takes a second, and needs no cargo-deny.

cargo-deny itself, which also knows advisories, takes minutes to build: it runs in scripts/hard.sh. Both read the same
deny.toml. Here a licence is what the crate's manifest declares; cargo-deny reads the licence files too.
"""

import json
import pathlib
import re
import subprocess
import sys
import tomllib

ROOT = pathlib.Path(__file__).resolve().parents[1]


def is_allowed(expression, allowed):
    """Whether an SPDX expression can be met by the allowed licences."""
    # The old way to write "or".
    words = re.findall(r"\(|\)|[^\s()]+", expression.replace("/", " OR "))
    at = 0

    def either():
        nonlocal at
        met = both()
        while at < len(words) and words[at].upper() == "OR":
            at += 1
            met = both() or met
        return met

    def both():
        nonlocal at
        met = one()
        while at < len(words) and words[at].upper() == "AND":
            at += 1
            met = one() and met
        return met

    def one():
        nonlocal at
        word = words[at]
        at += 1
        if word == "(":
            met = either()
            at += 1
            return met
        if at + 1 < len(words) and words[at].upper() == "WITH":
            word = f"{word} WITH {words[at + 1]}"
            at += 2
        return word in allowed

    return either()


def reachable(metadata):
    """The packages that the workspace builds on this platform, tools of tests included."""
    nodes = {node["id"]: node["dependencies"] for node in metadata["resolve"]["nodes"]}
    found, open_ = set(), list(metadata["workspace_members"])
    while open_:
        package = open_.pop()
        if package not in found:
            found.add(package)
            open_.extend(nodes[package])
    return found


def main():
    deny = tomllib.loads((ROOT / "deny.toml").read_text())
    allowed = set(deny["licenses"]["allow"])
    banned = {ban["crate"] for ban in deny["bans"]["deny"]}
    locked = tomllib.loads((ROOT / "Cargo.lock").read_text())["package"]
    wrong, seen, sources = set(), {}, set()
    for target in deny["graph"]["targets"]:
        command = ["cargo", "metadata", "--format-version", "1", "--locked", "--all-features", "--filter-platform", target]
        metadata = json.loads(subprocess.check_output(command, cwd=ROOT))
        wanted = reachable(metadata)
        for package in metadata["packages"]:
            if package["id"] in wanted:
                seen[package["id"]] = package
    for package in seen.values():
        name = f"{package['name']} {package['version']}"
        if package["name"] in banned:
            wrong.add(f"{name}: banned")
        if package["source"] is None:
            for dependency in package["dependencies"]:
                if dependency["req"] == "*" and not dependency.get("path"):
                    wrong.add(f"{name}: any version of {dependency['name']}")
            if package["publish"] == []:
                continue
        elif not package["source"].startswith("registry+"):
            wrong.add(f"{name}: from {package['source']}")
        else:
            sources.add(package["source"])
        if not package["license"]:
            wrong.add(f"{name}: declares no licence")
        elif not is_allowed(package["license"], allowed):
            wrong.add(f"{name}: {package['license']}")
    if len(sources) > 1:
        wrong.add(f"more than one registry: {', '.join(sorted(sources))}")
    for package in locked:
        if package.get("source", "").startswith("registry+") and "checksum" not in package:
            wrong.add(f"{package['name']} {package['version']}: Cargo.lock has no checksum")
    # The check notices what it is there for.
    assert is_allowed("(MIT OR GPL-3.0) AND Zlib", {"MIT", "Zlib"}) and is_allowed("GPL-2.0/MIT", {"MIT"})
    assert not is_allowed("MIT AND GPL-3.0", {"MIT"}) and not is_allowed("Apache-2.0 WITH X", {"Apache-2.0"})
    if wrong:
        sys.exit("error: not allowed by deny.toml:\n  " + "\n  ".join(sorted(wrong)))
    print(f"{len(seen)} packages are allowed by deny.toml")


if __name__ == "__main__":
    main()
