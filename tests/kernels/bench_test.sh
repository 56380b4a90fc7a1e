#!/usr/bin/env bash
# benches/kernels from the command line, on packages for the CPU: its output, its files, and its messages for wrong
# input.
#
#   bench_test.sh PROGRAM PACKAGES
set -uo pipefail
program=$1 packages=$2
work=${TEST_TMPDIR:?}
source tests/support/program_checks.sh

# block OPTIONS...: as run, of the package that announces its kernels.
block() {
  [[ " $* " != *" -p "* && " $* " != *" --ncu "* ]] || set -- --output-directory "$work" "$@"
  run --package "$packages/block.pt2" --threads 1 "$@"
}
has_line() { holds "$work/out" "$1"; }

case="the module's time"
block --times 3 --repeat 2; ends_with 0
says "kernels: the compiled code of $packages/block.pt2 runs with your rights"
prints "block on cpu: "; prints " a call, the lower median of 2 readings of 3 calls"
[[ $output != *"GPU memory"* ]] || complain "memory of a GPU"
block --compat --times 2 --repeat 2; ends_with 0
has_line '^[0-9]+\.[0-9]{6}$'; (($(wc -l <"$work/out") == 1)) || complain "more than one line"

case="every kernel, as a table and as files"
block -k --csv "$work/k.csv" --json "$work/k.json" --kernels-at-most 4; ends_with 0
prints "block on "; has_line '^ +cpp_fused_0 +POI .* [0-9.]+ us .* [0-9.]+ +[0-9.]+ %$'
has_line '^ +aoti_torch_cpu_addmm_out +UNK '; has_line '^ +cpp_fused_1 +RED '
prints "passed: at most 4 kernels"
(($(grep -vc "not in any listed kernel" "$work/k.csv") == 4)) || complain "expected a header and three rows: $(<"$work/k.csv")"
# The comma in the name of the device moves the shares to field 10.
awk -F, 'NR > 1 { sum += $10 } END { exit !(sum > 0.999 && sum < 1.001) }' "$work/k.csv" ||
  complain "shares do not sum to 100 %: $(<"$work/k.csv")"
holds "$work/k.json" '"symbol": "(graph_[0-9]*_)?cpp_fused_0"'
block -k --kernel addmm; ends_with 0; prints ": 3 kernels"; [[ $output != *cpp_fused* ]] || complain "kernels that do not match"
block -k --category addmm=template; ends_with 0; has_line '^ +aoti_torch_cpu_addmm_out +TEM '
mkdir "$work/sources"
printf '@triton_heuristics.template(\ndef aoti_torch_cpu_addmm_out(a):\n  pass\n' >"$work/sources/addmm.py"
block -k --kernel-sources "$work/sources"; ends_with 0
has_line '^ +aoti_torch_cpu_addmm_out +TEM '; has_line '^ +cpp_fused_1 +RED '
block -k --kernel-sources "$work/none"; ends_with 1; says "none: --kernel-sources: expected a folder of sources"
block -k --kernels-at-most 2; ends_with 42; says "failed: at most 2 kernels; it has 3"
block -k --registers-at-most 9; ends_with 42; says "runs on the CPU, where launches have no registers"

case="a page"
block -k --html "$work/k.html"
# Without the pages' Python no program makes pages.
if [[ $errors != *"this program has no program of tools/report beside it"* ]]; then
  ends_with 0; holds "$work/k.html" 'cpp_fused_0'; holds "$work/k.html" '^<!DOCTYPE html>'
  [[ -z $(compgen -G "$work/k.html.*") ]] || complain "results beside the page"
  block --times 3 --repeat 2 --html "$work/whole.html"; ends_with 0; holds "$work/whole.html" '^<!DOCTYPE html>'
fi

