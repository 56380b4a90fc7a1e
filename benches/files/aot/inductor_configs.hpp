// Inductor's configurations that have a name.
#pragma once

#include <algorithm>
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "benches/files/aot/package_key.hpp"
#include "pace/base/error.hpp"

namespace pace::benches::aot {

struct InductorConfig {
  std::string name;
  InductorOptions options;
  /// The same as Python prints them.
  std::string text;
  /// Why LibTorch's Inductor cannot compile so; empty: it can.
  std::string missing = {};
};

/// `halide` and `autotune` come from PyTorch's operatorbench.
[[nodiscard]] inline const std::vector<InductorConfig>& inductor_configs() {
  static const std::vector<InductorConfig> configs = {
      {"halide",
       {{"cpu_backend", "\"halide\""}, {"cuda_backend", "\"halide\""}},
       "{'cpu_backend': 'halide', 'cuda_backend': 'halide'}",
       "Inductor has no Halide to generate code with here (the Python package `halide`), and AOTInductor takes none"},
      {"autotune",
       {{"max_autotune_pointwise", "true"},
        {"max_autotune", "true"},
        {"max_autotune_gemm", "true"},
        {"coordinate_descent_tuning", "true"}},
       "{'max_autotune_pointwise': True, 'max_autotune': True, 'max_autotune_gemm': True, "
       "'coordinate_descent_tuning': True}"},
      {"max_autotune", {{"max_autotune", "true"}}, "{'max_autotune': True}"},
      {"coordinate_descent", {{"coordinate_descent_tuning", "true"}}, "{'coordinate_descent_tuning': True}"},
      // The CPU's vector instructions: 0 for scalar code; without the option the widest that the processor has.
      {"no_simd", {{"cpp.simdlen", "0"}}, "{'cpp.simdlen': 0}"},
      {"simd", {{"cpp.simdlen", "null"}}, "{'cpp.simdlen': None}"},
  };
  return configs;
}

/// Why freezing is refused. Code that was compiled with it (a convolution, a product, a layer norm) differed from that
/// without it in the order of loops at most.
inline constexpr const char* not_frozen =
    "tensors and parameters are inputs of packages, so that there are no constants to fold; expected another option";

namespace detail {

/// `max_autotune=true,cpp.simdlen=0` as a configuration of that name.
[[nodiscard]] inline InductorConfig parse_inductor_options(std::string_view text) {
  InductorConfig config{std::string(text), {}, "{", {}};
  for (std::size_t begin = 0; begin <= text.size();) {
    const std::size_t end = std::min(text.find(',', begin), text.size());
    const std::string_view pair = text.substr(begin, end - begin);
    const std::size_t sign = pair.find('=');
    const std::string name(pair.substr(0, sign));
    std::string value(sign == std::string_view::npos ? "" : pair.substr(sign + 1));
    if (name.empty() || value.empty())
      throw InputError({},
                       "--inductor-config: expected OPTION=VALUE[,OPTION=VALUE...], found '" + std::string(pair) + "'");
    if (name.starts_with("freezing"))
      throw InputError({}, "--inductor-config: '" + std::string(pair) + "' is refused: " + not_frozen);
    // Anything but a number or a word of JSON is a text.
    const bool plain = value == "true" || value == "false" || value == "null" ||
                       value.find_first_not_of("+-.0123456789eE") == std::string::npos;
    if (!plain) value = '"' + value + '"';
    config.text += (config.options.empty() ? "'" : ", '") + name + "': " + value;
    config.options[name] = value;
    begin = end + 1;
  }
  config.text += '}';
  return config;
}

}  // namespace detail

/// By its name, or by Inductor's own options: `max_autotune=true,cpp.simdlen=0`. Throws InputError that lists the
/// names.
[[nodiscard]] inline InductorConfig find_inductor_config(std::string_view name) {
  if (name.find('=') != std::string_view::npos) return detail::parse_inductor_options(name);
  if (name == "freezing") throw InputError({}, std::string("--inductor-config: 'freezing' is refused: ") + not_frozen);
  std::string known;
  for (const auto& config : inductor_configs()) {
    if (config.name == name) return config;
    known += (known.empty() ? "" : ", ") + config.name;
  }
  throw InputError({}, "--inductor-config: expected one of " + known + ", or OPTION=VALUE of Inductor's own; found '" +
                           std::string(name) + "'");
}

/// The name of the back end that compiles with it.
[[nodiscard]] inline std::string backend_of(const std::string& config) { return "aot_inductor[" + config + ']'; }

}  // namespace pace::benches::aot
