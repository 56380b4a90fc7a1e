// Poison in fresh memory: an output that is never written holds it, instead of an earlier, correct result.
#pragma once

#include <atomic>
#include <cstdint>
#include <span>
#include <vector>

#include "pace/check/allocator_hook.hpp"
#include "pace/check/ivalue.hpp"
#include "pace/check/poison_pattern.hpp"

namespace pace::check {

/// Fills all memory that ATen allocates on the CPU with poison, in every thread, for the lifetime of the object.
///
/// Objects may overlap in any order; the destructor of the last one restores the earlier allocator. Memory that was
/// allocated meanwhile stays valid and is freed as usual. LibTorch reads its allocator without a lock: where another
/// thread allocates tensors while the first object is made or the last one is destroyed, it uses either allocator, and
/// both work. Not for timed code, since every allocation writes its memory once. Covers LibTorch's CPU allocator alone,
/// not malloc in a kernel's own code nor other devices.
class PoisonedAllocations {
 public:
  PoisonedAllocations() { detail::AllocatorHook::instance().acquire(purpose()); }
  ~PoisonedAllocations() { detail::AllocatorHook::instance().release(purpose()); }
  PoisonedAllocations(const PoisonedAllocations&) = delete;
  PoisonedAllocations& operator=(const PoisonedAllocations&) = delete;

 private:
  [[nodiscard]] static std::atomic<std::int64_t>& purpose() {
    return detail::AllocatorHook::instance().state().poisoning;
  }
};

/// Leaves poison in the memory that the next allocations probably get: allocates, poisons and frees, for every tensor
/// in `like`, a block of the same size on the same device. No allocator guarantees that it reuses freed memory (glibc
/// returns large blocks to the system, and new ones are zero). Takes about as long as writing that memory once.
inline void poison_free_memory(const c10::IValue& like) {
  const c10::NoGradGuard no_grad;
  std::vector<at::Tensor> blocks;  // all are alive at once; else each could be the same block again
  for_each_tensor(like, [&](const auto& tensor) {
    if (!detail::has_plain_memory(tensor)) return;
    const auto bytes = static_cast<std::int64_t>(tensor.numel() * tensor.element_size());
    blocks.push_back(detail::empty_bytes(bytes, tensor.device()));
    poison_(blocks.back());
  });
}

/// Size and device of a block of memory to poison.
struct FreeBlock {
  std::int64_t bytes = 0;        ///< size of the block
  at::Device device = at::kCPU;  ///< where to allocate it
};

/// As above, for blocks of the given sizes instead of the sizes of tensors, and `copies` of each.
inline void poison_free_memory(std::span<const FreeBlock> free_blocks, int copies = 1) {
  const c10::NoGradGuard no_grad;
  std::vector<at::Tensor> blocks;
  for (int copy = 0; copy < copies; ++copy)
    for (const auto& [bytes, device] : free_blocks) poison_(blocks.emplace_back(detail::empty_bytes(bytes, device)));
  // The last one first, so that an allocator that hands out the last freed block finds them as they were.
  while (!blocks.empty()) blocks.pop_back();
}

}  // namespace pace::check
