// Inductor's configurations that operatorbench knows by a name.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "pace/core/error.hpp"

namespace pace::families::operators::compat {

struct InductorConfig {
  std::string name;
  /// Options of Inductor, each with its value as JSON.
  std::map<std::string, std::string> options;
  /// The same as Python prints them.
  std::string text;
};

[[nodiscard]] inline const std::vector<InductorConfig>& inductor_configs() {
  static const std::vector<InductorConfig> configs = {
      {"halide",
       {{"cpu_backend", "\"halide\""}, {"cuda_backend", "\"halide\""}},
       "{'cpu_backend': 'halide', 'cuda_backend': 'halide'}"},
      {"autotune",
       {{"max_autotune_pointwise", "true"},
        {"max_autotune", "true"},
        {"max_autotune_gemm", "true"},
        {"coordinate_descent_tuning", "true"}},
       "{'max_autotune_pointwise': True, 'max_autotune': True, 'max_autotune_gemm': True, "
       "'coordinate_descent_tuning': True}"},
  };
  return configs;
}

/// Throws InputError that lists the names.
[[nodiscard]] inline const InductorConfig& find_inductor_config(std::string_view name) {
  std::string known;
  for (const auto& config : inductor_configs()) {
    if (config.name == name) return config;
    known += (known.empty() ? "" : ", ") + config.name;
  }
  throw InputError({}, "--inductor-config: expected one of " + known + "; found '" + std::string(name) + "'");
}

/// The name of the back end that compiles with it.
[[nodiscard]] inline std::string backend_of(const std::string& config) { return "aot_inductor[" + config + ']'; }

}  // namespace pace::families::operators::compat
