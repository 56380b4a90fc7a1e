// time_left: the time left for a comparison.
#pragma once

#include <limits>
#include <string>

#include "pace/base/units.hpp"
#include "pace/run/run_context.hpp"
#include "pace/timing/clock.hpp"

namespace pace::detail {

/// Time until the deadline of the whole program; infinite without one.
[[nodiscard]] inline Nanoseconds time_left(timing::Clock& clock) {
  const auto& deadline = run_context().deadline;
  return deadline ? deadline->time - clock.now() : Nanoseconds(std::numeric_limits<double>::infinity());
}

/// Source of the deadline (RunContext::Deadline::reason); empty without one.
[[nodiscard]] inline std::string deadline_reason() {
  const auto& deadline = run_context().deadline;
  return deadline ? deadline->reason : "";
}

}  // namespace pace::detail
