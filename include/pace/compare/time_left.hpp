// How long a comparison may still take.
#pragma once

#include <limits>
#include <string>

#include "pace/core/run_context.hpp"
#include "pace/core/units.hpp"
#include "pace/timing/clock.hpp"

namespace pace::detail {

/// Until the deadline of the whole program; infinite without one.
[[nodiscard]] inline Nanoseconds time_left(timing::Clock& clock) {
  const auto& deadline = run_context().deadline;
  return deadline ? deadline->time - clock.now() : Nanoseconds(std::numeric_limits<double>::infinity());
}

/// Whose wish the deadline is.
[[nodiscard]] inline std::string deadline_reason() {
  const auto& deadline = run_context().deadline;
  return deadline ? deadline->reason : "";
}

}  // namespace pace::detail
