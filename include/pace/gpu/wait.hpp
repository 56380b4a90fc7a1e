// wait_for: waits for a moment on the device, but not for ever.
#pragma once

#include <algorithm>
#include <string>

#include "pace/core/format.hpp"
#include "pace/gpu/device.hpp"

namespace pace::gpu {

/// Longest that one sample may take before it counts as never-ending. No gate is worth a longer sample; people kill
/// a test that says nothing for a minute.
inline constexpr Nanoseconds longest_sample = std::chrono::seconds(60);

/// Returns once all that was recorded into `event` has been reached; throws NeverEnded after `limit`, or after the
/// device's own `call_timeout()` if it has one. Asks again and
/// again instead of sleeping: a wake-up costs more than most samples last.
template <Device D>
void wait_for(D& device, const typename D::Event& event, Nanoseconds limit = longest_sample) {
  if (device.finished(event)) return;
  if constexpr (requires { device.call_timeout(); }) limit = std::min(limit, device.call_timeout());
  const Nanoseconds deadline = device.now() + limit;
  while (!device.finished(event))
    if (device.now() > deadline)
      throw NeverEnded("the device did not end what it was given within " + format_time(limit) +
                       "; expected every call to end: does a kernel loop for ever, or wait for something?");
}

}  // namespace pace::gpu
