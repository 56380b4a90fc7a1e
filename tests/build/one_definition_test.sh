#!/usr/bin/env bash
# No two types of one qualified name in the headers of the library and of its programs; and that such a pair is found.
#
#   one_definition_test.sh SCRIPT
set -uo pipefail
script=$1
work=${TEST_TMPDIR:?}
failures=0
complain() {
  printf '%s: %s\n%s\n\n' "$case" "$1" "$output"
  failures=$((failures + 1))
}
check() {
  output=$(awk -f "$script" "$@" 2>&1)
  code=$?
}

cat >"$work/one.hpp" <<'CODE'
#define OPEN {
namespace work {
namespace { struct Hidden {}; }
template <class T> struct Box;
template <class T> requires (sizeof(T) < 8) class [[nodiscard]] Box final : Base<T> { struct World {}; };
template <> struct Box<int> {};
inline const char* text = R"(} struct World {)" "\"{";  // struct World {
constexpr int number = 1'000'000;
inline int call(int x = {}) { struct World { int y; } world{x}; return world.y + '{'; }
struct Other;
}  // namespace work
CODE
cat >"$work/two.hpp" <<'CODE'
namespace work::inner { struct World {}; }
namespace work { namespace { struct Hidden {}; } struct Other { int World; }; struct Other2; enum class Kind : int { a }; }
CODE
case="names that only look alike"
check "$work/one.hpp" "$work/two.hpp"; ((code == 0)) || complain "exit code $code"

case="pairs of classes, templates and enumerations"
printf 'namespace work {\ninline namespace v1 {}\ntemplate <class T>\nclass Box {\n};\n}\n' >"$work/three.hpp"
printf 'namespace work {\nenum Kind { b };\nnamespace inner {\nstruct World : Other {\n};\n}\n}\n' >"$work/four.hpp"
check "$work"/{one,two,three,four}.hpp; ((code == 1)) || complain "exit code $code"
for pair in "work::Box is defined in $work/one.hpp:5 $work/three.hpp:4" \
  "work::inner::World is defined in $work/two.hpp:1 $work/four.hpp:4" \
  "work::Kind is defined in $work/two.hpp:2 $work/four.hpp:2"; do
  [[ $output == *"$pair"* ]] || complain "not found: $pair"
done
(($(wc -l <<<"$output") == 3)) || complain "expected three lines"

case="files that cannot be understood, or hold nothing"
printf 'namespace work {\nstruct Open {\n' >"$work/open.hpp"
check "$work/open.hpp"; ((code == 1)) || complain "exit code $code"
printf 'int x;\n' >"$work/nothing.hpp"
check "$work/nothing.hpp"; ((code == 1)) || complain "exit code $code"

case="the library and its programs"
mapfile -t headers < <(find -L include/pace benches tools -name '*.hpp')
((${#headers[@]} > 300)) || { output=${#headers[@]}; complain "expected several hundred headers"; }
check "${headers[@]}"; ((code == 0)) || complain "exit code $code"

((failures == 0)) && echo "${#headers[@]} headers, no name twice"
exit $((failures > 0))
