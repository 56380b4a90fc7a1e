#!/usr/bin/env bash
# Which header compiled ahead a source gets, and that it gets none that it does not reach: then a header that lacks an
# include would seem to compile alone.
#
#   precompiled_test.sh COMPILE.SH      beside which is closure.awk
set -uo pipefail

scripts=$(cd "${1%/*}" && pwd)
work=$(mktemp -d "${TEST_TMPDIR:-/tmp}/precompiled.XXXXXX")
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1
failures=0

# same WHAT EXPECTED FOUND
same() {
  [[ $2 == "$3" ]] && return
  printf 'FAILED: %s\nexpected:\n%s\nfound:\n%s\n' "$1" "$2" "$3"
  failures=$((failures + 1))
}

mkdir -p lib beside
echo '#include <vector>' >lib/one.hpp
printf '#include <string>\n#include "lib/one.hpp"\n' >lib/two.hpp
echo '#include "lib/two.hpp"' >lib/three.hpp
echo 'int of_one_folder;' >beside/mine.hpp
for name in one two three; do echo "#include <lib/$name.hpp>" >"$name.cc"; done
printf '#include "mine.hpp"\n#include "lib/one.hpp"\n' >beside/source.cc
echo '#include <map>' >none.cc
printf '%s\n' -I . --input=lib/one.hpp --input=lib/two.hpp --input=lib/three.hpp --input=beside/mine.hpp \
  --precompiled=lib/three.hpp=3.pch --precompiled=lib/one.hpp,string=12.pch --precompiled=lib/one.hpp=1.pch >parameters

# choose SOURCE: the header it gets, then those that it could have had and does not use.
choose() {
  awk -v source="$1" -v unused=unused -f "$scripts/closure.awk" parameters
  sort unused | tr '\n' ' '
}

same "the first that is reached, and those that it was compiled after" $'3.pch\nbeside/mine.hpp ' "$(choose three.cc)"
same "a set whose headers are all reached" $'12.pch\n3.pch beside/mine.hpp lib/three.hpp ' "$(choose two.cc)"
same "a part of a set is not enough" $'1.pch\n12.pch 3.pch beside/mine.hpp lib/three.hpp lib/two.hpp ' "$(choose one.cc)"
same "a header beside the source" $'1.pch\n12.pch 3.pch lib/three.hpp lib/two.hpp ' "$(choose beside/source.cc)"
same "nothing that is reached" "1.pch 12.pch 3.pch beside/mine.hpp lib/one.hpp lib/three.hpp lib/two.hpp " "$(choose none.cc)"

# compile SOURCE: after the headers compiled ahead, if it reaches them; prints the outcome.
compile() {
  "$scripts/compile.sh" parameters unused "$1" clang++-19 -std=c++20 -I. -c "$1" -o object.o 2>errors && echo compiles ||
    tail -n 3 errors
}

echo '#include <string>' >string.hpp
echo 'inline std::string text() { return {}; }' >lib/lacks.hpp
printf '#include <string>\n#include "lib/lacks.hpp"\n' >lib/has.hpp
for name in lacks has; do echo "#include \"lib/$name.hpp\"" >"$name.cc"; done
printf '%s\n' -I . --input=lib/lacks.hpp --input=lib/has.hpp --precompiled=string=string.pch >parameters
clang++-19 -std=c++20 -I. -xc++-header string.hpp -o string.pch || exit 1
same "a source after it" compiles "$(compile has.cc)"
[[ $(compile lacks.cc) != compiles ]] || same "a header that lacks an include" "an error" compiles
# The compiled headers are really read: without them the source that needs them fails.
rm string.pch
[[ $(compile has.cc) == *string.pch* ]] || same "the header compiled ahead is used" "it is missed" "it is not"

((failures == 0)) && echo "headers compiled ahead go where they belong"
