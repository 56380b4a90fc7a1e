#!/usr/bin/env bash
# third_party/bazel on machines that lack something, shown by a fake root folder (PACE_SYSROOT) and fake programs.
# No package is installed and nothing is fetched.
set -uo pipefail

# shellcheck source=tests/build/fake_machine.sh
source tests/build/fake_machine.sh

case="all there: it is Bazel, with the same arguments, and says nothing"
new_machine; with_packages; with_libtorch "$work/torch" 2.11.0+cpu
on_machine PACE_LIBTORCH="$work/torch" PACE_TOOLS_PYTHON=none -- test //a --test_arg='two words' ''
succeeds; is "bazel <test> <//a> <--test_arg=two words> <>"

case="packages missing, not root: the commands to type"
new_machine
on_machine PACE_ASSUME_ROOT=0 -- test //a
fails
says "only root can install them"
says "echo 'deb http://mirror.example/debian/ bookworm-backports main' | sudo tee $root/etc/apt/sources.list.d/pace-backports.list"
says "sudo apt-get install -y --no-install-recommends g++ libcatch2-dev/bookworm-backports libcli11-dev nlohmann-json3-dev libyaml-cpp-dev libboost-math-dev zlib1g-dev valgrind bazel-bootstrap file zip bazel-rules-java bazel-rules-proto bazel-platforms bazel-skylib"

case="the command line says whether pace's own tests are built, and whether tools/history and tools/fleet run"
new_machine; with_packages; with_libtorch "$work/torch" 2.11.0+cpu
rm "$root/usr/bin/clang++-19" "$root/usr/include/benchmark/benchmark.h"
# asks WHAT ARGUMENT...: the tools and tests that a command line asks for.
asks() {
  local what=$1
  shift
  output=$(here=${script%/bazel} && source "$here/setup/needs.sh" && needs_find_asked "$@" && echo "$asked")
  code=$?
  for each in tools tests; do
    [[ " $what " != *" $each "* ]] || says " $each "
    [[ " $what " == *" $each "* ]] || says_not " $each "
  done
}
asks "" run //benches/operators -- --html /tmp/report.html
asks "" run //benches/files -- --inputs "(T([...], f32),)" //tests/...
asks "" run //tools/report -- a.json
asks "" test --test_arg=//tests/... //benches/operators:sweep -//tests/...
asks "tools" run //tools/history
asks "tools" run tools/fleet:fleet -- pool
asks "tools tests" build //tools/...
asks "tools tests" test //tests/... //benches/...
asks "tools tests" test -- //tests/stats:all
asks "tools tests" query 'deps(@pace//tests/stats:summary_test)'
asks "tools tests" build //...
asks "tests" test //benches/...
asks "tests" test //benches/operators:all
asks "tests" run //benches/operators:google_benchmark
mkdir -p "$work/mine"; touch "$work/mine/WORKSPACE"
cd "$work/mine" || exit 1
asks "" test //tests/... //tools/... //...
asks "tools" run @pace//tools/history
asks "tools tests" test @pace//tests/...
cd "$OLDPWD" || exit 1
on_machine PACE_LIBTORCH="$work/torch" PACE_TOOLS_PYTHON=none PACE_ASSUME_ROOT=0 -- run //benches/operators -- --html //tests/a.html
succeeds; says "bazel <run>"
for arguments in "test //tests/..." "run //benches/operators:google_benchmark"; do
  # shellcheck disable=SC2086
  on_machine PACE_LIBTORCH="$work/torch" PACE_TOOLS_PYTHON=none PACE_ASSUME_ROOT=0 -- $arguments
  fails; says "--no-install-recommends libbenchmark-dev clang-19"
done

case="a later installation changes the variable that tells a server of Bazel about it"
new_machine; with_packages; with_libtorch "$work/torch" 2.11.0+cpu
rm "$root/usr/bin/clang++-19" "$root/usr/include/benchmark/benchmark.h"
printf '#!%s/bash\necho "installed:$PACE_INSTALLED"\n' "$bin" >"$root/usr/bin/bazel"
on_machine PACE_LIBTORCH="$work/torch" -- run //benches/operators
succeeds; says "installing the pages' Python"; says_not "the tools' Python"; says $'\ninstalled: page'; says_not clang-19
for _ in 1 2; do
  on_machine PACE_LIBTORCH="$work/torch" -- run //benches/operators
  succeeds; is "installed: page"
done
on_machine PACE_LIBTORCH="$work/torch" -- run //tools/history
succeeds; says "installing the tools' Python"; says $'\ninstalled: page tools'; says_not clang-19
cp "$root/usr/bin/bazel" "$work/bazel"
on_machine PACE_LIBTORCH="$work/torch" -- test //tests/...
succeeds
cp "$work/bazel" "$root/usr/bin/bazel"
on_machine PACE_LIBTORCH="$work/torch" -- run //benches/operators
succeeds; is "installed: page tools libbenchmark-dev clang-19"

