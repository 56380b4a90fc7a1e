#!/usr/bin/env bash
# Comments, messages and pages keep the rule of prose (CONTRIBUTING.md); prose.py beside this says how it looks for it.
#
#   tests/build/prose_test.sh [--by-folder] [PATH...]     all files, or those that match a path as git ls-files takes it
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
# shellcheck source=tests/build/arguments.sh
source tests/build/arguments.sh
options=()
if [[ ${1:-} == --by-folder ]]; then
  options=(--by-folder)
  shift
fi
take_arguments '--by-folder as the first argument, or paths' '[^-].*' "$@"
git ls-files --cached --others --exclude-standard -- "$@" | python3 tests/build/prose.py "${options[@]}"
