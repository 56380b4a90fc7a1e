#!/usr/bin/env bash
# benches/operators --count-instructions: Callgrind's counts in table, CSV and JSON, the gate on them and its exit code,
# and the refusals.
#
#   count_instructions_test.sh PROGRAM
set -uo pipefail
program=$1
work=${TEST_TMPDIR:?}
source tests/support/program_checks.sh

cat >"$work/relu.txt" <<'END'
Operator: aten.relu.default
cnt: 1, ((T([64], f32),), {})
END
counting=(--inp-file "$work/relu.txt" --backends eager,torchscript --count-instructions)

case="what times alone have is refused, before Valgrind starts"
run "${counting[@]}" --budget 0.1; ends_with 1
says "--budget has no meaning with --count-instructions: instructions are counted, and nothing is timed"
run "${counting[@]}" --no-slower-than 2; ends_with 1; says "--no-slower-than has no meaning with --count-instructions"
run --inp-file "$work/relu.txt" --count-instructions --compat new; ends_with 1; says "the original counts no instructions"

case="a limit without a count is refused"
run --inp-file "$work/relu.txt" --backends eager,torchscript --instructions-at-most 2; ends_with 1
says "--instructions-at-most has no meaning without --count-instructions"

case="an unknown counter is refused with those that there are"
run --inp-file "$work/relu.txt" --count-instructions=sand; ends_with 1; says "callgrind or perf"

case="without Valgrind the message has the remedy"
PATH=/nowhere run "${counting[@]}"; ends_with 1
says "cannot run valgrind: No such file or directory; install it (Debian: sudo apt-get install valgrind)"

if ! command -v valgrind >/dev/null; then
  echo "not counted: there is no valgrind here (Debian: sudo apt-get install valgrind)"
  exit $((failures > 0))
fi

case="a GPU and threads are refused"
run "${counting[@]}" --threads 2; ends_with 1; says "--count-instructions does not go with --threads 2"
run "${counting[@]}" --device cuda; ends_with 1; says "--device"

case="counts in every file, and no time"
mkdir "$work/scratch"
TMPDIR=$work/scratch run "${counting[@]}" --csv "$work/c.csv" --json "$work/c.json" --instructions-at-most 1000000
ends_with 0
prints "aten.relu.default[0] "
prints " instructions a call (callgrind)"
prints "x the baseline's (callgrind)"
holds "$work/c.json" '"instructions":\{"low":[1-9][0-9]+,"high":[1-9][0-9]+,"ratio_low":[0-9.]+,"ratio_high":[0-9.]+,"counter":"callgrind"\}'
holds "$work/c.csv" '^aten.relu.default\[0\],torchscript,false,measured,true,.*,[1-9][0-9]+,[1-9][0-9]+,[0-9.]+,[0-9.]+,*$'
# The counts of LibTorch's operator are some thousands: not a hundred times that, as with all that surrounds a call.
low=$(sed -n 's/^aten.relu.default\[0\],eager,.* on cpu",,,,\([0-9]*\),.*/\1/p' "$work/c.csv")
[[ -n $low ]] && ((low > 200 && low < 100000)) || complain "eager's relu took '$low' instructions"

case="nothing is left of Callgrind's files"
for _ in {1..100}; do
  [[ -n $(ls "$work/scratch") ]] || break
  sleep 0.1
done
[[ -z $(ls "$work/scratch") ]] || complain "left: $(ls "$work/scratch")"

case="outputs without elements are counted, and no reason to fail"
printf 'Operator: aten.relu.default\ncnt: 1, ((T([0, 4], f32),), {})\n' >"$work/empty.txt"
run --inp-file "$work/empty.txt" --backends eager --count-instructions --csv "$work/e.csv"; ends_with 0
holds "$work/e.csv" '^aten.relu.default\[0\],eager,true,measured,,'

case="more instructions than the limit allows fail"
run "${counting[@]}" --instructions-at-most 0.01; ends_with 42
prints "ratio of instructions of at most 0.0100000x: failed"

((failures == 0))
