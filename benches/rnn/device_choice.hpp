// Where a program runs that was not told.
#pragma once

#include <optional>
#include <string>

#include <c10/core/Device.h>

#include "benches/aot/device.hpp"

namespace pace::benches::rnn {

/// What was asked for, else the first GPU if there is one that this program can use, else the CPU. Throws InputError.
[[nodiscard]] inline c10::Device choose_device(const std::optional<std::string>& asked) {
  if (asked) return benches::aot::parse_device(*asked);
#ifdef PACE_CUDA
  if (cuda::device_count() > 0) return benches::aot::parse_device("cuda");
#endif
  return c10::kCPU;
}

}  // namespace pace::benches::rnn
