// The phases of a comparison: results of their own, about parts of each iteration.
#pragma once

#include <algorithm>
#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "pace/core/result.hpp"
#include "pace/core/units.hpp"

namespace pace::detail {

/// What one phase took, for each implementation that is running, in their order.
struct PhaseSamples {
  std::string name;
  std::vector<std::vector<Nanoseconds>> samples = {};
};

/// A result about one phase: all that is known of the whole, without its figures.
[[nodiscard]] inline Result result_of_phase(const Result& whole, const std::string& phase) {
  Result result = whole;
  result.phases.clear();
  result.phase = phase;
  result.name += '/' + phase;
  // These belong to the whole, and stand there.
  result.notes.clear();
  result.controls.clear();
  for (auto& row : result.implementations) {
    row.context.comparison = result.name;
    row.samples.clear();
    row.figures.clear();
    row.device_memory.reset();
    row.counts.reset();
  }
  return result;
}

/// `visit(result, number)`: of the whole, 0, and of each phase, in the order of their samples.
template <class Visit>
void for_each_part(Result& whole, Visit&& visit) {
  visit(whole, std::size_t{0});
  for (std::size_t i = 0; i < whole.phases.size(); ++i) visit(whole.phases[i], i + 1);
}

}  // namespace pace::detail
