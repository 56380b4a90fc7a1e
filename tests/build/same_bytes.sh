#!/usr/bin/env bash
# Builds the same sources twice, in other folders, by another server of Bazel and without a cache, and compares every
# file of the build: objects, libraries, programs, scripts.
#
#   tests/build/same_bytes.sh [TARGET...]     by default two programs that are built in minutes
#
# Prints the files that differ. Ends with 1 if there are any.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
# shellcheck source=tests/build/arguments.sh
source tests/build/arguments.sh
take_arguments 'targets such as //tools/compare_results' '//.+' "$@"
(($#)) || set -- //tools/compare_results //tests/build:torch_links_test

scratch=$(mktemp -d)
places=("$scratch/a" "$scratch/another/place")
finish() {
  for place in "${places[@]}"; do
    [[ ! -d $place/base ]] || (cd "$place/sources" && third_party/bazel --output_base="$place/base" shutdown) >/dev/null 2>&1 || true
  done
  chmod -R u+w "$scratch" && rm -rf "$scratch"
}
trap finish EXIT

for place in "${places[@]}"; do
  mkdir -p "$place/sources"
  git ls-files -z | xargs -0 cp --parents -t "$place/sources"
  (
    cd "$place/sources"
    third_party/bazel --output_base="$place/base" build --disk_cache= --jobs="${JOBS:-$(nproc)}" "$@"
    bin=$(third_party/bazel --output_base="$place/base" info bazel-bin 2>/dev/null)
    third_party/bazel --output_base="$place/base" shutdown
    # Lists of runfiles are absolute paths, for this machine alone.
    cd "$bin" && find . -type f ! -name MANIFEST ! -name '*.runfiles_manifest' -print0 | sort -z | xargs -0 sha256sum >"$place/sums"
  )
done

sums=("${places[@]/%//sums}")
if differing=$(diff "${sums[@]}"); then
  printf 'same_bytes: %d files of two builds are equal\n' "$(wc -l <"${sums[0]}")"
else
  sed -n 's/^[<>] [0-9a-f]*  /  /p' <<<"$differing" | sort -u
  echo "same_bytes: these files of two builds differ" >&2
  exit 1
fi
