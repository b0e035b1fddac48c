#!/usr/bin/env bash
# Packages of the program, in target/package: a tarball with a static binary, completions, manual pages and
# the systemd unit; a Debian package of the same; what the container image is built from.
#
#     scripts/package.sh               build the program (profile dist) and pack it
#     scripts/package.sh --test        the same, then install and run each package
#     WONBON_BINARY=FILE scripts/package.sh    pack a program that is there already
#
# The same commit gives the same bytes: paths are mapped, times are the commit's, and names are sorted. The
# binary links glibc statically, because a standard library for musl is not everywhere. Looking up host names
# uses the system's glibc at run time, so `wonbon crawl` needs one; everything else runs without.
set -euo pipefail
cd "$(dirname "$0")/.."

test=false
[ "${1:-}" = --test ] && test=true
version="$(sed -n '/^\[workspace.package\]/,/^\[/s/^version = "\(.*\)"/\1/p' Cargo.toml)"
target="$(rustc -vV | sed -n 's/^host: //p')"
epoch="${SOURCE_DATE_EPOCH:-$(git log -1 --format=%ct 2>/dev/null || echo 0)}"
export SOURCE_DATE_EPOCH="$epoch"

binary="${WONBON_BINARY:-}"
if [ -z "$binary" ]; then
  home="${CARGO_HOME:-$HOME/.cargo}"
  export RUSTFLAGS="-C target-feature=+crt-static --remap-path-prefix=$PWD=/wonbon --remap-path-prefix=$home=/cargo"
  # With a target named, build scripts and macros are not linked statically.
  cargo build --profile dist --package wonbon-cli --target "$target" --quiet
  binary="target/$target/dist/wonbon"
fi

out=target/package
name="wonbon-$version-linux-${target%%-*}"
tree="$out/$name"
rm -rf "$out"
mkdir -p "$tree"/bin "$tree"/share/man/man1 "$tree"/share/doc/wonbon "$tree"/lib/systemd/system "$tree"/etc/wonbon \
  "$tree"/share/bash-completion/completions "$tree"/share/zsh/site-functions "$tree"/share/fish/vendor_completions.d
install -m 755 "$binary" "$tree/bin/wonbon"
install -m 755 packaging/wonbon-healthy "$tree/bin/wonbon-healthy"
program="$PWD/$tree/bin/wonbon"
"$program" completions bash >"$tree/share/bash-completion/completions/wonbon"
"$program" completions zsh >"$tree/share/zsh/site-functions/_wonbon"
"$program" completions fish >"$tree/share/fish/vendor_completions.d/wonbon.fish"
"$program" man -o "$tree/share/man/man1"
gzip -n9 "$tree"/share/man/man1/*.1
cp README.md CHANGELOG.md LICENSE-MIT LICENSE-APACHE "$tree/share/doc/wonbon/"
cp packaging/wonbon.service "$tree/lib/systemd/system/"
cp packaging/wonbon.toml "$tree/etc/wonbon/"
chmod -R u=rwX,go=rX "$tree"
tar --sort=name --mtime="@$epoch" --owner=0 --group=0 --numeric-owner --format=gnu -C "$out" -cf - "$name" |
  gzip -n9 >"$out/$name.tar.gz"

if ! command -v cargo-deb >/dev/null && [ ! -x target/tools/cargo/bin/cargo-deb ]; then
  RUSTFLAGS= cargo install cargo-deb --version 3.8.1 --locked --quiet --root target/tools/cargo ||
    RUSTFLAGS= cargo install cargo-deb --locked --quiet --root target/tools/cargo
fi
ln -sfn "$name" "$out/tree"
PATH="$PWD/target/tools/cargo/bin:$PATH" \
  cargo deb --package wonbon-cli --no-build --no-strip --output "$PWD/$out/" >/dev/null
rm "$out/tree"
(cd "$out" && sha256sum ./*.tar.gz ./*.deb >SHA256SUMS && cat SHA256SUMS)

$test || exit 0
scratch="$(mktemp -d)"
trap 'rm -rf "$scratch"' EXIT
tried() { # PREFIX: the program there works
  (cd "$scratch" && rm -rf wonbon-store posts && "$1/bin/wonbon" demo >/dev/null 2>&1 &&
    "$1/bin/wonbon" demo --save posts 2>/dev/null && "$1/bin/wonbon" add posts/posts.jsonl 2>/dev/null &&
    "$1/bin/wonbon" search bridges | grep -q 'three bridges')
  gzip -dc "$1/share/man/man1/wonbon-dedup.1.gz" | grep -q 'wonbon-dedup'
  (cd "$scratch" && exec "$1/bin/wonbon" serve --listen 127.0.0.1:0 >address 2>/dev/null) &
  served=$!
  until [ -s "$scratch/address" ]; do sleep 0.1; done
  port="$(sed 's/.*:\([0-9]*\)\/$/\1/' "$scratch/address")"
  "$1/bin/wonbon-healthy" "$port"
  kill "$served"
  wait "$served"
  rm "$scratch/address"
}
tar -xzf "$out/$name.tar.gz" -C "$scratch"
tried "$scratch/$name"
echo "the tarball works"
if [ "$(id -u)" = 0 ]; then
  # Nothing but the program: that it needs no library.
  mkdir -p "$scratch/empty/tmp"
  cp "$scratch/$name/bin/wonbon" "$scratch/empty/"
  chroot "$scratch/empty" /wonbon demo 2>/dev/null | grep -q '여행/1'
  echo "the program runs in an empty root"
fi
dpkg-deb -x "$out"/*.deb "$scratch/deb"
tried "$scratch/deb/usr"
test -f "$scratch/deb/lib/systemd/system/wonbon.service" || test -f "$scratch/deb/usr/lib/systemd/system/wonbon.service"
WONBON_CONFIG="$scratch/deb/etc/wonbon/wonbon.toml" "$scratch/deb/usr/bin/wonbon" config serve | grep -q '/var/lib/wonbon/store'
echo "the Debian package works"
if command -v systemd-analyze >/dev/null; then
  systemd-analyze security --offline=yes --threshold=20 packaging/wonbon.service | tail -n 1
fi
