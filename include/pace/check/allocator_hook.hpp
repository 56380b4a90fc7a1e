// AllocatorHook: a hook in LibTorch's CPU allocator that poisons and counts allocations.
#pragma once

#include <c10/core/Allocator.h>
#include <c10/core/CPUAllocator.h>

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <unordered_map>
#include <utility>

#include "pace/base/error.hpp"
#include "pace/check/poison_pattern.hpp"

namespace pace::check::detail {

/// Blocks that were taken while something counted. Each has a deleter that finds it here, so that the bytes held at
/// once are known exactly, in whichever thread a block is taken or freed. Blocks outlive the counting; there is one
/// object, which is never destroyed.
class CountedBlocks {
 public:
  [[nodiscard]] static CountedBlocks& instance() {
    static auto* const only = new CountedBlocks;
    return *only;
  }

  /// Begins to count: earlier blocks count neither while they are held nor when they are freed.
  void begin() {
    const std::lock_guard lock(mutex_);
    ++generation_;
    held_ = peak_ = 0;
  }
  /// Most bytes held at once since begin().
  [[nodiscard]] std::int64_t peak() {
    const std::lock_guard lock(mutex_);
    return peak_;
  }

  /// Returns a block of the same memory that gives `base` back when it is freed.
  [[nodiscard]] c10::DataPtr take(c10::DataPtr base, std::size_t bytes) {
    void* const at = base.mutable_get();
    const c10::Device device = base.device();
    const std::lock_guard lock(mutex_);
    Block& block = blocks_[at];
    if (block.base.get() != nullptr) {
      // Freed by the base's own deleter, by a caller of raw_deallocate(): the address would not be here again
      // otherwise.
      static_cast<void>(block.base.release_context());
      forget(block);
    }
    block = {std::move(base), static_cast<std::int64_t>(bytes), generation_};
    held_ += block.bytes;
    peak_ = std::max(peak_, held_);
    return {at, at, &free, device};
  }

  /// Deleter of blocks from take(). Returns whether `at` is one; otherwise nothing was freed.
  static bool free_if_known(void* at) {
    CountedBlocks& all = instance();
    c10::DataPtr base;  // freed after the lock
    const std::lock_guard lock(all.mutex_);
    const auto found = all.blocks_.find(at);
    if (found == all.blocks_.end()) return false;
    all.forget(found->second);
    base = std::move(found->second.base);
    all.blocks_.erase(found);
    return true;
  }

 private:
  struct Block {
    c10::DataPtr base = {};
    std::int64_t bytes = 0, generation = 0;
  };
  static void free(void* at) { static_cast<void>(free_if_known(at)); }
  void forget(const Block& block) {
    if (block.generation == generation_) held_ -= block.bytes;
  }

  std::mutex mutex_;
  std::unordered_map<void*, Block> blocks_;
  std::int64_t held_ = 0, peak_ = 0, generation_ = 0;
};

/// Current users of poisoning and of counting, and the counts so far.
struct HookState {
  std::atomic<std::int64_t> poisoning = 0, counting = 0;
  std::atomic<std::int64_t> allocations = 0, bytes = 0;
};

/// Allocates by `base`. The deleter of `base` frees the memory, which may outlive this allocator; that of a counted
/// block calls it.
class HookingAllocator final : public c10::Allocator {
 public:
  HookingAllocator(c10::Allocator* base, HookState& state, HookingAllocator* older)
      : older(older), base_(base), state_(state) {}

  /// Made before this one; null for the first.
  HookingAllocator* const older;

  c10::DataPtr allocate(std::size_t bytes) override {
    c10::DataPtr data = base_->allocate(bytes);
    if (data.get() == nullptr) return data;
    if (state_.poisoning.load(std::memory_order_relaxed) > 0) poison_memory(data.mutable_get(), bytes);
    if (state_.counting.load(std::memory_order_relaxed) == 0) return data;
    state_.allocations.fetch_add(1, std::memory_order_relaxed);
    state_.bytes.fetch_add(static_cast<std::int64_t>(bytes), std::memory_order_relaxed);
    return CountedBlocks::instance().take(std::move(data), bytes);
  }
  [[nodiscard]] bool is_simple_data_ptr(const c10::DataPtr& data) const override {
    return base_->is_simple_data_ptr(data);
  }
  [[nodiscard]] c10::DeleterFnPtr raw_deleter() const override {
    const auto of_base = base_->raw_deleter();
    if (of_base == nullptr) return nullptr;
    // A deleter has no state: that of the allocator asked last frees blocks that were not counted.
    static std::atomic<c10::DeleterFnPtr> others = nullptr;
    others = of_base;
    return [](void* at) {
      if (!CountedBlocks::free_if_known(at)) others.load()(at);
    };
  }
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
