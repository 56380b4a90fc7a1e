// Fresh values: other inputs for the same buffers, which no call has seen before, so that an answer kept from earlier
// values is found out.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <ATen/core/Tensor.h>
#include <ATen/ops/from_blob.h>

#include "pace/check/clone_input.hpp"
#include "pace/check/raw_memory.hpp"
#include "pace/check/restore.hpp"
#include "pace/compare/operands.hpp"
#include "pace/compare/value_structure.hpp"
#include "pace/compare/write_values.hpp"
#include "pace/core/random.hpp"

namespace pace::detail {

/// How other values are made from the given ones. Integers and bools stay as they are: they may be indices, offsets or
/// masks, of which few others are valid.
enum class Renewal {
  /// Every floating-point value is multiplied by a random factor of its own in [1/2, 1). Signs, zeros and ranges such as
  /// [0, 1] and [-1, 1] stay. A tensor with special values (see has_special_values()) is scaled as a whole instead.
  vary,
  /// All floating-point values are multiplied by one random factor in [1/2, 1). This keeps order, ties, symmetry,
  /// positive definiteness and ratios as well.
  scale,
  /// ... by another power of two for each tensor: for what depends on ratios only.
  scale_each,
  /// Every floating-point tensor keeps its values, but in other places: for what does not depend on scale at all, such
  /// as a normalisation.
  rotate,
  /// There is nothing to renew, or it changes no output.
  none,
};

[[nodiscard]] inline const char* to_string(Renewal renewal) {
  switch (renewal) {
    case Renewal::vary:
      return "varied at random";
    case Renewal::scale:
      return "scaled by a random factor";
    case Renewal::scale_each:
      return "each scaled by a power of two";
    case Renewal::rotate:
      return "in another order";
    case Renewal::none:
      break;
  }
  return "unchanged";
}

/// The memory under `tensor`, gaps included, as a 1-D tensor of its dtype that may be written to.
[[nodiscard]] inline at::Tensor flat_memory(const at::Tensor& tensor) {
  const auto span = check::detail::byte_span(tensor);
  const auto item = static_cast<std::int64_t>(tensor.element_size());
  return check::detail::over_storage(tensor, tensor.storage(), tensor.scalar_type(), span.begin / item,
                                     {(span.end - span.begin) / item}, {1});
}

/// Whether values of this tensor can be changed in place.
[[nodiscard]] inline bool renewable(const at::Tensor& tensor) {
  return tensor.defined() && check::detail::is_plain(tensor) && tensor.numel() > 0 &&
         (tensor.is_floating_point() || tensor.is_complex());
}

/// Calls `change(flat memory, position)` for the renewable tensors, for memory that several of them share once only.
template <class Change>
void renew_each(const std::vector<at::Tensor>& tensors, Change&& change) {
  std::vector<std::size_t> begins, ends;  // addresses of what is done
  for (std::size_t i = 0; i < tensors.size(); ++i) {
    if (!renewable(tensors[i])) continue;
    const auto span = check::detail::byte_span(tensors[i]);
    const auto base = reinterpret_cast<std::uintptr_t>(tensors[i].storage().data());
    const std::size_t begin = base + static_cast<std::size_t>(span.begin);
    const std::size_t end = base + static_cast<std::size_t>(span.end);
    bool seen = false;
    for (std::size_t other = 0; other < begins.size(); ++other)
      seen = seen || (begin < ends[other] && begins[other] < end);
    if (seen) continue;
    begins.push_back(begin);
    ends.push_back(end);
    at::Tensor memory = flat_memory(tensors[i]);
    change(memory, i);
  }
}

/// Whether the values of a tensor have a property that factors of their own would take away.
[[nodiscard]] inline bool has_special_values(const at::Tensor& tensor) {
  try {
    return structure_of(tensor).needs_common_factor();
  } catch (...) {  // a dtype without arithmetic
    return true;
  }
}

/// Draws fresh values from given ones, by numbers that cannot be foreseen without the seed.
class FreshValues {
 public:
  /// Looks at the given values once.
  FreshValues(std::vector<at::Tensor> given, std::uint64_t seed) : given_(std::move(given)), random_(seed) {
    for (std::size_t i = 0; i < given_.size(); ++i) {
      renewable_.push_back(renewable(given_[i]));
      special_.push_back(renewable_[i] && has_special_values(given_[i]));
      same_as_.push_back(i);
      for (std::size_t earlier = 0; earlier < i && renewable_[i]; ++earlier)
        if (renewable_[earlier] && given_[earlier].sizes() == given_[i].sizes() &&
            given_[earlier].scalar_type() == given_[i].scalar_type() &&
            given_[earlier].device() == given_[i].device() && unchanged(given_[earlier], given_[i])) {
          same_as_[i] = same_as_[earlier];
          break;
        }
    }
  }

