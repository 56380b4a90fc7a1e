// Options that have an effect in some runs only: in the others they are noted or refused, never silently ignored.
#pragma once

#include <algorithm>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "benches/models/asked.hpp"

namespace pace::benches::models {

namespace detail {

/// What becomes of an option that has no effect in this run. Those that have none in torchbench either get a note, and the
/// run goes on; others are refused.
enum class WithoutEffect { noted, refused };

struct Effect {
  std::vector<std::string_view> options;
  bool has_effect;
  WithoutEffect otherwise;
  /// What the command line would have to hold for them to have one.
  const char* expected;
};

[[nodiscard]] inline std::vector<Effect> effects_in(const CommandLine& line, bool given_fuser) {
  using benches::models::Mode;
  using benches::models::Packages;
  using enum WithoutEffect;
  const auto& settings = line.settings;
  const auto is = [&](Mode mode) { return settings.mode == mode; };
  const auto has = [&](std::string_view backend) {
    return std::ranges::find(settings.backends, backend) != settings.backends.end();
  };
  const bool performance = is(Mode::performance), accuracy = is(Mode::accuracy), throughput = is(Mode::throughput);
  const bool one_here = !line.only.empty() && line.packages == Packages::kept && !line.compile_only;
  const bool kept_files = !is(Mode::operator_inputs);
  const bool batch = accuracy || is(Mode::batch_invariance);
  const bool eager_alone = is(Mode::find_batch_size) || is(Mode::operator_inputs);
  return {
      {{"--iterations-per-run", "--randomize-input", "--use-warm-peak-memory", "--dump-raw-metrics", "--baseline",
        "--print-memory", "--print-compilation-time"},
       performance,
       noted,
       "--performance"},
      {{"--repeat"}, performance || throughput, noted, "--performance or --throughput"},
      {{"--iterations", "--cosine"}, accuracy, noted, "--accuracy"},
      {{"--skip-accuracy-check"},
       accuracy || (performance && !settings.compat),
       noted,
       "--accuracy, or --performance without --compat"},
      {{"--use-eval-mode"}, settings.training, noted, "--training"},
      {{"--amp-dtype"}, settings.precision == benches::models::Precision::amp, noted, "--amp"},
      {{"--inductor-config", "--inductor-compile-mode", "--disable-split-reductions", "--disable-persistent-reductions",
        "--disable-divisible-by-16", "--cold-start-latency", "--warm-start-latency"},
       has("aot_inductor") && !eager_alone,
       noted,
       "--backend aot_inductor"},
      {{"--dynamic-batch-only"},
       (has("aot_inductor") || has("torchscript")) && !eager_alone,
       noted,
       "--backend aot_inductor or torchscript"},
      {{"--nnc"}, has("torchscript") && !eager_alone, noted, "--backend torchscript"},
      {{"--filter", "--exclude", "--exclude-exact", "--suite", "--total-partitions", "--partition-id", "--fast",
        "--no-skip"},
       line.only.empty(),
       noted,
       "no --only"},
      {{"--timeout", "--memory-limit", "--progress", "--print-dataframe-summary"},
       !one_here,
       noted,
       "no --only, which runs its model in the program's own process"},
      {{"--backend"}, !eager_alone, noted, "another mode, for this one runs eager alone"},
      {{"--deterministic"}, !batch, noted, "another mode, for this one is deterministic always"},
      {{"--dashboard"}, performance, noted, "--performance"},
      {{"--retain-output", "--resume", "--disable-output"},
       kept_files,
       refused,
       "another mode than --log-operator-inputs, which writes no results"},
      {{"--retain-output", "--dump-raw-metrics"}, !line.output.disabled, refused, "no --disable-output"},
      {{"--output", "--output-directory"},
       !line.output.disabled || !settings.profiler_trace.empty() || !settings.memory_snapshot.empty(),
       refused,
       "no --disable-output, which writes no file there"},
      {{"--nnc"}, !given_fuser, refused, "no --fuser beside it"},
      {{"--batch-size-file"},
       !line.compile_only,
       refused,
       "no --compile-only, which compiles all models for the same --batch-size or for their own"},
      {{"--repeat",
        "--iterations-per-run",
        "--warm-up-iterations",
        "--randomize-input",
        "--use-warm-peak-memory",
        "--collect-outputs",
        "--no-slower-than",
        "--confidence",
        "--alpha",
        "--beta",
        "--max-interference",
        "--callers",
        "--iterations",
        "--cosine",
        "--skip-accuracy-check",
        "--force-max-multiplier",
        "--generation",
        "--save-model-outputs-to",
        "--compare-model-outputs-with",
        "--cold-start-latency",
        "--warm-start-latency",
        "--packages",
        "--nnc",
        "--fuser",
        "--output",
        "--output-directory",
        "--disable-output",
        "--retain-output",
        "--resume",
        "--baseline",
        "--tag",
        "--dump-raw-metrics",
        "--export-profiler-trace",
        "--profiler-trace-name",
        "--snapshot-memory",
        "--print-memory",
        "--print-compilation-time",
        "--print-dataframe-summary",
        "--timeout",
        "--memory-limit",
        "--per-process-memory-fraction",
        "--progress",
        "--gate",
        "--allow-undecided",
        "--allow-unmeasured"},
       !line.compile_only,
       refused,
       "no --compile-only, which runs no model"},
      {{"--resume"}, !one_here, refused, "no --only, which adds a row to the file"},
      {{"--warm-up-iterations"}, performance || throughput, refused, "--performance or --throughput"},
      {{"--confidence", "--max-interference"},
       performance && !settings.compat,
       refused,
       "--performance without --compat"},
      {{"--alpha", "--beta"},
       settings.no_slower_than.has_value(),
       refused,
       "--no-slower-than, whose error rates they are"},
      {{"--collect-outputs"},
       performance && settings.compat,
       refused,
       "--performance and --compat, for pace's own timing keeps the last output of each back end and copies none"},
      {{"--optimizer-on-cpu"},
       settings.training && (performance || accuracy),
       refused,
       "--training with --performance or --accuracy"},
      {{"--callers"}, throughput, refused, "--throughput"},
      {{"--force-max-multiplier", "--generation", "--save-model-outputs-to", "--compare-model-outputs-with"},
       accuracy,
       refused,
       "--accuracy"},
      {{"--packages"}, has("aot_inductor") && !eager_alone, refused, "--backend aot_inductor"},
      {{"--fuser"}, has("torchscript") && !eager_alone, refused, "--backend torchscript"},
  };
}

}  // namespace detail

/// `given`: the options by name, as configuration_of() spells them. Adds notes; throws InputError for what is refused.
inline void heed_effects(CommandLine& line, const std::set<std::string>& given) {
  // The process of one model has the words of the run that started it.
  if (!line.rows_to.empty()) return;
  for (const auto& effect : detail::effects_in(line, given.contains("--fuser"))) {
    if (effect.has_effect) continue;
    for (const auto option : effect.options) {
      if (!given.contains(std::string(option))) continue;
      if (effect.otherwise == detail::WithoutEffect::refused)
        throw InputError({}, std::string(option) + ": expected " + effect.expected);
      line.notes.push_back(std::string(option) + " has no effect here; expected " + effect.expected);
    }
  }
}

}  // namespace pace::benches::models
