#!/usr/bin/env bash
# benches/collectives from the command line, on the CPU: its output, its files, and its messages for wrong input.
#
#   program_test.sh PROGRAM
set -uo pipefail
program=$1
work=${TEST_TMPDIR:?}
# The program under test is not the test that Bazel waits for.
unset TEST_PREMATURE_EXIT_FILE TEST_SHARD_STATUS_FILE TEST_TOTAL_SHARDS TEST_UNDECLARED_OUTPUTS_DIR XML_OUTPUT_FILE \
  TESTBRIDGE_TEST_ONLY BAZEL_TEST TEST_TIMEOUT TEST_WARNINGS_OUTPUT_FILE TEST_INFRASTRUCTURE_FAILURE_FILE
failures=0

run() {
  "$program" --device cpu --least 1K --most 4K --budget 0.05 --warm-up 0.01 --allow-undecided on "$@" \
    >"$work/out" 2>"$work/err" </dev/null
  code=$?
  output=$(<"$work/out") errors=$(<"$work/err")
}
fails() { ((code != 0)) || complain "exit code 0"; }
succeeds() { ((code == 0)) || complain "exit code $code"; }
# Without white space, since lines are wrapped.
squeezed() { tr -d ' \n' <<<"$1"; }
prints() { [[ $(squeezed "$output") == *"$(squeezed "$1")"* ]] || complain "not printed: $1"; }
says() { [[ $(squeezed "$errors$output") == *"$(squeezed "$1")"* ]] || complain "no message: $1"; }
complain() {
  printf '%s: %s\n%s\n%s\n\n' "$case" "$1" "$output" "$errors"
  failures=$((failures + 1))
}

case="every collective, with all ways to compute it, in the table and in the file"
run --ranks 2 --json "$work/results.json"; succeeds
prints "alg. GB/s"
for name in all-reduce all-gather reduce-scatter all-to-all send-receive; do prints "$name"; done
prints "reduce-scatter, all-gather"; prints "all-gather, sum"; prints "all-to-all, sum"; prints "sends"
for sought in '"all-reduce/1K"' '"send-receive/4K"' '2 ranks in lock-step' '"audit":"off"'; do
  grep -q -- "$sought" "$work/results.json" || complain "the file has no $sought"
done
case="names alone"
run --list --collectives all-reduce,all-to-all; succeeds
[[ $output == $'all-reduce/1K\nall-reduce/4K\nall-to-all/1K\nall-to-all/4K' ]] || complain "another list"
case="one case of several"
run --case all-gather/4K; succeeds; prints "all-gather"
case="nothing is measured in a dry run"
run --dry-run --collectives all-reduce; succeeds; prints "all-reduce/1K"
case="twins, repeated"
run --twins --collectives all-reduce --most 1K --repeat 2 --no-slower-than 50; succeeds; prints "shared memory again"
case="a candidate that is slower than it may be"
run --collectives all-reduce --most 1K --no-slower-than 0.001 --max-interference 1; fails; says "slower"

case="what ranks cannot follow"
run --audit strict; fails; says "does not go with --audit strict"
run --isolate sides; fails; says "does not go with --isolate sides"
run --suite-alpha 0.01; fails; says "does not go with --suite-alpha"
run --threads 2; fails; says "as --threads 2 starts a pool"
for options in "--clock graph" "--mode-share 0.1"; do
  run $options; [[ $code == 1 ]] || complain "exit code $code"; says "has no meaning on a CPU"
done
case="values out of range, and options without effect"
run --ranks 0; fails; says "--ranks: "
run --least 1T; fails; says "a number of bytes from 1 to 64G"
run --least 1M --most 1K; fails; says "--least 1M is more than --most 1K"
run --collectives broadcast; fails; says "all-reduce, all-gather"
run --collectives all-to-all --no-slower-than 1.1; fails; says "--no-slower-than has nothing to judge"

((failures == 0)) && echo "all as expected"
exit $((failures > 0))