case="bandwidths of all kernels, and a file that grows"
block -k --profile-bandwidth=cpp_ --profile-bandwidth-output "$work/bandwidth"; ends_with 0
has_line $'^[0-9]+\\.[0-9]{3}ms    \t[0-9.]+ GB \t[ 0-9.]+GB/s \t cpp_fused_0$'
has_line "^SUMMARY \\(.*block\\.pt2\\)$"
block -k --profile-bandwidth --profile-bandwidth-output "$work/bandwidth"; ends_with 0
has_line $'GB/s \t aoti_torch_cpu_addmm_out$'
(($(grep -c '^TRITON KERNELS BANDWIDTH INFO (.*block.pt2)$' "$work/bandwidth") == 2)) || complain "expected two summaries"
(($(grep -c '%.*cpp_fused_0$' "$work/bandwidth") == 2)) || complain "expected the kernel in both"
(($(grep -c '%.*aoti_torch_cpu_addmm_out$' "$work/bandwidth") == 1)) || complain "expected the call of LibTorch in one"

case="the original lists Triton's kernels alone, and the CPU has none"
block -k --compat; ends_with 1; prints "No kernel with benchmark functionality found."
says "runs on the CPU, and the original lists Triton's kernels alone"

case="a profile"
block -p --times 2 --repeat 2; ends_with 0
prints "Profiling result for a compiled module of benchmark block:"
prints "Chrome trace for the profile is written to $work/compiled_module_profile.json"
holds "$work/compiled_module_profile.json" cpp_fused_0
prints "Self CPU TIME (ms)"; prints "Percent of time when CPU is busy: "; prints "Output for tabulate: block, 0.00%,"
block -p --compat --times 2 --repeat 2; ends_with 0; prints "No device detected"

case="a trace without a folder of its own is in a new one, where no link of its name can lie"
echo untouched >"$work/victim"; ln -sf victim "$work/compiled_module_profile.json"
run --package "$packages/block.pt2" --threads 1 -p --times 1 --repeat 1; ends_with 0
prints "Chrome trace for the profile is written to $work/pace-"
[[ $(<"$work/victim") == untouched ]] || complain "a link was followed"
rm "$work/compiled_module_profile.json"

