// How much of a GPU's memory a run may take.
#pragma once

#include <string>

#include <c10/core/Device.h>

#include "pace/base/error.hpp"

#ifdef PACE_CUDA
#include <c10/cuda/CUDACachingAllocator.h>
#endif

namespace pace::benches::models {

/// torchbench's --per_process_memory_fraction: LibTorch's allocator hands out no more than that share of the GPU's
/// memory until the scope ends; code that asks for more runs out of memory.
class MemoryFraction {
 public:
  /// Throws InputError unless 0 < fraction <= 1, and for less than 1 where there is no GPU to have a share of.
  MemoryFraction(c10::Device device, double fraction) : device_(device), limits_(fraction < 1) {
    if (!(fraction > 0 && fraction <= 1))
      throw InputError({}, "the memory fraction must be above 0 and at most 1, found " + std::to_string(fraction));
    if (!limits_) return;
    if (!device.is_cuda()) throw InputError({}, "a memory fraction is one of a GPU's memory; expected --device cuda");
#ifdef PACE_CUDA
    // The allocator would hand out an earlier run's memory beyond the limit.
    c10::cuda::CUDACachingAllocator::emptyCache();
    c10::cuda::CUDACachingAllocator::setMemoryFraction(fraction, device.index());
#else
    throw InputError({}, "this program was built without CUDA: build it with --config=cuda");
#endif
  }
  MemoryFraction(const MemoryFraction&) = delete;
  MemoryFraction& operator=(const MemoryFraction&) = delete;
  ~MemoryFraction() {
#ifdef PACE_CUDA
    if (limits_) c10::cuda::CUDACachingAllocator::setMemoryFraction(1, device_.index());
#endif
  }

 private:
  c10::Device device_;
  bool limits_;
};

}  // namespace pace::benches::models