case="another workspace that uses pace: what pace's own tests are built with is not installed for its tests"
new_machine
mkdir -p "$work/mine/below"
for file in WORKSPACE WORKSPACE.bazel MODULE.bazel; do
  touch "$work/mine/$file"
  cd "$work/mine/below" || exit 1
  on_machine PACE_ASSUME_ROOT=0 -- test //...
  cd "$OLDPWD" || exit 1
  fails; says "zlib1g-dev valgrind bazel-bootstrap"; says_not clang-19; says_not libbenchmark-dev
  rm "$work/mine/$file"
done

case="only missing packages are asked for"
new_machine; with_packages; rm "$root/usr/include/nlohmann/json.hpp"
on_machine PACE_ASSUME_ROOT=0 -- test //a
fails; says "--no-install-recommends nlohmann-json3-dev"; says_not g++; says_not backports

case="a release with a Catch2 3 of its own needs no other source"
new_machine; program apt-cache 'echo "  Candidate: 3.7.1-1"'
on_machine PACE_ASSUME_ROOT=0 -- test //a
fails; says " libcatch2-dev "; says_not backports

case="Ubuntu has Catch2 3 under another name"
new_machine; program apt-cache '[[ $2 != catch2 ]] || echo "  Candidate: 3.4.0-1build1"'
on_machine PACE_ASSUME_ROOT=0 -- test //a
fails; says " catch2 libcli11-dev "; says_not libcatch2-dev/; says_not backports

case="a release that lacks packages is named, with them, before anything is installed"
new_machine; echo 'PRETTY_NAME="Ubuntu 22.04.5 LTS"' >"$root/etc/os-release"
program apt-get 'echo "$*" >>"$WORK/apt-ran"; [[ $1 == --simulate ]] || exit 0
  printf "E: Unable to locate package bazel-rules-proto\nE: Package '"'clang-19'"' has no installation candidate\n"; exit 100'
on_machine -- test //tests/...
fails; says "Ubuntu 22.04.5 LTS has no package"; says bazel-rules-proto; says clang-19; says "docs/build.md"
! grep -q '^install' "$work/apt-ran" || complain "packages were installed: $(<"$work/apt-ran")"
[[ ! -e $work/pip-ran ]] || complain "Python packages were installed"

case="a machine that speaks German: apt and df are asked in English"
new_machine
program apt-cache 'word=Installationskandidat; [[ ${LC_ALL:-} != C ]] || word=Candidate
  printf "libcatch2-dev:\n  %s: 3.7.1-1\n" "$word"'
on_machine LANG=de_DE.UTF-8 LC_ALL=de_DE.UTF-8 PACE_ASSUME_ROOT=0 -- test //a
fails; says " libcatch2-dev "; says_not backports

case="no apt-get: what to provide"
new_machine; rm "$bin/apt-get"
on_machine -- test //a
fails; says "there is no apt-get here"; says "PACE_BAZEL"; says "PACE_LIBTORCH"

case="packages missing, root: they are installed, Catch2 from backports, and Bazel goes on"
new_machine; with_libtorch "$work/torch" 2.11.0+cu130; rm "$bin/python3"
on_machine PACE_LIBTORCH="$work/torch" PACE_TOOLS_PYTHON=none -- version
succeeds
[[ $(<"$root/etc/apt/sources.list.d/pace-backports.list") == "deb http://mirror.example/debian/ bookworm-backports main" ]] ||
  complain "backports were not added to apt's sources"
grep -qx 'libcatch2-dev/bookworm-backports' "$work/apt-installed" ||
  complain "Catch2 was not asked of backports: $(<"$work/apt-installed")"
! grep -q python "$work/apt-installed" ||
  complain "Python is not needed where LibTorch is given and the tools are left out: $(<"$work/apt-installed")"

case="no network for apt: its last words, and what to check"
new_machine; program apt-get '[[ $1 == install ]] || exit 0; echo "E: Failed to fetch bazel"; exit 100'
on_machine -- test //a
fails; says "| E: Failed to fetch bazel"; says "http_proxy"; says "run the same command again"

case="apt-get says it has installed, but has not"
new_machine; program apt-get 'exit 0'
on_machine -- test //a
fails; says "is not there: g++"; says "apt-get install --reinstall"

case="no Python: the packages that have one are named"
new_machine; with_packages; rm "$bin/python3"
on_machine PACE_ASSUME_ROOT=0 -- test //a
fails; says "--no-install-recommends python3 python3-venv"

