// timed: Inductor's stop watch, one reading around a few calls.
#pragma once

#include <functional>

#include "pace/clock/compatible/summary.hpp"

namespace pace::clock::compatible {

struct Timed {
  int times = 1;
  /// Before the first call, outside of its time: the original sets the random seed to 1337.
  std::function<void()> set_seed = {};
  /// Before the first reading of the clock, and after each call, inside of its time.
  std::function<void()> synchronise = {};
};

/// The time of all calls together. No warm-up. `clock` needs now().
template <class C, class F>
[[nodiscard]] Nanoseconds timed(C& clock, F&& function, const Timed& options = {}) {
  detail::call_if_set(options.synchronise);
  detail::call_if_set(options.set_seed);
  const Nanoseconds start = clock.now();
  for (int i = 0; i < options.times; ++i) {
    function();
    detail::call_if_set(options.synchronise);
  }
  return clock.now() - start;
}

}  // namespace pace::clock::compatible
