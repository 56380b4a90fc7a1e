// The back ends of whole models that pace has, by name, and their options.
#pragma once

#include <algorithm>
#include <array>
#include <string>
#include <string_view>
#include <vector>

namespace pace::benches::models {

struct BackendTraits {
  std::string_view name;
  bool has_script = false;   ///< runs TorchScript, which has fusers
  bool has_package = false;  ///< opens a package that Inductor has compiled
  bool is_graph = false;     ///< is launched as a CUDA graph, of the sizes and by the caller of its capture
  bool has_program = false;  ///< opens a program that torch.export has written, which nothing compiles
};

inline constexpr std::array<BackendTraits, 7> built_in_backends{{
    {"eager"},
    {"torchscript", true},
    {"cuda_graph", false, false, true},
    {"torchscript_cuda_graph", true, false, true},
    {"aot_inductor", false, true},
    {"aot_inductor_cuda_graph", false, true, true},
    {"nativert", false, false, false, true},
}};

/// Returns whether one of `names` is a back end of pace's with that trait.
[[nodiscard]] inline bool any_has(const std::vector<std::string>& names, bool BackendTraits::* trait) {
  return std::ranges::any_of(built_in_backends, [&](const BackendTraits& each) {
    return each.*trait && std::ranges::find(names, each.name) != names.end();
  });
}

/// Returns all names, in the order of the table.
[[nodiscard]] inline std::vector<std::string> names_of_backends() {
  std::vector<std::string> names;
  for (const auto& each : built_in_backends) names.emplace_back(each.name);
  return names;
}

}  // namespace pace::benches::models
