#!/usr/bin/env bash
# Fuzzes pace's parsers by libFuzzer, and prints the runs, the coverage and the findings of each target.
#
#   tests/fuzz/run.sh [SECONDS] [TARGET...]     20 seconds each of all targets; --list prints their names
#   tests/fuzz/run.sh --runs=N [TARGET...]      N inputs each, which are the same on every machine: for .ci/run
#
# Two targets are compiled and run at a time, each from its seeds. An input that breaks a property stays in a folder
# that the last line names. The exit code is 1 if there is one, or if a target did not run.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
# shellcheck source=tests/build/arguments.sh
source tests/build/arguments.sh
take_arguments "a number of seconds or --runs=N, then names of targets (--list prints them)" '[1-9][0-9]{0,4}|[a-z_]+|--list|--runs=[1-9][0-9]{0,8}' "$@"

all=()
for file in tests/fuzz/*_fuzz.cc tests/fuzz/*_fuzz.py; do
  name=${file##*/}
  all+=("${name%_fuzz.*}")
done
[[ ${1:-} != --list ]] || { printf '%s\n' "${all[@]}"; exit 0; }
each="20 s" limit=-max_total_time=20
if [[ ${1:-} =~ ^[0-9]+$ ]]; then
  each="$1 s" limit=-max_total_time=$1
  shift
elif [[ ${1:-} == --runs=* ]]; then
  each="${1#--runs=} inputs" limit=-runs=${1#--runs=}
  shift
fi
targets=("$@")
((${#targets[@]})) || targets=("${all[@]}")
for target in "${targets[@]}"; do
  [[ " ${all[*]} " == *" $target "* ]] || { echo "run: there is no target '$target'; expected one of: ${all[*]}" >&2; exit 2; }
done

here=third_party
# shellcheck source=third_party/setup/needs.sh
source third_party/setup/needs.sh
needs_check_environment
compiler=clang++-19
python=$checks_home/venv/bin/python3
torch=$(find -H "${PACE_LIBTORCH:-$libtorch_home/venv/lib}" -type d -path '*include/ATen' -print -quit 2>/dev/null) || true
if [[ ! -x $python || ! $torch ]] || ! command -v "$compiler" >/dev/null || ! witness_exists "$fuzzer_runtime"; then
  echo "run: libFuzzer, atheris or LibTorch is missing; PACE_CHECKS=1 third_party/bazel version installs them" >&2
  exit 1
fi
torch=${torch%/include/ATen}

scratch=$(mktemp -d)
found=$(mktemp -d "${TMPDIR:-/tmp}/fuzz-found.XXXXXX")
# A job that runs beside others ignores Ctrl-C.
trap 'kill $(jobs -p) 2>/dev/null || true; rm -rf "$scratch"; rmdir "$found" 2>/dev/null || true' EXIT
# A target that ends in the middle of an input leaves its files here.
export TMPDIR=$scratch

# LibTorch is linked to the targets that use it alone. `undefined` does not look at casts that are out of range.
flags=(-std=c++20 -g -O1 -fsanitize=fuzzer,address,undefined,float-cast-overflow
  -fno-sanitize-recover=undefined,float-cast-overflow -Iinclude -I.
  -isystem "$torch/include" -isystem "$torch/include/torch/csrc/api/include")
libraries=(-Wl,--as-needed -lyaml-cpp -L"$torch/lib" -Wl,-rpath,"$torch/lib" -ltorch_cpu -lc10)

# Inputs of 4 KiB reach every branch of a parser, and one of them must not make it take 64 MiB at once.
limits=(-max_len=4096 -malloc_limit_mb=64 -rss_limit_mb=2048 -timeout=10)

# fuzz TARGET: writes its row of the table, of executions, coverage and findings.
fuzz() {
  local target=$1 log=$scratch/$1.log status=0 command executions coverage findings
  trap 'kill $! 2>/dev/null; exit 1' TERM
  if [[ -f tests/fuzz/${target}_fuzz.py ]]; then
    command=("$python" -B "tests/fuzz/${target}_fuzz.py")
  else
    command=("$scratch/$target")
    "$compiler" "${flags[@]}" "tests/fuzz/${target}_fuzz.cc" -o "$scratch/$target" "${libraries[@]}" >"$log" 2>&1 || status=$?
  fi
  if ((status == 0)); then
    mkdir "$scratch/$target.corpus"
    "${command[@]}" -seed=1 "$limit" "${limits[@]}" -print_final_stats=1 \
      -artifact_prefix="$found/$target-" "$scratch/$target.corpus" "tests/fuzz/seeds/$target" >"$log" 2>&1 &
    wait $! || status=$?
  fi
  executions=$(sed -n 's/^stat::number_of_executed_units: *//p' "$log")
  coverage=$(grep -o 'cov: [0-9]*' "$log" | tail -n 1) || true
  findings=$(find "$found" -name "$target-*" | wc -l)
  ((findings > 0 || (status == 0 && ${executions:-0} > 0))) || findings="did not run"
  printf '%s|%s|%s\n' "${executions:--}" "${coverage#cov: }" "$findings" >"$scratch/$target.row"
  [[ $findings == 0 ]] || tail -n 60 "$log" >&2
}

running=0
for target in "${targets[@]}"; do
  ((running < 2)) || { wait -n || true; running=1; }
  fuzz "$target" &
  running=$((running + 1))
done
wait || true

printf '%-16s %12s %9s  %s\n' target executions coverage findings
bad=0
for target in "${targets[@]}"; do
  executions="" coverage="" findings="did not run"
  [[ ! -f $scratch/$target.row ]] || IFS='|' read -r executions coverage findings <"$scratch/$target.row"
  printf '%-16s %12s %9s  %s\n' "$target" "${executions:--}" "${coverage:--}" "$findings"
  [[ $findings == 0 ]] || bad=$((bad + 1))
done
if ((bad > 0)); then
  echo "$bad of ${#targets[@]} targets found something, or did not run; inputs that break a property are in $found" >&2
  exit 1
fi
echo "${#targets[@]} targets ran for $each each and found nothing"
