#!/usr/bin/env bash
# Memory errors in the modules that have unsafe code: their tests under AddressSanitizer with LeakSanitizer (every vector
# path of this processor), and under valgrind (reads of uninitialised memory; no AVX-512 there). Miri would also see
# wrong aliasing, but needs a nightly component and knows few vector instructions.
#
#     scripts/memory.sh [address] [valgrind]      otherwise both
#
# Not here: the Python module's Arrow capsules, which need an interpreter (python/tests run them).
set -euo pipefail
cd "$(dirname "$0")/.."

command -v valgrind >/dev/null || { apt-get update -q && apt-get install -y -q --no-install-recommends valgrind; } >&2
export PROPTEST_RNG_SEED=1997
# Slow machines of another kind: a few cases of each property.
export PROPTEST_CASES="${PROPTEST_CASES:-16}"

# The tests of one package, as programs.
programs() { # ARGUMENTS OF CARGO
  cargo test --quiet --no-run --message-format=json-render-diagnostics "$@" |
    python3 -c 'import json, sys
for line in sys.stdin:
    said = json.loads(line)
    if said.get("reason") == "compiler-artifact" and said["profile"]["test"] and said["executable"]:
        print(said["executable"])'
}

counted() { # WHAT, OUTPUT
  local passed
  passed=$(grep -oE '[0-9]+ passed' "$2" | awk '{ sum += $1 } END { print sum + 0 }')
  [ "$passed" -gt 0 ] || { echo "error: no test ran" >&2; exit 1; }
  echo "counted | $1 | tests $passed, errors 0"
}

address() {
  # Sanitizers are an unstable flag; the compiler is the stable one.
  RUSTC_BOOTSTRAP=1 RUSTFLAGS=-Zsanitizer=address CARGO_TARGET_DIR=target/address \
    cargo test --target x86_64-unknown-linux-gnu -p wonbon-sketch -p wonbon-join -p wonbon-text --lib --tests \
    -- block vector kernel path permut fingerprint oracle min_values view set fuzz replay corpus 2>&1 | tee target/address.log
  counted "memory: AddressSanitizer" target/address.log
}

under_valgrind() {
  local program
  : >target/valgrind.log
  for program in $(programs -p wonbon-sketch -p wonbon-join -p wonbon-index -p wonbon-allocator --lib --test oracles \
    --test shingles); do
    valgrind --quiet --error-exitcode=9 --fair-sched=yes "$program" --test-threads 1 \
      vector kernel path fingerprint min_values view segment shingle size threads empty 2>&1 | tee -a target/valgrind.log
  done
  counted "memory: valgrind" target/valgrind.log
}

[ $# -gt 0 ] || set -- address valgrind
for one in "$@"; do
  case $one in
    address) address ;;
    valgrind) under_valgrind ;;
    *) echo "error: no check $one" >&2; exit 2 ;;
  esac
done
