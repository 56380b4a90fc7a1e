#!/usr/bin/env bash
# pace for a CMake project: examples/cmake with an installed pace, and with the lines of docs/build.md that fetch it.
# Also the targets of pace_add_test, its refusals, and its choice of LibTorch. All of it in folders with blanks.
set -uo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.." || exit 1
# shellcheck source=tests/build/arguments.sh
source tests/build/arguments.sh
take_no_arguments "$@"
pace=$PWD

scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
work="$scratch/two words"
mkdir "$work"
problems=()
problem() { problems+=("$1"); printf '%s\n%s\n' "${output:-}" "$1"; }
run() { output=$("$@" 2>&1 </dev/null); code=$?; }
succeeds() { ((code == 0)) || problem "$1: expected exit code 0, got $code"; }
# Where CMake breaks lines depends on the length of paths.
fails_with() {
  local text
  text=$(tr -s ' \n' ' ' <<<"$output")
  ((code != 0)) || problem "$1: expected a failure"
  [[ $text == *"$2"* ]] || problem "$1: expected: $2"
}

# The same files are compiled for both projects: once.
export CMAKE_CXX_COMPILER_LAUNCHER=ccache CCACHE_DIR=$scratch/ccache CMAKE_GENERATOR=Ninja CMAKE_BUILD_PARALLEL_LEVEL=${JOBS:-$(nproc)}
# The LibTorch that third_party/bazel installs, unless another one is given.
# shellcheck source=third_party/setup/needs.sh
here=$pace/third_party source third_party/setup/needs.sh
needs_check_environment
[[ -n ${PACE_LIBTORCH:-} ]] || PACE_LIBTORCH=$(echo "$libtorch_home"/venv/lib/python3*/site-packages/torch)
export PACE_LIBTORCH

# ---- examples/cmake with an installed pace
cp -r examples/cmake "$work/mine"
lines=$(grep -cvE '^ *(#.*)?$' "$work/mine/CMakeLists.txt")
((lines <= 15)) || problem "examples/cmake/CMakeLists.txt has $lines lines; expected at most 15, as a project of a reader has"
began=$SECONDS
run cmake -S "$pace" -B "$work/pace" -DCMAKE_BUILD_TYPE=Release -DCMAKE_INSTALL_PREFIX="$work/installed"
succeeds "configure pace"
run cmake --build "$work/pace" --target install
succeeds "build and install pace"
echo "pace: built and installed in $((SECONDS - began)) s"
# The installed pace alone: nothing of its sources or its build.
rm -rf "$work/pace"

export CMAKE_PREFIX_PATH=$work/installed
run cmake -S "$work/mine" -B "$work/build"
fails_with "without a build type" "pace_add_test(NAME row_norms_test): the library row_norms would be timed without optimisation, since CMAKE_BUILD_TYPE is ''"
# A library of the project is called as it likes.
cp -r "$work/mine" "$work/named"
sed -i -E 's/(add_library\(|LIBRARIES )row_norms/\1pace_row_norms/; s/(target_[a-z_]+\()row_norms /\1pace_row_norms /' "$work/named/CMakeLists.txt"
run cmake -S "$work/named" -B "$work/named/build"
fails_with "a library whose name begins as pace's" "the library pace_row_norms would be timed without optimisation"
began=$SECONDS
run cmake -S "$work/mine" -B "$work/build" -DCMAKE_BUILD_TYPE=Release
succeeds "configure the example"
run cmake --build "$work/build"
succeeds "build the example"
echo "the example: built in $((SECONDS - began)) s"
# CTest's working directory; one job more than there are tests.
run env -C "$work/build" ctest --output-on-failure -j 2
succeeds "the example's gate"
grep -q '"build_flags": *".*-O3 -DNDEBUG.* -O3 -falign-functions=64 -falign-loops=64"' "$work/build/row_norms_test.outputs/results.json" ||
  problem "results.json does not have the options that the test was compiled with: $(grep build_flags "$work"/build/*.outputs/results.json)"
run env -C "$work/build" ctest --repeat until-pass:2 --output-on-failure
fails_with "--repeat until-pass" "ctest --repeat until-pass is refused"
run env -C "$work/build" ctest --show-only=json-v1
python3 - "$output" "$work/mine" <<'PYTHON' || problem "the test's properties"
import json, sys
test, = json.loads(sys.argv[1])["tests"]
found = {each["name"]: each["value"] for each in test["properties"]}
wanted = {"RUN_SERIAL": True, "TIMEOUT": 300.0, "LABELS": ["pace"],
          "ENVIRONMENT": ["TEST_TIMEOUT=300", "PACE_CHECKOUT=" + sys.argv[2]]}
wrong = [f"{name}: expected {value}, found {found.get(name)}" for name, value in wanted.items() if found.get(name) != value]
sys.exit("\n".join(wrong) or 0)
PYTHON

# ---- the same project, with the lines that fetch pace
fetch=$(awk '$0 == "```cmake FetchContent" { inside = 1; next } /^```/ { inside = 0 } inside' docs/build.md)
[[ $fetch == *FetchContent_MakeAvailable\(pace\)* ]] || problem "docs/build.md has no block that fetches pace"
cp -r "$work/mine" "$work/fetches"
awk -v lines="$fetch" '/^find_package\(pace/ { print lines; next } { print }' examples/cmake/CMakeLists.txt >"$work/fetches/CMakeLists.txt"
unset CMAKE_PREFIX_PATH
run cmake -S "$work/fetches" -B "$work/fetched" -DCMAKE_BUILD_TYPE=Release -DFETCHCONTENT_SOURCE_DIR_PACE="$pace"
succeeds "configure with pace's sources"
run cmake --build "$work/fetched"
succeeds "build with pace's sources"
! compgen -G "$work/fetched/_deps/pace-build/libpace_kernels.a" >/dev/null || problem "a room that no target needs was built"
run env -C "$work/fetched" ctest --output-on-failure
succeeds "the gate, with pace's sources"

