// What the options --baseline and --save-baseline say.
#pragma once

#include <optional>
#include <string>
#include <vector>

namespace pace::runner {

struct BaselineOptions {
  /// Files to compare with, each of one process; and the file to write.
  std::vector<std::string> compare_with;
  std::string save;
  /// Fails an implementation that is proven to take more than this times its stored time; none: 1.05.
  std::optional<double> margin;
  /// For how many days what is saved may be used; none: report::default_days.
  std::optional<double> days;
  /// Standard deviation between processes, if known.
  std::optional<double> spread;
};

}  // namespace pace::runner
