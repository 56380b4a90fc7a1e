// The runners of a list by their names.
#pragma once

#include <ostream>
#include <string>
#include <vector>

#include <c10/core/Device.h>

#include "benches/rnn/runners.hpp"
#include "pace/base/error.hpp"
#include "pace/report/text.hpp"

namespace pace::benches::rnn {

/// Throws InputError naming the option that the name was given to, and all names there are.
[[nodiscard]] inline const Runner& find_among(const std::vector<Runner>& all, const std::string& name,
                                              const std::string& option) {
  std::string names;
  for (const auto& each : all) {
    if (each.name == name) return each;
    names += (names.empty() ? "" : ", ") + each.name;
  }
  throw InputError({}, option + ": there is no runner '" + report::printable(name) + "'; expected some of " + names);
}

/// All of `names`. Unless they are listed `by_name`, the ones that need a GPU are left out where there is none, and
/// named on `err`. Throws InputError for a name that there is not.
[[nodiscard]] inline std::vector<const Runner*> choose_runners(const std::vector<Runner>& all,
                                                               const std::vector<std::string>& names, bool by_name,
                                                               const c10::Device& device, const std::string& option,
                                                               std::ostream& err) {
  std::vector<const Runner*> chosen;
  for (const auto& name : names) {
    const Runner& runner = find_among(all, name, option);
    if (by_name || device.is_cuda() || !runner.needs_cuda)
      chosen.push_back(&runner);
    else
      err << name << " is left out: it needs a GPU" << std::endl;
  }
  return chosen;
}

}  // namespace pace::benches::rnn
