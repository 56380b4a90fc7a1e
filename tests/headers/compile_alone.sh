#!/bin/bash
# Compiles a source that includes one header, after a precompiled header that this one reaches anyway.
#
#   compile_alone.sh PARAMETERS UNUSED SOURCE COMPILER ARGUMENTS...     (for the first two, see closure.awk beside this)
set -euo pipefail

parameters=$1 unused=$2 source=$3
shift 3
prefix=$(awk -v unused="$unused" -v source="$source" -f "${BASH_SOURCE[0]%/*}/closure.awk" "$parameters")
exec "$@" ${prefix:+-include "$prefix" -Winvalid-pch}
