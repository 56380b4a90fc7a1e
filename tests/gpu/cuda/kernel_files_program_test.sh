#!/usr/bin/env bash
# benches/files with kernels on a GPU: images that nvcc compiled and CUDA source against operators of LibTorch, timed in
# all modes, at several sizes. A wrong kernel, and kernels that cannot be used, stand beside others that are measured.
#
#   kernel_files_program_test.sh PROGRAM
set -uo pipefail
program=$1
work=$(mktemp -d "${TEST_TMPDIR:-/tmp}/kernel_files.XXXXXX")
trap 'rm -rf "$work"' EXIT
source tests/support/program_checks.sh
images=$PWD/tests/files/images

# add_yaml IMAGE: launches add of tests/files/kernels.cu.
add_yaml() {
  cat <<END
image: $1
kernel: add
inputs:
  x: {shape: [n], dtype: f32}
  y: {shape: [n], dtype: f32}
arguments:
  - input: x
  - input: y
  - output: {shape: [n], dtype: f32}
  - {scalar: n, type: i32}
grid: ceil_div(n, 256)
block: 256
END
}
add_yaml "$images/kernels.ptx" >"$work/add.yaml"
add_yaml "$PWD/tests/files/kernels.cu" >"$work/source.yaml"
add_yaml "$images/kernels.sm_80.cubin" >"$work/other_gpu.yaml"
add_yaml "$images/kernels.ptx" | sed 's/ceil_div(n, 256)/max(1, n \/\/ 512)/' >"$work/half.yaml"
add_yaml "$images/kernels.ptx" | sed 's/type: i32/type: i64/' >"$work/wrong_list.yaml"

# compares OPTIONS...: with add of LibTorch. The text is one without white space, since lines are wrapped.
compares() {
  run --trust --device cuda --baseline op:aten::add.Tensor --inputs "(T([n], f32), T([n], f32))" --budget 0.05 \
    --max-interference 1 --allow-undecided on "$@"
  text=$(tr -d ' \n' <<<"$output$errors")
}
shows() { [[ $text == *"$(tr -d ' \n' <<<"$1")"* ]] || complain "no message: $1"; }

case="PTX and CUDA source against an operator, at three sizes"
compares --candidate "$work/add.yaml" --candidate "$work/source.yaml" --sweep n=4096:1048576:x16 --no-slower-than 1000 \
  --json "$work/results.json" --verbose
if [[ $errors == *"this machine has 0 CUDA devices"* || $errors == *"expected a CUDA GPU"* ]]; then
  echo "skipped: no GPU"
  exit 4
fi
ends_with 0; shows "3 cases, 9 implementations: 9 measured"
# In every mode, CUDA graphs among them.
shows "cold"; shows "graph"
holds "$work/results.json" '"name": ?"source.yaml"'

case="a kernel that leaves half of its output alone is wrong"
compares --candidate "$work/half.yaml" --sweep n=4096; ends_with 42; shows "half.yaml"; shows "wrong"

case="kernels that cannot be used leave the others their figures"
compares --candidate "$work/wrong_list.yaml" --candidate "$work/add.yaml" --sweep n=4096
ends_with 42; shows "wrong_list.yaml:10: key 'arguments[3]': the kernel 'add' takes 4 bytes there"; shows "2 measured"
if ! nvidia-smi --query-gpu=compute_cap --format=csv,noheader | grep -q '^8'; then
  compares --candidate "$work/other_gpu.yaml" --candidate "$work/add.yaml" --sweep n=4096
  ends_with 42; shows "the kernel is for another GPU: found sm_80"; shows "2 measured"
fi

case="a kernel that writes where it may not does not pass"
cat >"$work/crash.cu" <<'END'
extern "C" __global__ void add(const float*, const float*, float*, int) { *reinterpret_cast<volatile float*>(8) = 1; }
END
add_yaml "$work/crash.cu" >"$work/crash.yaml"
compares --candidate "$work/crash.yaml" --sweep n=4096; ends_with 42; shows "crash.yaml"; shows "the device is lost"

((failures == 0)) && echo "all as expected"
exit $((failures > 0))
