#!/usr/bin/env bash
# The tests of wonbon.spark on a real cluster: Java by apt, PySpark from PyPI into target/spark, and a
# standalone master with two workers on loopback that the tests start and stop. Uses the package that
# scripts/python.sh has put together.
#
#     scripts/spark.sh [ARGUMENTS OF PYTEST]
#
# WONBON_SPARK_VERSION=3.5.9 takes another PySpark; WONBON_SPARK_LONG=1 takes more corpora.
set -euo pipefail
cd "$(dirname "$0")/.."
version="${WONBON_SPARK_VERSION:-4.3.0}"
work="$PWD/target/spark/$version"
package="$PWD/target/python/package"
python="${WONBON_PYTHON:-/usr/bin/python3}"
[ -x "$python" ] || python=python3

if ! command -v java >/dev/null; then
  { apt-get update -q && apt-get install -y -q --no-install-recommends default-jre-headless; } >&2
fi
# PySpark asks for pandas wherever a function gets Arrow batches, and warns of version 3 at every start.
packages=("pyspark==$version" pyarrow==26.0.1 "pandas==2.3.3" "pytest==9.2.0")
wanted="$("$python" --version) ${packages[*]}"
if [ "$(cat "$work/fetched" 2>/dev/null)" != "$wanted" ]; then
  rm -rf "$work"
  mkdir -p "$work"
  "$python" -m venv "$work/venv"
  "$work/venv/bin/pip" install --quiet --disable-pip-version-check "${packages[@]}"
  echo "$wanted" >"$work/fetched"
fi
[ -e "$package/wonbon/_wonbon.abi3.so" ] || bash scripts/python.sh --collect-only -q >/dev/null

# As an installed package is found, by executors too.
site="$("$work/venv/bin/python" -c 'import sysconfig; print(sysconfig.get_path("purelib"))')"
echo "$package" >"$site/wonbon.pth"
export PYTHONDONTWRITEBYTECODE=1
exec "$work/venv/bin/python" -m pytest -c pyproject.toml --rootdir . -o cache_dir="$work/pytest" \
  python/tests/spark "$@"
