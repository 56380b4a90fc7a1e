#!/usr/bin/env bash
# Remote execution as docs/fleet.md describes it, by the engine that third_party/remote/up starts, with two workers.
# Compilation and tests happen there, and each run measures a gate again. No worker does two things at once, for one
# client or for two. When a worker dies, another run measures the rest, and results of two machines are judged together.
# The gates must be built before (`third_party/bazel test //tests/remote/...`), or they are compiled there, too.
#
#   tests/remote/remote_test.sh [BAZEL_OPTIONS...]
set -uo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.." || exit 1
# shellcheck source=tests/build/arguments.sh
source tests/build/arguments.sh
take_bazel_options "$@"

fail() {
  printf 'FAILED: %s\n' "$1" >&2
  [[ -z ${2:-} ]] || tail -n 40 "$2" | sed 's/^/  | /' >&2
  exit 1
}

# An engine of its own, which ends none that its user has started, and whose files are removed.
scratch=$(mktemp -d)
home=${PACE_HOME:-${XDG_CACHE_HOME:-$HOME/.cache}/pace}
# free PORT: whether nothing listens there, and nothing is left of an engine.
free() { ! (exec 3<>"/dev/tcp/127.0.0.1/$1") 2>/dev/null && [[ ! -e $home/remote/$1 ]]; }
# Below the ports that the system gives to outgoing connections.
port=
for try in $(shuf -i 20000-32000 -n 50); do
  ! free "$try" || ! free "$((try + 1))" || { port=$try && break; }
done
[[ $port ]] || fail "of 50 ports none was free"

device=
finish() {
  local job
  # Jobs in the background do not end with an interrupted test.
  for job in $(jobs -p); do kill "$job" 2>/dev/null; done
  third_party/remote/down --port "$port"
  [[ ! $device ]] || rm -f "$device"
  [[ ! -d $scratch/client ]] || third_party/bazel --output_base="$scratch/client" shutdown >/dev/null 2>&1 </dev/null
  chmod -R u+w "$scratch" "$home/remote/$port" 2>/dev/null
  rm -rf "$scratch" "${home:?}/remote/$port"
}
trap finish EXIT

# remote LOG ARGUMENTS...: tests by the engine; returns Bazel's exit code.
options=("$@")
startup=()
remote() {
  local log=$1
  shift
  third_party/bazel "${startup[@]}" test --config=remote --remote_executor="grpc://127.0.0.1:$port" --jobs=2 \
    "${options[@]}" "$@" >"$log" 2>&1 </dev/null
}

# fleet LOG CODE ARGUMENTS...: //tools/fleet, which must end with CODE.
fleet() {
  local log=$1 expected=$2 code
  shift 2
  third_party/bazel run "${options[@]}" //tools/fleet -- "$@" >"$log" 2>"$log.errors" </dev/null
  code=$?
  cat "$log.errors" >>"$log"
  ((code == expected)) || fail "fleet $1 ended with $code; expected $expected" "$log"
}

# runners: how many actions each worker runs at this moment, a line each. A runner that starts its sandbox is two
# processes of one action for a moment.
runners() {
  local worker
  for worker in 1 2; do
    pgrep -a -f "buildbox-run .*--remote=[a-z:/]*127.0.0.1:$((port + worker - 1)) " | grep -o -e '--action=[^ ]*' |
      sort -u | wc -l
  done
}

