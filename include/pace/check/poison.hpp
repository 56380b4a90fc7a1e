// Poison in fresh memory, so that an output which nobody writes cannot show an earlier, correct answer.
#pragma once

#include <c10/core/Allocator.h>
#include <c10/core/CPUAllocator.h>

#include <atomic>
#include <cstdint>
#include <deque>
#include <mutex>
#include <span>
#include <vector>

#include "pace/check/ivalue.hpp"
#include "pace/check/poison_pattern.hpp"
#include "pace/core/error.hpp"

namespace pace::check {

namespace detail {

/// Hands out what `base` hands out, poisoned while `on`. Memory is freed by base's own deleter: it may outlive this.
class PoisoningAllocator final : public c10::Allocator {
 public:
  PoisoningAllocator(c10::Allocator* base, const std::atomic<bool>& on) : base_(base), on_(on) {}

  c10::DataPtr allocate(std::size_t bytes) override {
    c10::DataPtr data = base_->allocate(bytes);
    if (data.get() != nullptr && on_.load(std::memory_order_relaxed)) poison_memory(data.mutable_get(), bytes);
    return data;
  }
  [[nodiscard]] bool is_simple_data_ptr(const c10::DataPtr& data) const override {
    return base_->is_simple_data_ptr(data);
  }
  [[nodiscard]] c10::DeleterFnPtr raw_deleter() const override { return base_->raw_deleter(); }
  void copy_data(void* to, const void* from, std::size_t bytes) const override { base_->copy_data(to, from, bytes); }

  [[nodiscard]] c10::Allocator* base() const { return base_; }

 private:
  c10::Allocator* base_;
  // Storages made by this allocator come back to it when they are resized, long after the poisoning ended.
  const std::atomic<bool>& on_;
};

/// The one place that knows whether the CPU allocator is ours at the moment.
class PoisonSwitch {
 public:
  /// Never destroyed: storages keep a pointer to the allocator they came from, for when they are resized.
  [[nodiscard]] static PoisonSwitch& instance() {
    static auto* const only = new PoisonSwitch;
    return *only;
  }

  void acquire() {
    const std::lock_guard lock(mutex_);
    if (depth_ == 0) install();
    ++depth_;
    on_.store(true, std::memory_order_relaxed);
  }

  void release() noexcept {
    const std::lock_guard lock(mutex_);
    if (--depth_ > 0) return;
    on_.store(false, std::memory_order_relaxed);
    // Whoever put another allocator over ours keeps it.
    if (c10::GetCPUAllocator() == current_) c10::SetCPUAllocator(current_->base(), priority_);
  }

 private:
  void install() {
    c10::Allocator* const base = c10::GetCPUAllocator();
    PoisoningAllocator* ours = nullptr;
    for (auto& known : allocators_) {
      if (&known == base) {  // somebody found it in place once, and put it back
        current_ = &known;
        return;
      }
      if (known.base() == base) ours = &known;
    }
    if (ours == nullptr) ours = &allocators_.emplace_back(base, on_);
    // A registration is ignored when its priority is below the present one, which cannot be asked for.
    for (int priority = 0; priority <= 255; ++priority) {
      c10::SetCPUAllocator(ours, static_cast<std::uint8_t>(priority));
      if (c10::GetCPUAllocator() == ours) {
        current_ = ours;
        priority_ = static_cast<std::uint8_t>(priority);
        return;
      }
    }
    throw Error("PoisonedAllocations: LibTorch did not take another CPU allocator");
  }

  std::mutex mutex_;
  std::atomic<bool> on_ = false;
  std::deque<PoisoningAllocator> allocators_;  // one per base; a deque keeps their addresses
  PoisoningAllocator* current_ = nullptr;
  std::uint8_t priority_ = 0;
  std::int64_t depth_ = 0;
};

}  // namespace detail

/// While one of these lives, memory that ATen allocates on the CPU holds poison, in every thread. They nest in any
/// order; the last to go puts the earlier allocator back. What was allocated meanwhile stays valid and is freed as
/// usual. LibTorch reads its allocator without a lock: create and destroy the outermost one while no other thread
/// allocates tensors, or that thread sees either allocator (both work). Not for timed code: it writes all memory once.
/// Only LibTorch's CPU allocator is covered: not malloc in a kernel's own code, nor other devices.
class PoisonedAllocations {
 public:
  PoisonedAllocations() { detail::PoisonSwitch::instance().acquire(); }
  ~PoisonedAllocations() { detail::PoisonSwitch::instance().release(); }
  PoisonedAllocations(const PoisonedAllocations&) = delete;
  PoisonedAllocations& operator=(const PoisonedAllocations&) = delete;
};

/// Leaves poison in the memory that the next allocations will probably get: for every tensor in `like` a block of
/// the same size on the same device is allocated, poisoned and freed. A hint, since no allocator promises to reuse
/// (glibc returns large blocks to the system, and then the next one is zero). Costs about one write of that memory.
inline void poison_free_memory(const c10::IValue& like) {
  const c10::NoGradGuard no_grad;
  std::vector<at::Tensor> blocks;  // all at once, or they would be one block again and again
  for_each_tensor(like, [&](const at::Tensor& tensor) {
    if (!detail::has_plain_memory(tensor)) return;
    const auto bytes = static_cast<std::int64_t>(tensor.numel() * tensor.element_size());
    blocks.push_back(detail::empty_bytes(bytes, tensor.device()));
    poison_(blocks.back());
  });
}

/// The same for CPU memory of known sizes, in bytes, when there is no tensor to go by.
inline void poison_free_memory(std::span<const std::int64_t> sizes) {
  const c10::NoGradGuard no_grad;
  std::vector<at::Tensor> blocks;
  for (const std::int64_t bytes : sizes) poison_(blocks.emplace_back(detail::empty_bytes(bytes, at::kCPU)));
}

}  // namespace pace::check
