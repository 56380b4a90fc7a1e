#!/usr/bin/env bash
# Builds and tests with no CUDA toolkit and with a LibTorch that has no CUDA. Links show the installed LibTorch without
# its CUDA libraries and without the two headers that only a CUDA build has. (Its other CUDA headers are there in any
# LibTorch, so `__has_include` of those says nothing.)
#
#   tests/build/cpu_only.sh TARGET...        builds all, runs those that are tests
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
# shellcheck source=tests/build/arguments.sh
source tests/build/arguments.sh
take_arguments 'targets such as //tests/build:torch_links_test' '-?(@[^/]*)?//.+' "$@"

third_party/bazel build @libtorch//:torch
headers=$(third_party/bazel info output_base 2>/dev/null)/external/libtorch/include
real=$(dirname "$(readlink -f "$headers")")

scratch=$(mktemp -d)
output_base=$scratch/output
finish() {
  third_party/bazel --output_base="$output_base" shutdown >/dev/null 2>&1 || true
  chmod -R u+w "$scratch" && rm -rf "$scratch"
}
trap finish EXIT

torch=$scratch/site-packages/torch
mkdir -p "$torch/lib"
# A tree of links, which takes no space.
cp -rs "$real/include" "$torch/include"
rm -f "$torch/include/ATen/cuda/CUDAConfig.h" "$torch/include/c10/cuda/impl/cuda_cmake_macros.h"
for library in "$real"/lib/*.so*; do
  case $library in *cuda* | *nvrtc* | *nvshmem*) ;; *) ln -s "$library" "$torch/lib/" ;; esac
done
# The installed libtorch_cpu asks for CUDA's run-time library, being part of a build with CUDA; a real one would not.
[[ ! -e $real/../nvidia ]] || ln -s "$(readlink -f "$real/../nvidia")" "$scratch/site-packages/nvidia"
sed -n "s/^torch==\(.*\)/\1+cpu/p" third_party/requirements.txt >"$torch/build-version"

export PACE_LIBTORCH=$torch CUDA_HOME=none
third_party/bazel --output_base="$output_base" test --build_tests_only=false "$@"
for setting in libtorch:'HAS_CUDA = False' cuda:'HAVE_CUDA = False'; do
  grep -qx "${setting#*:}" "$output_base/external/${setting%%:*}/config.bzl" ||
    {
      echo "expected ${setting#*:} in @${setting%%:*}//:config.bzl, found:"
      cat "$output_base/external/${setting%%:*}/config.bzl"
      exit 1
    } >&2
done
