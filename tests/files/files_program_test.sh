#!/usr/bin/env bash
# benches/files from the command line: files of each kind and operators of a library against each other. Then input that
# is wrong in every way it can be. Each time a message names the file or the option, the exit code is not 0, and the
# other candidates are measured.
#
#   files_program_test.sh PROGRAM
set -uo pipefail
program=$1
work=${TEST_TMPDIR:?}
pair=benches/files/two_layers
files=tests/files
. tests/support/program_checks.sh

# compares OPTIONS...: on a busy machine, with few rounds. Standard output and errors are one text without white space,
# since lines are wrapped, if need be in the middle of a path.
compares() {
  run --budget 0.05 --warm-up 0.001 --max-interference 1 --allow-undecided on "$@"
  text=$(tr -d ' \n' <<<"$output$errors")
}
shows() { [[ $text == *"$(tr -d ' \n' <<<"$1")"* ]] || complain "no message: $1"; }
lacks() { [[ $text != *"$(tr -d ' \n' <<<"$1")"* ]] || complain "a message: $1"; }
# Before anything is measured.
refuses() { ends_with 1; shows "$1"; [[ $output != *measured* ]] || complain "it ran"; }

inputs=$pair.inputs.pt

case="TorchScript, an exported program and a file beside itself"
compares --trust --baseline $pair.pt --candidate $pair.pt2 --candidate $pair.pt --inputs $inputs --no-slower-than 1000 \
  --json "$work/results.json"
ends_with 0; shows "1 case, 3 implementations: 3 measured"; shows "two_layers.pt2 over two_layers.pt:"; shows "two_layers.pt (2)"
holds "$work/results.json" '"name": ?"two_layers.pt2"'

case="a limit on the memory that a call holds at once"
compares --trust --baseline $pair.pt --candidate $pair.pt --inputs $inputs --peak-memory-at-most 1
ends_with 0; shows "2 measured"
compares --trust --baseline $pair.pt --candidate $pair.pt --inputs $inputs --peak-memory-at-most 0.1
ends_with 42; shows "bytes at once in one call, and 'two_layers.pt'"

case="code of files runs only with --trust"
compares --baseline $pair.pt --candidate $files/classifier.aot.pt2 --inputs $inputs
refuses "--trust was not given: $pair.pt holds a program in TorchScript"; shows "classifier.aot.pt2 holds compiled code"
compares --baseline $pair.pt2 --inputs $inputs; refuses "values that Python unpickles to compile it"
compares --baseline op:aten::relu --candidate op:aten::relu --library $files/libmy_operator.so --inputs "(T([2], f32),)"
refuses "libmy_operator.so holds compiled code"

case="an exported program holds no code"
compares --baseline $pair.pt2 --backend nativert --candidate $pair.pt2 --inputs $inputs; ends_with 0; shows "2 measured"

case="nothing is loaded for a list or a dry run"
compares --baseline $pair.pt --candidate $pair.pt2 --inputs $inputs --list; ends_with 0
[[ $output == two_layers.inputs ]] || complain "the list is $output"
compares --trust --baseline $pair.pt --candidate $pair.pt2 --inputs $inputs --dry-run; ends_with 0; shows "1 case would be measured"

case="a dry run asks for --trust and reads the inputs"
compares --baseline $pair.pt --candidate $pair.pt2 --inputs $inputs --dry-run; refuses "--trust was not given"
mkdir "$work/some" && cp $inputs "$work/some/good.pt" && cp $pair.pt "$work/some/no.pt"
compares --trust --baseline $pair.pt --candidate $pair.pt2 --inputs "$work/some" --dry-run; ends_with 42
shows "2 cases would be measured"; shows "no.pt: this is TorchScript without tensors of torch::save"
compares --trust --baseline $pair.pt --candidate $pair.pt2 --inputs "$work/some" --dry-run --case good; ends_with 0

case="a case whose name is not UTF-8 is called as its results are"
printf '(T([8, 63], f32), T([64], f32))\n' >"$work/"$'na\xefve.txt'
compares --baseline $pair.pt --candidate $pair.pt2 --inputs "$work/"$'na\xefve.txt' --list
[[ $output == $'na\xef\xbf\xbdve' ]] || complain "the list is $output"
compares --trust --baseline $pair.pt --candidate $pair.pt2 --inputs "$work/"$'na\xefve.txt' --dry-run \
  --case $'na\xef\xbf\xbdve'
