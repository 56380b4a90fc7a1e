#!/usr/bin/env bash
# A program with two more runners: both are listed; the right one is checked and timed; the wrong one is reported.
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
small="--device=cpu --seq-length=5 --input-size=4 --hidden-size=6 --mini-batch=3 --group=rnns --warmup=1 --nloops=4"

run --help
((code == 0)) || complain "--help: exit code $code"
says "side_by_side, vl_aten"
says "wrong_gradient"

run $small --rnns=aten,side_by_side
((code == 0)) || complain "the right runner: exit code $code"
says "lstm/backward"
grep -Eq '^ +side_by_side( +[0-9.e-]+){2} +None( +[0-9.e-]+){2} +None$' <<<"$output" ||
  complain "no times of side_by_side in the table"

run $small --rnns=side_by_side,wrong_gradient
((code != 0)) || complain "the wrong runner passes"
says "'wrong_gradient' wrong"
grep -Eq '^ +side_by_side( +[0-9.e-]+){2}' <<<"$output" || complain "the right runner is not timed beside the wrong one"

run $small --rnns=side_by_sid
((code != 0)) || complain "an unknown name passes"
says "no runner is called 'side_by_sid'; expected one of aten, "

((failures == 0)) && echo "as expected"
exit $((failures > 0))
