// The options of the models' bench: torchbench's, and pace's own. Each is one entry here.
#pragma once

#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

#include "benches/models/backend_names.hpp"
#include "benches/models/command_line.hpp"
#include "benches/models/option_values.hpp"
#include "pace/args/command_line.hpp"
#include "pace/base/format.hpp"
#include "pace/os/most_threads.hpp"

namespace pace::benches::models {

namespace detail {

/// An option of torchbench that is never accepted.
struct RefusedOption {
  std::string_view name, why = {}, instead = {};
};

/// Returns torchbench's options that have no meaning here, as refused_options.inc lists them.
[[nodiscard]] inline std::vector<args::Option> refused_options() {
  constexpr const char* no_dynamo = "there is no Dynamo here: a model is one C++ module, traced as a whole";
  constexpr const char* one_process = "not implemented: each model is run by one process on one device";
  constexpr const char* none_quantises = "not implemented: no back end here quantises";
  constexpr const char* no_xla = "not implemented: there is no XLA back end";
  constexpr const char* no_onnx = "not implemented: there is no ONNX back end";
  constexpr const char* no_tensorrt = "not implemented: there is no TensorRT back end";
  constexpr const char* batch_alone = "not implemented: only the batch may vary (--dynamic-batch-only)";
  constexpr const char* unused = "torchbench reads it and does nothing with it, either";
  constexpr RefusedOption table[] = {
#include "benches/models/refused_options.inc"
  };
  std::vector<args::Option> refused;
  for (const auto& [name, why, instead] : table) {
    std::string reason(why);
    if (!why.empty() && !instead.empty()) reason += "; ";
    refused.push_back(args::Option::refused(std::string(name), reason.append(instead)));
  }
  return refused;
}

[[nodiscard]] inline args::Group what_to_do(CommandLine& line) {
  return {"What to do",
          {{"--performance", "time models against eager", sets_nothing},
           {"--accuracy", "check results against eager and a float64 reference", sets_nothing},
           {"--tolerance", "relative errors against eager on a CPU", sets_nothing},
           {"--throughput", "pace: several threads that call one model", sets_nothing},
           {"--find-batch-sizes", "the largest batch that runs, for --batch-size-file", sets_nothing},
           {"--log-operator-inputs", "record operators and their inputs where --output is, for //benches/operators",
            sets_nothing},
           {"--batch-invariant", "with --accuracy: whether a smaller batch gives the same bits", sets_nothing},
           {"--training", "forward, loss, backward and, on a GPU, the optimiser's step", sets_nothing},
           {"--inference", "forward alone", sets_nothing},
           {"--compile-only", "pace: compile the packages of all these models side by side, and run none",
            args::flag(line.compile_only)},
           {"--compile-to", "pace: compile them, into a folder for --packages", args::folder(line.compile_to)},
           {"--list", "pace: the models, their suites and families", args::flag(line.list)},
           {"--dry-run", "pace: print which models would be run and which files written, and run none",
            args::flag(line.dry_run)}}};
}

[[nodiscard]] inline args::Group which_models(CommandLine& line) {
  using args::Option;
  auto& selection = line.selection;
  return {
      "Which models",
      {{"--model",
        "pace: this one, by its name; or a file of TorchScript, torch.export or AOTInductor as a model; again for "
        "another",
        args::each(line.models, "model|file|file:name", "a model, a file name, or FILE:NAME")},
       {"--inputs",
        "pace: of files: tensors that torch.save wrote, or text such as \"(T([8, 128], f32),)\"; one for all files, "
        "or again for each",
        args::each(line.inputs, "file|text", "a file, or text that begins with (")},
       {"--library", "pace: a shared library that registers operators, loaded before the files; again for another",
        args::each(line.libraries, "file", "a file name")},
       {"--trust", "pace: run the code that files and libraries hold", args::flag(line.trust)},
       {"-k,--filter", "models with this in their names; again for others",
        args::each(selection.filters, "regex", "a regular expression")},
       {"-x,--exclude", "no models with this in their names; again for others",
        args::each(selection.excluded, "regex", "a regular expression")},
       {"--exclude-exact",
        "not this one; again for another",
        {"model", "a model",
         [&](const std::string& text) { return selection.excluded_exactly.insert(text), !text.empty(); }, ""}},
       {"--suite", "pace: models of one suite; own: of none of them", suite(selection.suite)},
       {"--only", "this one, in this process", args::text(line.only, "model", "a model")},
       {"--total-partitions", "so many slices of all models", args::whole_from(selection.partitions, 1)},
       {"--partition-id", "which of them, from 0 on",
        args::whole(selection.partition, std::numeric_limits<std::int64_t>::min(),
                    std::numeric_limits<std::int64_t>::max(), "a whole number")},
       {"-f,--fast", "no slow models", args::flag(selection.fast)},
       {"--no-skip", "those that the YAML file skips, too", args::flag(selection.no_skip)},
       Option("--config", "pace: a YAML file with what models get", args::file(line.config_file))
           .by_default("benches/models/models.yaml")}};
}

[[nodiscard]] inline args::Group on_what(CommandLine& line) {
  using args::Option;
  auto& settings = line.settings;
  return {
      "On what, and how",
      {Option("-d,--device,--devices", "where they run; again, or with commas, for another", devices(line.devices))
           .by_default("a GPU if there is one"),
       {"--device-index", "CUDA_VISIBLE_DEVICES", device_indices(line.device_index)},
       Option("--backend", joined(names_of_backends(), ", ") + "; again, or with commas, for another",
              back_ends(settings.backends)),
       {"--inductor", "--backend aot_inductor, into inductor.csv", sets_nothing},
       {"--export-aot-inductor", "--backend aot_inductor", sets_nothing},
       {"--export-nativert", "--backend nativert, into export_nativert.csv", sets_nothing},
       {"--torchscript-jit-trace", "--backend torchscript, into torchscript_jit_trace.csv", sets_nothing},
       {"--nothing", "eager against itself, into nothing.csv", sets_nothing},
       {"--small", "pace: smaller models, for a CPU", args::flag(settings.small)},
       {"--batch-size", "of every model", args::whole_from(settings.batch_size, 1)},
       {"--batch-size-file", "lines of name,size", args::file(line.batch_size_file)},
       {"--float32", "model and inputs in this type", sets_nothing},
       {"--float16", "model and inputs in this type", sets_nothing},
       {"--bfloat16", "model and inputs in this type", sets_nothing},
       {"--amp", "forward and loss in autocast", sets_nothing},
       {"--amp-dtype", "the type that --amp computes in", args::one_of(settings.amp_dtype, {"bfloat16", "float16"})},
       {"--tf32",
        "pace: TF32 on a GPU; default: in convolutions, and in products of models of torchbench and one's own",
        args::one_of(settings.tf32, {"default", "on", "off"})},
       {"--grad-scaler", "pace: a real one, where torchbench has none", args::flag(settings.grad_scaler)},
       {"--optimizer-on-cpu", "pace: an optimiser in training steps on a CPU, too",
        args::flag(settings.optimizer_on_cpu)},
       {"--optimizer-code", "pace: what updates: torch::optim, operators on all parameters at once, or one operator",
        args::one_of(settings.optimizer_code, {"single", "foreach", "fused"})},
       {"--compile-optimizer", "pace: compiled back ends have Adam's step compiled, too",
        args::flag(settings.compile_optimizer)},
       {"--use-eval-mode",
        "eval mode in training, too",
        {"", "", [&](const std::string&) { return settings.use_eval_mode = true, true; }, ""}},
       {"--channels-last", "images in channels-last memory format", args::flag(settings.channels_last)},
       {"--dynamic-batch-only", "compile for any batch", args::flag(settings.dynamic_batch)},
       {"-t,--threads", "threads of one operator",
        args::whole(settings.threads, 1, most_threads(), expected_threads(1))},
       {"--seed", "pace: of models and inputs", args::whole_from(settings.seed, 0)},
       {"--nopython", "a model is compiled as a whole, without graph breaks; that is always so here", sets_nothing},
       Option("--disable-cudagraphs", "no back end is a CUDA graph; so it is unless --backend names one",
              sets_nothing)}};
}

[[nodiscard]] inline args::Group performance_options(CommandLine& line) {
  auto& settings = line.settings;
  return {
      "Performance",
      {{"-n,--repeat", "timings of each", args::whole_from(settings.repeat, 1)},
       {"--iterations-per-run", "iterations of a timing", args::whole_from(settings.iterations_per_run, 1)},
       {"--warm-up-iterations", "pace: before the first timing", args::whole_from(settings.warm_up_iterations, 1)},
       {"--randomize-input", "new values for each timing", args::flag(settings.randomize_input)},
       {"--use-warm-peak-memory", "peak memory of an iteration after the warm-up",
        args::flag(settings.warm_peak_memory)},
       {"--collect-outputs", "with --compat: keep outputs while timing", args::flag(settings.collect_outputs)},
       {"--deterministic", "deterministic algorithms in performance runs, too", args::flag(settings.deterministic)},
       {"--no-slower-than", "pace: fail a model that is proven to take more than this times eager's time",
        real(settings.no_slower_than, "factor", "a number above 0, such as 1.1",
             [](double factor) { return factor > 0; })},
       {"--peak-memory-at-most", "pace: fail a model whose call has more bytes in use at once than this times eager's",
        real(settings.peak_memory_at_most, "factor", "a number above 0, such as 1.1",
             [](double factor) { return factor > 0; })},
       {"--confidence", "pace: of the intervals of speed-ups", below(line.measuring.confidence, 1, "share")},
       {"--alpha", "pace: how often a gate may fail a model that is fast enough",
        below(line.measuring.alpha, 0.5, "rate")},
       {"--beta", "pace: how often it may pass one that is not", below(line.measuring.beta, 0.5, "rate")},
       {"--max-interference", "pace: no verdict if other work takes more than this of the machine; 1: always one",
        at_most_1(line.measuring.max_interference)},
       {"--audit", "pace: how much back ends are distrusted",
        args::choice(line.measuring.audit,
                     {{"off", Audit::off}, {"standard", Audit::standard}, {"strict", Audit::strict}})},
       {"--callers", "pace: threads of --throughput",
        args::whole(settings.callers, 1, most_threads(), expected_threads(1))}}};
}

[[nodiscard]] inline args::Group accuracy_options(CommandLine& line) {
  auto& settings = line.settings;
  return {"Accuracy",
          {{"--iterations", "iterations of a run", args::whole_from(settings.iterations, 1)},
           {"--cosine", "compare by cosine similarity", args::flag(settings.cosine)},
           {"--skip-accuracy-check", "what differs is pass_due_to_skip", args::flag(settings.skip_accuracy_check)},
           {"--force-max-multiplier", "pace: as lenient as it gets", args::flag(settings.force_max_multiplier)},
           {"--generation", "pace: whose rules results are compared by",
            args::choice(settings.generation, {{"2.6", Generation::v2_6}, {"latest", Generation::latest}})},
           {"--save-model-outputs-to", "outputs, for another run", args::folder(settings.save_outputs_to)},
           {"--compare-model-outputs-with", "bit by bit", args::folder(settings.compare_outputs_with)}}};
}

[[nodiscard]] inline args::Group compiling_options(CommandLine& line) {
  using args::Option;
  auto& settings = line.settings;
  return {
      "Compiling",
      {{"-c,--inductor-config",
        "of Inductor's configuration; again for another",
        {"key=value", "key=value",
         [&](const std::string& text) { return is_inductor_option(text, settings.inductor_config); }, ""}},
       Option("--inductor-compile-mode", "Inductor's mode",
              {"default|max-autotune-no-cudagraphs",
               "default or max-autotune-no-cudagraphs (with CUDA graphs: --backend aot_inductor_cuda_graph)",
               [&](const std::string& text) { return is_mode_of_inductor(text, settings.inductor_config); }, "default"})
           .once(),
       {"--freezing", "parameters are constants of the compiled code, into which Inductor folds what it can",
        args::flag(settings.freezing)},
       {"--disable-split-reductions", "of Inductor", configures(settings, "split_reductions=false")},
       {"--disable-persistent-reductions", "of Inductor", configures(settings, "triton.persistent_reductions=false")},
       {"--disable-divisible-by-16", "of Inductor", configures(settings, "triton.divisible_by_16=false")},
       {"--packages", "pace: packages compiled beforehand; again for another",
        args::each(settings.packages, "folder", "a folder's name")},
       {"--cold-start-latency", "compile anew for each model", sets_nothing},
       {"--warm-start-latency", "each model twice: the second run finds what the first has compiled", sets_nothing},
       {"--nnc", "TorchScript's fuser: NNC", sets_nothing},
       {"--fuser", "pace: TorchScript's fuser", args::one_of(line.fuser, {"default", "none", "nnc"})}}};
}

[[nodiscard]] inline args::Group file_options(CommandLine& line) {
  using args::Option;
  auto& output = line.output;
  return {
      "Files",
      {Option("--output", "CSV of all back ends", args::file(output.file))
           .by_default("one each: speedup_X.csv, accuracy_X.csv, ..."),
       Option("--output-directory", "where files go", args::folder(output.directory)).by_default("the current folder"),
       {"--disable-output", "no files", args::flag(output.disabled)},
       {"--retain-output", "add to files that are there", args::flag(line.retain)},
       {"--resume", "pace: go on from the files of an interrupted run with the same options", args::flag(line.resume)},
       {"--baseline", "an older CSV to compare with", args::file(output.baseline)},
       {"--tag", "a column of its own", args::text(output.tag, "text", "a text")},
       {"--json", "pace: every comparison with its samples, as --json of other programs", args::file(line.json)},
       {"--html", "pace: a page of the results, for a browser", args::file(line.html)},
       {"--dump-raw-metrics", "all timings, as .npy", args::flag(output.raw_timings)},
       {"--export-profiler-trace", "a Chrome trace of a run apart", sets_nothing},
       Option("--profiler-trace-name", "where traces go", args::folder(line.trace_name))
           .by_default("traces, where the results are"),
       {"--snapshot-memory", "the allocator's history on a GPU, in FILE_memory beside FILE.csv", sets_nothing},
       {"--print-memory", "peaks of memory behind each model", args::flag(line.print_memory)},
       {"--print-compilation-time", "behind each model", args::flag(line.print_compilation_time)},
       {"--print-dataframe-summary", "all rows before the summary", args::flag(line.print_rows)}}};
}

[[nodiscard]] inline args::Group run_options(CommandLine& line) {
  using args::Option;
  auto& settings = line.settings;
  return {
      "The run as a whole",
      {Option("--timeout", "of a model's process",
              real(line.timeout, "seconds", "a number of seconds above 0", [](double time) { return time > 0; }))
           .by_default("2000 s"),
       Option("--memory-limit", "pace: of a model's process; 0: none",
              real(line.memory_limit, "GB", "a number from 0 to 1000000",
                   [](double size) { return size >= 0 && size <= 1e6; }))
           .by_default("the free memory, where no GPU is used"),
       {"--per-process-memory-fraction", "of a GPU's memory", at_most_1(settings.memory_fraction)},
       {"--progress", "which model of how many", args::flag(line.progress)},
       {"--no-progress", "pace: do not show what runs now and how long it still takes", args::flag(line.no_progress)},
       {"--ci", "as in torchbench's CI: packages anew; in accuracy runs at most 2 repeats", args::flag(line.ci)},
       {"--dashboard", "as for its dashboard: warm peak memory in performance runs", args::flag(line.dashboard)},
       {"-v,--verbose", "which models are skipped, and why", sets_nothing},
       {"-q,--quiet", "no notes", sets_nothing},
       {"--compat", "as torchbench does it, flaws included", args::flag(settings.compat)},
       {"--gate", "pace: exit code 42 if any row failed (always so in accuracy runs, with --no-slower-than, in tests)",
        args::flag(line.gate)},
       {"--allow-undecided", "pace: exit code 0, not 43, if guards were let through undecided",
        args::on_or_off(line.allow_undecided)},
       {"--allow-unmeasured", "pace: exit code 0, not 4, if no model could be run here",
        args::on_or_off(line.allow_unmeasured)},
       Option("--rows-of", "of the process of one model: the device that it is run on; again for another",
              args::each(line.rows_of, "device", "a device"))
           .hidden(),
       Option("--rows-to", "of the process of one model: hand its rows over there", args::file(line.rows_to)).hidden(),
       Option("--nth-model", "of the process of one model: which of how many it is, after how many seconds and models",
              args::text(line.part, "part", "NUMBER/TOTAL/SECONDS/MODELS"))
           .hidden()}};
}

}  // namespace detail

/// The options write their values into `line`, which must outlive the result. resolve() combines the options that set
/// nothing themselves.
[[nodiscard]] inline args::Groups model_options(CommandLine& line) {
  return {detail::what_to_do(line),
          detail::which_models(line),
          detail::on_what(line),
          detail::performance_options(line),
          detail::accuracy_options(line),
          detail::compiling_options(line),
          detail::file_options(line),
          detail::run_options(line),
          {"torchbench's options without a meaning here", detail::refused_options()}};
}

}  // namespace pace::benches::models