ends_with 42; shows "two_layers.pt2: argument 'x': expected float32["

case="a dry run fails for files that do not load, and runs no code of them"
printf 'hello' >"$work/text.pt"
python3 - $pair.pt "$work/short.pt" <<'EOF' || complain "the file could not be changed"
import sys, zipfile
given = zipfile.ZipFile(sys.argv[1])
with zipfile.ZipFile(sys.argv[2], "w") as other:
    for name in given.namelist():
        data = given.read(name)
        other.writestr(name, data[:-1] if name.endswith("/data/0") else data)
EOF
compares --trust --baseline $pair.pt --candidate "$work/missing.pt" --candidate "$work/text.pt" --candidate "$work/short.pt" \
  --candidate $pair.pt2:other --candidate op:myops::fused --candidate $files/fused.pt2 --inputs $inputs --dry-run
ends_with 42; shows "missing.pt: no such file"; shows "text.pt: this is neither an archive of LibTorch's nor a shared library"
shows "short.pt: the record data/0 is too short: its tensors need"; shows "the archive has no model 'other'"
shows "op:myops::fused: there is no such operator"; shows "the program calls the operator myops.fused.default"
compares --trust --baseline $files/fused.pt --candidate $files/fused.pt2 --candidate op:myops::fused \
  --inputs $files/fused.inputs.pt --library $files/libmy_operator.so --dry-run; ends_with 0
compares --trust --baseline $pair.pt --candidate $pair.pt2 --inputs $inputs --library "$work/text.pt" --dry-run
ends_with 42; shows "text.pt: --library: it does not load: this is neither"
compares --trust --baseline $pair.pt --candidate $files/classifier.aot.pt2 --inputs "(T([2], f32),)" --device cpu --dry-run
ends_with 0

text_of_inputs="((T([8, 12], i64, low=0, high=50), (T([16], f32), T([16], f32)), 3), {'bias': T([4], f32)})"

case="a dry run fails for inputs that an exported program or an operator does not take"
dry() { compares --trust "$@" --dry-run; ends_with 42; prints "dry run: nothing was measured"; }
dry --baseline $pair.pt --candidate $pair.pt2 --inputs "(T([8, 63], f32), T([64], f32))"
shows "two_layers.pt2: argument 'x': expected float32["; shows "64] on cpu, found float32[8, 63] on cpu"
dry --baseline $pair.pt2 --inputs "(T([8, 64], f32), T([64], f64))"
shows "argument 'scale': expected float32[64] on cpu, found float64[64] on cpu"
[[ $(grep -o "argument 'scale': expected" <<<"$errors" | wc -l) == 1 ]] || complain "one problem is shown for each back end"
dry --baseline $pair.pt --candidate $pair.pt2 --inputs "(T([8, 64], f32),)"
shows "two_layers.pt2: it takes 2 arguments (x, scale), and the inputs have 1"
dry --baseline $pair.pt --candidate $pair.pt2 --inputs "(T([8, 64], f32), 3)"; shows "argument 'scale': expected float32[64] on cpu, found 3"
dry --baseline $files/classifier.pt2 --candidate $files/classifier.aot.pt2 --inputs "${text_of_inputs/ 3/ 4}"
shows "argument 'times': expected 3, which the program was exported with, found 4"
dry --baseline $pair.pt --candidate $pair.pt2 --inputs "(T([8, width], f32), T([64], f32))" --sweep width=63,64,65
shows "found float32[8, 63] on cpu"; shows "found float32[8, 65] on cpu"
[[ $text != *"foundfloat32[8,64]"* ]] || complain "a size that fits is refused"
dry --baseline op:aten::relu --candidate op:aten::gelu --inputs "(T([400000, 400000], f32),)"
shows "not enough memory for the inputs: "
dry --baseline op:aten::relu --candidate op:aten::gelu --inputs "(T([8], f32), T([8], f32))"
shows "takes at most 1 positional arguments, got 2"
compares --trust --baseline $pair.pt --candidate $pair.pt2 --inputs "(T([8, 63], f32), T([64], f32))" --dry-run --case other
[[ $text != *"argument'x'"* ]] || complain "a case that is left out is checked"
compares --trust --baseline $pair.pt --candidate $pair.pt2 --inputs "(T([16, 64], f32), T([64], f32))" --dry-run; ends_with 0
compares --trust --baseline $files/classifier.pt2 --candidate $files/classifier.aot.pt2 --inputs "$text_of_inputs" --dry-run
ends_with 0

