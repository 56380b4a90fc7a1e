#!/usr/bin/env bash
# Variables that were left set: times that they change have no verdict and are not shown, graphs that they forbid are
# refused in words, and every results file has them.
#
#   left_set_test.sh PROGRAM
set -uo pipefail
program=$1
# shellcheck source=tests/support/gpu_checks.sh
source tests/support/gpu_checks.sh

# run VARIABLE=VALUE OPTION...: sets `code`; what it prints is in $work/out.
run() {
  local set=$1
  shift
  env "$set" "$program" --verbose --json "$work/a.json" "$@" >"$work/out" 2>&1
  code=$?
  cat "$work/out"
}
says() { tr '\n' ' ' <"$work/out" | tr -s ' ' | grep -q "$1"; }

run NOTHING=1
skip_without_gpu
check "without any the claim passes (exit code $code)" test "$code" -eq 0
check "hot times are shown" says "hot [0-9.]* us"

run CUDA_LAUNCH_BLOCKING=1
check "a claim about graphs passes (exit code $code)" test "$code" -eq 0
check "hot times are not shown" says "no hot: CUDA_LAUNCH_BLOCKING is set"
check "host times are not shown" says "no host: CUDA_LAUNCH_BLOCKING is set"
check "graph times are" says "graph [0-9.]* us"
check "the head of the table warns" says "Caution: CUDA_LAUNCH_BLOCKING=1: the host waits for each kernel"
check "the file has it" grep -q '"variables":{[^}]*"CUDA_LAUNCH_BLOCKING":"1"' "$work/a.json"

run CUDA_LAUNCH_BLOCKING=1 --clock hot
check "a claim about launches does not pass (exit code $code)" test "$code" -eq 42
check "it is undecided, with the variable and what to do" \
  says "undecided: .*CUDA_LAUNCH_BLOCKING is set.*try: unset CUDA_LAUNCH_BLOCKING"

run PYTORCH_NO_CUDA_MEMORY_CACHING=1
check "without a cache of memory nothing is measured in graphs (exit code $code)" test "$code" -eq 42
check "the error names the variable and what to do" \
  says "PYTORCH_NO_CUDA_MEMORY_CACHING is set, so LibTorch allocates from the driver.*try: unset"

run PYTORCH_NO_CUDA_MEMORY_CACHING=1 --clock hot
check "by launches it has no verdict (exit code $code)" test "$code" -eq 42
check "for the same reason" says "undecided: .*PYTORCH_NO_CUDA_MEMORY_CACHING is set, so each allocation waits"
check "and graph times are missing" says "no graph: .*PYTORCH_NO_CUDA_MEMORY_CACHING is set"
exit $((failures > 0))
