#!/usr/bin/env bash
# Families on Spark beside text-dedup's last Spark script, datatrove and `wonbon dedup`.
#
#     benches/spark/run.sh [--times N] [--growth "100000 300000 1000000"] [--pieces "ours peers growth"]
#                          [--lines FILE] [--out FILE]
#
# Ours runs on the four text corpora (206 MB), N times over, and on generated posts for growth. The others take minutes
# for megabytes, so all four tools also run on the first 25 MB of the API documentation (many near-copies), where recall
# and precision are counted against `wonbon dedup --exact --pairs`. Needs a release build of the program (WONBON) and of
# the Python package (WONBON_PACKAGE: a folder with wonbon/_wonbon.abi3.so); fetches the others from PyPI. What is
# measured: heads of bench.py and peers.py. With --lines, what was measured is kept and later calls add to it.
set -euo pipefail
cd "$(dirname "$0")/../.."
command_line="benches/spark/run.sh $*"
out="benches/spark/results/$(date +%F)-first.md" times=1 growth="100000 300000 1000000" pieces="ours peers growth" lines=
while [ $# -gt 0 ]; do
  case "$1" in
    --out) out=$2; shift 2 ;;
    --times) times=$2; shift 2 ;;
    --growth) growth=$2; shift 2 ;;
    --pieces) pieces=$2; shift 2 ;;
    --lines) lines=$2; shift 2 ;;
    *) echo "error: $1 is not an option of this script; see its head" >&2; exit 2 ;;
  esac
done
export WONBON="${WONBON:-$PWD/target/release/wonbon}" PYTHONPATH="${WONBON_PACKAGE:?a release build of the package}"
export PYTHONDONTWRITEBYTECODE=1
python="$PWD/target/tools/spark/4.3.0/venv/bin/python"
[ -x "$python" ] || bash scripts/spark.sh --collect-only -q >/dev/null
peers="$PWD/target/tools/spark/peers"
if [ ! -e "$peers/text-dedup/bin/python" ]; then
  "$python" -m venv "$peers/text-dedup"
  "$peers/text-dedup/bin/pip" install --quiet --disable-pip-version-check rich scipy numpy tqdm
  "$peers/text-dedup/bin/pip" install --quiet --disable-pip-version-check --no-deps text-dedup==0.3.1
  # Spark and Arrow are the same for both.
  "$python" -c 'import sysconfig; print(sysconfig.get_path("purelib"))' \
    >"$("$peers/text-dedup/bin/python" -c 'import sysconfig; print(sysconfig.get_path("purelib"))')/spark.pth"
fi
if [ ! -e "$peers/datatrove/bin/python" ]; then
  "$python" -m venv "$peers/datatrove"
  "$peers/datatrove/bin/pip" install --quiet --disable-pip-version-check "datatrove[processing,io]==0.10.1" spacy
fi

work="$(mktemp -d "${BENCH_DIR:-/tmp}/wonbon-spark.XXXXXX")"
trap 'rm -rf "$work"' EXIT
export BENCH_DIR="$work"
lines="${lines:-$work/lines}"
note() { printf '%s\t%s\n' "$1" "$2" >>"$lines"; printf '== %s: %s\n' "$1" "$2" >&2; }
ours() { note "$1" "$("$python" benches/spark/bench.py families "$2" --program "$WONBON" ${3:-} 2>"$work/log" || tail -3 "$work/log" >&2)"; }

for piece in $pieces; do
  case "$piece" in
    ours)
      "$python" benches/spark/bench.py corpus "$work/four.parquet" --times "$times" >&2
      ours "four corpora, $times times" "$work/four.parquet"
      ;;
    peers)
      "$python" benches/spark/bench.py corpus "$work/part.parquet" --only en-win32-api-docs --most 25e6 --lines "$work/part.jsonl" >&2
      "$WONBON" dedup "$work/part.jsonl" -o "$work/exact" --exact --pairs "$work/truth.tsv" >/dev/null 2>&1
      ours "25 MB: ours" "$work/part.parquet" "--pairs $work/ours.tsv"
      note "25 MB: text-dedup, 8 partitions" "$("$peers/text-dedup/bin/python" benches/spark/peers.py text-dedup "$work/part.parquet" "$work/text-dedup.tsv" --partitions 8 2>"$work/log" || tail -3 "$work/log" >&2)"
      note "25 MB: datatrove, local executor" "$("$peers/datatrove/bin/python" benches/dedup/others.py datatrove "$work/part.jsonl" "$work/datatrove.tsv" 2>/dev/null | tail -1)"
      for tool in ours text-dedup datatrove; do
        [ -e "$work/$tool.tsv" ] && note "pairs of $tool" "$("$python" benches/spark/peers.py score "$work/truth.tsv" "$work/$tool.tsv")"
      done
      ;;
    growth)
      for documents in $growth; do
        "$python" benches/spark/bench.py generated "$work/generated.parquet" "$documents" >&2
        ours "generated, $documents" "$work/generated.parquet"
      done
      ;;
    *) echo "error: no piece $piece; there are ours, peers and growth" >&2; exit 2 ;;
  esac
done
mkdir -p "$(dirname "$out")"
{
  echo "# Families on Spark, $(date +%F)"
  echo
  echo "Machine: $(nproc) cores, $(sed -n 's/^model name[^:]*: //p' /proc/cpuinfo | head -1). Commit: $(git describe --always --dirty). Command: \`$command_line\`."
  echo "PySpark 4.3.0, local-cluster[2,1,1024], executors with a heap of 600 MB, driver 800 MB."
  echo
  "$python" benches/spark/table.py "$lines" "${out%.md}.svg"
} >"$work/result.md"
cp "$work/result.md" "$out"
echo "$out"
