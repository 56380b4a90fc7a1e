#!/usr/bin/env bash
# benches/models with files that Python wrote as models: rows, statuses, batches, dry runs, and input that is wrong.
#
#   file_models_program_test.sh PROGRAM SUMMARY
set -uo pipefail
program=$1 summary=$2
work=${TEST_TMPDIR:?}
pair=benches/files/two_layers
files=tests/files
source tests/support/program_checks.sh

# model OPTIONS...: as run, for a CPU, with results in $work.
model() { run --device cpu --output-directory "$work" --no-progress "$@"; }
timed() { model --performance --inference --repeat 3 --max-interference 1 "$@"; }
checked() { model --accuracy --inference "$@"; }
has_row() { holds "$work/$1" "$2"; }
# refuses OPTIONS... MESSAGE: before anything runs.
refuses() {
  model "${@:1:$#-1}"; ends_with 1; says "${!#}"
  [[ -z $output ]] || complain "it ran"
}
inputs=(--inputs $pair.inputs.pt)
classifier=(--inputs $files/classifier.inputs.pt)

case="files are listed beside models, and nothing of them is loaded"
run --list --model $pair.pt --model $pair.pt2 --model resnet18 "${inputs[@]}"; ends_with 0
holds "$work/out" '^resnet18 +torchbench +cnn '
holds "$work/out" '^two_layers.pt +own +TorchScript +32 +32$'
holds "$work/out" '^two_layers.pt2 +own +torch.export +32 +32$'
[[ $output != *resnet50* ]] || complain "other models are listed"

case="a dry run says what would be run"
timed --backend torchscript --trust --model $pair.pt --model dlrm "${inputs[@]}" --dry-run; ends_with 0
prints "two_layers.pt  cpu  performance, inference, audit standard  torchscript"; prints "2 models would be run"

case="accuracy and times of TorchScript, in inference and training, are rows of the same files"
checked --trust --backend torchscript --model $pair.pt "${inputs[@]}" --output r.csv; ends_with 0
has_row r.csv '^cpu,two_layers.pt,32,pass,[0-9.]+,0,passed$'
prints "TorchScript  100.00%  1 of 1 pass"
model --accuracy --training --trust --backend torchscript --model $pair.pt "${inputs[@]}" --output r.csv; ends_with 0
has_row r.csv '^cpu,two_layers.pt,32,pass,'
model --performance --training --repeat 3 --max-interference 1 --trust --backend torchscript --model $pair.pt \
  "${inputs[@]}" --output p.csv --print-memory --json "$work/samples.json"
ends_with 0; prints "memory: eager: 0.00 GB"
has_row p.csv '^dev,name,batch_size,speedup,.*eager_peak_mem'; has_row p.csv '^cpu,two_layers.pt,32,[0-9.]+,.*,pass,passed$'
holds "$work/samples.json" '"name":"two_layers.pt".*"samples_ns":\['

case="a dashboard has the files of these rows"
mkdir "$work/runs"
for what in accuracy:r performance:p; do
  cp "$work/${what#*:}.csv" "$work/runs/torchscript_own_as_made_training_cpu_${what%:*}.csv"
done
program=$summary run dashboard "$work/runs"; ends_with 0
holds "$work/runs/passrate.csv" '^torchscript.*100%, 1/1'

case="sizes that a trace makes of tensors are none of a tensor's values"
checked --trust --backend torchscript --model tests/models/reshaped.pt --inputs tests/models/reshaped.inputs.pt \
  --output r.csv; ends_with 0
has_row r.csv '^cpu,reshaped.pt,4,pass,'

case="an exported program needs no trust, and is run by NativeRT"
checked --backend nativert --model $pair.pt2 "${inputs[@]}" --output r.csv; ends_with 0
has_row r.csv '^cpu,two_layers.pt2,32,pass,[0-9.]+,1,passed$'
says "there is no float64 reference (its weights are in the file, in the type that it was exported with)"
timed --backend nativert --batch-size 7 --model $pair.pt2 "${inputs[@]}" --output r.csv; ends_with 0
has_row r.csv '^cpu,two_layers.pt2,7,[0-9.]+,.*,pass,passed$'
timed --backend nativert --dynamic-batch-only --batch-size 10 --model $pair.pt2 "${inputs[@]}" --output r.csv; ends_with 0
has_row r.csv '^cpu,two_layers.pt2,10,.*,10 8 9 11 12,passed$'

case="a batch at the end of a program's range varies below it"
python3 - $pair.pt2 "$work/bounded.pt2" <<'PYTHON' || complain "the file could not be written"
import json, sys, zipfile
given = zipfile.ZipFile(sys.argv[1])
with zipfile.ZipFile(sys.argv[2], "w") as bounded:
    for name in given.namelist():
        data = given.read(name)
        if name.endswith("models/model.json"):
            program = json.loads(data)
            for constraint in program["range_constraints"].values():
                constraint["max_val"] = 32
            data = json.dumps(program)
        bounded.writestr(name, data)
