#!/usr/bin/env bash
# An archive of small tests, unpacked and run by its own script, on a machine whose nvidia-smi, python3 and timeout are
# fakes.
#
#   folder_test.sh ARCHIVE
set -uo pipefail
archive=$PWD/$1
work=$(mktemp -d "${TEST_TMPDIR:-/tmp}/folder_test.XXXXXX")
trap 'rm -rf "$work"' EXIT
# The script is started by hand: Bazel's variables are this test's.
unset XML_OUTPUT_FILE TEST_WARNINGS_OUTPUT_FILE TEST_INFRASTRUCTURE_FAILURE_FILE TEST_PREMATURE_EXIT_FILE \
  TEST_UNDECLARED_OUTPUTS_DIR TEST_TIMEOUT BAZEL_TEST TEST_SRCDIR BUILD_WORKING_DIRECTORY
unset PACE_LIBTORCH PACE_PYTHON PACE_COMMIT LD_LIBRARY_PATH
tar -xzf "$archive" -C "$work"
folder=$work/sample_tests
version=$(sed -n 's/^libtorch //p' "$folder/build.txt")

# ---- the machine: a wheel of torch beside CUDA's libraries, a GPU, and a `timeout` that lets no time pass

bin=$work/bin site=$work/site-packages
torch=$site/torch
mkdir -p "$bin" "$torch/lib" "$site/nvidia/cu13/lib"
touch "$torch/lib/libtorch_cpu.so" "$torch/lib/libtorch_cuda.so"
printf "__version__ = '%s+cu130'\ncuda: Optional[str] = '13.0'\n" "$version" >"$torch/version.py"
program() { # NAME SCRIPT
  printf '#!/bin/bash\n%s\n' "$2" >"$bin/$1"
  chmod +x "$bin/$1"
}
gpu() { program nvidia-smi "echo 'NVIDIA H200, 580.65.06'"; }
python() { program python3 "echo $torch"; }
# A program that hangs is ended at once, and the rest runs: the test by its name, with a note of the limit.
program timeout '[[ $1 == --kill-after=* ]] || exit 125
echo "limit $2"
[[ $3 != */hangs ]] || exit 124
exec "${@:3}"'
gpu
python

# ---- expectations

failures=0
case='' output='' code=''
complain() {
  failures=$((failures + 1))
  printf 'FAILED: %s: %s\n--- exit code %s, output:\n%s\n---\n' "$case" "$1" "$code" "$output"
}
ends_with() { ((code == $1)) || complain "expected exit code $1"; }
says() { [[ $output == *"$1"* ]] || complain "expected: $1"; }
says_not() { [[ $output != *"$1"* ]] || complain "did not expect: $1"; }
# line PATTERN: a whole line of the output is that.
line() { grep -qxE -- "$1" <<<"$output" || complain "expected the line: $1"; }
# on_machine [NAME=VALUE...] run ARGUMENT...: runs the script there; sets output and code.
on_machine() {
  local settings=()
  while [[ $1 != run ]]; do settings+=("$1"); shift; done
  shift
  output=$(cd "$work" && env PATH="$bin:$PATH" "${settings[@]}" "$folder/run" --results "$work/results" "$@" 2>&1)
  code=$?
}
# as_typed ARGUMENT...: the same without --results.
as_typed() {
  output=$(cd "$work" && env PATH="$bin:$PATH" "$folder/run" "$@" 2>&1)
  code=$?
}
in_log() { grep -qxF -- "$2" "$work/results/tests_gpu_folder_$1.log" || complain "expected in the log of $1: $2"; }

case="all tests"
on_machine PACE_COMMIT=0123abc run
ends_with 1
line 'passed   tests/gpu/folder:passes \(exit code 0, [0-9]+ s\)'
line 'failed   tests/gpu/folder:fails \(exit code 3, [0-9]+ s\)'
line "         $work/results/tests_gpu_folder_fails.log"
line 'skipped  tests/gpu/folder:skips \(exit code 4, [0-9]+ s\)'
line 'failed   tests/gpu/folder:hangs \(exit code 124, [0-9]+ s, longer than the limit of 900 s\)'
line 'failed   tests/gpu/folder:ends_half_way \(exit code 1, [0-9]+ s\)'
line 'passed   tests/gpu/folder:reads \(exit code 0, [0-9]+ s\)'
line 'passed   tests/gpu/folder:calls_library \(exit code 0, [0-9]+ s\)'
line "\| [0-9]{4}-[0-9]{2}-[0-9]{2} \| NVIDIA H200 \| 580.65.06 \| 13.0 \| $version\+cu130 \| 0123abc \| 3 \| 3 \| 1 \|"
line '\| `//tests/gpu/folder:fails` \| failed \| 3 \| [0-9]+ \|'
says_not "$work/results/tests_gpu_folder_passes.log"
[[ $output == *"$(cat "$work/results/summary.md")" ]] || complain "expected the summary in summary.md"
# Each has Bazel's limit, arguments, variables and files.
in_log fails "limit 60"
in_log reads "limit 300"
in_log reads "arguments: --text tests/gpu/folder/text.txt ends\$"
in_log reads "variables: SPOKEN=yes TEST_TIMEOUT=300 PACE_COMMIT=0123abc"
in_log reads "libraries: $torch/lib:$site/nvidia/cu13/lib"
in_log reads "python: $bin/python3"
in_log reads "text of a file"
[[ $(cat "$work/results/tests_gpu_folder_reads/output.txt") == "left behind" ]] || complain "expected what a test left"