case="LibTorch and the pages' Python are installed, once; then nothing is said"
new_machine; with_packages
on_machine -- info
succeeds; says "installing LibTorch 2.11.0"; says "bazel <info>"
[[ $output =~ "the set-up took "[0-9]+" s; of its steps, some at the same time:" ]] || complain "no times"
[[ $output =~ $'\n'\ +[0-9]+" s  installing the pages' Python" && $output =~ $'\n'\ +[0-9]+" s  installing LibTorch" ]] || complain "no times of steps"
[[ $(<"$home/.cache/pace/libtorch-2.11.0/complete") == "$(<third_party/requirements.txt)" ]] || complain "no stamp"
[[ $(cat "$home"/.cache/pace/page-*/complete) == "$(<third_party/page_requirements.txt)" ]] || complain "no stamp of pages"
! compgen -G "$home/.cache/pace/tools-*" >/dev/null || complain "what only tools/history and tools/fleet need was installed"
! compgen -G "$home/.cache/pace/checks-*" >/dev/null || complain "what only checks need was installed"
on_machine -- info
succeeds; is "bazel <info>"

case="pip gets each package of a lock once, with hashes, and without them it refuses any"
for part in torch cuda other page; do
  grep -qx "$part.txt: --require-hashes" "$work/pip-read-$part.txt" || complain "pip may install $part without hashes"
done
locked=$(grep -hE '^[a-z]|^ .*--hash=sha256:[0-9a-f]{64}' third_party/locks/{libtorch,page}.txt | sort)
[[ $(cat "$work"/pip-read-* | sed -nE 's/^[a-z]+\.txt: ([ a-z].*)/\1/p' | sort) == "$locked" ]] || complain "pip did not get what the locks have"
[[ $(grep '^torch.txt: [a-z]' "$work/pip-read-torch.txt") == "torch.txt: torch==2.11.0 \\" ]] || complain "torch is not alone"
! grep '^cuda.txt: [a-z]' "$work/pip-read-cuda.txt" | grep -vE '^cuda.txt: (cuda|nvidia)-' || complain "others are among CUDA's"

