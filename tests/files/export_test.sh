#!/usr/bin/env bash
# export_test.py with the Python that has torch.
set -euo pipefail
export PYTHONPATH=$PWD/tools:$PWD/tests/files PYTHONDONTWRITEBYTECODE=1
exec "$PACE_PYTHON" tests/files/export_test.py
