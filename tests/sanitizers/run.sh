#!/usr/bin/env bash
# Runs unit tests with a sanitizer, and prints what it found.
#
#   tests/sanitizers/run.sh [address|thread] [TARGET...]
#
# `address` finds errors of memory, leaks and undefined behaviour in all unit tests but those that docs/reliability.md
# names. `thread` finds data races in the tests of what has threads or processes. Without a word, both run, one after
# the other. Bazel's options that begin with --test_ are handed on, and so is --jobs. Planted faults must be found
# first. The exit code is 1 if a test failed, or if any process of a test reported a fault.
set -uo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.." || exit 1
# shellcheck source=tests/build/arguments.sh
source tests/build/arguments.sh
take_arguments "address or thread, targets such as //tests/os/..., --jobs=N, or Bazel's --test_..." '-?//.*|address|thread|--jobs=[1-9][0-9]*|--test_.*' "$@"
kinds=() options=() targets=()
for word; do
  case $word in
    address | thread) kinds+=("$word") ;;
    --*) options+=("$word") ;;
    *) targets+=("$word") ;;
  esac
done
((${#kinds[@]})) || kinds=(address thread)

# shellcheck disable=SC2034
here=third_party
# shellcheck source=third_party/setup/needs.sh
source third_party/setup/needs.sh
needs_check_environment
if ! command -v clang++-19 >/dev/null || ! witness_exists "$fuzzer_runtime"; then
  echo "run: the sanitizers of clang-19 are missing; PACE_CHECKS=1 third_party/bazel version installs them" >&2
  exit 1
fi

scratch=$(mktemp -d "${TMPDIR:-/tmp}/sanitizers.XXXXXX") || exit 1
trap 'rm -rf "$scratch"' EXIT

# What has threads, or forks beside LibTorch's: supervisor, background checks, writers, drivers. The sanitizer has a
# thread of its own, beside which --isolate sides is refused: its tests are left out.
with_threads=(
  //tests/aot:definition_store_test
  //tests/cheats:disturbances_test
  //tests/cheats:ending_test
  //tests/cheats:late_work_test
  //tests/compare:counts_test
  //tests/inputs:record_test
  //tests/isolate:slow_sides_test
  //tests/kernels:record_ranges_test
  //tests/models:driver_{child,program,summary_program,writers}_test
  //tests/models:run_performance_test
  //tests/os/...
  //tests/ranks:ranks_test
  //tests/report/...
  //tests/runner/...
  //tests/subject/...
  //tests/timing:alarm_test
)

# sanitized CONFIG LOGS ARGUMENT...: tests with the sanitizers' options. Every process writes its reports into LOGS,
# since most of what a test starts has its output read by the test. Debian's llvm-symbolizer is older than the runtime
# and prints no names, so addr2line does. A process that ends by a signal on purpose has to end by that signal. An
# allocation that is too large fails as it does without the sanitizer. LibTorch's threads outlive a fork.
sanitized() {
  local config=$1 logs=$2 common
  shift 2
  mkdir -p "$logs"
  common=external_symbolizer_path=/usr/bin/addr2line:log_path=$logs/report:log_exe_name=1:print_suppressions=0
  common+=:allocator_may_return_null=1:handle_segv=0:handle_sigbus=0:handle_abort=0:handle_sigfpe=0:handle_sigill=0
  third_party/bazel test --config="$config" --nocache_test_results --keep_going --sandbox_writable_path="$logs" \
    --test_timeout=300,900,3600,3600 \
    --test_env=ASAN_OPTIONS="$common:strict_string_checks=1:check_initialization_order=1" \
    --test_env=LSAN_OPTIONS=print_suppressions=0 \
    --test_env=UBSAN_OPTIONS="$common:print_stacktrace=1" \
    --test_env=TSAN_OPTIONS="$common:suppressions=$PWD/tests/sanitizers/thread.supp:die_after_fork=0:history_size=4" \
    "$@"
}

# The planted faults of a kind, and the words of their reports.
declare -A planted=([address]="memory leak undefined" [thread]="race")
declare -A report=(
  [memory]="heap-buffer-overflow" [leak]="LeakSanitizer" [undefined]="signed integer overflow" [race]="data race"
)

failed=0
for kind in "${kinds[@]}"; do
  config=asan
  [[ $kind == address ]] || config=tsan
  for fault in ${planted[$kind]}; do
    sanitized "$config" "$scratch/$fault" "${options[@]}" "//tests/sanitizers:planted_$fault" &>"$scratch/$fault.log"
    if ! grep -qsr "${report[$fault]}" "$scratch/$fault"; then
      cat "$scratch/$fault.log" >&2
      echo "run: the planted fault '$fault' was not reported" >&2
      exit 1
    fi
  done
  chosen=("${targets[@]}")
  if ((${#chosen[@]} == 0)); then
    chosen=(//tests/...)
    [[ $kind == address ]] || chosen=("${with_threads[@]}")
  fi
  # C++ tests alone: what a script starts is a program that times, or a Python.
  sanitized "$config" "$scratch/$kind" --test_lang_filters=cc --test_tag_filters=-exclusive,-unsanitized \
    --build_tests_only --build_event_json_file="$scratch/events" "${options[@]}" -- "${chosen[@]}"
  status=$?
  python3 tests/sanitizers/faults.py "$kind" "$scratch/events" "$scratch/$kind" "$status" || failed=1
done
exit "$failed"
