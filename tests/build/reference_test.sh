#!/usr/bin/env bash
# Whether Doxygen writes the reference of the library without a warning (Doxyfile).
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
# shellcheck source=tests/build/arguments.sh
source tests/build/arguments.sh
take_no_arguments "$@"

command -v doxygen >/dev/null || {
  echo "reference_test: doxygen is missing; PACE_CHECKS=1 third_party/bazel version installs it" >&2
  exit 1
}
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
{ cat Doxyfile && echo "OUTPUT_DIRECTORY = $scratch"; } | doxygen -
pages=$(find "$scratch" -name 'class*.html' -o -name 'struct*.html' | wc -l)
((pages > 0)) || { echo "reference_test: Doxygen wrote no page" >&2; exit 1; }
echo "the reference has $pages pages of classes, without a warning"
