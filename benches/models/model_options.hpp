// The options of the models' bench, by their names.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <optional>
#include <regex>
#include <string>
#include <vector>

#include "benches/models/asked.hpp"
#include "pace/core/most_threads.hpp"

namespace pace::benches::models {

/// Outlives the options, which refer to it.
[[nodiscard]] inline const char* expected_thread_count() {
  static const std::string text = expected_threads(1);
  return text.c_str();
}

/// What the options are given goes into `line` and `groups`, which must outlive what it returns.
[[nodiscard]] inline std::vector<OptionSpec> model_options(CommandLine& line, Groups& groups) {
  using Text = const std::string&;
  auto& settings = line.settings;
  auto& selection = line.selection;
  const char* const a_file = "a file name";
  const char* const a_folder = "a folder's name";
  const char* const from_1 = "a whole number above 0";
  const char* const threads_expected = expected_thread_count();
  const auto threads = [](auto& to) {
    return [&to](Text text) { return read_number(text, to) && to >= 1 && to <= most_threads(); };
  };
  const char* const from_0 = "a whole number from 0 on";
  const auto seconds = [](double& to) {
    return [&to](Text text) { return read_number(text, to) && to > 0 && std::isfinite(to); };
  };
  const auto share = [](double& to, double below) {
    return [&to, below](Text text) { return read_number(text, to) && to > 0 && to < below; };
  };
  const auto flag = [](bool& to) { return into(to); };
  const auto group = [](std::vector<std::string>& to, const char* name) { return detail::member_of(to, name); };
  const auto config = [&settings](const char* option) {
    return [&settings, option](Text) { return settings.inductor_config.emplace_back(option), true; };
  };
  const auto on_or_off = [](bool& to) { return [&to](Text text) { return to = text == "on", to || text == "off"; }; };
  const auto one_of = [](std::string& to, std::vector<std::string> words) {
    return [&to, words](Text text) { return to = text, std::ranges::find(words, text) != words.end(); };
  };
  return {
      // What to do.
      {{"--performance"}, nullptr, "time models against eager", "", group(groups.mode, "--performance")},
      {{"--accuracy"},
       nullptr,
       "check results against eager and a float64 reference",
       "",
       group(groups.mode, "--accuracy")},
      {{"--tolerance"}, nullptr, "relative errors against eager on a CPU", "", group(groups.mode, "--tolerance")},
      {{"--throughput"}, nullptr, "pace: several threads that call one model", "", group(groups.mode, "--throughput")},
      {{"--find-batch-sizes"},
       nullptr,
       "the largest batch that runs, for --batch-size-file",
       "",
       flag(groups.find_batch_sizes)},
      {{"--log-operator-inputs"},
       nullptr,
       "record operators and their inputs where --output is, for //benches/operators",
       "",
       flag(groups.operator_inputs)},
      {{"--batch-invariant"},
       nullptr,
       "with --accuracy: whether a smaller batch gives the same bits",
       "",
       flag(groups.batch_invariant)},
      {{"--training"},
       nullptr,
       "forward, loss, backward and, on a GPU, the optimiser's step",
       "",
       group(groups.direction, "--training")},
      {{"--inference"}, nullptr, "forward alone", "", group(groups.direction, "--inference")},
      {{"--list"}, nullptr, "pace: the models, their suites and families", "", flag(line.list)},
      {{"-h", "--help"}, nullptr, "this text", "", flag(line.help)},
      // Which models.
      {{"-k", "--filter"},
       "regex",
       "models with this in their names; again for others",
       "a regular expression",
       into(selection.filters)},
      {{"-x", "--exclude"},
       "regex",
       "no models with this in their names; again for others",
       "a regular expression",
       into(selection.excluded)},
      {{"--exclude-exact"},
       "model",
       "not this one; again for another",
       "a model",
       [&](Text text) { return selection.excluded_exactly.insert(text), !text.empty(); }},
      {{"--suite"},
       "suite",
       "pace: torchbench, huggingface, timm, own (in none of them) or all (the default)",
       "torchbench, huggingface, timm, own or all",
       [&](Text text) {
         selection.suite = text == "all" ? std::nullopt : std::optional(suite_of(text));
         return true;
       }},
      {{"--only"}, "model", "this one, in this process", "a model", into(line.only)},
      {{"--total-partitions"},
       "number",
       "so many slices of all models (defaults to 1)",
       from_1,
       into(selection.partitions, std::int64_t{1})},
      {{"--partition-id"},
       "number",
       "which of them (defaults to 0)",
       "a whole number",
       into(selection.partition, std::numeric_limits<std::int64_t>::min())},
      {{"-f", "--fast"}, nullptr, "no slow models", "", flag(selection.fast)},
      {{"--no-skip"}, nullptr, "those that the YAML file skips, too", "", flag(selection.no_skip)},
      {{"--config"},
       "file",
       "pace: a YAML file in place of benches/models/models.yaml",
       a_file,
       into(line.config_file)},
      // On what, and how.
      {{"-d", "--device", "--devices"},
       "device",
       "cpu, cuda or cuda:N; again, or with commas, for another (defaults to a GPU)",
       "cpu, cuda or cuda:N",
       [&](Text text) {
         static const std::regex device("cpu|cuda(:[0-9]{1,3})?");
         return detail::list_into(line.devices)(text) &&
                std::ranges::all_of(line.devices, [](const auto& each) { return std::regex_match(each, device); });
       }},
      {{"--device-index"},
       "number",
       "CUDA_VISIBLE_DEVICES",
       "a number, or several with commas",
       [&](Text text) {
         static const std::regex indices(
             "([0-9]{1,3}|(GPU|MIG)-[-0-9a-fA-F/]{1,80})(,([0-9]{1,3}|(GPU|MIG)-[-0-9a-fA-F/]{1,80}))*");
         return std::regex_match(line.device_index = text, indices);
       }},
      {{"--backend"},
       "name",
       "eager, torchscript, cuda_graph, aot_inductor (the default); again, or with commas, for another",
       "back ends",
       detail::list_into(groups.backends)},
      {{"--inductor"},
       nullptr,
       "--backend aot_inductor, into inductor.csv",
       "",
       group(groups.experiments, "--inductor")},
      {{"--export-aot-inductor"},
       nullptr,
       "--backend aot_inductor",
       "",
       group(groups.experiments, "--export-aot-inductor")},
      {{"--torchscript-jit-trace"},
       nullptr,
       "--backend torchscript, into torchscript_jit_trace.csv",
       "",
       group(groups.experiments, "--torchscript-jit-trace")},
      {{"--nothing"}, nullptr, "eager against itself, into nothing.csv", "", group(groups.experiments, "--nothing")},
      {{"--small"}, nullptr, "pace: smaller models, for a CPU", "", flag(settings.small)},
      {{"--batch-size"},
       "number",
       "of every model",
       from_1,
       [&](Text text) { return read_number(text, settings.batch_size.emplace()) && *settings.batch_size > 0; }},
      {{"--batch-size-file"}, "file", "lines of name,size", a_file, into(line.batch_size_file)},
      {{"--float32"}, nullptr, "model and inputs in this type", "", group(groups.precision, "--float32")},
      {{"--float16"}, nullptr, "model and inputs in this type", "", group(groups.precision, "--float16")},
      {{"--bfloat16"}, nullptr, "model and inputs in this type", "", group(groups.precision, "--bfloat16")},
      {{"--amp"}, nullptr, "forward and loss in autocast", "", group(groups.precision, "--amp")},
      {{"--amp-dtype"},
       "type",
       "bfloat16 or float16 (defaults to bfloat16)",
       "bfloat16 or float16",
       one_of(settings.amp_dtype, {"bfloat16", "float16"})},
      {{"--grad-scaler"}, nullptr, "pace: a real one, where torchbench has none", "", flag(settings.grad_scaler)},
      {{"--optimizer-on-cpu"},
       nullptr,
       "pace: an optimiser in training steps on a CPU, too",
       "",
       flag(settings.optimizer_on_cpu)},
      {{"--use-eval-mode"},
       nullptr,
       "eval mode in training, too",
       "",
       [&](Text) { return settings.use_eval_mode = true, true; }},
      {{"--channels-last"}, nullptr, "images in channels-last memory format", "", flag(settings.channels_last)},
      {{"--dynamic-batch-only"}, nullptr, "compile for any batch", "", flag(settings.dynamic_batch)},
      {{"-t", "--threads"},
       "number",
       "of one operator",
       threads_expected,
       [&, threads](Text text) { return threads(settings.threads.emplace())(text); }},
      {{"--seed"},
       "number",
       "pace: of models and inputs (defaults to 1337)",
       from_0,
       [&](Text text) { return read_number(text, settings.seed); }},
      // Performance.
      {{"-n", "--repeat"},
       "number",
       "timings of each (defaults to 30)",
       from_1,
       into(settings.repeat, std::int64_t{1})},
      {{"--iterations-per-run"},
       "number",
       "iterations of a timing (defaults to 1)",
       from_1,
       into(settings.iterations_per_run, std::int64_t{1})},
      {{"--warm-up-iterations"},
       "number",
       "pace: before the first timing (defaults to 5)",
       from_1,
       into(settings.warm_up_iterations, std::int64_t{1})},
      {{"--randomize-input"}, nullptr, "new values for each timing", "", flag(settings.randomize_input)},
      {{"--use-warm-peak-memory"},
       nullptr,
       "peak memory of an iteration after the warm-up",
       "",
       flag(settings.warm_peak_memory)},
      {{"--collect-outputs"}, nullptr, "with --compat: keep outputs while timing", "", flag(settings.collect_outputs)},
      {{"--deterministic"},
       nullptr,
       "deterministic algorithms in performance runs, too",
       "",
       flag(settings.deterministic)},
      {{"--no-slower-than"},
       "factor",
       "pace: fail a model that is proven to take more than this times eager's time",
       "a number above 0, such as 1.1",
       [&](Text text) {
         auto& factor = settings.no_slower_than.emplace();
         return read_number(text, factor) && factor > 0 && std::isfinite(factor);
       }},
      {{"--confidence"},
       "share",
       "pace: of the intervals of speed-ups (defaults to 0.95)",
       "a number between 0 and 1",
       share(line.measuring.confidence, 1)},
      {{"--alpha"},
       "rate",
       "pace: how often a gate may fail a model that is fast enough (defaults to 0.001)",
       "a number between 0 and 0.5",
       share(line.measuring.alpha, 0.5)},
      {{"--beta"},
       "rate",
       "pace: how often it may pass one that is not (defaults to 0.01)",
       "a number between 0 and 0.5",
       share(line.measuring.beta, 0.5)},
      {{"--max-interference"},
       "share",
       "pace: no verdict if other work takes more than this of the machine; 1: always one (defaults to 0.2)",
       "a number above 0 and at most 1",
       [&](Text text) {
         auto& max_interference = line.measuring.max_interference;
         return read_number(text, max_interference) && max_interference > 0 && max_interference <= 1;
       }},
      {{"--callers"},
       "number",
       "pace: threads of --throughput (defaults to 4)",
       threads_expected,
       threads(settings.callers)},
      // Accuracy.
      {{"--iterations"},
       "number",
       "iterations of a run (defaults to 2)",
       from_1,
       into(settings.iterations, std::int64_t{1})},
      {{"--cosine"}, nullptr, "compare by cosine similarity", "", flag(settings.cosine)},
      {{"--skip-accuracy-check"}, nullptr, "what differs is pass_due_to_skip", "", flag(settings.skip_accuracy_check)},
      {{"--force-max-multiplier"}, nullptr, "pace: as lenient as it gets", "", flag(settings.force_max_multiplier)},
      {{"--generation"},
       "2.6|latest",
       "pace: whose rules results are compared by (defaults to latest)",
       "2.6 or latest",
       [&](Text text) {
         settings.generation = text == "2.6" ? Generation::v2_6 : Generation::latest;
         return text == "2.6" || text == "latest";
       }},
      {{"--save-model-outputs-to"}, "file", "outputs, for another run", a_file, into(settings.save_outputs_to)},
      {{"--compare-model-outputs-with"}, "file", "bit by bit", a_file, into(settings.compare_outputs_with)},
      // Compiling.
      {{"-c", "--inductor-config"},
       "key=value",
       "of Inductor's configuration; again for another",
       "key=value",
       [&](Text text) { return detail::is_inductor_option(text, settings.inductor_config); }},
      {{"--inductor-compile-mode"},
       "mode",
       "default or max-autotune-no-cudagraphs",
       "default or max-autotune-no-cudagraphs (CUDA graphs are --backend cuda_graph)",
       [&](Text text) { return detail::is_mode_of_inductor(text, settings.inductor_config); }},
      {{"--disable-split-reductions"}, nullptr, "of Inductor", "", config("split_reductions=false")},
      {{"--disable-persistent-reductions"}, nullptr, "of Inductor", "", config("triton.persistent_reductions=false")},
      {{"--disable-divisible-by-16"}, nullptr, "of Inductor", "", config("triton.divisible_by_16=false")},
      {{"--packages"},
       "folder",
       "pace: packages compiled beforehand; again for another",
       a_folder,
       into(settings.packages)},
      {{"--cold-start-latency"},
       nullptr,
       "compile anew for each model",
       "",
       group(groups.latency, "--cold-start-latency")},
      {{"--warm-start-latency"},
       nullptr,
       "each model twice: the second run finds what the first has compiled",
       "",
       group(groups.latency, "--warm-start-latency")},
      {{"--nnc"}, nullptr, "TorchScript's fuser: NNC", "", group(groups.fusers, "--nnc")},
      {{"--fuser"},
       "default|none|nnc",
       "pace: TorchScript's fuser",
       "default, none or nnc",
       one_of(line.fuser, {"default", "none", "nnc"})},
      {{"--compile-only"},
       nullptr,
       "pace: compile the packages of all these models side by side, and run none",
       "",
       flag(line.compile_only)},
      {{"--compile-to"}, "folder", "pace: compile them, into a folder for --packages", a_folder, into(line.compile_to)},
      // Files.
      {{"--output"},
       "file",
       "CSV of all back ends (defaults to one each: speedup_X.csv, accuracy_X.csv, ...)",
       a_file,
       into(line.output.file)},
      {{"--output-directory"}, "folder", "where files go", a_folder, into(line.output.directory)},
      {{"--disable-output"}, nullptr, "no files", "", flag(line.output.disabled)},
      {{"--retain-output"}, nullptr, "add to files that are there", "", flag(line.retain)},
      {{"--resume"},
       nullptr,
       "pace: go on from the files of an interrupted run with the same options",
       "",
       flag(line.resume)},
      {{"--baseline"}, "file", "an older CSV to compare with", a_file, into(line.output.baseline)},
      {{"--tag"}, "text", "a column of its own", "a text", into(line.output.tag)},
      {{"--dump-raw-metrics"}, nullptr, "all timings, as .npy", "", flag(line.output.raw_timings)},
      {{"--export-profiler-trace"}, nullptr, "a Chrome trace of a run apart", "", flag(groups.trace)},
      {{"--profiler-trace-name"},
       "folder",
       "where traces go (defaults to traces, where the results are)",
       a_folder,
       into(groups.trace_name)},
      {{"--snapshot-memory"},
       nullptr,
       "the allocator's history on a GPU, in FILE_memory beside FILE.csv",
       "",
       flag(groups.snapshots)},
      {{"--print-memory"}, nullptr, "peaks of memory behind each model", "", flag(line.print_memory)},
      {{"--print-compilation-time"}, nullptr, "behind each model", "", flag(line.print_compilation_time)},
      {{"--print-dataframe-summary"}, nullptr, "all rows before the summary", "", flag(line.print_rows)},
      // The run as a whole.
      {{"--timeout"},
       "seconds",
       "of a model's process (defaults to 2000)",
       "a number of seconds above 0",
       seconds(line.timeout)},
      {{"--memory-limit"},
       "GB",
       "pace: of a model's process; 0: none (defaults to what is free, where no GPU is used)",
       "a number from 0 to 1000000",
       [&](Text text) {
         auto& gigabytes = line.memory_limit.emplace();
         return read_number(text, gigabytes) && gigabytes >= 0 && gigabytes <= 1e6;
       }},
      {{"--per-process-memory-fraction"},
       "share",
       "of a GPU's memory (defaults to 1)",
       "a number above 0 and at most 1",
       [&](Text text) {
         return read_number(text, settings.memory_fraction) && settings.memory_fraction > 0 &&
                settings.memory_fraction <= 1;
       }},
      {{"--progress"}, nullptr, "which model of how many", "", flag(line.progress)},
      {{"--ci"},
       nullptr,
       "as in torchbench's CI: packages anew; in accuracy runs at most 2 repeats",
       "",
       flag(line.ci)},
      {{"--dashboard"},
       nullptr,
       "as for its dashboard: warm peak memory in performance runs",
       "",
       flag(line.dashboard)},
      {{"-v", "--verbose"}, nullptr, "which models are skipped, and why", "", group(groups.loudness, "--verbose")},
      {{"-q", "--quiet"}, nullptr, "no notes", "", group(groups.loudness, "--quiet")},
      {{"--compat"}, nullptr, "as torchbench does it, flaws included", "", flag(settings.compat)},
      {{"--gate"},
       nullptr,
       "pace: exit code 42 if any row failed (always so in accuracy runs, with --no-slower-than, in tests)",
       "",
       flag(line.gate)},
      {{"--allow-undecided"},
       "on|off",
       "pace: exit code 0, not 43, if guards were let through of which nothing could be proven (defaults to off)",
       "on or off",
       on_or_off(line.allow_undecided)},
      {{"--allow-unmeasured"},
       "on|off",
       "pace: exit code 0, not 4, if no model could be run here (defaults to off)",
       "on or off",
       on_or_off(line.allow_unmeasured)},
      {{"--rows-to"},
       "file",
       "pace: of the process of one model: hand its rows over there",
       a_file,
       into(line.rows_to)},
  };
}

}  // namespace pace::benches::models
