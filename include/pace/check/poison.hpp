// Poison in free memory: an output that is never written then holds poison, not an earlier, correct result.
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
/// Objects may overlap in any order; the last destructor restores the earlier allocator. Memory allocated meanwhile
/// stays valid. LibTorch reads its allocator without a lock: a thread that allocates while the first object is made or
/// the last one destroyed gets either allocator, and both work. Not for timed code, since every allocation writes its
/// memory. Covers only LibTorch's CPU allocator, not malloc in a kernel's code nor other devices.
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

/// Leaves poison in the memory that the next allocations probably get. For every tensor in `like` it allocates, poisons
/// and frees a block of the same size on the same device. No allocator guarantees to reuse it: glibc returns large
/// blocks to the system. Takes about as long as writing that memory once.
inline void poison_free_memory(const c10::IValue& like) {
  const c10::NoGradGuard no_grad;
  std::vector<at::Tensor> blocks;  // all alive at once: otherwise each could be the same block
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
  at::Device device = at::kCPU;  ///< device to allocate it on
};

/// The same for blocks of these sizes, with `copies` of each.
inline void poison_free_memory(std::span<const FreeBlock> free_blocks, int copies = 1) {
  const c10::NoGradGuard no_grad;
  std::vector<at::Tensor> blocks;
  for (int copy = 0; copy < copies; ++copy)
    for (const auto& [bytes, device] : free_blocks) poison_(blocks.emplace_back(detail::empty_bytes(bytes, device)));
  // Backwards, so that an allocator that hands out the last freed block finds them in the same order.
  while (!blocks.empty()) blocks.pop_back();
}

}  // namespace pace::check
