#!/usr/bin/env bash
# `git bisect run` with tools/bisect/step.sh, on a repository with a planted regression: bisect_test.sh STEP
set -uo pipefail
step=$PWD/$1
work=${TEST_TMPDIR:?}
program=$step
source tests/support/program_checks.sh
export HOME=$work GIT_CONFIG_NOSYSTEM=1
git config --global user.email test@example.com
git config --global user.name test
git config --global init.defaultBranch main

# new_repository FIRST_SLOW: twelve commits. From the one of that number on the work takes twice as many steps. The
# count of `measure` shows it, and `measure` ends as a program of pace ends.
new_repository() {
  cd "$work" && rm -rf repository && mkdir repository && cd repository || exit 1
  git init -q
  # The fifth commit cannot be built; the seventh is undecided at first, and the eighth always.
  cat >measure <<'CODE'
#!/usr/bin/env bash
echo "$(<number) $*" >>../measured
[[ $(<number) != 8 ]] || exit 43
if [[ $(<number) == 7 && ! -e ../seen ]]; then touch ../seen; exit 43; fi
steps=0
for ((i = 0; i < $(<work); ++i)); do ((++steps)); done
((steps <= 100)) || exit 42
CODE
  chmod +x measure
  for ((commit = 1; commit <= 12; ++commit)); do
    echo "$commit" >number
    ((commit < $1)) && echo 100 >work || echo 200 >work
    ((commit == 5)) && rm -f builds || touch builds
    git add -A && git commit -qm "commit $commit"
  done
  rm -f ../seen ../measured
  git bisect start HEAD HEAD~11 >"$work/start" 2>&1
}
# bisect OPTIONS...: sets output, errors, code.
bisect() {
  output=$(git bisect run "$step" "$@" 2>"$work/err") code=$?
  errors=$(<"$work/err")
}
found() { git log -1 --format=%s refs/bisect/bad 2>/dev/null; }

for planted in 2 4 11; do
  case="a regression in commit $planted is found"
  new_repository "$planted"
  bisect --build 'test -f builds' -- ./measure --json 'two words.json'
  ends_with 0
  [[ $(found) == "commit $planted" ]] || complain "found $(found)"
  [[ $output == *"is the first bad commit"* ]] || complain "no commit is named"
  grep -q -- "--json two words.json" ../measured || complain "the program did not get its arguments"
  ! grep -q '^5 ' ../measured || complain "what cannot be built was measured"
done

case="commits beside the regression that give no verdict are named as candidates, not blamed"
new_repository 8
bisect --build 'test -f builds' -- ./measure
((code != 0)) || complain "exit code 0 although two commits may be meant"
eighth=$(git log --format=%H --grep='^commit 8$')
[[ $output == *"We cannot bisect more"* && $output == *"$eighth"* ]] || complain "the candidates are not named"

case="a second attempt gives the verdict that the first did not"
new_repository 7
bisect --build 'test -f builds' --attempts 2 -- ./measure
ends_with 0
[[ $(found) == "commit 7" ]] || complain "found $(found)"
(($(grep -c '^7 ' ../measured) == 2)) || complain "expected two measurements of commit 7"
says "is undecided: attempt 2 of 2"
! grep -E '^(1|2|3|4|6|9) ' ../measured | sort | uniq -d | grep -q . || complain "what has a verdict was measured again"

# Each code of a program alone.
codes() {
  case="a program that ends with $1"
  run -- bash -c "exit $1"; ends_with "$2"; says "$3"
}
cd "$work/repository" || exit 1
git bisect reset -q 2>/dev/null
codes 0 0 "passed: good"
codes 42 1 "failed: bad"
codes 43 125 "is undecided: skipped"
codes 4 125 "could not be measured: skipped"
for mistake in 1 2 3 99 127 255; do
  codes "$mistake" 128 "ended with $mistake at $(git log -1 --format='%h (%s)'), which is no verdict of pace; expected"
done
case="a program that a signal ended"
run -- bash -c 'kill -9 $$'; ends_with 128; says "ended with 137"
case="a commit that cannot be built"
run --build false -- true; ends_with 125; says "cannot be built: skipped"
case="a build command that is not there stops the bisection and skips no commit"
run --build './builder-that-is-not-there --all' -- true; ends_with 128; says "--build './builder-that-is-not-there --all' ended with 127: a command of it is not there"
run --build "$work/repository" -- true; ends_with 128; says "ended with 126"
case="command lines that make no sense stop the bisection"
run; ends_with 128; says "expected a program after --"
run true; ends_with 128; says "invalid argument 'true'"
run --fast -- true; ends_with 128; says "invalid argument '--fast'"
run --help; ends_with 128; prints "--attempts N"; [[ $output != *"set -uo"* ]] || complain "code in the help"
run --build; ends_with 128; says "--build: expected a value"
run --attempts 0 -- true; ends_with 128; says "--attempts: invalid value '0'"
run --build ' ' -- true; ends_with 128; says "--build: its value is empty"
run --build '' -- true; ends_with 128; says "--build: its value is empty"
run --attempts 2 --attempts 1 -- true; ends_with 128; says "--attempts: is given twice"
run --attempts many -- true; ends_with 128; says "--attempts: invalid value 'many'"

case="a mistake stops the bisection and blames no commit"
new_repository 6
bisect -- ./measure-that-is-not-there
((code >= 126)) || complain "exit code $code"
[[ $output != *"is the first bad commit"* ]] || complain "a commit is blamed"

((failures == 0)) && echo "all as expected"
exit $((failures > 0))
