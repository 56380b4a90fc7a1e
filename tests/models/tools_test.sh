#!/usr/bin/env bash
# The checkers and summaries as programs: their output, places where it cannot go, and files that hold no results.
#
#   tools_test.sh CHECK SUMMARY
set -uo pipefail
check=$1 summary=$2
work=${TEST_TMPDIR:?}
source tests/support/program_checks.sh
unset BUILD_WORKING_DIRECTORY

printf 'name,accuracy\n\e[8ma\xc2\x9bJ\x9b,pass\n' >"$work/a.csv"
printf 'name,speedup\na,2\n' >"$work/s.csv"
mkfifo "$work/pipe.csv"
export PACE_PIPE_TIMEOUT=0

case="no control character reaches a terminal"
program=$check; run csv -f "$work/a.csv"; ends_with 0; prints '\x1b[8ma\u009bJ\x9b'
run $'\e[2J'; ends_with 1; says "check: there is no checker '\\x1b[2J'"
program=$summary; run print --rows "$work/a.csv"; ends_with 0; prints '\x1b[8ma\u009bJ\x9b'
run $'\e[2J'; ends_with 1; says "summary: there is no summary '\\x1b[2J'"

for words in "$check csv -f $work/a.csv" "$summary print $work/s.csv"; do
  case="output that cannot be printed is no success: $words"
  output="" errors=$($words 2>&1 >/dev/full); code=$?; ends_with 1; says "the output cannot be written"
  errors=$($words 2>&1 >&-); code=$?; ends_with 1; says "the output cannot be written"
done

for file in "$work/pipe.csv" "$work" /dev/null "$work/none.csv"; do
  case="no file of results: $file"
  program=$check; run csv -f "$file"; ends_with 1; says "check: $file: "
  run accuracy -a "$work/a.csv" -e "$file"; ends_with 1; says "check: $file: "
  for what in print perf "join --field speedup"; do
    program=$summary; run $what "$file"; ends_with 1; says "summary: $file: "
  done
done

((failures == 0)) && echo "all as expected"
exit $((failures > 0))
