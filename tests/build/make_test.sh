#!/usr/bin/env bash
# The Makefile that docs/build.md shows: it builds and runs a gate, and names a LibTorch that is none.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
# shellcheck source=tests/build/arguments.sh
source tests/build/arguments.sh
take_no_arguments "$@"
pace=$PWD

# shellcheck source=third_party/setup/needs.sh
here=$pace/third_party source third_party/setup/needs.sh
needs_check_environment
for torch in "${PACE_LIBTORCH:-/nowhere}"/{torch,.,libtorch} "$libtorch_home"/venv/lib/python3*/site-packages/torch; do
  [[ ! -d $torch/include/ATen ]] || break
done

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cp examples/make/Makefile examples/cmake/*.cc examples/cmake/*.hpp "$work"
make -C "$work" -j "${JOBS:-$(nproc)}" check PACE="$pace" TORCH="$torch" ARGS=--max-interference=1
# It is the program with pace's main function, which refuses the option, and make fails with it.
! make -C "$work" check PACE="$pace" TORCH="$torch" ARGS=--no-such-option 2>"$work/errors" || {
  echo "an option that is none: expected a failure" >&2
  exit 1
}
grep -q no-such-option "$work/errors" || {
  cat "$work/errors" >&2
  echo "an option that is none: expected a message that names it" >&2
  exit 1
}
! output=$(make -C "$work" check TORCH="$work" 2>&1) || {
  printf '%s\na folder without LibTorch: expected a failure\n' "$output" >&2
  exit 1
}
[[ $output == *"TORCH=$work is no LibTorch"* ]] || {
  printf '%s\nexpected the message that there is no LibTorch\n' "$output" >&2
  exit 1
}
echo "the Makefile builds and runs a gate"
