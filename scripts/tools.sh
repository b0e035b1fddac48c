#!/usr/bin/env bash
# What tests need beside Rust, fetched where it is missing: a compiler for C, a browser with its driver,
# curl, nginx, PostgreSQL, its pooler, libfaketime and Python by apt, schemathesis and axe-core from PyPI into target/tools. Nothing of it is part of the
# repository. Prints the directory.
set -euo pipefail
cd "$(dirname "$0")/.."
schemathesis=4.32.5
axe=0.1.8 # of axe-playwright-python, which carries axe-core 4.12.1

packages=()
command -v cc >/dev/null || packages+=(build-essential)
command -v chromedriver >/dev/null && command -v chromium >/dev/null ||
  packages+=(chromium chromium-driver)
command -v curl >/dev/null || packages+=(curl)
# A proxy before the service, for the guide that shows one.
PATH="$PATH:/usr/sbin" command -v nginx >/dev/null || packages+=(nginx-light)
compgen -G '/usr/lib/postgresql/*/bin/initdb' >/dev/null || packages+=(postgresql)
# A pooler before it.
[ -x /usr/sbin/pgbouncer ] || packages+=(pgbouncer)
# Instances whose clocks are wrong.
compgen -G '/usr/lib/*/faketime/libfaketime.so.1' >/dev/null || packages+=(libfaketime)
python3 -c 'import ensurepip' 2>/dev/null || packages+=(python3 python3-venv)
if [ ${#packages[@]} -gt 0 ]; then
  { apt-get update -q && apt-get install -y -q --no-install-recommends "${packages[@]}"; } >&2
fi

tools="$PWD/target/tools"
fetched="$tools/schemathesis-$schemathesis-axe-$axe"
if [ ! -e "$fetched" ]; then
  rm -rf "$tools"
  python3 -m venv "$tools/python" >&2
  pip() { "$tools/python/bin/pip" install --quiet --disable-pip-version-check "$@" >&2; }
  pip "schemathesis==$schemathesis"
  pip --no-deps --target "$tools/axe" "axe-playwright-python==$axe"
  cp "$tools/axe/axe_playwright_python/axe.min.js" "$tools/axe.min.js"
  touch "$fetched"
fi
echo "$tools"
