#!/usr/bin/env bash
# How `wonbon dedup` grows from 10^5 to 2 x 10^6 documents (0.5 to 10 GB), in one gigabyte of memory.
#
#   benches/dedup/growth.sh [DOCUMENTS...]
#
# Needs about 37 GB of room in BENCH_DIR (or TMPDIR) for the largest. Head of growth.py: what is
# measured, and how a run is bounded in time.
set -euo pipefail
cd "$(dirname "$0")"
cargo build --release --quiet --manifest-path ../../Cargo.toml -p wonbon-cli
cargo build --release --quiet
export WONBON=${WONBON:-${CARGO_TARGET_DIR:-$PWD/../../target}/release/wonbon}
export GENERATE=${GENERATE:-${CARGO_TARGET_DIR:-$PWD/target}/release/generate}
exec python3 growth.py "$@"
