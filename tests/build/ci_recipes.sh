#!/usr/bin/env bash
# Runs the scripts of examples/ci as a CI job would, in a repository of its own, a copy of examples/first_gate. Gates
# pass and fail, and one of two commits is slower. The files for CI systems are read as YAML, and call only scripts and
# options that there are.
#
#   tests/build/ci_recipes.sh [BAZEL_ARGUMENT...]     such as --disk_cache=FOLDER
set -uo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.." || exit 1
# shellcheck source=tests/build/arguments.sh
source tests/build/arguments.sh
take_bazel_options "$@"
pace=$PWD

scratch=$(mktemp -d)
mine=$scratch/mine
finish() {
  (cd "$mine" && "$pace/third_party/bazel" clean --expunge >/dev/null 2>&1)
  rm -rf "$scratch"
}
trap finish EXIT
problems=()
problem() { problems+=("$1"); printf '%s\n%s\n' "${output:-}" "$1"; }

# Runs in the repository; sets output and code.
in_mine() {
  output=$(cd "$mine" && "$@" 2>&1 </dev/null)
  code=$?
}
ends_with() { ((code == $1)) || problem "$2: expected exit code $1, got $code"; }
has() { [[ -s $mine/$1 ]] || problem "$2: there is no $1"; }
commit() {
  git -C "$mine" add -A
  git -C "$mine" -c user.name=test -c user.email=test@example.org commit -q -m "$1"
}

# ---- the files for CI systems
/usr/bin/python3 - examples/ci <<'PYTHON' || problem "the files of examples/ci"
import pathlib
import re
import sys

import yaml

folder = pathlib.Path(sys.argv[1])
problems = []


def commands(node):
    """All texts of a file; some of them are commands."""
    if isinstance(node, dict):
        for value in node.values():
            yield from commands(value)
    elif isinstance(node, list):
        for value in node:
            yield from commands(value)
    elif isinstance(node, str):
        yield node


files = sorted([*folder.glob("*.yml"), folder / "Jenkinsfile"])
if len(files) != 4:
    problems.append("expected four files, found " + ", ".join(map(str, files)))
for file in files:
    text = file.read_text(encoding="utf-8")
    texts = list(commands(yaml.safe_load(text))) if file.suffix == ".yml" else re.findall(r"sh '([^']*)'", text)
    called = {name for each in texts for name in re.findall(r"ci/([\w.-]+\.sh)", each)}
    for name in {"gate.sh", "before_after.sh"} - called:
        problems.append(f"{file} does not call ci/{name}")
    for name in called:
        if not (folder / name).is_file():
            problems.append(f"{file} calls ci/{name}, which is not in {folder}")
    for artifacts in "gate-artifacts", "before-after-artifacts":
        if artifacts not in text:
            problems.append(f"{file} does not publish {artifacts}")
    # A job that installs within the checkout must keep //... out of that folder: LibTorch's Python has BUILD files.
    inside = re.search(r"PACE_HOME: \$CI_PROJECT_DIR/(\S+)", text)
    if inside and f"printf '\\n{inside[1]}\\n' >>.bazelignore" not in text:
        problems.append(f"{file} installs into {inside[1]} in the checkout, so that //... has its BUILD files")
    # Files beside the checkout may be there from the job before.
    for line in text.splitlines():
        if "git clone" in line and "rm -rf ../pace &&" not in line:
            problems.append(f"{file} clones into a folder that may exist: {line.strip()}")
for problem in problems:
    print(problem)
sys.exit(bool(problems))
PYTHON

