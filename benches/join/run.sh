#!/usr/bin/env bash
# Every join algorithm on every data set at every threshold, on one core and (auto) on two, with
# SetSimilaritySearch and py_stringsimjoin from PyPI in the same run; writes a dated Markdown
# table and SVG plots to results/ (or to OUT).
#
#   benches/join/run.sh             everything: within 15 minutes on a quiet machine
#   QUICK=1 benches/join/run.sh     three thresholds, one repetition, small generated sets
#   TWO=1 benches/join/run.sh       only auto on one core and on two, in turn: a table of its own,
#                                   SPEND seconds (3) a cell
#
# Data: ../shared/data/join beside the checkout (skipped where absent), and generated sets with
# the shape of the paper's DBLP and ENRON.
# Bounded in time: BUDGET seconds (900) for all, after building; what does not fit is left out
# and named at the head of the report. A cell over LIMIT seconds (20) ends that algorithm's row;
# a cell of another tool is stopped after OTHERS_LIMIT seconds (30), and that tool is not asked
# for lower thresholds of that file. Cells over two seconds are not repeated.
# Left out: reading and printing, except in the memory table, whose cells are whole processes.
set -euo pipefail
cd "$(dirname "$0")"
command="${TWO:+TWO=$TWO }${SPEND:+SPEND=$SPEND }${REPEAT:+REPEAT=$REPEAT }${QUICK:+QUICK=$QUICK }${LIMIT:+LIMIT=$LIMIT }${BUDGET:+BUDGET=$BUDGET }benches/join/run.sh"
limit=${LIMIT:-20}
others_limit=${OTHERS_LIMIT:-30}
budget=${BUDGET:-900}
shared=../../../shared/data/join
repeat=${REPEAT:-5}
thresholds=0.5,0.6,0.7,0.8,0.85,0.9,0.95
generated_thresholds=0.75,0.8,0.85,0.9,0.95
memory_thresholds="0.95 0.85 0.7 0.5"
grown="10000 31623 100000 316228 1000000"
records=()
if [ -n "${QUICK:-}" ]; then
  repeat=${REPEAT:-1}
  thresholds=0.7,0.85,0.95
  generated_thresholds=0.85,0.95
  memory_thresholds="0.95 0.7"
  grown="10000 31623 100000"
  records=(--records 20000)
  others_limit=${OTHERS_LIMIT:-5}
fi

. ../work-folder.sh

cargo build --release --quiet
[ -n "${TWO:-}" ] || cargo build --release --quiet --manifest-path ../../Cargo.toml -p wonbon-cli
bench=${CARGO_TARGET_DIR:-target}/release/join-bench
wonbon=${CARGO_TARGET_DIR:-../../target}/release/wonbon

cells=$work/cells.jsonl
memory=$work/memory.jsonl
others=$work/others.jsonl
notes=$work/notes.txt
: > "$cells"
: > "$memory"
: > "$others"
: > "$notes"
SECONDS=0

# Seconds left of the budget when the stages after this one keep $1 of them.
left() {
  local rest=$((budget - SECONDS - $1))
  echo $((rest > 1 ? rest : 1))
}

# within SECONDS NAME COMMAND...: runs a command for at most so long; a note says if that failed.
within() {
  local most=$1 name=$2 status=0
  shift 2
  timeout "$most" "$@" || status=$?
  if [ $status -eq 124 ]; then
    echo "$name was stopped after $most s" | tee -a "$notes" >&2
  elif [ $status -ne 0 ]; then
    echo "$name failed with status $status" | tee -a "$notes" >&2
  fi
  return 0
}

sets=()
for name in acl bmspos debdesc enronspam; do
  if [ -f "$shared/${name}_set.txt.zst" ]; then
    sets+=("$shared/${name}_set.txt.zst")
  else
    echo "$name is not beside this checkout" | tee -a "$notes" >&2
  fi
done
out=${OUT:-results}
mkdir -p "$out"

if [ -n "${TWO:-}" ]; then
  for shape in dblp enron; do
    [ -s "$work/$shape.txt" ] || "$bench" generate $shape "${records[@]}" > "$work/$shape.txt"
  done
  for file in "${sets[@]}" "$work/dblp.txt" "$work/enron.txt"; do
    case $file in
      *.zst) asked=$thresholds ;;
      *) asked=$generated_thresholds ;;
    esac
    echo "== $(basename "$file") (${SECONDS} s)" >&2
    within "$(left 0)" "$(basename "$file")" "$bench" time "$file" --repeat "$repeat" --spend "${SPEND:-3}" \
      --threads 1,2 --algorithms auto --thresholds "$asked" >> "$cells"
  done
  python3 two_cores.py "$cells" "$notes" "$out/$(date +%F)-two-cores.md" \
    "$(git rev-parse --short HEAD)" "$command"
  echo "wrote $out/$(date +%F)-two-cores.md" >&2
  exit
fi

