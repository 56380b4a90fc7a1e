// wait_for: waits for an event on the device, for a limited time.
#pragma once

#include <algorithm>
#include <string>

#include "pace/base/format.hpp"
#include "pace/gpu/device.hpp"

namespace pace::gpu {

/// Longest time of one sample, after which it counts as never-ending. A test without output for a minute would often be
/// killed by hand.
inline constexpr Nanoseconds longest_sample = std::chrono::seconds(60);

/// Waits until the device has reached `event`. Throws NeverEnded after `limit`, or after the device's `call_timeout()`
/// if it has one and that is shorter. Polls the device instead of sleeping, since a wake-up takes longer than most
/// samples.
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
