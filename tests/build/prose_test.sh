#!/usr/bin/env bash
# Every comment, message and page keeps the rule of prose (CONTRIBUTING.md); prose.py beside this says how it looks for it.
#
#   tests/build/prose_test.sh [--by-folder]
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
git ls-files --cached --others --exclude-standard | python3 tests/build/prose.py "$@"
