// Options that have an effect in some runs only, and their conditions.
#pragma once

#include <algorithm>
#include <vector>

#include "benches/models/backend_names.hpp"
#include "benches/models/command_line.hpp"
#include "benches/models/driver/names.hpp"
#include "benches/models/settings.hpp"
#include "pace/args/command_line.hpp"
#include "pace/base/error.hpp"

namespace pace::benches::models::detail {

struct Effect {
  /// Names with blanks between them.
  const char* options;
  bool has_effect;
  /// The command line that would give them an effect.
  const char* expected;
};

using Effects = std::vector<Effect>;

/// Options that need a mode.
[[nodiscard]] inline Effects effects_of_mode(const Settings& settings) {
  const bool performance = settings.mode == Mode::performance, accuracy = settings.mode == Mode::accuracy;
  const bool throughput = settings.mode == Mode::throughput;
  const bool trains = settings.training && (performance || accuracy);
  const bool deterministic = accuracy || settings.mode == Mode::batch_invariance;
  return {
      {"--iterations-per-run --randomize-input --use-warm-peak-memory --dump-raw-metrics --baseline --print-memory "
       "--print-compilation-time --dashboard",
       performance, "--performance"},
      {"--repeat --warm-up-iterations", performance || throughput, "--performance or --throughput"},
      {"--iterations --cosine --force-max-multiplier --generation --save-model-outputs-to --compare-model-outputs-with",
       accuracy, "--accuracy"},
      {"--skip-accuracy-check", accuracy || (performance && !settings.compat),
       "--accuracy, or --performance without --compat"},
      {"--use-eval-mode", settings.training, "--training"},
      {"--amp-dtype", settings.precision == Precision::amp, "--amp"},
      {"--tf32", !deterministic && !settings.deterministic,
       "no --deterministic, nor a mode that is, for they have no TF32"},
      {"--deterministic", !deterministic, "another mode, for this one is deterministic always"},
      {"--retain-output --resume --disable-output", settings.mode != Mode::operator_inputs,
       "another mode than --log-operator-inputs, which writes no results"},
      {"--json --html", (performance && !settings.compat) || has_statuses(settings.mode),
       "--performance without --compat, or --accuracy"},
      {"--confidence --max-interference --audit", performance && !settings.compat, "--performance without --compat"},
      {"--alpha --beta", settings.no_slower_than.has_value(), "--no-slower-than, whose error rates they are"},
      {"--collect-outputs", performance && settings.compat,
       "--performance and --compat, for pace's own timing keeps the last output of each back end and copies none"},
      {"--optimizer-on-cpu --optimizer-code", trains, "--training with --performance or --accuracy"},
      {"--callers", throughput, "--throughput"},
  };
}

/// Options that need a back end.
[[nodiscard]] inline Effects effects_of_backends(const CommandLine& line, const args::Arguments& arguments) {
  const auto& settings = line.settings;
  const bool eager_alone = runs_eager_alone(settings.mode);
  const auto any = [&](bool BackendTraits::* trait) { return !eager_alone && any_has(settings.backends, trait); };
  const bool packages = any(&BackendTraits::has_package), scripts = any(&BackendTraits::has_script);
  const bool kept = packages || any(&BackendTraits::has_program);
  const bool trains = settings.training && (settings.mode == Mode::performance || settings.mode == Mode::accuracy);
  return {
      {"--inductor-config --inductor-compile-mode --disable-split-reductions --disable-persistent-reductions "
       "--disable-divisible-by-16 --freezing",
       packages, "--backend aot_inductor"},
      {"--cold-start-latency --warm-start-latency --packages", kept, "--backend aot_inductor or nativert"},
      {"--dynamic-batch-only", packages || scripts || (kept && !line.models.empty()),
       "--backend aot_inductor or torchscript, or nativert with a file of torch.export as --model"},
      {"--nnc --fuser", scripts, "--backend torchscript"},
      {"--backend", !eager_alone, "another mode, for this one runs eager alone"},
      {"--nnc", !arguments.has("--fuser"), "no --fuser beside it"},
      {"--compile-optimizer", trains && packages && settings.optimizer_code == "foreach",
       "--training with --performance or --accuracy, --backend aot_inductor, and --optimizer-code foreach"},
  };
}

/// Options that others leave without an effect.
[[nodiscard]] inline Effects effects_beside_others(const CommandLine& line) {
  const auto& settings = line.settings;
  const bool one_here = !line.only.empty() && line.packages == Packages::kept && !line.compile_only;
  const bool may_use_gpu =
      line.devices.empty() || std::ranges::any_of(line.devices, [](const auto& each) { return each != "cpu"; });
  return {
      {"--tf32 --per-process-memory-fraction", may_use_gpu, "--device cuda, since a CPU has neither"},
      {"--filter --exclude --exclude-exact --suite --total-partitions --partition-id --fast --no-skip",
       line.only.empty(), "no --only"},
      {"--filter --exclude --exclude-exact --suite --total-partitions --partition-id --fast", line.models.empty(),
       "no --model, which chooses models itself"},
      {"--timeout --memory-limit --progress --print-dataframe-summary", !one_here,
       "no --only, which runs its model in the program's own process"},
      {"--resume", !one_here, "no --only, which adds a row to the file"},
      {"--retain-output --dump-raw-metrics", !line.output.disabled, "no --disable-output"},
      {"--output --output-directory",
       !line.output.disabled || !settings.profiler_trace.empty() || !settings.memory_snapshot.empty(),
       "no --disable-output, which writes no file there"},
      {"--batch-size-file", !line.compile_only,
       "no --compile-only, which compiles all models for the same --batch-size or for their own"},
      {"--repeat --iterations-per-run --warm-up-iterations --randomize-input --use-warm-peak-memory --collect-outputs "
       "--no-slower-than --peak-memory-at-most --confidence --alpha --beta --max-interference --audit --callers "
       "--iterations --cosine --skip-accuracy-check --force-max-multiplier --generation --save-model-outputs-to "
       "--compare-model-outputs-with "
       "--cold-start-latency --warm-start-latency --packages --nnc --fuser --disable-output --retain-output --resume "
       "--json --html --baseline --tag --dump-raw-metrics --export-profiler-trace --profiler-trace-name "
       "--snapshot-memory --print-memory --print-compilation-time --print-dataframe-summary --timeout --memory-limit "
       "--per-process-memory-fraction --progress --gate --allow-undecided --allow-unmeasured",
       !line.compile_only, "no --compile-only, which runs no model"},
      {"--json --html", !line.resume && !line.retain,
       "no --resume and no --retain-output, for the comparisons of an earlier run would be missing"},
  };
}

/// Throws InputError for an option that has no effect in this run.
inline void refuse_without_effect(const CommandLine& line, const args::Arguments& arguments) {
  // The process of one model has the words of the run that started it.
  if (!line.rows_to.empty()) return;
  for (const auto& effects :
       {effects_of_mode(line.settings), effects_of_backends(line, arguments), effects_beside_others(line)})
    for (const auto& effect : effects)
      for (const auto& option : words_in(effect.options))
        if (!effect.has_effect && arguments.has(option))
          throw InputError({}, option + " has no meaning here; expected " + effect.expected);
}

}  // namespace pace::benches::models::detail
