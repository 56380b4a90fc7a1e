#!/usr/bin/env bash
# One step of a CI job. It runs tests with gates by Bazel and copies the files of each (results.json, results.csv, the
# report, the log and the XML) into one folder of artifacts. The exit code is Bazel's: 0 if all passed, 3 if a test
# failed, 4 if there was no test, others if something could not be built.
#
#   ci/gate.sh [BAZEL_TEST_ARGUMENT...]      at the top of your workspace; //... if no target is given
#
#   PACE       the checkout of pace (default: ../pace)
#   ARTIFACTS  the folder (default: gate-artifacts); its old contents are removed
set -uo pipefail
case ${1:-} in
  -h | --help)
    sed -n '2,/^[^#]/s/^# \{0,1\}//p' "$0"
    exit 0
    ;;
esac

pace=${PACE:-../pace}
artifacts=${ARTIFACTS:-gate-artifacts}
[[ -x $pace/third_party/bazel ]] || {
  echo "gate.sh: there is no checkout of pace in $pace; expected its folder in PACE" >&2
  exit 2
}
[[ -f WORKSPACE ]] || {
  echo "gate.sh: there is no WORKSPACE in $PWD; expected to run at the top of a workspace" >&2
  exit 2
}
# Only a folder that an earlier run has made is emptied.
if [[ -e $artifacts && ! -f $artifacts/made-by-gate.sh ]]; then
  echo "gate.sh: $artifacts exists, and gate.sh has not made it; expected another folder in ARTIFACTS" >&2
  exit 2
fi
rm -rf "$artifacts"
mkdir -p "$artifacts" || exit 2
touch "$artifacts/made-by-gate.sh"

# A word is a target unless it is an option, or may be the value of the option before it.
given=0 previous=""
for word; do
  case $word in
    -*) ;;
    *//* | *:* | @* | *...) given=1 ;;
    *) [[ $previous == --?* && $previous != *=* ]] || given=1 ;;
  esac
  previous=$word
done
# In front, since later arguments may leave some out: -- -//slow/...
((given)) || set -- //... "$@"
# The files' names are wanted as they are here, even where a remote cache has them.
# A test that failed by noise alone does not exist here, so that none is run again: a gate that is repeated until it
# passes has lost its error rates.
"$pace/third_party/bazel" test --keep_going --build_event_json_file="$artifacts/events.json" \
  --nobuild_event_json_file_path_conversion "$@"
code=$?
if [[ ! -s $artifacts/events.json ]]; then
  echo "gate.sh: Bazel ended with $code before it ran a test; there is nothing to copy to $artifacts" >&2
  ((code != 0)) || code=2
  exit "$code"
fi

# collect LABEL FILE: copies FILE to the folder of the test; the folder of undeclared outputs comes as an archive.
collect() {
  local folder=$artifacts/${1#//}
  folder=${folder//:/\/}
  mkdir -p "$folder" || return
  if [[ $2 == */outputs.zip ]]; then
    python3 -m zipfile -e "$2" "$folder"
  else
    cp "$2" "$folder"
  fi
}

# Each event is a line; a test has one `testResult` for each shard and run.
python3 - "$artifacts/events.json" <<'PYTHON' >"$artifacts/files.txt" || exit 2
import json
import sys
import urllib.parse

for line in open(sys.argv[1], encoding="utf-8"):
    # A signal that ends Bazel may cut off the last line.
    if not line.endswith("\n"):
        break
    event = json.loads(line)
    if "testResult" not in event:
        continue
    test = event["id"]["testResult"]
    shard = "" if test.get("shard", 1) == 1 and test.get("run", 1) == 1 else "/shard-%d-run-%d" % (test["shard"], test["run"])
    for file in event["testResult"].get("testActionOutput", []):
        if file["uri"].startswith("file://"):
            print(test["label"] + shard, urllib.parse.unquote(file["uri"][len("file://"):]), sep="\t")
PYTHON
status=0
while IFS=$'\t' read -r label file; do
  collect "$label" "$file" || status=1
done <"$artifacts/files.txt"
if ((status != 0)); then
  echo "gate.sh: not all files could be copied to $artifacts" >&2
  ((code != 0)) || code=2
fi
echo "gate.sh: exit code $code; artifacts in $artifacts"
exit "$code"