# ---- what pace_add_test refuses
refuses() {
  printf 'include("%s/cmake/PaceAddTest.cmake")\npace_add_test(%s)\n' "$pace" "$1" >"$work/one.cmake"
  run cmake -P "$work/one.cmake"
  fails_with "pace_add_test($1)" "$2"
}
refuses 'NAME a SOURCES a.cc FLAKY' '`FLAKY` is refused: a gate that is measured again until it passes has lost its error rates'
refuses 'NAME a SOURCES a.cc FLAKY ON' '`FLAKY` is refused'
refuses 'NAME a SOURCES a.cc SHARD_COUNT 2' '`SHARD_COUNT` is refused: CTest has no shards'
refuses 'NAME a SOURCES a.cc SIZE huge' "SIZE is 'huge'; expected small, medium, large or enormous"
refuses 'NAME a SOURCES a.cc TIMEOUT soon' "TIMEOUT is 'soon'; expected a whole number of seconds above 0"
refuses 'NAME a a.cc' "unknown argument 'a.cc'; expected NAME, SIZE, TIMEOUT, SOURCES"
refuses 'NAME a' 'SOURCES is missing'
refuses 'SOURCES a.cc' 'NAME is missing'
refuses 'NAME a SOURCES' 'SOURCES has no value'

# ---- run_gate.sh
gate() { run sh "$pace/cmake/run_gate.sh" "$work/gate outputs" sh -c "$1"; }
gate 'exit 4'
((code == 4)) || problem "an exit code is passed on: expected 4, got $code"
gate 'echo >"$TEST_UNDECLARED_OUTPUTS_DIR/results"; echo >"$TEST_PREMATURE_EXIT_FILE"; rm "$TEST_PREMATURE_EXIT_FILE"'
succeeds "a program that ends as it should"
[[ -f $work/gate\ outputs/results ]] || problem "the outputs are not there"
gate 'echo >"$TEST_PREMATURE_EXIT_FILE"'
fails_with "a program that ends half-way" "has ended before its tests had (with 0)"
[[ ! -e $work/gate\ outputs/results ]] || problem "results of the run before are still there"

# ---- LibTorch
# libtorch VERSION: a folder that looks like one.
libtorch() {
  local folder=$work/libtorch-$1 part
  mkdir -p "$folder/include/ATen" "$folder/include/torch/headeronly" "$folder/lib"
  IFS=. read -r -a part <<<"$1"
  printf '#define TORCH_VERSION_MAJOR %s\n#define TORCH_VERSION_MINOR %s\n#define TORCH_VERSION_PATCH %s\n' \
    "${part[@]}" >"$folder/include/torch/headeronly/version.h"
  echo "$folder"
}
finds() { run cmake -DPACE_LIBTORCH="$1" -P "$pace/cmake/FindLibTorch.cmake"; fails_with "PACE_LIBTORCH=$1" "$2"; }
finds "$work/nowhere" "is no LibTorch. Expected: an unzipped libtorch"
finds "$(libtorch 2.8.0)" "is LibTorch 2.8.0; pace needs 2.9 or newer"
run env HOME="$work" PATH=/nowhere PACE_LIBTORCH= PACE_HOME= XDG_CACHE_HOME= "$(command -v cmake)" -P "$pace/cmake/FindLibTorch.cmake"
fails_with "no LibTorch" "there is no LibTorch. Give its folder by -DPACE_LIBTORCH=FOLDER"
run env HOME="$work" PATH=/nowhere PACE_LIBTORCH= PACE_HOME= XDG_CACHE_HOME= "$(command -v cmake)" -Droot="$pace" -P "$pace/cmake/FindLibTorch.cmake"
fails_with "a project with a variable of another meaning" "there is no LibTorch. Give its folder by -DPACE_LIBTORCH=FOLDER"
# installed VERSION: a folder that looks like one of third_party/bazel.
installed() {
  mkdir -p "$work/.cache/pace/libtorch-$1/venv/lib/python3.11/site-packages"
  mv "$(libtorch "$1")" "$work/.cache/pace/libtorch-$1/venv/lib/python3.11/site-packages/torch"
}
installed 2.7.0
installed 2.8.0
touch "$work/.cache/pace/libtorch-2.7.0/complete"
run env HOME="$work" PATH=/nowhere PACE_LIBTORCH= PACE_HOME= XDG_CACHE_HOME= "$(command -v cmake)" -P "$pace/cmake/FindLibTorch.cmake"
fails_with "an installation that was not finished" "is LibTorch 2.7.0; pace needs 2.9 or newer"
run env CMAKE_PREFIX_PATH="$work/installed" cmake -S "$work/mine" -B "$work/build" -DPACE_LIBTORCH="$(libtorch 2.12.1)"
fails_with "an installed pace for another LibTorch" "was compiled for LibTorch "
fails_with "an installed pace for another LibTorch" "; $work/libtorch-2.12.1 is LibTorch 2.12.1"

((${#problems[@]} == 0)) || { printf 'FAILED: %s\n' "${problems[@]}" >&2; exit 1; }
echo "a CMake project builds and runs a gate, with an installed pace and with its sources"
