#!/usr/bin/env bash
# Runs tests again and again beside busy loops: a test must pass on a busy machine, too.
#
#   tests/build/under_load.sh [--runs=N] [--loops=N] TARGET...     20 runs of each, beside two loops
#
# Prints the tests that failed, with how often, and ends with 1 if there are any. Tests that are never run beside others
# (`exclusive`) time real work, and run one at a time after the others. Bazel's options that begin with --test_ are
# handed on, such as --test_env=ATEN_CPU_CAPABILITY=avx2.
set -uo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.." || exit 1
# shellcheck source=tests/build/arguments.sh
source tests/build/arguments.sh
take_arguments "targets such as //tests/..., --runs=N, --loops=N, or Bazel's --test_..." '-?(@[^/]*)?//.*|--(runs|loops)=[0-9]+|--test_.*' "$@"
runs=20 loops=2 options=() targets=()
for word; do
  case $word in
    --runs=*) runs=${word#*=} ;;
    --loops=*) loops=${word#*=} ;;
    --*) options+=("$word") ;;
    *) targets+=("$word") ;;
  esac
done
((${#targets[@]})) || { echo "under_load: expected targets, such as //tests/..." >&2; exit 2; }
scratch=$(mktemp -d) || exit 1
busy=()
finish() {
  ((${#busy[@]} == 0)) || kill "${busy[@]}" 2>/dev/null
  rm -rf "$scratch"
}
trap finish EXIT

# Compiled first, so that the loops slow the tests alone.
third_party/bazel build --build_tests_only "${options[@]}" -- "${targets[@]}" || exit 1
for ((loop = 0; loop < loops; ++loop)); do
  # It ends with this script, however that ends.
  (while [[ -d /proc/$$ ]]; do :; done) &
  busy+=($!)
done
third_party/bazel test --keep_going --nocache_test_results --runs_per_test="$runs" \
  --build_event_json_file="$scratch/events" "${options[@]}" -- "${targets[@]}"
python3 - "$scratch/events" "$?" "$loops" <<'PYTHON'
import collections, json, sys

results = collections.defaultdict(list)
for line in open(sys.argv[1]):
    event = json.loads(line)
    if "testResult" in event:
        results[event["id"]["testResult"]["label"]].append(event["testResult"]["status"])
red = {label: sum(each != "PASSED" for each in all_) for label, all_ in results.items()}
for label, count in sorted(red.items()):
    if count:
        print(f"{label}: {count} of {len(results[label])} runs did not pass")
total = sum(map(len, results.values()))
print(f"{len(results)} tests, {total} runs beside {sys.argv[3]} busy loops, {sum(red.values())} of them not passed")
if sys.argv[2] != "0":
    print(f"Bazel ended with {sys.argv[2]}")
sys.exit(not results or any(red.values()) or sys.argv[2] != "0")
PYTHON
