#!/usr/bin/env bash
# Makes a workspace of the blocks that README.md and docs/*.md show, word for word, and builds and tests it. Its results
# name its commit; another commit builds nothing anew and is measured. Its rules refuse attributes that they do not
# take.
#
#   tests/build/readme_workspace.sh [BAZEL_ARGUMENT...]     such as --disk_cache=FOLDER
set -uo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.." || exit 1
# shellcheck source=tests/build/arguments.sh
source tests/build/arguments.sh
take_bazel_options "$@"
pace=$PWD

scratch=$(mktemp -d)
mine=$scratch/mine
bazel() { (cd "$mine" && ../pace/third_party/bazel "$@" 2>&1 </dev/null); }
finish() {
  bazel clean --expunge >/dev/null
  rm -rf "$scratch"
}
trap finish EXIT

problems=()
problem() { problems+=("$1"); printf '%s\n%s\n' "$output" "$1"; }
succeeds() { ((code == 0)) || problem "$1: exit code $code"; }

# block 'LANGUAGE FILE': the contents of the first block of README.md and docs/*.md that begins so.
block() {
  awk -v start="\`\`\`$1" \
    'FNR == 1 { inside = 0 } $0 == start { inside = ++count == 1; next } /^```/ { inside = 0 } inside' README.md docs/*.md
}

mkdir "$mine"
ln -s "$pace" "$scratch/pace"
block 'python WORKSPACE' >"$mine/WORKSPACE"
block 'ini .bazelrc' >"$mine/.bazelrc"
block 'python BUILD' >"$mine/BUILD"
block 'cpp examples/first_gate/layer_norm_test.cc' >"$mine/layer_norm_test.cc"
for file in WORKSPACE .bazelrc BUILD layer_norm_test.cc; do
  [[ -s $mine/$file ]] || { output= problem "no page has a block for $file"; exit 1; }
done
cp examples/first_gate/my_layer_norm.{hpp,cc} "$mine"
commit() {
  git -C "$mine" add -A
  git -C "$mine" -c user.name=test -c user.email=test@example.org commit -q --allow-empty -m test
  git -C "$mine" rev-parse HEAD
}
git -C "$mine" init -q
printf 'bazel-*\n' >"$mine/.gitignore"
first=$(commit)

# A machine that is shared with other work: judge all the same.
test_all() { output=$(bazel test --noshow_progress "$@" --test_arg=--max-interference=1 //...); code=$?; }
has_commit() {
  local xml=$mine/bazel-testlogs/layer_norm_test/test.xml
  grep -q "name=\"commit\" value=\"$1\"" "$xml" || problem "no commit $1 in test.xml: $(grep commit "$xml")"
}
test_all "$@"
succeeds "the workspace"
has_commit "$first"
[[ $output != *linux-sandbox*.cc:* ]] || problem "sandbox messages"
(($(wc -l <<<"$output") < 60)) || problem "pages of output"

bazel build "$@" //... >/dev/null
second=$(commit)
output=$(bazel build "$@" //...)
grep -qE 'process(es)?: [0-9]+ internal\.$' <<<"$output" || problem "another commit builds anew: $output"
test_all "$@"
succeeds "the workspace, at another commit"
[[ $output != *"(cached) PASSED"* ]] || problem "figures came from a cache"
has_commit "$second"

sed '/^pace_test/,/^)/s/^)/    flaky = True,\n)/' "$mine/BUILD" >"$mine/BUILD.flaky"
mv "$mine/BUILD.flaky" "$mine/BUILD"
output=$(bazel query //...); code=$?
((code != 0)) || problem "flaky = True passes"
[[ $output == *'pace_test(name = "layer_norm_test"): `flaky` is refused: a gate that is measured again until it passes'* ]] ||
  problem "flaky = True: no message that says why"

((${#problems[@]} == 0)) || { printf 'FAILED: %s\n' "${problems[@]}" >&2; exit 1; }
echo "the workspace that the documentation shows builds, passes, and knows its commit"
