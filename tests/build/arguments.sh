# Arguments of the scripts in this folder, which source this file at the top of the tree before they do anything.

# Prints the comment at the top of the script, which is its usage, and ends it, if --help or -h is among the arguments.
_print_usage() {
  local word
  for word; do
    [[ $word == --help || $word == -h ]] || continue
    local script=$0
    # The script has gone to the top of the tree.
    [[ $script == /* ]] || script=$OLDPWD/$script
    sed -n '2,/^[^#]/{/^#/!q;s/^# \{0,1\}//;p}' "$script"
    exit 0
  done
}

_refuse_argument() {
  echo "${0##*/}: invalid argument '$1'; expected $2" >&2
  exit 2
}

# take_arguments WHAT PATTERN ARGUMENT...: ends the script with its usage for --help. It ends it with 2 for an argument
# that does not match the extended regular expression as a whole. WHAT says in words which arguments are expected.
take_arguments() {
  local what=$1 pattern=$2 word
  shift 2
  _print_usage "$@"
  for word; do [[ $word =~ ^($pattern)$ ]] || _refuse_argument "$word" "$what"; done
}

# The same for a script without arguments.
take_no_arguments() {
  _print_usage "$@"
  (($# == 0)) || _refuse_argument "$1" nothing
}

# The same for options of `bazel build`, which Bazel looks at.
take_bazel_options() {
  local said
  take_arguments "options of Bazel, such as --disk_cache=FOLDER" '--[a-z].*' "$@"
  (($#)) || return 0
  said=$(third_party/bazel canonicalize-flags -- "$@" 2>&1 >/dev/null) && return
  echo "${0##*/}: Bazel refuses the options: $(grep -m 1 ERROR <<<"$said")" >&2
  exit 2
}
