#!/usr/bin/env bash
# The decision at store time elsewhere: the same loop (a post of about 2 kB: is it a copy? then store it)
# with datasketch's MinHashLSH, in memory and not durable, and with PostgreSQL 15 and a table of pair keys.
#
#   benches/store/others.sh [DOCUMENTS] [SECONDS]       (100000 and 4)
#
# Writes results/<date>-others.md. datasketch comes from PyPI into .venv; PostgreSQL is Debian's package
# (installed if it is absent), started here on a socket in a temporary directory with its default
# settings (fsync on, synchronous_commit on), and stopped at the end. What is measured: head of others.py.
set -euo pipefail
cd "$(dirname "$0")"
documents=${1:-100000} seconds=${2:-4}
command_line="benches/store/others.sh $*"

postgres=/usr/lib/postgresql/15/bin
[ -x $postgres/initdb ] || { apt-get update -q && apt-get install -y -q postgresql-15; } >/dev/null
if [ ! -e .venv/installed ]; then
  python3 -m venv .venv
  .venv/bin/pip install --quiet --disable-pip-version-check datasketch==2.0.0 psycopg2-binary
  touch .venv/installed
fi
cargo build --release --quiet --manifest-path ../../Cargo.toml -p wonbon-cli
cargo build --release --quiet --manifest-path ../dedup/Cargo.toml
wonbon=${CARGO_TARGET_DIR:-../../target}/release/wonbon
generate=${CARGO_TARGET_DIR:-../dedup/target}/release/generate

work=$(mktemp -d)
as_postgres=()
if [ "$(id -u)" = 0 ]; then
  # PostgreSQL does not run as root.
  as_postgres=(setpriv --reuid=postgres --regid=postgres --clear-groups)
  chown postgres "$work"
fi
end() {
  "${as_postgres[@]}" $postgres/pg_ctl -D "$work/data" -m fast stop >/dev/null 2>&1 || true
  rm -rf "$work"
}
trap end EXIT
(
  cd "$work"
  "${as_postgres[@]}" $postgres/initdb -D data -A trust -U wonbon >/dev/null
  "${as_postgres[@]}" $postgres/pg_ctl -D data -w -l log -o "-c listen_addresses='' -k $work -c max_connections=100" start >/dev/null
)

"$generate" $((documents + 40000)) 230 >"$work/posts.jsonl"
"$wonbon" sketch "$work/posts.jsonl" >"$work/features.jsonl"
mkdir -p results
{
  echo "# The decision at store time elsewhere, $(date +%F)"
  echo
  echo "Machine: $(nproc) cores, $(sed -n 's/^model name[^:]*: //p' /proc/cpuinfo | head -1), load $(cut -d' ' -f1 /proc/loadavg)" \
    "before the run. Commit: $(git describe --always --dirty). Command: \`$command_line\`."
  echo
  .venv/bin/python others.py "$work" "$documents" "$seconds" "$wonbon"
} >"$work/result.md"
mv "$work/result.md" "results/$(date +%F)-others.md"
chmod 644 "results/$(date +%F)-others.md"
