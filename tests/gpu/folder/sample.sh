#!/usr/bin/env bash
# Run by folder_test.sh: its name says which of the tests and programs it is.
case ${0##*/} in
  passes) exit 0 ;;
  fails) exit 3 ;;
  skips) exit 4 ;;
  hangs) exit 1 ;; # It never begins: the fake `timeout` ends it.
  ends_half_way)
    touch "$TEST_PREMATURE_EXIT_FILE"
    exit 0
    ;;
  reads)
    echo "arguments: $*"
    echo "variables: SPOKEN=$SPOKEN TEST_TIMEOUT=$TEST_TIMEOUT PACE_COMMIT=$PACE_COMMIT"
    echo "libraries: $LD_LIBRARY_PATH"
    echo "python: $PACE_PYTHON"
    echo "left behind" >"$TEST_UNDECLARED_OUTPUTS_DIR/output.txt"
    cat "$2"
    ;;
  says)
    printf 'in %s: ' "$BUILD_WORKING_DIRECTORY"
    printf '%s,' "$@"
    exit 5
    ;;
  *)
    echo "no such sample: $0" >&2
    exit 1
    ;;
esac
