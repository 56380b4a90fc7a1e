#!/usr/bin/env bash
# benches/operators on a whole suite, from the command line: its table and JSON, progress, resuming, isolation, both
# generations of operatorbench, and their options in both spellings.
#
#   operators_suite_test.sh PROGRAM PROGRAM_WITH_OPERATORS_OF_ITS_OWN
set -uo pipefail
program=$(realpath "$1")
own=$(realpath "$2")
root=$PWD
work=${TEST_TMPDIR:?}/suite
mkdir -p "$work/logs/timm_train"
# The program under test is not the test that Bazel waits for.
unset TEST_PREMATURE_EXIT_FILE TEST_SHARD_STATUS_FILE TEST_TOTAL_SHARDS TEST_UNDECLARED_OUTPUTS_DIR XML_OUTPUT_FILE \
  TESTBRIDGE_TEST_ONLY BAZEL_TEST TEST_TIMEOUT TEST_WARNINGS_OUTPUT_FILE TEST_INFRASTRUCTURE_FAILURE_FILE
failures=0

# run OPTIONS...: sets output and code. Within so short a time, on a busy machine, guards may stay undecided. As a
# generation of the original, options that it has no counterpart of are refused.
run() {
  [[ $* == *--compat* ]] || set -- --budget 0.005 --warm-up 0.001 --max-interference 1 --allow-undecided on "$@"
  output=$(cd "$root" && "$program" "$@" 2>&1 </dev/null)
  code=$?
}
expect_code() { [[ $code == "$1" ]] || complain "exit code $code, expected $1"; }
squeezed() { tr -d ' \n' <<<"$1"; }
says() { [[ $(squeezed "$output") == *"$(squeezed "$1")"* ]] || complain "no message: $1"; }
silent() { [[ $(squeezed "$output") != *"$(squeezed "$1")"* ]] || complain "a message: $1"; }
holds() { grep -q -- "$2" "$1" || complain "$1 does not hold: $2"$'\n'"$(head -c 2000 "$1")"; }
has_results() {
  [[ $(grep -c '^{"name"' "$1") == "$2" ]] || complain "expected $2 results in the JSON: $(cut -c1-80 "$1")"
}
complain() {
  printf '%s: %s\n%s\n\n' "$case" "$1" "$output"
  failures=$((failures + 1))
}

cat >"$work/logs/timm_train/a_training.txt" <<'END'
Operator: aten.relu.default
cnt: 3, ((T([64, 64], f16),), {})
cnt: 1, ((T([2, 3, 8, 8], f16),), {})
Operator: aten.add_.Tensor
cnt: 2, ((T([64, 64], f16), T([64, 64], f16)), {})
END
cat >"$work/logs/timm_train/b_training.txt" <<'END'
Operator: aten.gather.default
cnt: 5, ((T([64, 64], f16), 1, T([64, 64], i64)), {})
Operator: aten.relu.default
cnt: 4, ((T([64, 64], f16),), {})
END
out=$work/out
table=$out/operatorbench_timm_float32.csv
json=$out/operatorbench_timm_float32.json

case="a suite by its name"
run --suite timm --suite-dir "$work/logs" --backends eager,torchscript,static_runtime --op aten.relu.default,aten.gather.default --verbose
expect_code 0; says "aten.gather.default[0]"; silent "Wrote"
run --suite timm --suite-dir "$work/logs" --backends eager,torchscript --output-dir "$out" --verbose
expect_code 0
says "timm, float32: 3 operators, 3 ran, 0 refused or failed"; says "Wrote $table"; says "weighted by recorded calls"
says "The baseline writes to operand tensor 0 (counted from 0), so each call of a sample"
holds "$table" '^operator,torchscript 20th,torchscript 50th,torchscript 80th,elapsed (s),eager abs (ms),torchscript abs (ms),calls,'
[[ $(wc -l <"$table") == 4 ]] || complain "expected three rows below the header: $(<"$table")"
# 3 + 4 calls of one text, 1 of the other.
grep '^aten.relu.default,' "$table" | cut -d, -f8,9 | grep -qx 8,2 ||
  complain "expected 8 calls and 2 samples of aten.relu.default: $(<"$table")"
