#!/usr/bin/env bash
# Core text of three sets of pages, ours beside other extractors: F1, time, memory, deep nesting.
# Prints the Markdown tables of docs/core-text.md. The pages are read from ../shared beside the
# checkout; without them there is nothing to measure.
set -euo pipefail
cd "$(dirname "$0")"
data=../../../shared/data/web
[ -d "$data" ] || { echo "skipped: no pages in $data" >&2; exit 0; }
cargo build --release --quiet
exec taskset -c "${CORE:-0}" ./target/release/core-text-bench "$data" --rounds "${ROUNDS:-3}"
