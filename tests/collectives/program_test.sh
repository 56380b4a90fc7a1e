#!/usr/bin/env bash
# benches/collectives from the command line, on the CPU: its output, its files, and its messages for wrong input.
#
#   program_test.sh PROGRAM
set -uo pipefail
program=$1
work=${TEST_TMPDIR:?}
source tests/support/program_checks.sh

measure() { run --device cpu --least 1K --most 4K --budget 0.05 --warm-up 0.01 --allow-undecided on "$@"; }
fails() { ((code != 0)) || complain "exit code 0"; }
succeeds() { ends_with 0; }
# Without white space, since lines are wrapped.
squeezed() { tr -d ' \n' <<<"$1"; }
prints() { [[ $(squeezed "$output") == *"$(squeezed "$1")"* ]] || complain "not printed: $1"; }
says() { [[ $(squeezed "$errors$output") == *"$(squeezed "$1")"* ]] || complain "no message: $1"; }

case="every collective, with all ways to compute it, in the table and in the file"
measure --ranks 2 --json "$work/results.json"; succeeds
prints "alg. GB/s"
for name in all-reduce all-gather reduce-scatter all-to-all send-receive; do prints "$name"; done
prints "reduce-scatter, all-gather"; prints "all-gather, sum"; prints "all-to-all, sum"; prints "sends"
for sought in '"all-reduce/1K"' '"send-receive/4K"' '2 ranks in lock-step' '"audit":"off"'; do
  grep -q -- "$sought" "$work/results.json" || complain "the file has no $sought"
done
case="names alone"
measure --list --collectives all-reduce,all-to-all; succeeds
[[ $output == $'all-reduce/1K\nall-reduce/4K\nall-to-all/1K\nall-to-all/4K' ]] || complain "another list"
case="one case of several"
measure --case all-gather/4K; succeeds; prints "all-gather"
case="nothing is measured in a dry run"
measure --dry-run --collectives all-reduce; succeeds; prints "all-reduce/1K"
case="no table"
measure --no-table --collectives all-to-all --most 1K; succeeds
[[ $output != *"alg. GB/s"* ]] || complain "a table"
case="twins, repeated"
measure --twins --collectives all-reduce --most 1K --repeat 2 --no-slower-than 50; succeeds; prints "shared memory again"
case="a candidate that is slower than it may be"
measure --collectives all-reduce --most 1K --no-slower-than 0.001 --max-interference 1; fails; says "slower"

case="the table has the bytes that were sent"
measure --collectives send-receive --ranks 3 --most 1K; succeeds; prints "send-receive 1020 "

case="what ranks cannot follow"
for options in "--audit strict" "--isolate sides" "--counters page_faults" --suite-alpha=0.01 "--threads 2"; do
  measure $options; ends_with 1; says "does not go with ${options%%[ =]*}"
done
for options in "--clock graph" "--mode-share 0.1"; do
  measure $options; ends_with 1; says "has no meaning on a CPU"
done
case="values out of range, and options without effect"
measure --ranks 0; fails; says "--ranks: "
measure --least 1T; fails; says "a number of bytes from 1 to 64G"
measure --least 1M --most 1K; fails; says "--least 1M is more than --most 1K"
measure --collectives broadcast; fails; says "all-reduce, all-gather"
measure --collectives all-to-all --no-slower-than 1.1; fails; says "--no-slower-than has nothing to judge"

((failures == 0)) && echo "all as expected"
exit $((failures > 0))