has_results "$json" 4

case="resumed: nothing is measured again"
run --suite timm --suite-dir "$work/logs" --backends eager,torchscript --output-dir "$out" --resume
expect_code 0; says "4 results of an earlier run are kept"; says "4 cases, 8 implementations: 8 measured"
silent "us ["
has_results "$json" 4
[[ $(wc -l <"$table") == 4 ]] || complain "the table has changed: $(<"$table")"

case="resumed with other options: refused"
run --suite timm --suite-dir "$work/logs" --backends eager,torchscript --output-dir "$out" --resume --max-samples 1
expect_code 1; says "--max-samples: \"15\" there, '1' here"
run --suite timm --suite-dir "$work/logs" --backends eager,torchscript --output-dir "$out" --resume --fuser none
expect_code 1; says "--fuser: nothing there, 'none' here"
run --suite timm --suite-dir "$work/logs" --backends eager,torchscript --output-dir "$out" --resume --reuses-outputs
expect_code 1; says "--reuses-outputs: nothing there, '' here"

case="resumed with other inputs in files of the same names: refused"
sed -i 's/^cnt: 4,/cnt: 5,/' "$work/logs/timm_train/b_training.txt"
run --suite timm --suite-dir "$work/logs" --backends eager,torchscript --output-dir "$out" --resume
expect_code 1; says "content of inputs"
sed -i 's/^cnt: 5, ((T(\[64, 64\], f16),), {})/cnt: 4, ((T([64, 64], f16),), {})/' "$work/logs/timm_train/b_training.txt"
run --suite timm --suite-dir "$work/logs" --backends eager,torchscript --output-dir "$out" --resume
expect_code 0; says "4 results of an earlier run are kept"

case="a suite that is not there"
run --suite torchbench --suite-dir "$work/logs"; expect_code 1; says "expected a folder torchbench_train in one of: $work/logs"
run --suite resnet; expect_code 1; says "--suite: invalid value 'resnet'; expected timm, huggingface or torchbench"

case="an output folder that cannot be written"
run --suite timm --suite-dir "$work/logs" --backends eager --output-dir /proc/none; expect_code 1; says "/proc/none"
run --suite timm --suite-dir "$work/logs" --backends eager --op aten.relu.default --profile --output-dir /proc/none; expect_code 1; says "/proc/none"

case="channels last, start and number of samples"
run --suite timm --suite-dir "$work/logs" --backends eager,torchscript --op aten.relu.default --channels-last --start_idx 1 --max_samples 1 --verbose
expect_code 0; says "aten.relu.default[1]"; says "strides [192, 1, 24, 3]"; says "1 case, 2"

case="accuracy alone"
run --suite timm --suite-dir "$work/logs" --backends eager,torchscript --op aten.relu.default --accuracy-checking True --verbose
expect_code 0; says "(2 rounds of"
run --suite timm --suite-dir "$work/logs" --backends eager,torchscript --op aten.relu.default --accuracy-checking False --repeats 3 --verbose
expect_code 0; says "(6 rounds of"

case="TorchScript for nvFuser, in the spellings of both generations"
run --suite timm --suite-dir "$work/logs" --backends eager --op aten.relu.default --measure-nvfuser
expect_code 0; says "torchscript"
says "2 cases, 4 implementations"
run --suite timm --suite-dir "$work/logs" --op aten.relu.default --backends eager --no-measure-nvfuser; expect_code 0
run --fuser nvfuser; [[ $code != 0 ]] || complain "exit code 0"; says "this LibTorch has no nvFuser"

