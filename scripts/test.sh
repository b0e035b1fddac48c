#!/usr/bin/env bash
# The one test command: formatting, lints, every test. Sets up what it needs on a Debian machine
# that has only a Rust toolchain. Tests that need the corpora beside the checkout say that they
# were skipped when these are absent. Long forms of tests are in scripts/hard.sh.
set -euo pipefail
cd "$(dirname "$0")/.."

say() { printf '\n== %s\n' "$*"; }

say "tools"
# Where it is set, a test whose tools are missing fails instead of being skipped.
WONBON_TOOLS="$(bash scripts/tools.sh)"
export WONBON_TOOLS

say "formatting"
cargo fmt --all --check

say "lints (warnings are errors)"
cargo clippy --workspace --all-targets --quiet -- -D warnings

say "dependencies and mutants"
python3 scripts/unused.py
python3 scripts/licences.py
python3 scripts/mutants.py --check

# The same cases on every machine: what this run judges is the change, not the luck of the draw.
# Unset for fresh cases: `cargo test`, or the fuzz targets.
export PROPTEST_RNG_SEED="${PROPTEST_RNG_SEED:-1997}"

say "tests"
python3 scripts/tests.py

say "Python"
bash scripts/python.sh

say "Spark"
bash scripts/spark.sh

say "documentation"
RUSTDOCFLAGS="-D warnings" cargo doc --workspace --no-deps --quiet
