#!/usr/bin/env python3
"""Dependencies that a crate names and does not use: none is allowed. Takes a second.

A dependency counts as used when its name stands in a source file of the crate (for `[dev-dependencies]`: in tests,
examples and benchmarks too), or in a feature.
"""

import pathlib
import re
import sys
import tomllib

ROOT = pathlib.Path(__file__).resolve().parents[1]


def sources(folder, names):
    return "\n".join(path.read_text() for name in names for path in sorted((folder / name).rglob("*.rs")))


def main():
    unused = []
    for manifest in sorted(ROOT.glob("crates/*/Cargo.toml")):
        said = tomllib.loads(manifest.read_text())
        folder = manifest.parent
        inside = sources(folder, ["src"]) + "".join(path.read_text() for path in folder.glob("build.rs"))
        everywhere = inside + sources(folder, ["tests", "examples", "benches"])
        features = str(said.get("features", {}))
        tables = [said, *said.get("target", {}).values()]
        for table in tables:
            for kind, text in (("dependencies", inside), ("dev-dependencies", everywhere), ("build-dependencies", inside)):
                for name in table.get(kind, {}):
                    word = name.replace("-", "_")
                    if not re.search(rf"\b{word}\b", text) and f"dep:{name}" not in features and f"'{name}/" not in features:
                        unused.append(f"{manifest.relative_to(ROOT)}: {name} ({kind})")
    if unused:
        sys.exit("error: named and not used:\n  " + "\n  ".join(unused))
    print("every named dependency is used")


if __name__ == "__main__":
    main()
