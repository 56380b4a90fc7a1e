// EnvironmentSettings: the environment variables of this process, which any call may change.
#pragma once

#include <stdlib.h>
#include <unistd.h>

#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace pace::detail {

struct EnvironmentSettings {
  std::map<std::string, std::string> variables = {};

  [[nodiscard]] static EnvironmentSettings now() {
    EnvironmentSettings found;
    for (const char* const* each = environ; each != nullptr && *each != nullptr; ++each) {
      const std::string_view text = *each;
      const auto end = text.find('=');
      if (end == std::string_view::npos || is_of_library(text.substr(0, end))) continue;
      found.variables.emplace(text.substr(0, end), text.substr(end + 1));
    }
    return found;
  }

  /// Appends what differs in `after`, in words.
  void add_changes(const EnvironmentSettings& after, std::vector<std::string>& changes) const {
    for (const auto& [name, value] : after.variables)
      if (const auto found = variables.find(name); found == variables.end() || found->second != value)
        changes.push_back("the environment variable " + name);
    for (const auto& [name, value] : variables)
      if (!after.variables.contains(name)) changes.push_back("the environment variable " + name);
  }

  /// Gives all variables the values that they had.
  void restore() const {
    const auto present = now();
    for (const auto& [name, value] : present.variables)
      if (!variables.contains(name)) (void)::unsetenv(name.c_str());
    for (const auto& [name, value] : variables)
      if (const auto found = present.variables.find(name); found == present.variables.end() || found->second != value)
        (void)::setenv(name.c_str(), value.c_str(), 1);
  }

 private:
  /// Whether a library sets the variable by itself when it is used for the first time: Intel's OpenMP to find a second
  /// copy of itself, LibTorch before it uses CUDA.
  [[nodiscard]] static bool is_of_library(std::string_view name) {
    return name.starts_with("__KMP_REGISTERED_LIB") || name == "CUDA_MODULE_LOADING";
  }
};

}  // namespace pace::detail
