#!/usr/bin/env bash
# Remote execution as docs/fleet.md has it, by the engine that third_party/remote/up starts, with two workers: what is
# compiled and tested there, that a gate is measured again in each run, that no worker does two things at once, and what
# a worker that dies ends in. The gates must be built before (`third_party/bazel test //tests/remote/...`), or they are
# compiled there, too.
#
#   tests/remote/remote_test.sh [BAZEL_OPTIONS...]
set -uo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.." || exit 1

# An engine of its own, which ends none that its user has started.
port=18990
scratch=$(mktemp -d)
home=${PACE_HOME:-${XDG_CACHE_HOME:-$HOME/.cache}/pace}
finish() {
  local job
  # What runs in the background does not end with an interrupted test.
  for job in $(jobs -p); do kill "$job" 2>/dev/null; done
  third_party/remote/down --port "$port"
  rm -rf "$scratch"
}
trap finish EXIT

fail() {
  printf 'FAILED: %s\n' "$1" >&2
  [[ -z ${2:-} ]] || tail -n 40 "$2" | sed 's/^/  | /' >&2
  exit 1
}

# remote LOG ARGUMENTS...: tests by the engine; returns Bazel's exit code.
options=("$@")
remote() {
  local log=$1
  shift
  third_party/bazel test --config=remote --remote_executor="grpc://127.0.0.1:$port" --jobs=2 "${options[@]}" "$@" \
    >"$log" 2>&1 </dev/null
}

# runners: how many runners each worker has at this moment, a line each.
runners() {
  local worker
  for worker in 1 2; do pgrep -c -f "buildbox-run .*--remote=[a-z:/]*127.0.0.1:$((port + worker - 1)) " || true; done
}

third_party/remote/up --workers 2 --port "$port" || fail "the engine does not start"
# Compiled in each run of this test.
options+=(--per_file_copt=tests/remote/compiled.cc@-DRUN="$$$RANDOM")
compiled=(//tests/remote:compiled_1 //tests/remote:compiled_2)

# 1. A compile, a unit test and a suite of gates in shards run there. Meanwhile no worker has two runners.
(while sleep 0.1; do runners; done) >"$scratch/runners" &
watch=$!
remote "$scratch/first" "${compiled[@]}" //tests/remote:gates
status=$?
kill "$watch" 2>/dev/null
((status == 0)) || fail "tests by the remote engine ended with $status" "$scratch/first"
grep -qE 'processes: .*[0-9]+ remote' "$scratch/first" ||
  fail "Bazel's summary names no remote process" "$scratch/first"
! grep -qE '[0-9]+ (local|linux-sandbox|processwrapper-sandbox|worker)' <(grep 'processes:' "$scratch/first") ||
  fail "something ran on this machine instead" "$scratch/first"
grep -q 1 "$scratch/runners" || fail "no runner of a worker was ever seen"
[[ $(sort -n "$scratch/runners" | tail -n 1) == 1 ]] || fail "a worker ran two actions at once"
for log in "$home/remote/$port"/worker_{1,2}.log; do
  grep -q 'Runner exited with code 0' "$log" || fail "a worker of two has run nothing: $log"
done

# 2. Gates of a pool run at once on a fleet, and one after the other here.
results=$(third_party/bazel info bazel-testlogs 2>/dev/null)/tests/remote/gates
# environments: what the results of both shards say of where and when they were measured, as a list of JSON.
environments() {
  python3 - "$results"/shard_{1,2}_of_2/test.outputs/outputs.zip <<'PY'
import json, sys, zipfile
header = lambda path: json.loads(zipfile.ZipFile(path).read("results.json").decode().splitlines()[0])
print(json.dumps([header(path)["environment"] for path in sys.argv[1:]]))
PY
}
# seconds_apart: between the beginnings of both. Each takes four seconds and more.
seconds_apart() {
  environments | python3 -c 'import datetime, json, sys
one, other = (datetime.datetime.fromisoformat(each["date_utc"].rstrip("Z")) for each in json.load(sys.stdin))
print(int(abs((one - other).total_seconds())))'
}
remote "$scratch/there" //tests/remote:gates || fail "the gates failed" "$scratch/there"
(($(seconds_apart) < 4)) || fail "two workers took one gate after the other" "$scratch/there"
there=$(environments)
third_party/bazel test --jobs=2 "${options[@]}" //tests/remote:gates >"$scratch/here" 2>&1 </dev/null ||
  fail "the gates failed here" "$scratch/here"
(($(seconds_apart) >= 4)) || fail "two gates ran at once on this machine" "$scratch/here"

# 3. The figures came back, with the machine and the pool that they are of.
python3 - "$there" "$(hostname)" <<'PY' || fail "results without their machine or pool: $there"
import json, sys
environments = json.loads(sys.argv[1])
assert [each["pool"] for each in environments] == ["trial", "trial"]
assert sorted(each["hostname"] for each in environments) == [f"{sys.argv[2]}, worker {number}" for number in (1, 2)]
PY

# 4. A gate is never taken from a cache, neither Bazel's own nor the engine's; a unit test is.
remote "$scratch/second" "${compiled[@]}" //tests/remote:gates ||
  fail "the second run failed" "$scratch/second"
grep -qE '^//tests/remote:gates +PASSED' "$scratch/second" || fail "gates came from a cache" "$scratch/second"
grep -qE '^//tests/remote:compiled_1 +\(cached\) PASSED' "$scratch/second" ||
  fail "a unit test was run again" "$scratch/second"

# 5. A worker that dies while it measures is a failure of the fleet and not of a gate; the next run passes.
remote "$scratch/killed" //tests/remote:gates &
build=$!
for ((try = 0; try < 600; ++try)); do
  [[ $(runners | sort -u) == 0 ]] || break
  sleep 0.1
done
third_party/remote/down --port "$port"
wait "$build"
status=$?
((status == 34)) || fail "a run whose workers died ended with $status; expected an error of remote execution" \
  "$scratch/killed"
! grep -qE '^//tests/remote:gates +(PASSED|FAILED in)' "$scratch/killed" ||
  fail "a gate has a verdict, though its worker died" "$scratch/killed"
third_party/remote/up --workers 2 --port "$port" >/dev/null || fail "the engine does not start again"
remote "$scratch/again" //tests/remote:gates || fail "after a restart the gates fail" "$scratch/again"
echo "remote execution does what docs/fleet.md says"
