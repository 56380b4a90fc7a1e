// What a failure means for the device that it happened on.
#pragma once

#include <utility>

#include "pace/compare/implementation.hpp"
#include "pace/timing/clock.hpp"

namespace pace::detail {

/// LibTorch's own errors do not say whether the device can still be used; the device does.
[[nodiscard]] inline Failure with_device_state(timing::Clock& clock, Failure failure) {
  if (const auto* modes = clock.modes())
    if (failure.device == Failure::Device::fine && !modes->usable()) failure.device = Failure::Device::lost;
  return failure;
}

}  // namespace pace::detail
