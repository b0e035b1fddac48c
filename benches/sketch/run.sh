#!/usr/bin/env bash
# Sketching side by side: `wonbon sketch` and our library against rensa, datasketch and gaoya.
#
#   benches/sketch/run.sh [--corpus shared|generated|both] [--megabytes N] [--rounds N] [--core N]
#                         [--machine NAME] [--out FILE]
#
# Sets up what it needs: a virtual environment with the pinned packages of requirements.txt and
# release builds of the program and of this package. Inputs go to a temporary directory. Results go
# to results/<date>-<machine>.md unless --out says otherwise. README.md tells what is measured.
set -euo pipefail
cd "$(dirname "$0")"
command_line="benches/sketch/run.sh $*"

corpus=both megabytes=200 rounds=3 core=1 machine="" out=""
while [ $# -gt 0 ]; do
  case "$1" in
    --corpus) corpus=$2; shift 2 ;;
    --megabytes) megabytes=$2; shift 2 ;;
    --rounds) rounds=$2; shift 2 ;;
    --core) core=$2; shift 2 ;;
    --machine) machine=$2; shift 2 ;;
    --out) out=$2; shift 2 ;;
    *) echo "error: $1 is not an option of this script; see its head" >&2; exit 2 ;;
  esac
done
case "$corpus" in
  shared | generated | both) ;;
  *) echo "error: --corpus is shared, generated or both, not $corpus" >&2; exit 2 ;;
esac

say() { printf '== %s\n' "$*" >&2; }

say "packages"
[ -x .venv/bin/python ] || python3 -m venv .venv
.venv/bin/pip install --quiet --disable-pip-version-check --requirement requirements.txt

say "release builds"
cargo build --release --quiet --manifest-path ../../Cargo.toml -p wonbon-cli
cargo build --release --quiet

bench=$PWD/target/release/sketch-bench
wonbon=${CARGO_TARGET_DIR:-$PWD/../../target}/release/wonbon
[ -x "$bench" ] || bench=${CARGO_TARGET_DIR:?}/release/sketch-bench
inputs=$(mktemp -d)
trap 'rm -rf "$inputs"' EXIT

# One corpus in whole, and a slice of it (every n-th line) that the slow ones can finish.
corpora=()
if [ "$corpus" != generated ]; then
  if compgen -G "../../../shared/data/*.jsonl.zst" >/dev/null; then
    say "input: the shared corpora, one after another"
    "$bench" concatenate ../../../shared/data/*.jsonl.zst --out "$inputs/shared.jsonl"
    corpora+=(shared)
  else
    say "skipped: the shared corpora are not beside this checkout"
  fi
fi
if [ "$corpus" != shared ]; then
  say "input: $megabytes MB of made-up posts"
  "$bench" generate --megabytes "$megabytes" --out "$inputs/generated.jsonl"
  corpora+=(generated)
fi
[ ${#corpora[@]} -gt 0 ] || exit 0
for name in "${corpora[@]}"; do
  "$bench" slice "$inputs/$name.jsonl" --megabytes 40 --out "$inputs/$name-slice.jsonl"
done

say "measuring"
.venv/bin/python compare.py --bench "$bench" --wonbon "$wonbon" --inputs "$inputs" \
  --rounds "$rounds" --core "$core" --command "$command_line" --machine "$machine" --out "$out" \
  "${corpora[@]}"
