// Persistence: whether something that was seen is still so after pauses, as what the machine did for a moment is not.
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

/// Asks `holds()` some times in a row, and again after each of some pauses, the last of which is about a second.
/// Returns whether it was true each time; `unknown` if it was until no more of the time that is left, `left()`,
/// remained than the next pause takes. An interruption of a process, by which all tries in a row may take too long, is
/// over after one of the pauses.
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
