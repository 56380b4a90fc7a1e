# Running a long command with its output in a log, telling how far it is. Sourced by install.sh.

say() { printf 'pace: %s\n' "$*" >&2; }

# run_step TITLE LOG HOW_FAR COMMAND...: runs COMMAND with its output in LOG. Meanwhile it shows TITLE, the output of
# the function HOW_FAR, and the seconds gone: every second on a terminal, every ten seconds elsewhere. Adds the seconds
# of one that succeeds to the file step_times. Returns COMMAND's status.
run_step() {
  local title=$1 log=$2 how_far=$3 start=$SECONDS status=0 shown=0 elapsed every=10 child=""
  shift 3
  [[ -t 2 ]] && every=1
  say "$title ..."
  # A background job ignores the interrupt key; without this it would go on after we are gone.
  trap 'interrupted "$title"' INT TERM
  "$@" </dev/null >"$log" 2>&1 &
  child=$!
  while kill -0 "$child" 2>/dev/null; do
    sleep 0.2
    elapsed=$((SECONDS - start))
    ((elapsed >= shown + every)) || continue
    shown=$elapsed
    if [[ -t 2 ]]; then
      printf '\r\033[Kpace:   %s, %d s' "$("$how_far" "$log")" "$elapsed" >&2
    else
      say "  $("$how_far" "$log"), $elapsed s"
    fi
  done
  wait "$child" || status=$?
  trap - INT TERM
  [[ -t 2 ]] && printf '\r\033[K' >&2
  if ((status == 0)); then
    say "$title: done in $((SECONDS - start)) s"
    printf '%d\t%s\n' "$((SECONDS - start))" "$title" >>"$step_times"
  fi
  return "$status"
}

# interrupted TITLE: ends the command and the one beside it, waits until they have ended, and ends.
interrupted() {
  local running
  running=$(jobs -p)
  # shellcheck disable=SC2086
  kill $running 2>/dev/null || true
  wait 2>/dev/null || true
  echo >&2
  die "interrupted: $1." "Run the same command again: it starts this step over."
}

# The end of a log, indented, for an error message, and where the whole of it is.
show_log() {
  tail -n 8 "$1" | sed 's/^/      | /' >&2
  say "  (all of it: $1)"
}
