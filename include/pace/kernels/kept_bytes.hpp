// KeptBytes: copies of stretches of a device's memory. HeldCopies: copies of all that a call may change.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <optional>
#include <utility>
#include <vector>

#include <ATen/core/Tensor.h>
#include <c10/core/GradMode.h>
#include <c10/core/InferenceMode.h>

#include "pace/check/raw_memory.hpp"
#include "pace/kernels/memory_digest.hpp"

namespace pace::kernel {

/// Copies of stretches of a device's memory.
class KeptBytes {
 public:
  /// Copies `regions` of `device` to memory of `place`, after the work that was queued on the current stream. The
  /// regions must stay allocated as long as the object is used. Throws c10::Error without memory for the copies.
  KeptBytes(std::vector<MemoryRegion> regions, at::Device device, at::Device place) : regions_(std::move(regions)) {
    const c10::NoGradGuard no_grad;
    for (const auto& region : regions_) {
      originals_.push_back(bytes_at(region, device));
      copies_.push_back(check::detail::empty_bytes(originals_.back().numel(), place));
      copies_.back().copy_(originals_.back());
    }
  }

  /// Queues copies back on the current stream; these can be captured if the copies are on the same device.
  void restore() const {
    const c10::NoGradGuard no_grad;
    for (std::size_t i = 0; i < originals_.size(); ++i) originals_[i].copy_(copies_[i], /*non_blocking=*/true);
  }

  /// Moves the copies to `place`. Throws c10::Error without memory for them, after which they are where they were.
  void move_to(at::Device place) {
    std::vector<at::Tensor> moved;
    for (const auto& each : copies_) moved.push_back(each.to(place));
    copies_ = std::move(moved);
  }

  /// Keeps only the copies of regions that `keep(region)` accepts.
  template <class Keep>
  void keep_if(const Keep& keep) {
    std::size_t kept = 0;
    for (std::size_t i = 0; i < regions_.size(); ++i) {
      if (!keep(regions_[i])) continue;
      regions_[kept] = regions_[i];
      originals_[kept] = originals_[i];
      copies_[kept++] = copies_[i];
    }
    regions_.resize(kept);
    originals_.resize(kept);
    copies_.resize(kept);
  }

  /// The regions that have copies.
  [[nodiscard]] const std::vector<MemoryRegion>& regions() const { return regions_; }
  /// Their size in bytes, all together.
  [[nodiscard]] std::size_t bytes() const {
    std::size_t sum = 0;
    for (const auto& region : regions_) sum += region.bytes;
    return sum;
  }

 private:
  std::vector<MemoryRegion> regions_;
  std::vector<at::Tensor> originals_, copies_;
};

/// Where to keep copies of `bytes` bytes of a device for a short time; nothing without room. On the device, they take
/// at most a quarter of the free memory, so that a call still finds some. Otherwise, on the host, they take at most
/// half of the free memory.
[[nodiscard]] inline std::optional<at::Device> place_for_copies(std::size_t bytes, at::Device device,
                                                                std::size_t free_on_device, std::size_t free_on_host) {
  if (bytes <= free_on_device / 4) return device;
  if (bytes <= free_on_host / 2) return at::Device(at::kCPU);
  return std::nullopt;
}

/// Copies of the memory that tensors hold. In the end, only the copies of memory that calls changed are kept.
class HeldCopies {
 public:
  /// Copies `held`, the allocations of `device`, to `place`. Throws c10::Error without memory for the copies.
  HeldCopies(const std::vector<MemoryRegion>& held, at::Device device, at::Device place)
      : digest_(device), device_(device), kept_(held, device, place) {
    digest_->watch(held);
    before_ = digest_->take();
  }

  /// Keeps the copies of memory that has changed since the construction, on the device if there is memory. `held` are
  /// the present allocations; memory that was released is not looked at.
  void keep_changed(const std::vector<MemoryRegion>& held) {
    // Released memory must not be read.
    const auto regions = kept_.regions();
    digest_->watch(in_common(regions, held));
    const auto now = digest_->take();
    std::vector<MemoryRegion> changed;
    std::size_t next_before = 0, next_now = 0;
    for (const auto& region : regions) {
      const std::size_t pieces = (region.bytes + MemoryDigest::piece_bytes - 1) / MemoryDigest::piece_bytes;
      if (std::ranges::binary_search(held, region, by_address)) {
        if (!std::equal(before_.begin() + static_cast<std::ptrdiff_t>(next_before),
                        before_.begin() + static_cast<std::ptrdiff_t>(next_before + pieces),
                        now.begin() + static_cast<std::ptrdiff_t>(next_now)))
          changed.push_back(region);
        next_now += pieces;
      }
      next_before += pieces;
    }
    digest_.reset();
    before_.clear();
    kept_.keep_if([&](const auto& region) { return std::ranges::binary_search(changed, region, by_address); });
    try {
      kept_.move_to(device_);
    } catch (const c10::Error&) {  // they stay on the host
    }
  }

  /// Drops the copies of memory that is not among the allocations `held` any more, and returns its size in bytes.
  std::size_t keep_held(const std::vector<MemoryRegion>& held) {
    const std::size_t before = kept_.bytes();
    kept_.keep_if([&](const auto& region) { return std::ranges::binary_search(held, region, by_address); });
    return before - kept_.bytes();
  }

  /// Queues copies back on the current stream.
  void restore() const { kept_.restore(); }
  /// Size of the memory that restore() writes, in bytes.
  [[nodiscard]] std::size_t bytes() const { return kept_.bytes(); }

 private:
  static bool by_address(const MemoryRegion& a, const MemoryRegion& b) {
    return std::pair(a.address, a.bytes) < std::pair(b.address, b.bytes);
  }
  static std::vector<MemoryRegion> in_common(const std::vector<MemoryRegion>& a, const std::vector<MemoryRegion>& b) {
    std::vector<MemoryRegion> common;
    std::ranges::set_intersection(a, b, std::back_inserter(common), by_address);
    return common;
  }

  std::optional<MemoryDigest> digest_;
  at::Device device_;
  KeptBytes kept_;
  std::vector<std::int64_t> before_;
};

}  // namespace pace::kernel
