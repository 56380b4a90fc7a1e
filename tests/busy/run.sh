#!/usr/bin/env bash
# Counts right, undecided and wrong verdicts on pairs with a known ratio, beside other work:
#
#   tests/busy/run.sh [--gates=N] [PASSES...]     5 gates of each pair; calls of 25, 250 and 2500 passes
#
# Beside no loop, 4 and 10 busy loops; on one core beside 1 and 4; with a quota of half a core and a tenth of one, where
# this machine has control groups that can be written to. A pass takes about 4 us. Ends with 1 if a verdict was
# wrong.
set -uo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.." || exit 1
# shellcheck source=tests/build/arguments.sh
source tests/build/arguments.sh
take_arguments "--gates=N, or whole numbers of passes" '--gates=[1-9][0-9]*|[1-9][0-9]*' "$@"
gates=5 passes=()
for word; do
  case $word in
    --gates=*) gates=${word#*=} ;;
    *) passes+=("$word") ;;
  esac
done
((${#passes[@]})) || passes=(25 250 2500)
third_party/bazel build //tests/busy:pairs || exit 1
pairs=$PWD/bazel-bin/tests/busy/pairs loops=() group='' failures=0

end_loops() {
  ((${#loops[@]} == 0)) || kill "${loops[@]}" 2>/dev/null
  wait 2>/dev/null
  loops=()
}
finish() {
  end_loops
  [[ -z $group ]] || rmdir "$group"
}
trap finish EXIT

# beside LOOPS CORES [COMMAND...]: counts beside loops on the same cores.
beside() {
  local count=$1 cores=$2
  shift 2
  for ((i = 0; i < count; ++i)); do
    # It ends with this script, however that ends.
    (while [[ -d /proc/$$ ]]; do :; done) &
    loops+=($!)
    [[ -z $cores ]] || taskset --pid --cpu-list "$cores" $! >/dev/null
  done
  sleep 1
  printf '\n%s loops%s%s, load %s\n' "$count" "${cores:+ on core $cores}" "${group:+, quota}" \
    "$(cut -d ' ' -f 1 /proc/loadavg)"
  "$@" "$pairs" "$gates" "${passes[@]}" || failures=1
  end_loops
}

# within_quota MICROSECONDS COMMAND...: in a control group with so much CPU time in 100 ms.
within_quota() {
  local quota=$1 procs
  shift
  if [[ -e $group/cpu.max ]]; then
    echo "$quota 100000" >"$group/cpu.max"
  else
    echo "$quota" >"$group/cpu.cfs_quota_us"
  fi || return 1
  procs=$group/cgroup.procs
  (echo "$BASHPID" >"$procs" && exec "$@")
}

for count in 0 4 10; do beside "$count" ''; done
for count in 1 4; do beside "$count" 0 taskset --cpu-list 0; done
for parent in /sys/fs/cgroup/cpu /sys/fs/cgroup; do
  if mkdir "$parent/pace_busy" 2>/dev/null; then
    group=$parent/pace_busy
    [[ -e $group/cpu.max || -e $group/cpu.cfs_quota_us ]] && break
    rmdir "$group"
    group=
  fi
done
if [[ -n $group ]]; then
  for quota in 50000 10000; do
    echo
    echo "a quota of $((quota / 1000)) % of a core"
    beside 0 '' within_quota "$quota"
  done
else
  echo "no quota: this machine has no control group that can be written to"
fi
exit "$failures"
