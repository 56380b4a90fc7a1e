#!/bin/sh
# Gives a test of CTest the same as Bazel gives its tests: a folder for results, and a file that reveals a program that
# ends half-way, with any exit code.
#
#   run_gate.sh FOLDER PROGRAM ARGUMENT...
outputs=$1
shift

# CTest has started this. A gate that is measured again until it passes has lost its error rates.
if tr '\0' ' ' 2>/dev/null <"/proc/$PPID/cmdline" | grep -q -- '--repeat[ =]until-pass'; then
  echo "ctest --repeat until-pass is refused: a gate that is measured again until it passes has lost its error rates." >&2
  echo "Leave the option out, or leave the gates out with -LE pace." >&2
  exit 2
fi

rm -rf "$outputs"
mkdir -p "$outputs" || exit 2
TEST_UNDECLARED_OUTPUTS_DIR=$outputs
TEST_PREMATURE_EXIT_FILE=$outputs/ended_early
export TEST_UNDECLARED_OUTPUTS_DIR TEST_PREMATURE_EXIT_FILE
"$@"
code=$?
if [ -e "$TEST_PREMATURE_EXIT_FILE" ]; then
  rm -f "$TEST_PREMATURE_EXIT_FILE"
  echo "$1 has ended before its tests had (with $code)." >&2
  [ "$code" -ne 0 ] || code=1
fi
exit "$code"
