#!/usr/bin/env bash
# Makes the pictures of pages in README and documentation, from the demo: docs/pictures/*.webp. Needs what
# scripts/tools.sh fetches, and a font for Korean.
set -euo pipefail
cd "$(dirname "$0")/.."
bash scripts/tools.sh >/dev/null
fc-list :lang=ko | grep -q . || apt-get install -y -q fonts-noto-cjk

# As scripts/test.sh builds it, so that nothing is built twice: the tests of the demo need the program.
cargo test --quiet --workspace --test browser --test demo --no-run
address="$(mktemp)"
target/debug/wonbon demo --serve --listen 127.0.0.1:0 >"$address" &
demo=$!
trap 'kill -INT $demo; wait $demo; rm -f "$address"' EXIT
for _ in $(seq 100); do
  [ -s "$address" ] && break
  sleep 0.1
done
mkdir -p docs/pictures
WONBON_DEMO="$(cat "$address")" WONBON_PICTURES="$PWD/docs/pictures" \
  cargo test --quiet --workspace --test browser pictures_of_the_readme -- --ignored
ls -l docs/pictures
