#!/usr/bin/env bash
# A program with two more models: both are listed; the right one is checked and timed; the wrong one is reported.
#
#   program_test.sh PROGRAM
set -uo pipefail
program=$1
work=${TEST_TMPDIR:?}
# The program under test is not the test that Bazel waits for.
unset "${!TEST_@}" "${!BAZEL_@}" "${!TESTBRIDGE_@}" XML_OUTPUT_FILE
failures=0

run() { output=$("$program" "$@" 2>&1 </dev/null); code=$?; }
says() { grep -Eq -- "$1" <<<"$output" || complain "no line like: $1"; }
complain() {
  printf '%s\n%s\n\n' "$output" "$1"
  failures=$((failures + 1))
}
small="--small --device=cpu --backend=torchscript"

run --list
((code == 0)) || complain "--list: exit code $code"
says '^ *my_net +own +cnn +8 +8'
says '^ *my_reader +own +transformer +8 +8'
says '^ *unsteady +own +mlp'
says '^ *resnet18 '

run --accuracy --training $small --only=my_net --output="$work/accuracy.csv"
((code == 0)) || complain "the right model: exit code $code"
grep -Eq '^cpu,my_net,[0-9]+,pass' "$work/accuracy.csv" || complain "my_net does not pass: $(cat "$work/accuracy.csv")"

run --accuracy --training $small --only=my_reader --output="$work/texts.csv"
((code == 0)) || complain "the model of texts: exit code $code"
grep -Eq '^cpu,my_reader,[0-9]+,pass' "$work/texts.csv" || complain "my_reader does not pass: $(cat "$work/texts.csv")"

run --performance --inference $small --only=my_net --repeat=3 --output="$work/performance.csv"
((code == 0)) || complain "performance: exit code $code"
grep -Eq '^cpu,my_net,[0-9]+,[0-9.]+' "$work/performance.csv" || complain "no speed-up of my_net: $(cat "$work/performance.csv")"

run --accuracy --inference $small --only=unsteady --output="$work/wrong.csv"
((code != 0)) || complain "the wrong model passes: $(cat "$work/wrong.csv")"
grep -Eq '^cpu,unsteady,[0-9]+,(fail_accuracy|eager_two_runs_differ)' "$work/wrong.csv" ||
  complain "not reported: $(cat "$work/wrong.csv")"

((failures == 0)) && echo "as expected"
exit $((failures > 0))
