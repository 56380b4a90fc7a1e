// What a run was asked for and where it ran, in result files: by this a later one knows whether it may go on.
#pragma once

#include <map>
#include <string>

#include <nlohmann/json.hpp>

namespace pace::report {

/// Everything that must be equal for two runs to be parts of one: options by name, and the machine.
using Configuration = std::map<std::string, std::string>;

/// `--seed: "1" there, '2' here; --dtype: nothing there, 'float32' here` for an object of a file and what is asked for
/// now; empty if they are equal.
[[nodiscard]] inline std::string differences(const nlohmann::ordered_json& there, const Configuration& here) {
  std::string all;
  const auto differ = [&](const std::string& name, const std::string& first, const std::string& second) {
    all += (all.empty() ? "" : "; ") + name + ": " + first + " there, " + second + " here";
  };
  for (const auto& [name, value] : here) {
    const auto found = there.find(name);
    if (found == there.end())
      differ(name, "nothing", '\'' + value + '\'');
    else if (*found != value)
      differ(name, found->dump(), '\'' + value + '\'');
  }
  for (const auto& [name, value] : there.items())
    if (!here.contains(name)) differ(name, value.dump(), "nothing");
  return all;
}

}  // namespace pace::report
