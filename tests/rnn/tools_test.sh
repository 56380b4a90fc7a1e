#!/usr/bin/env bash
# The tools beside the bench from the command line, on the real runners.
#
#   tools_test.sh CHECK_RNNS COMPARE_FASTRNNS TEST_BENCH
set -uo pipefail
check_rnns=$1 compare_fastrnns=$2 test_bench=$3
work=${TEST_TMPDIR:?}
failures=0

# run PROGRAM OPTIONS...: sets output and code.
run() {
  output=$("$@" 2>&1 </dev/null)
  code=$?
}
fails() { ((code == 1)) || complain "exit code $code instead of 1"; }
succeeds() { ((code == 0)) || complain "exit code $code"; }
says() { [[ $output == *"$1"* ]] || complain "no message: $1"; }
complain() {
  printf '%s: %s\n%s\n\n' "$case" "$1" "$output"
  failures=$((failures + 1))
}
small="--device cpu --seqLength 5 --inputSize 6 --hidden_size 7 --mini-batch 3"

case="the runners that are checked by default"
run "$check_rnns" $small; succeeds
says "testing jit_premul..."; says "testing jit..."; says "Checking grads..."

case="a runner that does not take the sizes"
run "$check_rnns" $small --numLayers 2 --rnns jit jit_multilayer; fails
says "check_rnns: jit: "; says "jit has 1 layer"; says "testing jit_multilayer..."

case="an unknown runner: nothing is run"
run "$check_rnns" $small --rnns jit warp; fails
says "--rnns: there is no runner 'warp'; expected some of aten, "
[[ $output != *testing* ]] || complain "something was run"

case="two runs, from the shell's folder"
printf '{"lstm": {"aten": 2.0}, "lstm-backward": {}}' >"$work/base.json"
printf '{"lstm": {"aten": 3.0}}' >"$work/diff.json"
run env BUILD_WORKING_DIRECTORY="$work" "$compare_fastrnns" base.json diff.json --format csv; succeeds
says $'name, base time (s), diff time (s), % change\nlstm[aten]:fwd, 0.002000, 0.003000, 50.00%'

case="halves of steps, compared between two fusers"
for fuser in old te; do
  "$test_bench" $small --rnns aten jit --cnns none --fuser $fuser >"$work/$fuser.json" 2>"$work/log" ||
    complain "test_bench --fuser $fuser failed: $(cat "$work/log")"
done
run "$compare_fastrnns" "$work/old.json" "$work/te.json"; succeeds
for name in "fastrnns[aten]:fwd" "fastrnns[aten]:bwd" "fastrnns[jit]:fwd" "fastrnns[jit]:bwd"; do says "| $name "; done
[[ $output != *nan* ]] || complain "a time is missing"

case="results that are printed to a closed or a full standard output"
for out in '>&-' '>/dev/full'; do
  for tool in "$compare_fastrnns $work/base.json $work/diff.json" "$check_rnns $small --rnns jit" \
    "$test_bench $small --rnns aten --cnns none"; do
    run bash -c "$tool $out"; fails; says "output is closed or full"
  done
done
case="numbers that mean nothing"
for tool in "$check_rnns" "$test_bench"; do
  run "$tool" --device cpu --hidden-size 9000000000000000000; fails; says "expected a whole number from 1 to 1000000"
done

case="no such file"
run "$compare_fastrnns" "$work/nowhere.json" "$work/diff.json"; fails
says "nowhere.json: cannot be read"

((failures == 0)) && echo "all as expected"
exit $((failures > 0))
