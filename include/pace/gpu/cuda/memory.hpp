// Device memory that calls take, by the statistics of LibTorch's allocator.
#pragma once

#include <c10/cuda/CUDACachingAllocator.h>
#include <c10/cuda/CUDAFunctions.h>

#include <cstddef>
#include <cstdint>
#include <vector>

#include "pace/gpu/cuda/device.hpp"
#include "pace/result/result.hpp"

namespace pace::cuda {

namespace detail {

inline constexpr auto all_pools = static_cast<std::size_t>(c10::CachingAllocator::StatType::AGGREGATE);

}  // namespace detail

/// Allocations by LibTorch's allocator on all GPUs since the program started.
struct AllocationsSoFar {
  std::int64_t count = 0;  ///< number of blocks
  std::int64_t bytes = 0;  ///< requested bytes; the blocks may be larger, depending on which ones are free
};
/// Returns the allocations so far.
[[nodiscard]] inline AllocationsSoFar allocations_so_far() {
  AllocationsSoFar sum;
  if (!c10::cuda::CUDACachingAllocator::get()->initialized()) return sum;
  for (c10::DeviceIndex device = 0; device < c10::cuda::device_count(); ++device) {
    const auto stats = c10::cuda::CUDACachingAllocator::getDeviceStats(device);
    sum.count += stats.allocation[detail::all_pools].allocated;
    sum.bytes += stats.requested_bytes[detail::all_pools].allocated;
  }
  return sum;
}

/// Bytes held of LibTorch's allocator on all GPUs together, each at its own peak, as callers requested them.
class PeakOfAllocations {
 public:
  /// Begins to look, and resets the peak statistics of the allocator.
  PeakOfAllocations() {
    if (!c10::cuda::CUDACachingAllocator::get()->initialized()) return;
    for (c10::DeviceIndex device = 0; device < c10::cuda::device_count(); ++device) {
      c10::cuda::CUDACachingAllocator::resetPeakStats(device);
      before_.push_back(requested(device).current);
    }
  }
  /// The most since the construction, beyond what was held then.
  [[nodiscard]] std::int64_t bytes() const {
    std::int64_t sum = 0;
    for (std::size_t device = 0; device < before_.size(); ++device)
      sum += requested(static_cast<c10::DeviceIndex>(device)).peak - before_[device];
    return sum;
  }

 private:
  [[nodiscard]] static c10::CachingAllocator::Stat requested(c10::DeviceIndex device) {
    return c10::cuda::CUDACachingAllocator::getDeviceStats(device).requested_bytes[detail::all_pools];
  }
  std::vector<std::int64_t> before_;
};

/// Measures the device memory of one call of `call()`, whose result is kept alive until the memory has been read.
/// Resets the peak statistics of LibTorch's allocator.
template <class F>
[[nodiscard]] DeviceMemory measure_memory(CudaDevice& device, F&& call) {
  namespace allocator = c10::cuda::CUDACachingAllocator;
  device.synchronise();
  allocator::resetPeakStats(device.index());
  const auto before = allocator::getDeviceStats(device.index());
  {
    [[maybe_unused]] const auto result = [&] {
      if constexpr (std::is_void_v<decltype(call())>)
        return call(), 0;
      else
        return call();
    }();
    device.synchronise();
  }
  const auto after = allocator::getDeviceStats(device.index());
  return {.peak = after.allocated_bytes[detail::all_pools].peak - before.allocated_bytes[detail::all_pools].current,
          .reserved = after.reserved_bytes[detail::all_pools].peak - before.reserved_bytes[detail::all_pools].current,
          .allocations = after.allocation[detail::all_pools].allocated - before.allocation[detail::all_pools].allocated,
          .driver_allocations = after.num_device_alloc - before.num_device_alloc};
}

}  // namespace pace::cuda
