#!/usr/bin/env bash
# Operator calls under google/benchmark and by pace, side by side.
#
#   google_benchmark_test.sh PROGRAM PROGRAM_WITH_CASES_OF_ITS_OWN
set -uo pipefail
program=$1 own=$2
work=${TEST_TMPDIR:?}
source tests/support/program_checks.sh

cat >"$work/calls.txt" <<'END'
Operator: aten.mm.default
cnt: 1, ((T([32, 32], f32), T([32, 32], f32)), {})
Operator: aten.add_.Tensor
cnt: 1, ((T([64], f32), T([64], f32)), {})
Operator: aten.relu.default
cnt: 1, ((T([64], f32), 1, 2), {})
END
quick=(--inp-file "$work/calls.txt" --benchmark_min_time=0.005 --budget 0.02)
time='[0-9.]+ (ns|us|ms)'

case="both figures of each back end"
run "${quick[@]}" --op aten.mm.default,aten.add_.Tensor; ends_with 0
for name in 'aten\.mm\.default\[0\]' 'aten\.add_\.Tensor\[0\]'; do
  for backend in eager torchscript; do
    holds "$work/out" "^$name/$backend/real_time +[0-9.]+ ns .* [0-9.]+[kMG]?/s +[0-9.]+[kMG]?/s\$"
    holds "$work/out" "^$name/$backend +$time +$time +$time .* [0-9.]+x\$"
  done
done
holds "$work/out" '^case/back end +google/benchmark +pace, mean'
holds "$work/out" '^Benchmark .* FLOP/s +bytes_per_second$'

case="a call that cannot be run is an error in both, and the program fails"
run "${quick[@]}" --op aten.relu.default --backends eager; ends_with 1
holds "$work/out" '^aten\.relu\.default\[0\]/eager.*ERROR'
holds "$work/out" '^aten\.relu\.default\[0\]/eager +- +refused'

case="a filter: pace measures and prints what google/benchmark ran"
run "${quick[@]}" --benchmark_filter='mm.*/eager'; ends_with 0
holds "$work/out" "^aten\.mm\.default\[0\]/eager +$time +$time +$time .* [0-9.]+x\$"
for left_out in torchscript add_ relu; do [[ $output != *"$left_out"* ]] || complain "$left_out was not left out"; done
run "${quick[@]}" --benchmark_filter=teapot; ends_with 1; says "no benchmark was run"

case="repetitions have one mean, and so has their aggregate alone"
for only in false true; do
  run "${quick[@]}" --op aten.mm.default --benchmark_repetitions=2 --benchmark_report_aggregates_only=$only; ends_with 0
  holds "$work/out" "^aten\.mm\.default\[0\]/eager +$time +$time +$time .* [0-9.]+x\$"
done

case="a list is no measurement"
run "${quick[@]}" --op aten.mm.default --benchmark_list_tests; ends_with 0
[[ $output == $'aten.mm.default[0]/eager/real_time\naten.mm.default[0]/torchscript/real_time' ]] || complain "another list"

case="declared cases of one type"
theirs=$program program=$own
run --benchmark_list_tests --op aten.relu.default --dtype f64 --backends eager; ends_with 0
[[ $output == $'aten.relu.default[relu_M8_N16_dtypef64_cpu]/eager/real_time\naten.relu.default[relu_M64_N64_dtypef64_cpu]/eager/real_time' ]] ||
  complain "another list"
run --benchmark_list_tests --op aten.relu.default --backends eager; ends_with 0; prints dtypef32; prints dtypef64
run --dtype int3; ends_with 1; says "--dtype: expected float32"
program=$theirs

case="what cannot be"
run "${quick[@]}" --backends eager,teapot; ends_with 1; says "unknown back end 'teapot'"
run "${quick[@]}" --op aten.nosuch.default; ends_with 1; says "the recorded inputs have no operator"
run "${quick[@]}" --teapot; ends_with 1; says "--teapot"
run "${quick[@]}" --device teapot; ends_with 1; says "--device: expected cpu"

((failures == 0)) && echo "all as expected"
exit $((failures > 0))
