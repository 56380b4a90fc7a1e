// launch_of: the facts of a launch as a value without CUDA's types.
#pragma once

#ifdef PACE_CUDA

#include "pace/gpu/cuda/device.hpp"
#include "pace/gpu/cuda/kernel_node.hpp"
#include "pace/kernels/kernel.hpp"

namespace pace::kernel::detail {

[[nodiscard]] inline Launch launch_of(const cuda::KernelFacts& facts, const cuda::CudaDevice& device) {
  const double threads = static_cast<double>(facts.block[0]) * facts.block[1] * facts.block[2];
  return {.grid = facts.grid,
          .block = facts.block,
          .cluster = facts.cluster,
          .registers = facts.registers,
          .local_bytes = facts.local_bytes,
          .static_shared_bytes = facts.static_shared_bytes,
          .dynamic_shared_bytes = facts.dynamic_shared_bytes,
          .blocks_per_multiprocessor = facts.blocks_per_multiprocessor,
          .occupancy = threads * facts.blocks_per_multiprocessor / device.properties().maxThreadsPerMultiProcessor,
          .cooperative = facts.cooperative,
          .attributes = facts.attributes};
}

}  // namespace pace::kernel::detail

#endif  // PACE_CUDA
