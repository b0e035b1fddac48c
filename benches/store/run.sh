#!/usr/bin/env bash
# The decision at store time, measured.
#
#   benches/store/run.sh papers [--steps N,N,...] [--queries N] [--draw stored|all] [--rounds N]
#                               [--seed N] [--cache-mebibytes N] [--core N]
#   benches/store/run.sh adds [--steps N,N,...] [--questions N] [--seconds S] [--seed N]
#                             [--slower-sync MICROSECONDS] [--place ADDRESS [--instances N]] [--name NAME]
#   benches/store/run.sh instances [--documents N] [--clients N,N,...] [--seconds S] [--seed N]
#   benches/store/run.sh questions [--steps N,N,...] [--questions N] [--seed N]
#
# adds: checks and durable adds of the whole store from 1, 8 and 64 clients, on all cores. Writes
# results/<date>-adds.md; needs 2 kB a document in TMPDIR. With --slower-sync every sync of a file takes
# that much longer, as on a slower disk (needs a C compiler). With --place the store is in a PostgreSQL, and N handles
# add at once, as N instances would, server and clients on the same cores.
#
# instances: durable adds from 1, 2 and 3 instances on one PostgreSQL, which is Debian's and is started for the run, next to a
# store in a directory; checks and searches. Writes results/<date>-instances.md; needs 5 kB a document in TMPDIR.
#
# questions: similar, within, contains and sources, asked by one thread. Writes
# results/<date>-questions.md; needs 3 kB a document in TMPDIR.
#
# papers: the experiment of Lee, Lee and Kim 2010 (figures 2 and 3). src/main.rs tells what is
# measured and what is left out. Writes results/<date>-papers.md and two plots beside it, or
# results/<date>-papers-<name>.md with --name NAME. Index files go to a temporary directory and need
# 2.2 kB a document there (TMPDIR says where).
set -euo pipefail
cd "$(dirname "$0")"
command_line="benches/store/run.sh $*"
what=${1:-}
case $what in papers | adds | instances | questions) shift ;; *) echo "error: say which: $0 papers, adds, instances or questions" >&2; exit 2 ;; esac

core=1 name="" slower="" options=()
while [ $# -gt 0 ]; do
  case "$1" in
    --core) core=$2; shift 2 ;;
    --slower-sync) slower=$2; shift 2 ;;
    --name) name=-$2; shift 2 ;;
    *) options+=("$1"); shift ;;
  esac
done

cargo build --release --quiet
bench=${CARGO_TARGET_DIR:-target}/release/store-bench
commit=$(git rev-parse --short HEAD)
[ -z "$(git status --porcelain -- ../../crates . ':!results')" ] || commit="$commit and changes"
mkdir -p results
pinned=(nice taskset -c "$core")
[ "$what" = papers ] || pinned=()
if [ -n "$slower" ]; then
  preloaded=$(mktemp --suffix=.so)
  trap 'rm -f "$preloaded"' EXIT
  cc -O2 -shared -fPIC -o "$preloaded" slower_sync.c -ldl
  pinned=(env "LD_PRELOAD=$preloaded" "SLOWER_SYNC=$slower")
fi
"${pinned[@]}" "$bench" "$what" --command "$command_line" --commit "$commit" \
  --date "$(date +%F)" --out "results/$(date +%F)-$what$name" "${options[@]}"
