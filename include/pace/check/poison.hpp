// Poison in fresh memory, so that an output that is not written cannot show an earlier, correct answer.
#pragma once

#include <atomic>
#include <cstdint>
#include <span>
#include <vector>

#include "pace/check/allocator_hook.hpp"
#include "pace/check/ivalue.hpp"
#include "pace/check/poison_pattern.hpp"

namespace pace::check {

/// While one of these lives, memory that ATen allocates on the CPU holds poison, in every thread. They nest in any
/// order; the last to go puts the earlier allocator back. What was allocated meanwhile stays valid and is freed as
/// usual. LibTorch reads its allocator without a lock: create and destroy the outermost one while no other thread
/// allocates tensors, or that thread sees either allocator (both work). Not for timed code: it writes all memory once.
/// Only LibTorch's CPU allocator is covered: not malloc in a kernel's own code, nor other devices.
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

/// Leaves poison in the memory that the next allocations will probably get: for every tensor in `like` a block of
/// the same size on the same device is allocated, poisoned and freed. A hint, since no allocator promises to reuse
/// (glibc returns large blocks to the system, and then the next one is zero). Costs about one write of that memory.
inline void poison_free_memory(const c10::IValue& like) {
  const c10::NoGradGuard no_grad;
  std::vector<at::Tensor> blocks;  // all at once, or they would be one block again and again
  for_each_tensor(like, [&](const auto& tensor) {
    if (!detail::has_plain_memory(tensor)) return;
    const auto bytes = static_cast<std::int64_t>(tensor.numel() * tensor.element_size());
    blocks.push_back(detail::empty_bytes(bytes, tensor.device()));
    poison_(blocks.back());
  });
}

struct FreeBlock {
  std::int64_t bytes = 0;
  at::Device device = at::kCPU;
};

/// The same for memory of known sizes, when there is no tensor to go by.
inline void poison_free_memory(std::span<const FreeBlock> free_blocks) {
  const c10::NoGradGuard no_grad;
  std::vector<at::Tensor> blocks;
  for (const auto& [bytes, device] : free_blocks) poison_(blocks.emplace_back(detail::empty_bytes(bytes, device)));
}

}  // namespace pace::check