for file in "${sets[@]}"; do
  name=$(basename "$file" _set.txt.zst)
  echo "== $name (${SECONDS} s)" >&2
  within "$(left 500)" "$name on one core" taskset -c 0 "$bench" time "$file" \
    --repeat "$repeat" --limit "$limit" --thresholds $thresholds >> "$cells"
  within "$(left 490)" "$name on two cores" "$bench" time "$file" --repeat "$repeat" \
    --threads 2 --algorithms auto --thresholds $thresholds >> "$cells"
done

for shape in dblp enron; do
  echo "== generated $shape (${SECONDS} s)" >&2
  [ -s "$work/$shape.txt" ] || "$bench" generate $shape "${records[@]}" > "$work/$shape.txt"
  within "$(left 260)" "$shape on one core" taskset -c 0 "$bench" time "$work/$shape.txt" \
    --repeat "$repeat" --limit "$limit" --thresholds $generated_thresholds >> "$cells"
  within "$(left 240)" "$shape on two cores" "$bench" time "$work/$shape.txt" \
    --repeat "$repeat" --threads 2 --algorithms auto --thresholds $generated_thresholds >> "$cells"
done

echo "== growth (${SECONDS} s)" >&2
for count in $grown; do
  "$bench" generate dblp --records "$count" > "$work/grown.txt"
  within "$(left 200)" "growth to $count" taskset -c 0 "$bench" time "$work/grown.txt" --repeat 2 \
    --thresholds 0.8,0.6 --limit "$limit" --algorithms auto,ppjoin,apjoin > "$work/grown.jsonl"
  sed 's/"grown.txt"/"growth"/' "$work/grown.jsonl" >> "$cells"
done
rm -f "$work/grown.txt"

echo "== memory (${SECONDS} s)" >&2
# base FILE: bytes at the peak when the same program reads as many empty lines (at most 16 MB of
# them), compressed alike: what code, buffers and a window of zstd take.
base() {
  local bytes
  case $1 in
    *.zst)
      bytes=$(zstd -dcq "$1" | head -c 16000000 | wc -c)
      head -c "$bytes" /dev/zero | tr '\0' '\n' | zstd -q --zstd=wlog=22 > "$work/empty.txt.zst"
      set -- "$work/empty.txt.zst"
      ;;
    *)
      head -c 1000000 /dev/zero | tr '\0' '\n' > "$work/empty.txt"
      set -- "$work/empty.txt"
      ;;
  esac
  "$wonbon" join "$1" --threshold 0.95 --threads 1 --json --stats 2>&1 > /dev/null \
    | sed -n 's/.*"peak_memory_bytes":\([0-9]*\).*/\1/p'
}
for file in "${sets[@]}" "$work/dblp.txt" "$work/enron.txt"; do
  name=$(basename "$file")
  base_bytes=$(base "$file" || echo 0)
  for threshold in $memory_thresholds; do
    case $name:$threshold in enron.txt:0.5 | enron.txt:0.7) continue ;; esac
    most=$(left 130)
    within $((most < limit ? most : limit)) "memory of $name at $threshold" \
      "$wonbon" join "$file" --threshold "$threshold" --threads 1 --json --stats \
      2> "$work/stats.json" > /dev/null
    if grep -q peak_memory "$work/stats.json"; then
      sed "s|^{|{\"file\":\"$name\",\"asked\":\"$threshold\",\"base_bytes\":${base_bytes:-0},|" "$work/stats.json" >> "$memory"
    fi
  done
done

echo "== other tools (${SECONDS} s)" >&2
python=$work/venv/bin/python
if [ ! -x "$python" ]; then
  python3 -m venv "$work/venv"
  timeout 60 "$work/venv/bin/pip" install --quiet SetSimilaritySearch zstandard \
    > "$work/SetSimilaritySearch.log" 2>&1 || true
  timeout 60 "$work/venv/bin/pip" install --quiet py_stringsimjoin \
    > "$work/py_stringsimjoin.log" 2>&1 || true
fi
for tool in SetSimilaritySearch py_stringsimjoin; do
  if ! "$python" -c "import $tool" 2> /dev/null; then
    version=$("$python" -c 'import platform; print(platform.python_version())')
    echo "$tool could not be installed under Python $version, so it has no rows" \
      | tee -a "$notes" >&2
    continue
  fi
  for file in "${sets[@]}"; do
    name=$(basename "$file")
    for threshold in 0.95 0.85 0.7 0.5; do
      most=$(left 5)
      most=$((most < others_limit ? most : others_limit))
      if ! timeout "$most" taskset -c 0 "$python" others.py $tool "$file" $threshold >> "$others"
      then
        echo "{\"file\":\"$name\",\"tool\":\"$tool\",\"threshold\":\"$threshold\",\"stopped_after\":$most}" \
          >> "$others"
        break
      fi
    done
  done
done

base=$out/$(date +%F)-join
echo "the run took $SECONDS s of $budget allowed" >> "$notes"
python3 report.py "$cells" "$memory" "$others" "$notes" "$base" "$limit" \
  "$(git rev-parse --short HEAD)" "$command"
echo "wrote $base.md" >&2
