// Returns memory that LibTorch's allocator keeps unused to the driver.
#pragma once

#include <ATen/cuda/CUDAGraph.h>
#include <c10/cuda/CUDACachingAllocator.h>
#include <c10/cuda/CUDAGraphsC10Utils.h>
#include <cuda_runtime_api.h>

#include <cstddef>

#include "pace/gpu/cuda/error.hpp"

namespace pace::cuda {

/// Returns unused memory of LibTorch's allocator to the driver: all of it, or one pool's.
///
/// The allocator keeps the pool of a destroyed graph until a tensor outside of a capture finds no memory. Captures,
/// cuBLAS and the driver, which allocate otherwise, would run out of memory before. Has no effect while the current
/// stream is captured, since memory cannot be freed then.
inline void give_back_unused_memory(at::cuda::MempoolId_t pool = {0, 0}) noexcept {
  try {
    if (c10::cuda::currentStreamCaptureStatusMayInitCtx() != c10::cuda::CaptureStatus::None) return;
    c10::cuda::CUDACachingAllocator::emptyCache(pool);
  } catch (...) {  // the device is lost
    static_cast<void>(cudaGetLastError());
  }
}

/// Calls give_back_unused_memory() in its destructor.
class UnusedMemoryGivenBack {
 public:
  UnusedMemoryGivenBack() = default;
  UnusedMemoryGivenBack(const UnusedMemoryGivenBack&) = delete;
  ~UnusedMemoryGivenBack() { give_back_unused_memory(); }
};

/// Returns unused memory to the driver before a capture, if the driver has less free memory than LibTorch's allocator
/// keeps unused.
///
/// A capture takes its memory from a pool of its own and cannot use memory that the allocator keeps, and memory cannot
/// be freed while it lasts. The captured calls have run before in memory that the allocator now keeps, which is an
/// estimate of what the capture needs. Throws as check() does.
inline void make_room_for_capture(c10::DeviceIndex device) {
  constexpr auto all = static_cast<std::size_t>(c10::CachingAllocator::StatType::AGGREGATE);
  const auto stats = c10::cuda::CUDACachingAllocator::getDeviceStats(device);
  const auto kept = static_cast<std::size_t>(stats.reserved_bytes[all].current - stats.allocated_bytes[all].current);
  std::size_t free = 0, total = 0;
  check(cudaMemGetInfo(&free, &total), "asking for free memory");
  if (free < kept) give_back_unused_memory();
}

}  // namespace pace::cuda
