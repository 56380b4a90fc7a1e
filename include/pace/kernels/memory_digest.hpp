// MemoryDigest: finds the bytes of a device's memory that something changes.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <utility>
#include <vector>

#include <ATen/core/Tensor.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/from_blob.h>
#include <ATen/ops/mul.h>
#include <ATen/ops/sum.h>
#include <c10/core/GradMode.h>
#include <c10/core/InferenceMode.h>

#include "pace/gpu/memory_region.hpp"

namespace pace::kernel {

using gpu::MemoryRegion;

/// Returns a region of the memory of `device` as a tensor of uint8, which does not own it.
[[nodiscard]] inline at::Tensor bytes_at(const MemoryRegion& region, at::Device device) {
  const c10::InferenceMode normal_tensors(false);
  // The address is one that an allocator or a tensor gave.
  return at::from_blob(reinterpret_cast<void*>(region.address),  // NOLINT(performance-no-int-to-ptr)
                       {static_cast<std::int64_t>(region.bytes)}, at::TensorOptions().dtype(at::kByte).device(device));
}

/// Digests of memory on one device, a number for each piece of at most `piece_bytes` bytes, all computed on the device.
///
/// The digest of a piece is the sum of its 64-bit words modulo 2^64, each times an odd number of its own. So any change
/// of one word changes it. Memory is read in whole aligned words: a region also counts the bytes that share a word with
/// its first or its last one.
class MemoryDigest {
 public:
  /// Size of a piece.
  static constexpr std::size_t piece_bytes = 16384;
  /// Largest number of regions that changed() returns, if the watched regions allow it.
  static constexpr std::size_t most_ranges = 64;

  /// Digests memory of `device`, at first none. Takes 64 MiB there. Throws c10::Error if they cannot be had.
  explicit MemoryDigest(at::Device device) : device_(device) {
    const c10::InferenceMode normal_tensors(false);
    const auto options = at::TensorOptions().dtype(at::kLong);
    at::Tensor factors = at::empty({words}, options);
    // A linear congruential generator: D. E. Knuth, The Art of Computer Programming, volume 2, MMIX's constants.
    std::uint64_t state = 1;
    auto* const each = factors.mutable_data_ptr<std::int64_t>();
    for (std::int64_t i = 0; i < words; ++i) {
      state = state * 6364136223846793005U + 1442695040888963407U;
      each[i] = static_cast<std::int64_t>((state >> 1U) | 1U);
    }
    factors_ = factors.to(device);
    products_ = at::empty({rows, words}, options.device(device));
  }

  /// Sets the memory to digest, without the memory that the object itself writes to. It must stay allocated until the
  /// next call of this function.
  void watch(std::vector<MemoryRegion> regions) {
    for (const auto& own : own_memory()) regions = gpu::without(regions, own);
    regions_.clear();
    std::size_t pieces = 0;
    for (const auto& region : regions) {
      if (region.bytes == 0) continue;
      const std::uintptr_t begin = region.address / word * word;
      const std::uintptr_t end = (region.address + region.bytes + word - 1) / word * word;
      regions_.push_back({begin, end - begin});
      pieces += pieces_of(regions_.back());
    }
    pieces_ = static_cast<std::int64_t>(pieces);
    if (digests_.defined() && digests_.numel() >= pieces_) return;
    const c10::InferenceMode normal_tensors(false);
    digests_ = at::empty({2 * pieces_}, at::TensorOptions().dtype(at::kLong).device(device_));
  }
  /// The memory of the object's own tensors.
  [[nodiscard]] std::vector<MemoryRegion> own_memory() const {
    std::vector<MemoryRegion> own;
    for (const at::Tensor* const each : {&factors_, &products_, &digests_})
      if (each->defined()) own.push_back({reinterpret_cast<std::uintptr_t>(each->const_data_ptr()), each->nbytes()});
    return own;
  }
  /// The memory that is digested, in whole words.
  [[nodiscard]] const std::vector<MemoryRegion>& regions() const { return regions_; }

  /// Returns the digests of all pieces, after the work that was queued on the current stream.
  [[nodiscard]] std::vector<std::int64_t> take() {
    const c10::NoGradGuard no_grad;
    const c10::InferenceMode normal_tensors(false);
    std::int64_t next = 0;
    for (const auto& region : regions_) {
      const at::Tensor all = bytes_at(region, device_).view(at::kLong);
      const std::int64_t whole = all.numel() / words;
      for (std::int64_t first = 0; first < whole; first += rows) {
        const std::int64_t count = std::min(rows, whole - first);
        next = digest(all.narrow(0, first * words, count * words).view({count, words}), next);
      }
      if (const std::int64_t rest = all.numel() - whole * words; rest > 0)
        next = digest(all.narrow(0, whole * words, rest).view({1, rest}), next);
    }
    const at::Tensor digests = digests_.narrow(0, 0, pieces_).cpu();
    const auto* const begin = digests.const_data_ptr<std::int64_t>();
    return {begin, begin + digests.numel()};
  }

  /// Returns the memory of the pieces where two results of take() differ. Where that are many places, pieces between
  /// them are returned, too, so that few regions are left; none is larger than a watched one.
  [[nodiscard]] std::vector<MemoryRegion> changed(const std::vector<std::int64_t>& before,
                                                  const std::vector<std::int64_t>& after) const {
    for (std::size_t gap = 0;; gap = 2 * gap + piece_bytes) {
      std::vector<MemoryRegion> ranges;
      std::size_t next = 0, touched = 0;
      for (const auto& region : regions_) {
        const std::size_t first = ranges.size();
        for (std::size_t i = 0; i < pieces_of(region); ++i, ++next) {
          if (before[next] == after[next]) continue;
          const std::uintptr_t begin = region.address + i * piece_bytes;
          const std::uintptr_t end = std::min(begin + piece_bytes, region.address + region.bytes);
          if (ranges.size() > first && begin <= ranges.back().address + ranges.back().bytes + gap)
            ranges.back().bytes = end - ranges.back().address;
          else
            ranges.push_back({begin, end - begin});
        }
        touched += ranges.size() > first;
      }
      if (ranges.size() <= std::max(most_ranges, touched)) return ranges;
    }
  }

 private:
  static constexpr std::uintptr_t word = sizeof(std::int64_t);
  static constexpr std::int64_t words = piece_bytes / word;
  static constexpr std::int64_t rows = 4096;

  static std::size_t pieces_of(const MemoryRegion& region) { return (region.bytes + piece_bytes - 1) / piece_bytes; }

  /// Digests a piece in each row of `pieces`, from the index `first` on, and returns the index behind them.
  std::int64_t digest(const at::Tensor& pieces, std::int64_t first) {
    const std::int64_t count = pieces.size(0), length = pieces.size(1);
    at::Tensor products = products_.view({-1}).narrow(0, 0, count * length).view({count, length});
    at::Tensor sums = digests_.narrow(0, first, count);
    at::mul_out(products, pieces, factors_.narrow(0, 0, length));
    at::sum_out(sums, products, {1});
    return first + count;
  }

  at::Device device_;
  at::Tensor factors_, products_, digests_;
  std::int64_t pieces_ = 0;
  std::vector<MemoryRegion> regions_;
};

}  // namespace pace::kernel
