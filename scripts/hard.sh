#!/usr/bin/env bash
# The long forms of tests: the same tests as in scripts/test.sh with more cases, and those that take
# minutes. Hours in all; run it before a release, and after a change to what a section names.
#
#     scripts/hard.sh [SECTION...]     the sections named, otherwise all
#     HARD_AGAIN=1 scripts/hard.sh     also what passed before
#     HARD_KEEP=1 scripts/hard.sh      parts that passed at earlier commits count too
#     HARD_SECONDS=300 scripts/hard.sh begins no part later than that
#
# A section runs in parts, each with other cases (WONBON_PART=3/20). A part that passed at this commit is not run again, so
# an interrupted run continues: state and output are in target/hard. A section that fails does not stop the
# others. The tables at the end have one line for each section and the sums of what the tests counted; exit code 1 when
# any failed.
#
# To add a section: a function `hard_NAME` and its line in SECTIONS, with its number of parts.
set -euo pipefail
cd "$(dirname "$0")/.."

SECTIONS=(
  "store-kills|4|a store killed 200 times with SIGKILL (40 in test.sh)"
  "store-threads|1|a million operations from eight threads (25,000 in test.sh)"
  "store-history|10|a million concurrent operations explained by an order (6,000 in test.sh)"
  "store-late|1|a family of 20,000 copies taken over by late documents while others write (400 in test.sh)"
  "postgres|1|stores in PostgreSQL: all corpora, 60 kills of an instance, a cut at every place of a turn (one, 6 and 60 in test.sh)"
  "postgres-servers|1|50 crashes of the server, 20 failovers to a standby, nine silences (3, 1 and 1 in test.sh)"
  "postgres-documents|1|100,000 real documents from three instances in five orders (800 in one order in test.sh)"
  "postgres-history|10|a million operations on three instances explained by an order (3,000 in test.sh)"
  "store-backups|1|100 backups and restores while others write (3 in test.sh)"
  "store-migrations|1|migrations stopped at every operation (six of each version in test.sh)"
  "index-colliding|1|a million documents with the same features, template or buckets among 18 bands (20,000 in test.sh)"
  "index-large|1|70 million originals in an index in memory, more than 26 bits number: 3 GB of memory (150,000 in test.sh)"
  "disk-power|10|500 power cuts: store, backup, tokens, dedup, crawl (50 in test.sh)"
  "disk-faults|40|every operation of every command fails in six ways, and 14 limits of memory (six operations in test.sh)"
  "disk-damage|20|10,000 flipped bits in stores, crawls and unfinished runs (240 in test.sh)"
  "service-kills|40|a service killed 2,000 times amid eight streams and jobs (20 times, two streams in test.sh)"
  "service-connections|1|10,000 bad clients of every kind beside one that asks (300 in test.sh)"
  "crawl-kills|1|a crawl killed 50 times (20 in test.sh)"
  "crawl-memory|1|a million known addresses in less than 200 MB (not in test.sh)"
  "python-corpora|1|families, pairs and features of all shared corpora in Python and by the program (the smallest in test.sh)"
  "python-wheel|1|the wheel by auditwheel and abi3audit, installed by pip and uv (not in test.sh: a release build)"
  "spark|1|families on a Spark cluster for 200 corpora, all shared ones and uneven ones, classic, over Connect and on 3.5 (a few in test.sh)"
  "ray|1|families by the recipe for Ray Data (not in test.sh)"
  "join-thresholds|1|five join algorithms on real sets at seven thresholds (two in test.sh)"
  "passages-suffixes|1|passages of six shared corpora as an array of suffixes has them (one in test.sh)"
  "passages-oracle|1|passages of 60,000 random corpora as the oracles have them (6,000 in test.sh)"
  "fuzz|16|an hour of libFuzzer for each target (the corpora and inputs near them in test.sh)"
  "memory-checks|1|tests of the unsafe modules under AddressSanitizer and valgrind (not in test.sh)"
  "mutants|1|every small mistake in the code that decides, caught by the plain tests (not in test.sh)"
  "mutants-by-hand|1|larger mistakes there (only that they apply in test.sh)"
  "dependencies|1|licences, sources, bans and advisories by cargo-deny (without advisories in test.sh)"
)

