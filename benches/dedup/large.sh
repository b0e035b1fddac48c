#!/usr/bin/env bash
# Ten gigabytes in one gigabyte of memory: 2 million documents of about 5 kB, once.
#
#   benches/dedup/large.sh
#
# Needs about 37 GB of room in BENCH_DIR (or TMPDIR). Results go to results/<date>-large.md. Head of
# growth.py: what is measured, and how the run is bounded in time.
set -euo pipefail
cd "$(dirname "$0")"
OUT=${OUT:-$PWD/results/$(date +%F)-large} exec ./growth.sh 2000000
