#!/usr/bin/env bash
# Checks that clang-format would leave every C++ file as it is, and that every Python and shell script parses. No line
# of C++ and Python and no comment of shell scripts may be longer than 120 columns. A line that is one word, such as an
# address, cannot be split.
#   tests/build/format_test.sh         prints the places that differ; exit code 1 if there are any
#   tests/build/format_test.sh --fix   rewrites the files
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
# shellcheck source=tests/build/arguments.sh
source tests/build/arguments.sh
take_arguments '--fix or nothing' --fix "$@"

formatter=clang-format-19
command -v "$formatter" >/dev/null || {
  echo "format_test: $formatter is missing; PACE_CHECKS=1 third_party/bazel version installs it" >&2
  exit 1
}
# Untracked files too: a new file is checked before it is committed.
files() { git ls-files -z --cached --others --exclude-standard -- "$@"; }
mapfile -d '' -t sources < <(files '*.hpp' '*.cc' '*.cu')
((${#sources[@]} > 0)) || { echo "format_test: no C++ file is under version control here" >&2; exit 1; }
if [[ ${1:-} == --fix ]]; then
  "$formatter" -i "${sources[@]}"
  exit
fi
"$formatter" --dry-run -Werror "${sources[@]}" || {
  echo "format_test: run tests/build/format_test.sh --fix" >&2
  exit 1
}
files '*.sh' .ci/run .ci/nightly third_party/bazel | xargs -0 -n 1 bash -n
files '*.py' | xargs -0 python3 -c 'import ast, sys; [ast.parse(open(f).read(), f) for f in sys.argv[1:]]'
files '*.hpp' '*.cc' '*.cu' '*.py' '*.sh' .ci/run .ci/nightly third_party/bazel | xargs -0 python3 -c '
import re, sys
most, failed = 120, False
for path in sys.argv[1:]:
    code = path.endswith((".hpp", ".cc", ".cu", ".py"))
    for number, line in enumerate(open(path, encoding="utf-8"), 1):
        line = line.rstrip("\n")
        words = len(re.sub("^[ /#*]*", "", line).split())
        if len(line) > most and words > 1 and (code or line.lstrip().startswith("#")):
            failed = True
            print(f"{path}:{number}: {len(line)} columns; expected at most {most}", file=sys.stderr)
sys.exit(failed)'
echo "${#sources[@]} C++ files are formatted"
