#!/usr/bin/env bash
# Orderings on one core: seconds per million links from 10^5 to 10^8 links, what every ordering has
# gathered after a tenth of the pages of a made-up web of 1.2 million pages and of WebKB's graph,
# and the memory that some take; writes a dated Markdown table and an SVG plot to results/ (or OUT).
#
#   benches/crawl/run.sh            everything: some five minutes on a quiet machine, 2 GB
#   QUICK=1 benches/crawl/run.sh    webs up to 10^7 links
#
# Times are CPU seconds of the crawling thread, the least of REPEAT (5) crawls: the virtual crawl with
# the ordering in it, without making or reading the graph. WebKB comes from ../shared/data/web beside the
# checkout and is left out with a word where it is absent.
set -euo pipefail
cd "$(dirname "$0")"
command="${QUICK:+QUICK=$QUICK }${REPEAT:+REPEAT=$REPEAT }benches/crawl/run.sh"
shared=../../../shared/data/web
all=generic,bfs,dfs,lexbfs,lexdfs,mns,mcs,backlink,opic,larger-site,pagerank,damped,damped-all
pages=6800,20000,65000,200000,650000,2000000,6100000
[ -z "${QUICK:-}" ] || pages=6800,20000,65000,200000,650000
. ../work-folder.sh
cargo build --release --quiet
bench=${CARGO_TARGET_DIR:-target}/release/order-bench

taskset -c 0 "$bench" linear --pages $pages --repeat "${REPEAT:-5}" --order mcs,lexbfs,bfs,damped \
  > "$work/linear.jsonl"
taskset -c 0 "$bench" table --order $all > "$work/synthetic.jsonl"
: > "$work/webkb.jsonl"
if [ -f "$shared/webkb-graph.tar.zst" ]; then
  mkdir -p "$work/webkb"
  tar --zstd -xf "$shared/webkb-graph.tar.zst" -C "$work/webkb"
  departments=$(printf 'http://www.cs.%s.edu,' cornell utexas washington wisc)
  taskset -c 0 "$bench" table --graph "$work/webkb" --site host --seeds "${departments%,}" \
    --order $all > "$work/webkb.jsonl"
else
  echo "WebKB is not beside this checkout" >&2
fi
for order in bfs mcs lexbfs damped; do
  taskset -c 0 "$bench" memory --order $order
done > "$work/memory.jsonl"
out=${OUT:-results}
mkdir -p "$out"
base=$out/$(date +%F)-order
python3 order.py "$work" "$base" "$(git rev-parse --short HEAD)" "$command"
echo "wrote $base.md" >&2
