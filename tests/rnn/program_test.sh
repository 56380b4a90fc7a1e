#!/usr/bin/env bash
# benches/rnn from the command line: its output, its files, and its messages for wrong input.
#
#   program_test.sh PROGRAM
set -uo pipefail
program=$1
work=${TEST_TMPDIR:?}
# The program under test is not the test that Bazel waits for.
unset TEST_PREMATURE_EXIT_FILE TEST_SHARD_STATUS_FILE TEST_TOTAL_SHARDS TEST_UNDECLARED_OUTPUTS_DIR XML_OUTPUT_FILE \
  TESTBRIDGE_TEST_ONLY BAZEL_TEST TEST_TIMEOUT TEST_WARNINGS_OUTPUT_FILE TEST_INFRASTRUCTURE_FAILURE_FILE
failures=0

# run_counted OPTIONS...: sets output (stdout), errors (stderr) and code. run OPTIONS...: the same with one step of
# warm-up, so that with --nloops no step depends on the time that others took.
defaults=()
run_counted() {
  "$program" --device cpu --seqLength 5 --input-size 4 --hidden_size 6 --miniBatch 3 "${defaults[@]}" "$@" >"$work/out" 2>"$work/err" </dev/null
  code=$?
  output=$(<"$work/out") errors=$(<"$work/err")
}
run() {
  defaults=(--warmup 1)
  run_counted "$@"
  defaults=()
}
fails() { ((code != 0)) || complain "exit code 0"; }
succeeds() { ((code == 0)) || complain "exit code $code"; }
# Without white space, since lines are wrapped.
squeezed() { tr -d ' \n' <<<"$1"; }
prints() { [[ $(squeezed "$output") == *"$(squeezed "$1")"* ]] || complain "not printed: $1"; }
says() { [[ $(squeezed "$errors$output") == *"$(squeezed "$1")"* ]] || complain "no message: $1"; }
# holds FILE PATTERN: a line of the file matches.
holds() { grep -Eq -- "$2" "$1" || complain "${1##*/} has no line like $2:"$'\n'"$(head -c 2000 "$1")"; }
complain() {
  printf '%s: %s\n%s\n%s\n\n' "$case" "$1" "$output" "$errors"
  failures=$((failures + 1))
}

case="runners side by side, paired with aten, in both tables"
run --group rnns --rnns jit py jit_simple --nloops 4 --json "$work/results.json"; succeeds
prints "lstm/forward"; prints "lstm/backward"; prints "simple/backward"
says "Benchmarking LSTMs..."
for runner in aten jit py aten_simple jit_simple; do
  holds "$work/err" "^ +$runner( +[0-9.e-]+){2} +None( +[0-9.e-]+){2} +None$"
done
holds "$work/results.json" '"name": *"lstm/backward"'

case="what would be measured, without a measurement"
run --group rnns --rnns jit py jit_simple --list; succeeds
[[ $output == $'lstm\nsimple' ]] || complain "other names"
run --group rnns --rnns jit py jit_simple --dry-run --json "$work/dry.json"; succeeds
prints "lstm aten, jit, py"; prints "2 cases would be measured"; prints "would write $work/dry.json"
[[ $errors != *Benchmarking* && ! -e $work/dry.json ]] || complain "it ran"
run --group rnns --rnns jit py jit_simple --case simple --nloops 4; succeeds
prints "simple/forward"; [[ $output != *lstm* ]] || complain "it ran another"
run --group rnns --rnns jit --case teapot --nloops 4; fails; says "no comparison is called 'teapot'; expected one of 'lstm'"
run --group rnns --rnns jit --dry-run --compat; fails; says "--dry-run does not go together with --compat: fastrnns' loop has its own measuring"
run --group rnns --rnns py --list --print-json; fails
says "--print-json does not go together with --list: which measure nothing"

case="another baseline, which is in the list itself"
run --group rnns --rnns py jit --baseline-runner py --nloops 4; succeeds;
prints "jit over py"

