#!/usr/bin/env bash
# benches/models compiles the contents of files: a step of TorchScript with its backward, and an exported program for
# any batch, which is compiled once.
#
#   file_models_compile_test.sh PROGRAM
set -uo pipefail
program=$1
work=${TEST_TMPDIR:?}
pair=benches/files/two_layers
source tests/support/program_checks.sh
export PACE_PACKAGE_CACHE=$work/kept
mkdir -m 700 "$work/kept"

model() { run --device cpu --output-directory "$work" --no-progress --trust --inputs $pair.inputs.pt --output r.csv "$@"; }
has_row() { holds "$work/r.csv" "$1"; }

case="a training step of TorchScript"
model --accuracy --training --backend aot_inductor --model $pair.pt; ends_with 0
has_row '^cpu,two_layers.pt,32,pass,'; says "pace: compiled 1 of 1"

case="an exported program beforehand, frozen, into a folder of packages"
run --compile-to "$work/packages" --performance --inference --backend aot_inductor --freezing --device cpu --trust \
  --model $pair.pt2 --inputs $pair.inputs.pt
ends_with 0; says "pace: compiled 1 of 1"
PACE_PYTHON=/nonexistent model --accuracy --inference --backend aot_inductor --freezing --packages "$work/packages" \
  --model $pair.pt2
ends_with 0; has_row '^cpu,two_layers.pt2,32,pass,'; [[ $errors != *compiled* ]] || complain "it was compiled again"

case="an exported program runs with batches of several sizes by one package"
model --performance --inference --backend aot_inductor,nativert --freezing --packages "$work/packages" --repeat 3 \
  --max-interference 1 --dynamic-batch-only --batch-size 10 --model $pair.pt2
ends_with 0; [[ $errors != *compiled* ]] || complain "it was compiled again"
for backend in aot_inductor nativert; do has_row "^cpu,two_layers.pt2,10,.*,10 8 9 11 12,passed,$backend$"; done

case="without a Python there is a row that says so"
PACE_PYTHON=/nonexistent model --accuracy --inference --backend aot_inductor --model $pair.pt2
ends_with 42; has_row '^cpu,two_layers.pt2,32,fail_to_run,'; prints "/nonexistent"

((failures == 0)) && echo "all as expected"
exit $((failures > 0))
