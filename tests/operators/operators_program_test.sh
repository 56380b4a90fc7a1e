#!/usr/bin/env bash
# benches/operators from the command line, with input that is wrong in every way it can be. Each time a message names
# the mistake and the expected input, the exit code is not 0, and nothing is lost that could be measured.
#
#   operators_program_test.sh PROGRAM
set -uo pipefail
program=$1
work=${TEST_TMPDIR:?}
# The program under test is not the test that Bazel waits for.
unset TEST_PREMATURE_EXIT_FILE TEST_SHARD_STATUS_FILE TEST_TOTAL_SHARDS TEST_UNDECLARED_OUTPUTS_DIR XML_OUTPUT_FILE \
  TESTBRIDGE_TEST_ONLY BAZEL_TEST TEST_TIMEOUT TEST_WARNINGS_OUTPUT_FILE TEST_INFRASTRUCTURE_FAILURE_FILE
failures=0

# run OPTIONS...: sets output and code.
run() {
  [[ $* == *--backends* ]] || set -- --backends eager,torchscript "$@"
  output=$("$program" --budget 0.005 --warm-up 0.001 "$@" 2>&1 </dev/null)
  code=$?
}
fails() { ((code != 0)) || complain "exit code 0"; }
# Before anything is measured.
refuses() { ((code == 1)) || complain "exit code $code, expected 1"; [[ $output != *"2 measured"* ]] || complain "it ran"; }
succeeds() { ((code == 0)) || complain "exit code $code"; }
# Without white space, since lines are wrapped, if need be in the middle of a path.
squeezed() { tr -d ' \n' <<<"$1"; }
says() { [[ $(squeezed "$output") == *"$(squeezed "$1")"* ]] || complain "no message: $1"; }
complain() {
  printf '%s: %s\n%s\n\n' "$case" "$1" "$output"
  failures=$((failures + 1))
}

good='cnt: 1, ((T([64], f32),), {})'
printf 'Operator: aten.relu.default\n%s\n' "$good" >"$work/good.txt"

case="good input"
run --inp-file "$work/good.txt"; succeeds; says "aten.relu.default[0]"; says "2 measured"

case="unknown operator, by its overload's neighbours"
run --op aten.relu.Tensor --inp-file "$work/good.txt"; refuses
says "--op: the recorded inputs have no operator 'aten.relu.Tensor'; it has aten.relu.default"

case="an operator that LibTorch does not have"
printf 'Operator: aten.no_such_thing.default\n%s\n' "$good" >"$work/unknown.txt"
run --inp-file "$work/unknown.txt"; fails; says "aten.no_such_thing"

case="malformed line: file, line, column, what was expected; the other lines are measured"
mkdir "$work/suite"
printf 'Operator: aten.relu.default\n%s\ncnt: 1, ((T([64, f32),), {})\n' "$good" >"$work/suite/malformed.txt"
for given in --inp-file="$work/suite/malformed.txt" --suite-dir="$work/suite"; do
  run "$given"; ((code == 1)) || complain "exit code $code"
  says "1 of the lines and files of the inputs could not be read and were left out"
  says "left out: $work/suite/malformed.txt:3:18: aten.relu.default: expected a size, found 'f32"
  says "1 case, 2 implementations: 2 measured"
done
printf 'Operator: aten.relu.default\ncnt: 1, ((T([64, f32),), {})\n' >"$work/nothing.txt"
run --inp-file "$work/nothing.txt"; fails