# ---- the repository of a user, beside pace
mkdir "$mine"
cp -r examples/first_gate/. "$mine"
rm -rf "$mine"/bazel-*
ln -s "$pace" "$scratch/pace"
sed -i 's|path = "../.."|path = "../pace"|' "$mine/WORKSPACE"
for argument in "$@"; do printf 'build %s\n' "$argument" >>"$mine/.bazelrc"; done
mkdir "$mine/ci"
cp examples/ci/*.sh "$mine/ci"
printf 'bazel-*\ngate-artifacts\n*-artifacts\n' >"$mine/.gitignore"
git -C "$mine" init -q
commit "my layer norm"

in_mine ci/gate.sh //:layer_norm_test
ends_with 0 "a gate that passes"
for file in results.json results.csv test.log test.xml; do
  has "gate-artifacts/layer_norm_test/$file" "a gate that passes"
done
in_mine ci/gate.sh //:slowed_test
ends_with 3 "a gate that fails"
has gate-artifacts/slowed_test/results.json "a gate that fails"
[[ ! -e $mine/gate-artifacts/layer_norm_test ]] || problem "artifacts of the run before are still there"
in_mine env ARTIFACTS=ci ci/gate.sh //:layer_norm_test
ends_with 2 "a folder of artifacts that is the user's"
has ci/gate.sh "a folder of artifacts that is the user's"
for script in gate before_after; do
  in_mine "ci/$script.sh" --help
  ends_with 0 "$script.sh --help"
  [[ $output == *"ARTIFACTS "* && $output != *"set -"* ]] || problem "$script.sh --help: no usage"
done
in_mine env PACE=nowhere ci/gate.sh
ends_with 2 "no checkout of pace"

# The tests that run, and the use of Bazel's exit code. A stand-in for Bazel prints its arguments.
mkdir -p "$scratch/stand-in/third_party"
cat >"$scratch/stand-in/third_party/bazel" <<'CODE'
#!/usr/bin/env bash
for word; do [[ $word != --build_event_json_file=* ]] || events=${word#*=}; done
printf '%b' "$EVENTS" >"$events"
[[ $EVENTS ]] || rm "$events"
echo "called: ${*:5}"
exit "$CODE"
CODE
chmod +x "$scratch/stand-in/third_party/bazel"
# called EXPECTED ARGUMENT...: Bazel's arguments if gate.sh has these
called() {
  in_mine env PACE="$scratch/stand-in" CODE=0 EVENTS='{"id": {}}\n' ci/gate.sh "${@:2}"
  ends_with 0 "gate.sh ${*:2}"
  [[ $'\n'$output == *$'\n'"called: $1"$'\n'* ]] || problem "gate.sh ${*:2}: expected '$1'"
}
called //...
called "//... --config ci" --config ci
called "//... -- -//slow/..." -- -//slow/...
for target in //a:b :b b a:b ... a/... @pace//a; do called "$target --config=ci" "$target" --config=ci; done
called "--config=ci b" --config=ci b
in_mine env PACE="$scratch/stand-in" CODE=37 EVENTS= ci/gate.sh //a
ends_with 37 "Bazel that ends before its tests"
[[ $output == *"Bazel ended with 37 before it ran a test"* ]] || problem "Bazel that ends before its tests: no message"
# A workspace that is reached through a link: Bazel is called in the checkout of the commit, and fails here.
ln -s "$mine" "$scratch/link"
output=$(cd "$scratch/link" && env PACE="$scratch/stand-in" CODE=1 EVENTS= ARTIFACTS="$scratch/linked" \
  ci/before_after.sh HEAD HEAD //a 2>&1 </dev/null)
code=$?
ends_with 2 "a workspace behind a link"
[[ $output == *"called: "*"cannot build //a at HEAD"* ]] || problem "a workspace behind a link: Bazel is not called in it"
# The order of the processes: stand-in programs print their side.
mkdir -p "$scratch/order/third_party"
cat >"$scratch/order/third_party/bazel" <<'CODE'
#!/usr/bin/env bash
for word; do [[ $word != --script_path=* ]] || program=${word#*=}; done
[[ ${program:-} ]] || exit 0
if [[ $program == */compare.sh ]]; then
  # Refuses one option, and names its files otherwise.
  printf '#!/usr/bin/env bash\n[[ $* != *--wrong* ]] || { echo "--wrong: unknown option"; exit 2; }\necho "compared: $*"\n'
else
  printf '#!/usr/bin/env bash\necho "${2##*/}"\n'
fi >"$program"
chmod +x "$program"
CODE
chmod +x "$scratch/order/third_party/bazel"
in_mine env PACE="$scratch/order" PROCESSES=3 ARTIFACTS="$scratch/ordered" ci/before_after.sh HEAD HEAD //a
ends_with 0 "the order of processes"
[[ $(grep -o '^[a-z]*-[0-9]' <<<"$output" | xargs) == "before-1 after-1 after-2 before-2 before-3 after-3" ]] ||
  problem "the order of processes is another one"
