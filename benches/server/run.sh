#!/usr/bin/env bash
# The service under load, on loopback: wrk on one core, the service on another.
#
#   benches/server/run.sh load [--documents N] [--seconds S] [--rounds N] [--connections N] [--slow N]
#   benches/server/run.sh hour [--documents N] [--minutes N] [--rate N]
#
# load: an empty handler (/healthz), check and search from 64 connections in turn, several rounds, after a
# second of each that does not count; then search and check beside idle connections and slow clients; then
# adds, last because the store grows by them; then the library's own adds from 64 clients on the same core. Writes results/<date>-load.md.
# hour: mixed load at a steady rate, and the slope of resident memory. Writes results/<date>-hour.md.
#
# Needs wrk, curl and python3 (Debian packages), two cores, 5 kB a document in TMPDIR.
set -euo pipefail
cd "$(dirname "$0")"
command_line="benches/server/run.sh $*"
what=${1:-}
case $what in load | hour) shift ;; *) echo "error: say which: $0 load or hour" >&2; exit 2 ;; esac
documents=111000 seconds=8 rounds=3 idle=10000 slow=200 minutes=60 rate=200
while [ $# -gt 0 ]; do
  case "$1" in
    --documents) documents=$2 ;;
    --seconds) seconds=$2 ;;
    --rounds) rounds=$2 ;;
    --connections) idle=$2 ;;
    --slow) slow=$2 ;;
    --minutes) minutes=$2 ;;
    --rate) rate=$2 ;;
    *) echo "error: $1 is unknown" >&2; exit 2 ;;
  esac
  shift 2
done
command -v wrk >/dev/null || { echo "error: wrk is missing (apt-get install wrk)" >&2; exit 1; }

(cd ../.. && cargo build --release --quiet -p wonbon-cli)
wonbon=../../target/release/wonbon
commit=$(git rev-parse --short HEAD)
[ -z "$(git status --porcelain -- ../../crates)" ] || commit="$commit and changes"
work=$(mktemp -d)
mkdir -p results
ulimit -n "$(ulimit -Hn)"

# Ends what this script started, by its id.
server="" idler=""
end() {
  [ -z "$idler" ] || kill "$idler" 2>/dev/null || true
  [ -z "$server" ] || { kill "$server" 2>/dev/null && wait "$server"; } || true
  rm -rf "$work"
}
trap end EXIT

python3 documents.py "$documents" >"$work/posts.jsonl"
python3 documents.py --words >"$work/words.txt"
head -n 5000 "$work/posts.jsonl" >"$work/some.jsonl"

taskset -c 0 "$wonbon" serve --store "$work/store" --listen 127.0.0.1:0 --connections 30000 \
  >"$work/address" 2>"$work/log" &
server=$!
for _ in $(seq 100); do [ -s "$work/address" ] && break; sleep 0.1; done
address=$(head -n 1 "$work/address")
base=${address%/}
port=${base##*:}
curl -sS -T "$work/posts.jsonl" -H 'content-type: application/x-ndjson' -X POST "$base/v1/documents" |
  tail -n 1 >"$work/filled"
# Waits until search has caught up and its merges are done, which begin two seconds after the last change:
# the service has used no processor for four seconds.
settle() {
  local before=0 quiet=0 now
  for _ in $(seq 600); do
    now=$(awk '{ print $14 + $15 }' "/proc/$server/stat")
    [ $((now - before)) -le 2 ] && quiet=$((quiet + 1)) || quiet=0
    before=$now
    if [ "$quiet" -ge 8 ]; then
      curl -sS "$base/metrics" | grep -q '^wonbon_behind_changes{part="search"} 0$' && return
      quiet=0
    fi
    sleep 0.5
  done
}
settle

head_of() {
  echo "- machine: $(sed -n 's/^model name[^:]*: //p' /proc/cpuinfo | head -n 1), $(nproc) cores; load average at the end $(cut -d' ' -f1-3 /proc/loadavg)"
  echo "- commit: $commit"
  echo "- date: $(date +%F)"
  echo "- command: \`$command_line\`"
  echo "- store: $(cut -c 1-300 "$work/filled")"
}

# load KIND FILE: requests a second, p50 and p99 in milliseconds, errors.
load() {
  local path=/v1/search script=(-s load.lua) seconds=${3:-$seconds}
  [ "$1" != empty ] || { path=/healthz; script=(-s empty.lua); }
  LOAD_KIND=$1 LOAD_FILE=${2:-} taskset -c 1 wrk -t 1 -c 64 -d "${seconds}s" --timeout 30s \
    "${script[@]}" "$base$path" | tail -n 1
}

if [ "$what" = hour ]; then
  out=results/$(date +%F)-hour.md
  python3 hour.py "$port" "$server" "$work/some.jsonl" "$work/words.txt" "$minutes" "$rate" | tee "$work/hour"
  {
    echo "# Memory of the service over time"
    echo
    head_of
    echo "- load: $rate requests a second from 4 clients: 60 % search, 25 % check, 5 % add, 5 % get, 5 % pages"
    echo
    sed 's/^/    /' "$work/hour"
  } >"$out"
  exit
fi

: >"$work/rows"
load empty "" 1 >/dev/null
load check "$work/some.jsonl" 1 >/dev/null
load search "$work/words.txt" 1 >/dev/null
for round in $(seq "$rounds"); do
  settle
  echo "empty | $(load empty)" >>"$work/rows"
  echo "check | $(load check "$work/some.jsonl")" >>"$work/rows"
  echo "search | $(load search "$work/words.txt")" >>"$work/rows"
  echo "round $round of $rounds" >&2
done

settle
mkfifo "$work/hold"
nice -n 19 taskset -c 1 python3 idle.py 127.0.0.1 "$port" "$idle" "$slow" <"$work/hold" >"$work/standing" &
idler=$!
exec 9>"$work/hold"
for _ in $(seq 300); do [ -s "$work/standing" ] && break; sleep 0.2; done
for round in $(seq "$rounds"); do
  echo "check beside | $(load check "$work/some.jsonl")" >>"$work/rows"
  echo "search beside | $(load search "$work/words.txt")" >>"$work/rows"
done
resident=$(sed -n 's/^VmRSS:[^0-9]*\([0-9]*\).*/\1/p' "/proc/$server/status")
exec 9>&-
wait "$idler" || true
idler=""
for round in $(seq "$rounds"); do
  settle
  echo "add | $(load add "$work/some.jsonl")" >>"$work/rows"
done
kill "$server" && wait "$server" || true
server=""

(cd ../store && cargo build --release --quiet)
taskset -c 0 ../store/target/release/store-bench adds --steps "$documents" --clients 64 \
  --seconds "$seconds" --questions 1000 --out "$work/library" >&2
library=$(tail -n 1 "$work/library.md" | cut -d'|' -f5 | tr -d ' ')

out=results/$(date +%F)-load.md
{
  echo "# The service under load"
  echo
  head_of
  echo "- wrk on core 1, 64 connections, ${seconds} s each; the service on core 0; posts of about 2 kB, nine of ten new; the median of $rounds rounds, lowest and highest in brackets"
  echo "- beside: with $(cat "$work/standing"), $slow of them slow; resident memory then $((resident / 1024)) MB"
  echo "- the library's own durable adds from 64 clients on core 0: $library a second"
  echo
  python3 table.py "$library" <"$work/rows"
} >"$out"
cat "$out"
