#!/usr/bin/env bash
# benches/kernels from the command line, on a package that Inductor and Triton compile for this machine's GPU: its
# output, and the files that it writes. Skipped without a GPU, or without a Python that has Triton.
#
#   kernels_program_test.sh PROGRAM
set -uo pipefail
program=$1
work=$(mktemp -d "${TEST_TMPDIR:-/tmp}/package_for_gpu.XXXXXX")
trap 'rm -rf "$work"' EXIT
source tests/support/program_checks.sh

skip() {
  echo "skipped: $1"
  exit 4
}
# The folder of tests sets it to nothing where no Python belongs to the LibTorch that it found.
python=${PACE_PYTHON-python3}
type -P "$python" >/dev/null || skip "no Python"
"$python" -c 'import torch, triton, sys; sys.exit(not torch.cuda.is_available())' 2>"$work/err" ||
  skip "no GPU, or a Python without torch and Triton: $(tail -n 1 "$work/err")"
type -P "${CXX:-g++}" >/dev/null || skip "no C++ compiler for Inductor"

export TORCHINDUCTOR_CACHE_DIR=$work/inductor TRITON_CACHE_DIR=$work/triton
package=$work/block.pt2
PYTHONPATH=benches/files/aot "$python" tests/gpu/cuda/compile_package.py "$package" >"$work/compiled" 2>&1 || {
  tail -n 60 "$work/compiled"
  echo "the package could not be compiled"
  exit 1
}

# block OPTIONS...: as run, of the package.
block() { run --package "$package" --benchmark-name block "$@"; }
has_line() { holds "$work/out" "$1"; }
# json EXPRESSION: is true of `report`, the contents of the last --json file.
json() {
  "$python" -c "import json, sys; report = json.load(open(sys.argv[1])); sys.exit(not ($1))" "$work/k.json" ||
    complain "not so in the JSON file: $1"$'\n'"$(head -c 4000 "$work/k.json")"
}

case="the module's time, and its peak of memory"
block --times 3 --repeat 2; ends_with 0
prints "block on cuda"; prints " a call, the lower median of 2 readings of 3 calls"
has_line '^Peak GPU memory usage [0-9]+\.[0-9]{3} MB$'

case="every kernel, as a table and as files"
block -k --csv "$work/k.csv" --json "$work/k.json" --kernels-at-most 20; ends_with 0
has_line '^block on .*: [0-9]+ kernels.*; as a graph [0-9.]+ us = kernels '
has_line '^ +triton_poi_fused_[a-z0-9_]+ +POI +[0-9.]+ us +[0-9.]+ us '
has_line '^ +triton_(red|per)_fused_[a-z0-9_]+ +(RED|PER) +[0-9.]+ us +[0-9.]+ us '
prints "passed: at most 20 kernels"
# The kernel that multiplies the state.
has_line '^triton_poi_fused_[a-z0-9_]* is launched on restored memory: [0-9]+ bytes are restored before each launch alone'
(($(wc -l <"$work/k.csv") == $("$python" -c "import json; print(1 + len(json.load(open('$work/k.json'))['kernels']))"))) ||
  complain "expected a header and a row for each kernel: $(<"$work/k.csv")"
json 'len(report["kernels"]) >= 4'
json 'all(each["why_not_alone"] is None and each["hot"] and each["cold"] for each in report["kernels"])'
json 'all(each["bytes"] and each["launch"]["registers"] for each in report["kernels"] if "triton" in each["name"])'
json 'any(each["restored_bytes"] >= 4 << 20 for each in report["kernels"])'
json 'any(each["restored_bytes"] == 0 for each in report["kernels"])'
json 'any("triton" not in each["name"] and each["category"] == "unknown" for each in report["kernels"])'
block -k --kernels-at-most 1; ends_with 42; says "failed: at most 1 kernel"

case="bandwidths of all kernels"
block -k --profile-bandwidth --profile-bandwidth-output "$work/bandwidth"; ends_with 0
has_line $'^[0-9]+\\.[0-9]{3}ms    \t[0-9.]+ GB \t[ 0-9.]+GB/s \t triton_poi_fused_'
holds "$work/bandwidth" '^TRITON KERNELS BANDWIDTH INFO '
block -k --compat --profile-bandwidth --profile-bandwidth-with-profiler; ends_with 0
has_line $'^[0-9]+\\.[0-9]{3}ms    \t[0-9.]+ GB \t[ 0-9.]+GB/s \t triton_poi_fused_'

