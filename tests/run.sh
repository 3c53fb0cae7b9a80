#!/bin/bash
# Builds every program, runs every test, and counts them in the last line.
set -u
cd "$(dirname "$0")/.." || exit 1
log=$(mktemp)
trap 'rm -f "$log"' EXIT

cargo build --workspace --bins --lib --quiet || exit 1
# The runner goes on after a failed test binary, so that the count is whole.
cargo test --workspace --no-fail-fast 2>&1 | tee "$log"
code=${PIPESTATUS[0]}

# Both libtest and the process tests close with: test result: ok. N passed; N failed; N ignored; …
read -r passed failed skipped < <(
  sed -n 's/^test result: [^.]*\. \([0-9]*\) passed; \([0-9]*\) failed; \([0-9]*\) ignored;.*/\1 \2 \3/p' "$log" |
    awk '{ p += $1; f += $2; s += $3 } END { print p + 0, f + 0, s + 0 }'
)
grep '^skipped: ' "$log" | sort -u
if [ "$code" != 0 ] && [ "$failed" = 0 ]; then
  failed=1 # a test did not build, or a runner died
fi
if [ "$skipped" = 0 ]; then
  echo "$passed passed, $failed failed"
else
  echo "$passed passed, $failed failed, $skipped skipped"
fi
[ "$failed" = 0 ] && [ "$code" = 0 ]