PYTHON
at_most_32=(--backend nativert --dynamic-batch-only --model "$work/bounded.pt2" "${inputs[@]}" --output r.csv)
timed "${at_most_32[@]}"; ends_with 0
has_row r.csv '^cpu,bounded.pt2,32,.*,32( 2[0-9]| 3[01])+,passed$'
refuses --performance --inference "${at_most_32[@]}" --batch-size 33 "--batch-size 33: $work/bounded.pt2: argument 'x': expected float32["

case="a batch that is a multiple of what varies, plus a number, has these sizes alone"
# batch_is EXPRESSION FILE: a program whose batch is an expression of sympy of its symbol, {}.
batch_is() {
  python3 - $pair.pt2 "$@" <<'PYTHON' || complain "the file could not be written"
import json, sys, zipfile
given = zipfile.ZipFile(sys.argv[1])
with zipfile.ZipFile(sys.argv[3], "w") as other:
    for name in given.namelist():
        data = given.read(name)
        if name.endswith("models/model.json"):
            program = json.loads(data)
            size = program["graph_module"]["graph"]["tensor_values"]["x"]["sizes"][0]["as_expr"]
            size["expr_str"] = sys.argv[2].format(size["expr_str"])
            for constraint in program["range_constraints"].values():
                constraint |= {"min_val": 1, "max_val": 64}
            data = json.dumps(program)
        other.writestr(name, data)
PYTHON
}
batch_is "Add(Mul(Integer(3), {}), Integer(2))" "$work/thirds.pt2"
thirds=(--inference --model "$work/thirds.pt2" "${inputs[@]}")
timed --backend nativert --model "$work/thirds.pt2" "${inputs[@]}" --dynamic-batch-only --output r.csv; ends_with 0
has_row r.csv '^cpu,thirds.pt2,32,.*,32 26 29 35 38,passed$'
timed --backend nativert --model "$work/thirds.pt2" "${inputs[@]}" --batch-size 5 --output r.csv; ends_with 0
has_row r.csv '^cpu,thirds.pt2,5,'
refuses --performance --backend nativert "${thirds[@]}" --batch-size 33 \
  "thirds.pt2: argument 'x': expected float32[3 * (1 to 64) + 2, 64] on cpu, found a batch of 33; expected a batch of 5, 8, ..., 194, the sizes that 3*s"
model --find-batch-sizes "${thirds[@]}" --output sizes.csv; ends_with 0; has_row sizes.csv '^thirds.pt2,194$'

case="of a batch that is another formula one size is known"
batch_is "Pow({}, Integer(2))" "$work/square.pt2"
square=(--inference --model "$work/square.pt2" "${inputs[@]}")
timed --backend nativert --model "$work/square.pt2" "${inputs[@]}" --output r.csv; ends_with 0
for mode in "--performance --backend nativert --dynamic-batch-only" --find-batch-sizes "--performance --backend nativert --batch-size 16"; do
  refuses $mode "${square[@]}" \
    "square.pt2: its batch is Pow(s77, 2), which is no symbol times a number plus a number, so that only the size of the inputs is known to be one, 32; expected none, or a file whose batch is a symbol"
done

case="a package runs as it is"
checked --trust --nothing --model $files/classifier.aot.pt2 "${classifier[@]}" --output r.csv; ends_with 0
has_row r.csv '^cpu,classifier.aot.pt2,8,pass,'
timed --trust --backend eager --model $files/classifier.aot.pt2 "${classifier[@]}" --batch-size 4 --output r.csv; ends_with 42
prints "classifier.aot.pt2: the package refuses the inputs"; prints "expected: 8, but got: 4"

case="a name with control characters is spelt out in rows and messages"
odd=$work/$'odd\n\x1b[31m,.pt2'
cp $pair.pt2 "$odd"
checked --backend nativert --model "$odd" "${inputs[@]}" --output r.csv; ends_with 0
has_row r.csv '^cpu,"odd\\n\\x1b\[31m,.pt2",32,pass,'
prints 'odd\n\x1b[31m,.pt2'
[[ $output$errors != *$'\x1b'* ]] || complain "an escape sequence is printed"
checked --trust --backend torchscript --model "$odd:other" "${inputs[@]}" --output r.csv; ends_with 1
[[ $output$errors != *$'\x1b'* ]] || complain "an escape sequence is printed"

case="several callers of a package"
model --throughput --inference --trust --nothing --repeat 20 --callers 3 --model $files/classifier.aot.pt2 "${classifier[@]}" \
  --output r.csv; ends_with 0