case="every configuration, in the kernel's place"
block -k -c --json "$work/k.json"; ends_with 0
has_line '^triton_poi_fused_[a-z0-9_]+: [0-9]+ configurations; the chosen one '
json 'any(len(each.get("configurations", [])) > 1 for each in report["kernels"])'
json 'all(c["hot"] and c["cold"] for each in report["kernels"] for c in each.get("configurations", []) if not c["why_not"])'
json 'any(c["chosen"] and c["hot"] for each in report["kernels"] for c in each.get("configurations", []))'

case="the lines of the original"
block -k --compat; ends_with 0
has_line $'^block                POI [a-z0-9]{10} [0-9]+\\.[0-9]{3}ms    \t[0-9.]+ GB \t +[0-9.]+GB/s +[0-9]+ regs +[0-9]+ spills +[0-9]+ shared mem$'
block -k -c --compat; ends_with 0
has_line '^block                POI [a-z0-9]{10}$'
has_line '^  [0-9]+\.[0-9]{3}ms .* @ XBLOCK: [0-9]+, .*num_warps: [0-9]+'
block --compat --times 2 --repeat 2; ends_with 0
has_line '^[0-9]+\.[0-9]{6}$'; has_line '^Peak GPU memory usage [0-9]+\.[0-9]{3} MB$'

case="a profile"
block -p --times 2 --repeat 2 --output-directory "$work"; ends_with 0
prints "Chrome trace for the profile is written to $work/compiled_module_profile.json"
holds "$work/compiled_module_profile.json" triton_poi_fused_
prints "  == triton_pointwise category kernels == "
has_line '^Kernel +Self [A-Z0-9:]+ TIME \(ms\) +Count +Percent'
has_line '^Percent of time when [A-Z0-9:]+ is busy: [0-9.]+%'
has_line '^Output for tabulate: block, [0-9.]+%, '
[[ $output != *"is busy: 0.00%"* ]] || complain "the device is never busy"

case="a history of memory"
block --cuda-memory-snapshot --times 2 --repeat 2 --output-directory "$work"; ends_with 0
prints "The collect memory snapshot has been written to $work/memory_snapshot.pickle"
"$python" -c 'import pickle, sys
snapshot = pickle.load(open(sys.argv[1], "rb"))
sys.exit(not (snapshot["segments"] and any(snapshot["device_traces"])))' "$work/memory_snapshot.pickle" ||
  complain "the snapshot has no segments, or no trace"

if command -v ncu >/dev/null; then
  case="one run under Nsight Compute"
  block --ncu --ncu-metrics gpu__time_duration.sum --times 2 --repeat 2 --output-directory "$work"
  if [[ $output$errors == *ERR_NVGPUCTRPERM* ]]; then
    ends_with 1; prints "NCU profiling failed with error: ncu ended with exit code"
    echo "skipped: this machine does not let Nsight Compute read the GPU's counters"
  else
    ends_with 0; prints "NCU profiling results for benchmark block:"
    reports=("$work"/ncu_output_20*.ncu-rep)
    [[ -s ${reports[0]} ]] || complain "no report"
    rm -f "$work"/ncu_output_20*
  fi
else
  echo "skipped: there is no Nsight Compute here"
fi

case="one run under what stands for Nsight Compute"
mkdir "$work/bin"
cat >"$work/bin/ncu" <<'FAKE'
#!/usr/bin/env bash
while [[ $1 != */benches/kernels/kernels ]]; do shift; done
exec "$@"
FAKE
chmod +x "$work/bin/ncu"
PATH=$work/bin:$PATH block --ncu --ncu-metrics a,b --times 2 --repeat 2 --output-directory "$work"; ends_with 0
prints "NCU profiling results for benchmark block:"; prints "NCU report has been written to $work/ncu_output_20"
holds "$work/err" '^[0-9]+\.[0-9]{6}$'; holds "$work/err" '^Peak GPU memory usage '

((failures == 0)) && echo "all as expected"
exit $((failures > 0))
