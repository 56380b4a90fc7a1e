#!/usr/bin/env bash
# Holds README.md, docs/*.md and the examples' pages to the tree:
#  - every line of a ```sh block runs, each in a shell of its own at the top of the tree, once however many pages show
#    it;
#  - a block ```cpp FILE, ```cmake FILE or ```make FILE, or ```python FILE in docs/, is that file; a block
#    ```cpp excerpt FILE is a run of its lines, whatever their common indentation;
#  - the block ```ini .bazelrc is every example's. (readme_workspace.sh builds a workspace of its own.)
#
#   tests/build/readme_commands.sh [LINE...]             leaves out the lines given: those that have been run already
#   tests/build/readme_commands.sh --readme [LINE...]    runs the lines of README.md alone
#   tests/build/readme_commands.sh --snippets            compares the blocks and runs nothing
set -uo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.." || exit 1
# shellcheck source=tests/build/arguments.sh
source tests/build/arguments.sh
only=
if [[ ${1:-} == --readme || $* == --snippets ]]; then
  only=$1
  shift
fi
take_arguments '--snippets alone, or --readme and lines that are left out' '[^-].*' "$@"

pages=(README.md docs/*.md examples/*/README.md)
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
problems=()

# block LANGUAGE: the contents of all pages' blocks in that language.
block() {
  awk -v start="\`\`\`$1" \
    'FNR == 1 { inside = 0 } $0 == start { inside = 1; next } /^```/ { inside = 0 } inside' "${pages[@]}"
}

# Each C++ block as a file of its own, and a line for each: its number, its place, its file.
awk -v scratch="$scratch" '
  FNR == 1 { inside = 0 }
  /^```(cpp|(cmake|make) [^ ]*\/|python docs\/)/ {
    inside = 1; file = scratch "/" ++count; printf "" >file
    print count, FILENAME ":" FNR, substr($0, index($0 " ", " ") + 1); next
  }
  /^```/ { inside = 0 }
  inside { print >file }' "${pages[@]}" >"$scratch/blocks"

# is_excerpt BLOCK FILE: whether the lines of BLOCK follow each other in FILE, all with the same blanks before them.
is_excerpt() {
  awk '
    NR == FNR { block[++size] = $0; next }
    { line[++lines] = $0 }
    END {
      for (first = 1; size > 0 && first + size - 1 <= lines; ++first) {
        at = index(line[first], block[1])
        if (!at || substr(line[first], at) != block[1]) continue
        indent = substr(line[first], 1, at - 1)
        if (indent ~ /[^ ]/) continue
        for (i = 1; i <= size; ++i)
          if (line[first + i - 1] != (block[i] == "" ? "" : indent block[i])) break
        if (i > size) exit 0
      }
      exit 1
    }' "$1" "$2"
}

shown=0
while read -r number where kind file; do
  [[ $kind == excerpt ]] || file=$kind
  if [[ -z $file ]]; then
    problems+=("$where: a C++ block that nothing compiles; expected \`\`\`cpp FILE or \`\`\`cpp excerpt FILE")
  elif [[ ! -f $file ]]; then
    problems+=("$where: there is no file $file")
  elif [[ $kind == excerpt ]]; then
    is_excerpt "$scratch/$number" "$file" || problems+=("$where: its lines do not follow each other in $file")
  else
    diff "$scratch/$number" "$file" || problems+=("$where: the block differs from $file")
  fi
  shown=$((shown + 1))
done <"$scratch/blocks"
((shown > 0)) || problems+=("there are no blocks of files")
for file in examples/*/.bazelrc; do
  diff <(block 'ini .bazelrc') "$file" || problems+=("the .bazelrc block differs from $file")
done

ran=0
if [[ $only != --snippets ]]; then
  [[ ! $only ]] || pages=(README.md)
  declare -A seen
  for known in "$@"; do seen[$known]=1; done
  while IFS= read -r line; do
    [[ -n $line && -z ${seen[$line]:-} ]] || continue
    seen[$line]=1
    printf '\n$ %s\n' "$line"
    began=$SECONDS
    if output=$(bash -c "$line" 2>&1 </dev/null); then
      tail -n 5 <<<"$output"
    else
      problems+=("exit code $?: $line")
      tail -n 60 <<<"$output"
    fi
    printf '(%d s)\n' $((SECONDS - began))
    ran=$((ran + 1))
  done < <(block sh)
  ((ran > 0)) || problems+=("there are no commands to run")
fi

printf '\n%d commands ran, %d blocks were compared\n' "$ran" "$shown"
((${#problems[@]} == 0)) || { printf 'documentation: %s\n' "${problems[@]}" >&2; exit 1; }