case="a weight whose record is too short is a row"
compares --trust --baseline $pair.pt --candidate "$work/short.pt" --candidate $pair.pt2 --inputs $inputs; ends_with 42
shows "2 measured, 1 refused"; shows "short.pt: the record data/0 is too short"

case="indices, a pair, a keyword argument and a tuple of outputs, as files and as text"
compares --trust --baseline $files/classifier.pt2 --candidate $files/classifier.aot.pt2 --inputs $files/classifier.inputs.pt
ends_with 0; shows "2 measured"
compares --trust --baseline $files/classifier.pt2 --candidate $files/classifier.aot.pt2 --inputs "$text_of_inputs"
ends_with 0; shows "2 measured"

case="a package is not asked for a float64 reference, which it would refuse aloud in a run that is fine"
compares --trust --baseline $files/classifier.aot.pt2 --candidate $files/classifier.pt2 --inputs $files/classifier.inputs.pt
ends_with 0; shows "2 measured"; [[ $errors != *input_handles* ]] || complain "a line of LibTorch's"

case="each side has the buffers that calls write to, with the same values before each call"
for baseline in pt pt2 aot.pt2; do
  compares --trust --baseline $files/cache.$baseline --candidate $files/cache.pt --candidate $files/cache.pt2 \
    --candidate $files/cache.aot.pt2 --inputs $files/cache.inputs.pt --verbose
  ends_with 0; shows "4 measured"; shows "Operand tensor 1 (counted from 0) is the buffer 'cache' of cache.$baseline"
  shows "Operand tensor 2 (counted from 0) is the buffer 'position' of cache.$baseline"; lacks "the buffer 'scale'"
done

case="a package is given a buffer to which its first call wrote what was there"
compares --trust --baseline $files/placed.pt --candidate $files/placed.aot.pt2 --inputs $files/placed.inputs.pt --verbose
ends_with 0; shows "2 measured"; shows "Operand tensor 3 (counted from 0) is the buffer 'position' of placed.pt"
shows "placed.aot.pt2 that gets other buffers includes an update of its pointers to them, which takes"

case="a package is called with inputs of several cases, each with buffers of its own"
compares --trust --baseline $files/cache.pt2 --candidate $files/cache.aot.pt2 --inputs "(T([1, 16], f32, high=top),)" \
  --sweep top=1,2
ends_with 0; shows "2 cases, 4 implementations: 4 measured"

case="buffers of an exported program that cannot be read are refused, and NativeRT is not blamed"
python3 - $files/cache.pt2 "$work/pickled.pt2" <<'EOF' || complain "the file could not be changed"
import json, sys, zipfile
given = zipfile.ZipFile(sys.argv[1])
with zipfile.ZipFile(sys.argv[2], "w") as other:
    for name in given.namelist():
        data = given.read(name)
        if name.endswith("_config.json"):
            config = json.loads(data)
            if "cache" in config["config"]:
                config["config"]["cache"]["use_pickle"] = True
            data = json.dumps(config)
        other.writestr(name, data)
EOF
compares --trust --baseline $files/cache.pt --candidate "$work/pickled.pt2" --inputs $files/cache.inputs.pt
ends_with 42; shows "the buffer 'cache', which was pickled; why:"; lacks "NativeRT does not load"

case="a side that does not write to the baseline's buffers is refused"
compares --trust --baseline $files/cache.pt2 --candidate op:aten::relu --inputs "(T([1, 16], f32),)"
ends_with 42; shows "cache.pt2 writes to its buffer 'cache', and op:aten::relu does not; why: calls of both"

