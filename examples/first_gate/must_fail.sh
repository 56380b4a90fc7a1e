#!/usr/bin/env bash
# Runs the tests of this workspace that must fail, and checks that they do, as tests (Bazel's exit code 3: built, ran
# and failed). Their messages must name the fault and the remedy.
#
#   must_fail.sh [BAZEL_ARGUMENT...]
set -uo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")" || exit 1

output=$(../../third_party/bazel test --keep_going --test_output=errors "$@" //:slowed_test //:wrong_test 2>&1 </dev/null)
code=$?
problems=()
((code == 3)) || problems+=("expected Bazel's exit code 3 (a test failed), got $code")

# Catch2 breaks long lines, so patterns are looked for in the text with every run of white space as one blank.
text=$(tr -s ' \n' ' ' <<<"$output")
must_say() { [[ $text =~ $1 ]] || problems+=("no message like: $1"); }

must_say "//:slowed_test +FAILED"
must_say "'slowed' takes [0-9.]+x the baseline's time by the median \[[0-9.]+x, [0-9.]+x\].* try: find what made it slower, or allow more"
must_say "//:wrong_test +FAILED"
must_say "'wrong' wrong: output: 1 of 65536 elements .* differ; worst at \[63, 1023\]: expected [-0-9.]+, got"
must_say "wrong over mine: no speed-up"

if ((${#problems[@]})); then
  printf '%s\n' "$output" "${problems[@]}"
  exit 1
fi
grep -E -A 8 'FAILED:' <<<"$output"
