#!/usr/bin/env bash
# Programs that no other test runs say how they are used: says_how_test.sh PROGRAM...
set -uo pipefail
failed=0
for program; do
  if ! said=$("$program" --help 2>&1); then
    printf '%s --help failed:\n%s\n' "$program" "$said"
    failed=1
  elif [[ $said != "${program##*/} "* ]]; then
    printf '%s --help does not begin with its name:\n%s\n' "$program" "$said"
    failed=1
  fi
done
exit "$failed"
