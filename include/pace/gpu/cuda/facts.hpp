// Facts about a GPU that can be read without running anything on it.
#pragma once

#include <c10/core/Device.h>
#include <c10/cuda/CUDACachingAllocator.h>
#include <c10/cuda/CUDAFunctions.h>
#include <cuda_runtime_api.h>

#include <cstdint>
#include <string>

#include "pace/gpu/cuda/error.hpp"

namespace pace::cuda {

/// Number of GPUs that are visible to this process; 0 without a driver.
[[nodiscard]] inline int device_count() { return c10::cuda::device_count(); }

/// Name and compute capability, such as `NVIDIA H200, compute capability 9.0`. Throws DeviceMissing if there is no such
/// GPU.
[[nodiscard]] inline std::string device_name(c10::DeviceIndex index) {
  cudaDeviceProp properties{};
  check(cudaGetDeviceProperties(&properties, index), "asking for the device's properties");
  return std::string(properties.name) + ", compute capability " + std::to_string(properties.major) + '.' +
         std::to_string(properties.minor);
}

/// Bytes that LibTorch can still allocate on the GPU: the driver's free memory, and memory that LibTorch's allocator
/// keeps unused. Makes the GPU the current device. Throws DeviceMissing if there is no such GPU.
[[nodiscard]] inline std::int64_t available_memory(c10::DeviceIndex index) {
  check(cudaSetDevice(index), "choosing the device");
  std::size_t available = 0, total = 0;
  check(cudaMemGetInfo(&available, &total), "asking for the device's memory");
  namespace allocator = c10::cuda::CUDACachingAllocator;
  std::int64_t kept = 0;
  if (allocator::get()->initialized()) {
    const auto stats = allocator::getDeviceStats(index);
    constexpr auto all = static_cast<std::size_t>(c10::CachingAllocator::StatType::AGGREGATE);
    kept = stats.reserved_bytes[all].current - stats.allocated_bytes[all].current;
  }
  return static_cast<std::int64_t>(available) + kept;
}

}  // namespace pace::cuda
