# The parts of a machine that the project needs, and how to recognise them. Sourced by third_party/bazel on every
# call, so once all is there, no program is started but the compiler, for its version.

# PACE_SYSROOT stands before every system path below, so that tests can show a machine that lacks them.
sysroot=${PACE_SYSROOT:-}

# Debian package : the file that shows that it is there. Catch2 has catch_all.hpp since version 3.
bazel_packages=(
  bazel-bootstrap:/usr/bin/bazel
  # With these two Bazel packs a test's undeclared outputs.
  file:/usr/bin/file
  zip:/usr/bin/zip
)
# Debian's folder of the rules that Bazel 4.2 has apart from its program.
bazel_rules_packages=(
  bazel-rules-java:/usr/share/bazel/rules/java/WORKSPACE
  bazel-rules-proto:/usr/share/bazel/rules/proto/WORKSPACE
  bazel-platforms:/usr/share/bazel/tools/platforms/WORKSPACE
  bazel-skylib:/usr/share/bazel/tools/skylib/WORKSPACE
)
library_packages=(
  g++:/usr/bin/g++
  libcatch2-dev:/usr/include/catch2/catch_all.hpp
  libcli11-dev:/usr/include/CLI/CLI.hpp
  nlohmann-json3-dev:/usr/include/nlohmann/json.hpp
  libyaml-cpp-dev:/usr/include/yaml-cpp/yaml.h
  libboost-math-dev:/usr/include/boost/math/distributions.hpp
  zlib1g-dev:/usr/include/zlib.h
  # Counts instructions.
  valgrind:/usr/bin/valgrind
)
# For pace's own tests: only where needs_find_asked says so.
own_packages=(
  # For //benches/operators:google_benchmark and //benches/fixture:overhead.
  libbenchmark-dev:/usr/include/benchmark/benchmark.h
  # Compiles the unit tests.
  clang-19:/usr/bin/clang++-19
)
# libFuzzer, as clang-19 finds it on any architecture.
fuzzer_runtime=/usr/lib/llvm-19/lib/clang/19/lib/linux/libclang_rt.fuzzer-*.a
# The tools that `.ci/run` checks pace's own sources with: only where PACE_CHECKS is set.
checks_packages=(
  clang-format-19:/usr/bin/clang-format-19
  clang-tidy-19:/usr/bin/clang-tidy-19
  # Has libFuzzer, for tests/fuzz/run.sh.
  "libclang-rt-19-dev:$fuzzer_runtime"
  doxygen:/usr/bin/doxygen
  doxygen-awesome-css:/usr/share/doxygen-awesome-css/doxygen-awesome.css
  # Reads the files of examples/ci.
  python3-yaml:/usr/lib/python3/dist-packages/yaml/__init__.py
  # Compiles the Python package.
  "python3-dev:/usr/include/python3*/Python.h"
  # Build examples/cmake and examples/make.
  cmake:/usr/bin/cmake
  ninja-build:/usr/bin/ninja
  ccache:/usr/bin/ccache
  make:/usr/bin/make
  # Open the pages of tools/report.
  chromium:/usr/bin/chromium
  chromium-driver:/usr/bin/chromedriver
)
# The tools that third_party/remote/up runs actions in, and down finds them by: only where PACE_REMOTE is set.
remote_packages=(
  bubblewrap:/usr/bin/bwrap
  procps:/usr/bin/pgrep
)
# To install LibTorch and the other Python packages with, where the user has no other Python that can.
python_packages=(
  python3:/usr/bin/python3
  "python3-venv:/usr/lib/python3*/ensurepip/__init__.py"
)

