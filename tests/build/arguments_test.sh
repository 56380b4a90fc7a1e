#!/usr/bin/env bash
# Scripts that developers run do nothing but print their usage for --help, and refuse an argument that they do not know.
set -uo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")" || exit 1
failed=0
complain() { printf '%s\n' "$*"; failed=1; }

# refuses SCRIPT ARGUMENT... : with exit code 2, and a message that names the last argument
refuses() {
  local said
  said=$("./$1" "${@:2}" 2>&1 </dev/null)
  (($? == 2)) || complain "$*: expected exit code 2"
  [[ $said == "$1: invalid argument '${!#}'; expected "* ]] || complain "$*: no such message: $said"
}

mapfile -t scripts < <(grep -l '^source tests/build/arguments.sh' -- *.sh)
((${#scripts[@]} > 11)) || complain "expected 12 scripts or more, found ${scripts[*]}"
for script in "${scripts[@]}"; do
  [[ $script != "${BASH_SOURCE[0]##*/}" ]] || continue
  for help in --help -h; do
    said=$(cd / && "$OLDPWD/$script" $help 2>&1 </dev/null) || complain "$script $help: exit code $?"
    [[ ${#said} -gt 40 && $said != *"set -"* && $said != "#"* ]] || complain "$script $help: no usage: $said"
    # Those with arguments show them.
    grep -q 'take_no_arguments' "$script" || [[ $said == *"tests/build/$script "* ]] ||
      complain "$script $help: no line of arguments: $said"
  done
  case $script in
    format_test.sh) refuses "$script" --fix --nonsense ;;
    readme_commands.sh) refuses "$script" "a line" --snippets ;;
    *) refuses "$script" nonsense ;;
  esac
  [[ $script == ci_recipes.sh || $script == readme_workspace.sh ]] || refuses "$script" --nonsense
done
exit "$failed"
