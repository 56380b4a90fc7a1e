#!/usr/bin/env bash
# clang-tidy over the library: one source file that includes every header of include/pace, with the definitions in them,
# is checked by the rules of .clang-tidy. Headers of CUDA need a toolkit and are left out.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
# shellcheck source=tests/build/arguments.sh
source tests/build/arguments.sh
take_no_arguments "$@"

checker=clang-tidy-19
command -v "$checker" >/dev/null || {
  echo "tidy_test: $checker is missing; PACE_CHECKS=1 third_party/bazel version installs it" >&2
  exit 1
}
here=third_party
# shellcheck source=third_party/setup/needs.sh
source third_party/setup/needs.sh
needs_check_environment
torch=$(find -H "${PACE_LIBTORCH:-$libtorch_home/venv/lib}" -type d -path '*include/ATen' -print -quit)
[[ $torch ]] || { echo "tidy_test: no LibTorch was found; run third_party/bazel once" >&2; exit 1; }
torch=${torch%/ATen}

scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
git ls-files 'include/pace/*.hpp' | grep -v -e '-inl\.hpp$' -e '/gpu/cuda/' | sed 's|^include/\(.*\)|#include "\1"|' >"$scratch/all.cc"
headers=$(wc -l <"$scratch/all.cc")
((headers > 0)) || { echo "tidy_test: no header was found" >&2; exit 1; }
"$checker" --quiet --config-file=.clang-tidy "$scratch/all.cc" -- -std=c++20 -Iinclude -I. \
  -isystem "$torch" -isystem "$torch/torch/csrc/api/include" 2>"$scratch/errors" || {
  cat "$scratch/errors" >&2
  exit 1
}
echo "$headers headers have nothing that .clang-tidy forbids"
