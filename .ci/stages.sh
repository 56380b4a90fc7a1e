# The stages of .ci/run and .ci/nightly: each is counted, timed, and listed at the end. Sourced at the top of the tree.

unset CDPATH
scratch=$(mktemp -d) || exit 1
# A job that runs beside others ignores Ctrl-C.
trap 'kill $(jobs -p) 2>/dev/null; rm -rf "$scratch"' EXIT
passed=0
failed=0
times=()

# took TITLE BEGAN: notes how long a stage took, in seconds of the shell.
took() { times+=("$(printf '%6d s  %s' $((SECONDS - $2)) "$1")"); }

# run_tests FOLDER BAZEL_TEST_ARGUMENTS...: adds Bazel's own report of each test to the two counts.
run_tests() {
  local folder=$1 events=$scratch/events.json status=0 ok bad began=$SECONDS
  shift
  rm -f "$events"
  printf '\n== in %s: third_party/bazel test %s\n' "$folder" "$*"
  (cd "$folder" && "$OLDPWD/third_party/bazel" test --keep_going --build_event_json_file="$events" "$@") </dev/null || status=$?
  ok=$(grep -c '"testSummary":{.*"overallStatus":"PASSED"' "$events" 2>/dev/null) || ok=${ok:-0}
  bad=$(grep '"testSummary":{.*"overallStatus":"' "$events" 2>/dev/null | grep -vc '"overallStatus":"PASSED"') || bad=${bad:-0}
  # A build that fails leaves its tests without a summary, or with one that says neither.
  (((status == 0 && ok > 0) || bad > 0)) || bad=1
  passed=$((passed + ok))
  failed=$((failed + bad))
  took "in $folder: bazel test $*" "$began"
}

# count_check TITLE STATUS: a script counts as one test.
count_check() {
  if (($2 == 0)); then passed=$((passed + 1)); else
    failed=$((failed + 1))
    printf 'FAILED: %s\n' "$1"
  fi
}

# run_check TITLE COMMAND...
run_check() {
  local title=$1 status=0 began=$SECONDS
  shift
  printf '\n== %s\n' "$title"
  "$@" </dev/null || status=$?
  count_check "$title" "$status"
  took "$title" "$began"
}

# begin_check TITLE COMMAND...: runs it beside the stages that follow, until end_check waits for it and prints its
# output. For a command that keeps one core busy, beside others that time nothing.
begin_check() {
  beside=$1 beside_began=$SECONDS
  shift
  "$@" </dev/null >"$scratch/beside" 2>&1 &
  beside_job=$!
}
end_check() {
  local status=0
  wait "$beside_job" || status=$?
  printf '\n== %s\n' "$beside"
  cat "$scratch/beside"
  count_check "$beside" "$status"
  took "$beside (beside others)" "$beside_began"
}

# end_stages: the times, and the last line. The exit code is not 0 if anything failed, or if nothing ran.
end_stages() {
  printf '\n== where the time went\n'
  printf '%s\n' "${times[@]}"
  printf '%6d s  in all\n' "$SECONDS"
  printf '\n%d passed, %d failed\n' "$passed" "$failed"
  ((failed == 0 && passed > 0))
}
