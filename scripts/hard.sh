#!/usr/bin/env bash
# The long forms of tests: the same tests as in scripts/test.sh with more cases, and those that take
# minutes. Hours in all; run it before a release, and after a change to what a section names.
#
#     scripts/hard.sh [SECTION...]     the sections named, otherwise all
#     HARD_AGAIN=1 scripts/hard.sh     also those that passed before
#
# A section that passed at this commit is not run again, so an interrupted run continues: state and
# output are in target/hard. A section that fails does not stop the others. The table at the end has one
# line a section; exit code 1 when any failed.
#
# To add a section: a function `hard_NAME` and its line in SECTIONS.
set -euo pipefail
cd "$(dirname "$0")/.."

SECTIONS=(
  "store-kills|a store killed 200 times with SIGKILL (40 in test.sh)"
  "store-threads|a million operations from eight threads (25,000 in test.sh)"
  "store-history|a million concurrent operations explained by an order (not in test.sh: it fails)"
  "store-backups|100 backups and restores while others write (3 in test.sh)"
  "store-migrations|migrations stopped at every operation (six of each version in test.sh)"
  "disk-power|500 power cuts: store, backup, tokens, dedup, crawl (50 in test.sh)"
  "disk-faults|every operation of every command fails in six ways, and 14 limits of memory (six operations in test.sh)"
  "disk-damage|10,000 flipped bits in stores, crawls and unfinished runs (240 in test.sh)"
  "service-kills|a service killed 200 times amid eight streams and jobs (20 times, two streams in test.sh)"
  "crawl-kills|a crawl killed 50 times (20 in test.sh)"
  "crawl-memory|a million known addresses in less than 200 MB (not in test.sh)"
  "python-corpora|families of all shared corpora in Python and by the program (the smallest in test.sh)"
  "spark|families on a Spark cluster for 200 corpora, all shared ones and uneven ones, classic, over Connect and on 3.5 (a few in test.sh)"
  "ray|families by the recipe for Ray Data (not in test.sh)"
  "join-thresholds|five join algorithms on real sets at seven thresholds (two in test.sh)"
  "passages-suffixes|passages of six shared corpora as an array of suffixes has them (one in test.sh)"
  "mutants|mistakes in the code that decides, each caught by the plain tests (only that they apply in test.sh)"
  "dependencies|licences, sources, bans and advisories of all dependencies (cargo-deny; not in test.sh)"
)

hard_store_kills() { WONBON_KILLS=200 cargo test -p wonbon-store --test crash; }
hard_store_threads() { WONBON_OPERATIONS=1000000 cargo test -p wonbon-store --test threads; }
hard_python_corpora() { WONBON_ALL_CORPORA=1 bash scripts/python.sh -k shared_corpus; }
hard_spark() {
  WONBON_SPARK_LONG=1 bash scripts/spark.sh
  WONBON_SPARK_VERSION=3.5.9 WONBON_SPARK_LONG=1 bash scripts/spark.sh
}
hard_ray() { WONBON_RAY=1 bash scripts/spark.sh; }
hard_store_history() { WONBON_OPERATIONS=1000000 cargo test -p wonbon-store --test history order -- --ignored --nocapture; }
hard_store_backups() { WONBON_BACKUPS=100 cargo test -p wonbon-store --test history backup -- --nocapture; }
hard_store_migrations() { WONBON_FAULTS=all cargo test -p wonbon-store --lib interrupted -- --nocapture; }
hard_disk_power() { WONBON_CUTS=500 cargo test -p wonbon-cli --test disk power -- --nocapture; }
hard_disk_faults() { WONBON_FAULTS=all cargo test -p wonbon-cli --test disk faults -- --nocapture; }
hard_disk_damage() { WONBON_FLIPS=10000 cargo test -p wonbon-cli --test disk damage -- --nocapture; }
hard_service_kills() { WONBON_KILLS=200 WONBON_WRITERS=8 cargo test -p wonbon-server --test service kills -- --nocapture; }
hard_crawl_kills() { WONBON_KILLS=50 cargo test -p wonbon-crawl --test toy_web_crash; }
hard_crawl_memory() { cargo test -p wonbon-crawl --test toy_web_memory -- --ignored --nocapture; }
hard_mutants() { python3 scripts/mutants.py; }
hard_dependencies() {
  command -v cargo-deny >/dev/null || cargo install cargo-deny --locked
  # The database of advisories is a repository elsewhere; without a way to it the rest is checked.
  cargo deny check licenses bans sources
  cargo deny check advisories || echo "advisories could not be checked here"
}
hard_join_thresholds() { cargo test -p wonbon-join --test shared_data -- --ignored; }
hard_passages_suffixes() { cargo test -p wonbon-cluster --test passages -- --ignored; }

state=target/hard
commit="$(git describe --always --dirty --abbrev=12 2>/dev/null || echo unknown)"
mkdir -p "$state"

wanted() { # NAME, WANTED...
  local name="$1"
  shift
  [ $# -eq 0 ] && return 0
  for one in "$@"; do [ "$one" = "$name" ] && return 0; done
  return 1
}

for one in "$@"; do
  known=no
  for section in "${SECTIONS[@]}"; do [ "${section%%|*}" = "$one" ] && known=yes; done
  [ "$known" = yes ] || { echo "error: no section $one" >&2; exit 2; }
done
WONBON_TOOLS="$(bash scripts/tools.sh)"
export WONBON_TOOLS

table="" failed=0
for section in "${SECTIONS[@]}"; do
  name="${section%%|*}" what="${section#*|}"
  wanted "$name" "$@" || continue
  passed="$state/$name.passed"
  # A changed checkout has no name of its own, so nothing is known about it.
  if [ -z "${HARD_AGAIN:-}" ] && [ "${commit%-dirty}" = "$commit" ] &&
    [ "$(head -n 1 "$passed" 2>/dev/null)" = "$commit" ]; then
    result="passed before" seconds="$(tail -n 1 "$passed")"
  else
    printf '== %s: %s\n' "$name" "$what"
    start=$SECONDS code=0
    # In a shell of its own, so that the first command that fails ends the section.
    (export -f "hard_${name//-/_}"; exec bash -euo pipefail -c "hard_${name//-/_}") \
      >"$state/$name.log" 2>&1 || code=$?
    seconds=$((SECONDS - start))
    # A filter that matches nothing ends well: a section of tests must have run one.
    if [ $code -eq 0 ] && declare -f "hard_${name//-/_}" | grep -qE 'cargo test|python.sh|spark.sh' &&
      ! grep -qE 'test result: ok\. [1-9]|[1-9][0-9]* passed' "$state/$name.log"; then
      echo "no test ran" >>"$state/$name.log"
      code=1
    fi
    if [ $code -eq 0 ]; then
      result=passed
      printf '%s\n%s\n' "$commit" "$seconds" >"$passed"
    else
      result=FAILED failed=1
      rm -f "$passed"
      tail -n 30 "$state/$name.log"
    fi
  fi
  table+="$(printf '| %s | %s | %s | %s |' "$name" "$what" "$result" "$seconds")"$'\n'
done
printf '\nAt %s; output in %s.\n\n| section | what | result | seconds |\n|---|---|---|---|\n%s' \
  "$commit" "$state" "$table"
exit $failed
