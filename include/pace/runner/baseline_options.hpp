// Values of the options that concern stored baselines.
#pragma once

#include <optional>
#include <string>
#include <vector>

namespace pace::runner {

/// Values of `--baseline`, `--save-baseline` and the options that belong to them.
struct BaselineOptions {
  /// Results files to compare with, one for each process.
  std::vector<std::string> compare_with;
  std::string save;  ///< results file to write; empty: none
  /// Factor on the stored time; an implementation that is proven to take longer fails. None: 1.05.
  std::optional<double> margin;
  /// How many days the saved file may be used; none: report::default_days.
  std::optional<double> days;
  /// Standard deviation of times between processes, if it is known: 0.01 is 1 %.
  std::optional<double> spread;
};

}  // namespace pace::runner
