#!/usr/bin/env bash
# The Python package beside datasketch, rensa, gaoya, text-dedup, trafilatura and resiliparse.
#
#   benches/python/run.sh [--out FILE] [prepare | PIECE...]
#
# Builds the program and the wheel with the release profile, makes an environment for the wheel, one for the others and one for
# text-dedup (which wants Python 3.12; TEXT_DEDUP_PYTHON names it), and writes results/<date>-comparison.md unless --out
# says otherwise. What is measured: heads of bench.py, memory.py and interrupts.py. About ten minutes beside the builds.
# `prepare` stops before it measures. With pieces (sketch-1, dedup-2, memory ...) only those are measured, without a build, and
# the page is made of them and of the pieces measured before: for a machine that is quiet for a few minutes at a time.
set -euo pipefail
cd "$(dirname "$0")"
out="results/$(date +%F)-comparison.md"
if [ "${1:-}" = --out ]; then
  out=$2
  shift 2
fi
PIECES=(sketch-1 sketch-2 dedup-1 dedup-2 extract-1 extract-2 program-1 program-2 memory interrupts)
say() { printf '== %s\n' "$*" >&2; }

top=$(cd ../.. && pwd)
work="$top/target/bench-python"
mkdir -p "$work/pieces" "$(dirname "$out")"
environment() { # NAME PYTHON PACKAGE...
  local name=$1 python=$2
  shift 2
  [ -e "$work/$name/installed" ] && return
  rm -rf "${work:?}/$name"
  "$python" -m venv "$work/$name" && "$work/$name/bin/pip" install --quiet --disable-pip-version-check "$@" && touch "$work/$name/installed"
}
if [ $# -eq 0 ] || [ "$1" = prepare ]; then
  say "release builds"
  rm -rf "$work/pieces" "$work/wheels"
  mkdir -p "$work/pieces"
  (cd "$top" && cargo build --release --quiet -p wonbon-cli)
  environment ours python3 "maturin>=1.9.4,<2" pyarrow==26.0.1 numpy==2.4.6
  environment peers python3 datasketch==2.0.0 rensa==0.5.0 gaoya==0.2.2 trafilatura==2.3.1 lxml_html_clean Resiliparse==2.0.0 pyarrow==26.0.1
  environment text-dedup "${TEXT_DEDUP_PYTHON:-python3.12}" text-dedup==0.4.1 || say "text-dedup is not installed"
  (cd "$top" && "$work/ours/bin/maturin" build --release --quiet --out "$work/wheels")
  "$work/ours/bin/pip" install --quiet --disable-pip-version-check --force-reinstall --no-deps "$work"/wheels/*.whl
  git describe --always --dirty >"$work/commit"
  [ $# -eq 0 ] || exit 0
fi

ours="$work/ours/bin/python"
bench() {
  local text_dedup=()
  [ ! -e "$work/text-dedup/installed" ] || text_dedup=(--text-dedup "$work/text-dedup/bin/python")
  "$ours" bench.py --python "$ours" --peers "$work/peers/bin/python" "${text_dedup[@]}" \
    --program "${WONBON:-$top/target/release/wonbon}" --work "$work/data" "$@"
}
measure() { # PIECE
  case "$1" in
    memory)
      printf '## Memory: `dedup` of an Arrow table of a gigabyte\n\n'
      "$ours" memory.py 1000
      ;;
    interrupts)
      printf '## Ctrl-C at a moment drawn at random\n\n'
      "$ours" interrupts.py "$work/data/texts.parquet" 10
      ;;
    *) bench --only "${1%-*}" --cores "${1##*-}" ;;
  esac
  printf '\nLoad before this piece: %s.\n' "$2"
}
[ $# -gt 0 ] || set -- "${PIECES[@]}"
bench --only none >"$work/data.md"
for piece in "$@"; do
  say "measuring $piece"
  measure "$piece" "$(cut -d' ' -f1 /proc/loadavg)" >"$work/pieces/$piece"
done
{
  echo "# The Python package side by side, $(date +%F)"
  echo
  echo "Machine: $(nproc) cores, $(sed -n 's/^model name[^:]*: //p' /proc/cpuinfo | head -1). Commit: $(cat "$work/commit")." \
    "Command: \`benches/python/run.sh\`. $("$ours" --version)."
  echo
  cat "$work/data.md"
  for piece in "${PIECES[@]}"; do
    [ ! -e "$work/pieces/$piece" ] || { cat "$work/pieces/$piece"; echo; }
  done
} >"$work/result.md"
cp "$work/result.md" "$out"
say "$out"
