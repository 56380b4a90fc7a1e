// What options ask for together.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "benches/models/asked.hpp"
#include "benches/models/refused.hpp"

namespace pace::benches::models {

namespace detail {

inline void settle_mode(CommandLine& line, const Groups& groups) {
  using benches::models::Mode;
  auto& settings = line.settings;
  const bool own = groups.find_batch_sizes || groups.operator_inputs;
  if (groups.find_batch_sizes && groups.operator_inputs)
    throw InputError({}, "expected at most one of --find-batch-sizes, --log-operator-inputs");
  if (own)
    at_most_one(groups.mode);
  else
    exactly_one(groups.mode, "--performance, --accuracy, --tolerance, --throughput");
  exactly_one(groups.direction, "--training, --inference");
  settings.training = groups.direction.front() == "--training";
  const std::string mode = groups.mode.empty() ? "" : groups.mode.front();
  settings.mode = mode == "--accuracy"     ? Mode::accuracy
                  : mode == "--tolerance"  ? Mode::tolerance
                  : mode == "--throughput" ? Mode::throughput
                                           : Mode::performance;
  if (groups.batch_invariant && mode != "--accuracy")
    throw InputError({}, "--batch-invariant: expected --accuracy beside it");
  if (groups.batch_invariant) settings.mode = Mode::batch_invariance;
  if (groups.find_batch_sizes) settings.mode = Mode::find_batch_size;
  if (groups.operator_inputs) settings.mode = Mode::operator_inputs;
  if (settings.no_slower_than && settings.mode != Mode::performance)
    throw InputError({}, "--no-slower-than: expected --performance beside it");
  if (settings.compat && settings.no_slower_than)
    throw InputError({}, "--no-slower-than does not go with --compat, which proves nothing");
}

/// Throws InputError for a limit that no back end is held to, since eager is the baseline.
inline void require_candidates(const benches::models::Settings& settings) {
  if (!settings.no_slower_than) return;
  for (const auto& backend : settings.backends)
    if (backend != "eager") return;
  throw InputError(
      {}, "--no-slower-than has nothing to judge: eager is the baseline; expected another --backend beside it");
}

inline void settle_precision(CommandLine& line, const Groups& groups) {
  using benches::models::Precision;
  at_most_one(groups.precision);
  const std::string given = groups.precision.empty() ? "" : groups.precision.front();
  line.settings.precision = given == "--float32"    ? Precision::float32
                            : given == "--float16"  ? Precision::float16
                            : given == "--bfloat16" ? Precision::bfloat16
                            : given == "--amp"      ? Precision::amp
                                                    : Precision::as_made;
  if (line.settings.grad_scaler && (given != "--amp" || !line.settings.training))
    throw InputError({}, "--grad-scaler: expected --amp and --training beside it");
}

inline void settle_backends(CommandLine& line, const Groups& groups) {
  at_most_one(groups.experiments);
  if (!groups.experiments.empty() && !groups.backends.empty())
    throw InputError({}, "expected at most one of " + groups.experiments.front() + ", --backend");
  auto& backends = line.settings.backends;
  if (!groups.backends.empty()) backends = groups.backends;
  if (groups.experiments.empty()) return;
  const std::string experiment = groups.experiments.front();
  if (experiment == "--torchscript-jit-trace")
    backends = {"torchscript"};
  else if (experiment == "--nothing")
    backends = {"eager"};
  else
    backends = {"aot_inductor"};
  if (experiment == "--inductor") line.output.experiment_file = "inductor.csv";
  if (experiment == "--torchscript-jit-trace") line.output.experiment_file = "torchscript_jit_trace.csv";
  if (experiment == "--nothing") line.output.experiment_file = "nothing.csv";
}

inline void settle_compiling(CommandLine& line, const Groups& groups) {
  using benches::models::Packages;
  auto& settings = line.settings;
  at_most_one(groups.latency);
  at_most_one(groups.fusers);
  if (!groups.latency.empty() || line.ci) line.packages = Packages::cold;
  if (!groups.latency.empty() && groups.latency.front() == "--warm-start-latency") line.packages = Packages::warm;
  if (!groups.latency.empty() && !settings.packages.empty())
    throw InputError({}, groups.latency.front() + " does not go with --packages: those are compiled already");
  if (!groups.fusers.empty()) line.fuser = "nnc";
  for (const auto& option : settings.inductor_config)
    if (option.starts_with("freezing"))
      throw InputError({}, "--inductor-config: '" + option + "' is refused: " + refused_options().at("--freezing"));
}

inline void settle_files(CommandLine& line, const Groups& groups) {
  auto& output = line.output;
  if (line.resume && output.disabled) throw InputError({}, "--resume does not go with --disable-output");
  if (line.resume && line.retain) throw InputError({}, "expected at most one of --resume, --retain-output");
  if (!output.directory.empty() && std::filesystem::path(output.file).is_absolute())
    throw InputError({}, "--output-directory does not go with --output " + output.file + ", which is no relative path");
  if (!output.file.empty() && !output.directory.empty())
    output.file = (std::filesystem::path(output.directory) / output.file).string();
  if (!output.file.empty()) output.experiment_file.clear();
  const auto folder =
      output.file.empty() ? std::filesystem::path(output.directory) : std::filesystem::path(output.file).parent_path();
  auto& settings = line.settings;
  if (groups.operator_inputs) {
    if (output.file.empty() && output.directory.empty())
      throw InputError({}, "--log-operator-inputs: expected --output or --output-directory, which tell where to");
    settings.log_operator_inputs = folder.empty() ? "." : folder.string();
  }
  if (!groups.trace && !groups.trace_name.empty())
    throw InputError({}, "--profiler-trace-name: expected --export-profiler-trace beside it");
  if (groups.trace)
    settings.profiler_trace = groups.trace_name.empty() ? (folder / "traces").string() : groups.trace_name;
  if (groups.snapshots)
    settings.memory_snapshot = output.file.empty() ? (folder / "memory").string()
                                                   : benches::models::ResultFiles::stem_of(output.file) + "_memory";
  // Either is written only by the run that times.
  if ((groups.trace || groups.snapshots) && settings.mode != benches::models::Mode::performance)
    throw InputError({}, std::string(groups.trace ? "--export-profiler-trace" : "--snapshot-memory") +
                             ": expected --performance beside it");
}

}  // namespace detail

/// Puts together what was given, and throws InputError for what does not go together.
inline void settle(CommandLine& line, const Groups& groups) {
  auto& settings = line.settings;
  detail::settle_mode(line, groups);
  detail::settle_precision(line, groups);
  detail::settle_backends(line, groups);
  detail::require_candidates(settings);
  detail::settle_compiling(line, groups);
  detail::settle_files(line, groups);
  detail::at_most_one(groups.loudness);
  line.compile_only = line.compile_only || !line.compile_to.empty();
  if (line.compile_only && std::ranges::find(settings.backends, "aot_inductor") == settings.backends.end())
    throw InputError({}, "--compile-only: expected --backend aot_inductor among others, for others have no packages");
  line.verbose = !groups.loudness.empty() && groups.loudness.front() == "--verbose";
  line.quiet = !groups.loudness.empty() && !line.verbose;
  if (settings.batch_size && !line.batch_size_file.empty())
    throw InputError({}, "expected at most one of --batch-size, --batch-size-file");
  if (!line.rows_to.empty() && line.only.empty()) throw InputError({}, "--rows-to: expected --only beside it");
  if (line.only.starts_with("path:"))
    throw InputError({}, "--only=path:... loads Python; a model of one's own is a C++ file with a Registered in it");
  if (line.ci && benches::models::has_statuses(settings.mode))
    settings.repeat = std::min<std::int64_t>(settings.repeat, 2);
  if (line.dashboard && settings.mode == benches::models::Mode::performance) settings.warm_peak_memory = true;
}

/// Words in one spelling as a configuration: options by name, without those that choose models, say where results go or
/// how they are told.
[[nodiscard]] inline benches::models::Configuration configuration_of(const std::vector<std::string>& words) {
  static constexpr std::array<std::string_view, 25> left_out{"--filter",
                                                             "--exclude",
                                                             "--exclude-exact",
                                                             "--suite",
                                                             "--only",
                                                             "--total-partitions",
                                                             "--partition-id",
                                                             "--fast",
                                                             "--no-skip",
                                                             "--output",
                                                             "--output-directory",
                                                             "--disable-output",
                                                             "--retain-output",
                                                             "--resume",
                                                             "--dump-raw-metrics",
                                                             "--print-memory",
                                                             "--print-compilation-time",
                                                             "--print-dataframe-summary",
                                                             "--progress",
                                                             "--verbose",
                                                             "--quiet",
                                                             "--gate",
                                                             "--allow-undecided",
                                                             "--allow-unmeasured",
                                                             "--rows-to"};
  benches::models::Configuration configuration;
  for (const auto& word : words) {
    const std::size_t end = std::min(word.find('='), word.size());
    const std::string name = word.substr(0, end), value = end < word.size() ? word.substr(end + 1) : "";
    if (std::ranges::find(left_out, name) != left_out.end()) continue;
    auto& all = configuration[name];
    all += (all.empty() ? "" : ",") + value;
  }
  return configuration;
}

}  // namespace pace::benches::models