  /// Whether there is anything to renew.
  [[nodiscard]] bool any() const { return std::find(renewable_.begin(), renewable_.end(), true) != renewable_.end(); }
  /// Positions of the tensors whose values can be renewed.
  [[nodiscard]] std::vector<std::size_t> positions() const {
    std::vector<std::size_t> found;
    for (std::size_t i = 0; i < renewable_.size(); ++i)
      if (renewable_[i]) found.push_back(i);
    return found;
  }
  /// Returns a seed that cannot be foreseen either.
  [[nodiscard]] std::uint64_t draw_seed() { return random_(); }

  /// Writes values into `tensors`, which are like the given ones, that differ from those of all earlier draws; given
  /// ones that are equal stay equal. Tensors of the indices `kept` are not touched, not even read. Throws c10::Error for
  /// dtypes that have no arithmetic.
  void draw(Renewal renewal, const std::vector<at::Tensor>& tensors, std::span<const std::size_t> kept = {}) {
    const c10::NoGradGuard no_grad;
    const auto stays = [&](std::size_t i) { return std::ranges::find(kept, i) != kept.end(); };
    for (std::size_t i = 0; i < given_.size(); ++i)
      if (!stays(i)) check::restore_tensor(given_[i], tensors[i]);
    const double factor = factor_of(random_);
    const std::uint64_t seed = random_();
    const std::size_t places = 2 + random_.below(1 << 16);
    renew_each(tensors, [&](at::Tensor& memory, std::size_t i) {
      if (stays(i)) return;
      switch (renewal) {
        case Renewal::vary:
          if (special_[i]) {
            memory.mul_(factor);
          } else {
            SplitMix64 own(seed + same_as_[i]);
            vary(memory, own);
          }
          return;
        case Renewal::scale:
          memory.mul_(factor);
          return;
        case Renewal::scale_each:
          memory.mul_(1.0 / static_cast<double>(2 << ((i + places) % 3)));
          return;
        case Renewal::rotate:
          // What lies in the gaps of a strided view is no value.
          if (tensors[i].is_non_overlapping_and_dense())
            memory.copy_(
                memory.roll(1 + static_cast<std::int64_t>(places) % std::max<std::int64_t>(memory.numel() - 1, 1)));
          return;
        case Renewal::none:
          return;
      }
    });
  }

  /// Changes values by a few units in their last places, as rounding does.
  void perturb(const std::vector<at::Tensor>& tensors) {
    const c10::NoGradGuard no_grad;
    renew_each(tensors, [&](at::Tensor& memory, std::size_t i) {
      if (!special_[i]) memory.mul_(1 + 4 * epsilon_of(memory.scalar_type()));
      memory.narrow(0, 0, (memory.numel() + 1) / 2).mul_(1 - 4 * epsilon_of(memory.scalar_type()));
    });
  }

 private:
  [[nodiscard]] static double factor_of(SplitMix64& random) {
    return 0.5 + 0.5 * static_cast<double>(random() >> 11) / static_cast<double>(std::uint64_t{1} << 53);
  }

  [[nodiscard]] static double epsilon_of(at::ScalarType type) {
    switch (c10::toRealValueType(type)) {
      case at::kDouble:
        return 2.2e-16;
      case at::kFloat:
        return 1.2e-7;
      case at::kHalf:
        return 9.8e-4;
      default:
        return 7.8e-3;
    }
  }

  /// Multiplies by factors of a period that is long enough not to be found by looking at a few values. Drawing one for
  /// each element would take longer than most calls do.
  static void vary(at::Tensor& memory, SplitMix64& random) {
    constexpr std::int64_t longest_period = 65521;  // a prime, so that rows do not repeat
    const std::int64_t period = std::min(memory.numel(), longest_period);
    std::vector<double> drawn(static_cast<std::size_t>(period));
    for (auto& each : drawn) each = factor_of(random);
    const at::Tensor factors = at::from_blob(drawn.data(), {period}, at::kDouble)
                                   .to(memory.options().dtype(c10::toRealValueType(memory.scalar_type())),
                                       /*non_blocking=*/false, /*copy=*/true);
    for (std::int64_t first = 0; first < memory.numel(); first += period) {
      const std::int64_t count = std::min(period, memory.numel() - first);
      memory.narrow(0, first, count).mul_(factors.narrow(0, 0, count));
    }
  }

  std::vector<at::Tensor> given_;
  SplitMix64 random_;
  std::vector<bool> renewable_, special_;
  /// Index of the first tensor with the same values.
  std::vector<std::size_t> same_as_;
};

}  // namespace pace::detail
