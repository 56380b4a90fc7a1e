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
# fails_as FUNCTION MESSAGE
fails_as() {
  case=$1
  compares --trust --baseline "$file:eager" --candidate "$file:$1" --inputs "$file:several"
  ends_with 42; shows "$2"; shows "1 measured"
}

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

case="several processes"
compares --trust --baseline "$file:eager" --candidate "$file:steps" --inputs "$file:several" --no-slower-than 1000 \
  --processes 2
ends_with 0; shows "process 2 of at most 2"

fails_as wrong "wrong: output[0]"
fails_as nothing "expected 1 output, got 0"
fails_as third "threw: ValueError: no third call (in third, $file:39)"
fails_as counting "wrong: output[0]"
fails_as random "wrong: output[0]"
fails_as generator "refused: $file:generator: a generator computes only when it is read"
fails_as later "refused: $file:later: an async function returns before it computes"
fails_as ends "threw: SystemExit: 0 (in ends, "
fails_as compiled_anew "it was compiled again while it was timed (torch.compile"
fails_as calls "a int is no function"
fails_as absent "functions.py: has no 'absent'; it has: eager, steps"

case="inputs that are none"
compares --trust --baseline "$file:eager" --candidate "$file:steps" --inputs "$file:empty"
ends_with 42; shows "functions.py:empty: holds or returns None; expected a tuple"
compares --trust --baseline "$file:eager" --candidate "$file:steps" --inputs "$file:unmade"
ends_with 42; shows "ValueError: no inputs today (line"

case="files that cannot be run"
mkdir "$work/a folder"
printf 'def f(x:\n' >"$work/a folder/a syntax.py"
printf 'import sys\nsys.exit(0)\n' >"$work/exits.py"
printf 'import os\nos._exit(0)\n' >"$work/ends.py"
compares --trust --baseline "$file:eager" --candidate "$work/a folder/a syntax.py:f" --inputs "$file:several"
ends_with 42; shows "a syntax.py: cannot be run: SyntaxError"
compares --trust --baseline "$file:eager" --candidate "$work/exits.py:f" --inputs "$file:several"
ends_with 42; shows "exits.py: cannot be run: SystemExit: 0 (line 2)"
compares --trust --baseline "$file:eager" --candidate "$work/ends.py:f" --inputs "$file:several"
ends_with 42; shows "it ended the process with exit code 0"

case="a file without a name in it"
compares --trust --baseline "$file" --candidate "$file:steps" --inputs "$file:several"; refuses "expected FILE.py:NAME"
compares --trust --baseline "$file:eager" --candidate "$file:no-name" --inputs "$file:several"
refuses "'no-name' is no name in a Python file"
compares --trust --baseline "$file:eager" --candidate "$file:steps" --inputs "$file"; refuses "expected FILE.py:NAME"
compares --trust --baseline "$work/absent.py:f" --candidate "$file:steps" --inputs "$file:several"
refuses "absent.py:f: no such file"

((failures == 0)) || { echo "$failures failed"; exit 1; }
