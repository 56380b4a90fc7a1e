#!/usr/bin/env bash
# One file of torch.export becomes a table of back ends; the package is compiled once.
#
#   files_compile_test.sh PROGRAM
set -uo pipefail
program=$1
work=${TEST_TMPDIR:?}
pair=benches/files/two_layers
. tests/support/program_checks.sh
export PACE_PACKAGE_CACHE=$work/packages
mkdir -m 700 "$work/packages"
options=(--trust --baseline $pair.pt2 --budget 0.005 --warm-up 0.001 --max-interference 1 --allow-undecided on)

case="a program for any batch is compiled once for all cases"
run "${options[@]}" --inputs "(T([batch, 64], f32), T([64], f32))" --sweep batch=4,32 --verbose
ends_with 0; prints "2 cases, 4 implementations: 4 measured"; prints "aot_inductor over nativert:"; prints "AOTInductor compiled"
says "pace: compiled 1 of 1"

case="a package that is there is not compiled again"
run "${options[@]}" --inputs $pair.inputs.pt
ends_with 0; prints "1 case, 2 implementations: 2 measured"
[[ $errors != *compiled* ]] || complain "it was compiled again"

case="a package that pace has compiled takes arguments by the names of its program"
run "${options[@]}" --inputs "((), {'scale': T([64], f32), 'x': T([8, 64], f32)})"
ends_with 0; prints "1 case, 2 implementations: 2 measured"

case="a package that was damaged since is compiled anew"
for package in "$work"/packages/*/*.pt2 "$work"/packages/*.pt2; do [[ ! -f $package ]] || printf 'no package' >"$package"; done
run "${options[@]}" --inputs $pair.inputs.pt
ends_with 0; prints "1 case, 2 implementations: 2 measured"; says "pace: compiled 1 of 1"

case="without a Python there is a row that says so"
PACE_PACKAGE_CACHE=$work/other PACE_PYTHON=/nonexistent run "${options[@]}" --inputs $pair.inputs.pt
ends_with 42; prints "refused"; prints "/nonexistent"

((failures == 0)) && echo "all as expected"