# A stand-in for a GPU, which reads as /dev/zero: where devices can be made, the engine shows it to its actions.
if mknod "/dev/nvidia-of-test-$port" c 1 5 2>/dev/null; then device=/dev/nvidia-of-test-$port; fi
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
results=$(third_party/bazel info bazel-testlogs 2>/dev/null)
gates=$results/tests/remote/gates
# environments: the place and time in the results of both shards, as a list of JSON.
environments() {
  python3 - "$gates"/shard_{1,2}_of_2/test.outputs/outputs.zip <<'PY'
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

# 5. A worker that dies while it measures is a failure of the fleet and not of a gate. Results that had ended by then
# are kept, another run measures the rest alone, and the page of both says so. One shard after the other, so that one
# has ended.
results_of() { grep -c '"testResult":{"testActionOutput"' "$1" 2>/dev/null; }
remote "$scratch/killed" --jobs=1 --build_event_json_file="$scratch/events" //tests/remote:gates &
build=$!
for ((try = 0; try < 600; ++try)); do
  [[ $(results_of "$scratch/events") != 1 || $(runners | sort -u) == 0 ]] || break
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
fleet "$scratch/keep" 43 keep "$scratch/events" --into "$scratch/suite"
grep -q '1 of 2 parts of 1 tests are kept' "$scratch/keep" || fail "one shard was not kept" "$scratch/keep"
startup=("--bazelrc=$scratch/suite/resume.bazelrc")
remote "$scratch/resumed" --build_event_json_file="$scratch/more" || fail "the second run failed" "$scratch/resumed"
startup=()
fleet "$scratch/keep" 0 keep "$scratch/more" --into "$scratch/suite"
grep -q 'was resumed: it is of run 2' "$scratch/keep" || fail "nothing was resumed" "$scratch/keep"
third_party/bazel run "${options[@]}" //tools/report -- "$scratch/suite" --output "$scratch/page.html" \
  >"$scratch/page" 2>&1 </dev/null || fail "the kept results make no page" "$scratch/page"
for name in add/{1,2,4,8}0000 'was resumed'; do
  grep -q "$name" "$scratch/page.html" || fail "the page of the kept results lacks $name" "$scratch/page"
done
python3 - "$scratch/suite" <<'PY' || fail "the second run has measured more than was missing" "$scratch/resumed"
import glob, json, sys, zipfile
dates = {}
for path in glob.glob(sys.argv[1] + "/tests/remote/gates/*/test.outputs/outputs.zip"):
    lines = zipfile.ZipFile(path).read("results.json").decode().splitlines()
    assert len(lines) == 3, path
    dates[path] = json.loads(lines[0])["environment"]["date_utc"]
record = json.load(open(sys.argv[1] + "/kept.json"))
began = record["attempts"][1]["began_utc"]
assert sorted(date >= began for date in dates.values()) == [False, True], (dates, began)
PY

# 6. Each of two machines runs the self-test of the pool, and their results are judged together. With one process each,
# which says nothing of how far log ratios scatter (43), and limits that two workers of one machine keep.
remote "$scratch/pool" --runs_per_test=2 --test_arg=--budget=0.1 --test_arg=--stop=budget --test_arg=--max-interference=1 \
  --test_arg=--case=pool/exp/1 --test_arg=--case=pool/add/1 //benches/selftest:pool_trial || fail "the self-test of the pool failed" "$scratch/pool"
machines=("$results/benches/selftest/pool_trial" --process-spread 0.2)
fleet "$scratch/compared" 43 pool "${machines[@]}" --machines 2 --margin 5 --noise 100
fleet "$scratch/replicates" 0 replicates "${machines[@]}" --machines 2 --no-slower-than 10
for number in 1 2; do
  for log in "$scratch"/{compared,replicates}; do
    grep -qE "^ *$(hostname), worker $number  +1 " "$log" || fail "worker $number has no line" "$log"
  done
done
fleet "$scratch/refused" 1 replicates "${machines[@]}" --machines 3

# 7. A second client has the same workers, and still none of them does two things at once.
(while sleep 0.1; do runners; done) >"$scratch/runners" &
watch=$!
startup=(--output_base="$scratch/client")
remote "$scratch/other_client" --build_event_json_file="$scratch/other" --runs_per_test=4 \
  --run_under='/bin/bash -c "sleep 4" client' "${compiled[@]}" &
build=$!
startup=()
# A client's server takes its time to start.
for ((try = 0; try < 1200; ++try)); do
  [[ $(runners | sort -u) == 0 ]] || break
  sleep 0.1
done
remote "$scratch/one_client" --build_event_json_file="$scratch/one" //tests/remote:gates
status=$?
wait "$build" || fail "the tests of a second client ended with $?" "$scratch/other_client"
((status == 0)) || fail "the gates failed beside a second client" "$scratch/one_client"
kill "$watch" 2>/dev/null
python3 - "$scratch/one" "$scratch/other" <<'PY' || fail "the two clients did not test at once" "$scratch/one_client"
import json, sys
def span(path):
    tests = [event["testResult"] for event in map(json.loads, open(path)) if "testResult" in event]
    begins = [int(each["testAttemptStartMillisEpoch"]) for each in tests]
    return min(begins), max(b + int(each["testAttemptDurationMillis"]) for b, each in zip(begins, tests))
(begin, end), (other_begin, other_end) = map(span, sys.argv[1:])
assert begin < other_end and other_begin < end, (begin, end, other_begin, other_end)
PY
[[ $(sort -n "$scratch/runners" | tail -n 1) == 1 ]] || fail "a worker ran two actions of two clients at once"

# 8. An action sees the devices of NVIDIA, and can use them.
if [[ $device ]]; then
  remote "$scratch/device" --run_under="/bin/bash -c 'head -c 4 $device | cmp -n 4 - /dev/zero && : >$device' device" \
    //tests/remote:compiled_1 || fail "an action cannot use $device" "$scratch/device"
fi
echo "remote execution does what docs/fleet.md says"