case="results take the place of no inputs"
for given in --inp-file="$work/good.txt" --suite-dir="$work/suite"; do
  file=${given#*=}
  [[ ! -d $file ]] || file=$file/malformed.txt
  cp "$file" "$work/before"
  run "$given" --csv "$file"; refuses; says "--csv: this file is read; expected another name"
  cmp -s "$file" "$work/before" || complain "$file was changed"
done

case="unknown back end"
run --backends eager,warp --inp-file "$work/good.txt"; fails
says "unknown back end 'warp'; known: eager, torchscript, aot_inductor, cuda_graph, "

case="a limit that no back end is held to"
for backends in eager torchscript; do
  run --inp-file "$work/good.txt" --backends "$backends" --no-slower-than 1.01; fails
  says "--no-slower-than has nothing to judge: --backends names the baseline alone ('$backends')"
done
run --inp-file "$work/good.txt" --backends eager --peak-memory-at-most 1; fails
says "--peak-memory-at-most has nothing to judge: --backends names the baseline alone ('eager')"
run --inp-file "$work/good.txt" --backends eager; succeeds
run --inp-file "$work/good.txt" --no-slower-than 100 --allow-undecided on; succeeds

case="a candidate holds as much memory at once as eager does, and not a tenth of it"
run --inp-file "$work/good.txt" --peak-memory-at-most 1 --no-slower-than 100 --allow-undecided on; succeeds
run --inp-file "$work/good.txt" --peak-memory-at-most 0.1 --no-slower-than 100 --allow-undecided on
((code == 42)) || complain "exit code $code"
says "bytes at once in one call, and 'eager'"

case="no time at all is no failure, and nothing measured"
run --inp-file "$work/good.txt" --time-limit 1e-9
((code == 4)) || complain "exit code $code"
run --inp-file "$work/good.txt" --time-limit 1e-9 --allow-undecided on --allow-unmeasured on; succeeds

case="a back end named twice"
run --backends eager,torchscript,eager --inp-file "$work/good.txt"; fails; says "--backends: 'eager' is named twice"

case="two back ends of one name"
run --inductor-config simd --inductor-config simd --inp-file "$work/good.txt"; fails
says "a back end named 'aot_inductor[simd]' is already registered"

case="a configuration that Inductor does not know, and one that this build lacks"
run --inductor-config fast --inp-file "$work/good.txt"; fails; says "--inductor-config: expected one of halide, autotune"
run --inductor-config halide --inp-file "$work/good.txt"; fails; says "aot_inductor[halide] refused on 1 of 1"

case="a suite of nothing that can be read says what each file lacks"
mkdir -p "$work/odd/directory.txt"; mkfifo "$work/odd/pipe.txt"
run --suite-dir "$work/odd"; refuses
says "left out: $work/odd/pipe.txt: is a pipe, not a regular file; expected recorded operator inputs"
says "left out: $work/odd/directory.txt: is a folder; expected recorded operator inputs"

case="a pipe without a writer, and one whose writer takes a moment"
PACE_PIPE_TIMEOUT=0 run --inp-file "$work/odd/pipe.txt"; fails; says "pipe.txt: is a pipe that no program writes to"
PACE_PIPE_TIMEOUT=soon run --inp-file "$work/odd/pipe.txt"; fails; says "PACE_PIPE_TIMEOUT: invalid value 'soon'"
run --inp-file <(sleep 0.3; cat "$work/good.txt"); succeeds; says "aten.relu.default[0]"
{ sleep 0.3; cat "$work/good.txt" >"$work/odd/pipe.txt"; } &
run --inp-file "$work/odd/pipe.txt"; succeeds; says "aten.relu.default[0]"
wait

case="escape characters never reach the terminal"
escape=$'\e[31m'
printf 'Operator: aten.relu.default\ncnt: 1, ((T([64, f32),), {})\n' >"$work/${escape}.txt"
run --inp-file "$work/$escape.txt"; fails; says '\x1b[31m.txt:2:18'
[[ $output != *$'\e'* ]] || complain "an escape character"
printf 'Operator: aten.relu.default\ncnt: 1, ((T([64], f32),), {"\\x1b[31m": 1})\n' >"$work/key.txt"
run --inp-file "$work/key.txt"; fails; [[ $output != *$'\e'* ]] || complain "an escape character"

case="what an operator leaves uninitialised is timed, and nothing to fail for"
printf 'Operator: aten.new_empty.default\n%s\n' 'cnt: 1, ((T([64], f32), [300]), {})' >"$work/empty.txt"
run --inp-file "$work/empty.txt" --max-interference 1; succeeds; says "unchecked"
run --inp-file "$work/empty.txt" --max-interference 1 --accuracy-checking; succeeds; says "unchecked"

case="outputs without elements, and those that are NaN throughout, are timed, and nothing to fail for"
printf 'Operator: aten.relu.default\n%s\n' 'cnt: 1, ((T([0, 4], f32),), {})' >"$work/without.txt"
run --inp-file "$work/without.txt" --max-interference 1; succeeds; says "unchecked"
printf 'Operator: aten.fmod.Scalar\n%s\n' 'cnt: 1, ((T([64], f32), 0.0), {})' >"$work/nan.txt"
run --inp-file "$work/nan.txt" --max-interference 1; succeeds; says "unchecked"

case="where something is asked of outputs, or of times, a run that compares none fails, and names the calls"
for options in --accuracy-checking "--no-slower-than 100" "--accuracy-checking --case aten.relu.default[0]"; do
  run --inp-file "$work/without.txt" $options; ((code == 42)) || complain "exit code $code"
  says "${options%% *}: no outputs were compared, so that nothing is shown of them:"
  says "aten.relu.default[0]: they have no elements"
done
run --inp-file "$work/nan.txt" --accuracy-checking; ((code == 42)) || complain "exit code $code"
says "aten.fmod.Scalar[0]: they are NaN throughout"
run --inp-file "$work/without.txt" --accuracy-checking false; succeeds

case="beside calls whose outputs are compared, those without elements are nothing to fail for"
printf 'Operator: aten.relu.default\n%s\n%s\n' 'cnt: 1, ((T([0, 4], f32),), {})' "$good" >"$work/some.txt"
run --inp-file "$work/some.txt" --accuracy-checking; succeeds; says "unchecked"; says "2 cases, 4 implementations: 4 measured"

case="an output that waits for a reader"
mkfifo "$work/operatorbench_good_float32.csv"
output=$(timeout 60 "$program" --compat new --device cpu --inp-file "$work/good.txt" --output-dir "$work" 2>&1)
code=$?; fails; says "no program reads from this pipe"
rm "$work/operatorbench_good_float32.csv"

case="a missing file is refused, and so is a path that is no file"
for path in "$work/none.txt" "$work" /dev/null /dev/zero "$work/good.txt/none" "$program"; do
  run --inp-file "$path"; refuses; says "$path"
done
for path in /dev/null "$work/good.txt" "$work/odd/pipe.txt"; do run --suite-dir "$path"; refuses; says "$path"; done

case="a suite with members that are no files: the others are measured, and the run fails"
mkdir -p "$work/mixed/folder.txt"; mkfifo "$work/mixed/pipe.txt"; ln -s /dev/null "$work/mixed/null.txt"
cp "$work/good.txt" "$work/mixed/"
run --suite-dir "$work/mixed"; ((code == 1)) || complain "exit code $code"; says "2 measured"
says "3 of the lines and files of the inputs could not be read and were left out"
for name in folder pipe null; do says "left out: $work/mixed/$name.txt"; done

case="samples beyond the last"
run --inp-file "$work/good.txt" --start-idx 1; refuses; says "$work/good.txt: nothing to replay: --op all, --start-idx 1"

case="inputs without a call are named"
for content in "" "Operator: aten.relu.default" "Operator: aten.relu.default"$'\n'"cnt: 1.5, ((T([64], f32),), {})"; do
  printf '%s\n' "$content" >"$work/none_left.txt"
  run --inp-file "$work/none_left.txt"; refuses; says "pace: $work/none_left.txt: "
done

case="numbers that mean nothing"
for options in "--no-slower-than inf" "--no-slower-than 1e-320" "--no-slower-than nan" "--no-slower-than 0" \
  "--confidence 1e-320" "--confidence 0.99999999999999999" "--confidence nan" "--confidence=-1" "--threads 100000" \
  "--max-samples 0" "--start-idx=-1" "--repeats 0" "--dtype int3"; do
  run --inp-file "$work/good.txt" $options; refuses; says "${options%%[ =]*}:"
done

case="a start that fails, and a run that finds nothing, leave files and folders as they were"
mkdir "$work/new"
run --suite-dir "$work/none" --output-dir "$work/new/a/b"; fails
run --suite-dir "$work/odd" --output-dir "$work/new/a"; fails
run --inp-file "$work/good.txt" --output-dir "$work/new/a" --json "$work/new/x" --csv "$work/new/x"; fails
run --inp-file "$work/good.txt" --output-dir "$work/new/a" --resume --device warp; fails
run --inp-file "$work/unknown.txt" --output-dir "$work/new/a" --compat new --device cpu --op aten.none.default; fails
[[ -z $(ls -A "$work/new") ]] || complain "left: $(find "$work/new")"

case="missing directory"
run --suite-dir "$work/none"; refuses; says "$work/none"

case="directory without recorded inputs"
mkdir "$work/empty"
run --suite-dir "$work/empty"; refuses; says "expected files named *.txt"

case="nothing left by the skip rules"
printf 'Operator: aten.embedding.default\ncnt: 1, ((T([4, 2], f32), T([3], i64)), {})\n' >"$work/skipped.txt"
run --inp-file "$work/skipped.txt" --skip-rules upstream; refuses; says "nothing to replay"
run --inp-file "$work/skipped.txt"; succeeds; says "aten.embedding.default[0]"; says "2 measured"

case="unknown skip rules"
run --inp-file "$work/skipped.txt" --skip-rules some; fails; says "--skip-rules: invalid value 'some'; expected none or upstream"

case="random operators draw the same numbers on every back end"
printf 'Operator: aten.bernoulli_.float\ncnt: 1, ((T([64], f32), 0.5), {})\n' >"$work/random.txt"
run --inp-file "$work/random.txt"; succeeds; says "2 measured"

case="a filter that matches no test"
run --inp-file "$work/good.txt" nosuchtest; fails; says "No test cases matched"

case="too large for the memory, sparse, and one that can be measured"
printf 'Operator: aten.relu.default\n%s\n%s\n%s\n' 'cnt: 1, ((T([4000000000, 400000], f32),), {})' \
  'cnt: 1, ((ST([3], f32, torch.sparse_coo, False, nnz=1),), {})' "$good" >"$work/refused.txt"
run --inp-file "$work/refused.txt"; fails
says "refused.txt:2:"; says "not enough memory"; says "refused.txt:3:"; says "sparse"
says "3 cases, 6 implementations: 2 measured, 4 refused"

case="a type that no operator is replayed in"
run --inp-file "$work/good.txt" --dtype int3; fails; says "--dtype: expected float32"

case="a device that is not there"
run --inp-file "$work/good.txt" --device warp; fails; says "--device: expected"

printf 'Operator: aten.relu.default\n%s\nOperator: aten.neg.default\n%s\n' "$good" "$good" >"$work/two.txt"
case="--list: the names of the cases, and no measurement"
run --list --inp-file "$work/two.txt"; succeeds
[[ $output == $'aten.neg.default[0]\naten.relu.default[0]' || $output == $'aten.relu.default[0]\naten.neg.default[0]' ]] ||
  complain "other names"
for plan in --list --dry-run; do
  run $plan --inp-file "$work/suite/malformed.txt"; refuses; says "left out: $work/suite/malformed.txt:3:18"
  says "aten.relu.default[0]"; says "pace: 1 of the lines and files of the inputs could not be read and were left out"
done

case="--dry-run: what would be measured, how long, and to which files, which stay as they are"
mkdir "$work/dry"
run --dry-run --inp-file "$work/two.txt" --op all --output-dir "$work/dry"; succeeds
says "aten.relu.default[0] eager, torchscript 7.00 ms standard"; says "2 cases would be measured"
says "would write $work/dry/operatorbench_two_float32.csv"; says "dry run: nothing was measured"
[[ $output != *"2 measured"* && -z $(ls "$work/dry") ]] || complain "it ran"
run --dry-run --inp-file "$work/two.txt" --audit strict; says "aten.relu.default[0] eager, torchscript 7.00 ms strict"
run --dry-run --inp-file "$work/two.txt" --backends eager,warp; refuses; says "unknown back end 'warp'"
run --dry-run --inp-file "$work/nonexistent.txt"; refuses

case="a dry run fails for what the run would refuse, as far as that shows without a measurement"
printf 'Operator: aten.relu.default\n%s\ncnt: 1, ((T([4000000000, 4000000], f32),), {})\n' "$good" >"$work/large.txt"
for plan in "" --dry-run; do
  run $plan --inp-file "$work/large.txt"; fails; says "large.txt:3:9: aten.relu.default: not enough memory for the inputs"
  run $plan --inp-file "$work/unknown.txt"; fails; says "this LibTorch has no operator 'aten.no_such_thing.default'"
done
run --dry-run --inp-file "$work/large.txt" --case 'aten.relu.default[0]'; succeeds

case="a file whose name is not UTF-8 can be gone on from"
cp "$work/good.txt" "$work/"$'na\xefve.txt'
run --inp-file "$work/"$'na\xefve.txt' --json "$work/naive.json"; succeeds; says "2 measured"
run --inp-file "$work/"$'na\xefve.txt' --json "$work/naive.json" --resume; succeeds
says "1 results of an earlier run are kept"
run --inp-file "$work/"$'na\xefve.txt' --json "$work/naive.json" --resume --save-baseline "$work/stored.json"; refuses
says "--resume: does not go with --baseline or --save-baseline; expected it without these"

case="--case: that one alone"
run --case 'aten.relu.default[0]' --inp-file "$work/two.txt"; succeeds; says "1 case, 2 implementations: 2 measured"
[[ $output != *aten.neg* ]] || complain "it ran another"
run --case 'aten.relu.default[1]' --inp-file "$work/two.txt"; fails
says "--case: no comparison is called 'aten.relu.default[1]'"

case="what PyTorch's own loop runs cannot be listed beforehand"
for option in --list --dry-run --case=x; do
  output=$("$program" "$option" --compat new --inp-file "$work/two.txt" 2>&1 </dev/null) code=$?
  refuses; says "does not go with --compat, whose loop is PyTorch's own"
done

case="the line that repeats a failure runs that case alone"
# On a busy machine the guards are undecided, which has such a line as well.
run --inp-file "$work/two.txt" --op aten.neg.default,aten.relu.default --no-slower-than 0.001 --seed 5 \
  --csv "$work/two.csv"; fails
command=$(grep -A1 '^pace: to ' <<<"$output" | tail -1)
[[ $command == *"--case 'aten."*"--seed 5"*"--no-slower-than 0.001"* && $command != *two.csv* ]] || complain "the line is $command"
output=$(bash -c "$command" 2>&1 </dev/null) code=$?
fails; says "1 case, 2 implementations: 2 measured"; says "--seed 5"

case="a call that throws names its line, and a refused or unchecked call beside it is repeated, too"
printf 'Operator: aten.mm.default\n%s\n%s\n%s\n' 'cnt: 1, ((T([4, 5], f32), T([4, 5], f32)), {})' \
  'cnt: 1, ((ST([3], f32, torch.sparse_coo, False, nnz=1),), {})' 'cnt: 1, ((T([4, 4], f32), T([4, 4], f32)), {})' \
  >"$work/beside.txt"
run --inp-file "$work/beside.txt" --max-interference 1; fails; says "1 threw"
says "cannot be multiplied (4x5 and 4x5) (aten.mm.default at $work/beside.txt:2:9)"
for number in 0 1; do says "--case 'aten.mm.default[$number]' --seed"; done
[[ $output != *"--case 'aten.mm.default[2]'"* ]] || complain "it repeats what has passed"

((failures == 0)) && echo "all as expected"
