#!/usr/bin/env bash
# The Python package's tests: a venv on the system's python3 (target/python/venv), the module that cargo made for
# `cargo test` put into the package, then types, documentation and tests.
#
#     scripts/python.sh [ARGUMENTS OF PYTEST]
#
# Nothing is compiled twice: the features and the profile are those of scripts/tests.py. What is
# fetched from PyPI is fetched once for each version of scripts/python.txt.
set -euo pipefail
cd "$(dirname "$0")/.."
top="$PWD"
work="$top/target/python"
venv="$work/venv"
python="${WONBON_PYTHON:-/usr/bin/python3}"
[ -x "$python" ] || python=python3

wanted="$("$python" --version) $(cksum <scripts/python.txt)"
if [ "$(cat "$work/fetched" 2>/dev/null)" != "$wanted" ]; then
  rm -rf "$venv" "$work/fetched"
  mkdir -p "$work"
  "$python" -m venv "$venv"
  "$venv/bin/pip" install --quiet --disable-pip-version-check -r scripts/python.txt
  echo "$wanted" >"$work/fetched"
fi

built="$(cargo test --workspace --test golden_rows --no-run --quiet --message-format=json-render-diagnostics |
  "$venv/bin/python" scripts/python_module.py)"
read -r module golden <<<"$built"
(cd crates/python && "$golden" --quiet >/dev/null)
export WONBON_GOLDEN="$top/target/tmp/python-golden"
package="$work/package"
rm -rf "$package"
mkdir -p "$package"
cp -R python/wonbon "$package/wonbon"
ln "$module" "$package/wonbon/_wonbon.abi3.so" 2>/dev/null || cp "$module" "$package/wonbon/_wonbon.abi3.so"

# As an installed package is found: from every interpreter of the venv, and with its command.
site="$("$venv/bin/python" -c 'import sysconfig; print(sysconfig.get_path("purelib"))')"
echo "$package" >"$site/wonbon.pth"
printf '#!%s\nimport sys\nfrom wonbon.__main__ import main\nsys.exit(main())\n' "$venv/bin/python" >"$venv/bin/wonbon"
chmod +x "$venv/bin/wonbon"

export PYTHONDONTWRITEBYTECODE=1 MYPY_CACHE_DIR="$work/mypy"
if [ $# -eq 0 ]; then
  (cd "$package" && "$venv/bin/python" -m mypy --config-file "$top/pyproject.toml" --strict wonbon)
  (cd "$package" && "$venv/bin/python" -m mypy.stubtest wonbon._wonbon)
fi
exec "$venv/bin/python" -m pytest -c pyproject.toml --rootdir . -o cache_dir="$work/pytest" "$@"
