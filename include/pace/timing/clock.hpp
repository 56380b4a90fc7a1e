// Clock: what a measuring loop needs of a clock. The wall clock, a fake one in tests, and device clocks satisfy it.
#pragma once

#include <concepts>
#include <string>

#include "pace/core/units.hpp"

namespace pace::timing {

/// `time(body)` runs `body()` once and returns how long it took on the device that the clock watches.
/// `now()` is the host's time since some fixed point: budgets and caps are kept by it.
/// `resolution()` is the smallest difference that `time` can tell from zero.
template <class C>
concept Clock = requires(C& clock, void (*body)()) {
  { clock.time(body) } -> std::same_as<Nanoseconds>;
  { clock.now() } -> std::same_as<Nanoseconds>;
  { clock.resolution() } -> std::same_as<Nanoseconds>;
  { clock.name() } -> std::convertible_to<std::string>;
};

}  // namespace pace::timing
