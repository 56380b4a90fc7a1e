// RoundFigures: medians of the rounds, by which the checks after them are measured.
#pragma once

#include <vector>

#include "pace/base/units.hpp"

namespace pace::detail {

/// What the rounds have shown.
struct RoundFigures {
  /// Median speed-ups by implementation of the comparison; 0: unknown.
  std::vector<double> speedups = {};
  /// Those of the phases of a step, by implementation; empty without phases.
  std::vector<std::vector<double>> of_phases = {};
  /// Median time of a call of the baseline, and of its phases; 0: unknown.
  Nanoseconds baseline{};
  std::vector<Nanoseconds> baseline_phases = {};
};

}  // namespace pace::detail
