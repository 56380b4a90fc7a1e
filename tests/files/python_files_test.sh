#!/usr/bin/env bash
# benches/files on functions of Python files: right ones, and each fault that they and their files can have.
#
#   python_files_test.sh PROGRAM
set -uo pipefail
program=$1
work=${TEST_TMPDIR:?}
. tests/support/program_checks.sh
cp tests/files/functions.py "$work"
file=$work/functions.py

# compares OPTIONS...: with few rounds. Output and errors are one text without white space, since lines are wrapped.
compares() {
  run --budget 0.05 --warm-up 0.001 --max-interference 1 --allow-undecided on "$@"
  text=$(tr -d ' \n' <<<"$output$errors")
}
shows() { [[ $text == *"$(tr -d ' \n' <<<"$1")"* ]] || complain "no message: $1"; }
refuses() { ends_with 1; shows "$1"; [[ $output != *measured* ]] || complain "it ran"; }
case="two functions"
compares --trust --baseline "$file:eager" --candidate "$file:steps" --inputs "$file:several" --no-slower-than 1000 \
  --json "$work/results.json"
ends_with 0; shows "1 case, 2 implementations: 2 measured"; shows "functions.py:steps over functions.py:eager:"
holds "$work/results.json" '"name": ?"functions.py:steps"'

case="a claim that fails"
compares --trust --baseline "$file:eager" --candidate "$file:steps" --inputs "$file:several" --speedup-at-least 1000
ends_with 42; shows "as fast as the baseline"

case="code runs only with --trust"
compares --baseline "$file:eager" --candidate "$file:steps" --inputs "$file:several"
refuses "--trust was not given: $file holds a program in Python"
compares --baseline op:aten::relu --candidate op:aten::relu --inputs "$file:several"; refuses "holds a program in Python"

case="nothing runs for a list or a dry run"
printf 'open("%s", "w")\n' "$work/has_run" >"$work/writes.py"
compares --trust --baseline "$work/writes.py:f" --candidate "$work/writes.py:g" --inputs "$work/writes.py:inputs" --dry-run
ends_with 0; shows "1 case would be measured"
compares --baseline "$work/writes.py:f" --candidate "$work/writes.py:g" --inputs "$work/writes.py:inputs" --list
ends_with 0; [[ $output == inputs ]] || complain "the list is $output"
[[ ! -e $work/has_run ]] || complain "the file has run"

for inputs in single named made; do
  case="inputs: $inputs"
  compares --trust --baseline "$file:eager" --candidate "$file:steps" --inputs "$file:$inputs"; ends_with 0
done
case="nested arguments"
compares --trust --baseline "$file:nested" --candidate "$file:nested" --inputs "$file:of_nested"; ends_with 0

case="gradients, as in Python"
compares --trust --baseline "$file:with_gradient" --candidate "$file:with_gradient" --inputs "$file:several"; ends_with 0

case="an operator beside a function, on sizes of a sweep"
compares --trust --baseline op:aten::relu --candidate "$file:relu" --inputs "(T([n, 4], f32),)" --sweep n=1:4:x2
ends_with 42; shows "functions.py: has no 'relu'; it has: eager, steps"
compares --trust --baseline "$file:eager" --candidate "$file:steps" --inputs "(T([n, 4], f32),)" --sweep n=1:4:x2
ends_with 0; shows "3 cases, 6 implementations: 6 measured"

case="a process for each side"
compares --trust --baseline "$file:eager" --candidate "$file:steps" --inputs "$file:several" --isolate sides; ends_with 0
compares --trust --baseline "$file:eager" --candidate "$file:compiled_anew" --inputs "$file:several" --isolate sides
ends_with 42; shows "it was compiled again while it was timed (torch.compile"

case="several processes"
compares --trust --baseline "$file:eager" --candidate "$file:steps" --inputs "$file:several" --no-slower-than 1000 \
  --processes 2
ends_with 0; shows "process 2 of at most 2"

case="the configuration that an autotuner chose"
if "$PACE_PYTHON" -c "import triton" 2>/dev/null; then
  compares --trust --baseline "$file:eager" --candidate tests/files/tuned.py:tuned --inputs "$file:several" --verbose
  ends_with 0
  shows "'tuned.py:tuned': Triton's autotuner chose BLOCK: 64, num_warps: 2"
