#!/usr/bin/env bash
# Runs the commands that README.md shows: every line of its ```sh blocks, each in a shell of its own at the top of the
# tree, and its C++ examples are those of the embedding workspace. (readme_workspace.sh builds its own workspace.)
#
#   tests/build/readme_commands.sh [LINE...]     leaves out the lines given: those that have been run already
set -uo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.." || exit 1

# block LANGUAGE [N]: the contents of README.md's blocks in that language, or of the N-th of them.
block() {
  awk -v start="^\`\`\`$1\$" -v number="${2:-0}" \
    '$0 ~ start { inside = ++count == number || number == 0; next } /^```/ { inside = 0 } inside' README.md
}

problems=()
examples=(tests/embedding/layer_norm_test.cc tests/embedding/train_step.cc tests/embedding/training_test.cc tests/embedding/kernels_test.cc)
for i in "${!examples[@]}"; do
  diff <(block cpp $((i + 1))) "${examples[i]}" || problems+=("C++ example $((i + 1)) differs from ${examples[i]}")
done
[[ -z $(block cpp $((${#examples[@]} + 1))) ]] || problems+=("C++ examples that nothing compiles")
diff <(block 'ini .bazelrc') tests/embedding/.bazelrc || problems+=("the .bazelrc example differs from tests/embedding/.bazelrc")

ran=0
while IFS= read -r line; do
  [[ -n $line ]] || continue
  for known in "$@"; do [[ $line != "$known" ]] || continue 2; done
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
((ran > 0)) || problems+=("README.md has no commands to run")

printf '\n%d commands of README.md ran\n' "$ran"
((${#problems[@]} == 0)) || { printf 'README.md: %s\n' "${problems[@]}" >&2; exit 1; }