in_mine env PACE="$scratch/order" PROCESSES=1 ARTIFACTS="$scratch/options" LIMIT=1.5 \
  COMPARE_OPTIONS="--allow-undecided --by speedup" ci/before_after.sh HEAD HEAD //a
ends_with 0 "options of the comparison"
[[ $output == *"compared: --no-slower-than 1.5 --markdown $scratch/options/summary.md --allow-undecided --by speedup --old "* ]] ||
  problem "options of the comparison do not reach it"
in_mine env PACE="$scratch/order" ARTIFACTS="$scratch/wrong" COMPARE_OPTIONS=--wrong ci/before_after.sh HEAD HEAD //a
ends_with 2 "an option that the comparison refuses"
[[ $output == *"COMPARE_OPTIONS=--wrong: --wrong: unknown option"* && $output != *before-1* ]] ||
  problem "an option that the comparison refuses: there is no message, or something was measured"
for setting in LIMIT=abc LIMIT=0 LIMIT=1,02 LIMIT=-1 PROCESSES=0 PROCESSES=1000 PROCESSES=many DISK_CACHE_MB=0 \
  DISK_CACHE_MB=lots; do
  in_mine env PACE="$scratch/order" ARTIFACTS="$scratch/refused" "$setting" ci/before_after.sh HEAD HEAD //a
  ends_with 2 "$setting"
  [[ $output == *"before_after.sh: $setting; expected"* ]] || problem "$setting: no message that names it"
done
for setting in ARTIFACTS DISK_CACHE; do
  in_mine env PACE="$scratch/order" ARTIFACTS="$scratch/unmade" "$setting=/dev/null/folder" ci/before_after.sh HEAD HEAD //a
  ends_with 2 "$setting that cannot be made"
  [[ $output == *"before_after.sh: $setting=/dev/null/folder cannot be made"* ]] || problem "$setting that cannot be made: no message"
done
# Of three files of 600 kB, the one that was used last is within a megabyte.
mkdir "$scratch/full"
for day in 1 3 2; do
  head -c 600000 /dev/zero >"$scratch/full/day $day"
  touch -a -d "2026-01-0$day" "$scratch/full/day $day"
done
in_mine env PACE="$scratch/order" PROCESSES=1 ARTIFACTS="$scratch/shrunk" DISK_CACHE="$scratch/full" DISK_CACHE_MB=1 \
  ci/before_after.sh HEAD HEAD //a
ends_with 0 "a disk cache that is full"
[[ $(ls "$scratch/full") == "day 3" ]] || problem "the disk cache has not lost what was used longest ago: $(ls "$scratch/full")"
in_mine env PACE="$scratch/stand-in" CODE=8 EVENTS='{"id": {}}\n{"id' ci/gate.sh //a
ends_with 8 "events that are cut off"

# The comparison of commits finds a slower program without a gate of its own: the slower commit does the
# work ten times, which no load on the machine hides.
sed -i 's|^at::Tensor my_layer_norm(const at::Tensor& x) {|&  for (int i = 0; i < 9; ++i) at::layer_norm(x, {x.size(-1)});|' \
  "$mine/my_layer_norm.cc"
commit "a slower one"
common=(--max-interference 1 --allow-undecided on --budget 0.3)
in_mine env PROCESSES=2 LIMIT=1.3 DISK_CACHE="$scratch/cache" ci/before_after.sh HEAD~1 HEAD //:layer_norm_test "${common[@]}"
ends_with 1 "a slower commit"
has before-after-artifacts/summary.md "a slower commit"
grep -q mine "$mine/before-after-artifacts/summary.md" || problem "the summary does not name the slower implementation"
has before-after-artifacts/before-2.json "a slower commit"
in_mine ci/before_after.sh HEAD~1 HEAD //:layer_norm_test
ends_with 2 "results of an earlier comparison"
in_mine env ARTIFACTS=other ci/before_after.sh no-such-commit HEAD //:layer_norm_test
ends_with 2 "a commit that is not there"
[[ $output == *"there is no commit no-such-commit"* ]] || problem "a commit that is not there: no message that names it"
! compgen -G "$scratch/pace-*-*" >/dev/null || problem "checkouts are left: $(ls "$scratch")"

((${#problems[@]} == 0)) || { printf 'FAILED: %s\n' "${problems[@]}" >&2; exit 1; }
echo "the scripts of examples/ci gate, collect and compare as docs/ci.md says"
