// What a failure means for the device that it happened on.
#pragma once

#include <utility>

#include "pace/timing/tells_figures.hpp"
#include "pace/compare/implementation.hpp"

namespace pace::detail {

/// LibTorch's own errors do not say whether the device can still be used; the device does.
template <timing::Clock C>
[[nodiscard]] Failure with_device_state(const C& clock, Failure failure) {
  if constexpr (timing::TellsFigures<C>)
    if (failure.device == Failure::Device::fine && !clock.usable()) failure.device = Failure::Device::lost;
  return failure;
}

}  // namespace pace::detail
