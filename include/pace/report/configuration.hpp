// Options and machine of a run, as result files store them: `--resume` goes on only where they are equal.
#pragma once

#include <map>
#include <string>

namespace pace::report {

/// Options by name, and facts of the machine, that must be equal for one run to continue another.
using Configuration = std::map<std::string, std::string>;

/// Returns the entries that differ between a file and this run, such as
/// `--seed: "1" there, '2' here; --dtype: nothing there, 'float32' here`; the text is empty if none does.
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
