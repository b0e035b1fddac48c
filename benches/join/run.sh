#!/usr/bin/env bash
# Every join algorithm on every data set at every threshold, on one core and (auto) on two, with
# SetSimilaritySearch and py_stringsimjoin from PyPI in the same run; writes a dated Markdown
# table and SVG plots to results/.
#
#   benches/join/run.sh [QUICK]     QUICK=1 leaves out the generated sets and the growth plot
#
# Data: ../shared/data/join beside the checkout (skipped where absent), and generated sets with
# the shape of the paper's DBLP and ENRON. A cell that takes longer than LIMIT seconds (default
# 60) is printed as "> N s", and lower thresholds of that algorithm are not run.
# Left out: reading and printing, except in the memory table, whose cells are whole processes.
set -euo pipefail
cd "$(dirname "$0")"
limit=${LIMIT:-60}
work=${WORK:-$(mktemp -d)}
stamp=$(date +%F)
shared=../../../shared/data/join

cargo build --release --quiet
cargo build --release --quiet --manifest-path ../../Cargo.toml -p wonbon-cli
bench=${CARGO_TARGET_DIR:-target}/release/join-bench
wonbon=${CARGO_TARGET_DIR:-../../target}/release/wonbon

cells=$work/cells.jsonl
: > "$cells"
sets=()
for name in acl bmspos debdesc enronspam; do
  [ -f "$shared/${name}_set.txt.zst" ] && sets+=("$shared/${name}_set.txt.zst")
done
for file in "${sets[@]}"; do
  echo "== $file" >&2
  taskset -c 0 "$bench" time "$file" --repeat "${REPEAT:-3}" --limit "$limit" >> "$cells"
  "$bench" time "$file" --repeat "${REPEAT:-3}" --threads 2 --algorithms auto >> "$cells"
done

if [ -z "${1:-}" ]; then
  for shape in dblp enron; do
    echo "== generated $shape" >&2
    [ -f "$work/$shape.txt" ] || "$bench" generate $shape > "$work/$shape.txt"
    taskset -c 0 "$bench" time "$work/$shape.txt" --repeat "${REPEAT_GENERATED:-2}" --limit "$limit" \
      --thresholds 0.75,0.8,0.85,0.9,0.95 >> "$cells"
    "$bench" time "$work/$shape.txt" --repeat "${REPEAT_GENERATED:-2}" --threads 2 --algorithms auto \
      --thresholds 0.75,0.8,0.85,0.9,0.95 >> "$cells"
  done
  for records in 10000 31623 100000 316228 1000000; do
    "$bench" generate dblp --records $records > "$work/grown.txt"
    taskset -c 0 "$bench" time "$work/grown.txt" --repeat 2 --thresholds 0.8,0.6 --limit "$limit" \
      --algorithms auto,ppjoin,apjoin | sed 's/grown.txt/growth/' >> "$cells"
  done
  rm -f "$work/grown.txt"
fi

memory=$work/memory.jsonl
: > "$memory"
for file in "${sets[@]}" "$work"/dblp.txt "$work"/enron.txt; do
  [ -f "$file" ] || continue
  for threshold in 0.5 0.7 0.85 0.95; do
    case $file:$threshold in */enron.txt:0.5 | */enron.txt:0.7) continue ;; esac
    for algorithm in auto apjoin; do
      [ $algorithm = apjoin ] && case $file in */enron.txt) continue ;; esac
      timeout "$limit" "$wonbon" join "$file" --threshold $threshold --algorithm $algorithm \
        --threads 1 --json --stats 2>> "$memory" > /dev/null || true
      sed -i "\$s|^{|{\"file\":\"$(basename "$file")\",\"asked\":\"$threshold\",|" "$memory"
    done
  done
done

others=$work/others.jsonl
: > "$others"
if [ ! -d "$work/venv" ]; then
  python3 -m venv "$work/venv"
  "$work/venv/bin/pip" install --quiet SetSimilaritySearch zstandard || true
  "$work/venv/bin/pip" install --quiet py_stringsimjoin > "$work/py_stringsimjoin.log" 2>&1 || true
fi
for file in "${sets[@]}"; do
  for threshold in 0.95 0.85 0.7 0.5; do
    for tool in SetSimilaritySearch py_stringsimjoin; do
      timeout "$limit" taskset -c 0 "$work/venv/bin/python" others.py $tool "$file" $threshold \
        >> "$others" || echo "{\"file\":\"$(basename "$file")\",\"tool\":\"$tool\",\"threshold\":\"$threshold\",\"failed\":true}" >> "$others"
    done
  done
done

mkdir -p results
python3 report.py "$cells" "$memory" "$others" "results/$stamp-join" "$limit" \
  "$(git rev-parse --short HEAD)" "benches/join/run.sh ${1:-}"
echo "wrote results/$stamp-join.md" >&2
