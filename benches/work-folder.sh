# Sourced by benchmarks: `work` is the folder WORK if given (it is kept), or a temporary one that is
# removed at the end.
work=${WORK:-}
if [ -z "$work" ]; then
  work=$(mktemp -d)
  trap 'rm -rf "$work"' EXIT
fi
mkdir -p "$work"
