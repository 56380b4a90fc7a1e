#!/usr/bin/env bash
# benches/operators on a GPU: its back ends, backward passes, both generations of operatorbench, operator_benchmark and
# traces. With PACE_PYTHON, a Python that has Triton, the back ends that Inductor compiles as well.
#
#   operators_program_test.sh PROGRAM PROGRAM_WITH_GOOGLE_BENCHMARK
set -uo pipefail
program=$1 with_google_benchmark=$2
work=$(mktemp -d "${TEST_TMPDIR:-/tmp}/operators.XXXXXX")
trap 'rm -rf "$work"' EXIT
source tests/support/program_checks.sh
export PACE_PACKAGE_CACHE=$work/packages

cat >"$work/calls.txt" <<'END'
Operator: aten.relu.default
cnt: 3, ((T([512, 1024], f16),), {})
Operator: aten.mm.default
cnt: 1, ((T([256, 256], f16), T([256, 256], f16)), {})
Operator: aten._softmax.default
cnt: 2, ((T([64, 512], f16), -1, False), {})
END
# operators OPTIONS...: on these calls. Machines are shared, so that guards may stay undecided.
on_calls=(--device cuda --dtype float16 --inp-file "$work/calls.txt")
operators() { run "${on_calls[@]}" --budget 0.05 --max-interference 1 --allow-undecided on "$@"; }
# measured FILE IMPLEMENTATION NUMBER [PATTERN]: so many results, with names that match, have a time of it.
measured() {
  local found
  found=$(awk -F, -v row="$2" -v name="${4:-]$}" '$2 == row && $1 ~ name && $4 == "measured"' "$1" | wc -l)
  ((found == $3)) || complain "$2: $found results instead of $3:"$'\n'"$(cut -d, -f1-5 "$1")"
}

case="back ends without a compiler"
operators --backends eager,torchscript,cuda_graph,torchscript_cuda_graph --csv "$work/plain.csv"
if [[ $errors == *"this machine has 0 CUDA devices"* || $errors == *"expected a CUDA GPU"* ]]; then
  echo "skipped: no GPU"
  exit 4
fi
ends_with 0
for name in eager torchscript cuda_graph torchscript_cuda_graph; do measured "$work/plain.csv" "$name" 3; done

case="a guard on a GPU is judged"
operators --backends eager,cuda_graph --op aten.mm.default --no-slower-than 1000 --csv "$work/guard.csv"
ends_with 0; [[ $output$errors == *expectation* ]] || complain "nothing was judged"

case="backward passes"
operators --bwd --backends eager,torchscript --csv "$work/backward.csv"
ends_with 0
for name in eager torchscript; do measured "$work/backward.csv" "$name" 3 '/backward$'; done
operators --fwd-bwd --backends eager,torchscript --csv "$work/both.csv"
ends_with 0
for name in eager torchscript; do measured "$work/both.csv" "$name" 3; done

case="timers of PyTorch's and Triton's in the place of pace's own clock"
for timer in do_bench do_bench_cudagraph do_bench_using_profiling inductor inductor_cudagraph profiler; do
  operators --timer "$timer" --backends eager,torchscript --op aten.mm.default --csv "$work/$timer.csv"
  ends_with 0; measured "$work/$timer.csv" torchscript 1
done

case="operator_benchmark"
run "${on_calls[@]}" --compat operator_benchmark --budget 0.001 --fwd-bwd --backends eager,torchscript
ends_with 0; prints "# Mode: JIT"
((6 == $(grep -Ec '^Forward Execution Time \(us\) : [0-9]+\.[0-9]{3}$' "$work/out"))) || complain "not six forward lines"
((6 == $(grep -Ec '^Backward Execution Time \(us\) : [0-9]+\.[0-9]{3}$' "$work/out"))) || complain "not six backward lines"

case="a trace has the activities of the device"
operators --op aten.mm.default --backends eager,cuda_graph --profile --output-dir "$work/traces"
ends_with 0
trace=$(find "$work/traces/log/operator_aten.mm.default" -name '*.pt.trace.json.gz' | head -n 1)
if [[ -z $trace ]]; then
  complain "no trace"
elif ! gzip -dc "$trace" | grep -Eq '"cat": *"kernel"'; then
  complain "the trace has no kernel"
fi

if ldd "$with_google_benchmark" | grep -q 'libbenchmark.*not found'; then
  echo "not tried, since this machine has no libbenchmark: $with_google_benchmark"
else
  case="google/benchmark has the times of the GPU, not of the host"
  theirs=$program program=$with_google_benchmark
  run "${on_calls[@]}" --backends eager,torchscript --benchmark_min_time=0.005 --budget 0.02
  program=$theirs
  ends_with 0
  time='[0-9.]+ (ns|us|ms)'
  for name in 'aten\.relu\.default\[0\]' 'aten\.mm\.default\[0\]' 'aten\._softmax\.default\[0\]'; do
    for backend in eager torchscript; do
      holds "$work/out" "^$name/$backend/manual_time +[0-9.]+ ns "
      holds "$work/out" "^$name/$backend +$time +$time +$time .* [0-9.]+x\$"
    done
  done
fi

if [[ -n ${PACE_PYTHON:-} ]] && "$PACE_PYTHON" -c 'import torch, triton' 2>/dev/null; then
  case="packages that Inductor compiles, plain and as a CUDA graph"
  operators --backends eager,aot_inductor,aot_inductor_cuda_graph --csv "$work/compiled.csv"
  ends_with 0
  for name in eager aot_inductor aot_inductor_cuda_graph; do measured "$work/compiled.csv" "$name" 3; done

  case="the new generation of operatorbench"
  run "${on_calls[@]}" --compat new --repeats 2 --output-dir "$work/new"
  ends_with 0
  table=$work/new/operatorbench_calls_float16.csv
  holds "$table" '^operator,inductor 20th,inductor 50th,inductor 80th,elapsed,eager abs,inductor abs'
  # Its lines end as Python's csv ends them.
  (($(tr -d '\r' <"$table" | grep -Ec '^aten\.[a-z_.]+(,[0-9]+\.[0-9]+){6}$') == 3)) || complain "not three rows: $(<"$table")"

  case="the old generation of operatorbench"
  run "${on_calls[@]}" --compat old --op all --repeats 2 --output-dir "$work/old"
  ends_with 0
  table=$(find "$work/old" -name 'timings_*.txt')
  (($(grep -Ec '^Inductor Speedups : \[[0-9]+\.[0-9]+, [0-9]+\.[0-9]+, [0-9]+\.[0-9]+\]$' "$table") == 3)) ||
    complain "not three lines: $(<"$table")"
else
  echo "not tried, since PACE_PYTHON names no Python with Triton: what Inductor compiles, --compat old and new"
fi

((failures == 0)) && echo "all as expected"
exit $((failures > 0))
