#!/usr/bin/env bash
# One step of `git bisect run`: builds, runs a program that measures with pace, and turns its exit code into git's.
#
#   git bisect run /path/to/pace/tools/bisect/step.sh [--build COMMAND] [--attempts N] -- PROGRAM ARGUMENTS...
#
#   --build COMMAND   runs before the program, in a shell; a commit that cannot be built is skipped, and a command that
#                     is not there (126, 127) stops the bisection
#   --attempts N      runs the program up to N times until it gives a verdict (default: 1)
#
#   pace                                            git bisect
#   0   passed                                      0    good
#   42  failed                                      1    bad
#   43  undecided, 4  nothing measured              125  skip
#   1   bad command line or input; other codes      128  stop: every commit would be judged by the same mistake
#
# A gate that has a verdict is not asked again. Each attempt may err at the rates of the gate, so that N attempts err up
# to N times as often.
set -uo pipefail

good=0 bad=1 skip=125 stop=128
build="" attempts=1 given=" "

say() { printf 'bisect: %s\n' "$*" >&2; }
usage() {
  say "$*"
  say "expected: step.sh [--build COMMAND] [--attempts N] -- PROGRAM ARGUMENTS..."
  exit "$stop"
}

while (($#)); do
  case $1 in
    --build | --attempts)
      (($# >= 2)) || usage "$1: expected a value after it"
      [[ $2 == *[![:space:]]* ]] || usage "$1: its value is empty"
      [[ $given != *" $1 "* ]] || usage "$1: is given twice; expected it once"
      given+="$1 "
      [[ $1 == --build ]] && build=$2 || attempts=$2
      shift 2
      ;;
    -h | --help)
      sed -n '2,/^[^#]/s/^# \{0,1\}//p' "$0"
      # Within a bisection no commit is judged by it.
      exit "$stop"
      ;;
    --)
      shift
      break
      ;;
    *) usage "invalid argument '$1'" ;;
  esac
done
[[ $attempts =~ ^[1-9][0-9]{0,2}$ ]] || usage "--attempts: invalid value '$attempts'; expected a number from 1 to 999"
(($#)) || usage "expected a program after --"

commit=$(git log -1 --format='%h (%s)' 2>/dev/null) || commit="this commit"
if [[ $build ]]; then
  bash -c "$build" </dev/null
  code=$?
  case $code in
    0) ;;
    # A shell's codes for a command that is not there or no program: every commit would be skipped by the same mistake.
    126 | 127)
      say "--build '$build' ended with $code: a command of it is not there, or cannot be run. Bisecting stops"
      exit "$stop"
      ;;
    *)
      say "$commit cannot be built: skipped"
      exit "$skip"
      ;;
  esac
fi

for ((attempt = 1; attempt <= attempts; ++attempt)); do
  "$@" </dev/null
  code=$?
  case $code in
    0)
      say "$commit passed: good"
      exit "$good"
      ;;
    42)
      say "$commit failed: bad"
      exit "$bad"
      ;;
    43) reason="is undecided" ;;
    4) reason="could not be measured" ;;
    *)
      say "$1 ended with $code at $commit, which is no verdict of pace; expected 0, 42, 43 or 4. Bisecting stops"
      exit "$stop"
      ;;
  esac
  ((attempt == attempts)) || say "$commit $reason: attempt $((attempt + 1)) of $attempts"
done
say "$commit $reason: skipped"
exit "$skip"
