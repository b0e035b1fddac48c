#!/usr/bin/env bash
# The tests of wonbon.spark on a real cluster: Java by apt, PySpark from PyPI into target/tools/spark, and a
# standalone master with two workers on loopback that the tests start and stop. Uses the package that
# scripts/python.sh has put together.
#
#     scripts/spark.sh [ARGUMENTS OF PYTEST]
#
# Twice: with a classic session and, from PySpark 4 on, over Connect (its server is a jar that PyPI does not have
# for 3.5). WONBON_SPARK_VERSION=3.5.9 takes another PySpark; WONBON_SPARK_LONG=1 takes the long forms. WONBON_RAY=1
# runs the recipe for Ray instead, with Ray from PyPI.
set -euo pipefail
cd "$(dirname "$0")/.."
version="${WONBON_SPARK_VERSION:-4.3.0}"
work="$PWD/target/spark"
package="${WONBON_PACKAGE:-$PWD/target/python/package}"
python="${WONBON_PYTHON:-/usr/bin/python3}"
[ -x "$python" ] || python=python3

[ -e "$package/wonbon/_wonbon.abi3.so" ] || bash scripts/python.sh --collect-only -q >/dev/null
# Executors get the same path: python/tests/spark/conftest.py.
export PYTHONPATH="$package" PYTHONDONTWRITEBYTECODE=1

install() { # VENV PACKAGE...: once for each interpreter and list of packages
  local venv="$1" wanted
  shift
  wanted="$("$python" --version) $*"
  [ "$(cat "$venv/fetched" 2>/dev/null)" = "$wanted" ] && return
  rm -rf "$venv"
  mkdir -p "$venv"
  "$python" -m venv "$venv"
  "$venv/bin/pip" install --quiet --disable-pip-version-check "$@"
  echo "$wanted" >"$venv/fetched"
}
tests() { # VENV ARGUMENTS...
  local venv="$1"
  shift
  "$venv/bin/python" -m pytest -c pyproject.toml --rootdir . -o cache_dir="$work/pytest" "$@"
}
if [ -n "${WONBON_RAY:-}" ]; then
  venv="$PWD/target/tools/spark/ray/venv"
  install "$venv" "ray[data]==2.60.0" pyarrow==26.0.1 pandas==2.3.3 pytest==9.2.0
  tests "$venv" python/tests/ray "$@"
  exit
fi

if ! command -v java >/dev/null; then
  { apt-get update -q && apt-get install -y -q --no-install-recommends default-jre-headless; } >&2
fi
# PySpark asks for pandas wherever a function gets Arrow batches, and warns of version 3 at every start.
packages=("pyspark==$version" pyarrow==26.0.1 "pandas==2.3.3" "pytest==9.2.0")
case "$version" in
  3.*) ;;
  *) packages+=(grpcio==1.85.1 grpcio-status==1.85.1 googleapis-common-protos==1.76.0 zstandard==0.25.0) ;;
esac
venv="$PWD/target/tools/spark/$version/venv"
install "$venv" "${packages[@]}"
code=0
tests "$venv" python/tests/spark "$@" || code=$?
case "$version" in
  3.*) ;;
  *) WONBON_SPARK_CONNECT=1 tests "$venv" python/tests/spark "$@" || code=$? ;;
esac
exit $code
