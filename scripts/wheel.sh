#!/usr/bin/env bash
# The wheel: built with the release profile, looked at by auditwheel and abi3audit, and installed in a fresh environment each
# by pip and by uv, from the wheel and from the checkout. Every interpreter of PYTHONS that is there takes the wheel; a
# free-threaded one cannot load it and builds its own.
#
#     scripts/wheel.sh            (PYTHONS="python3.10 python3.14t" for more interpreters)
#     WONBON_PROFILE=dev scripts/wheel.sh     the same of a build that the tests have made already
#
# The package must bring the program, ask for no other package and import none.
set -euo pipefail
cd "$(dirname "$0")/.."
work="$PWD/target/wheel"
python="${WONBON_PYTHON:-/usr/bin/python3}"
[ -x "$python" ] || python=python3
rm -rf "$work/wheels" "$work/venv"
if [ ! -e "$work/tools/fetched" ]; then
  rm -rf "$work/tools"
  "$python" -m venv "$work/tools"
  "$work/tools/bin/pip" install --quiet --disable-pip-version-check "maturin>=1.9.4,<2" auditwheel abi3audit uv
  touch "$work/tools/fetched"
fi

profile="${WONBON_PROFILE:-release}"
export MATURIN_PEP517_ARGS="--profile $profile"
"$work/tools/bin/maturin" build --profile "$profile" --quiet --out "$work/wheels"
wheel="$(echo "$work"/wheels/*.whl)"
echo "$(basename "$wheel"), $(stat -c %s "$wheel") bytes"
"$work/tools/bin/auditwheel" show "$wheel" | tee "$work/audit"
grep -q '"manylinux_' "$work/audit"
"$work/tools/bin/abi3audit" --strict "$wheel"

check() { # WHAT: the environment in $work/venv has the package
  "$work/venv/bin/python" - <<'PYTHON'
import importlib.metadata, subprocess, sys
import wonbon

others = {"pyarrow", "pandas", "numpy", "polars", "datasets", "duckdb"} & set(sys.modules)
assert not others and importlib.metadata.requires("wonbon") is None, others
text = "one two three four five six seven eight nine ten"
families = wonbon.dedup([text, text.upper(), "something else"])
assert list(families.kept) == [True, False, True]
with wonbon.Deduplicator() as seen:
    assert [seen.add(str(at), text).is_copy for at in range(2)] == [False, True]
PYTHON
  [ "$("$work/venv/bin/wonbon" --version)" = "$("$work/venv/bin/python" -m wonbon --version)" ]
  echo "ok: $1"
  rm -rf "$work/venv"
}

for what in "$wheel" .; do
  "$python" -m venv "$work/venv"
  "$work/venv/bin/pip" install --quiet --disable-pip-version-check "$what"
  check "pip install $(basename "$what")"
  "$work/tools/bin/uv" venv --quiet --python "$python" "$work/venv"
  "$work/tools/bin/uv" pip install --quiet --python "$work/venv/bin/python" "$what"
  check "uv pip install $(basename "$what")"
done
for other in ${PYTHONS:-python3.10 python3.11 python3.12 python3.13 python3.14 python3.13t python3.14t}; do
  command -v "$other" >/dev/null && "$other" -c '' 2>/dev/null || continue
  "$other" -m venv "$work/venv"
  case "$other" in
    *t) "$work/venv/bin/pip" install --quiet --disable-pip-version-check . ;;
    *) "$work/venv/bin/pip" install --quiet --disable-pip-version-check "$wheel" ;;
  esac
  check "$other"
done
