// A runner of a list by its name.
#pragma once

#include <string>
#include <vector>

#include "benches/rnn/runners.hpp"
#include "pace/core/error.hpp"

namespace pace::rnn {

/// Throws InputError naming the option that the name was given to, and all names there are.
[[nodiscard]] inline const Runner& find_among(const std::vector<Runner>& all, const std::string& name,
                                              const std::string& option) {
  std::string names;
  for (const auto& each : all) {
    if (each.name == name) return each;
    names += (names.empty() ? "" : ", ") + each.name;
  }
  throw InputError({}, option + ": there is no runner '" + name + "'; expected some of " + names);
}

}  // namespace pace::rnn
