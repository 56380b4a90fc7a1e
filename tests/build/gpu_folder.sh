#!/usr/bin/env bash
# Whether //tests/gpu/folder has every test that is tagged `cuda`, and, with the CUDA toolkit, whether it is built.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
# shellcheck source=tests/build/arguments.sh
source tests/build/arguments.sh
take_no_arguments "$@"

query() { third_party/bazel query --noshow_progress --ui_event_filters=-info "$1"; }
tagged=$(query 'attr(tags, "[\[ ]cuda[,\]]", tests(//...))')
[[ -n $tagged ]] || {
  echo "no test is tagged cuda: expected some" >&2
  exit 1
}
# Without the toolkit, or LibTorch's CUDA half, the folder has none.
listed=$(query 'labels(tests, //tests/gpu/folder)')
missing=
[[ -z $listed ]] ||
  missing=$(query "set($(tr '\n' ' ' <<<"$tagged")) except set($(tr '\n' ' ' <<<"$listed"))")
[[ -z $missing ]] || {
  printf 'tagged cuda, but not among the tests of //tests/gpu/folder:\n%s\n' "$missing" >&2
  exit 1
}
# By the wildcard, targets that need the toolkit are left out where there is none.
third_party/bazel build --config=cuda //tests/gpu/folder:all
