#!/usr/bin/env bash
# The Python package beside datasketch, rensa, gaoya, text-dedup, trafilatura and resiliparse.
#
#   benches/python/run.sh [--out FILE]
#
# Builds the program and the wheel with the release profile, makes an environment for the wheel, one for the others and one for
# text-dedup (which wants Python 3.12; TEXT_DEDUP_PYTHON names it), and writes results/<date>-comparison.md unless --out
# says otherwise. What is measured: heads of bench.py, memory.py and interrupts.py. About ten minutes beside the builds.
set -euo pipefail
cd "$(dirname "$0")"
command_line="benches/python/run.sh $*"
out="results/$(date +%F)-comparison.md"
[ "${1:-}" != --out ] || out=$2
say() { printf '== %s\n' "$*" >&2; }

top=$(cd ../.. && pwd)
work="$top/target/bench-python"
mkdir -p "$work"
say "release builds"
(cd "$top" && cargo build --release --quiet -p wonbon-cli)
environment() { # NAME PYTHON PACKAGE...
  local name=$1 python=$2
  shift 2
  [ -e "$work/$name/installed" ] && return
  rm -rf "${work:?}/$name"
  "$python" -m venv "$work/$name" && "$work/$name/bin/pip" install --quiet --disable-pip-version-check "$@" && touch "$work/$name/installed"
}
environment ours python3 "maturin>=1.9.4,<2" pyarrow==26.0.1 numpy==2.4.6
environment peers python3 datasketch==2.0.0 rensa==0.5.0 gaoya==0.2.2 trafilatura==2.3.1 lxml_html_clean Resiliparse==2.0.0 pyarrow==26.0.1
text_dedup=()
if environment text-dedup "${TEXT_DEDUP_PYTHON:-python3.12}" text-dedup==0.4.1; then
  text_dedup=(--text-dedup "$work/text-dedup/bin/python")
fi
rm -rf "$work/wheels"
(cd "$top" && "$work/ours/bin/maturin" build --release --quiet --out "$work/wheels")
"$work/ours/bin/pip" install --quiet --disable-pip-version-check --force-reinstall --no-deps "$work"/wheels/*.whl

say "measuring"
mkdir -p "$(dirname "$out")"
{
  echo "# The Python package side by side, $(date +%F)"
  echo
  echo "Machine: $(nproc) cores, $(sed -n 's/^model name[^:]*: //p' /proc/cpuinfo | head -1), load $(cut -d' ' -f1 /proc/loadavg)" \
    "before the run. Commit: $(git describe --always --dirty). Command: \`$command_line\`. $("$work/ours/bin/python" --version)."
  echo
  "$work/ours/bin/python" bench.py --python "$work/ours/bin/python" --peers "$work/peers/bin/python" "${text_dedup[@]}" \
    --program "${WONBON:-$top/target/release/wonbon}" --work "$work/data"
  echo "## Memory: \`dedup\` of an Arrow table of a gigabyte"
  echo
  "$work/ours/bin/python" memory.py 1000
  echo
  echo "## Ctrl-C at a moment drawn at random"
  echo
  "$work/ours/bin/python" interrupts.py "$work/data/texts.parquet" 10
} >"$work/result.md"
mv "$work/result.md" "$out"
say "$out"
