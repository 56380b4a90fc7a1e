# Checks of a program on a GPU, each with a line of its own. Tests source it.

# The program is started by hand: Bazel's files are this test's.
unset XML_OUTPUT_FILE TEST_WARNINGS_OUTPUT_FILE TEST_INFRASTRUCTURE_FAILURE_FILE TEST_PREMATURE_EXIT_FILE \
  TEST_UNDECLARED_OUTPUTS_DIR TEST_TIMEOUT BAZEL_TEST TEST_SRCDIR
work=$(mktemp -d "${TEST_TMPDIR:-/tmp}/gpu_checks.XXXXXX")
trap 'rm -rf "$work"' EXIT

failures=0
check() { # WHAT COMMAND...
  local what=$1
  shift
  if "$@"; then echo "as expected: $what"; else echo "NOT as expected: $what"; failures=$((failures + 1)); fi
}
# Ends the test as skipped if the program has printed to $work/out that there is no GPU.
skip_without_gpu() {
  grep -q "every test was skipped" "$work/out" || return 0
  echo "skipped: no GPU"
  exit 4
}
