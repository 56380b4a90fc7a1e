// The beginning of a bench on a GPU.
#pragma once

#include <catch2/catch_test_macros.hpp>

#include "pace/gpu/cuda/device.hpp"

/// Skips the test, with the reason, on a machine without a GPU.
inline void needs_gpu() {
  try {
    const pace::cuda::CudaDevice device;
  } catch (const pace::DeviceMissing& missing) {
    SKIP(missing.what());
  }
}
