#!/usr/bin/env bash
# Deduplication side by side: `wonbon dedup` and gaoya, rensa, datasketch, text-dedup, datatrove.
#
#   benches/dedup/run.sh [--out FILE] [--small]
#
# Corpus: four of the shared corpora one after another (206 MB of text), or 200 MB of made-up posts
# where they are not beside the checkout; --small takes its first 5,000 lines. Every tool gets a
# virtual environment of its own; one that does not install within five minutes is named in the
# result and left out, and so is one that takes longer than LIMIT seconds (1800). Results go to
# results/<date>-comparison.md unless --out says otherwise. What is measured: head of run.py.
set -euo pipefail
cd "$(dirname "$0")"
command_line="benches/dedup/run.sh $*"

out="results/$(date +%F)-comparison.md" small=""
while [ $# -gt 0 ]; do
  case "$1" in
    --out) out=$2; shift 2 ;;
    --small) small=yes; shift ;;
    *) echo "error: $1 is not an option of this script; see its head" >&2; exit 2 ;;
  esac
done
say() { printf '== %s\n' "$*" >&2; }

say "release builds"
cargo build --release --quiet --manifest-path ../../Cargo.toml -p wonbon-cli
cargo build --release --quiet
export WONBON=${WONBON:-${CARGO_TARGET_DIR:-$PWD/../../target}/release/wonbon}
generate=${CARGO_TARGET_DIR:-$PWD/target}/release/generate

work=$(mktemp -d "${BENCH_DIR:-${TMPDIR:-/tmp}}/wonbon-dedup.XXXXXX")
trap 'rm -rf "$work"' EXIT
export BENCH_DIR=$work

notes=() tools=()
install() { # TOOL PACKAGE...
  local tool=$1; shift
  say "installing $tool"
  if [ ! -e ".venv/$tool/installed" ]; then
    python3 -m venv ".venv/$tool"
    if ! timeout 300 ".venv/$tool/bin/pip" install --quiet --disable-pip-version-check "$@" >"$work/pip.log" 2>&1; then
      local status=$?
      tail -n 3 "$work/pip.log" >&2
      notes+=("$tool did not install from PyPI within 300 s on this machine.")
      return
    fi
    touch ".venv/$tool/installed"
  fi
  tools+=("$tool=$PWD/.venv/$tool/bin/python")
}
install gaoya gaoya==0.2.2
install rensa rensa==0.5.0
install datasketch datasketch==2.0.0
install text-dedup text-dedup==0.4.0
install datatrove "datatrove[processing,io]==0.10.1" spacy

data=../../../shared/data
if [ -e "$data/en-usenet20news.jsonl.zst" ]; then
  what="en-usenet20news, en-win32-api-docs, en-reuters21578 and ko-precedents one after another"
  for name in en-usenet20news en-win32-api-docs en-reuters21578 ko-precedents; do
    zstd -dcq --long=27 "$data/$name.jsonl.zst"
  done >"$work/corpus.jsonl"
else
  what="made up: generate 40000 580"
  "$generate" 40000 580 >"$work/corpus.jsonl"
fi
if [ -n "$small" ]; then
  what="$what, the first 5,000 lines"
  head -n 5000 "$work/corpus.jsonl" >"$work/small.jsonl"
  mv "$work/small.jsonl" "$work/corpus.jsonl"
fi

say "measuring"
versions=$(for tool in gaoya rensa datasketch text-dedup datatrove; do
  [ -e ".venv/$tool/installed" ] && ".venv/$tool/bin/pip" freeze --disable-pip-version-check | grep -i "^$tool==" || true
done | paste -sd' ')
{
  echo "# Side by side, one core, $(date +%F)"
  echo
  echo "Machine: $(nproc) cores, $(sed -n 's/^model name[^:]*: //p' /proc/cpuinfo | head -1), load $(cut -d' ' -f1 /proc/loadavg)" \
    "before the run. Commit: $(git describe --always --dirty). Command: \`$command_line\`."
  echo "Corpus: $what; $(wc -l <"$work/corpus.jsonl") documents. $versions. Settings of the others: \`others.py\`."
  echo
  python3 run.py "$work/corpus.jsonl" "${tools[@]}"
  for note in "${notes[@]}"; do printf '\n%s\n' "$note"; done
} >"$work/result.md"
mkdir -p "$(dirname "$out")"
mv "$work/result.md" "$out"
say "$out"
