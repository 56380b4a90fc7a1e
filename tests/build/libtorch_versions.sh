#!/usr/bin/env bash
# Checks that pace compiles and gates with other versions of LibTorch. It downloads the wheel of each, compiles all
# rooms of the library and examples/cmake with its headers, and runs the gate with its libraries.
#
#   tests/build/libtorch_versions.sh VERSION...     such as 2.9.1 2.13.0; `newest` is the newest that pip can install
#
# Prints a line for each version; ends with 1 if one fails, cannot be downloaded, or none is given.
# WHEELS=FOLDER keeps the wheels, and takes those that are there.
set -uo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.." || exit 1
# shellcheck source=tests/build/arguments.sh
source tests/build/arguments.sh
take_arguments 'versions such as 2.9.1, or newest' 'newest|[0-9]+(\.[0-9]+)+' "$@"
pace=$PWD
(($#)) || { echo "libtorch_versions.sh: no version is given; expected some, such as 2.9.1 or newest" >&2; exit 1; }

# shellcheck source=third_party/setup/needs.sh
here=$pace/third_party source third_party/setup/needs.sh
needs_check_environment
python=$libtorch_home/venv/bin/python3
[[ -x $python ]] || python=python3
pip() { "$python" -m pip --disable-pip-version-check "$@"; }

scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
log=$scratch/log

# unpack VERSION: makes $scratch/site-packages of the parts of the wheel that a program for the CPU needs. LibTorch's
# library for the CPU is linked with two of CUDA's: those are in packages of their own, which the wheel names.
unpack() {
  local site=$scratch/site-packages wheels=${WHEELS:-$scratch/wheels} wheel needed
  rm -rf "$site" "$scratch/cuda"
  [[ -n ${WHEELS:-} ]] || rm -rf "$wheels"
  mkdir -p "$site" "$wheels"
  wheel=$(compgen -G "$wheels/torch-$1-*.whl" | head -n 1)
  if [[ -z $wheel ]]; then
    pip download --quiet --no-cache-dir --no-deps --only-binary :all: --dest "$wheels" "torch==$1" || return
    wheel=$(compgen -G "$wheels/torch-$1*-*.whl" | head -n 1)
  fi
  needed=$("$python" - "$wheel" "$site" <<'PYTHON'
import re, sys, zipfile
wheel = zipfile.ZipFile(sys.argv[1])
wanted = re.compile(r"torch/(include/.*|version\.py|lib/lib(torch_cpu|c10|gomp)[.-].*)")
wheel.extractall(sys.argv[2], [name for name in wheel.namelist() if wanted.fullmatch(name)])
metadata, = [name for name in wheel.namelist() if name.endswith(".dist-info/METADATA")]
for line in wheel.read(metadata).decode().splitlines():
    found = re.match(r"Requires-Dist: (nvidia-cuda-(?:runtime|cupti)\S*|cuda-toolkit)(?:\[[^]]*\])? *(==[\w.]+)", line)
    if found:
        print(found[1] + ("[cudart,cupti]" if found[1] == "cuda-toolkit" else "") + found[2])
PYTHON
  ) || return
  # shellcheck disable=SC2086
  [[ -z $needed ]] || pip install --quiet --no-cache-dir --target "$site" $needed
}

# check VERSION: all of it, one command after the other.
check() {
  unpack "$1" || return
  cmake -S . -B "$scratch/pace" -DCMAKE_BUILD_TYPE=Release -DCMAKE_INSTALL_PREFIX="$scratch/installed" || return
  cmake --build "$scratch/pace" --target install || return
  cmake -S examples/cmake -B "$scratch/build" -DCMAKE_BUILD_TYPE=Release -DCMAKE_PREFIX_PATH="$scratch/installed" || return
  cmake --build "$scratch/build" || return
  (cd "$scratch/build" && ctest --output-on-failure) || return
  # The program itself tells the LibTorch that it was compiled with.
  grep -qE "\"libtorch\": *\"${1%%+*}[^0-9]" "$scratch/build/row_norms_test.outputs/results.json" || {
    echo "expected LibTorch $1 in results.json, found: $(grep libtorch "$scratch/build/row_norms_test.outputs/results.json")"
    return 1
  }
}

export PACE_LIBTORCH=$scratch/site-packages CMAKE_GENERATOR=Ninja CMAKE_BUILD_PARALLEL_LEVEL=${JOBS:-$(nproc)}
failed=0
for version; do
  began=$SECONDS
  if [[ $version == newest ]]; then
    version=$(pip index versions torch 2>"$log" | sed -n '1s/^torch (\(.*\))$/\1/p')
    [[ -n $version ]] || { cat "$log" >&2; echo "the newest LibTorch: pip index versions torch named none" >&2; failed=1; continue; }
  fi
  rm -rf "$scratch/pace" "$scratch/build" "$scratch/installed"
  if check "$version" >"$log" 2>&1; then
    printf 'LibTorch %s: all rooms compile, and the gate passes (%d s)\n' "$version" $((SECONDS - began))
  else
    failed=1
    tail -n 60 "$log" >&2
    printf 'LibTorch %s: FAILED (%d s)\n' "$version" $((SECONDS - began))
  fi
done
exit "$failed"
