#!/usr/bin/env bash
# Fails or kills pace's programs at every n-th call, and prints the faults that this shows: docs/reliability.md.
#
#   tests/killed/run.sh [OPTION...]     --help: scenarios, kinds of calls and ways to end one can be chosen
#
# It takes hours; `--most 5` of each kind of calls takes minutes. The exit code is 1 if there is a fault.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
third_party/bazel build //tests/killed
exec third_party/bazel run //tests/killed -- "$@"
