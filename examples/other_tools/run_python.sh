#!/usr/bin/env bash
# run_python.sh PYTHON SCRIPT: runs SCRIPT with the Python beside LibTorch.
[[ -n $1 ]] || { echo "run_python.sh: this LibTorch has no Python beside it; expected one in PACE_PYTHON" >&2; exit 1; }
exec "$1" "$2"