case="traces"
run --suite timm --suite-dir "$work/logs" --backends eager,torchscript --op aten.relu.default --profile --output-dir "$out"
expect_code 0
trace=("$out"/log/operator_aten.relu.default/*.pt.trace.json.gz)
gzip -dc "${trace[0]}" >"$work/trace.json" || complain "no compressed trace"
trace=("$work/trace.json")
holds "${trace[0]}" iter_1; holds "${trace[0]}" rep_0; holds "${trace[0]}" model_1

case="options that say nothing in their mode are refused, and name both"
for option in "--backends eager" "--category softmax" "--no-slower-than 2" "--peak-memory-at-most 2" "--budget 1" "--warm-up 1" "--processes 2" \
  "--save-baseline $work/b.json" "--clock wall" "--max-interference 0.5" "--fuser none" "--least-duration 1" \
  "--check-seed 3" "--isolate sides" "--tag short" "--audit strict"; do
  run --compat new --device cpu $option; expect_code 1; says "${option% *} has no meaning with --compat"
done
run --compat new --device cpu --skip-rules none; expect_code 1; says "--skip-rules none has no meaning with --compat"
for option in "--no-slower-than 2" "--repeats 2" "--mode-share 0.1"; do
  run --accuracy-checking $option; expect_code 1; says "${option% *} has no meaning with --accuracy-checking"
done
for option in "--clock wall" "--mode-share 0.1" "--profile" "--inductor-config simd" "--isolate sides"; do
  run --bwd $option; expect_code 1; says "${option% *} has no meaning with --bwd"
done
for option in "--repeats 2" "--no-slower-than 2" "--peak-memory-at-most 2" "--clock wall" "--accuracy-checking" "--profile" \
  "--audit strict"; do
  run --compat operator_benchmark $option; expect_code 1
  says "${option% *} has no meaning with --compat operator_benchmark"
done
for option in "--clock wall" "--mode-share 0.1" "--isolate sides"; do
  run --timer benchmark_cpu $option; expect_code 1; says "${option% *} has no meaning with --timer"
done
run --bwd --timer benchmark_cpu; expect_code 1; says "--timer has no meaning with --bwd"
run --timer do_bench; expect_code 1; says "--timer do_bench does not time on --device cpu; expected benchmark_cpu there"
run --compat new --device cpu --bwd; expect_code 1; says "--bwd has no meaning with --compat"
run --bwd --backends eager,static_runtime; expect_code 1; says "--backends: 'static_runtime' has no backward pass"
run --bwd --fwd-bwd; [[ $code != 0 ]] || complain "exit code 0"; says "one asks for the backward pass, the other for both"
run --compat operator_benchmark --backends eager,static_runtime; expect_code 1; says "found 'static_runtime'"
run --repeats 2 --max-rounds 4; expect_code 1; says "--max-rounds has no meaning with --repeats"
run --fuser none --backends eager,static_runtime; expect_code 1
says "--fuser has no meaning with --backends eager,static_runtime"
run --repeats 9999999999; [[ $code != 0 ]] || complain "exit code 0"; says "a whole number from 1 to 1000000"

run --suite timm --suite-dir "$work/logs" --op aten.relu.default --backends eager,torchscript --output-dir "$out"; expect_code 1
says "--output-dir has no meaning here, since nothing is written there"
run --no-slower-than 2 --backends eager; expect_code 1; says "--no-slower-than has nothing to judge: --backends names the baseline alone"
for option in "--clock graph" "--clock cold" "--mode-share 0.1" "--call-timeout 5 --isolation off"; do
  run --backends eager,torchscript $option; expect_code 1; says "${option%% *}"; says "has no meaning"
done
for option in freezing freezing=1 max_autotune=1,freezing=True; do
  run --inductor-config $option; expect_code 1; says "is refused: tensors and parameters are inputs of packages"
done

case="both generations of operatorbench, without a compiler: each sample an error line, no operator a row"
PACE_PYTHON=/nonexistent/python run --compat new --suite timm --suite-dir "$work/logs" --device cpu --output-dir "$out/new"
expect_code 42; says "error aten.relu.default input 1: Unsupported: "; says "3 samples could not be run"
says "--compat: as PyTorch's operatorbench.py, but: operators are called from C++"; silent "implementation   median"
says "Skipping aten.gather.default, input generator nyi"
holds "$out/new/operatorbench_timm_float32.csv" '^operator,inductor 20th,inductor 50th,inductor 80th,elapsed,eager abs,inductor abs'
run --compat old --suite timm --suite-dir "$work/logs" --device cpu; expect_code 1; says "--op: must be given"
run --compat old --suite timm --suite-dir "$work/logs" --device cpu --op all --dtype bfloat16; expect_code 1
says "--dtype: expected float16 or float32"
run --compat newest; [[ $code != 0 ]] || complain "exit code 0"; says "invalid value 'newest'; expected old, new or operator_benchmark"

case="as upstream: malformed lines are told, results go to files, the threads are LibTorch's, nothing measured is no success"
mkdir -p "$work/bad"
cp "$work/logs/timm_train/a_training.txt" "$work/bad/good.txt"
printf 'Operator: aten.relu.default\ncnt: 1, ((T([64, f32),), {})\n' >"$work/bad/malformed.txt"
OMP_NUM_THREADS=2 PACE_PYTHON=/nonexistent/python run --compat new --suite-dir "$work/bad" --device cpu --output-dir "$out/new" --json "$out/compat.json"
expect_code 42; says "left out: $work/bad/malformed.txt:2:18:"; says "3 samples could not be run"
says "1 of the lines and files of the inputs could not be read and were left out"
holds "$out/compat.json" '"libtorch_threads":"2"'; holds "$out/compat.json" '"--compat":"new"'
has_results "$out/compat.json" 3
run --compat new --suite timm --suite-dir "$work/logs" --device cpu --op aten.gather.default; expect_code 1
says "nothing would be measured: --op aten.gather.default"
run --compat new --suite timm --suite-dir "$work/logs" --device cpu --start-idx 9; expect_code 1; says "--start-idx 9"
run --compat new --suite timm --suite-dir "$work/logs" --device cpu --op aten.relu.Tensor; expect_code 1; says "--op: expected all"
mkdir -p "$out/taken/operatorbench_timm_float32.csv"
for options in "--compat new" "--backends eager,torchscript --dtype float32"; do
  run $options --suite timm --suite-dir "$work/logs" --device cpu --output-dir "$out/taken"; expect_code 1
  says "operatorbench_timm_float32.csv"; says "Is a directory"
done

case="cases and implementations of another source file: one right, one wrong, one that crashes"
theirs=$program program=$own
run --backends eager,mine --isolation on --output-dir "$out" --verbose
expect_code 42
says "aten.relu.default[relu_M8_N16_dtypef32_cpu]"; says "Double[64, 64]"; silent "_cuda"
says "aten.tanh.default[tanh_M8]: crashed: the process was killed by signal 11"; says "a fresh process goes on"
says "aten.exp.default: took"; says "mine wrong on 1 of 1"; says "mine crashed on 1 of 1"
says "6 cases, 12 implementations: 10 measured, 1 wrong, 1 crashed"
holds "$out/operatorbench_declared_recorded.csv" 'aten.tanh.default,.*mine crashed on 1 of 1'
run --backends eager,mine --op aten.relu.default --dtype f64 --start-idx 1
expect_code 0; says "relu_M64_N64_dtypef64_cpu"; says "1 case, 2 implementations: 2 measured"
run --backends eager,one_buffer --op aten.relu.default --dtype f64 --start-idx 1 --verbose
expect_code 42; says "a later call overwrites output tensor 0"
run --backends eager,one_buffer --op aten.relu.default --dtype f64 --start-idx 1 --verbose --reuses-outputs
expect_code 0; says "as declared (reuses_outputs)"
run --reuses-outputs --compat new
expect_code 1; says "--reuses-outputs has no meaning with --compat"
run --backends eager,mine --category pointwise --op aten.relu.default; [[ $code != 0 ]] || complain "exit code 0"

case="backward passes of declared and of recorded calls"
run --backends eager,mine --op aten.relu.default --dtype f32 --bwd --no-slower-than 1000
expect_code 0; says "relu_M8_N16_dtypef32_cpu_bwdall"; says "relu_M8_N16_dtypef32_cpu_bwd1"; says "12 cases, 24 implementations: 24 measured"
run --backends eager,torchscript --suite-dir "$work/logs/timm_train" --op aten.relu.default,aten.add_.Tensor --fwd-bwd --json "$out/both.json"
expect_code 0; says "Skipping aten.add_.Tensor[0]: aten.add_.Tensor has no backward pass: it writes to its operands"
says "1 operators, 1 ran, 0 refused or failed, 1 left out"
holds "$out/both.json" '"name":"aten.relu.default\[0\]/backward"'

case="a timer of PyTorch's in the place of pace's own clock"
run --timer benchmark_cpu --backends eager,mine --op aten.relu.default --dtype f32 --max-samples 1 --json "$out/timer.json"
expect_code 0; says "1 case, 2 implementations: 2 measured"; holds "$out/timer.json" '"clock":"benchmark_cpu"'

case="operator_benchmark: its lines, its modes, its cases"
run --compat operator_benchmark --budget 0.0001 --op aten.relu.default --dtype f32 --max-samples 1 --fwd-bwd \
  --backends eager,torchscript --json "$out/times.json"
expect_code 0; says "# Benchmarking PyTorch: relu"; says "# Mode: JIT"
says "# Name: relu_M8_N16_dtypef32_cpu
# Input: M: 8, N: 16, dtype: f32, device: cpu
Forward Execution Time (us) : "
says "# Name: relu_M8_N16_dtypef32_cpu_bwdall"; says "Backward Execution Time (us) : "
has_results "$out/times.json" 3

case="operator_benchmark: numbers of iterations and runs, lines for programs, operators by their letters"
few=(--compat operator_benchmark --iterations 3 --warmup-iterations 1 --backends eager --dtype f32 --max-samples 1)
run "${few[@]}" --operator-range q-s --num-runs 2; expect_code 0
says "Run: 0, Forward Execution Time (us) : "; says "Run: 1, Forward Execution Time (us) : "
says "# Benchmarking PyTorch: relu"; silent "# Benchmarking PyTorch: exp"; silent "Run: 2"
run "${few[@]}" --operator-range r --report-aibench --min-time-per-test 0.01; expect_code 0; silent "Execution Time (us)"
(($(grep -c '^PyTorchObserver {"type":"PyTorch_relu_M8_N16_dtypef32_cpu_Eager","metric":"latency","unit":"ms","value":"[0-9.e-]*"}$' <<<"$output") > 2)) ||
  complain "expected a line for each of several batches"
run "${few[@]}" --budget 1; expect_code 1; says "--budget has no meaning with --iterations"
run "${few[@]}" --instructions-at-most 2; expect_code 1; says "--instructions-at-most has no meaning without --count-instructions"
for letters in 3 c-a a-; do run --operator-range $letters; expect_code 1; says "--operator-range: invalid value '$letters'"; done
run --operator-range z --backends eager; expect_code 1; says "--operator-range z"
for option in "--iterations 2" "--num-runs 2" "--report-aibench"; do
  run $option; expect_code 1; says "${option% *} has no meaning without --compat operator_benchmark"
done
run --compat new --device cpu --operator-range a; expect_code 1; says "--operator-range has no meaning with --compat"

case="operator_benchmark: what has no backward pass is no error, also of a run that goes on"
printf 'Operator: aten.argmax.default\ncnt: 1, ((T([8], f32),), {})\n' >"$work/argmax.txt"
for resumed in "" --resume; do
  run --compat operator_benchmark --iterations 2 --warmup-iterations 0 --backends eager --inp-file "$work/argmax.txt" --fwd-bwd \
    --json "$out/argmax.json" $resumed
  expect_code 0; says "Skipping aten.argmax.default[0_bwd]: aten.argmax.default has no backward pass"
  has_results "$out/argmax.json" 1
done

case="names of what would be measured"
run --list --operator-range r --dtype f64; expect_code 0
[[ $output == $'aten.relu.default[relu_M8_N16_dtypef64_cpu]\naten.relu.default[relu_M64_N64_dtypef64_cpu]' ]] || complain "other cases"
run --list --op aten.none.default; expect_code 1; says "have no operator 'aten.none.default'"

case="a timer of PyTorch's on a call that writes to its operand"
run --timer benchmark_cpu --backends eager,torchscript --suite-dir "$work/logs/timm_train" --op aten.add_.Tensor \
  --json "$out/timer_in_place.json"
expect_code 0; says "1 case, 2 implementations: 2 measured"; silent "wrong"
holds "$out/timer_in_place.json" '"clock":"benchmark_cpu"'

case="a pipe is read once, and is there for the process that goes on after a crash, and for each of several"
mkdir "$work/calls"
printf 'Operator: aten.tanh.default\ncnt: 1, ((T([8], f32),), {})\nOperator: aten.relu.default\ncnt: 1, ((T([8], f32),), {})\n' \
  >"$work/calls/crash.txt"
run --backends eager,mine --inp-file <(cat "$work/calls/crash.txt") --op aten.tanh.default,aten.relu.default
expect_code 42; says "a fresh process goes on"; says "mine crashed on 1 of 1"
says "2 cases, 4 implementations: 3 measured, 1 crashed"
mkfifo "$work/calls/named"
cat "$work/calls/crash.txt" >"$work/calls/named" &
run --backends eager,mine --inp-file "$work/calls/named" --op aten.tanh.default,aten.relu.default
expect_code 42; says "2 cases, 4 implementations: 3 measured, 1 crashed"
wait
run --backends eager,mine --inp-file <(cat "$work/calls/crash.txt") --op aten.relu.default --processes 3 --no-slower-than 1000
expect_code 0; says "process 2 of at most 3"

case="a run that is ended before its first result leaves no folder and no file"
printf 'Operator: aten.cos.default\ncnt: 1, ((T([8], f32),), {})\n' >"$work/calls/ended.txt"
for isolation in on off; do
  run --backends eager,mine --inp-file "$work/calls/ended.txt" --output-dir "$work/ended/a" --csv "$work/ended.csv" \
    --junit "$work/ended.xml" --isolation "$isolation"
  expect_code 143
  [[ -z $(ls -d "$work"/ended* 2>/dev/null) ]] || complain "left: $(find "$work"/ended*)"
done
program=$theirs

case="several processes have a table each, also below Bazel's outputs, where a relative folder lies"
suite=(--suite timm --suite-dir "$work/logs" --backends eager,torchscript --op all --max-samples 1 --no-slower-than 1000 --processes 3)
run "${suite[@]}" --output-dir "$work/several"; expect_code 0
for name in operatorbench_timm_float32-1.csv operatorbench_timm_float32-2.csv; do
  holds "$work/several/$name" '^aten.relu.default,'; holds "$work/several/${name%csv}json" '"name":"aten.relu.default'
done
[[ ! -e $work/several/operatorbench_timm_float32.csv ]] || complain "a table without a number"
mkdir "$work/outputs"
# Of the shipped inputs few operators have so many samples.
TEST_UNDECLARED_OUTPUTS_DIR=$work/outputs run --backends eager,torchscript --op all --start-idx 12 --max-samples 1 \
  --no-slower-than 1000 --processes 2 --output-dir tables
expect_code 0
for type in csv json; do
  [[ -s $work/outputs/tables/operatorbench_pace_train_float32-1.$type ]] || complain "no $type: $(find "$work/outputs")"
done
[[ -s $work/outputs/results-1.csv && ! -e $work/outputs/results.csv ]] || complain "no CSV: $(find "$work/outputs")"

case="as many samples of the shipped set as are asked for"
run --backends eager,torchscript --category softmax --max-samples 1; expect_code 0
run --backends eager --category softmax --max-samples 1; expect_code 0
says "aten._softmax.default[0]"; silent "aten._softmax.default[1]"
run --backends eager,torchscript --category softmax; expect_code 0; says "aten._softmax.default[1]"
silent "aten._softmax.default[2]"

case="categories of the shipped set"
run --backends eager,torchscript --category softmax,pooling; expect_code 0
says "aten._softmax.default[0]"; says "aten.avg_pool2d.default[0]"; silent "aten.mm.default"
run --category softmax,hardmax; expect_code 1; says "no category 'hardmax' in the default set; expected all, or some of pointwise"

((failures == 0)) && echo "all as expected"
exit $((failures > 0))
