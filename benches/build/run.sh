#!/usr/bin/env bash
# How long a newcomer waits: the release build from an empty target and an empty cargo home, again after
# a change in one crate, its size, and with DIST=1 also the dist build and the two side by side. Leaves
# the checkout as it is: builds in a copy. Needs an otherwise idle machine, GNU time and the network.
set -euo pipefail
cd "$(dirname "$0")/../.."
work="$(mktemp -d)"
trap 'rm -rf "$work"' EXIT
mkdir "$work/source"
git archive HEAD | tar x -C "$work/source"
here="$PWD"
cd "$work/source"
export CARGO_HOME="$work/cargo" CARGO_TARGET_DIR="$work/target"
measured() { /usr/bin/time -f "$1: %e s wall, %U + %S CPU s, largest process %M kB" "${@:2}"; }

measured "cargo run --release -- demo" cargo run --release --quiet -- demo >/dev/null
ls -l "$work/target/release/wonbon"
printf '\n/// A change.\npub fn a_change(number: u64) -> u64 {\n    number ^ 1\n}\n' >>crates/text/src/lib.rs
measured "after a change in wonbon-text" cargo build --release --quiet
if [ -n "${DIST:-}" ]; then
  measured "dist" cargo build --profile dist --quiet
  ls -l "$work/target/dist/wonbon"
  python3 "$here/benches/server/compare.py" "$work/target/dist/wonbon" "$work/target/release/wonbon"
fi
