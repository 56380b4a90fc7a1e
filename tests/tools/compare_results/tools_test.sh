#!/usr/bin/env bash
# The tools that judge files of results, as programs: their output, and places where it cannot go.
#
#   tools_test.sh COMPARE_RESULTS MERGE_RUNS [--html]
set -uo pipefail
compare=$1 merge=$2
work=${TEST_TMPDIR:?}
source tests/support/program_checks.sh
unset BUILD_WORKING_DIRECTORY
clean() { [[ $output$errors != *$'\e'* ]] || complain "an escape character"; }

# result FILE DATE: one process; a candidate, whose name has an escape character, is twice as fast.
result() {
  cat >"$1" <<EOF
{"schema_version": 3, "environment": {"hostname": "host", "date_utc": "$2"}}
{"name": "case", "implementations": [{"name": "eager", "baseline": true, "outcome": "measured", "checked": true, "time": {"min_ns": 2000, "q20_ns": 2000, "median_ns": 2000, "q80_ns": 2000, "max_ns": 2000}}, {"name": "fused\\u001b[2J", "baseline": false, "outcome": "measured", "checked": true, "time": {"min_ns": 1000, "q20_ns": 1000, "median_ns": 1000, "q80_ns": 1000, "max_ns": 1000}, "speedup": {"median": 2, "q20": 2, "q80": 2}, "log_ratios": [0.693]}]}
EOF
}
result "$work/a.json" 2026-11-01T00:00:00Z
result "$work/b.json" 2026-11-02T00:00:00Z

files="$work/a.json $work/b.json --allow-undecided"

case="no control character reaches a terminal"
for program in "$compare" "$merge"; do
  run $files; ends_with 0; prints '\x1b[2J'; clean
  run $'--\e[2J'; ends_with 2; says '--\x1b[2J'; clean
done

for words in "$compare --help" "$compare $files" "$merge --help" "$merge $files"; do
  case="output that cannot be printed is no success: $words"
  lost="not all that was printed could be written"
  output="" errors=$($words 2>&1 >/dev/full); code=$?; ends_with 2; says "$lost"
  (($(grep -c . <<<"$errors") == 1)) || complain "more than one message"
  errors=$($words 2>&1 >&-); code=$?; ends_with 2; says "$lost"
done

case="--html: a page of both files"
program=$compare
html() {
  run $work/a.json $work/b.json --html $work/page.html --process-spread 0.001; ends_with 0
  # Where the lines of the page end is the template's business.
  tr -s '\n ' ' ' <"$work/page.html" >"$work/page.line"
  holds "$work/page.line" "<h2>Compared: 2 rows, exit code 0"
  holds "$work/page.line" "<bdi>[^<]*a\.json[^<]*</bdi> → <bdi>[^<]*b\.json"
  [[ ! -e $work/page.html.verdicts ]] || complain "a file was left"
  run $work/a.json $work/b.json --html $work/nowhere/page.html --process-spread 0.001; ends_with 2; says "nowhere"
}
# Without the pages' Python there is no page.
if [[ ${3:-} == --html ]]; then html; fi

((failures == 0)) && echo "all as expected"
exit $((failures > 0))
