// Where a program runs for which no option names a device.
#pragma once

#include <optional>
#include <string>

#include <c10/core/Device.h>

#include "benches/aot/device.hpp"

namespace pace::benches::rnn {

/// The device of that name; without one the first GPU if there is one that this program can use, else the CPU. Throws
/// InputError.
[[nodiscard]] inline c10::Device choose_device(const std::optional<std::string>& name) {
  if (name) return benches::aot::parse_device(*name);
#ifdef PACE_CUDA
  if (cuda::device_count() > 0) return benches::aot::parse_device("cuda");
#endif
  return c10::kCPU;
}

}  // namespace pace::benches::rnn
