// Repeated draws: finds drawn values that equal an earlier draw, or the given ones.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string_view>
#include <vector>

#include <ATen/core/Tensor.h>

#include "pace/check/raw_memory.hpp"

namespace pace::detail {

/// LibTorch's operators draw values, and an implementation may have replaced a kernel of theirs. So we look at the
/// first bytes of each draw in memory, by no operator. Values that are multiplied by random factors do not come again.
class RepeatedDraws {
 public:
  /// Looks at the given values once. We watch only tensors on the CPU with some first values that are neither zero nor
  /// infinite.
  explicit RepeatedDraws(const std::vector<at::Tensor>& given) : seen_(given.size()), watched_(given.size()) {
    for (std::size_t i = 0; i < given.size(); ++i) {
      watched_[i] = can_differ(given[i]);
      if (watched_[i]) seen_[i].push_back(hash_of(given[i]));
    }
  }

  /// Looks at values of tensor `i` that were drawn by random factors.
  void look_at(std::size_t i, const at::Tensor& drawn) {
    constexpr std::size_t most_kept = 256;
    if (!watched_[i] || repeated_ || !drawn.is_contiguous()) return;
    const std::size_t hash = hash_of(drawn);
    auto& seen = seen_[i];
    if (std::ranges::find(seen, hash) != seen.end()) repeated_ = i;
    if (seen.size() == most_kept) seen.erase(seen.begin() + 1);
    seen.push_back(hash);
  }

  /// Returns, once, the tensor whose values were drawn a second time; nothing if there is none.
  [[nodiscard]] std::optional<std::size_t> take() {
    if (!repeated_ || taken_) return std::nullopt;
    taken_ = true;
    return repeated_;
  }

 private:
  static constexpr std::size_t bytes_looked_at = 1024;
  static constexpr std::int64_t fewest_values = 16;

  [[nodiscard]] static bool can_differ(const at::Tensor& given) {
    constexpr double smallest = 1e-30;
    if (!given.defined() || given.layout() != at::kStrided || given.is_nested() || !given.is_cpu() ||
        !given.is_floating_point() || check::detail::holds_only_bits(given.scalar_type()) || !given.is_contiguous() ||
        given.numel() < fewest_values)
      return false;
    const auto count = std::min(given.numel(), static_cast<std::int64_t>(bytes_looked_at) / given.element_size());
    const at::Tensor values = given.detach().flatten().narrow(0, 0, count).to(at::kDouble).contiguous();
    const double* const first = values.const_data_ptr<double>();
    return std::count_if(first, first + count, [](double value) {
             return std::isfinite(value) && std::abs(value) > smallest;
           }) >= fewest_values;
  }

  [[nodiscard]] static std::size_t hash_of(const at::Tensor& tensor) {
    return std::hash<std::string_view>()(
        {static_cast<const char*>(tensor.const_data_ptr()), std::min(tensor.nbytes(), bytes_looked_at)});
  }

  /// Hashes of the given values and of the last draws, by tensor.
  std::vector<std::vector<std::size_t>> seen_;
  std::vector<bool> watched_;
  std::optional<std::size_t> repeated_ = {};
  bool taken_ = false;
};

}  // namespace pace::detail
