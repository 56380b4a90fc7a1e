#!/usr/bin/env bash
# Runs the tests of this folder on the GPU of this machine, one after the other, without Bazel.
#
#   ./run                              all tests
#   ./run NAME...                      the tests of these names, without the text before `:` if need be; `*` is any text
#   ./run NAME... -- ARGUMENT...       with these arguments added
#   ./run --list                       the names of tests, with their time limits in seconds, and of programs
#   ./run --program NAME ARGUMENT...   a program of the benches, such as benches/models:models --help
#   ./run --results FOLDER ...         writes the output of the tests there, in place of results/DATE beside this file
#
# Needs LibTorch with CUDA: the one that PACE_LIBTORCH names (an unzipped libtorch, a wheel's `torch` folder, or its
# site-packages), or the one of python3 (PACE_PYTHON names another). PACE_COMMIT replaces the commit that the folder was
# built from.
#
# Exit code: 0 if every test passed, 1 if one failed or was skipped, 2 if nothing could be run.
set -uo pipefail
here=$(cd "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")" && pwd)

die() {
  printf 'run: %s\n' "$@" >&2
  exit 2
}

# fact NAME: a fact that the build wrote down.
fact() { sed -n "s/^$1 //p" "$here/build.txt"; }

# Where tests and programs are started, as by Bazel.
runfiles=$here/runfiles/$(fact workspace)

# version_of FOLDER: of the LibTorch there, such as 2.11.0+cu130.
version_of() { cat "$1/build-version" 2>/dev/null || sed -n "s/^__version__ = '\(.*\)'/\1/p" "$1/version.py"; }

# must_be VERSION WHAT: fails unless it is the one that the programs were linked with.
must_be() { [[ ${1%%+*} == "$(fact libtorch)" ]] || die "$2 is LibTorch ${1:-of unknown version}: expected $(fact libtorch)"; }