case="operands are declared by their numbers, and one that is not there is named"
compares --trust --baseline $files/cache.pt --candidate $files/cache.pt2 --inputs $files/cache.inputs.pt --scratch 1 --constant 0 --verbose
ends_with 0; shows "that calls leave in operand tensor 1 (counted from 0) are not compared, as declared (scratch)"
shows "operand tensor 0 (counted from 0) may be kept between calls, as declared (constant)"
compares --trust --baseline $files/cache.pt --candidate $files/cache.pt2 --inputs $files/cache.inputs.pt --scratch 3
ends_with 42; shows "declares operand tensor 3 (counted from 0) as scratch"
compares --trust --baseline $files/cache.pt --candidate $files/cache.pt2 --inputs $files/cache.inputs.pt --constant x
refuses "--constant: invalid value 'x'; expected the number of an operand tensor, counted from 0"

case="rows in any order are compared by --check order_free"
compares --baseline op:aten::relu --candidate op:aten::relu --inputs "(T([8], f32),)" --check order_free; ends_with 0

case="a number that a program was exported with cannot be another one"
compares --trust --baseline $files/classifier.pt2 --candidate $files/classifier.aot.pt2 --inputs "${text_of_inputs/ 3/ 4}"
ends_with 42; shows "argument 'times': expected 3, which the program was exported with, found 4"

case="a sweep has a row for each value"
compares --trust --baseline $pair.pt --candidate $pair.pt2 --inputs "(T([batch, 64], f32), T([64], f32))" --sweep batch=2:32:x4
ends_with 0; shows "3 cases, 6 implementations: 6 measured"; shows "batch=2 "; shows "batch=8 "; shows "batch=32 "

case="a bad candidate leaves the others their figures"
printf 'hello' >"$work/text.pt"
: >"$work/empty.pt"
head -c 3000 $pair.pt >"$work/cut.pt"
head -c 3000 $pair.pt2 >"$work/cut.pt2"
compares --trust --baseline $pair.pt --inputs $inputs --candidate "$work/text.pt" --candidate "$work/empty.pt" \
  --candidate "$work/cut.pt" --candidate "$work/cut.pt2" --candidate "$work/missing.pt" --candidate $inputs \
  --candidate $files/classifier.pt2 --candidate $files/classifier.aot.pt2 --candidate op:myops::fused --candidate $pair.pt2
ends_with 42; shows "11 implementations: 2 measured, 9 refused"
shows "text.pt: this is neither an archive of LibTorch's nor a shared library"; shows "empty.pt: the file is empty"
shows "cut.pt: this archive was cut or damaged"; shows "cut.pt2: this archive was cut or damaged"
shows "missing.pt: no such file"; shows "two_layers.inputs.pt: this is values that torch.save has written"
shows "classifier.pt2: it takes 4 arguments (indices, pair, times, bias), and the inputs have 2"
shows "classifier.aot.pt2: it takes 4 arguments"; shows "op:myops::fused: there is no such operator"

case="inputs that do not fit: the argument, what was found and what was expected"
of_pair=(--trust --baseline $pair.pt2 --candidate $pair.pt)
compares "${of_pair[@]}" --inputs "(T([8, 63], f32), T([64], f32))"; ends_with 42
shows "argument 'x': expected float32["; shows "64] on cpu, found float32[8, 63] on cpu"
compares "${of_pair[@]}" --inputs "(T([8, 64], f32), T([64], f64))"; ends_with 42
shows "argument 'scale': expected float32[64] on cpu, found float64[64] on cpu"
compares "${of_pair[@]}" --inputs "(T([8, 64], f32), 3)"; ends_with 42; shows "argument 'scale': expected float32[64] on cpu, found 3"
compares "${of_pair[@]}" --inputs "(T([8, 64], f32),)"; ends_with 42
shows "it takes 2 arguments (x, scale), and the inputs have 1"
compares --trust --baseline $pair.pt --candidate $pair.pt2 --inputs "(T([8, 64], f32),)"; ends_with 42
shows "forward is missing argument 'scale', expected Tensor"
compares --trust --baseline $files/classifier.aot.pt2 --candidate $files/classifier.pt2 \
  --inputs "((T([9, 12], i64, low=0, high=50), (T([16], f32), T([16], f32)), 3), {'bias': T([4], f32)})"
ends_with 42; shows "classifier.aot.pt2: the package refuses the inputs"; shows "input_handles[0]"

