#!/usr/bin/env bash
# The architectures that --//:cuda_arch compiles a pace_cuda_library for, by cuobjdump, and its refusals. It needs no
# GPU. Without the CUDA toolkit there is nothing to look at, as in tests/build/gpu_folder.sh.
set -uo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.." || exit 1
# shellcheck source=tests/build/arguments.sh
source tests/build/arguments.sh
take_no_arguments "$@"

# The toolkit's, or the one that came with LibTorch's Python.
# shellcheck source=third_party/setup/needs.sh
here=$PWD/third_party source third_party/setup/needs.sh
needs_check_environment
for cuobjdump in "${CUDA_HOME:-/usr/local/cuda}"/bin/cuobjdump \
  "$libtorch_home"/venv/lib/python3*/site-packages/triton/backends/nvidia/bin/cuobjdump; do
  [[ ! -x $cuobjdump ]] || break
done
[[ -x ${CUDA_HOME:-/usr/local/cuda}/bin/nvcc ]] || {
  echo "cuda_arch.sh: there is no CUDA toolkit, so that nothing is compiled for GPUs here"
  exit 0
}
[[ -x $cuobjdump ]] || {
  echo "cuda_arch.sh: there is no $cuobjdump, and none in the CUDA toolkit; code for GPUs cannot be read" >&2
  exit 1
}
problems=()
problem() { problems+=("$1"); printf '%s\n%s\n' "${output:-}" "$1"; }
run_bazel() { third_party/bazel "$@" --noshow_progress --ui_event_filters=-info; }

# compiles EXPECTED LIBRARY [FLAG...]: the machine code and the PTX in its object.
compiles() {
  local expected=$1 library=$2 found
  shift 2
  output=$(run_bazel build "$@" "//tests/gpu/cuda:${library}_objects" 2>&1) || problem "$library $*: does not compile"
  found=$({ "$cuobjdump" --list-elf "$object/${library}_objects/$library.cu.o"; "$cuobjdump" --list-ptx "$object/${library}_objects/$library.cu.o"; } 2>/dev/null |
    sed -nE 's/.*\.(sm_[0-9a-z]+)\.(cubin|ptx)$/\1.\2/p' | sort | xargs)
  [[ $found == "$expected" ]] || problem "$library $*: expected $expected, found $found"
}
refuses() {
  output=$(run_bazel build "$1" //tests/gpu/cuda:scale_objects 2>&1) && problem "$1: expected a failure"
  [[ $output == *"$2"* ]] || problem "$1: expected: $2"
}

object=$(third_party/bazel info bazel-bin 2>/dev/null)/tests/gpu/cuda
compiles "sm_90.cubin sm_90.ptx" scale
compiles "sm_100.cubin sm_100.ptx sm_80.cubin sm_90.cubin" scale --//:cuda_arch=sm_80,sm_90,sm_100
# cuobjdump leaves the letter out. The PTX of sm_90a would be for that GPU alone.
compiles "sm_80.cubin sm_80.ptx sm_90.cubin" scale --//:cuda_arch=sm_80,sm_90a
compiles "sm_80.cubin" other_architecture --//:cuda_arch=sm_90
refuses --//:cuda_arch=hopper "'hopper' is no architecture of a GPU; expected such as sm_80"
refuses --//:cuda_arch=sm_30 "compiles nothing for sm_30; expected some of sm_"
refuses --//:cuda_arch= "no architecture is given"

((${#problems[@]} == 0)) || { printf 'FAILED: %s\n' "${problems[@]}" >&2; exit 1; }
echo "--//:cuda_arch compiles for the architectures that it names, and for newer GPUs"
