#!/usr/bin/env bash
# Operators and their inputs, recorded from a model on a GPU, and replayed there.
#
#   recorder_program_test.sh MODELS OPERATORS
set -uo pipefail
program=$1
operators=$2
work=$(mktemp -d "${TEST_TMPDIR:-/tmp}/recorder.XXXXXX")
trap 'rm -rf "$work"' EXIT
source tests/support/program_checks.sh

for mode in inference training; do
  case="recorded, $mode"
  run --small --device cuda --log-operator-inputs "--$mode" --only dlrm --output-directory "$work"
  if [[ $errors == *"CUDA devices"* || $errors == *"expected a CUDA GPU"* ]]; then
    echo "skipped: no GPU"
    exit 4
  fi
  ends_with 0
  name=$([[ $mode == training ]] && echo training || echo eval)
  holds "$work/dlrm_$name.txt" '^Operator: aten\.addmm\.default$'
  holds "$work/dlrm_$name.txt" '^cnt: [0-9]+, \(\(T\(\['
done
holds "$work/dlrm_training.txt" '^Operator: aten\.threshold_backward\.default$'

case="replayed where it was recorded"
program=$operators
run --device cuda --dtype recorded --inp-file "$work/dlrm_training.txt" --op aten.addmm.default --backends eager,cuda_graph \
  --max-samples 2 --budget 0.05 --max-interference 1 --allow-undecided on --csv "$work/replayed.csv"
ends_with 0
(($(awk -F, '$2 == "cuda_graph" && $4 == "measured" && $1 ~ /]$/' "$work/replayed.csv" | wc -l) >= 1)) ||
  complain "nothing was measured: $(cut -d, -f1-5 "$work/replayed.csv")"

((failures == 0)) && echo "all as expected"
exit $((failures > 0))
