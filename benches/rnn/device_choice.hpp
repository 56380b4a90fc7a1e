// Where a program runs if no option names a device.
#pragma once

#include <optional>
#include <string>

#include <c10/core/Device.h>

#include "benches/files/aot/device.hpp"
#include "pace/base/error.hpp"

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

/// The device of that name, without one fastrnns' default, `cuda`. Throws InputError.
[[nodiscard]] inline c10::Device device_of_original(const std::optional<std::string>& name) {
  if (name) return benches::aot::parse_device(*name);
  try {
    return benches::aot::parse_device("cuda");
  } catch (const InputError& error) {
    throw InputError({}, std::string(error.what()) +
                             "; with --compat cuda is the default as in fastrnns; expected --device cpu beside it "
                             "where there is no GPU");
  }
}

}  // namespace pace::benches::rnn