case="programs are stripped, and a link is no second copy"
[[ $(file -b "$folder/runfiles/pace/tests/gpu/folder/calls_library") == *", stripped" ]] || complain "expected no symbols"
[[ $folder/runfiles/pace/tests/gpu/folder/passes -ef $folder/runfiles/pace/tests/gpu/folder/sample.sh ]] ||
  complain "expected one file of two names"
[[ $(head -c 4 "$folder/runfiles/pace/tests/gpu/folder/image.cubin") == $'\x7fELF' ]] ||
  complain "expected an image of a GPU, as it is"

case="names and patterns"
on_machine run passes 'tests/gpu/folder:calls_*'
ends_with 0
says "folder:passes (exit code 0"
says "| 2 | 0 | 0 |"
says_not "reads"

case="as Bazel has the name, with further arguments"
on_machine run //tests/gpu/folder:reads -- --more
ends_with 0
in_log reads "arguments: --text tests/gpu/folder/text.txt ends\$ --more"

case="no commit is known"
on_machine run passes
ends_with 0
says "| unknown | 1 | 0 | 0 |"

case="skipped is not passed"
on_machine run skips
ends_with 1

case="a name that is none"
for name in nothing 'nothing*' ''; do
  on_machine run passes "$name"
  ends_with 2
  says "no test '$name'; expected one of: tests/gpu/folder:passes "
  says_not "exit code"
done

case="nothing to run"
mv "$folder/tests.txt" "$work/tests.txt"
: >"$folder/tests.txt"
on_machine run
ends_with 2
says "names no test"
mv "$work/tests.txt" "$folder/tests.txt"

case="--list"
as_typed --list
ends_with 0
line 'tests/gpu/folder:hangs 900 s'
line 'tests/gpu/folder:says program'
as_typed --list passes
ends_with 2

case="--help"
as_typed --help
ends_with 0
says "./run NAME..."
says_not "set -u"

case="an option that is none"
on_machine run --all
ends_with 2
says "unknown option --all; expected"

case="a program"
as_typed --program tests/gpu/folder:says one "two three"
ends_with 5
line "in $work: one,two three,"
as_typed --program other
ends_with 2
says "no program 'other'; expected one of: tests/gpu/folder:says"

case="LibTorch by PACE_LIBTORCH"
program python3 'exit 1'
for given in "$torch" "$site"; do
  on_machine PACE_LIBTORCH="$given" run passes
  ends_with 0
done
on_machine PACE_LIBTORCH="$torch" run reads
# This python3 has another torch, or none.
in_log reads "python: "
on_machine PACE_LIBTORCH="$work" run passes
ends_with 2
says "PACE_LIBTORCH=$work is no LibTorch: expected a folder with lib/libtorch_cpu.so"

case="PACE_PYTHON"
on_machine PACE_PYTHON="$bin/python3" PACE_LIBTORCH="$torch" run passes
ends_with 2
says "PACE_PYTHON=$bin/python3: expected a Python that has torch $version"
mkdir "$bin/other"
program other/python3 "echo $torch"
on_machine PACE_PYTHON=bin/other/python3 PACE_LIBTORCH="$torch" run reads
ends_with 0
in_log reads "python: $work/bin/other/python3"

case="no LibTorch"
on_machine run passes
ends_with 2
says "no LibTorch: expected a python3 that has torch $version"
python

case="another LibTorch"
cp "$torch/version.py" "$work/version.py"
sed -i "s/$version/1.0.0/" "$torch/version.py"
on_machine run passes
ends_with 2
says "$torch is LibTorch 1.0.0+cu130: expected $version"
on_machine PACE_PYTHON="$bin/python3" run passes
ends_with 2
says "the torch of PACE_PYTHON=$bin/python3 is LibTorch 1.0.0+cu130: expected $version"
mv "$work/version.py" "$torch/version.py"

case="a LibTorch without CUDA"
rm "$torch/lib/libtorch_cuda.so"
on_machine run passes
ends_with 2
says "has no lib/libtorch_cuda.so: expected a LibTorch with CUDA"
touch "$torch/lib/libtorch_cuda.so"

case="no GPU"
program nvidia-smi 'echo "No devices were found"; exit 6'
on_machine run passes
ends_with 2
says "no GPU: expected nvidia-smi to list one; it printed: No devices were found"

case="several GPUs"
program nvidia-smi 'for i in 1 2; do echo "NVIDIA H100 80GB HBM3, 580.65.06"; done'
on_machine run passes
ends_with 0
says "| 2 x NVIDIA H100 80GB HBM3 | 580.65.06 |"

printf '%d problems\n' "$failures"
exit $((failures > 0))