case="an exported program of another torch"
python3 $files/other_torch.py $pair.pt2 "$work/other.pt2" || complain "the file could not be changed"
compares --trust --baseline $pair.pt --candidate "$work/other.pt2" --candidate $pair.pt2 --inputs $inputs; ends_with 42
shows "it was exported by torch 1."; shows "in version 7 of the format; expected version 8"; shows "2 measured, 1 refused"

case="an exported program that does more than compute counts as code, in each of its graphs"
# calls OPERATOR FILE [branch]: a program that calls the operator, in a branch or by itself.
calls() {
  python3 - $pair.pt2 "$@" <<'EOF' || complain "the file could not be changed"
import copy, json, sys, zipfile
given, operator = zipfile.ZipFile(sys.argv[1]), "torch.ops." + sys.argv[2]
with zipfile.ZipFile(sys.argv[3], "w") as other:
    for name in given.namelist():
        data = given.read(name)
        if name.endswith("models/model.json"):
            program = json.loads(data)
            nodes = program["graph_module"]["graph"]["nodes"]
            if sys.argv[4:]:
                graph = copy.deepcopy(program["graph_module"]["graph"])
                graph["nodes"][0]["target"] = operator
                branch = {"name": "b", "graph": graph}
                nodes[0]["inputs"].append({"name": "b", "arg": {"as_graph": branch}, "kind": 1})
            else:
                nodes[0]["target"] = operator
            data = json.dumps(program)
        other.writestr(name, data)
EOF
}
for where in "" branch; do
  for operator in aten.from_file.default aten.from_file.out; do
    calls $operator "$work/reads.pt2" $where
    compares --baseline "$work/reads.pt2" --candidate "$work/reads.pt2" --inputs $inputs
    refuses "a call of $operator, which reads and writes files"
  done
  calls other.write.default "$work/other_operator.pt2" $where
  compares --baseline "$work/other_operator.pt2" --candidate "$work/other_operator.pt2" --inputs $inputs
  refuses "a call of other.write.default, which is none of ATen's operators and may do anything"
done

case="a part of an archive that cannot be read counts as code"
python3 - $pair.pt2 "$work/part.pt2" <<'EOF' || complain "the file could not be changed"
import sys, zipfile
given = zipfile.ZipFile(sys.argv[1])
with zipfile.ZipFile(sys.argv[2], "w") as other:
    for name in given.namelist():
        other.writestr(name, given.read(name))
    other.writestr(given.namelist()[0].split("/")[0] + "/models/zzz.json", "{broken")
EOF
compares --baseline "$work/part.pt2" --inputs $inputs; refuses "values that Python unpickles to compile it"
compares --baseline "$work/part.pt2:model" --candidate "$work/part.pt2:model" --inputs $inputs
refuses "a part that cannot be read, and may be code"

case="results take the place of no file that is read"
for option in --json --csv --junit; do
  cp $pair.pt2 "$work/mine.pt2"
  compares --baseline "$work/mine.pt2" --candidate "$work/mine.pt2" --inputs $inputs $option "$work/../$(basename "$work")/mine.pt2"
  refuses "$option: this file is read; expected another name"
  cmp -s $pair.pt2 "$work/mine.pt2" || complain "the file was changed"
done

case="--resume goes on with the files that were measured, and with no others"
mkdir "$work/again"
cp $pair.pt2 "$work/again.pt2"
cp $inputs "$work/again/a.pt"
cp $files/libmy_operator.so "$work/again.so"
again=(--trust --baseline $pair.pt2 --backend nativert --candidate "$work/again.pt2" --inputs "$work/again"
  --library "$work/again.so" --json "$work/again.json")
compares "${again[@]}"; ends_with 0; shows "2 measured"
compares "${again[@]}" --resume; ends_with 0; shows "2 measured"
# changes FILE: one byte more, for one run.
changes() {
  cp "$1" "$work/before"
  chmod u+w "$1"
  printf ' ' >>"$1"
  compares "${again[@]}" --resume; refuses "content of $1"
  cp "$work/before" "$1"
}
changes "$work/again.pt2"; changes "$work/again/a.pt"; changes "$work/again.so"
cp $inputs "$work/again/b.pt"
compares "${again[@]}" --resume; refuses "content of $work/again/b.pt"
rm -f "$work/again/b.pt"
compares "${again[@]}" --resume; ends_with 0
compares "${again[@]}" --resume --peak-memory-at-most 0.1
refuses "--peak-memory-at-most: nothing there, '0.1' here"
printf 'no archive' >"$work/again.pt2"
compares "${again[@]}" --resume; refuses "content of $work/again.pt2"