hard_store_kills() { WONBON_KILLS=200 cargo test -p wonbon-store --test crash -- --nocapture; }
hard_store_threads() { WONBON_OPERATIONS=1000000 cargo test -p wonbon-store --test threads; }
hard_postgres() {
  WONBON_KILLS=60 WONBON_CUTS=100000 cargo test -p wonbon-store --test postgres_instances -- --nocapture
  WONBON_ALL_CORPORA=1 cargo test -p wonbon-store --test postgres
}
hard_postgres_servers() {
  WONBON_CRASHES=50 WONBON_FAILOVERS=20 cargo test -p wonbon-store --test postgres_instances servers -- --nocapture
  WONBON_SILENCES=9 cargo test -p wonbon-store --test postgres_instances silence -- --nocapture
}
hard_postgres_documents() {
  WONBON_DOCUMENTS=100000 WONBON_ORDERS=5 cargo test --release -p wonbon-app --test store_and_batch three -- --nocapture
}
hard_postgres_history() { WONBON_OPERATIONS=1000000 cargo test -p wonbon-store --test postgres history::every -- --nocapture; }
hard_python_corpora() { WONBON_ALL_CORPORA=1 bash scripts/python.sh -k shared_corpus; }
hard_python_wheel() { bash scripts/wheel.sh; }
hard_spark() {
  WONBON_SPARK_LONG=1 bash scripts/spark.sh
  WONBON_SPARK_VERSION=3.5.9 WONBON_SPARK_LONG=1 bash scripts/spark.sh
}
hard_ray() { WONBON_RAY=1 bash scripts/spark.sh; }
hard_store_history() { WONBON_OPERATIONS=1000000 cargo test -p wonbon-store --test history order -- --nocapture; }
hard_store_late() { WONBON_COPIES=20000 cargo test -p wonbon-store --test late -- --nocapture; }
hard_store_backups() { WONBON_BACKUPS=100 cargo test -p wonbon-store --test history backup -- --nocapture; }
hard_store_migrations() { WONBON_FAULTS=all cargo test -p wonbon-store --lib interrupted -- --nocapture; }
hard_disk_power() { WONBON_CUTS=500 cargo test -p wonbon-cli --test disk power -- --nocapture; }
hard_disk_faults() { WONBON_FAULTS=all cargo test -p wonbon-cli --test disk faults -- --nocapture; }
hard_disk_damage() { WONBON_FLIPS=10000 cargo test -p wonbon-cli --test disk damage -- --nocapture; }
hard_service_kills() { WONBON_KILLS=2000 WONBON_WRITERS=8 cargo test -p wonbon-server --test service kills -- --nocapture; }
hard_crawl_kills() { WONBON_KILLS=50 cargo test -p wonbon-crawl --test toy_web_crash -- --nocapture; }
hard_crawl_memory() { cargo test -p wonbon-crawl --test toy_web_memory -- --ignored --nocapture; }
hard_fuzz() { bash scripts/fuzz.sh; }
hard_memory_checks() { bash scripts/memory.sh; }
hard_mutants() { python3 scripts/mutate.py; }
hard_mutants_by_hand() { python3 scripts/mutants.py; }
hard_index_colliding() { WONBON_COLLIDING=1000000 cargo test -p wonbon-index --test colliding -- --nocapture; }
hard_index_large() { WONBON_ORIGINALS=70000000 cargo test -p wonbon-index --test beyond_26_bits -- --nocapture; }
hard_service_connections() { WONBON_CONNECTIONS=10000 cargo test -p wonbon-server --test service crowd -- --nocapture; }
hard_dependencies() {
  command -v cargo-deny >/dev/null || cargo install cargo-deny --locked
  # The database of advisories is a repository elsewhere; without a way to it the rest is checked.
  cargo deny check licenses bans sources
  cargo deny check advisories || echo "advisories could not be checked here"
}
hard_join_thresholds() { cargo test -p wonbon-join --test shared_data -- --ignored; }
hard_passages_suffixes() { cargo test -p wonbon-cluster --test passages -- --ignored --nocapture; }
hard_passages_oracle() { WONBON_CASES=20000 cargo test -p wonbon-cluster --lib passages::in_texts; }

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

