// Persistence: whether an observation still holds after pauses, unlike a disturbance of a moment.
#pragma once

#include <chrono>

#include "pace/base/function_ref.hpp"
#include "pace/base/units.hpp"
#include "pace/timing/clock.hpp"

namespace pace::detail {

/// Whether something persists.
enum class Persistence { persists, passes, unknown };

/// Number of tries in a row, before any pause.
inline constexpr int tries_at_once = 4;

/// Calls `holds()` several times, and again after each of some pauses, the last about a second. Returns whether it was
/// always true; `unknown` if a pause would outlast `left()`. An interruption slows all tries in a row, but is over
/// after a pause.
[[nodiscard]] inline Persistence persistence_of(timing::Clock& clock, FunctionRef<bool()> holds,
                                                FunctionRef<Nanoseconds()> left) {
  constexpr int tries_afterwards = 2;
  constexpr Nanoseconds first_pause = std::chrono::milliseconds(30), last_pause = std::chrono::milliseconds(1000);
  constexpr double growth = 3;
  for (int i = 0; i < tries_at_once; ++i)
    if (!holds()) return Persistence::passes;
  for (Nanoseconds pause = first_pause; pause < last_pause; pause *= growth) {
    if (left() <= pause) return Persistence::unknown;
    clock.pause(pause);
    for (int i = 0; i < tries_afterwards; ++i)
      if (!holds()) return Persistence::passes;
  }
  return Persistence::persists;
}

}  // namespace pace::detail
