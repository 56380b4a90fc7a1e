#!/usr/bin/env bash
# Pages of tools/report in headless Chromium. With --pictures FOLDER, a picture of each kind of page is saved as well,
# to be looked at; further arguments go to Python's unittest.
set -euo pipefail
folder=$PWD
cd "$(dirname "${BASH_SOURCE[0]}")/../../.."

export PACE_CHECKS=1
here=third_party
# shellcheck source=third_party/setup/needs.sh
source third_party/setup/needs.sh
needs_check_environment
third_party/bazel build //tools/report
[[ -x $checks_home/venv/bin/python3 ]] || {
  echo "browser_test: no Python in $checks_home; PACE_CHECKS=1 third_party/bazel version installs it" >&2
  exit 1
}
export PAGE_PYTHON=$page_home/venv/bin/python3
[[ ${PACE_TOOLS_PYTHON:-none} == none ]] || PAGE_PYTHON=$PACE_TOOLS_PYTHON

if [[ ${1:-} == --pictures ]]; then
  pictures=${2:?expected a folder after --pictures}
  [[ $pictures == /* ]] || pictures=$folder/$pictures
  shift 2
  set -- --pictures "$pictures" "$@"
fi
# program.py looks for the program where a test of Bazel's has it.
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
root=$PWD
mkdir -p "$scratch/tools/report"
ln -s "$root/bazel-bin/tools/report/report" "$scratch/tools/report/report"
cd "$scratch"
PYTHONPATH=$root/tests/tools/report:$root/tools PYTHONDONTWRITEBYTECODE=1 \
  "$checks_home/venv/bin/python3" "$root/tests/tools/report/browser_test.py" "$@"
