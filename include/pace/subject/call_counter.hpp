// CallCounter: exact counts of one call's operators and memory, so that gates on them have no noise.
#pragma once

#include <ATen/record_function.h>

#include <atomic>
#include <cstdint>
#include <memory>

#include "pace/check/allocator_hook.hpp"
#include "pace/result/result.hpp"
#ifdef PACE_CUDA
#include "pace/gpu/cuda/memory.hpp"
#endif

namespace pace::detail {

/// Counts from construction on, in all threads. Counts operators that go through LibTorch's dispatcher, but not those
/// they call, which differ between versions. Counts memory of LibTorch's allocators on CPU and GPU, but not a kernel's
/// malloc. The peak is that of blocks taken meanwhile; a GPU's is less where the call frees blocks from before. Not for
/// timed code. One at a time.
class CallCounter {
 public:
  CallCounter() {
    auto& memory = check::detail::AllocatorHook::instance();
    memory.acquire(memory.state().counting);
    operators() = 0;
    memory.state().allocations = 0;
    memory.state().bytes = 0;
    check::detail::CountedBlocks::instance().begin();
    device_before_ = device_allocations();
    handle_ = at::addGlobalCallback(at::RecordFunctionCallback(&enter, &leave));
  }
  ~CallCounter() {
    at::removeCallback(handle_);
    auto& memory = check::detail::AllocatorHook::instance();
    memory.release(memory.state().counting);
  }
  CallCounter(const CallCounter&) = delete;
  CallCounter& operator=(const CallCounter&) = delete;

  [[nodiscard]] CallCounts counts() const {
    const auto& memory = check::detail::AllocatorHook::instance().state();
    const auto device = device_allocations();
    return {operators(), memory.allocations + device.count - device_before_.count,
            memory.bytes + device.bytes - device_before_.bytes,
            check::detail::CountedBlocks::instance().peak() + device_peak()};
  }

 private:
  struct Allocations {
    std::int64_t count = 0, bytes = 0;
  };
  /// On the GPUs that this process uses, since it started.
  [[nodiscard]] static Allocations device_allocations() {
#ifdef PACE_CUDA
    const auto [count, bytes] = cuda::allocations_so_far();
    return {count, bytes};
#else
    return {};
#endif
  }
  /// Most bytes held at once on each GPU, added up.
  [[nodiscard]] std::int64_t device_peak() const {
#ifdef PACE_CUDA
    return device_peak_.bytes();
#else
    return 0;
#endif
  }
  [[nodiscard]] static std::atomic<std::int64_t>& operators() {
    static std::atomic<std::int64_t> count = 0;
    return count;
  }
  /// How many nested operators this thread is in.
  [[nodiscard]] static int& depth() {
    thread_local int depth = 0;
    return depth;
  }
  // Not by the callback's own choice of scopes, which costs the compiler a hash table.
  [[nodiscard]] static bool is_operator(const at::RecordFunction& called) {
    return called.scope() == at::RecordScope::FUNCTION;
  }
  static std::unique_ptr<at::ObserverContext> enter(const at::RecordFunction& called) {
    if (is_operator(called) && depth()++ == 0) operators().fetch_add(1, std::memory_order_relaxed);
    return nullptr;
  }
  static void leave(const at::RecordFunction& called, at::ObserverContext*) {
    if (is_operator(called)) --depth();
  }

#ifdef PACE_CUDA
  cuda::PeakOfAllocations device_peak_;
#endif
  Allocations device_before_;
  at::CallbackHandle handle_ = at::INVALID_CALLBACK_HANDLE;
};

}  // namespace pace::detail