# find_libtorch: sets torch, the folder of LibTorch, and torch_version; exports the variables that programs need to find
# it.
find_libtorch() {
  local python of_python=
  python=$(type -P "${PACE_PYTHON:-python3}")
  [[ -z $python || $python == /* ]] || python=$PWD/$python
  [[ -z $python ]] || of_python=$("$python" -c 'import importlib.util
spec = importlib.util.find_spec("torch")
print(spec.submodule_search_locations[0] if spec else "")' 2>/dev/null)
  if [[ -n ${PACE_PYTHON:-} ]]; then
    [[ -n $of_python ]] || die "PACE_PYTHON=$PACE_PYTHON: expected a Python that has torch $(fact libtorch)"
    must_be "$(version_of "$of_python")" "the torch of PACE_PYTHON=$PACE_PYTHON"
  fi
  torch=$of_python
  if [[ -n ${PACE_LIBTORCH:-} ]]; then
    for torch in "$PACE_LIBTORCH/torch" "$PACE_LIBTORCH" "$PACE_LIBTORCH/libtorch" ""; do
      [[ ! -e $torch/lib/libtorch_cpu.so ]] || break
    done
    [[ -n $torch ]] || die "PACE_LIBTORCH=$PACE_LIBTORCH is no LibTorch: expected a folder with lib/libtorch_cpu.so (an \
unzipped libtorch), a wheel's \`torch\` folder, or the site-packages that hold it"
    torch=$(readlink -f "$torch")
  fi
  [[ -n $torch ]] || die "no LibTorch: expected a python3 that has torch $(fact libtorch) (found: ${python:-no python3}), \
PACE_PYTHON with one that has it, or PACE_LIBTORCH with the folder of an unzipped libtorch"
  torch_version=$(version_of "$torch")
  must_be "$torch_version" "$torch"
  [[ -e $torch/lib/libtorch_cuda.so ]] || die "$torch has no lib/libtorch_cuda.so: expected a LibTorch with CUDA"
  # Without PACE_PYTHON, packages are compiled by the Python of this LibTorch, or not at all.
  [[ -n ${PACE_PYTHON:-} || $(readlink -f "$of_python") == "$torch" ]] || python=
  local folders=("$torch/lib") each
  for each in "$torch"/../nvidia/*/lib; do [[ ! -d $each ]] || folders+=("$(readlink -f "$each")"); done
  LD_LIBRARY_PATH=$(IFS=: && echo "${folders[*]}")${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}
  export LD_LIBRARY_PATH PACE_PYTHON=$python
}

# find_gpu: sets gpu, driver and cuda, as the summary shows them.
find_gpu() {
  local said
  if ! said=$(nvidia-smi --query-gpu=name,driver_version --format=csv,noheader 2>&1) || [[ $said != *,* ]]; then
    die "no GPU: expected nvidia-smi to list one; it printed: ${said:-nothing}"
  fi
  gpu=$(cut -d, -f1 <<<"$said" | sort | uniq -c | sed 's/^ *1 //; s/^ *\([0-9]*\) /\1 x /' | paste -sd, | sed 's/,/, /g')
  driver=$(sed -n '1s/.*, *//p' <<<"$said")
  cuda=$(sed -n "s/^cuda.* = '\(.*\)'/\1/p" "$torch/version.py" 2>/dev/null)
  # An unzipped libtorch has it in its version alone, such as 2.11.0+cu130.
  [[ -n $cuda ]] || cuda=$(sed -n 's/.*+cu\([0-9]*\)\([0-9]\)$/\1.\2/p' <<<"$torch_version")
}

# chosen NAME PATTERN...: whether one of the patterns means the test; notes in `used` which did.
chosen() {
  local name=$1 pattern yes=1
  shift
  (($#)) || return 0
  for pattern; do
    # The pattern is not quoted, so that it is one.
    # shellcheck disable=SC2053
    if [[ $name == ${pattern#//} || ${name#*:} == $pattern ]]; then
      used[$pattern]=1
      yes=0
    fi
  done
  return "$yes"
}

# run_test LINE ARGUMENT...: runs the test of a line of tests.txt as Bazel would, and counts it.
run_test() {
  local words name seconds path log outputs code=0 begin outcome
  read -ra words <<<"$1"
  shift
  name=${words[0]} seconds=${words[1]} path=${words[2]}
  words=("${words[@]:3}")
  local variables=()
  while [[ ${words[0]} != -- ]]; do
    variables+=("${words[0]}")
    words=("${words[@]:1}")
  done
  log=$results/${name//[\/:]/_}.log
  outputs=${log%.log}
  mkdir -p "$outputs" "$scratch/tmp"
  variables+=(TEST_SRCDIR="$here/runfiles" TEST_TIMEOUT="$seconds" TEST_TMPDIR="$scratch/tmp"
    TEST_UNDECLARED_OUTPUTS_DIR="$outputs" TEST_PREMATURE_EXIT_FILE="$scratch/premature_exit")
  begin=$SECONDS
  # In the background, so that this script can be interrupted.
  (cd "$runfiles" && exec env "${variables[@]}" timeout --kill-after=10 "$seconds" "./$path" "${words[@]:1}" "$@") \
    </dev/null >"$log" 2>&1 &
  child=$!
  wait "$child" || code=$?
  child=
  # A program that ended half-way, with 0, has left this file.
  if ((code == 0)) && [[ -e $scratch/premature_exit ]]; then
    code=1
    echo "run: the program ended before its tests did" >>"$log"
  fi
  rm -rf "$scratch/tmp" "$scratch/premature_exit"
  rmdir "$outputs" 2>/dev/null
  case $code in
    0) outcome=passed passed=$((passed + 1)) ;;
    4) outcome=skipped skipped=$((skipped + 1)) ;;
    *) outcome=failed failed=$((failed + 1)) ;;
  esac
  local took=$((SECONDS - begin)) note=
  ((code != 124)) || note=", longer than the limit of $seconds s"
  printf '%-8s %s (exit code %d, %d s%s)\n' "$outcome" "$name" "$code" "$took" "$note"
  [[ $outcome == passed ]] || printf '         %s\n' "$log"
  rows+=("| \`//$name\` | $outcome$note | $code | $took |")
}

summary() {
  printf '%s\n' '| date | GPU | driver | CUDA | LibTorch | commit | passed | failed | skipped |' \
    '|---|---|---|---|---|---|---|---|---|' \
    "| $date | $gpu | $driver | $cuda | $torch_version | $PACE_COMMIT | $passed | $failed | $skipped |" '' \
    '| test | result | exit code | seconds |' '|---|---|---|---|' "${rows[@]}"
}

results=
case ${1:-} in
  --help | -h)
    sed -n '2,/^set /{/^set /d;s/^# \{0,1\}//;p}' "${BASH_SOURCE[0]}"
    exit 0
    ;;
  --list)
    (($# == 1)) || die "--list takes no further arguments; found $2"
    awk '{ print $1, $2 " s" }' "$here/tests.txt"
    awk '{ print $1, "program" }' "$here/programs.txt"
    exit 0
    ;;
  --program)
    name=${2:-}
    path=$(awk -v name="${name#//}" '$1 == name { print $2 }' "$here/programs.txt")
    [[ -n $path ]] || die "no program '$name'; expected one of: $(cut -d' ' -f1 "$here/programs.txt" | paste -sd' ')"
    find_libtorch
    # Relative paths start at the caller's folder, as with `bazel run`.
    export BUILD_WORKING_DIRECTORY=${BUILD_WORKING_DIRECTORY:-$PWD} PACE_COMMIT=${PACE_COMMIT:-$(fact commit)}
    cd "$runfiles" && exec "./$path" "${@:3}"
    ;;
  --results)
    [[ -n ${2:-} ]] || die "--results: expected a folder"
    results=$2
    shift 2
    ;;
esac

patterns=()
while (($#)) && [[ $1 != -- ]]; do
  [[ $1 != -* ]] || die "unknown option $1; expected --list, --program, --results, --help, or names of tests"
  patterns+=("$1")
  shift
done
(($# == 0)) || shift
arguments=("$@")

lines=()
declare -A used=()
while read -r line; do
  ! chosen "${line%% *}" "${patterns[@]}" || lines+=("$line")
done <"$here/tests.txt"
for pattern in "${patterns[@]}"; do
  [[ -n ${used[$pattern]:-} ]] || die "no test '$pattern'; expected one of: $(cut -d' ' -f1 "$here/tests.txt" | paste -sd' ')"
done
((${#lines[@]})) || die "$here/tests.txt names no test: expected a line for each"

find_libtorch
find_gpu
date=$(date -u +%Y-%m-%d)
export PACE_COMMIT=${PACE_COMMIT:-$(fact commit)}
[[ -n $PACE_COMMIT ]] || PACE_COMMIT=unknown
results=${results:-$here/results/$(date -u +%Y-%m-%dT%H%M%SZ)}
if ! mkdir -p "$results" || [[ ! -w $results ]]; then
  die "cannot write to $results: expected --results with a folder that can be written to"
fi
results=$(cd "$results" && pwd)
scratch=$(mktemp -d)
child=
trap 'rm -rf "$scratch"' EXIT
trap '[[ -z $child ]] || { kill "$child" && wait "$child"; } 2>/dev/null; exit 130' INT TERM

printf 'GPU %s, driver %s, LibTorch %s, CUDA %s, commit %s\nresults: %s\n\n' \
  "$gpu" "$driver" "$torch_version" "$cuda" "$PACE_COMMIT" "$results"
passed=0 failed=0 skipped=0 rows=()
for line in "${lines[@]}"; do run_test "$line" "${arguments[@]}"; done
echo
summary | tee "$results/summary.md"
((failed + skipped == 0 && passed > 0))
