// The memory of a GPU that LibTorch's allocator has given to tensors and to captured calls.
#pragma once

#include <ATen/cuda/CUDAGraph.h>
#include <c10/cuda/CUDACachingAllocator.h>

#include <utility>
#include <vector>

#include "pace/gpu/memory_region.hpp"

namespace pace::cuda {

/// Returns the memory that tensors hold on the GPU of this number, one region for each allocation, in the order of
/// addresses. Throws c10::Error if LibTorch uses an allocator that cannot list its memory, as CUDA's own is.
[[nodiscard]] inline std::vector<gpu::MemoryRegion> held_memory(c10::DeviceIndex device) {
  return gpu::held_regions(c10::cuda::CUDACachingAllocator::snapshot({0, 0}, false).segments, device);
}

/// Returns the memory that a kernel of a graph can write to, in as few regions as possible: what tensors hold, and the
/// whole memory of `pool`, in which the graph was captured. Throws as held_memory() does.
[[nodiscard]] inline std::vector<gpu::MemoryRegion> memory_of_graph(c10::DeviceIndex device,
                                                                    at::cuda::MempoolId_t pool) {
  const auto segments = c10::cuda::CUDACachingAllocator::snapshot({0, 0}, false).segments;
  auto regions = gpu::held_regions(segments, device);
  for (const auto& segment : segments)
    if (segment.device == device && segment.owner_private_pool_id == pool)
      regions.push_back({segment.address, segment.total_size});
  return gpu::joined(std::move(regions));
}

}  // namespace pace::cuda
