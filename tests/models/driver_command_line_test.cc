// The options of the models' bench: each into its setting, those that do not go together, and the refusals.
#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers.hpp>
#include <catch2/matchers/catch_matchers_exception.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

#include <algorithm>
#include <functional>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "benches/models/resolve.hpp"

using pace::benches::models::Mode;
CATCH_REGISTER_ENUM(Mode, Mode::performance, Mode::accuracy, Mode::tolerance, Mode::batch_invariance,
                    Mode::find_batch_size, Mode::throughput, Mode::operator_inputs)

namespace {

using namespace pace::benches::models;
using Strings = std::vector<std::string>;
using Catch::Matchers::ContainsSubstring;
using Catch::Matchers::Message;
using Catch::Matchers::MessageMatches;
using Catch::Matchers::StartsWith;

/// Beside the words that every command line needs.
CommandLine parse(Strings words) {
  words.insert(words.begin(), {"--performance", "--inference"});
  return parse_command_line(words);
}

CommandLine parse_accuracy(Strings words) {
  words.insert(words.begin(), {"--accuracy", "--inference"});
  return parse_command_line(words);
}

/// The options that are not refused.
Strings accepted() {
  CommandLine line;
  Strings names;
  for (const auto& group : model_options(line))
    for (const auto& option : group.options)
      if (option.refusal().empty()) names.push_back(option.name());
  return names;
}

void refuses(const Strings& words, const std::string& message) {
  CAPTURE(words);
  CHECK_THROWS_MATCHES(parse_command_line(words), pace::InputError, MessageMatches(StartsWith(message)));
}

TEST_CASE("modes: exactly one, and one direction") {
  CHECK(parse({}).settings.mode == Mode::performance);
  CHECK_FALSE(parse({}).settings.training);
  CHECK(parse_command_line({"--accuracy", "--training"}).settings.mode == Mode::accuracy);
  CHECK(parse_command_line({"--accuracy", "--training"}).settings.training);
  CHECK(parse_command_line({"--accuracy", "--training"}).settings.optimizer_code == "foreach");
  CHECK(parse_command_line({"--tolerance", "--inference"}).settings.mode == Mode::tolerance);
  CHECK(parse_command_line({"--throughput", "--inference"}).settings.mode == Mode::throughput);
  CHECK(parse_command_line({"--accuracy", "--batch-invariant", "--inference"}).settings.mode == Mode::batch_invariance);
  CHECK(parse_command_line({"--find-batch-sizes", "--training"}).settings.mode == Mode::find_batch_size);
  CHECK(parse_command_line({"--performance", "--find-batch-sizes", "--training"}).settings.mode ==
        Mode::find_batch_size);
  refuses({}, "expected one of --performance, --accuracy, --tolerance, --throughput");
  refuses({"--performance"}, "expected one of --training, --inference");
  refuses({"--performance", "--accuracy", "--training"}, "expected at most one of --performance, --accuracy");
  refuses({"--performance", "--training", "--inference"}, "expected at most one of --training, --inference");
  refuses({"--performance", "--batch-invariant", "--inference"}, "--batch-invariant: expected --accuracy beside it");
  refuses({"--find-batch-sizes", "--log-operator-inputs", "--inference"}, "expected at most one of --find-batch-sizes");
}

TEST_CASE("every spelling: underscores, equal signs, letters, and flags twice") {
  const Strings k{"resnet"};
  for (const Strings& words : {Strings{"-k", "resnet"}, Strings{"-kresnet"}, Strings{"-k=resnet"},
                               Strings{"--filter", "resnet"}, Strings{"--filter=resnet"}}) {
    CAPTURE(words);
    CHECK(parse(words).selection.filters == k);
  }
  CHECK(parse({"-k", "a", "-k", "b"}).selection.filters == Strings{"a", "b"});
  CHECK(parse({"-x", "-v1$"}).selection.excluded == Strings{"-v1$"});
  CHECK(parse({"--iterations_per_run=3"}).settings.iterations_per_run == 3);
  CHECK(parse({"--per_process_memory_fraction", "0.5"}).settings.memory_fraction == 0.5);
  CHECK(parse({"--randomize_input", "--randomize-input"}).settings.randomize_input);
  CHECK(parse({"--repeat", "3", "--repeat", "4"}).settings.repeat == 4);
  CHECK(parse({"--performance", "--inference"}).settings.mode == Mode::performance);
  // An underscore in a value stays.
  CHECK(parse({"--only=a_b"}).only == "a_b");
}

TEST_CASE("each option has an effect") {
  const std::vector<std::pair<Strings, std::function<bool(const CommandLine&)>>> cases{
      {{"--exclude-exact", "m"}, [](const auto& l) { return l.selection.excluded_exactly.contains("m"); }},
      {{"--suite", "timm"}, [](const auto& l) { return l.selection.suite == Suite::timm; }},
      {{"--total-partitions=3"}, [](const auto& l) { return l.selection.partitions == 3; }},
      {{"--partition-id", "-1"}, [](const auto& l) { return l.selection.partition == -1; }},
      {{"-f"}, [](const auto& l) { return l.selection.fast; }},
      {{"--no-skip"}, [](const auto& l) { return l.selection.no_skip; }},
      {{"--config=c.yaml"}, [](const auto& l) { return l.config_file == "c.yaml"; }},
      {{"-d", "cpu", "--device=cuda:1", "--devices", "cpu,cuda:2"},
       [](const auto& l) { return l.devices == Strings{"cpu", "cuda:1", "cpu", "cuda:2"}; }},
      {{"--device-index=1"}, [](const auto& l) { return l.device_index == "1"; }},
      {{"--backend", "eager,torchscript", "--backend=cuda_graph"},
       [](const auto& l) { return l.settings.backends == Strings{"eager", "torchscript", "cuda_graph"}; }},
      {{"--inductor"},
       [](const auto& l) {
         return l.settings.backends == Strings{"aot_inductor"} && l.output.experiment_file == "inductor.csv";
       }},
      {{"--export-aot-inductor"}, [](const auto& l) { return l.settings.backends == Strings{"aot_inductor"}; }},
      {{"--export-nativert"},
       [](const auto& l) {
         return l.settings.backends == Strings{"nativert"} && l.output.experiment_file == "export_nativert.csv";
       }},
      {{"--torchscript-jit-trace"},
       [](const auto& l) {
         return l.settings.backends == Strings{"torchscript"} &&
                l.output.experiment_file == "torchscript_jit_trace.csv";
       }},
      {{"--nothing"},
       [](const auto& l) {
         return l.settings.backends == Strings{"eager"} && l.output.experiment_file == "nothing.csv";
       }},
      {{"--small"}, [](const auto& l) { return l.settings.small; }},
      {{"--dry-run"}, [](const auto& l) { return l.dry_run; }},
      {{"--no-progress"}, [](const auto& l) { return l.no_progress; }},
      {{"--nth-model=1/2/30/4"}, [](const auto& l) { return l.part == "1/2/30/4"; }},
      {{"--batch-size=8"}, [](const auto& l) { return l.settings.batch_size == 8; }},
      {{"--batch-size-file=f"}, [](const auto& l) { return l.batch_size_file == "f"; }},
      {{"--float32"}, [](const auto& l) { return l.settings.precision == Precision::float32; }},
      {{"--float16"}, [](const auto& l) { return l.settings.precision == Precision::float16; }},
      {{"--bfloat16"}, [](const auto& l) { return l.settings.precision == Precision::bfloat16; }},
      {{"--suite", "own"}, [](const auto& l) { return l.selection.suite == Suite::own; }},
      {{"--amp", "--amp-dtype=float16"},
       [](const auto& l) { return l.settings.precision == Precision::amp && l.settings.amp_dtype == "float16"; }},
      {{"--channels-last"}, [](const auto& l) { return l.settings.channels_last; }},
      {{"--dynamic-batch-only"}, [](const auto& l) { return l.settings.dynamic_batch; }},
      {{"--freezing"}, [](const auto& l) { return l.settings.freezing; }},
      {{"-c", "freezing=True", "-c", "max_autotune=true"},
       [](const auto& l) { return l.settings.freezing && l.settings.inductor_config == Strings{"max_autotune=true"}; }},
      {{"-t", "2"}, [](const auto& l) { return l.settings.threads == 2; }},
      {{"--seed=7"}, [](const auto& l) { return l.settings.seed == 7; }},
      {{"-n", "5"}, [](const auto& l) { return l.settings.repeat == 5; }},
      {{"--warm-up-iterations=2"}, [](const auto& l) { return l.settings.warm_up_iterations == 2; }},
      {{"--use-warm-peak-memory"}, [](const auto& l) { return l.settings.warm_peak_memory; }},
      {{"--dashboard"}, [](const auto& l) { return l.settings.warm_peak_memory; }},
      {{"--collect-outputs", "--compat"}, [](const auto& l) { return l.settings.collect_outputs; }},
      {{"--deterministic"}, [](const auto& l) { return l.settings.deterministic; }},
      {{"--tf32=off"}, [](const auto& l) { return l.settings.tf32 == "off"; }},
      {{"--no-slower-than=1.1"}, [](const auto& l) { return l.settings.no_slower_than == 1.1; }},
      {{"--peak-memory-at-most=1.1"}, [](const auto& l) { return l.settings.peak_memory_at_most == 1.1; }},
      {{"--confidence=0.9"}, [](const auto& l) { return l.measuring.confidence == 0.9; }},
      {{"--alpha=0.1", "--no-slower-than=2"}, [](const auto& l) { return l.measuring.alpha == 0.1; }},
      {{"--beta=0.2", "--no-slower-than=2"}, [](const auto& l) { return l.measuring.beta == 0.2; }},
      {{"--max-interference=1"}, [](const auto& l) { return l.measuring.max_interference == 1; }},
      {{"--audit=strict"}, [](const auto& l) { return l.measuring.audit == pace::Audit::strict; }},
      {{"--skip-accuracy-check"}, [](const auto& l) { return l.settings.skip_accuracy_check; }},
      {{"-c", "max_autotune=True", "-c", "cpp.simdlen=0"},
       [](const auto& l) { return l.settings.inductor_config == Strings{"max_autotune=true", "cpp.simdlen=0"}; }},
      {{"--inductor-compile-mode=max-autotune-no-cudagraphs"},
       [](const auto& l) {
         return l.settings.inductor_config == Strings{"max_autotune=true", "coordinate_descent_tuning=true"};
       }},
      {{"--disable-split-reductions"},
       [](const auto& l) { return l.settings.inductor_config == Strings{"split_reductions=false"}; }},
      {{"--disable-persistent-reductions"},
       [](const auto& l) { return l.settings.inductor_config == Strings{"triton.persistent_reductions=false"}; }},
      {{"--disable-divisible-by-16"},
       [](const auto& l) { return l.settings.inductor_config == Strings{"triton.divisible_by_16=false"}; }},
      {{"--packages=p", "--packages=q"}, [](const auto& l) { return l.settings.packages == Strings{"p", "q"}; }},
      {{"--cold-start-latency"}, [](const auto& l) { return l.packages == Packages::cold; }},
      {{"--warm-start-latency"}, [](const auto& l) { return l.packages == Packages::warm; }},
      {{"--ci"}, [](const auto& l) { return l.packages == Packages::cold && l.settings.repeat == 30; }},
      {{"--nnc", "--backend=torchscript"}, [](const auto& l) { return l.fuser == "nnc"; }},
      {{"--fuser=none", "--backend=torchscript"}, [](const auto& l) { return l.fuser == "none"; }},
      {{"--output=o.csv"}, [](const auto& l) { return l.output.file == "o.csv"; }},
      {{"--output=o.csv", "--inductor"}, [](const auto& l) { return l.output.experiment_file.empty(); }},
      {{"--output=o.csv", "--output-directory=d"}, [](const auto& l) { return l.output.file == "d/o.csv"; }},
      {{"--output-directory=d"}, [](const auto& l) { return l.output.directory == "d"; }},
      {{"--disable-output"}, [](const auto& l) { return l.output.disabled; }},
      {{"--retain-output"}, [](const auto& l) { return l.retain; }},
      {{"--resume"}, [](const auto& l) { return l.resume; }},
      {{"--json=j", "--html=h"}, [](const auto& l) { return l.json == "j" && l.html == "h"; }},
      {{"--baseline=b"}, [](const auto& l) { return l.output.baseline == "b"; }},
      {{"--tag=t"}, [](const auto& l) { return l.output.tag == "t"; }},
      {{"--dump-raw-metrics"}, [](const auto& l) { return l.output.raw_timings; }},
      {{"--export-profiler-trace", "--output=d/o.csv"},
       [](const auto& l) { return l.settings.profiler_trace == "d/traces"; }},
      {{"--export-profiler-trace", "--profiler-trace-name=n"},
       [](const auto& l) { return l.settings.profiler_trace == "n"; }},
      {{"--snapshot-memory", "--output=d/o.csv"},
       [](const auto& l) { return l.settings.memory_snapshot == "d/o_memory"; }},
      {{"--snapshot-memory"}, [](const auto& l) { return l.settings.memory_snapshot == "memory"; }},
      {{"--print-memory"}, [](const auto& l) { return l.print_memory; }},
      {{"--print-compilation-time"}, [](const auto& l) { return l.print_compilation_time; }},
      {{"--print-dataframe-summary"}, [](const auto& l) { return l.print_rows; }},
      {{"--timeout=2.5"}, [](const auto& l) { return l.timeout == 2.5; }},
      {{"--memory-limit=0"}, [](const auto& l) { return l.memory_limit == 0; }},
      {{"--progress"}, [](const auto& l) { return l.progress; }},
      {{"-v"}, [](const auto& l) { return l.verbose && !l.quiet; }},
      {{"-q"}, [](const auto& l) { return l.quiet && !l.verbose; }},
      {{"--compat"}, [](const auto& l) { return l.settings.compat; }},
      {{"--gate"}, [](const auto& l) { return l.gate; }},
      {{"--allow-undecided=on"}, [](const auto& l) { return l.allow_undecided; }},
      {{"--allow-unmeasured=on"}, [](const auto& l) { return l.allow_unmeasured; }},
      {{"--model=a.pt", "--model=b"}, [](const auto& l) { return l.models == Strings{"a.pt", "b"}; }},
      {{"--inputs=(T([2], f32),)", "--inputs=b.pt"},
       [](const auto& l) { return l.inputs == Strings{"(T([2], f32),)", "b.pt"}; }},
      {{"--library=a.so", "--library=b.so"}, [](const auto& l) { return l.libraries == Strings{"a.so", "b.so"}; }},
      {{"--trust"}, [](const auto& l) { return l.trust; }},
      {{"--compile-only"}, [](const auto& l) { return l.compile_only && l.compile_to.empty(); }},
      {{"--compile-to=folder"}, [](const auto& l) { return l.compile_only && l.compile_to == "folder"; }},
      {{"--rows-to=r", "--only=m"}, [](const auto& l) { return l.rows_to == "r"; }},
      {{"--rows-to=r", "--only=m", "--rows-of=cuda:1", "--rows-of=cpu"},
       [](const auto& l) { return l.rows_of == Strings{"cuda:1", "cpu"}; }},
  };
  const std::vector<std::pair<Strings, std::function<bool(const CommandLine&)>>> in_training{
      {{"--optimizer-on-cpu"}, [](const auto& l) { return l.settings.optimizer_on_cpu; }},
      {{"--training", "--optimizer-code=fused"}, [](const auto& l) { return l.settings.optimizer_code == "fused"; }},
      {{"--training", "--compile-optimizer"}, [](const auto& l) { return l.settings.compile_optimizer; }},
      {{"--use-eval-mode"}, [](const auto& l) { return l.settings.use_eval_mode == true; }},
  };
  const std::vector<std::pair<Strings, std::function<bool(const CommandLine&)>>> in_throughput{
      {{"--callers=2"}, [](const auto& l) { return l.settings.callers == 2; }},
  };
  const std::vector<std::pair<Strings, std::function<bool(const CommandLine&)>>> in_accuracy{
      {{"--iterations=3"}, [](const auto& l) { return l.settings.iterations == 3; }},
      {{"--cosine"}, [](const auto& l) { return l.settings.cosine; }},
      {{"--force-max-multiplier"}, [](const auto& l) { return l.settings.force_max_multiplier; }},
      {{"--generation=2.6"}, [](const auto& l) { return l.settings.generation == Generation::v2_6; }},
      {{"--save-model-outputs-to=s"}, [](const auto& l) { return l.settings.save_outputs_to == "s"; }},
      {{"--compare-model-outputs-with=s"}, [](const auto& l) { return l.settings.compare_outputs_with == "s"; }},
  };
  const CommandLine nothing = parse({});
  std::set<std::string> tested{"--performance", "--accuracy", "--tolerance", "--throughput", "--find-batch-sizes",
                               "--log-operator-inputs", "--batch-invariant", "--training", "--inference", "--list",
                               // They ask for the default behaviour.
                               "--nopython", "--disable-cudagraphs", "--filter", "--exclude", "--only",
                               "--iterations-per-run", "--per-process-memory-fraction", "--randomize-input",
                               "--grad-scaler"};
  CommandLine ignored;
  const auto options = model_options(ignored);
  const auto take = [&](const Strings& words) {
    for (const auto& name : pace::args::parse(options, words).given) tested.insert(name);
  };
  for (const auto& [words, is_so] : cases) {
    CAPTURE(words);
    CHECK(is_so(parse(words)));
    // Fails for an option that does nothing. These two ask for the default behaviour.
    if (words != Strings{"--export-aot-inductor"} && words != Strings{"--output=o.csv", "--inductor"})
      CHECK_FALSE(is_so(nothing));
    take(words);
  }
  for (const auto& [mode, direction, own_cases] : {std::tuple{"--performance", "--training", in_training},
                                                   std::tuple{"--throughput", "--inference", in_throughput},
                                                   std::tuple{"--accuracy", "--inference", in_accuracy}}) {
    for (const auto& [words, is_so] : own_cases) {
      CAPTURE(words);
      Strings all{mode, direction};
      const CommandLine without = parse_command_line(all);
      CHECK_FALSE(is_so(without));
      all.insert(all.end(), words.begin(), words.end());
      const CommandLine with = parse_command_line(all);
      CHECK(is_so(with));
      take(words);
    }
  }
  for (const auto& name : accepted()) {
    CAPTURE(name);
    CHECK(tested.contains(name));
  }
  CHECK(parse_command_line({"--amp", "--grad-scaler", "--training", "--performance"}).settings.grad_scaler);
  CHECK(parse_accuracy({"--ci"}).settings.repeat == 2);
  const auto inputs = parse_command_line({"--log-operator-inputs", "--inference", "--output=d/o.csv"});
  CHECK(inputs.settings.mode == Mode::operator_inputs);
  CHECK(inputs.settings.log_operator_inputs == "d");
}

TEST_CASE("without any it is torchbench's, on AOTInductor") {
  const auto line = parse({});
  CHECK(line.settings.backends == Strings{"aot_inductor"});
  CHECK(line.settings.repeat == 30);
  CHECK(line.settings.iterations == 2);
  CHECK(line.settings.precision == Precision::as_made);
  CHECK(line.timeout == 2000);
  CHECK(line.selection.filters == Strings{});
  CHECK(line.packages == Packages::kept);
  CHECK_FALSE(line.memory_limit.has_value());
}

TEST_CASE("options that do not go together are refused") {
  const auto bad = [](Strings words, const std::string& message) {
    words.insert(words.begin(), {"--performance", "--inference"});
    refuses(words, message);
  };
  bad({"--float16", "--amp"}, "expected at most one of --float16, --amp");
  bad({"--cold-start-latency", "--warm-start-latency"}, "expected at most one of --cold-start-latency");
  bad({"--cold-start-latency", "--packages=p"}, "--cold-start-latency does not go with --packages");
  bad({"--inductor", "--nothing"}, "expected at most one of --inductor, --nothing");
  bad({"--inductor", "--backend=eager"}, "expected at most one of --inductor, --backend");
  bad({"--verbose", "--quiet"}, "expected at most one of --verbose, --quiet");
  bad({"--batch-size=1", "--batch-size-file=f"}, "expected at most one of --batch-size, --batch-size-file");
  bad({"--resume", "--retain-output"}, "expected at most one of --resume, --retain-output");
  bad({"--resume", "--disable-output"}, "--resume does not go with --disable-output");
  for (const std::string option : {"--json", "--html"}) {
    const std::string given = option + "=f", nothing = option + " has no meaning here; expected ";
    bad({given, "--resume"}, nothing + "no --resume and no --retain-output");
    bad({given, "--retain-output"}, nothing + "no --resume and no --retain-output");
    bad({given, "--compat"}, nothing + "--performance without --compat, or --accuracy");
    refuses({"--throughput", "--inference", given}, nothing + "--performance without --compat, or --accuracy");
  }
  bad({"--grad-scaler", "--amp"}, "--grad-scaler: expected --amp and --training beside it");
  bad({"--profiler-trace-name=n"}, "--profiler-trace-name: expected --export-profiler-trace beside it");
  bad({"--no-slower-than=2", "--backend=eager"}, "--no-slower-than has nothing to judge: eager is the baseline");
  bad({"--no-slower-than=2", "--nothing"}, "--no-slower-than has nothing to judge: eager is the baseline");
  bad({"--peak-memory-at-most=2", "--nothing"}, "--peak-memory-at-most has nothing to judge: eager is the baseline");
  CHECK(parse({"--no-slower-than=2", "--backend=eager,torchscript"}).settings.no_slower_than == 2);
  bad({"--output=/o.csv", "--output-directory=d"}, "--output-directory does not go with --output /o.csv");
  bad({"--disable-output", "--retain-output"}, "--retain-output has no meaning here; expected no --disable-output");
  bad({"--disable-output", "--dump-raw-metrics"},
      "--dump-raw-metrics has no meaning here; expected no --disable-output");
  bad({"--disable-output", "--output=o.csv"}, "--output has no meaning here; expected no --disable-output");
  CHECK(parse({"--disable-output", "--output=o.csv", "--export-profiler-trace"}).output.disabled);
  bad({"--nnc", "--fuser=none", "--backend=torchscript"}, "--nnc has no meaning here; expected no --fuser beside it");
  bad({"--compile-only", "--peak-memory-at-most=2"},
      "--peak-memory-at-most has no meaning here; expected no --compile-only");
  bad({"--compile-only", "--repeat=3"},
      "--repeat has no meaning here; expected no --compile-only, which runs no model");
  bad({"--compile-to=d", "--batch-size-file=f"}, "--batch-size-file has no meaning here; expected no --compile-only");
  refuses({"--log-operator-inputs", "--inference", "--output=d/o", "--resume"},
          "--resume has no meaning here; expected another mode than");
  refuses({"--list", "--resume"}, "--resume: expected no --list");
  CHECK(parse_command_line({"--list", "-k", "x", "--suite=timm"}).selection.suite == Suite::timm);
  bad({"--rows-to=r"}, "--rows-to: expected --only beside it");
  bad({"--rows-of=cpu"}, "--rows-of: expected --rows-to beside it");
  bad({"--compat", "--no-slower-than=1"}, "--no-slower-than does not go with --compat");
  bad({"--compat", "--peak-memory-at-most=1"}, "--peak-memory-at-most does not go with --compat");
  refuses({"--accuracy", "--inference", "--peak-memory-at-most=1"},
          "--peak-memory-at-most: expected --performance beside it");
  refuses({"--accuracy", "--inference", "--no-slower-than=1"}, "--no-slower-than: expected --performance beside it");
  const std::string nothing =
      "--no-slower-than has nothing to judge: eager is the baseline; expected another --backend";
  refuses({"--performance", "--inference", "--no-slower-than=1", "--nothing"}, nothing);
  refuses({"--performance", "--inference", "--no-slower-than=1", "--backend=eager"}, nothing);
  refuses({"--accuracy", "--inference", "--snapshot-memory"}, "--snapshot-memory: expected --performance beside it");
  CHECK_FALSE(parse({"-c", "freezing=False"}).settings.freezing);
  CHECK(parse({"-c", "freezing=False"}).settings.inductor_config.empty());
  bad({"--freezing", "-c", "freezing=False"}, "--inductor-config: 'freezing=false' does not go with --freezing");
  bad({"-c", "freezing=False", "-c", "freezing=True"},
      "--inductor-config: 'freezing=false' does not go with 'freezing=true'");
  bad({"-c", "freezing_discard_parameters=True"},
      "--inductor-config: 'freezing_discard_parameters=true' is refused: the model keeps its parameters");
  for (const Strings& freezes : {Strings{"--freezing"}, Strings{"-c", "freezing=True"}}) {
    Strings words{"--accuracy", "--training"};
    words.insert(words.end(), freezes.begin(), freezes.end());
    refuses(words, "--freezing: expected --inference beside it, since trained parameters are no constants");
  }
  refuses({"--log-operator-inputs", "--inference"}, "--log-operator-inputs: expected --output or --output-directory");
  refuses({"--performance", "--inference", "--compile-only", "--backend=torchscript"},
          "--compile-only: expected --backend aot_inductor");
}

TEST_CASE("options that act in other runs only are refused") {
  const auto in = [](Strings words, const std::string& message) { refuses(words, message); };
  in({"--performance", "--inference", "--collect-outputs"},
     "--collect-outputs has no meaning here; expected --performance and --compat, for pace's");
  in({"--accuracy", "--inference", "--collect-outputs"},
     "--collect-outputs has no meaning here; expected --performance and --compat");
  in({"--performance", "--inference", "--optimizer-on-cpu"},
     "--optimizer-on-cpu has no meaning here; expected --training with");
  in({"--tolerance", "--training", "--optimizer-on-cpu"},
     "--optimizer-on-cpu has no meaning here; expected --training with");
  in({"--performance", "--inference", "--optimizer-code=single"},
     "--optimizer-code has no meaning here; expected --training with");
  in({"--performance", "--training", "--backend=torchscript", "--compile-optimizer"},
     "--compile-optimizer has no meaning here; expected --training with");
  in({"--performance", "--training", "--optimizer-code=fused", "--compile-optimizer"},
     "--compile-optimizer has no meaning here; expected --training with");
  in({"--performance", "--training", "--optimizer-code=lion"},
     "--optimizer-code: invalid value 'lion'; expected single, foreach or fused");
  in({"--performance", "--inference", "--callers=2"}, "--callers has no meaning here; expected --throughput");
  in({"--performance", "--inference", "--generation=2.6"}, "--generation has no meaning here; expected --accuracy");
  in({"--performance", "--inference", "--save-model-outputs-to=f"},
     "--save-model-outputs-to has no meaning here; expected --accuracy");
  in({"--performance", "--inference", "--alpha=0.1"}, "--alpha has no meaning here; expected --no-slower-than");
  in({"--accuracy", "--inference", "--max-interference=1"},
     "--max-interference has no meaning here; expected --performance without --compat");
  in({"--accuracy", "--inference", "--audit=off"},
     "--audit has no meaning here; expected --performance without --compat");
  in({"--performance", "--inference", "--compat", "--confidence=0.9"},
     "--confidence has no meaning here; expected --performance without");
  in({"--accuracy", "--inference", "--warm-up-iterations=1"},
     "--warm-up-iterations has no meaning here; expected --performance or --throughput");
  in({"--performance", "--inference", "--backend=torchscript", "--packages=p"},
     "--packages has no meaning here; expected --backend aot_inductor");
  in({"--performance", "--inference", "--fuser=nnc"}, "--fuser has no meaning here; expected --backend torchscript");
  in({"--performance", "--inference", "--only=m", "--resume"}, "--resume has no meaning here; expected no --only");
  const auto here = [](const std::string& option, const Strings& words, const std::string& expected) {
    refuses(words, option + " has no meaning here; expected " + expected);
  };
  here("--print-memory", {"--accuracy", "--inference", "--print_memory"}, "--performance");
  here("--baseline", {"--accuracy", "--inference", "--baseline=b"}, "--performance");
  here("--iterations", {"--performance", "--inference", "--iterations=3"}, "--accuracy");
  here("--use-eval-mode", {"--performance", "--inference", "--use-eval-mode"}, "--training");
  here("--deterministic", {"--accuracy", "--inference", "--deterministic"}, "another mode");
  here("--tf32", {"--accuracy", "--inference", "--tf32=on"}, "no --deterministic, nor a mode that is");
  here("--tf32", {"--performance", "--inference", "--tf32=on", "--deterministic"}, "no --deterministic");
  here("--tf32", {"--performance", "--inference", "--tf32=on", "--device=cpu"}, "--device cuda");
  here("--per-process-memory-fraction",
       {"--performance", "--inference", "--per-process-memory-fraction=0.5", "--device=cpu"}, "--device cuda");
  refuses({"--performance", "--inference", "--json=q.json", "--html=./q.json"},
          "--json and --html name the same file, 'q.json'");
  // Any file that is there.
  refuses({"--performance", "--inference", "--config=/dev/null", "--json=/dev/null"}, "--json: /dev/null is read");
  here("--dashboard", {"--accuracy", "--inference", "--dashboard"}, "--performance");
  here("--inductor-config", {"--performance", "--inference", "--backend=eager", "-c", "a=1"}, "--backend aot_inductor");
  here("--dynamic-batch-only", {"--performance", "--inference", "--backend=eager", "--dynamic-batch-only"},
       "--backend aot_inductor or torchscript");
  here("--freezing", {"--performance", "--inference", "--backend=torchscript", "--freezing"}, "--backend aot_inductor");
  here("--timeout", {"--performance", "--inference", "--only=m", "--timeout=3"}, "no --only");
  here("--filter", {"--performance", "--inference", "--only=m", "-k", "x"}, "no --only");
  here("--backend", {"--find-batch-sizes", "--inference", "--backend=torchscript"}, "another mode");
  here("--amp-dtype", {"--performance", "--inference", "--amp-dtype=float16"}, "--amp");
  // A process that runs one model for another gets that one's words, and has said all this before.
  CHECK(parse_command_line({"--performance", "--inference", "--only=m", "--rows-to=r", "--resume", "--timeout=3"})
            .resume);
}

TEST_CASE("values that will not do") {
  const auto bad = [](const std::string& word, const std::string& message) {
    refuses({"--performance", "--inference", word}, message);
  };
  bad("--batch-size=0", "--batch-size: invalid value '0'; expected a whole number above 0");
  bad("--batch-size=many", "--batch-size: invalid value 'many'");
  bad("--repeat=0", "--repeat: invalid value '0'");
  bad("--iterations=-1", "--iterations: invalid value '-1'");
  bad("--suite=tim", "no suite is called 'tim'; expected torchbench, huggingface, timm or own");
  bad("--amp-dtype=float64", "--amp-dtype: invalid value 'float64'; expected bfloat16 or float16");
  bad("--devices=cpu,,cuda", "--devices: invalid value 'cpu,,cuda'");
  for (const char* device : {"cpu,teapot", "cuda:", "cuda:x", "cuda:0001", "CPU"})
    bad(std::string("--device=") + device,
        std::string("--devices: invalid value '") + device + "'; expected cpu, cuda");
  bad("--device-index=first", "--device-index: invalid value 'first'");
  CHECK(parse({"--device-index=0,2"}).device_index == "0,2");
  for (const char* factor : {"0", "-1", "nan", "inf"})
    bad(std::string("--no-slower-than=") + factor, std::string("--no-slower-than: invalid value '") + factor + "'");
  for (const char* size : {"-1", "nan", "inf", "1e300"})
    bad(std::string("--memory-limit=") + size, std::string("--memory-limit: invalid value '") + size + "'");
  for (const char* option : {"--threads", "--callers"})
    for (const char* count : {"0", "100000"})
      bad(std::string(option) + '=' + count, std::string(option) + ": invalid value '" + count + "'; expected a whole");
  for (const char* share : {"nan", "inf"})
    for (const char* option :
         {"--confidence", "--alpha", "--beta", "--max-interference", "--per-process-memory-fraction"})
      bad(std::string(option) + '=' + share, std::string(option) + ": invalid value '" + share + "'");
  bad("--inductor-config=max_autotune", "--inductor-config: invalid value 'max_autotune'; expected key=value");
  bad("--inductor-compile-mode=reduce-overhead", "--inductor-compile-mode: invalid value 'reduce-overhead'");
  refuses({"--performance", "--inference", "--inductor-compile-mode=max-autotune-no-cudagraphs",
           "--inductor-compile-mode=default"},
          "--inductor-compile-mode: is given twice");
  bad("--alpha=0.5", "--alpha: invalid value '0.5'; expected a number between 0 and 0.5");
  bad("--max-interference=0", "--max-interference: invalid value '0'");
  bad("--timeout=0", "--timeout: invalid value '0'");
  bad("--timeout=inf", "--timeout: invalid value 'inf'");
  bad("--per-process-memory-fraction=1.5", "--per-process-memory-fraction: invalid value '1.5'");
  bad("--only=path:/a/b.py,class:C", "--only=path:... loads Python");
  bad("--frobnicate", "unknown option --frobnicate; --help lists all options");
  bad("--performence", "unknown option --performence; did you mean --performance?");
  bad("stray", "unexpected argument 'stray'");
}

TEST_CASE("torchbench's other options are refused with a reason") {
  CommandLine line;
  std::size_t refused = 0;
  for (const auto& group : model_options(line))
    for (const auto& option : group.options) {
      if (option.refusal().empty()) continue;
      ++refused;
      CAPTURE(option.name());
      refuses({"--performance", "--inference", option.name()}, option.name() + " is refused: " + option.refusal());
      refuses({"--performance", "--inference", option.name() + "=1"}, option.name() + " is refused: ");
    }
  CHECK(refused > 50);
  refuses({"--optimize_ddp_mode", "x"}, "--optimize-ddp-mode is refused: ");
}

TEST_CASE("options that ask for the usual behaviour are accepted, unless another asks for the contrary") {
  CHECK(parse({"--nopython", "--disable-cudagraphs"}).settings.backends == Strings{"aot_inductor"});
  for (const char* graphed : {"cuda_graph", "torchscript_cuda_graph", "aot_inductor_cuda_graph"})
    refuses({"--performance", "--inference", "--disable-cudagraphs", std::string("--backend=") + graphed},
            "--disable-cudagraphs does not go with a --backend that is a CUDA graph");
}

TEST_CASE("options of packages and fusers go with their back ends in CUDA graphs, too") {
  const auto line = parse({"--backend=aot_inductor_cuda_graph", "--inductor-config=max_autotune=true"});
  CHECK(line.settings.inductor_config == Strings{"max_autotune=true"});
  CHECK(parse({"--backend=aot_inductor_cuda_graph", "--compile-only"}).compile_only);
  CHECK(parse({"--backend=torchscript_cuda_graph", "--nnc"}).fuser == "nnc");
  refuses({"--performance", "--inference", "--backend=torchscript_cuda_graph", "--inductor-config=max_autotune=true"},
          "--inductor-config");
  refuses({"--performance", "--inference", "--backend=torchscript_cuda_graph", "--compile-only"}, "--compile-only");
}

TEST_CASE("exported programs are kept as packages are, and have none of Inductor's options") {
  CHECK(parse({"--backend=nativert", "--compile-only"}).compile_only);
  CHECK(parse({"--backend=nativert", "--packages=p"}).settings.packages == Strings{"p"});
  CHECK(parse({"--export-nativert", "--warm-start-latency"}).packages == Packages::warm);
  refuses({"--performance", "--inference", "--backend=nativert", "--inductor-config=max_autotune=true"},
          "--inductor-config has no meaning here; expected --backend aot_inductor");
  refuses({"--performance", "--inference", "--backend=nativert", "--dynamic-batch-only"},
          "--dynamic-batch-only has no meaning here; expected --backend aot_inductor or torchscript");
}

TEST_CASE("every option of torchbench's is accepted or refused") {
  CommandLine line;
  std::set<std::string> known;
  for (const auto& group : model_options(line))
    for (const auto& option : group.options) known.insert(option.names().begin(), option.names().end());
  for (const char* name : {"--accuracy",
                           "--amp",
                           "--amp-dtype",
                           "--aot-precompile",
                           "--backend",
                           "--baseline",
                           "--batch-invariant",
                           "--batch-size",
                           "--batch-size-file",
                           "--bfloat16",
                           "--caching-precompile",
                           "--channels-last",
                           "--ci",
                           "--cold-start-latency",
                           "--collect-outputs",
                           "--compare-backed-unbacked",
                           "--compare-model-outputs-with",
                           "--compiled-autograd",
                           "--cosine",
                           "--coverage",
                           "--dashboard",
                           "--ddp",
                           "--deterministic",
                           "--device",
                           "--device-index",
                           "--devices",
                           "--diff-branch",
                           "--disable-cudagraphs",
                           "--disable-divisible-by-16",
                           "--disable-output",
                           "--disable-persistent-reductions",
                           "--disable-split-reductions",
                           "--distributed-master-port",
                           "--dump-raw-metrics",
                           "--dynamic-batch-only",
                           "--dynamic-shapes",
                           "--dynamo-onnx",
                           "--enable-activation-checkpointing",
                           "--exclude",
                           "--exclude-exact",
                           "--explain",
                           "--export",
                           "--export-aot-inductor",
                           "--export-nativert",
                           "--export-perfdoctor",
                           "--export-profiler-trace",
                           "--fast",
                           "--filter",
                           "--find-batch-sizes",
                           "--float16",
                           "--float32",
                           "--freezing",
                           "--fsdp",
                           "--generate-aot-autograd-stats",
                           "--inductor",
                           "--inductor-compile-mode",
                           "--inductor-config",
                           "--inductor-settings",
                           "--inference",
                           "--iterations",
                           "--iterations-per-run",
                           "--log-conv-args",
                           "--log-graph-breaks",
                           "--log-operator-inputs",
                           "--minify",
                           "--multiprocess",
                           "--nnc",
                           "--no-skip",
                           "--no-translation-validation",
                           "--nopython",
                           "--nothing",
                           "--nvfuser",
                           "--only",
                           "--optimize-ddp-mode",
                           "--optimus",
                           "--output",
                           "--output-directory",
                           "--overhead",
                           "--part",
                           "--partition-id",
                           "--per-process-memory-fraction",
                           "--performance",
                           "--prims-nvfuser",
                           "--print-aten-ops",
                           "--print-compilation-time",
                           "--print-dataframe-summary",
                           "--print-fx",
                           "--print-graph-breaks",
                           "--print-memory",
                           "--profile-details",
                           "--profile-dynamo-cache-lookup",
                           "--profiler-trace-name",
                           "--progress",
                           "--propagate-real-tensors",
                           "--quantization",
                           "--quiet",
                           "--randomize-input",
                           "--recompile-profiler",
                           "--repeat",
                           "--retain-output",
                           "--save-model-outputs-to",
                           "--skip-accuracy-check",
                           "--skip-fp64-check",
                           "--snapshot-memory",
                           "--specialize-int",
                           "--speedup-dynamo-ts",
                           "--speedup-fx2trt",
                           "--speedup-fx2trt-fp16",
                           "--stats",
                           "--suppress-errors",
                           "--tag",
                           "--threads",
                           "--timeout",
                           "--timing",
                           "--tolerance",
                           "--torch-onnx-patch",
                           "--torchscript-jit-trace",
                           "--torchscript-onnx",
                           "--total-partitions",
                           "--trace-on-xla",
                           "--training",
                           "--unbacked-batch-only",
                           "--use-eval-mode",
                           "--use-warm-peak-memory",
                           "--verbose",
                           "--warm-start-latency",
                           "--xla",
                           "--xla-tolerance"}) {
    CAPTURE(name);
    CHECK(known.contains(name));
  }
}

TEST_CASE("help names every option") {
  const std::string help = help_of_models();
  CommandLine line;
  for (const auto& group : model_options(line))
    for (const auto& option : group.options)
      for (const auto& name : option.names())
        if (!option.is_hidden()) CHECK_THAT(help, ContainsSubstring(name));
  CHECK_THAT(help, ContainsSubstring("refused: not implemented: each model is run by one process on one device"));
  CHECK_THAT(help, ContainsSubstring("-n, --repeat <number>") && ContainsSubstring("(default: 30)"));
  CHECK(parse_command_line({"--help"}).help);
  CHECK(parse_command_line({"-h"}).help);
}

TEST_CASE("a configuration is what results depend on") {
  const auto of = [](const Strings& words) { return parse(words).configuration; };
  CHECK(of({"-n", "5", "--amp", "-k", "x", "--output=o", "--backend=eager", "--backend", "torchscript"}) ==
        Configuration{{"--performance", ""},
                      {"--inference", ""},
                      {"--repeat", "5"},
                      {"--amp", ""},
                      {"--backend", "eager,torchscript"}});
  CHECK(of({"--progress", "--partition-id=0", "--resume"}) == of({}));
  // A row's outcome depends on these, too.
  for (const char* word : {"--timeout=3", "--memory-limit=4", "--baseline=b"}) CHECK(of({word}) != of({}));
}

}  // namespace
