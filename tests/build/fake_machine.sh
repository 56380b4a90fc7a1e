# Machines for setup_test.sh and setup_killed_test.sh, which source this: the files and programs of third_party/bazel.

script=$PWD/third_party/bazel
work=$(mktemp -d "${TEST_TMPDIR:-/tmp}/setup.XXXXXX")
failures=0

# ---- a machine to play with

# new_machine: an empty one, as root, whose apt-get and python3 work. Its programs are in $bin, its files in $root.
new_machine() {
  rm -rf "$work"
  bin=$work/bin root=$work/root home=$work/home
  mkdir -p "$bin" "$home" "$root/etc/apt/sources.list.d" "$root/usr/bin"
  for tool in bash env mkdir rm cat sed grep tail cut df awk flock du sleep mv readlink touch chmod timeout stat; do
    ln -s "$(command -v "$tool")" "$bin/$tool"
  done
  program gcc 'echo 12.2.0'
  program dpkg 'exit 0'
  program apt-cache 'printf "libcatch2-dev:\n  Installed: (none)\n  Candidate: 2.13.10-1\n"'
  program apt-get 'case $1 in
    indextargets) printf "bookworm-updates http://mirror.example/debian/\nbookworm http://mirror.example/debian/\n" ;;
    install) printf "%s\n" "$@" >>"$WORK/apt-installed"
      while read -r file; do mkdir -p "$PACE_SYSROOT${file%/*}"; echo "echo bazel" >"$PACE_SYSROOT$file"; done <"$WORK/witnesses"
      chmod +x "$PACE_SYSROOT/usr/bin/bazel" ;;
  esac'
  python_with_pip 'echo "Downloading torch-2.11.0.whl"; echo "$*" >>"$WORK/pip-ran"
    for each; do [[ $each != *.txt ]] || sed "s|^|${each##*/}: |" "$each" >>"$WORK/pip-read-${each##*/}"; done
    [[ -z ${PIP_WAITS:-} ]] || exec bash "$WORK/wait_for" "$WORK/pip-may-end"'
  echo 'until [[ -e $1 ]]; do sleep 0.05; done' >"$work/wait_for"
  cat >"$work/witnesses" <<'END'
/usr/bin/bazel
/usr/share/bazel/rules/java/WORKSPACE
/usr/share/bazel/rules/proto/WORKSPACE
/usr/share/bazel/tools/platforms/WORKSPACE
/usr/share/bazel/tools/skylib/WORKSPACE
/usr/bin/file
/usr/bin/zip
/usr/bin/g++
/usr/include/catch2/catch_all.hpp
/usr/include/CLI/CLI.hpp
/usr/include/nlohmann/json.hpp
/usr/include/yaml-cpp/yaml.h
/usr/include/boost/math/distributions.hpp
/usr/include/benchmark/benchmark.h
/usr/include/zlib.h
/usr/bin/valgrind
/usr/bin/clang++-19
END
}

# program NAME SCRIPT: puts it into $bin. The old one may be a link to the machine's own program: never write into it.
program() {
  rm -f "$bin/$1"
  printf '#!%s/bash\n%s\n' "$bin" "$2" >"$bin/$1"
  chmod +x "$bin/$1"
}

# python_with_pip SCRIPT: a Python whose virtual environments hold a copy of it, and whose pip is SCRIPT.
python_with_pip() {
  program python3 'case "$*" in
    *"-m venv"*) mkdir -p "$3/bin"; cat "$0" >"$3/bin/python3"; chmod +x "$3/bin/python3" ;;
    *"-m pip"*) '"$1"' ;;
  esac'
}

# both_missing SCRIPT: a machine whose apt-get ends only when pip has begun, and whose pip only when apt-get has: with
# SCRIPT.
both_missing() {
  new_machine
  mv "$bin/apt-get" "$bin/apt-get-alone"
  program apt-get 'if [[ $1 == install ]]; then touch "$WORK/apt-began"; bash "$WORK/wait_for" "$WORK/pip-began"; fi
    exec apt-get-alone "$@"'
  python_with_pip 'touch "$WORK/pip-began"; bash "$WORK/wait_for" "$WORK/apt-began"; '"$1"
}

with_packages() {
  local file
  while read -r file; do
    mkdir -p "$root${file%/*}"
    touch "$root$file"
  done <"$work/witnesses"
  # Bazel itself prints its arguments.
  printf '#!%s/bash\nprintf bazel; printf " <%%s>" "$@"; echo\n' "$bin" >"$root/usr/bin/bazel"
  chmod +x "$root/usr/bin/bazel"
}

# with_libtorch FOLDER VERSION: an unzipped libtorch.
with_libtorch() {
  mkdir -p "$1/include/ATen" "$1/lib"
  echo "$2" >"$1/build-version"
}

# on_machine [NAME=VALUE...] -- ARGUMENTS: runs the script there; sets output and code.
on_machine() {
  local settings=()
  while [[ $1 != -- ]]; do settings+=("$1"); shift; done
  shift
  output=$(env -i PATH="$bin" HOME="$home" WORK="$work" PACE_SYSROOT="$root" PACE_ASSUME_ROOT=1 "${settings[@]}" \
    "$script" "$@" 2>&1 </dev/null)
  code=$?
}

# wait_for FILE [TEXT]: waits until it is there, and holds the text. It has as long as Bazel gives the test: how fast
# the machine is must make no difference.
wait_for() {
  printf '%s: waiting for %s\n' "$case" "$*"
  until [[ -e $1 ]] && { (($# == 1)) || grep -qF -- "$2" "$1"; }; do sleep 0.05; done
}

# ---- expectations

complain() {
  failures=$((failures + 1))
  printf 'FAILED: %s: %s\n--- exit code %s, output:\n%s\n---\n' "$case" "$1" "$code" "$output"
}
succeeds() { ((code == 0)) || complain "expected exit code 0"; }
fails() { ((code == 1)) || complain "expected exit code 1"; }
says() { [[ $output == *"$1"* ]] || complain "expected: $1"; }
says_not() { [[ $output != *"$1"* ]] || complain "did not expect: $1"; }
is() { [[ $output == "$1" ]] || complain "expected nothing but: $1"; }
