// RoundFigures: medians of the rounds, as the checks after them need them.
#pragma once

#include <vector>

#include "pace/base/units.hpp"

namespace pace::detail {

/// Medians of the rounds.
struct RoundFigures {
  /// Median speed-up of each implementation of the comparison; 0: unknown.
  std::vector<double> speedups = {};
  /// Median speed-ups of a step's phases, by implementation; empty without phases.
  std::vector<std::vector<double>> of_phases = {};
  /// Median time of a baseline call, and of its phases; 0: unknown.
  Nanoseconds baseline{};
  std::vector<Nanoseconds> baseline_phases = {};
};

}  // namespace pace::detail
