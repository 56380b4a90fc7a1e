#!/bin/bash
# Compiles a source after the first header compiled ahead that it reaches anyway, if there is one.
#
#   compile.sh PARAMETERS UNUSED SOURCE COMPILER ARGUMENTS...     (for the first two, see closure.awk beside this)
set -euo pipefail

parameters=$1 unused=$2 source=$3
shift 3
prefix=$(awk -v unused="$unused" -v source="$source" -f "${BASH_SOURCE[0]%/*}/closure.awk" "$parameters")
exec "$@" ${prefix:+-include-pch "$prefix"}
