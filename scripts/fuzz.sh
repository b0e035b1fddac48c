#!/usr/bin/env bash
# libFuzzer on the targets below fuzz/, guided by coverage, on the stable toolchain (no cargo-fuzz, no nightly).
#
#     scripts/fuzz.sh [TARGET...]      those named; in scripts/hard.sh the target of the part; otherwise all
#     WONBON_FUZZ_SECONDS=60           how long for each: an hour unless said
#
# Only our crates are instrumented. A run begins with fuzz/corpus and with what earlier runs found, which is kept
# in target/fuzz/corpus; an input that breaks a promise is kept in fuzz/artifacts.
set -euo pipefail

if [ "${1:-}" = --rustc ]; then
  # Called by cargo: rustc and its arguments follow.
  shift
  case " $* " in
    *" --crate-name build_script"* | *" --crate-type proc-macro "*) exec "$@" ;;
    *" --crate-name wonbon_"* | *" fuzz_targets/"*)
      exec "$@" -Cpasses=sancov-module -Cllvm-args=-sanitizer-coverage-level=4 \
        -Cllvm-args=-sanitizer-coverage-inline-8bit-counters -Cllvm-args=-sanitizer-coverage-pc-table \
        -Cllvm-args=-sanitizer-coverage-trace-compares
      ;;
    *) exec "$@" ;;
  esac
fi

cd "$(dirname "$0")/.."

targets=("$@")
if [ ${#targets[@]} -eq 0 ]; then
  for file in fuzz/fuzz_targets/*.rs; do targets+=("$(basename "$file" .rs)"); done
  if [ -n "${WONBON_PART:-}" ]; then
    [ ${#targets[@]} -eq "${WONBON_PART#*/}" ] || { echo "error: there are ${#targets[@]} targets" >&2; exit 1; }
    targets=("${targets[${WONBON_PART%/*}]}")
  fi
fi
# The wrapper must be one program.
mkdir -p target/fuzz
wrapper="$PWD/target/fuzz/rustc"
printf '#!/bin/sh\nexec bash "%s/scripts/fuzz.sh" --rustc "$@"\n' "$PWD" >"$wrapper"
chmod +x "$wrapper"

for target in "${targets[@]}"; do
  # The group that the target needs.
  group=$(awk -v name="\"$target\"" '/^\[\[bin/ { mine = 0 } $1 == "name" { mine = $3 == name }
    mine && /^required-features/ { gsub(/[^a-z]/, "", $3); print $3 }' fuzz/Cargo.toml)
  RUSTC_WRAPPER="$wrapper" CARGO_TARGET_DIR=target/fuzz cargo build --quiet --manifest-path fuzz/Cargo.toml \
    --no-default-features --features "$group" --bin "$target"
  found="target/fuzz/corpus/$target" artifacts="fuzz/artifacts/$target"
  mkdir -p "$found" "$artifacts"
  "target/fuzz/debug/$target" "$found" "fuzz/corpus/$target" "-artifact_prefix=$artifacts/" -timeout=60 \
    -rss_limit_mb=2048 -max_len=65536 -print_final_stats=1 "-max_total_time=${WONBON_FUZZ_SECONDS:-3600}" 2>&1 |
    tee "target/fuzz/$target.log" | grep -E '^(==|stat::|SUMMARY|.*panicked|#[0-9]+.*DONE)' || true
  executed=$(awk '/stat::number_of_executed_units/ { print $2 }' "target/fuzz/$target.log")
  found_failures=$(find "$artifacts" -type f | wc -l)
  echo "counted | fuzzing: $target | tried ${executed:-0}, broken $found_failures"
  [ -n "$executed" ] && [ "$found_failures" -eq 0 ] || { echo "error: $target broke a promise; see $artifacts" >&2; exit 1; }
done
