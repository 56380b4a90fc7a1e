// AllocatorHook: a hook in LibTorch's CPU allocator that poisons and counts allocations.
#pragma once

#include <c10/core/Allocator.h>
#include <c10/core/CPUAllocator.h>

#include <atomic>
#include <cstdint>
#include <mutex>

#include "pace/base/error.hpp"
#include "pace/check/poison_pattern.hpp"

namespace pace::check::detail {

/// Current users of poisoning and of counting, and the counts so far.
struct HookState {
  std::atomic<std::int64_t> poisoning = 0, counting = 0;
  std::atomic<std::int64_t> allocations = 0, bytes = 0;
};

/// Allocates by `base`. The deleter of `base` frees the memory, which may outlive this allocator.
class HookingAllocator final : public c10::Allocator {
 public:
  HookingAllocator(c10::Allocator* base, HookState& state, HookingAllocator* older)
      : older(older), base_(base), state_(state) {}

  /// Made before this one; null for the first.
  HookingAllocator* const older;

  c10::DataPtr allocate(std::size_t bytes) override {
    c10::DataPtr data = base_->allocate(bytes);
    if (data.get() == nullptr) return data;
    if (state_.counting.load(std::memory_order_relaxed) > 0) {
      state_.allocations.fetch_add(1, std::memory_order_relaxed);
      state_.bytes.fetch_add(static_cast<std::int64_t>(bytes), std::memory_order_relaxed);
    }
    if (state_.poisoning.load(std::memory_order_relaxed) > 0) poison_memory(data.mutable_get(), bytes);
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
  // A reference that must stay valid: a storage calls the allocator that made it when resized, also without the hook.
  HookState& state_;
};

/// Installs the hooking allocator for the first user, and removes it after the last.
class AllocatorHook {
 public:
  /// Never destroyed: storages keep a pointer to their allocator, for when they are resized.
  [[nodiscard]] static AllocatorHook& instance() {
    static auto* const only = new AllocatorHook;
    return *only;
  }

  [[nodiscard]] HookState& state() { return state_; }

  /// `purpose` is `poisoning` or `counting` of state().
  void acquire(std::atomic<std::int64_t>& purpose) {
    const std::lock_guard lock(mutex_);
    if (depth_ == 0) install();
    ++depth_;
    ++purpose;
  }

  void release(std::atomic<std::int64_t>& purpose) noexcept {
    const std::lock_guard lock(mutex_);
    --purpose;
    if (--depth_ > 0) return;
    // Leaves an allocator that was installed after the hook.
    if (c10::GetCPUAllocator() == current_) c10::SetCPUAllocator(current_->base(), priority_);
  }

 private:
  void install() {
    c10::Allocator* const base = c10::GetCPUAllocator();
    HookingAllocator* ours = nullptr;
    for (auto* known = newest_; known != nullptr; known = known->older) {
      if (known == base) {  // other code saved the hook while it was installed, and has restored it
        current_ = known;
        return;
      }
      if (known->base() == base) ours = known;
    }
    if (ours == nullptr) ours = newest_ = new HookingAllocator(base, state_, newest_);
    // LibTorch silently ignores a registration with a priority below the present one.
    for (int priority = 0; priority <= 255; ++priority) {
      c10::SetCPUAllocator(ours, static_cast<std::uint8_t>(priority));
      if (c10::GetCPUAllocator() == ours) {
        current_ = ours;
        priority_ = static_cast<std::uint8_t>(priority);
        return;
      }
    }
    throw Error("pace: LibTorch did not take another CPU allocator");
  }

  std::mutex mutex_;
  HookState state_;
  HookingAllocator* newest_ = nullptr;  // one per base, never freed: LibTorch keeps their addresses
  HookingAllocator* current_ = nullptr;
  std::uint8_t priority_ = 0;
  std::int64_t depth_ = 0;
};

}  // namespace pace::check::detail