case="JSON alone on the standard output, one object"
run --group rnns --rnns py jit --nloops 3 --print-json; succeeds
[[ $output =~ ^\{\"lstm\":\ \{\"aten\":\ [0-9.e-]+,\ \"py\":\ [0-9.e-]+,\ \"jit\":\ [0-9.e-]+\},\ \"lstm-backward\":\ \{.*\}\}$ ]] ||
  complain "not the JSON that fastrnns prints"

case="JSON, a line for each time"
run --group rnns --rnns py --nloops 3 --print-json pep; succeeds
(($(grep -c '^Caffe2Observer {"type": "NET", "metric": "lstm-py", "unit": "ms", "value": "' "$work/out") >= 3)) ||
  complain "fewer lines than steps"

case="steps are counted, whatever time they take"
run_counted --group rnns --rnns py --nloops 600 --warmup 3 --print-json pep --json "$work/counted.json"; succeeds
(($(grep -c '^Caffe2Observer' "$work/out") == 2 * 2 * 600)) || complain "expected 600 steps of both, forward and backward"
holds "$work/counted.json" '"warm_up_iterations": *3'

case="fastrnns' own loop: exactly so many steps, and no other baseline"
run_counted --group rnns --rnns py --nloops 7 --warmup 1 --compat --print-json pep; succeeds
(($(grep -c '^Caffe2Observer' "$work/out") == 14)) || complain "expected 7 lines forward and 7 backward"
[[ $output != *aten* ]] || complain "a runner that was not asked for"
case="fastrnns' own loop has cuDNN's runners on the CPU, too, and records operators"
run_counted --group rnns --nloops 1 --warmup 0 --compat --print-json --log-operator-inputs "$work/of_loop"; succeeds
[[ $output == '{"lstm": {"cudnn": '*'"py": '*'"lstm-backward": {"cudnn": '* ]] || complain "not all of fastrnns' runners"
holds "$work/of_loop/py_training.txt" '^Operator: aten.mm.default$'
case="fastrnns' own loop: weights that a loop does not read have no gradient, which it says, or with JSON does not"
run_counted --group rnns --rnns aten py --numLayers 2 --nloops 1 --warmup 0 --compat; fails
says "runner 'py': parameter 4 has no gradient after the backward step; expected one for each of its 8 parameters"
run_counted --group rnns --rnns aten py --numLayers 2 --nloops 1 --warmup 0 --compat --print-json; succeeds
[[ $output == '{"lstm": {"aten": '*'}, "lstm-backward": {"aten": '*'}}' && $output != *py* ]] || complain "not aten alone"
[[ $errors != *gradient* ]] || complain "a word of the runner that failed"
case="fastrnns' own loop: runners that fastrnns makes on a GPU fail on the CPU when it is their turn"
run_counted --group rnns --rnns py jit_layernorm aten --nloops 1 --warmup 0 --compat; fails
says "fastrnns makes jit_layernorm on a GPU, whatever the device is; expected cuda, found cpu"
holds "$work/err" '^ +py '; [[ $errors != *" aten "*[0-9]" "*None* ]] || complain "the next one ran"
run_counted --group rnns --rnns jit_layernorm cudnn_layernorm jit_dropout --nloops 1 --warmup 0 --compat --print-json
succeeds; [[ $output == '{"lstm": {}, "lstm-backward": {}}' ]] || complain "not the JSON of no runner"
case="fastrnns' own loop: any word after --print-json, lists of groups that do not run, a table's separator for JSON"
run_counted --group rnns --rnns py --cnns resnet18 --nloops 1 --warmup 0 --compat --print-json xml --sep x; succeeds
[[ -z $output && $errors != *Benchmarking* ]] || complain "something is printed"
run_counted --group none --nloops 1 --warmup 0 --compat --print-json --cuda-pointwise-block-size 32; succeeds
[[ $output == "{}" ]] || complain "not the JSON of no group"
case="fastrnns' own loop: the device is cuda unless another is named"
"$program" --group rnns --rnns py --nloops 1 --warmup 0 --seqLength 2 --compat >"$work/out" 2>"$work/err" </dev/null
code=$? output=$(<"$work/out") errors=$(<"$work/err")
if [[ $errors != *"device='cuda'"* ]]; then
  fails; says "with --compat cuda is the default as in fastrnns; expected --device cpu beside it where there is no GPU"
fi
case="fastrnns' own loop takes no options of comparisons"
for option in "--no-slower-than 1.1" "--baseline-runner py" "--json $work/empty.json" "--budget 3"; do
  run_counted --group rnns --rnns jit --nloops 1 --compat $option; fails
  says "${option%% *} does not go together with --compat"; [[ $errors != *Benchmarking* ]] || complain "it ran"
done
[[ ! -e $work/empty.json ]] || complain "a file without results"

case="convolutional networks and sequences of different lengths"
run --group cnns --cnns resnet18 resnet18_jit --images 2 --image-side 64 --dry-run; succeeds; prints "resnet18, resnet18_jit"
run --group none --variable-lstms --dry-run; succeeds; says "vl_cudnn runs on a GPU only"; prints "vl_py"

case="images that a runner cannot be made for: LibTorch's words, no stack"
run --group cnns --cnns resnet18 resnet18_jit --images 1 --image-side 32 --nloops 2; fails
says "Expected more than 1 value per channel when training"; [[ $output$errors != *"frame #1"* ]] || complain "a stack"
case="a group that fails costs those before it no results"
run --group cnns rnns --rnns py --cnns resnet18 --images 1 --image-side 32 --nloops 2 --print-json; fails
says "Expected more than 1 value per channel when training"; [[ $output == '{"lstm": {"aten": '* ]] || complain "the times of the first group are lost"

case="forwards alone"
run_counted --group rnns --rnns py --inference --compat --nloops 2 --warmup 0 --print-json; succeeds
run --group rnns --rnns py jit --inference --nloops 3; succeeds; prints "jit over aten"

case="a step with an optimiser: a phase of its own, with gradients that the backward allocates"
run --group rnns --rnns py jit --nloops 3 --optimizer adam --optimizer-code fused --set-to-none; succeeds
prints "lstm/update"; prints "jit over aten"

case="recorded operators"
run --group rnns --rnns py --nloops 2 --log-operator-inputs "$work/recorded"; succeeds
holds "$work/recorded/py_training.txt" '^Operator: aten.mm.default$'
holds "$work/recorded/py_training.txt" 'sigmoid_backward'

case="unknown runner, before anything runs"
run --rnns aten warp; fails; says "warp"; says "jit_premul_bias"; [[ $errors != *Benchmarking* ]] || complain "it ran"
case="sizes of nothing"
run --hiddenSize 0; fails; says "--hidden-size: invalid value '0'; expected a whole number from 1 to 1000000"
run --seq-length -3; fails; says "--seq-length: invalid value '-3'; expected a whole number from 1 to 1000000"
case="more layers than a runner has"
run --group rnns --rnns aten jit --numLayers 2; fails; says "--numLayers: jit has 1 layer and no more; expected 1, found 2"
run --group rnns --rnns jit_multilayer --num_layers 2 --nloops 2; succeeds; prints "jit_multilayer over aten"
case="no GPU"
run --group rnns --rnns cudnn; fails; says "cudnn runs on a GPU only; aten is the same module"
run --group rnns --rnns py_graph; fails; says "captured in CUDA graphs"
run --group rnns --device cuda:0; fails
case="another word after --print-json"
run --print-json xml; fails; says "--print-json: invalid value 'xml'; expected oss or pep, or with --compat any word"
run --group rnns --rnns py --print-json --processes 2; fails; says "--print-json does not go with --processes"
case="a baseline that nothing is compared with"
run --group rnns --rnns py --baseline-runner resnet18; fails; says "none of the runners that were asked for is compared with"
case="what would have no effect, or nowhere to go"
run --group rnns --rnns py --tf32 on; fails; says "products on the CPU have no TF32"
run --group rnns --rnns py --isolate sides; fails; says "--isolate sides: the phases of a step are timed inside"
run --group rnns --rnns py --packages "$work/nowhere"; fails; says "--packages: there is no folder"
touch "$work/file"
run --group rnns --rnns py --log-operator-inputs "$work/file"; fails; says "--log-operator-inputs: cannot write to the folder"
run --group rnns --rnns aten --no-slower-than 1.1; fails
says "--no-slower-than has nothing to judge: there are baselines alone (aten); expected a runner"
run --group rnns --rnns aten --peak-memory-at-most 1.1; fails
says "--peak-memory-at-most has nothing to judge: there are baselines alone (aten); expected a runner"
run --group rnns --rnns py --nloops 4 --peak-memory-at-most 0.001 --max-interference 1; fails; says "bytes at once in one call"
run --group rnns --rnns py --no-slower-than inf; fails; says "--no-slower-than: invalid value 'inf'"
for options in "--group rnns --cnns resnet18" "--group cnns --rnns py" "--group rnns --rnns py --packages $work" \
  "--group rnns --rnns py --print-json --sep x" "--group rnns --rnns py --cuda-pointwise-loop-level 1" \
  "--group rnns --rnns py --image-side 64" "--group rnns --rnns py --clock graph" "--group rnns --rnns py --mode-share 0.1" \
  "--group rnns --rnns py --call-timeout 5" "--group rnns --rnns py --fuser none" "--group rnns --rnns py --executor legacy"; do
  run $options; [[ $code == 1 ]] || complain "exit code $code"; says "has no meaning"
done
case="numbers that mean nothing"
for options in "--images 9000000000000000000" "--nloops 0" "--seq-length 10000000" "--no-slower-than 1e-320" \
  "--confidence 0.9999999999" "--threads 100000"; do
  run --group rnns --rnns py $options; [[ $code == 1 ]] || complain "exit code $code"; says "${options%% *}: "
done
case="a compiled runner of TorchScript"
run --group rnns --rnns jit_aot_inductor; fails; says "expected a plain runner before _aot_inductor"
case="a runner slower than it may be"
run --group rnns --rnns py --nloops 400 --no-slower-than 0.000001 --max-interference 1; fails; says "slower"

((failures == 0)) && echo "all as expected"
exit $((failures > 0))