case="a lock has the versions that the requirements ask for, and a hash for each package"
for part in requirements:libtorch page_requirements:page tools_requirements:tools checks_requirements:checks remote/requirements:remote; do
  lock=third_party/locks/${part#*:}.txt
  while read -r requirement; do
    grep -qF "$requirement " "$lock" || complain "$lock lacks $requirement. Type: third_party/locks/make.sh"
  done < <(grep '^[a-z]' "third_party/${part%:*}.txt")
  ! grep -A 1 '^[a-z]' "$lock" | grep -vE '^([a-z].* \\|    --hash=sha256:[0-9a-f]{64}( \\)?|--)$' || complain "$lock: a package without a hash"
done

case="the bill of materials has each package once, those of pip with their hashes"
output=$(third_party/sbom.py | python3 -c 'import json, re, sys
bom = json.load(sys.stdin)
purls = [each["purl"] for each in bom["components"]]
assert len(purls) == len(set(purls)), purls
hashes = {each["purl"]: {of["content"] for of in each.get("hashes", [])} for each in bom["components"]}
for lock in sys.argv[1:]:
    for name, rest in re.findall(r"^([a-z]\S*)==(.*(?:\n .*)+)", open(lock).read(), re.MULTILINE):
        purl = "pkg:pypi/" + name + "@" + rest.split()[0]
        assert hashes[purl] == set(re.findall("sha256:([0-9a-f]+)", rest)) != set(), purl
assert any(re.match("pkg:deb/[a-z]+/libcatch2-dev", purl) for purl in purls), purls
print(bom["metadata"]["component"]["name"], "as expected")' third_party/locks/*.txt 2>&1); code=$?
succeeds; is "pace as expected"

case="the folder of the pages' Python is named by what it holds"
python_hash=$(python3 -c 'import functools, sys
print("%d" % functools.reduce(lambda h, c: (h * 31 + ord(c)) % 2**32, open(sys.argv[1]).read().rstrip("\n"), 0))' \
  third_party/page_requirements.txt)
[[ -d $home/.cache/pace/page-$python_hash ]] || complain "expected page-$python_hash"

case="LibTorch is given: the pages' Python is installed alone"
new_machine; with_packages; with_libtorch "$work/torch" 2.11.0+cpu
on_machine PACE_LIBTORCH="$work/torch" -- info
succeeds; says "installing the pages' Python"; says_not "installing LibTorch"; says "bazel <info>"

case="a Python for pages and tools is given, or none is wanted: LibTorch is installed alone"
for given in "$bin/python3" none; do
  new_machine; with_packages
  on_machine PACE_TOOLS_PYTHON="$given" -- run //tools/history
  succeeds; says "installing LibTorch"; says_not "tools' Python"; says_not "pages' Python"
done
on_machine PACE_TOOLS_PYTHON="$work/no-python" -- info
fails; says "PACE_TOOLS_PYTHON=$work/no-python is no program"

case="PACE_CHECKS: the checks' Python and a browser, too"
new_machine; with_packages
on_machine PACE_CHECKS=1 PACE_ASSUME_ROOT=0 -- info
fails; says "clang-format-19 clang-tidy-19 libclang-rt-19-dev doxygen doxygen-awesome-css python3-yaml python3-dev cmake ninja-build ccache make chromium chromium-driver"
for file in clang-format-19 clang-tidy-19 doxygen cmake ninja ccache make chromium chromedriver; do touch "$root/usr/bin/$file"; done
for file in share/doxygen-awesome-css/doxygen-awesome.css lib/python3/dist-packages/yaml/__init__.py \
  lib/llvm-19/lib/clang/19/lib/linux/libclang_rt.fuzzer-x86_64.a include/python3.11/Python.h; do
  mkdir -p "$root/usr/${file%/*}" && touch "$root/usr/$file"
done
on_machine PACE_CHECKS=1 -- info
succeeds; says "installing at the same time: page tools checks libtorch"
[[ $output =~ $'\n'\ +[0-9]+" s  installing the checks' Python" ]] || complain "no time of the checks' Python"
[[ $(cat "$home"/.cache/pace/checks-*/complete) == "$(<third_party/checks_requirements.txt)" ]] || complain "no stamp"
on_machine PACE_CHECKS=1 -- info
succeeds; is "bazel <info>"

case="no network for the pages' pip: what it ends with, LibTorch stays, and how to do without"
new_machine; with_packages
python_with_pip '[[ $* != *locks/page.txt* ]] || { echo "ERROR: No matching distribution found for jinja2"; exit 1; }'
on_machine -- info
fails; says "| ERROR: No matching distribution found for jinja2"; says "the pages' Python could not be installed"
says "PACE_TOOLS_PYTHON to none"
[[ -f $home/.cache/pace/libtorch-2.11.0/complete ]] || complain "no stamp of LibTorch"
! compgen -G "$home/.cache/pace/page-*/complete" >/dev/null || complain "a stamp stands where nothing was installed"
on_machine PACE_TOOLS_PYTHON=none -- info
succeeds; is "bazel <info>"

case="packages and LibTorch missing: both at the same time"
both_missing true
on_machine -- info
succeeds; says "installing at the same time: packages page libtorch"; says "s  installing Debian packages"
[[ $output == *$'\nbazel' ]] || complain "it did not become Bazel"
[[ -f $home/.cache/pace/libtorch-2.11.0/complete ]] || complain "no stamp"

case="packages fail while LibTorch is installed: their last words, and LibTorch stays"
both_missing true
program apt-get-alone '[[ $1 == install ]] || exit 0; echo "E: Failed to fetch bazel"; exit 100'
on_machine -- info
fails; says "| E: Failed to fetch bazel"; says "run the same command again"
[[ -f $home/.cache/pace/libtorch-2.11.0/complete ]] || complain "no stamp"

case="LibTorch fails while packages are installed: they are whole"
both_missing 'echo "ERROR: No matching distribution found"; exit 1'
on_machine -- info
fails; says "| ERROR: No matching distribution found"; says "PACE_LIBTORCH"
[[ -x $root/usr/bin/bazel ]] || complain "apt-get was cut short"
[[ ! -e $home/.cache/pace/libtorch-2.11.0/complete ]] || complain "a stamp stands where nothing was installed"

case="interrupted while both are installed: it ends, and leaves no stamp"
both_missing 'exec sleep infinity'
program apt-get-alone '[[ $1 == install ]] || exit 0; exec sleep infinity'
env -i PATH="$bin" HOME="$home" WORK="$work" PACE_SYSROOT="$root" PACE_ASSUME_ROOT=1 "$script" one >"$work/first" 2>&1 &
child=$!
wait_for "$work/pip-began"; wait_for "$work/apt-began"
kill -TERM "$child"; wait "$child"; code=$?; output=$(<"$work/first")
fails; says "interrupted"; says "Run the same command again"
[[ ! -e $home/.cache/pace/libtorch-2.11.0/complete ]] || complain "a stamp stands"

case="no Python and no LibTorch: Python comes first"
new_machine
mv "$bin/python3" "$work/python3"
mv "$bin/apt-get" "$bin/apt-get-alone"
program apt-get 'if [[ $1 == install && $* == *python3-venv* ]]; then
    printf "%s\n" "$@" >>"$WORK/apt-installed"; cat "$WORK/python3" >"$WORK/bin/python3"; chmod +x "$WORK/bin/python3"
  else
    exec apt-get-alone "$@"
  fi'
on_machine -- info
succeeds; says "at the same time:"
[[ $output == *$'\nbazel' ]] || complain "it did not become Bazel"
[[ -f $home/.cache/pace/libtorch-2.11.0/complete ]] || complain "no stamp"
[[ $(grep -xE 'install|python3|python3-venv|g[+][+]' "$work/apt-installed" | tr '\n' ' ') == \
  "install python3 python3-venv install g++ "* ]] || complain "Python was not the first: $(<"$work/apt-installed")"

case="XDG_CACHE_HOME and PACE_HOME say where"
new_machine; with_packages
on_machine XDG_CACHE_HOME="$work/xdg" -- info
succeeds; [[ -f $work/xdg/pace/libtorch-2.11.0/complete ]] || complain "not in XDG_CACHE_HOME"
on_machine XDG_CACHE_HOME="$work/xdg" PACE_HOME="$work/own" -- info
succeeds; [[ -f $work/own/libtorch-2.11.0/complete ]] || complain "not in PACE_HOME"

case="a foreign torch on PYTHONPATH, and blanks in PACE_HOME: pip sees neither"
new_machine; with_packages
python_with_pip '[[ -z ${PYTHONPATH:-}${PYTHONHOME:-} ]] || { echo "ERROR: a foreign torch is seen"; exit 1; }'
on_machine PYTHONPATH="$work/foreign" PYTHONHOME="$work/foreign" PACE_HOME="$work/two words" -- info
succeeds; says "bazel <info>"
[[ -f $work/two\ words/libtorch-2.11.0/complete ]] || complain "no stamp"

case="a half-finished LibTorch is made anew"
new_machine; with_packages; mkdir -p "$home/.cache/pace/libtorch-2.11.0/venv"; touch "$home/.cache/pace/libtorch-2.11.0/rest"
on_machine -- info
succeeds; says "found a half-finished or outdated installation of LibTorch 2.11.0 in $home/.cache/pace/libtorch-2.11.0: making it anew"
[[ ! -e $home/.cache/pace/libtorch-2.11.0/rest ]] || complain "the old files are still there"

case="other requirements make it outdated"
echo torch==2.10.0 >"$home/.cache/pace/libtorch-2.11.0/complete"
on_machine -- info
succeeds; says "half-finished or outdated"

case="packages of a run that was cut short are finished, though all files are there"
new_machine; with_packages; mkdir -p "$home/.cache/pace"; touch "$home/.cache/pace/packages-unfinished"
program dpkg 'echo "$*" >>"$WORK/dpkg-ran"'
on_machine PACE_ASSUME_ROOT=0 -- info
fails; says "Type: sudo dpkg --configure -a"
on_machine -- info
succeeds; says "finishing the Debian packages"; says "bazel <info>"
[[ $(<"$work/dpkg-ran") == "--configure -a" ]] || complain "dpkg was not called: $(<"$work/dpkg-ran")"
[[ ! -e $home/.cache/pace/packages-unfinished ]] || complain "the mark is still there"

case="CDPATH, as some shells export it"
new_machine; with_packages
on_machine CDPATH=.:/root -- info
succeeds; says "bazel <info>"

case="no network for pip: its last words, no stamp, and what to do"
new_machine; with_packages
python_with_pip 'echo "ERROR: No matching distribution found for torch==2.11.0"; exit 1'
on_machine -- info
fails; says "| ERROR: No matching distribution found"; says "it failed: $home/.cache/pace/libtorch-2.11.0/venv/bin/python3 -m pip"; says "https_proxy"; says "PACE_LIBTORCH"
[[ ! -e $home/.cache/pace/libtorch-2.11.0/complete ]] || complain "a stamp stands where nothing was installed"

case="a file with another hash, and a disk that is full: what to do"
new_machine; with_packages
python_with_pip 'echo "ERROR: THESE PACKAGES DO NOT MATCH THE HASHES FROM THE REQUIREMENTS FILE. If"; exit 1'
on_machine -- info
fails; says "has another hash than third_party/locks says"; says_not "Check the network"
python_with_pip 'echo "ERROR: Could not install: [Errno 28] No space left on device: /a"; exit 1'
on_machine -- info
fails; says "the disk of $home/.cache/pace/libtorch-2.11.0 is full"; says_not "Check the network"
python_with_pip 'echo "Error: it returned exit status 1."; touch "$WORK/pip-failed"; exit 1'
program df 'free=90000; [[ ! -e $WORK/pip-failed ]] || free=3; printf "head\n/dev/x 1 1 $free 1 /\n"'
on_machine -- info
fails; says "is full"
new_machine; program apt-get '[[ $1 == install ]] || exit 0; echo "E: You have not enough free space in /var/cache/apt/archives/."; exit 100'
on_machine -- test //a
fails; says "could not be installed: the disk is full"; says_not "http_proxy"

case="a disk that is too small"
new_machine; with_packages
program df 'printf "head\n/dev/x 1 1 1234 1 /\n"'
on_machine -- info
fails; says "libtorch page: this needs 8300 MB"; says "has 1234 MB"; says "export PACE_HOME="

case="a disk whose free space cannot be read"
new_machine; with_packages
program df 'echo "df: /x: Input/output error" >&2; exit 1'
on_machine -- info
succeeds; says "going on without knowing"; says "| df: /x: Input/output error"; says "bazel <info>"

case="a Python that never answers"
new_machine; with_packages
program timeout 'exit 124'  # as it ends after the time that it is given
on_machine PACE_ASSUME_ROOT=0 -- test //a
fails; says "--no-install-recommends python3 python3-venv"

case="no place to install into"
new_machine; with_packages
on_machine HOME= -- info
fails; says "Type: export PACE_HOME="
on_machine PACE_HOME=/proc/nowhere -- info
fails; says "cannot write to /proc/nowhere"

case="umask 000: no group may write to what is installed, and not everybody to what Bazel builds"
new_machine; with_packages
printf '#!%s/bash\numask\n' "$bin" >"$root/usr/bin/bazel"
output=$(umask 000; env -i PATH="$bin" HOME="$home" WORK="$work" PACE_SYSROOT="$root" "$script" info 2>&1); code=$?
succeeds; says $'\n0002'
written=$(find "$home/.cache" ! -type l -perm -o=w; find "$home/.cache/pace" ! -type l -perm -g=w)
[[ -z $written ]] || complain "others may write to $written"

case="a folder of code that others may write to, or that another user owns, is not used"
chmod o+w "$home/.cache/pace"/page-*; with_packages
on_machine -- info
fails; says "/page-"; says "may be written to by every user (mode 757)"; says "chmod -R o-w $home/.cache/pace/page-"
chmod o-w "$home/.cache/pace"/page-*
chmod 1777 "$home/.cache/pace"  # as /tmp
on_machine -- info
succeeds
program stat 'printf "%s\n" "0:755:/a" "$EUID:755:/b" "54321:755:/c:d"'
on_machine -- info
fails; says "/c:d belongs to user 54321"; says "export PACE_HOME="; says "sudo chown -R $EUID /c:d"
on_machine SUDO_UID=54321 -- info
succeeds

case="two at once: the second waits, and LibTorch is installed once"
new_machine; with_packages
env -i PATH="$bin" HOME="$home" WORK="$work" PACE_SYSROOT="$root" PIP_WAITS=1 "$script" one >"$work/first" 2>&1 &
first=$!
wait_for "$work/pip-ran"
env -i PATH="$bin" HOME="$home" WORK="$work" PACE_SYSROOT="$root" "$script" two >"$work/second" 2>&1 &
second=$!
wait_for "$work/second" "waiting for it"
touch "$work/pip-may-end"
wait "$first"; wait "$second"; code=$?; output=$(<"$work/second")
succeeds; says "waiting for it"; says "bazel <two>"
[[ $(<"$work/first") == *"bazel <one>"* ]] || complain "the first did not become Bazel: $(<"$work/first")"
(($(grep -c ' download .*/torch.txt$' "$work/pip-ran") == 1)) || complain "pip installed LibTorch more than once"

case="interrupted: it says so, and leaves no stamp"
new_machine; with_packages
env -i PATH="$bin" HOME="$home" WORK="$work" PACE_SYSROOT="$root" PIP_WAITS=1 "$script" one >"$work/first" 2>&1 &
child=$!
wait_for "$work/pip-ran"
kill -TERM "$child"; wait "$child"; code=$?; output=$(<"$work/first")
fails; says "interrupted"; says "Run the same command again"
[[ ! -e $home/.cache/pace/libtorch-2.11.0/complete ]] || complain "a stamp stands"
on_machine -- two
succeeds; says "half-finished"

case="PACE_LIBTORCH: what it may be"
new_machine; with_packages; with_libtorch "$work/a/libtorch" 2.11.0+cu130
mkdir -p "$work/site-packages/torch/include/ATen" "$work/site-packages/torch/lib"
printf "__all__ = []\n__version__ = '2.11.0+cu130'\ndebug = False\n" >"$work/site-packages/torch/version.py"
for folder in "$work/a/libtorch" "$work/a" "$work/site-packages" "$work/site-packages/torch"; do
  on_machine PACE_TOOLS_PYTHON=none PACE_LIBTORCH="$folder" -- info
  succeeds; is "bazel <info>"
done

case="PACE_LIBTORCH: not there, or another version"
on_machine PACE_TOOLS_PYTHON=none PACE_LIBTORCH="$work/nowhere" -- info
fails; says "PACE_LIBTORCH=$work/nowhere is no LibTorch"; says "include/ATen"
with_libtorch "$work/newer" 2.15.0+cpu
on_machine PACE_TOOLS_PYTHON=none PACE_LIBTORCH="$work/newer" -- info
succeeds; is "bazel <info>"
with_libtorch "$work/old" 2.8.0+cpu
on_machine PACE_TOOLS_PYTHON=none PACE_LIBTORCH="$work/old" -- info
fails; says "is LibTorch 2.8.0+cpu; pace needs 2.9 or newer"
rm "$work/old/build-version"
on_machine PACE_TOOLS_PYTHON=none PACE_LIBTORCH="$work/old" -- info
fails; says "is LibTorch of an unknown version; pace needs 2.9 or newer"

case="PACE_LIBTORCH_VERSION: that version is installed, beside the other, and no other than one that pace can use"
new_machine; with_packages
on_machine PACE_TOOLS_PYTHON=none -- info
succeeds
on_machine PACE_TOOLS_PYTHON=none PACE_LIBTORCH_VERSION=2.15.0+cpu -- info
succeeds; says "installing LibTorch 2.15.0+cpu"
[[ $(<"$home/.cache/pace/libtorch-2.15.0+cpu/complete") == "$(sed 's/^torch==.*/torch==2.15.0+cpu/' third_party/requirements.txt)" ]] ||
  complain "the stamp does not name the version"
grep -qx 'requirements.txt: torch==2.15.0+cpu' "$work/pip-read-requirements.txt" || complain "pip did not get the version"
for version in "" 2.15.0+cpu; do
  on_machine PACE_TOOLS_PYTHON=none PACE_LIBTORCH_VERSION="$version" -- info
  succeeds; is "bazel <info>"
done
for version in 2.8.0 newest 2.11 1.13.1; do
  on_machine PACE_TOOLS_PYTHON=none PACE_LIBTORCH_VERSION=$version -- info
  fails; says "PACE_LIBTORCH_VERSION=$version: expected a version such as 2.15.0, 2.9 or newer"
done
with_libtorch "$work/torch" 2.11.0
on_machine PACE_TOOLS_PYTHON=none PACE_LIBTORCH_VERSION=2.15.0 PACE_LIBTORCH="$work/torch" -- info
fails; says "Unset one of them"

case="PACE_BAZEL and PACE_PYTHON"
with_libtorch "$work/torch" 2.11.0
rm "$root/usr/bin/bazel"
printf '#!%s/bash\necho "own $*"\n' "$bin" >"$work/own-bazel"; chmod +x "$work/own-bazel"
on_machine PACE_TOOLS_PYTHON=none PACE_LIBTORCH="$work/torch" PACE_BAZEL="$work/own-bazel" -- info
succeeds; is "own info"
# The packages of Debian's own Bazel are asked for with a Bazel of its version alone.
rm -r "$root/usr/share/bazel" "$root/usr/bin/zip"
on_machine PACE_ASSUME_ROOT=0 PACE_TOOLS_PYTHON=none PACE_LIBTORCH="$work/torch" PACE_BAZEL="$work/own-bazel" -- info
fails; says " zip"; says_not bazel-rules-java; says_not bazel-bootstrap
printf '#!%s/bash\necho "bazel 4.2.3"\n' "$bin" >"$work/same-bazel"; chmod +x "$work/same-bazel"
on_machine PACE_ASSUME_ROOT=0 PACE_TOOLS_PYTHON=none PACE_LIBTORCH="$work/torch" PACE_BAZEL="$work/same-bazel" -- info
fails; says "bazel-rules-java"; says_not bazel-bootstrap
touch "$root/usr/bin/zip"
on_machine PACE_ASSUME_ROOT=0 PACE_TOOLS_PYTHON=none PACE_LIBTORCH="$work/torch" PACE_BAZEL="$work/own-bazel" -- info
succeeds; is "own info"
on_machine PACE_TOOLS_PYTHON=none PACE_LIBTORCH="$work/torch" PACE_BAZEL="$work/no-bazel" -- info
fails; says "PACE_BAZEL=$work/no-bazel is no program"
on_machine PACE_TOOLS_PYTHON=none PACE_LIBTORCH="$work/torch" PACE_PYTHON="$work/no-python" -- info
fails; says "PACE_PYTHON=$work/no-python is no program"

case="a compiler that is too old, or none"
new_machine; with_packages; with_libtorch "$work/torch" 2.11.0; program gcc 'echo 11.4.0'
on_machine PACE_TOOLS_PYTHON=none PACE_LIBTORCH="$work/torch" -- info
fails; says "gcc is version 11.4.0; pace needs 12"
program clang 'echo 16.0.6'
on_machine PACE_TOOLS_PYTHON=none PACE_LIBTORCH="$work/torch" CC=clang -- info
succeeds; is "bazel <info>"
on_machine PACE_TOOLS_PYTHON=none PACE_LIBTORCH="$work/torch" CC=nothing -- info
fails; says "the C++ compiler nothing cannot be run"

case="a HOME that cannot be written to: where Bazel may build instead, before anything is installed"
new_machine; with_packages
on_machine HOME=/proc/nowhere PACE_HOME="$work/own" -- test //a
fails; says "/proc/nowhere/.cache/bazel cannot be written to"; says "--output_user_root="; says_not ".bazelrc"; says_not "installing"
on_machine HOME=/proc/nowhere PACE_HOME="$work/own" -- --output_user_root=/a info
succeeds; says "bazel <--output_user_root=/a> <info>"

case="no HOME: PACE_HOME is enough"
new_machine; with_packages
output=$(env -i PATH="$bin" WORK="$work" PACE_SYSROOT="$root" PACE_HOME="$work/own" "$script" info 2>&1); code=$?
succeeds; says "bazel <info>"

case="a checkout in a folder with a blank: Bazel refuses it, so nothing is installed"
new_machine; mkdir -p "$work/two words/below"; touch "$work/two words/WORKSPACE"
cd "$work/two words/below" || exit 1
on_machine -- test //a
fails; says "the folder $work/two words has a blank in its path"; says "Move it"
[[ ! -e $work/apt-installed && ! -e $work/pip-ran ]] || complain "something was installed"
cd "$OLDPWD" || exit 1

case="a system or a processor that pace is not for is named at once"
new_machine
on_machine OSTYPE=darwin23 -- test //a
fails; says "pace runs on Linux alone, and this is darwin23"
on_machine HOSTTYPE=riscv64 -- test //a
fails; says "there is no LibTorch for riscv64"; says "PACE_LIBTORCH"
with_packages; with_libtorch "$work/torch" 2.11.0
on_machine HOSTTYPE=riscv64 PACE_TOOLS_PYTHON=none PACE_LIBTORCH="$work/torch" -- test //a
succeeds; is "bazel <test> <//a>"

case="a HOME with a blank: Bazel needs another folder to build in"
new_machine; with_packages; with_libtorch "$work/torch" 2.11.0; mkdir "$work/two words"
given=(PACE_TOOLS_PYTHON=none PACE_LIBTORCH="$work/torch" HOME="$work/two words")
on_machine "${given[@]}" -- test //a
fails; says "HOME=$work/two words has a blank"; says "--output_user_root="
on_machine "${given[@]}" -- --output_user_root=/a test //a
succeeds; is "bazel <--output_user_root=/a> <test> <//a>"
for file in "$work/two words/.bazelrc" "$root/etc/bazel.bazelrc" "$work/place/.bazelrc" "$work/place/imported.bazelrc"; do
  mkdir -p "$work/place/below" "${file%/*}"; touch "$work/place/WORKSPACE"
  echo "startup --host_jvm_args=-Xmx1g --output_base=/a" >"$file"
  # A file that imports itself is left to Bazel.
  [[ $file != *imported* ]] || printf 'try-import %%workspace%%/.bazelrc\ntry-import %%workspace%%/imported.bazelrc\n' >"$work/place/.bazelrc"
  cd "$work/place/below" || exit 1
  on_machine "${given[@]}" -- test //a
  cd "$OLDPWD" || exit 1
  succeeds; is "bazel <test> <//a>"
  rm "$file"
done
# Files that import each other are left to Bazel, too.
echo "import %workspace%/other.bazelrc" >"$work/place/.bazelrc"
printf 'import %%workspace%%/third.bazelrc\nimport %%workspace%%/.bazelrc\n' >"$work/place/other.bazelrc"
echo "import %workspace%/other.bazelrc" >"$work/place/third.bazelrc"
cd "$work/place/below" || exit 1
on_machine "${given[@]}" -- test //a
fails; says "HOME=$work/two words has a blank"
echo "startup --output_base=/a" >>"$work/place/other.bazelrc"
on_machine "${given[@]}" -- test //a
succeeds; is "bazel <test> <//a>"
cd "$OLDPWD" || exit 1
rm "$work/place/"{.,other.,third.}bazelrc
echo "startup --output_base=/a" >"$work/a.bazelrc"
on_machine "${given[@]}" -- --bazelrc="$work/a.bazelrc" test //a
succeeds; is "bazel <--bazelrc=$work/a.bazelrc> <test> <//a>"
echo "build --output_user_root_is_no_option" >"$work/two words/.bazelrc"
on_machine "${given[@]}" -- test //a
fails; says "HOME=$work/two words has a blank"

case="relative paths are made absolute, for Bazel as well"
new_machine; with_packages; with_libtorch "$work/torch" 2.11.0
program bazel-here 'echo "$PACE_LIBTORCH $PACE_HOME $PACE_PACKAGE_CACHE $PACE_TOOLS_PYTHON"'
output=$(cd "$work" && env -i PATH="$bin" HOME="$home" PACE_SYSROOT="$root" PACE_LIBTORCH=torch PACE_TOOLS_PYTHON=bin/python3 PACE_HOME=own \
  PACE_PACKAGE_CACHE=a/b PACE_BAZEL=bin/bazel-here "$script" info 2>&1); code=$?
succeeds; is "$work/torch $work/own $work/a/b $work/bin/python3"
on_machine PACE_TOOLS_PYTHON=none PACE_LIBTORCH="$work/torch" XDG_CACHE_HOME=cache -- info
fails; says "XDG_CACHE_HOME=cache is no absolute path"; says "Type: export XDG_CACHE_HOME="

case="by a link, and from another folder"
ln -s "$script" "$work/link"
program gcc 'echo 12'
output=$(cd / && env -i PATH="$bin" HOME="$home" PACE_SYSROOT="$root" PACE_LIBTORCH="$work/torch" PACE_TOOLS_PYTHON=none "$work/link" info 2>&1); code=$?
succeeds; is "bazel <info>"

rm -rf "$work"
((failures == 0)) && echo "all as expected"
exit $((failures > 0))
