# A program from the command line: runs it, and checks its exit code and its output. Tests source it. They set `program`
# and `work` (a folder) before, and `case` (the attempt's name) on their way.

# The program under test is not the test that Bazel waits for.
unset TEST_PREMATURE_EXIT_FILE TEST_SHARD_STATUS_FILE TEST_TOTAL_SHARDS TEST_UNDECLARED_OUTPUTS_DIR XML_OUTPUT_FILE \
  TESTBRIDGE_TEST_ONLY BAZEL_TEST TEST_TIMEOUT TEST_WARNINGS_OUTPUT_FILE TEST_INFRASTRUCTURE_FAILURE_FILE TEST_SRCDIR
failures=0

# run OPTIONS...: sets output (stdout), errors (stderr) and code.
run() {
  "$program" "$@" >"$work/out" 2>"$work/err" </dev/null
  code=$?
  output=$(<"$work/out") errors=$(<"$work/err")
}
ends_with() { ((code == $1)) || complain "exit code $code"; }
prints() { [[ $output == *"$1"* ]] || complain "not printed: $1"; }
# holds FILE PATTERN: a line of the file matches.
holds() { grep -Eq -- "$2" "$1" || complain "${1##*/} has no line like $2:"$'\n'"$(head -c 2000 "$1")"; }
says() { [[ $errors == *"$1"* ]] || complain "no message: $1"; }
complain() {
  printf '%s: %s\n%s\n%s\n\n' "$case" "$1" "$output" "$errors"
  failures=$((failures + 1))
}
