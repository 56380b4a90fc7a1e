// What a run was asked for and where it ran, in result files: by this a later one knows whether it may go on.
#pragma once

#include <map>
#include <string>

namespace pace::report {

/// Everything that must be equal for two runs to be parts of one: options by name, and the machine.
using Configuration = std::map<std::string, std::string>;

/// `--seed: "1" there, '2' here; --dtype: nothing there, 'float32' here` for what a file has and what is asked for now;
/// empty if they are equal.
[[nodiscard]] inline std::string differences(const Configuration& there, const Configuration& here) {
  std::string all;
  const auto value_in = [](const Configuration& side, const std::string& name, char quote) {
    const auto found = side.find(name);
    return found == side.end() ? "nothing" : quote + found->second + quote;
  };
  const auto compare = [&](const std::string& name) {
    if (there.contains(name) && here.contains(name) && there.at(name) == here.at(name)) return;
    all += (all.empty() ? "" : "; ") + name + ": " + value_in(there, name, '"') + " there, " +
           value_in(here, name, '\'') + " here";
  };
  for (const auto& [name, value] : here) compare(name);
  for (const auto& [name, value] : there)
    if (!here.contains(name)) compare(name);
  return all;
}

}  // namespace pace::report
