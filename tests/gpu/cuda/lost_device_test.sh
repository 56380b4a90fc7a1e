#!/usr/bin/env bash
# A candidate that loses the GPU is named, fails the program, and keeps no other from being measured.
#
#   lost_device_test.sh PROGRAM
set -uo pipefail
program=$1
# shellcheck source=tests/support/gpu_checks.sh
source tests/support/gpu_checks.sh

# outcomes FILE: of the candidate, result by result, without the host's times.
outcomes() { awk -F, '$2 == "own" && $1 !~ /\/host$/ { printf "%s: %s; ", $1, $4 }' "$1"; }

"$program" --max-interference 1 --csv "$work/a.csv" >"$work/out" 2>&1
code=$?
skip_without_gpu
cat "$work/out"
check "an illegal address fails the program (exit code $code)" test "$code" -eq 42
check "outcomes: $(outcomes "$work/a.csv")" test "$(outcomes "$work/a.csv")" = \
  "before: measured; writes nowhere: threw; after: measured; in another test: measured; "
check "the culprit is named" grep -q "cudaErrorIllegalAddress\|illegal memory access" "$work/out"

"$program" "never ends" --time-limit 20 --max-interference 1 --csv "$work/b.csv" >"$work/out" 2>&1
code=$?
cat "$work/out"
check "a kernel that never ends fails the program (exit code $code)" test "$code" -eq 42
check "outcomes: $(outcomes "$work/b.csv")" grep -q "^before: measured; waits for ever: threw; after: " \
  <(outcomes "$work/b.csv")
check "it is named" grep -q "did not end what it was given" "$work/out"
exit $((failures > 0))
