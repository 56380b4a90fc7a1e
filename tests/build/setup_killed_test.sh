#!/usr/bin/env bash
# third_party/bazel killed at each program that changes something, and called again, on machines as of setup_test.sh.
set -uo pipefail

# shellcheck source=tests/build/fake_machine.sh
source tests/build/fake_machine.sh

# countable_machine PROGRAM...: an empty machine that counts the starts of these programs. The start whose number is in
# the file kill_at kills what the file kill_what names: `all` processes of the set-up, or its `script` alone.
countable_machine() {
  local name
  new_machine
  # A package that is not unpacked and set up to its end leaves the file half_installed, until dpkg finishes it.
  mv "$bin/apt-get" "$work/whole-apt-get"
  program apt-get 'if [[ $1 == install ]]; then touch "$WORK/half_installed"; fi
    bash "$WORK/whole-apt-get" "$@" || exit
    if [[ $1 == install ]]; then rm "$WORK/half_installed"; fi'
  program dpkg 'rm -f "$WORK/half_installed"; [[ ! -e $PACE_SYSROOT/usr/bin/bazel ]] || chmod +x "$PACE_SYSROOT/usr/bin/bazel"'
  python_with_pip 'source "$WORK/count"; echo "Downloading torch-2.11.0.whl"; echo "$*" >>"$WORK/pip-ran"'
  cat >"$work/count" <<'END'
echo >>"$WORK/started"
mapfile -t started <"$WORK/started"
if [[ -e $WORK/kill_at ]] && ((${#started[@]} >= $(<"$WORK/kill_at"))); then
  "$WORK/uncounted/rm" "$WORK/kill_at"
  echo "$0" >"$WORK/killed_at"
  read -r script <"$WORK/script"
  case $(<"$WORK/kill_what") in
    all) kill -KILL -- "-$script" ;;
    script) kill -KILL "$script" ;;
  esac
fi
END
  mkdir "$work/uncounted"
  ln -s "$(command -v rm)" "$work/uncounted/rm"
  for name; do
    mv "$bin/$name" "$work/uncounted/$name"
    program "$name" 'source "$WORK/count"; exec "$WORK/uncounted/'"$name"'" "$@"'
  done
  # A step is looked after every 0.2 s.
  program sleep "exec $(command -v sleep) 0.01"
}

# killed_run NUMBER WHAT: the set-up, killed when it has started so many programs.
killed_run() {
  echo "$1" >"$work/kill_at"; echo "$2" >"$work/kill_what"; : >"$work/started"
  # A process group of its own, whose number is the script's.
  set -m
  env -i PATH="$bin" HOME="$home" WORK="$work" PACE_SYSROOT="$root" PACE_ASSUME_ROOT=1 bash -c \
    'echo $$ >"$WORK/script"; exec "$@"' - "$script" info >"$work/killed" 2>&1 </dev/null &
  set +m
  wait "$!" 2>/dev/null
}

# kill_at_each WHAT PROGRAM...
kill_at_each() {
  local what=$1 number file left
  shift
  for ((number = 1; ; ++number)); do
    case="$what killed at program $number"
    countable_machine "$@"
    killed_run "$number" "$what"
    # It ended before it had started so many.
    [[ -e $work/killed_at ]] || break
    case+=", $(<"$work/killed_at")"
    on_machine -- info
    [[ $code == 0 && $output == *bazel* ]] || complain "the same command again fails"
    [[ ! -e $work/half_installed ]] || complain "a package is half installed"
    for file in "$home/.cache/pace/libtorch-2.11.0/complete" "$home"/.cache/pace/page-*/complete; do
      [[ -f $file ]] || complain "not there: $file"
    done
    left=$(find "$home" "$root" -name '*.new' -o -name tmp -o -name packages-unfinished)
    [[ -z $left ]] || complain "left behind: $left"
    on_machine -- info
    [[ $code == 0 && $output == bazel ]] || complain "the third time it does something"
  done
  printf '%s killed at each of %d programs\n' "$what" "$((number - 1))"
  ((number > 10)) || { case=$what; complain "expected to be killed at more programs"; }
}

kill_at_each all flock mkdir rm mv touch chmod apt-get dpkg python3
# What it has started goes on; the next run waits for it.
kill_at_each script apt-get dpkg python3
rm -rf "$work"
exit $((failures > 0))
