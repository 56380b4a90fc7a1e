#!/usr/bin/env bash
# A program with more back ends: all are listed; the right ones are checked and timed; the wrong one is reported.
#
#   program_test.sh PROGRAM
set -uo pipefail
program=$1
# The program under test is not the test that Bazel waits for.
unset "${!TEST_@}" "${!BAZEL_@}" "${!TESTBRIDGE_@}" XML_OUTPUT_FILE
failures=0

run() { output=$("$program" "$@" 2>&1 </dev/null); code=$?; }
# Without white space, since lines are wrapped.
says() {
  [[ $(tr -d ' \n' <<<"$output") == *"$(tr -d ' \n' <<<"$1")"* ]] || complain "no message: $1"
}
complain() {
  printf '%s\n%s\n\n' "$output" "$1"
  failures=$((failures + 1))
}
small="--budget=0.05 --max-interference=1 --allow-undecided=on"

run --help
((code == 0)) || complain "--help: exit code $code"
says "float64, static_runtime, mine, wrong"

run $small --backends=eager,mine,float64
((code == 0)) || complain "the right back ends: exit code $code"
grep -Eq ' mine +[0-9.]+ [mun]s .* correct$' <<<"$output" || complain "no row of mine that is timed and correct"
grep -Eq ' float64 +[0-9.]+ [mun]s .* correct$' <<<"$output" || complain "no row of float64 that is timed and correct"

run $small --backends=eager,wrong
((code != 0)) || complain "the wrong back end passes"
says "'wrong' wrong"
says "wrong does not implement aten._softmax.default"

run --backends=eager,float65
((code != 0)) || complain "an unknown name passes"
says "unknown back end 'float65'; known: eager, "

((failures == 0)) && echo "as expected"
exit $((failures > 0))
