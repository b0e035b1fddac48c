#!/usr/bin/env bash
# Repeated passages: ours (remove and list), datatrove's sentence deduplication, an array of suffixes, lines by their hashes.
#
#   benches/passages/run.sh [MEGABYTES...]     sizes of the generated corpora (default: 10 100 1000)
#
# Measured: MB of text a second of CPU on one thread, peak memory under --memory 512M, the most bytes of the work on disk as a part of the
# text, and errors against a table of all windows (others.py). Corpora: the shared English sets where they are beside the
# checkout, and generated posts with planted passages (src/main.rs). Prints lines of JSON; results/ has dated pages.
# PYTHON is an interpreter with datatrove 0.10, spacy, nltk, regex, xxhash < 4, orjson, tokenizers and pydivsufsort; without it only
# lines by their hashes are compared.
set -euo pipefail
cd "$(dirname "$0")"
sizes=("$@")
[ $# -gt 0 ] || sizes=(10 100 1000)
cargo build --release --quiet
bench=${CARGO_TARGET_DIR:-$PWD/target}/release/passages-bench
source ../work-folder.sh
python=${PYTHON:-python3}

ours() { # NAME CORPUS
  for words in 50 13; do
    for what in remove list; do
      rm -rf "$work/out"
      printf '%s %s %s: ' "$1" "$what" "$words"
      "$bench" "$what" "$words" 512 "$2" "$work/out"
      [ "$what-$words" = remove-50 ] && cp "$work/out/kept/"* "$work/left.jsonl"
    done
  done
}

data=../../../shared/data
for name in en-reuters21578 en-usenet20news en-win32-api-docs; do
  [ -e "$data/$name.jsonl.zst" ] || { echo "skipped: $name is not beside this checkout"; continue; }
  zstd -dcf "$data/$name.jsonl.zst" >"$work/$name.jsonl"
  ours "$name" "$work/$name.jsonl"
  printf '%s errors of ours: ' "$name"
  "$python" others.py errors 50 "$work/$name.jsonl" "$work/left.jsonl"
  for tool in paragraphs suffixes datatrove; do
    printf '%s %s: ' "$name" "$tool"
    if timeout 900 "$python" others.py "$tool" 50 "$work/$name.jsonl" "$work/other.jsonl" 2>"$work/errors.log" | tail -n 1; then
      printf '%s errors of %s: ' "$name" "$tool"
      "$python" others.py errors 50 "$work/$name.jsonl" "$work/other.jsonl"
    else
      echo "did not run: $(tail -n 1 "$work/errors.log")"
    fi
  done
done
for size in "${sizes[@]}"; do
  "$bench" generate "$size" >"$work/generated.jsonl"
  ours "generated-$size" "$work/generated.jsonl"
done