requirements=$(<"$here/requirements.txt")
page_requirements=$(<"$here/page_requirements.txt")
tools_requirements=$(<"$here/tools_requirements.txt")
checks_requirements=$(<"$here/checks_requirements.txt")
remote_requirements=$(<"$here/remote/requirements.txt")
torch_version=${requirements#*torch==}
torch_version=${torch_version%%$'\n'*}
if [[ -n ${PACE_LIBTORCH_VERSION:-} ]]; then
  requirements=${requirements/torch==$torch_version/torch==$PACE_LIBTORCH_VERSION}
  torch_version=$PACE_LIBTORCH_VERSION
fi

oldest_libtorch=2.9  # as third_party/libtorch.bzl and cmake/FindLibTorch.cmake have it

oldest_gcc=12  # C++20 as pace uses it

# Ends with a message: the problem, then the remedy, a line each.
die() {
  printf 'pace: %s\n' "$1" >&2
  shift
  (($# == 0)) || printf '      %s\n' "$@" >&2
  exit 1
}

# Bazel's rules, and the programs that it runs, stand in other folders than this shell. Paths relative to this one are
# made absolute, for them, too. The folders of the user, which other programs share, are not pace's to interpret.
needs_make_absolute() {
  local name
  for name in PACE_LIBTORCH PACE_BAZEL PACE_PYTHON PACE_TOOLS_PYTHON PACE_HOME PACE_PACKAGE_CACHE PACE_COMMON_PARTS; do
    [[ -z ${!name:-} || ${!name} == /* || $name=${!name} == PACE_TOOLS_PYTHON=none ]] || export "$name=$PWD/${!name}"
  done
  for name in XDG_CACHE_HOME HOME; do
    [[ -z ${!name:-} || ${!name} == /* ]] || die "$name=${!name} is no absolute path." "Type: export $name=/a/folder/of/yours"
  done
}

# Ends with a message on systems that pace is not for, before anything is fetched.
needs_check_system() {
  [[ $OSTYPE == linux* ]] || die "pace runs on Linux alone, and this is $OSTYPE." "Use a machine or a container with Linux."
  [[ $HOSTTYPE == x86_64 || $HOSTTYPE == aarch64 || -n ${PACE_LIBTORCH:-} ]] ||
    die "there is no LibTorch for $HOSTTYPE that could be installed." \
      "Point PACE_LIBTORCH at one of yours, $oldest_libtorch or newer, or use a machine with x86-64."
}

# Sets pace_home, the folders of the virtual environments and bazel, and refuses a PACE_* that points at the wrong
# thing.
needs_check_environment() {
  needs_check_system
  # Nobody else may write to what is installed and built, whatever the user's umask is.
  umask o-w
  needs_make_absolute
  bazel=$sysroot/usr/bin/bazel
  if [[ -n ${PACE_BAZEL:-} ]]; then
    [[ -f $PACE_BAZEL && -x $PACE_BAZEL ]] ||
      die "PACE_BAZEL=$PACE_BAZEL is no program that can be run." \
        "Set it to the path of a Bazel, such as /usr/local/bin/bazel, or unset it: then Debian's is installed."
    bazel=$PACE_BAZEL
  fi
  if [[ -n ${PACE_PYTHON:-} && ! -x ${PACE_PYTHON:-} ]]; then
    die "PACE_PYTHON=$PACE_PYTHON is no program that can be run." \
      "Set it to the path of a python3 that has the torch which pace is built with, or unset it."
  fi
  if [[ -n ${PACE_TOOLS_PYTHON:-} && $PACE_TOOLS_PYTHON != none && ! -x $PACE_TOOLS_PYTHON ]]; then
    die "PACE_TOOLS_PYTHON=$PACE_TOOLS_PYTHON is no program that can be run." \
      "Set it to the path of a python3 that has what third_party/{page,tools}_requirements.txt name, to none, or unset it."
  fi
  if [[ -n ${PACE_HOME:-} ]]; then
    pace_home=$PACE_HOME
  elif [[ -n ${XDG_CACHE_HOME:-${HOME:-}} ]]; then
    pace_home=${XDG_CACHE_HOME:-$HOME/.cache}/pace
  else
    die "none of PACE_HOME, XDG_CACHE_HOME and HOME is set: there is no place to install into." \
      "Type: export PACE_HOME=/a/folder/of/yours"
  fi
  if [[ -n ${PACE_LIBTORCH_VERSION:-} ]]; then
    [[ -z ${PACE_LIBTORCH:-} ]] ||
      die "PACE_LIBTORCH=$PACE_LIBTORCH is a LibTorch, and PACE_LIBTORCH_VERSION=$PACE_LIBTORCH_VERSION asks for one to be installed." \
        "Unset one of them."
    needs_is_new_enough "$PACE_LIBTORCH_VERSION" ||
      die "PACE_LIBTORCH_VERSION=$PACE_LIBTORCH_VERSION: expected a version such as 2.15.0, $oldest_libtorch or newer."
  fi
  # There while Debian packages are being installed.
  unfinished_packages=$pace_home/packages-unfinished
  libtorch_home=$pace_home/libtorch-$torch_version
  # Named by their contents, so that checkouts with other requirements do not replace each other's.
  page_home=$pace_home/page-$(needs_hash "$page_requirements")
  tools_home=$pace_home/tools-$(needs_hash "$tools_requirements")
  checks_home=$pace_home/checks-$(needs_hash "$checks_requirements")
  remote_home=$pace_home/remote-$(needs_hash "$remote_requirements")
  [[ -z ${PACE_LIBTORCH:-} ]] || needs_check_libtorch "$PACE_LIBTORCH"
  needs_check_owner
}

# Ends with a message if others could put code where this user's is: into the folders of the Pythons and LibTorch. Root
# and, under sudo, the one who called it may own them.
needs_check_owner() {
  local owner mode folder
  while IFS=: read -r owner mode folder; do
    [[ " 0 $EUID ${SUDO_UID:-} " == *" $owner "* ]] ||
      die "$folder belongs to user $owner, whose code would run with your rights." \
        "Type: export PACE_HOME=/a/folder/of/yours, or: sudo chown -R $EUID $folder"
    # As in /tmp, where nobody can replace the folders of others, the sticky bit will do.
    (((8#$mode & 8#1002) != 2)) ||
      die "$folder may be written to by every user (mode $mode), whose code would run with your rights." \
        "If you trust what is there, type: chmod -R o-w $folder"
  done < <(stat -L -c %u:%a:%n "$pace_home" "$libtorch_home" "$page_home" "$tools_home" "$checks_home" \
    "$remote_home" 2>/dev/null)
}

# needs_is_new_enough VERSION: whether it is one of LibTorch that pace can be built with, such as 2.11.0+cpu.
needs_is_new_enough() {
  [[ $1 =~ ^([0-9]+)\.([0-9]+)\.[0-9]+[0-9a-z.]*(\+[0-9a-z.]+)?$ ]] || return 1
  local major=${BASH_REMATCH[1]} minor=${BASH_REMATCH[2]}
  ((major > ${oldest_libtorch%.*} || (major == ${oldest_libtorch%.*} && minor >= ${oldest_libtorch#*.})))
}

# needs_check_libtorch FOLDER: ends with a message unless it holds a LibTorch that pace can be built with.
needs_check_libtorch() {
  local given=$1 root found=""
  for root in "$given/torch" "$given" "$given/libtorch"; do
    [[ -d $root/include/ATen && -d $root/lib ]] && break
    root=""
  done
  [[ -n $root ]] ||
    die "PACE_LIBTORCH=$given is no LibTorch." \
      "Expected: an unzipped libtorch (a folder with include/ATen and lib/), a wheel's torch folder, or its site-packages." \
      "Or unset PACE_LIBTORCH: then LibTorch $torch_version is installed."
  if [[ -f $root/build-version ]]; then
    found=$(<"$root/build-version")
  elif [[ -f $root/version.py ]]; then
    found=$(<"$root/version.py")
    found=${found#*__version__ = \'}
    found=${found%%\'*}
  fi
  needs_is_new_enough "$found" ||
    die "PACE_LIBTORCH=$given is LibTorch ${found:-of an unknown version}; pace needs $oldest_libtorch or newer." \
      "Point it at a newer one, or unset PACE_LIBTORCH: then LibTorch $torch_version is installed."
}

# needs_hash TEXT: prints the hash of an ASCII text, from 0 to 2^32 - 1; third_party/tools.bzl names the same folder by
# Starlark's hash(), which is this one.
needs_hash() {
  local LC_ALL=C text=$1 hash=0 code place
  for ((place = 0; place < ${#text}; ++place)); do
    printf -v code %d "'${text:place:1}"
    hash=$(((hash * 31 + code) & 0xffffffff))
  done
  printf %d "$hash"
}

# Optional parts that this command line needs: tools, tests.
asked=""

# needs_find_asked ARGUMENT...: sets asked to the words for the tools that Bazel's arguments may need. `tools` is for a
# target in tests/, in tools/history or in tools/fleet. `tests` is for one in tests/ or that uses google/benchmark.
# Patterns that may have such targets among them count as well. In another workspace only targets of @pace// are pace's.
# PACE_CHECKS asks for both.
needs_find_asked() {
  local word program=""
  asked=${PACE_CHECKS:+ tools tests }
  for word; do
    [[ $word != run ]] || program=run
    # The next arguments are the program's.
    [[ $program$word != run-- ]] || break
    [[ $word != -* ]] || continue
    ! needs_is_of_another_workspace || [[ $word == *@pace//* ]] || continue
    [[ ! $word =~ (^|//)(tests|tools/history|tools/fleet|(tools/)?\.\.\.) ]] || asked+=" tools "
    [[ ! $word =~ (^|//)tests|\.\.\.|:(all|\*)$|google_benchmark|benches/fixture ]] || asked+=" tests "
  done
}

# Sets missing_packages (their names) and missing_environments (of libtorch, page, tools, checks and remote).
needs_find_missing() {
  local wanted=("${library_packages[@]}") entry
  missing_packages=()
  missing_environments=()
  [[ -n ${PACE_BAZEL:-} ]] || wanted+=(bazel-bootstrap:/usr/bin/bazel)
  wanted+=("${bazel_packages[@]:1}")
  needs_have_all "${bazel_rules_packages[@]}" || ! needs_bazel_rules || wanted+=("${bazel_rules_packages[@]}")
  [[ $asked != *" tests "* ]] || wanted+=("${own_packages[@]}")
  [[ -z ${PACE_CHECKS:-} ]] || wanted+=("${checks_packages[@]}")
  [[ -z ${PACE_REMOTE:-} ]] || wanted+=("${remote_packages[@]}")
  [[ -n ${PACE_LIBTORCH:-} ]] || environment_installed "$libtorch_home" "$requirements" || missing_environments+=(libtorch)
  [[ -n ${PACE_TOOLS_PYTHON:-} ]] || environment_installed "$page_home" "$page_requirements" ||
    missing_environments+=(page)
  [[ $asked != *" tools "* || -n ${PACE_TOOLS_PYTHON:-} ]] || environment_installed "$tools_home" "$tools_requirements" ||
    missing_environments+=(tools)
  [[ -z ${PACE_CHECKS:-} ]] || environment_installed "$checks_home" "$checks_requirements" ||
    missing_environments+=(checks)
  [[ -z ${PACE_REMOTE:-} ]] || environment_installed "$remote_home" "$remote_requirements" ||
    missing_environments+=(remote)
  ((${#missing_environments[@]} == 0)) || find_python || wanted+=("${python_packages[@]}")
  for entry in "${wanted[@]}"; do
    witness_exists "$sysroot${entry#*:}" || missing_packages+=("${entry%%:*}")
  done
}

# Whether anything is to be installed, or an earlier installation to be finished. After needs_find_missing.
needs_installation() {
  ((${#missing_packages[@]} + ${#missing_environments[@]})) || [[ -e $unfinished_packages ]]
}

# Exports which optional parts are installed. Repository rules list PACE_INSTALLED in `environ`, so that Bazel runs them
# again when it changes.
needs_export_installed() {
  local entry
  export PACE_INSTALLED=""
  ! environment_installed "$page_home" "$page_requirements" || PACE_INSTALLED+=" page"
  ! environment_installed "$tools_home" "$tools_requirements" || PACE_INSTALLED+=" tools"
  for entry in "${own_packages[@]}"; do
    ! witness_exists "$sysroot${entry#*:}" || PACE_INSTALLED+=" ${entry%%:*}"
  done
}

# Whether the Bazel that is used takes rules from Debian's folder: version 4.2 does (third_party/repositories.bzl).
needs_bazel_rules() {
  [[ -n ${PACE_BAZEL:-} ]] || return 0
  local version
  version=$(timeout "$answer_seconds" "$bazel" --version 2>/dev/null </dev/null)
  [[ $version == "bazel 4.2."* ]]
}

# needs_have_all PACKAGE:PATTERN...: whether all of them are there.
needs_have_all() {
  local entry
  for entry; do
    witness_exists "$sysroot${entry#*:}" || return 1
  done
}

# Sets workspace to the folder of the workspace around the current folder; nothing if there is none.
needs_find_workspace() {
  workspace=$PWD
  until [[ -z $workspace || -e $workspace/WORKSPACE || -e $workspace/WORKSPACE.bazel || -e $workspace/MODULE.bazel ]]; do
    workspace=${workspace%/*}
  done
}

# Whether the workspace around the current folder is one that uses pace, rather than pace's own.
needs_is_of_another_workspace() {
  local workspace
  needs_find_workspace
  [[ -n $workspace && ! $workspace -ef $here/.. ]]
}

# witness_exists PATTERN: whether a file of that name is there.
witness_exists() {
  local IFS="" files
  # shellcheck disable=SC2206
  files=($1)
  [[ -e ${files[0]} ]]
}

# More than a program takes to print its version, on any machine: one that takes longer hangs.
answer_seconds=60

# Sets python to one that can make a virtual environment.
find_python() {
  for python in "$sysroot/usr/bin/python3" "$(command -v python3 || true)"; do
    [[ -x $python ]] || continue
    timeout "$answer_seconds" "$python" -c 'import sys, venv, ensurepip; sys.exit(sys.version_info < (3, 11))' 2>/dev/null && return
  done
  return 1
}

# environment_installed FOLDER REQUIREMENTS: the stamp is written last and holds the requirements it was made of.
environment_installed() {
  [[ -f $1/complete && $(<"$1/complete") == "$2" && -x $1/venv/bin/python3 ]]
}

# needs_check_home ARGUMENT...: ends with a message if Bazel cannot build where it would. It takes no workspace with a
# blank in its path. It builds below HOME unless an option of its own names another folder.
needs_check_home() {
  local workspace word files remedy problem="" place=${HOME:-}/.cache/bazel
  local -A files_read=()
  needs_find_workspace
  [[ $workspace != *' '* || -n ${PACE_BAZEL:-} ]] ||
    die "the folder $workspace has a blank in its path, and Bazel refuses such a workspace." \
      "Move it, such as: mv '$workspace' /a/folder/without/blanks"
  [[ -n ${HOME:-} && " $*" != *' --output_user_root'* && " $*" != *' --output_base'* ]] || return 0
  [[ -w $place ]] || { mkdir -p "$place" 2>/dev/null && [[ -w $place ]]; } ||
    problem="$place cannot be written to, and Bazel builds in it."
  [[ $HOME != *' '* ]] || problem="HOME=$HOME has a blank, and Bazel cannot build below such a folder."
  [[ -n $problem ]] || return 0
  files=("$sysroot/etc/bazel.bazelrc" "$HOME/.bazelrc")
  [[ -z $workspace ]] || files+=("$workspace/.bazelrc")
  for word; do
    [[ $word == -* ]] || break
    [[ $word != --bazelrc=* ]] || files+=("${word#*=}")
  done
  for word in "${files[@]}"; do
    ! needs_names_output "$word" || return 0
  done
  remedy=("Type the same with --output_user_root=/a/folder/without/blanks as the first argument.")
  [[ ! -w $HOME ]] ||
    remedy+=("Or once and for all: echo 'startup --output_user_root=/a/folder/without/blanks' >>~/.bazelrc")
  die "$problem" "${remedy[@]}"
}

# needs_names_output FILE: whether a file of Bazel's options, or one that it imports, names the folder to build below.
# Files that import themselves or each other are read once: keys of files_read. Their meaning is left to Bazel.
needs_names_output() {
  local command place
  [[ -f $1 && -z ${files_read[$1]:-} ]] || return 1
  files_read[$1]=read
  ! grep -qE '^[[:space:]]*startup[[:space:]](.*[[:space:]])?--output_(user_root|base)' "$1" || return 0
  while read -r command place; do
    [[ $command == import || $command == try-import ]] || continue
    place=${place//%workspace%/${workspace:-}}
    ! needs_names_output "$place" || return 0
  done <"$1"
  return 1
}

needs_check_compiler() {
  local compiler=${CC:-gcc} version
  version=$(timeout "$answer_seconds" "$compiler" -dumpversion 2>/dev/null) ||
    die "the C++ compiler $compiler cannot be run." "Type: sudo apt-get install g++, or set CC to a compiler."
  ((${version%%.*} >= oldest_gcc)) ||
    die "$compiler is version $version; pace needs $oldest_gcc or newer (C++20)." \
      "Install a newer one and set CC to it, such as: export CC=gcc-12"
}