case="inputs whose memory is smaller than they say leave the other cases their figures"
mkdir -p "$work/three"
cp $inputs "$work/three/a.pt"
cp $inputs "$work/three/c.pt"
python3 - $inputs "$work/three/b.pt" <<'EOF' || complain "the file could not be changed"
import sys, zipfile
given = zipfile.ZipFile(sys.argv[1])
with zipfile.ZipFile(sys.argv[2], "w") as other:
    for name in given.namelist():
        data = given.read(name)
        if name.endswith("data.pkl"):
            # The sizes of the first tensor are 32 and 64; it gets 33 and 64.
            assert data.count(b"K K@") >= 1, data
            data = data.replace(b"K K@", b"K!K@", 1)
        other.writestr(name, data)
EOF
compares --trust --baseline $pair.pt --candidate $pair.pt2 --inputs "$work/three"
ends_with 42; shows "3 cases"; shows "three/b.pt"; shows "4 measured"

case="a buffer that a call makes larger: the cause, the line of Python and what was expected, without a stack of C++"
compares --trust --baseline $files/grown.pt2 --candidate $files/grown.pt2 --inputs $files/grown.inputs.pt
ends_with 42; lacks "frame #"; shows "modules.py"; shows "self.cache = torch.cat([self.cache, x])"
shows "threw: The size of tensor a (2) must match the size of tensor b (4) at non-singleton dimension 0; why: the program executed"
shows "try: a forward() that leaves the buffer 'cache' its shape [2, 4]"

case="the programs of an archive"
python3 $files/two_programs.py $pair.pt2 "$work/both.pt2" || complain "the file could not be written"
compares --trust --baseline "$work/both.pt2:one" --candidate "$work/both.pt2:two" --candidate $pair.pt2:model \
  --candidate $pair.pt --candidate "$work/both.pt2" --candidate "$work/both.pt2:three" --candidate $pair.pt:one --inputs $inputs
ends_with 42; shows "7 implementations: 4 measured, 3 refused"; shows "both.pt2:two over both.pt2:one:"
shows "both.pt2: the archive has no model 'model'; expected FILE:NAME with one of one, two"
shows "both.pt2: the archive has no model 'three'"
shows "two_layers.pt: a TorchScript file holds one module; expected its name without ':one'"
compares --trust --baseline $pair.pt --candidate $pair.pt2 --model other --inputs $inputs
refuses "--model is refused: it would be about every file; expected FILE:NAME"

case="operators of a library"
of_fused=(--inputs $files/fused.inputs.pt)
compares "${of_fused[@]}" --trust --baseline $files/fused.pt2 --candidate $files/fused.pt2; ends_with 42
shows "fused.pt2: the program calls the operator myops.fused.default, which is not there; expected --library"
compares "${of_fused[@]}" --trust --baseline $files/fused.pt --candidate $files/fused.pt2; ends_with 42
shows "fused.pt: the TorchScript file does not load: Unknown builtin op: myops::fused"; shows "Expected --library"
compares "${of_fused[@]}" --trust --library $files/libmy_operator.so --baseline $files/fused.pt2 --candidate $files/fused.pt \
  --candidate op:myops::fused; ends_with 0; shows "3 measured"
compares "${of_fused[@]}" --trust --library $files/libmy_operator.so --baseline $files/fused.pt --candidate op:myops::crash \
  --candidate op:myops::fused; ends_with 42; shows "op:myops::crash"; shows "2 measured, 1 crashed"
compares "${of_fused[@]}" --trust --library $files/libmy_operator.so --baseline $files/fused.pt \
  --candidate op:myops::into_one_buffer; ends_with 42; shows "a later call overwrites output tensor 0"
compares "${of_fused[@]}" --trust --library $files/libmy_operator.so --baseline $files/fused.pt \
  --candidate op:myops::into_one_buffer --reuses-outputs --verbose; ends_with 0; shows "as declared (reuses_outputs)"
