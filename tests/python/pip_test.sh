#!/usr/bin/env bash
# The Python package as a user installs it: `pip install .` into an environment that has torch, then its tests and the
# tests of its pytest plugin.
set -uo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.." || exit 1
# shellcheck source=tests/build/arguments.sh
source tests/build/arguments.sh
take_no_arguments "$@"

# The LibTorch that third_party/bazel installs.
# shellcheck source=third_party/setup/needs.sh
here=$PWD/third_party source third_party/setup/needs.sh
needs_check_environment
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
environment=$scratch/environment sources=$scratch/pace
mkdir "$sources"
"$libtorch_home/venv/bin/python3" -m venv "$environment" || exit 1
# torch takes gigabytes, so the environment has links to the packages of another one.
for package in "$libtorch_home"/venv/lib/python3*/site-packages/*; do
  packages=("$environment"/lib/python3*/site-packages)
  [[ -e ${packages[0]}/${package##*/} ]] || ln -s "$package" "${packages[0]}/"
done
git ls-files -z | xargs -0 cp --parents -t "$sources" || { echo "pip_test: the sources cannot be copied" >&2; exit 1; }
"$environment/bin/pip" install --quiet --disable-pip-version-check pytest pandas || exit 1
# Some compilers link their libstdc++ statically unless asked for torch's.
export LDFLAGS=-static-libstdc++
CMAKE_BUILD_PARALLEL_LEVEL=${JOBS:-$(nproc)} "$environment/bin/pip" install --quiet --disable-pip-version-check "$sources" || exit 1

status=0
for test in package plugin; do
  "$environment/bin/python" "tests/python/${test}_test.py" || status=1
done
exit "$status"
