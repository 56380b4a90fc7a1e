#!/usr/bin/env bash
# package_test.py on the extension that Bazel builds, with the Python that has torch.
set -euo pipefail
export PYTHONPATH=$PWD/python PYTHONDONTWRITEBYTECODE=1
exec "$PACE_PYTHON" tests/python/package_test.py