fi

case="a name in other letters than ASCII"
compares --trust --baseline "$file:eager" --candidate "$file:größe" --inputs "$file:several"; ends_with 0
compares --trust --baseline "$file:eager" --candidate "$file:gr€" --inputs "$file:several"
ends_with 42; shows "'gr€' is no name in a Python file"

case="a function that closes file descriptors of the program"
compares --trust --baseline "$file:eager" --candidate "$file:closes" --inputs "$file:several" --isolate sides
ends_with 42
shows "'functions.py:closes' threw: it closed file descriptors that others had opened"
compares --trust --baseline "$file:eager" --candidate "$file:closes" --inputs "$file:several" --json "$work/lost.json"
ends_with 1; shows "cannot write '$work/lost.json': Bad file descriptor"
compares --trust --baseline "$file:eager" --candidate "$file:closes_all" --inputs "$file:several"
ends_with 1; shows "the measured code closed the standard error of its process"

case="a Python that is none"
PACE_PYTHON=/nonexistent/python3 compares --trust --baseline "$file:eager" --candidate "$file:steps" \
  --inputs "$file:several"
refuses "PACE_PYTHON=/nonexistent/python3: is no program that can be run; expected the path of a python3"
PACE_PYTHON=/bin/true compares --trust --baseline "$file:eager" --candidate "$file:steps" --inputs "$file:several"
ends_with 42; shows "; expected a python3 that has torch"

case="faults of functions"
mkdir "$work/a folder"
printf 'def f(x:\n' >"$work/a folder/a syntax.py"
printf 'import sys\nsys.exit(0)\n' >"$work/exits.py"
printf 'import os\nos._exit(0)\n' >"$work/ends.py"
candidates=()
for each in wrong nothing third counting random memory generator later ends compiled_anew single absent; do
  candidates+=(--candidate "$file:$each")
done
for each in "$work/a folder/a syntax.py" "$work/exits.py" "$work/ends.py"; do candidates+=(--candidate "$each:f"); done
compares --trust --baseline "$file:eager" "${candidates[@]}" --candidate "$file:steps" --inputs "$file:several"
ends_with 42; shows "17 implementations: 2 measured"
shows "memory ran out (MemoryError: no room today (in memory, $file:"
shows "wrong: output[0]"; shows "expected 1 output, got 0"
shows "threw: ValueError: no third call (in third, $file:$(grep -n "no third call" "$file" | cut -d: -f1))"
shows "'functions.py:counting' (wrong)"; shows "'functions.py:random' (wrong)"
shows "refused: $file:generator: a generator computes only when it is read"
shows "refused: $file:later: an async function returns before it computes"
shows "threw: SystemExit: 0 (in ends, "
shows "it was compiled again while it was timed (torch.compile"
shows "$file:single: a value of the type 'Tensor' is no function"
shows "functions.py: has no 'absent'; it has: eager, steps"
shows "a syntax.py: cannot be run: SyntaxError"; shows "exits.py: cannot be run: SystemExit: 0 (line 2)"
shows "it ended the process with exit code 0"

case="inputs that are none"
compares --trust --baseline "$file:eager" --candidate "$file:steps" --inputs "$file:empty"
ends_with 42; shows "functions.py:empty: holds or returns None; expected a tuple"
compares --trust --baseline "$file:eager" --candidate "$file:steps" --inputs "$file:unmade"
ends_with 42; shows "ValueError: no inputs today (line"

compares --trust --baseline "$file:eager" --candidate "$file:steps" --inputs "$file:large"
ends_with 42; shows "functions.py:large: argument 0 holds an integer that has more than 64 bits"

case="a file without a name in it"
compares --trust --baseline "$file" --candidate "$file:steps" --inputs "$file:several"; refuses "expected FILE.py:NAME"
compares --trust --baseline "$file:eager" --candidate "$file:no-name" --inputs "$file:several"
refuses "'no-name' is no name in a Python file"
compares --trust --baseline "$file:eager" --candidate "$file:steps" --inputs "$file"; refuses "expected FILE.py:NAME"
compares --trust --baseline "$work/absent.py:f" --candidate "$file:steps" --inputs "$file:several"
refuses "absent.py:f: no such file"

((failures == 0)) || { echo "$failures failed"; exit 1; }