compares "${of_fused[@]}" --trust --library "$work/missing.so" --baseline op:aten::mul --candidate op:aten::mul
refuses "missing.so: --library: no such file"
compares "${of_fused[@]}" --trust --library "$work/text.pt" --baseline op:aten::mul --candidate op:aten::mul
refuses "text.pt: --library: it does not load"

case="names that lack a part"
compares --baseline aten::relu --candidate op:aten::relu --inputs "(T([8], f32),)"
refuses "aten::relu: no such file; expected op:aten::relu where this is an operator"
compares --trust --baseline $pair.pt2 --inductor-config fast --inputs $inputs
refuses "found 'fast'; a file of torch.export may have 'freezing' as well"

case="different answers"
compares --inputs "(T([8, 64], f32),)" --baseline op:aten::relu --candidate op:aten::gelu; ends_with 42; shows "WRONG"
compares --inputs "(T([8, 64], f32),)" --baseline op:aten::gelu --candidate op:aten::relu --check cosine; ends_with 0
compares --inputs "(T([8, 64], f32),)" --baseline op:aten::relu --candidate op:aten::gelu --atol 1; ends_with 0
compares --inputs "(T([4096], f32), 0.5, True)" --baseline op:aten::dropout --candidate op:aten::dropout --check random; ends_with 0
compares --inputs "(T([4096], f32),)" --baseline op:aten::relu --candidate op:aten::gelu --check bitwise; ends_with 42

case="a claim that does not hold"
compares --inputs "(T([8, 64], f32),)" --baseline op:aten::relu --candidate op:aten::relu --speedup-at-least 1000
((code == 42 || code == 43)) || complain "exit code $code"

case="a baseline that cannot be read"
compares --trust --baseline "$work/cut.pt" --candidate $pair.pt --inputs $inputs; refuses "cut.pt: this archive was cut or damaged"
compares --trust --baseline "$work/missing.pt" --candidate $pair.pt --inputs $inputs; refuses "missing.pt: no such file"

case="inputs that cannot be read"
mkdir "$work/empty"
for bad in "$work/empty" "$work/missing" "$work/empty.pt" "$work/cut.pt2" $pair.pt2; do
  compares --trust --baseline $pair.pt --candidate $pair.pt2 --inputs "$bad"
  ((code == 1 || code == 42)) || complain "exit code $code"
  [[ $text == *"$bad"* ]] || complain "no message names $bad"
done
compares --trust --baseline $pair.pt --candidate $pair.pt2 --inputs "(T([b, 64], f32),)"; refuses "the size 'b' has no value"

case="a recording without calls"
printf 'Operator: aten.relu.default\n' >"$work/none.txt"
compares --baseline op:aten::relu --candidate op:aten::relu --inputs "$work/none.txt"
refuses "$work/none.txt: the recording has no calls"