has_row r.csv '^cpu,classifier.aot.pt2,8,3,60,'

case="the programs of an archive, and files with inputs of their own"
python3 $files/two_programs.py $pair.pt2 "$work/both.pt2" || complain "the file could not be written"
checked --backend nativert --model "$work/both.pt2:one" "${inputs[@]}" --model $files/classifier.pt2 "${classifier[@]}" \
  --output r.csv; ends_with 0
has_row r.csv '^cpu,both.pt2:one,32,pass,'; has_row r.csv '^cpu,classifier.pt2,8,pass,'
refuses --accuracy --inference --backend nativert --model "$work/both.pt2" "${inputs[@]}" \
  "both.pt2: the archive has no model 'model'; expected FILE:NAME with one of one, two"
refuses --accuracy --inference --trust --model $pair.pt:one "${inputs[@]}" "a TorchScript file holds one module"

case="a file that does not run leaves the others their rows"
checked --trust --backend torchscript --model $pair.pt --inputs "(T([8, 64], f32),)" --model tests/models/reshaped.pt \
  --inputs tests/models/reshaped.inputs.pt --output r.csv; ends_with 42
has_row r.csv '^cpu,two_layers.pt,8,model_fail_to_load,.*,failed$'; has_row r.csv '^cpu,reshaped.pt,4,pass,.*,passed$'
prints "two_layers.pt: forward is missing argument 'scale', expected Tensor"

case="a run does not go on from one of another file of the same name"
cp $pair.pt2 "$work/mine.pt2"
mine=(--backend nativert --model "$work/mine.pt2" "${inputs[@]}" --output mine.csv)
checked "${mine[@]}"; ends_with 0
checked "${mine[@]}" --resume; ends_with 0; says "1 model of the earlier run kept"
python3 - $pair.pt2 "$work/mine.pt2" <<'PYTHON' || complain "the file could not be written"
import sys, zipfile
given = zipfile.ZipFile(sys.argv[1])
with zipfile.ZipFile(sys.argv[2], "w") as again:
    for name in given.namelist():
        again.writestr(name, given.read(name))
PYTHON
checked "${mine[@]}" --resume; ends_with 1; says "content of mine.pt2"

case="code needs --trust"
refuses --accuracy --inference --backend torchscript --model $pair.pt "${inputs[@]}" \
  "--trust was not given:"$'\n'"  $pair.pt holds a program in TorchScript"
refuses --accuracy --inference --model $pair.pt2 "${inputs[@]}" "$pair.pt2 holds values that Python unpickles to compile it"
refuses --accuracy --inference --nothing --model $files/classifier.aot.pt2 "${classifier[@]}" \
  "classifier.aot.pt2 holds compiled code"

case="options that cannot act on a file"
refuses --accuracy --training --backend nativert --model $pair.pt2 "${inputs[@]}" \
  "--training: two_layers.pt2 holds its weights as constants, which cannot be trained"
refuses --accuracy --inference --float16 --backend nativert --model $pair.pt2 "${inputs[@]}" "--float16: two_layers.pt2 holds"
refuses --accuracy --inference --channels-last --backend nativert --model $pair.pt2 "${inputs[@]}" "--channels-last: two_layers.pt2 holds"
refuses --accuracy --inference --backend torchscript --model $pair.pt2 "${inputs[@]}" "--backend torchscript: two_layers.pt2 is run by NativeRT"
refuses --compile-only --performance --inference --backend nativert --model $pair.pt2 "${inputs[@]}" \
  "--compile-only: two_layers.pt2 is what NativeRT opens"
package=(--inference --trust --model $files/classifier.aot.pt2 "${classifier[@]}")
refuses --accuracy --freezing "${package[@]}" "--freezing: classifier.aot.pt2 is compiled already"
refuses --accuracy -c max_autotune=true "${package[@]}" "--inductor-config: classifier.aot.pt2 is compiled already"
refuses --accuracy "${package[@]}" "--backend aot_inductor: classifier.aot.pt2 is compiled code"
refuses --log-operator-inputs "${package[@]}" "--log-operator-inputs: classifier.aot.pt2 is compiled code"
fixed=(--inference --model $files/classifier.pt2 "${classifier[@]}")
found="classifier.pt2: argument 'indices': expected int64[8, 12] on cpu, found int64"
refuses --accuracy --backend nativert "${fixed[@]}" --batch-size 4 "--batch-size 4: $files/$found[4, 12] on cpu"
refuses --performance --backend nativert,aot_inductor --dynamic-batch-only --trust "${fixed[@]}" "--dynamic-batch-only: $files/$found[9, 12]"
refuses --accuracy --batch-invariant --backend nativert "${fixed[@]}" "--batch-invariant: $files/$found[4, 12]"
refuses --performance --find-batch-sizes "${fixed[@]}" "--find-batch-sizes: $files/$found[9, 12]"

