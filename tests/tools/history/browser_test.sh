#!/usr/bin/env bash
# The history's page in headless Chromium. With --pictures FOLDER, pictures of it are saved as well; further arguments
# go to Python's unittest.
set -euo pipefail
folder=$PWD
cd "$(dirname "${BASH_SOURCE[0]}")/../../.."
root=$PWD

export PACE_CHECKS=1
here=third_party
# shellcheck source=third_party/setup/needs.sh
source third_party/setup/needs.sh
needs_check_environment
third_party/bazel build //tools/history //tools/report
python=$checks_home/venv/bin/python3
[[ -x $python ]] || {
  echo "browser_test: no Python in $checks_home; PACE_CHECKS=1 third_party/bazel version installs it" >&2
  exit 1
}
if [[ ${1:-} == --pictures ]]; then
  [[ ${2:?expected a folder after --pictures} == /* ]] || set -- --pictures "$folder/$2" "${@:3}"
fi
# The tests look for the programs where a test of Bazel's has them.
cd bazel-bin
PYTHONPATH=$root/tests/tools/report:$root/tools PYTHONDONTWRITEBYTECODE=1 "$python" \
  "$root/tests/tools/history/browser_test.py" "$@"