# Whether a part passed: its file has the commit, the seconds, and what was counted.
has_passed() { # FILE
  [ -s "$1" ] || return 1
  [ -n "${HARD_KEEP:-}" ] && return 0
  # A changed checkout has no name of its own, so nothing is known about it.
  [ "${commit%-dirty}" = "$commit" ] && [ "$(head -n 1 "$1")" = "$commit" ]
}

for one in "$@"; do
  known=no
  for section in "${SECTIONS[@]}"; do [ "${section%%|*}" = "$one" ] && known=yes; done
  [ "$known" = yes ] || { echo "error: no section $one" >&2; exit 2; }
done
WONBON_TOOLS="$(bash scripts/tools.sh)"
export WONBON_TOOLS

table="" counted="" failed=0
for section in "${SECTIONS[@]}"; do
  name="${section%%|*}" rest="${section#*|}"
  parts="${rest%%|*}" what="${rest#*|}"
  wanted "$name" "$@" || continue
  passed=0 took=0 result=""
  for ((part = 0; part < parts; part++)); do
    file="$state/$name.$part.passed" log="$state/$name.$part.log"
    if [ -n "${HARD_AGAIN:-}" ] || ! has_passed "$file"; then
      [ -n "${HARD_SECONDS:-}" ] && [ $SECONDS -ge "$HARD_SECONDS" ] && continue
      printf '== %s, part %s of %s: %s\n' "$name" $((part + 1)) "$parts" "$what"
      start=$SECONDS code=0
      # In a shell of its own, so that the first command that fails ends the section.
      (export -f "hard_${name//-/_}"; export WONBON_PART="$part/$parts"
        exec bash -euo pipefail -c "hard_${name//-/_}") >"$log" 2>&1 || code=$?
      # A filter that matches nothing ends well: a section of tests must have run one.
      if [ $code -eq 0 ] && declare -f "hard_${name//-/_}" | grep -qE 'cargo test|python.sh|spark.sh' &&
        ! grep -qE 'test result: ok\. [1-9]|[1-9][0-9]* passed' "$log"; then
        echo "no test ran" >>"$log"
        code=1
      fi
      if [ $code -ne 0 ]; then
        result=FAILED failed=1
        rm -f "$file"
        tail -n 30 "$log"
        continue
      fi
      { printf '%s\n%s\n' "$commit" $((SECONDS - start)); grep '^counted | ' "$log" || true; } >"$file"
    fi
    passed=$((passed + 1)) took=$((took + $(sed -n 2p "$file")))
    counted+="$(sed -n '3,$p' "$file")"$'\n'
  done
  if [ -z "$result" ]; then
    [ $passed -eq "$parts" ] && result=passed || result="$passed of $parts parts"
  fi
  table+="$(printf '| %s | %s | %s | %s |' "$name" "$what" "$result" "$took")"$'\n'
done
printf '\nAt %s; output in %s.\n\n| section | what | result | seconds |\n|---|---|---|---|\n%s' \
  "$commit" "$state" "$table"
# The counts of all parts, added up in the order in which they came.
awk -F ' [|] ' '$1 == "counted" {
  if (!($2 in seen)) { seen[$2] = 1; names[++n] = $2 }
  fields = split($3, field, ", ")
  for (i = 1; i <= fields; i++) {
    value = field[i]; sub(/.* /, "", value); key = field[i]; sub(/ [0-9]+$/, "", key)
    if (!(($2, key) in sum)) keys[$2] = keys[$2] (keys[$2] == "" ? "" : "|") key
    sum[$2, key] += value
  }
}
END {
  if (n) print "\n| counted | |\n|---|---|"
  for (i = 1; i <= n; i++) {
    count = split(keys[names[i]], kept, "|"); line = ""
    for (j = 1; j <= count; j++) line = line (j > 1 ? ", " : "") sum[names[i], kept[j]] " " kept[j]
    print "| " names[i] " | " line " |"
  }
}' <<<"$counted"
exit $failed
