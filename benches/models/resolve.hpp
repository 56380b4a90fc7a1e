// Resolves the options of the models' bench together, and refuses wrong combinations.
#pragma once

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "benches/models/backend_names.hpp"
#include "benches/models/command_line.hpp"
#include "benches/models/driver/names.hpp"
#include "benches/models/effects.hpp"
#include "benches/models/options.hpp"
#include "pace/args/command_line.hpp"
#include "pace/base/error.hpp"
#include "pace/os/same_file.hpp"

namespace pace::benches::models {

namespace detail {

[[noreturn]] inline void refuse(const std::string& message) { throw InputError({}, message); }

/// The limits that a back end is held to in performance runs, by their options.
[[nodiscard]] inline std::vector<std::pair<std::string, std::optional<double>>> limits_of(const Settings& settings) {
  return {{"--no-slower-than", settings.no_slower_than}, {"--peak-memory-at-most", settings.peak_memory_at_most}};
}

inline void resolve_mode(CommandLine& line, const args::Arguments& arguments) {
  auto& settings = line.settings;
  const std::vector<std::string> modes{"--performance", "--accuracy", "--tolerance", "--throughput"};
  const std::string own = args::choose_one(arguments, {"--find-batch-sizes", "--log-operator-inputs"});
  const std::string mode = args::choose_one(arguments, modes, /*one_needed=*/own.empty());
  settings.training = args::choose_one(arguments, {"--training", "--inference"}, true) == "--training";
  settings.mode = mode == "--accuracy"     ? Mode::accuracy
                  : mode == "--tolerance"  ? Mode::tolerance
                  : mode == "--throughput" ? Mode::throughput
                                           : Mode::performance;
  if (arguments.has("--batch-invariant") && mode != "--accuracy")
    refuse("--batch-invariant: expected --accuracy beside it");
  if (arguments.has("--batch-invariant")) settings.mode = Mode::batch_invariance;
  if (own == "--find-batch-sizes") settings.mode = Mode::find_batch_size;
  if (own == "--log-operator-inputs") settings.mode = Mode::operator_inputs;
  for (const auto& [option, limit] : limits_of(settings)) {
    if (limit && settings.mode != Mode::performance) refuse(option + ": expected --performance beside it");
    if (limit && settings.compat) refuse(option + " does not go with --compat, which proves nothing");
  }
}

/// Throws InputError for a limit that no back end is held to, since eager is the baseline.
inline void require_candidates(const Settings& settings) {
  const auto is_candidate = [](const std::string& backend) { return backend != "eager"; };
  for (const auto& [option, limit] : limits_of(settings))
    if (limit && std::ranges::none_of(settings.backends, is_candidate))
      refuse(option + " has nothing to judge: eager is the baseline; expected another --backend beside it");
}

inline void resolve_precision(CommandLine& line, const args::Arguments& arguments) {
  const std::string given = args::choose_one(arguments, {"--float32", "--float16", "--bfloat16", "--amp"});
  line.settings.precision = given == "--float32"    ? Precision::float32
                            : given == "--float16"  ? Precision::float16
                            : given == "--bfloat16" ? Precision::bfloat16
                            : given == "--amp"      ? Precision::amp
                                                    : Precision::as_made;
  if (line.settings.grad_scaler && (given != "--amp" || !line.settings.training))
    refuse("--grad-scaler: expected --amp and --training beside it");
}

inline void resolve_backends(CommandLine& line, const args::Arguments& arguments) {
  struct Experiment {
    const char *backend, *file;
  };
  static const std::map<std::string, Experiment> experiments{
      {"--inductor", {"aot_inductor", "inductor.csv"}},
      {"--export-aot-inductor", {"aot_inductor", ""}},
      {"--export-nativert", {"nativert", "export_nativert.csv"}},
      {"--torchscript-jit-trace", {"torchscript", "torchscript_jit_trace.csv"}},
      {"--nothing", {"eager", "nothing.csv"}}};
  const std::string given = args::choose_one(
      arguments, {"--inductor", "--export-aot-inductor", "--export-nativert", "--torchscript-jit-trace", "--nothing"});
  auto& backends = line.settings.backends;
  if (!given.empty()) {
    if (arguments.has("--backend")) refuse("expected at most one of " + given + ", --backend");
    backends = {experiments.at(given).backend};
    line.output.experiment_file = experiments.at(given).file;
  }
  if (arguments.has("--disable-cudagraphs") && any_has(backends, &BackendTraits::is_graph))
    refuse("--disable-cudagraphs does not go with a --backend that is a CUDA graph");
}

inline void resolve_compiling(CommandLine& line, const args::Arguments& arguments) {
  auto& settings = line.settings;
  const std::string latency = args::choose_one(arguments, {"--cold-start-latency", "--warm-start-latency"});
  if (!latency.empty() || line.ci) line.packages = Packages::cold;
  if (latency == "--warm-start-latency") line.packages = Packages::warm;
  if (!latency.empty() && !settings.packages.empty())
    refuse(latency + " does not go with --packages: those are compiled already");
  if (arguments.has("--nnc")) line.fuser = "nnc";
  const auto has_config = [&](const char* option) {
    return std::ranges::find(settings.inductor_config, option) != settings.inductor_config.end();
  };
  if (has_config("freezing=false") && (settings.freezing || has_config("freezing=true")))
    refuse("--inductor-config: 'freezing=false' does not go with " +
           std::string(settings.freezing ? "--freezing" : "'freezing=true'") + "; expected one of them");
  for (const auto& option : settings.inductor_config) {
    if (option == "freezing=true") settings.freezing = true;
    if (option.starts_with("freezing") && option != "freezing=true" && option != "freezing=false")
      refuse("--inductor-config: '" + option +
             "' is refused: the model keeps its parameters, which other back ends read; expected freezing=True");
  }
  if (settings.freezing && settings.training)
    refuse("--freezing: expected --inference beside it, since trained parameters are no constants");
  std::erase_if(settings.inductor_config, [](const std::string& option) { return option.starts_with("freezing"); });
}

/// Throws InputError for a file of results that is read, or that two options name.
inline void refuse_to_overwrite(const CommandLine& line) {
  std::vector<std::string> read{line.config_file, line.batch_size_file};
  for (const auto* const files : {&line.models, &line.inputs, &line.libraries})
    read.insert(read.end(), files->begin(), files->end());
  for (const auto& [option, path] :
       {std::pair{"--json", line.json}, std::pair{"--html", line.html}, std::pair{"--output", line.output.file}})
    for (const auto& each : read)
      if (!path.empty() && same_file(path, each))
        refuse(std::string(option) + ": " + path + " is read; expected another name");
  if (!line.json.empty() && !line.html.empty() && same_path(line.json, line.html))
    refuse("--json and --html name the same file, '" + line.json + "'; expected another one");
}

inline void resolve_files(CommandLine& line, const args::Arguments& arguments) {
  auto& output = line.output;
  if (line.resume && output.disabled) refuse("--resume does not go with --disable-output");
  static_cast<void>(args::choose_one(arguments, {"--resume", "--retain-output"}));
  if (!output.directory.empty() && std::filesystem::path(output.file).is_absolute())
    refuse("--output-directory does not go with --output " + output.file + ", which is no relative path");
  if (!output.file.empty() && !output.directory.empty())
    output.file = (std::filesystem::path(output.directory) / output.file).string();
  if (!output.file.empty()) output.experiment_file.clear();
  const auto folder =
      output.file.empty() ? std::filesystem::path(output.directory) : std::filesystem::path(output.file).parent_path();
  auto& settings = line.settings;
  if (settings.mode == Mode::operator_inputs) {
    if (output.file.empty() && output.directory.empty())
      refuse("--log-operator-inputs: expected --output or --output-directory, which say where to");
    settings.log_operator_inputs = folder.empty() ? "." : folder.string();
  }
  const bool trace = arguments.has("--export-profiler-trace"), snapshots = arguments.has("--snapshot-memory");
  if (!trace && !line.trace_name.empty()) refuse("--profiler-trace-name: expected --export-profiler-trace beside it");
  if (trace) settings.profiler_trace = line.trace_name.empty() ? (folder / "traces").string() : line.trace_name;
  if (snapshots)
    settings.memory_snapshot =
        output.file.empty() ? (folder / "memory").string() : ResultFiles::stem_of(output.file) + "_memory";
  // Either is written only by the run that times.
  if ((trace || snapshots) && settings.mode != Mode::performance)
    refuse(std::string(trace ? "--export-profiler-trace" : "--snapshot-memory") + ": expected --performance beside it");
  refuse_to_overwrite(line);
}

/// Options by name with their values, without those that choose models, say where results go or how they are shown.
[[nodiscard]] inline Configuration configuration_of(const args::Arguments& arguments) {
  static const auto left_out = words_in(
      "--filter --exclude --exclude-exact --suite --only --total-partitions --partition-id --fast --no-skip --output "
      "--output-directory --disable-output --retain-output --resume --json --html --dump-raw-metrics --print-memory "
      "--print-compilation-time --print-dataframe-summary --progress --no-progress --dry-run --nth-model --verbose "
      "--quiet --gate --allow-undecided --allow-unmeasured --rows-to");
  Configuration configuration;
  for (const auto& [name, values] : arguments.values) {
    if (std::ranges::find(left_out, name) != left_out.end()) continue;
    std::string all;
    for (const auto& value : values) all += (&value == values.data() ? "" : ",") + value;
    configuration[name] = all;
  }
  return configuration;
}

/// Throws InputError for options beside --list that are not about which models there are.
inline void refuse_beside_list(const args::Arguments& arguments) {
  static const auto heeded = words_in("--list --filter --exclude --exclude-exact --suite --model --inputs --trust");
  for (const auto& name : arguments.given)
    if (std::ranges::find(heeded, name) == heeded.end())
      refuse(name +
             ": expected no --list, which runs nothing and lists the models of --model, --filter, --exclude, "
             "--exclude-exact and --suite");
}

}  // namespace detail

/// Combines the given options, and throws InputError for those that do not go together.
inline void resolve(CommandLine& line, const args::Arguments& arguments) {
  auto& settings = line.settings;
  detail::resolve_mode(line, arguments);
  detail::resolve_precision(line, arguments);
  detail::resolve_backends(line, arguments);
  detail::require_candidates(settings);
  detail::resolve_compiling(line, arguments);
  detail::resolve_files(line, arguments);
  const std::string loudness = args::choose_one(arguments, {"--verbose", "--quiet"});
  line.verbose = loudness == "--verbose";
  line.quiet = loudness == "--quiet";
  line.compile_only = line.compile_only || !line.compile_to.empty();
  line.compilation_metrics = arguments.has("--output") || arguments.has("--output-directory");
  if (line.compile_only && !any_has(settings.backends, &BackendTraits::has_package) &&
      !any_has(settings.backends, &BackendTraits::has_program))
    detail::refuse(
        "--compile-only: expected --backend aot_inductor, aot_inductor_cuda_graph or nativert among others, for others "
        "have no packages");
  static_cast<void>(args::choose_one(arguments, {"--batch-size", "--batch-size-file"}));
  if (!line.rows_to.empty() && line.only.empty()) detail::refuse("--rows-to: expected --only beside it");
  if (!line.rows_of.empty() && line.rows_to.empty()) detail::refuse("--rows-of: expected --rows-to beside it");
  if (line.only.starts_with("path:"))
    detail::refuse("--only=path:... loads Python; a model of one's own is a C++ file with a Registered in it");
  if (line.ci && has_statuses(settings.mode)) settings.repeat = std::min<std::int64_t>(settings.repeat, 2);
  if (line.dashboard && settings.mode == Mode::performance) settings.warm_peak_memory = true;
  detail::refuse_without_effect(line, arguments);
  line.configuration = detail::configuration_of(arguments);
  line.given = arguments;
}

/// `words`: without the program's name. Throws InputError for words that make no sense.
[[nodiscard]] inline CommandLine parse_command_line(const std::vector<std::string>& words) {
  CommandLine line;
  const auto arguments = args::parse(model_options(line), words);
  line.help = arguments.help;
  if (line.help) return line;
  if (line.list)
    detail::refuse_beside_list(arguments);
  else
    resolve(line, arguments);
  return line;
}

[[nodiscard]] inline std::string help_of_models() {
  CommandLine line;
  return "bazel run //benches/models -- MODE DIRECTION OPTIONS: whole models, as PyTorch's torchbench.py runs them\n" +
         args::help(model_options(line));
}

}  // namespace pace::benches::models
