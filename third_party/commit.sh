#!/usr/bin/env bash
# The facts of the checkout for Bazel (--workspace_status_command): its commit, with `-dirty` where tracked files are
# changed. Prints nothing where git knows none; PACE_COMMIT replaces it.
commit=${PACE_COMMIT:-$(git describe --always --dirty --abbrev=40 --exclude='*' 2>/dev/null)}
[[ -z $commit ]] || echo "STABLE_PACE_COMMIT $commit"
