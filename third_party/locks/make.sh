#!/usr/bin/env bash
# Writes the locks in this folder: each package that a file of requirements leads to, its version, and the hashes of
# its files. third_party/bazel installs these alone. Run it after a change of requirements.
#
#   third_party/locks/make.sh [--upgrade]     by default packages keep their versions where they can
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
[[ $# == 0 || $* == --upgrade ]] || { echo "make.sh: invalid argument '$1'; expected --upgrade, or nothing" >&2; exit 2; }

scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
python3 -m venv "$scratch/venv"
"$scratch/venv/bin/pip" install --quiet --disable-pip-version-check uv==0.13.9

for part in libtorch page tools checks remote; do
  case $part in
    libtorch) requirements=requirements.txt ;;
    remote) requirements=remote/requirements.txt ;;
    *) requirements=${part}_requirements.txt ;;
  esac
  # A package that is built from sources would fetch what builds it, without hashes. pluginbase has nothing else.
  sources=()
  [[ $part != remote ]] || sources=(--no-binary pluginbase)
  lock=$scratch/$part.txt
  [[ ! -e locks/$part.txt ]] || cp "locks/$part.txt" "$lock"
  "$scratch/venv/bin/uv" pip compile --quiet --no-cache --universal --python-version 3.11 --only-binary :all: "${sources[@]}" \
    --generate-hashes --no-annotate --no-header --no-emit-index-url "$requirements" --output-file "$lock" "$@"
  {
    echo "# Written by third_party/locks/make.sh of third_party/$requirements."
    # The last option counts for a package.
    printf '%s\n' --require-hashes "--only-binary :all:" ${sources:+"${sources[*]}"}
    cat "$lock"
  } >"$lock.new"
  mv "$lock.new" "locks/$part.txt"
done