case="a long text of inputs that is wrong"
printf '(T([8, 64], f32), %600000s' '' | tr ' ' '%' >"$work/long.txt"
compares --baseline op:aten::relu --candidate op:aten::relu --inputs "$work/long.txt"; refuses "$work/long.txt:1"
((${#text} < 2000)) || complain "it says ${#text} characters"

case="options that are missing, unknown or without effect"
good=(--trust --baseline $pair.pt --candidate $pair.pt2 --inputs $inputs)
compares --candidate $pair.pt; refuses "--baseline FILE is missing"
compares --trust --baseline $pair.pt --candidate $pair.pt2; refuses "--inputs is missing"
compares --trust --baseline $pair.pt --inputs $inputs; refuses "there is nothing to compare with"
compares "${good[@]}" --backend nativert; refuses "--backend and --inductor-config are for files of torch.export"
compares --trust --baseline $pair.pt2 --inputs $inputs --backend warp; refuses "--backend: invalid value 'warp'"
compares --trust --baseline $pair.pt2 --inputs $inputs --backend nativert; refuses "--backend names one back end"
compares --trust --baseline $pair.pt2 --inputs $inputs --inductor-config warp; refuses "--inductor-config: expected one of"
compares "${good[@]}" --speedup-at-least nan; refuses "--speedup-at-least: invalid value 'nan'"
compares "${good[@]}" --rtol -1; refuses "--rtol: invalid value '-1'"
compares "${good[@]}" --rtol 1 --check bitwise; refuses "--rtol and --atol have no meaning"
compares "${good[@]}" --scratch 0 --scratch 1 --constant 1; refuses "--scratch 1 does not go together with --constant 1"
compares "${good[@]}" --sweep b=1:2:x2; refuses "--sweep b has no effect"
compares "${good[@]}" --sweep b=1:2; refuses "--sweep 'b=1:2'"
compares "${good[@]}" --device warp; refuses "--device: expected cpu, cuda"
compares "${good[@]}" --save-baseline x; refuses "--save-baseline is refused: --baseline names a file here"

cat >"$work/add.ptx" <<'END'
.version 8.0
.target sm_80
.address_size 64
.visible .entry add(.param .u64 x, .param .u64 y, .param .u64 sum, .param .u32 n) { ret; }
END
cat >"$work/add.yaml" <<'END'
image: add.ptx
inputs: {x: {shape: [n], dtype: f32}, y: {shape: [n], dtype: f32}}
arguments: [{input: x}, {input: y}, {output: {shape: [n], dtype: f32}}, {scalar: n, type: i32}]
grid: ceil_div(n, 256)
block: 256
END
adds=(--baseline op:aten::add.Tensor --candidate "$work/add.yaml" --candidate op:aten::add.Tensor --inputs
  "(T([8], f32), T([8], f32))")

case="a kernel is code"
compares "${adds[@]}"
refuses "add.yaml holds a kernel, which may read and write all memory of this program on the GPU ($work/add.ptx)"

case="a kernel is refused with the reason where the inputs are on the CPU, and the others are measured"
compares --trust "${adds[@]}"; ends_with 42; shows "2 measured"; shows "a kernel runs on a GPU"
[[ $text != *built*without* ]] || shows "this program was built without CUDA: build it with --config=cuda"

case="a YAML file that is wrong is a row with its line, and an image alone is of no known kind"
sed -i 's/grid: ceil_div(n, 256)/grid: ceil_div(n)/' "$work/add.yaml"
compares --trust "${adds[@]}"; ends_with 42; shows "2 measured"
shows "add.yaml:4: key 'grid': 'ceil_div(n)': ceil_div: expected 2 arguments, found 1"
compares --baseline "$work/add.ptx" --candidate op:aten::add.Tensor --inputs "(T([8], f32),)"
refuses "expected a file of one of these kinds: TorchScript, torch.export, AOTInductor, kernel (a file *.yaml)"

case="an image that is wrong has the line of the YAML file that names it"
printf 'image: text.pt\n' >"$work/image.yaml"
sed 1d "$work/add.yaml" >>"$work/image.yaml"
sed -i 's/grid: ceil_div(n)/grid: 1/' "$work/image.yaml"
for way in "" --dry-run; do
  compares --trust "${adds[@]}" --candidate "$work/image.yaml" $way; ends_with 42
  shows "image.yaml:1: key 'image': $work/text.pt: expected compiled kernels (a cubin, a fatbin or PTX): it has no line .target"
done

case="a long formula is not repeated"
{ sed '/^grid/d' "$work/add.yaml"; printf 'grid: %0200000d + x y\n' 1; } >"$work/long.yaml"
compares --trust "${adds[@]}" --candidate "$work/long.yaml"; ends_with 42; shows "long.yaml:5: key 'grid': '000"
((${#text} < 20000)) || complain "it says ${#text} characters"

case="results overwrite no image of a kernel"
sed -i 's/grid: ceil_div(n)/grid: ceil_div(n, 256)/' "$work/add.yaml"
compares --trust "${adds[@]}" --json "$work/add.ptx"; refuses "--json: this file is read"
[[ $(<"$work/add.ptx") == .version* ]] || complain "the image is gone"

case="--resume keeps no results of a kernel whose image was changed"
again=(--trust "${adds[@]}" --json "$work/adds.json")
compares "${again[@]}"; ends_with 42
compares "${again[@]}" --resume; ends_with 42; shows "2 measured"
changes "$work/add.ptx"; changes "$work/add.yaml"

((failures == 0)) && echo "all as expected"
