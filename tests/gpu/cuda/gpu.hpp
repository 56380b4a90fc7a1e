// The GPU of this test program; a test that asks for it where there is none is skipped.
#pragma once

#include <catch2/catch_test_macros.hpp>

#include <optional>

#include "pace/gpu/cuda/device.hpp"

namespace pace::testing {

[[nodiscard]] inline cuda::CudaDevice& on_gpu() {
  static std::optional<cuda::CudaDevice> device;
  if (!device) {
    try {
      device.emplace();
    } catch (const DeviceMissing& missing) {
      SKIP(missing.what());
    }
  }
  return *device;
}

}  // namespace pace::testing
