// What LibTorch's allocator keeps though nothing uses it, given back to the driver.
#pragma once

#include <ATen/cuda/CUDAGraph.h>
#include <c10/cuda/CUDACachingAllocator.h>
#include <c10/cuda/CUDAGraphsC10Utils.h>
#include <cuda_runtime_api.h>

#include <cstddef>

#include "pace/gpu/cuda/error.hpp"

namespace pace::cuda {

/// All of it, or that of one pool. The pool of a graph that is gone stays with the allocator until a tensor finds no
/// memory outside of any capture; captures, cuBLAS and the driver, which do not ask the allocator, run out before.
/// Does nothing while the current stream is captured, when memory cannot be given back.
inline void give_back_unused_memory(at::cuda::MempoolId_t pool = {0, 0}) noexcept {
  try {
    if (c10::cuda::currentStreamCaptureStatusMayInitCtx() != c10::cuda::CaptureStatus::None) return;
    c10::cuda::CUDACachingAllocator::emptyCache(pool);
  } catch (...) {  // of a device that is lost
    static_cast<void>(cudaGetLastError());
  }
}

/// When this goes, at the end of a scope.
class UnusedMemoryGivenBack {
 public:
  UnusedMemoryGivenBack() = default;
  UnusedMemoryGivenBack(const UnusedMemoryGivenBack&) = delete;
  ~UnusedMemoryGivenBack() { give_back_unused_memory(); }
};

/// Before a capture: its memory comes from a pool of the graph's own, so that what the allocator keeps is of no use to
/// it, and while it goes on nothing can be given back. What is captured has run before, in what is kept by now; if the
/// driver has less than that, it gets it back.
inline void make_room_for_capture(c10::DeviceIndex device) {
  constexpr auto all = static_cast<std::size_t>(c10::CachingAllocator::StatType::AGGREGATE);
  const auto stats = c10::cuda::CUDACachingAllocator::getDeviceStats(device);
  const auto kept = static_cast<std::size_t>(stats.reserved_bytes[all].current - stats.allocated_bytes[all].current);
  std::size_t free = 0, total = 0;
  check(cudaMemGetInfo(&free, &total), "asking for free memory");
  if (free < kept) give_back_unused_memory();
}

}  // namespace pace::cuda
