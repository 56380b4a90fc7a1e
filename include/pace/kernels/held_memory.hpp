// HeldMemory: restores memory that a call changes beside its operands, once the kernels are timed.
#pragma once

#ifdef PACE_CUDA

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "pace/base/error.hpp"
#include "pace/gpu/cuda/device.hpp"
#include "pace/gpu/cuda/error.hpp"
#include "pace/gpu/cuda/held_memory.hpp"
#include "pace/kernels/attempt.hpp"
#include "pace/kernels/kept_bytes.hpp"
#include "pace/os/memory.hpp"

namespace pace::kernel::detail {

/// Restores the memory that tensors hold on a GPU after the calls, even if one throws.
class HeldMemory {
 public:
  /// Copies the memory of `device`, which must outlive the object. Where that fails, nothing is restored, and `notes`
  /// has the reason.
  HeldMemory(cuda::CudaDevice& device, std::vector<std::string>& notes) : device_(device), notes_(notes) {
    const auto failure = failure_of([&] {
      // Work on other streams may still write to it.
      device.synchronise();
      const auto held = cuda::held_memory(device.index());
      std::size_t bytes = 0, free = 0, total = 0;
      for (const auto& region : held) bytes += region.bytes;
      cuda::check(cudaMemGetInfo(&free, &total), "asking for free memory");
      const auto place = place_for_copies(bytes, device.torch_device(), free,
                                          static_cast<std::size_t>(available_memory().value_or(0)));
      if (!place)
        throw Unsupported("the " + std::to_string(bytes >> 20U) +
                          " MiB that tensors hold are more than can be copied to the memory that is free");
      copies_.emplace(held, device.torch_device(), *place);
    });
    if (!failure.empty())
      notes.push_back("memory that the call changes beside its operands keeps what it wrote: " + failure);
  }
  HeldMemory(const HeldMemory&) = delete;
  ~HeldMemory() {
    try {
      if (!copies_) return;
      // The calls may have released memory.
      copies_->keep_held(cuda::held_memory(device_.index()));
      copies_->restore();
      device_.synchronise();
    } catch (...) {  // the device is lost
    }
  }

  /// Call this after the first calls: it keeps the copies of memory that they changed.
  void keep_changed() {
    drop_if_it_fails([&] { copies_->keep_changed(cuda::held_memory(device_.index())); });
  }
  /// Call this after the last call: it leaves out memory that the calls released.
  void keep_held() {
    drop_if_it_fails([&] {
      if (const auto gone = copies_->keep_held(cuda::held_memory(device_.index())); gone > 0)
        notes_.push_back(std::to_string(gone) +
                         " bytes that the call changed beside its operands were released by it, and do not have their "
                         "values again");
    });
  }
  /// Whether the calls have changed memory that tensors held before, operands included; true if unknown.
  [[nodiscard]] bool changes() const { return !copies_ || copies_->bytes() > 0; }
  /// Queues copies back. To be called after keep_held() alone.
  void restore() const {
    if (copies_) copies_->restore();
  }

 private:
  void drop_if_it_fails(const std::function<void()>& body) {
    if (!copies_) return;
    const auto failure = failure_of(body);
    if (failure.empty()) return;
    copies_.reset();
    notes_.push_back("memory that the call changes beside its operands keeps what it wrote: " + failure);
  }

  cuda::CudaDevice& device_;
  std::vector<std::string>& notes_;
  std::optional<HeldCopies> copies_;
};

}  // namespace pace::kernel::detail

#endif  // PACE_CUDA
