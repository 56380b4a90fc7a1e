#!/usr/bin/env bash
# Compares two commits of your workspace by a program that measures (a pace_test or pace_binary). It builds the program
# at both, runs them in turn, five processes each, on this machine, and judges the results. The exit code is
# compare_results':
# 0 if nothing is proven slower, 1 if something is, 2 if nothing could be compared, 43 if something is undecided.
#
#   ci/before_after.sh BEFORE AFTER TARGET [OPTION_OF_THE_PROGRAM...]
#
#   PACE             the checkout of pace (default: ../pace)
#   ARTIFACTS        the folder for results and for summary.md (default: before-after-artifacts)
#   PROCESSES        for each commit, up to 999 (default: 5; then the verdict rests on how much processes differ)
#   LIMIT            most that the time may grow by, as a factor (default: 1.02)
#   COMPARE_OPTIONS  further options of compare_results, such as --allow-undecided
#   DISK_CACHE       the folder of Bazel's outputs (default: ~/.cache/pace/before-after)
#   DISK_CACHE_MB    most that it keeps: the files used longest ago are removed at the end (default: 10000)
set -euo pipefail
case ${1:-} in
  -h | --help)
    sed -n '2,/^[^#]/s/^# \{0,1\}//p' "$0"
    exit 0
    ;;
esac

fail() {
  echo "before_after.sh: $1" >&2
  exit 2
}
# Any other failure is no result, which 1 would be.
trap 'fail "line $LINENO has failed; nothing is compared"' ERR
(($# >= 3)) || fail "expected BEFORE AFTER TARGET, such as: origin/main HEAD //:layer_norm_test"
before=$1 after=$2 target=$3
shift 3
pace=$(cd "${PACE:-../pace}" 2>/dev/null && pwd) || fail "there is no checkout of pace in ${PACE:-../pace}; expected its folder in PACE"
artifacts=${ARTIFACTS:-before-after-artifacts}
processes=${PROCESSES:-5}
limit=${LIMIT:-1.02}
[[ ${DISK_CACHE:-}${HOME:-} ]] || fail "HOME is not set; expected a folder in DISK_CACHE"
cache=${DISK_CACHE:-${HOME:-}/.cache/pace/before-after}
cache_mb=${DISK_CACHE_MB:-10000}
[[ $processes =~ ^[1-9][0-9]{0,2}$ ]] || fail "PROCESSES=$processes; expected a number from 1 to 999"
[[ $limit =~ ^(0\.[0-9]*[1-9][0-9]*|[1-9][0-9]*(\.[0-9]+)?)$ ]] || fail "LIMIT=$limit; expected a factor, such as 1.02"
[[ $cache_mb =~ ^[1-9][0-9]{0,8}$ ]] || fail "DISK_CACHE_MB=$cache_mb; expected a number of megabytes from 1"
read -ra compare_options <<<"${COMPARE_OPTIONS:-}"
top=$(git rev-parse --show-toplevel) || fail "$PWD is in no git checkout"
# Not by comparing paths: $PWD may go through a link.
here=/$(git rev-parse --show-prefix)
mkdir -p "$artifacts" || fail "ARTIFACTS=$artifacts cannot be made; expected a folder that can be written"
mkdir -p "$cache" || fail "DISK_CACHE=$cache cannot be made; expected a folder that can be written"
# Bazel is called in other folders.
cache=$(cd "$cache" && pwd)
artifacts=$(cd "$artifacts" && pwd)
! compgen -G "$artifacts/*.json" >/dev/null || fail "$artifacts has results already; expected an empty folder in ARTIFACTS"

# Both checkouts stand beside this one, so that relative paths of the WORKSPACE file, such as ../pace, stay true.
declare -A folder
# Bazel never removes anything from it, and copes with missing files.
shrink_cache() {
  [[ -d $cache ]] || return 0
  find "$cache" -type f -printf '%A@ %s %p\n' | LC_ALL=C sort -rn |
    LC_ALL=C awk -v most="$cache_mb" '{ sum += $2 } sum > most * 1e6 { sub(/^[^ ]+ [^ ]+ /, ""); printf "%s%c", $0, 0 }' |
    xargs -0 -r rm -f --
}
clean_up() {
  local side
  for side in "${!folder[@]}"; do
    (cd "${folder[$side]}$here" 2>/dev/null && "$pace/third_party/bazel" clean --expunge >/dev/null 2>&1) || true
    git worktree remove --force "${folder[$side]}" || true
  done
  shrink_cache || true
}
trap clean_up EXIT
for side in before after; do
  commit=$(git rev-parse --verify --quiet "${!side}^{commit}") || fail "there is no commit ${!side}"
  folder[$side]=$(mktemp -d "${top%/*}/pace-$side-XXXXXX")
  git worktree add --quiet --detach "${folder[$side]}" "$commit"
  # The program itself is run below, without Bazel.
  (cd "${folder[$side]}$here" &&
    "$pace/third_party/bazel" run --disk_cache="$cache" \
      --script_path="$artifacts/$side.sh" "$target") || fail "cannot build $target at ${!side}"
done

# Its options are looked at before anything is measured: it reads files only once they are understood.
"$pace/third_party/bazel" run --script_path="$artifacts/compare.sh" @pace//tools/compare_results ||
  fail "cannot build compare_results"
compare=(env BUILD_WORKING_DIRECTORY="$PWD" "$artifacts/compare.sh" --no-slower-than "$limit"
  --markdown "$artifacts/summary.md" "${compare_options[@]}")
refused=$("${compare[@]}" --old "$artifacts/none" --new "$artifacts/none" 2>&1) || true
[[ $refused == *"$artifacts/none"* ]] || fail "LIMIT=$limit, COMPARE_OPTIONS=${compare_options[*]}: $refused"

for ((i = 1; i <= processes; ++i)); do
  # Each side is first in every second pair, so that a machine which warms up slows neither more than the other.
  sides=(before after)
  ((i % 2)) || sides=(after before)
  for side in "${sides[@]}"; do
    code=0
    PACE_COMMIT=$(git rev-parse "${!side}^{commit}") "$artifacts/$side.sh" --json "$artifacts/$side-$i.json" "$@" || code=$?
    # The gate of the program itself (42 and 43) is no business of this comparison.
    ((code == 0 || code == 42 || code == 43)) || fail "$target at ${!side} ended with $code"
  done
done

code=0
"${compare[@]}" --old "$artifacts"/before-*.json --new "$artifacts"/after-*.json || code=$?
exit "$code"
