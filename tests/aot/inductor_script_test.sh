#!/bin/sh
# Runs a test in Python of scripts that need torch: SCRIPT is one of these scripts, which stand in one folder, TEST the
# test, both from the root.   inductor_script_test.sh TEST SCRIPT...
set -eu
if [ -z "${PACE_PYTHON:-}" ]; then
  echo "no Python with torch is known: set PACE_PYTHON" >&2
  exit 0
fi
PYTHONPATH="$(pwd)/$(dirname "$2"):$(pwd)/tests/aot"
TORCHINDUCTOR_CACHE_DIR="${TEST_TMPDIR:?}/inductor"
export PYTHONPATH TORCHINDUCTOR_CACHE_DIR
exec "$PACE_PYTHON" -B "$1"
