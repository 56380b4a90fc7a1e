#!/usr/bin/env bash
# Makes the archive of a test_folder (folder.bzl).
#
#   pack.sh ARCHIVE FOLDER WORKSPACE LIBTORCH_VERSION STRIP TESTS PROGRAMS FILES RUN STATUS
#
# FILES has a line `path<tab>place in the runfiles` for each file; TESTS and PROGRAMS are read by run.sh, which is RUN.
set -euo pipefail
archive=$1 folder=$2 workspace=$3 version=$4 strip=$5 tests=$6 programs=$7 files=$8 run=$9 status=${10}

scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
top=$scratch/$folder
mkdir -p "$top/runfiles/$workspace"
cp "$tests" "$top/tests.txt"
cp "$programs" "$top/programs.txt"
cp "$run" "$top/run"
chmod +x "$top/run"
{
  echo "workspace $workspace"
  echo "libtorch $version"
  sed -n 's/^STABLE_PACE_COMMIT /commit /p' "$status"
} >"$top/build.txt"

is_elf() { [[ -f $1 && $(head -c 4 "$1" | tr -d '\0') == $'\x7fELF' ]]; }
# The machine that an ELF file is for. An image of kernels is an ELF file for a GPU.
machine_of() { od -An -j18 -N2 -tx1 "$1"; }

declare -A placed=()
while IFS=$'\t' read -r path place; do
  to=$top/runfiles/$workspace/$place
  mkdir -p "${to%/*}"
  # A pace_test is a link to its program: one file of two names.
  real=$(readlink -f "$path")
  if [[ -n ${placed[$real]:-} ]]; then
    ln "${placed[$real]}" "$to"
    continue
  fi
  cp -RL "$path" "$to"
  chmod -R u+w "$to"
  [[ -d $to ]] || placed[$real]=$to
  is_elf "$to" && [[ $(machine_of "$to") == "$(machine_of "$BASH")" ]] || continue
  "$strip" "$to"
  # The dynamic linker looks for a library by the name in it, which is not always the name that it was linked by.
  soname=$(readelf -d "$to" | sed -n 's/.*(SONAME).*\[\(.*\)\]$/\1/p')
  [[ -z $soname || $soname == "${to##*/}" ]] || ln -s "${to##*/}" "${to%/*}/$soname"
done <"$files"

tar --sort=name --owner=0 --group=0 --numeric-owner --mtime=@0 -C "$scratch" -c "$folder" | gzip -n >"$archive"