case="inputs that do not fit: the argument, what was found and what was expected"
of_pair=(--accuracy --inference --backend nativert --model $pair.pt2 --inputs)
refuses "${of_pair[@]}" "(T([8, 63], f32), T([64], f32))" "argument 'x': expected float32["
says "64] on cpu, found float32[8, 63] on cpu"
refuses "${of_pair[@]}" "(T([8, 64], f32), T([64], f64))" "argument 'scale': expected float32[64] on cpu, found float64[64] on cpu"
refuses "${of_pair[@]}" "(T([8, 64], f32),)" "it takes 2 arguments (x, scale), and the inputs have 1"

case="an empty batch of one file is refused before the others run"
refuses --accuracy --inference --trust --backend torchscript --model tests/models/reshaped.pt \
  --inputs tests/models/reshaped.inputs.pt --model $pair.pt --inputs "(T([0, 64], f32), T([64], f32))" \
  "argument 0 of two_layers.pt: expected at least 1 sample as its first size"

case="a weight whose record is too short, and a record that is damaged: a row, and a dry run that fails"
# rewrites RECORD HOW FILE: the record of two_layers.pt without its last byte, or with another one.
rewrites() {
  python3 - $pair.pt "$@" <<'PYTHON' || complain "the file could not be written"
import sys, zipfile
_, given, record, how, path = sys.argv
given = zipfile.ZipFile(given)
with zipfile.ZipFile(path, "w") as other:
    for name in given.namelist():
        data = given.read(name)
        other.writestr(name, data[:-1] if how == "short" and name.endswith(record) else data)
if how == "damaged":
    data = bytearray(open(path, "rb").read())
    place = data.find(given.read(next(name for name in given.namelist() if name.endswith(record))))
    data[place] ^= 1
    open(path, "wb").write(data)
PYTHON
}
for how in "short;is too short: its tensors need" "damaged;is damaged: expected bytes with the checksum"; do
  rewrites /data/0 "${how%;*}" "$work/${how%;*}.pt"
  bad=(--trust --backend torchscript --model "$work/${how%;*}.pt" --model $pair.pt "${inputs[@]}")
  checked "${bad[@]}" --output r.csv; ends_with 42
  has_row r.csv "^cpu,${how%;*}.pt,32,model_fail_to_load,"; has_row r.csv '^cpu,two_layers.pt,32,pass,'
  prints "${how%;*}.pt: the record data/0 ${how#*;}"
  refuses --accuracy --inference "${bad[@]}" --dry-run "${how%;*}.pt: the record data/0 ${how#*;}"
done
refuses --accuracy --inference --trust --backend torchscript --model $pair.pt "${inputs[@]}" --library "$work/none.so" \
  --dry-run "none.so: --library: no such file"

case="files that are none, and words that do not go together"
printf 'hello' >"$work/text.pt"
head -c 3000 $pair.pt2 >"$work/cut.pt2"
plain=(--accuracy --inference --backend nativert)
refuses "${plain[@]}" --model "$work/text.pt" "${inputs[@]}" "text.pt: this is neither an archive of LibTorch's nor a shared library"
refuses "${plain[@]}" --model "$work/cut.pt2" "${inputs[@]}" "cut.pt2: this archive was cut or damaged"
refuses "${plain[@]}" --model "$work/none.pt2" "${inputs[@]}" "none.pt2: no such file"
refuses "${plain[@]}" --model $pair.inputs.pt "${inputs[@]}" "this is values that torch.save has written"
python3 $files/other_torch.py $pair.pt2 "$work/other.pt2" || complain "the file could not be changed"
refuses "${plain[@]}" --model "$work/other.pt2" "${inputs[@]}" "in version 7 of the format; expected version 8"
refuses "${plain[@]}" --model $pair.pt2 "--inputs is missing, for two_layers.pt2"
refuses "${plain[@]}" --model $pair.pt2 --inputs "$work/none.pt" "none.pt: no such file"
mkdir "$work/folder" && cp $pair.inputs.pt "$work/folder/one.pt"
refuses "${plain[@]}" --model $pair.pt2 --inputs "$work/folder" \
  "folder: --inputs: expected a file or text with one set of inputs, found a folder"
refuses "${plain[@]}" --model $pair.pt2 "${inputs[@]}" "${inputs[@]}" "found 2 for 1 files of --model"
refuses "${plain[@]}" --model $pair.pt2 --model $pair.pt2 "${inputs[@]}" "two models are called 'two_layers.pt2'"
refuses "${plain[@]}" --model $pair.pt2 "${inputs[@]}" --library "$work/none.so" --trust --only two_layers.pt2 "none.so: --library: no such file"

((failures == 0)) && echo "all as expected"
exit $((failures > 0))
