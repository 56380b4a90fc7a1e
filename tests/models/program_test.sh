#!/usr/bin/env bash
# benches/models from the command line, on small models: its output, its files, and its messages for wrong input.
#
#   program_test.sh PROGRAM
set -uo pipefail
program=$1
work=${TEST_TMPDIR:?}
source tests/support/program_checks.sh

# model OPTIONS...: as run, of models for a CPU, with results in $work.
model() { run --small --device cpu --output-directory "$work" "$@"; }
has_row() { holds "$work/$1" "$2"; }

case="the models"
run --list; ends_with 0
prints "resnet18 "; prints "torchbench"

case="the project's YAML file is about models that there are"
model --performance --inference --nothing -k '^dlrm$' -k '^resnet18$' --repeat 3 --progress; ends_with 0
[[ $errors != *"no model is called"* && $errors != *"there is no section"* ]] || complain "it warns"
prints "Running model 2/2"; prints "cpu  eval  dlrm "; prints "cpu  eval  resnet18 "
has_row nothing.csv '^dev,name,batch_size,speedup,abs_latency,compilation_latency,compression_ratio,'
has_row nothing.csv '^cpu,dlrm,[0-9]+,[0-9.]+,.*,pass,passed$'
has_row nothing.csv '^cpu,resnet18,[0-9]+,[0-9.]+,.*,pass,passed$'
prints "geometric mean of speed-ups by family"
(($(wc -l <"$work/nothing.csv") == 3)) || complain "expected two rows: $(<"$work/nothing.csv")"

case="a page of the comparisons, with their samples"
model --performance --inference --backend torchscript -k '^dlrm$' --repeat 3 --html "$work/page.html" --json "$work/page.json"
# Without the pages' Python no program makes pages.
if [[ $errors != *"this program has no program of tools/report beside it"* ]]; then
  ends_with 0
  holds "$work/page.html" '<bdi>dlrm</bdi>'
  holds "$work/page.json" '"name":"dlrm".*"name":"torchscript".*"samples_ns":\[[0-9.e+]+,'
fi

case="accuracy, in this process"
model --accuracy --training --backend torchscript --only dlrm; ends_with 0
has_row accuracy_torchscript.csv '^cpu,dlrm,[0-9]+,pass'

case="operators and their inputs"
model --log-operator-inputs --inference --only dlrm; ends_with 0
[[ -s $work/dlrm_eval.txt ]] || complain "nothing was recorded"

case="throughput"
model --throughput --inference --backend eager --only dlrm --repeat 2 --callers 2; ends_with 0
has_row throughput_eager.csv '^cpu,dlrm,[0-9]+,2,4,'

case="what cannot be"
run --performance; ends_with 1; says "expected one of --training, --inference"
model --performance --inference -k zebra; ends_with 1; says "no model matches 'zebra'; there are "
model --performance --inference --only zebra; ends_with 1; says "no model is called 'zebra'"
model --performance --inference --total-partitions 2 --partition-id 2; ends_with 1
says "--partition-id: invalid value '2'; expected 0 to 1, since there are 2 partitions"
model --performance --inference -k dlrm --backend unknown; ends_with 1; says "no back end is called 'unknown'"
model --performance --inference -k dlrm --device teapot; ends_with 1; says "--devices: invalid value 'teapot'"
model --performance --inference -k dlrm -k nosuchmodel; ends_with 1; says "no model matches 'nosuchmodel'"
model --performance --inference -k dlrm --threads 100000; ends_with 1; says "--threads: invalid value '100000'"
model --performance --inference -k dlrm --nothing --no-slower-than 2; ends_with 1
says "--no-slower-than has nothing to judge: eager is the baseline"
model --performance --inference --batch-size 0; ends_with 1; says "--batch-size: invalid value '0'"
model --performance --inference --ddp; ends_with 1; says "--ddp is refused"

((failures == 0)) && echo "all as expected"
exit $((failures > 0))
