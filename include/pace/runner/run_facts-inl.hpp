// The conditions and the beginning of a run: its environment, its configuration, results of an earlier run.
#pragma once

#include <locale>
#include <ostream>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "pace/base/error.hpp"
#include "pace/base/format.hpp"
#include "pace/base/utf8.hpp"
#include "pace/os/bazel.hpp"
#include "pace/report/configuration.hpp"
#include "pace/report/environment.hpp"
#include "pace/report/variables.hpp"
#include "pace/result/options.hpp"
#include "pace/result/result.hpp"
#include "pace/runner/build_id.hpp"
#include "pace/runner/continuation.hpp"
#include "pace/runner/resume.hpp"
#include "pace/runner/session_call-inl.hpp"
#include "pace/runner/session_config.hpp"
#include "pace/runner/session_options.hpp"
#include "pace/runner/torch_environment.hpp"

namespace pace::runner::detail {

[[nodiscard]] inline report::Environment environment_of(const SessionCall& call) {
  auto environment = report::read_environment(std::vector<std::string>(call.argv, call.argv + call.argc));
  describe_torch(environment.extra);
  // As another GPU, since times differ.
  if (const auto& clock = call.options.lock_gpu_clocks; !clock.empty())
    environment.extra["gpu"] += ", clock locked to " + clock;
  // Code that was not committed differs in nothing else.
  environment.extra["build"] = code_id();
  for (const auto& [key, value] : call.config.environment) environment.extra[key] = value;
  return environment;
}

/// Returns the options and the facts of the machine that a run's figures depend on.
[[nodiscard]] inline Configuration configuration_of(const SessionConfig& config, const SessionOptions& session,
                                                    const report::Environment& environment) {
  Configuration all;
  // Paths in it need not be UTF-8, as the file of an earlier run has them.
  for (const auto& [key, value] : config.configuration()) all.emplace(valid_utf8(key), valid_utf8(value));
  // Options without an entry of the program count as they were given.
  for (const auto& group : config.own_options)
    for (const auto& option : group.options)
      if (const auto given = session.given.values.find(option.name()); given != session.given.values.end())
        all.emplace(option.name(), valid_utf8(joined(given->second, "\n")));
  const Options& options = session.measuring;
  const auto add = [&](const char* name, const auto& value) {
    std::ostringstream text;
    text.imbue(std::locale::classic());
    text << value;
    all.emplace(name, text.str());
  };
  add("--budget", options.budget.count() * 1e-9);
  add("--least-duration", options.least_duration.count() * 1e-9);
  add("--warm-up", options.warm_up.count() * 1e-9);
  add("--max-rounds", options.max_rounds);
  add("--confidence", options.confidence);
  add("--seed", options.seed);
  add("--check-seed", options.check_seed);
  add("--threads", session.threads);
  add("--clock", to_string(options.clock));
  add("--audit", to_string(options.audit));
  add("--operands", to_string(options.operands));
  add("--isolate", to_string(options.isolate));
  add("--stop", to_string(options.stop));
  add("--mode-share", options.mode_share);
  add("--energy", options.energy ? "yes" : "no");
  add("--controls", options.controls ? "yes" : "no");
  if (!options.counters.empty()) add("--counters", joined(options.counters, ","));
  if (session.suite_alpha)
    add("--suite-alpha", *session.suite_alpha);
  else
    add("--alpha", options.alpha);
  add("--beta", options.beta);
  add("--max-interference", options.max_interference);
  // Without isolation a crash or a call that hangs ends the run; with isolation it becomes a row.
  add("--isolation", session.isolation ? "on" : "off");
  add("--call-timeout", session.call_timeout.value_or(default_call_timeout).count() * 1e-9);
  add("the processor", environment.cpu);
  add("LibTorch", environment.extra.at("libtorch"));
  add("what LibTorch uses of the processor", environment.extra.at("libtorch_cpu_capability"));
  add("the build", build_id());
  if (!environment.variables.empty()) add("variables", report::variables_text(environment.variables));
  for (const char* key : {"gpu", "gpu_driver"})
    if (const auto found = environment.extra.find(key); found != environment.extra.end()) add(key, found->second);
  return all;
}

/// Returns the results of an earlier process or run that this one continues, for the beginning of files. With a stored
/// baseline there are none: results are then written when they are published and judged.
[[nodiscard]] inline std::vector<Result> earlier_results(const Continuation& continuation,
                                                         const SessionOptions& options) {
  std::vector<Result> earlier;
  if (options.baseline.compare_with.empty())
    continuation.for_each_known([&](const Result& result) { earlier.push_back(result); });
  return earlier;
}

/// Adds the results of an earlier run to the continuation. Throws InputError if the options or the file do not allow
/// it.
inline void resume(Continuation& continuation, const SessionOptions& options, const Configuration& configuration,
                   std::ostream& errors) {
  if (configuration.empty()) throw InputError({}, "--resume: this program's runs cannot be resumed");
  if (options.json.empty())
    throw InputError({}, "--resume: expected --json FILE beside it, the result file of the run to go on from");
  if (!options.baseline.compare_with.empty() || !options.baseline.save.empty())
    throw InputError({}, "--resume: does not go with --baseline or --save-baseline; expected it without these");
  const std::string path = output_path(options.json);
  auto results = results_to_resume(path, configuration);
  errors << "pace: " << path << ": " << std::to_string(results.size()) << " results of an earlier run are kept\n"
         << std::flush;
  for (auto& result : results) continuation.remember(std::move(result));
}

}  // namespace pace::runner::detail
