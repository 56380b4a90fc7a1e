#!/bin/sh
# What record_kernels.py records while Inductor writes code, and once while it compiles (about a minute on two cores).
set -eu
if [ -z "${PACE_PYTHON:-}" ]; then
  echo "no Python with torch is known: set PACE_PYTHON" >&2
  exit 0
fi
PYTHONPATH="$(pwd)/$(dirname "$1")"
TORCHINDUCTOR_CACHE_DIR="${TEST_TMPDIR:?}/inductor"
export PYTHONPATH TORCHINDUCTOR_CACHE_DIR
exec "$PACE_PYTHON" -B tests/subject/record_kernels_test.py
