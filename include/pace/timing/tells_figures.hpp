// TellsFigures: what a comparison needs of a clock that can time the same calls in several ways.
#pragma once

#include <concepts>

#include "pace/timing/clock.hpp"
#include "pace/core/options.hpp"

namespace pace::timing {

/// `select` chooses the way; `usable()` is whether the device still answers, and does not wait for it; `forget()` frees
/// what was kept for calls that will not come back.
template <class C>
concept TellsFigures = Clock<C> && requires(C& clock, ClockChoice figure) {
  clock.select(figure);
  { clock.selected() } -> std::same_as<ClockChoice>;
  { clock.usable() } -> std::same_as<bool>;
  clock.forget();
};

}  // namespace pace::timing