case="a folder for files that were not written goes"
kept=("$work"/pace-*)
run --package "$packages/out_of_range.pt2" --threads 1 -p --times 1 --repeat 1; ends_with 1
left=("$work"/pace-*)
((${#kept[@]} == 1 && ${#left[@]} == 1)) || complain "folders are left: ${left[*]}"

case="Nsight Compute, around one run of the same program"
mkdir -p "$work/bin"
cat >"$work/bin/ncu" <<'FAKE'
#!/usr/bin/env bash
for word; do echo "$word"; done >"$NCU_WORDS"
while [[ $1 != */kernels* ]]; do shift; done
exec "$@"
FAKE
chmod +x "$work/bin/ncu"
export NCU_WORDS=$work/words
PATH=$work/bin:$PATH block --ncu --ncu-metrics a,b --times 3 --repeat 2; ends_with 0
prints "NCU profiling results for benchmark block:"; prints "NCU report has been written to $work/ncu_output_20"
holds "$work/err" '^[0-9]+\.[0-9]{6}$'
diff <(tr '\n' ' ' <"$NCU_WORDS" | sed -E "s#--export [^ ]*#--export R#; s# /[^ ]*/kernels[^ ]* # PROGRAM #; s#--package [^ ]*#--package P#") \
  <(printf '%s ' --target-processes all --replay-mode kernel --kernel-name-base function --print-units base \
    --import-source yes --force-overwrite --export R --metrics a,b PROGRAM --package P --benchmark-name block --threads 1 \
    --compat --times 1 --repeat 1) || complain "another command line"
printf '#!/bin/sh\nexit 3\n' >"$work/bin/ncu"
PATH=$work/bin:$PATH block --ncu --times 1 --repeat 1; ends_with 1; prints "NCU profiling failed with error: ncu ended with exit code 3"

case="a file that is no package, or a package for something else, is refused"
run --package "$0"; ends_with 1; says "this is no package; expected an archive (.pt2) that AOTInductor wrote"
mkfifo "$work/pipe.pt2"
for path in "$work" /dev/null /dev/zero "$work/pipe.pt2"; do
  run --package "$path"; ends_with 1; says "$path: this is no package"
done
run --package "$work/none.pt2"; ends_with 1; says "none.pt2: no such file"
block --device cuda; ends_with 1; says "the package was compiled for cpu; --device asks for cuda"
block --model zebra; ends_with 1; says "the package has no model 'zebra'; expected --model with one of forward"
block --cuda-memory-snapshot; ends_with 1; says "runs on the CPU; expected a package for a GPU"

case="operands that it was not compiled for"
block --inputs "(T([512, 512], f32),)"; ends_with 1; says "was compiled for 5 operands, but called with 1"
operands="T([512, 512], f32), T([512], f32), T([512], f32), T([512], f32)"
block --inputs "($operands, T([256, 513], f32))"; ends_with 1
says "was compiled for float32[256, 512] with strides [512, 1] on cpu as operand 4, but called with float32[256, 513]"
block --inputs "(T([4], f32)"; ends_with 1; says "expected a tuple such as (T([4, 8], f32),)"
cp "$packages/block.pt2" "$work/alone.pt2"
run --package "$work/alone.pt2"; ends_with 1; says "what it was compiled for is not kept beside it; expected --inputs"
run --package "$work/alone.pt2" --inputs "($operands, T([256, 513], f32))"; ends_with 1; says "unmatched dim value at 1, expected: 512, but got: 513"
run --package "$work/alone.pt2" --inputs "($operands, T([256, 512], f32))" --times 1 --repeat 1; ends_with 0

case="a package whose run fails"
run --package "$packages/out_of_range.pt2"; ends_with 1; says "out_of_range.pt2: its run failed"

case="a package whose kernels are not recorded is timed, but lists none"
run --package "$packages/silent.pt2" -k; ends_with 1; says "no kernel was seen in this call of "; says "cpp.enable_kernel_profile"
run --package "$packages/silent.pt2" --times 1 --repeat 1; ends_with 0

case="options"
block -c; ends_with 1; says "--benchmark-all-configs (-c) goes together with --benchmark-kernels (-k)"
block -c -k; ends_with 1; says "runs on the CPU, where kernels have no configurations"
block --zebra; ends_with 1; says "unknown option --zebra; --help lists all options"
block --times 0; ends_with 1; says "--times: invalid value '0'; expected a whole number from 1 to 1000000"
block --repeat 0; ends_with 1; says "--repeat: invalid value '0'; expected a whole number from 1 to 1000000"
run; ends_with 1; says "expected --package FILE.pt2; --help lists all options"
run --help; ends_with 0; prints "--ncu-kernel-regex <regex>"
PATH=/nowhere block --ncu; ends_with 1; says 'there is no `ncu` in PATH'
block --csv "$work/nowhere/k.csv"; ends_with 1; says "nowhere/k.csv"
block --csv "$work/k.out" --json "$work/./k.out"; ends_with 1; says "--csv and --json name the same file"
block -k --profile; ends_with 1; says "--profile does not go together with --benchmark-kernels (-k)"
block -k --output-directory "$work"; ends_with 1; says "--output-directory goes together with --profile"
run --package "$packages/block.pt2" --threads 100000; ends_with 1; says "--threads: invalid value '100000'"
for out in '>&-' '>/dev/full'; do
  bash -c "'$program' --package '$packages/block.pt2' --threads 1 --times 1 --repeat 1 $out" 2>"$work/err"; code=$?
  errors=$(<"$work/err"); ends_with 1; says "kernels: not all that was printed could be written"
done
block -k --kernel zebra; ends_with 1; says "no name matches 'zebra'; expected a part of one of cpp_fused_0, "
deep=$(printf '(%.0s' {1..20000})a$(printf ')%.0s' {1..20000})
block -k --kernel "$deep"; ends_with 1; says "expected a regular expression of at most 256 characters"
run --package "$packages/block.pt2" -p --output-directory "$0/folder"; ends_with 1; says "--output-directory: "
run --package "$packages/block.pt2" --inputs "(T([9223372036854775807, 9223372036854775807], f32),)"; ends_with 1
says "block.pt2: "; [[ $errors != *"frame #"* ]] || complain "a stack"

case="names and messages give no orders to a terminal"
run --package $'/no\e[31m.pt2'; ends_with 1; says '/no\x1b[31m.pt2: no such file'
block --times 1 --repeat 1 --benchmark-name $'a\e[31mb'; ends_with 0; prints 'a\x1b[31mb on cpu'

((failures == 0)) && echo "all as expected"
exit $((failures > 0))
