// How many gates a bench on a GPU runs.
#pragma once

#include <cstddef>
#include <string>

#include "pace/args/value.hpp"
#include "pace/base/error.hpp"
#include "pace/os/bazel.hpp"

/// Returns the number in the variable PACE_GPU_GATES, or `otherwise` if that is not set or empty. Throws pace::Error
/// unless it is a whole number from 1 to 10,000,000.
[[nodiscard]] inline std::size_t planned_gates(std::size_t otherwise) {
  const std::string asked = pace::environment_variable("PACE_GPU_GATES");
  if (asked.empty()) return otherwise;
  std::size_t gates = 0;
  const auto value = pace::args::whole(gates, 1, 10'000'000);
  if (!value.read(asked))
    throw pace::Error("PACE_GPU_GATES: invalid value '" + asked + "'; expected " + value.expected);
  return gates;
}
