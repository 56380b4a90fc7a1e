// Identity: what must be the same for two times to be comparable.
#pragma once

#include <algorithm>
#include <string>
#include <vector>

#include "pace/core/result.hpp"
#include "pace/report/json.hpp"

namespace pace::report {

/// Keys of the environment in a results file. Hosts of one kind count as one machine, since a CI's hosts change names
/// with every job; the kernel counts, since its scheduler and its mitigations do.
[[nodiscard]] inline const std::vector<std::string>& identity_keys() {
  static const std::vector<std::string> keys{
      "cpu",
      "cores",
      "cpu_quota",
      "governor",
      "turbo",
      "kernel",
      "compiler",
      "build_flags",
      "optimized",
      "libtorch",
      "libtorch_cpu_capability",
      "libtorch_threads",
      "gpu",
      "gpu_driver",
  };
  return keys;
}

/// Keys of a result that must be the same as well: what was measured, and by what.
[[nodiscard]] inline const std::vector<std::string>& measurement_keys() {
  static const std::vector<std::string> keys{"device", "clock", "inputs"};
  return keys;
}

/// In one sentence, which of them differ between two results of one name; empty if none does. `allowed` keys may differ.
[[nodiscard]] inline std::string measurement_differences(const Result& then, const Result& now,
                                                         const std::vector<std::string>& allowed = {}) {
  std::string text;
  const auto compare = [&](const std::string& key, const std::string& before, const std::string& after) {
    if (before == after || std::find(allowed.begin(), allowed.end(), key) != allowed.end()) return;
    text += (text.empty() ? "" : "; ") + key + " was '" + before + "' and is '" + after + '\'';
  };
  compare("device", then.device, now.device);
  compare("clock", then.clock, now.clock);
  compare("inputs", then.inputs, now.inputs);
  return text;
}

/// In one sentence, which of them differ; empty if none does. A key that one side does not have counts as null, except
/// that two files without it agree. `allowed` keys may differ.
[[nodiscard]] inline std::string differences(const report::Json& then, const report::Json& now,
                                             const std::vector<std::string>& allowed = {}) {
  std::string text;
  const auto value = [](const report::Json& environment, const std::string& key) {
    return environment.contains(key) ? environment.at(key) : report::Json(nullptr);
  };
  for (const auto& key : identity_keys()) {
    if (std::find(allowed.begin(), allowed.end(), key) != allowed.end()) continue;
    const auto before = value(then, key), after = value(now, key);
    if (before == after) continue;
    const auto dump = [](const report::Json& json) {
      return json.dump(-1, ' ', false, report::Json::error_handler_t::replace);
    };
    text += (text.empty() ? "" : "; ") + key + " was " + dump(before) + " and is " + dump(after);
  }
  return text;
}

}  // namespace pace::report
