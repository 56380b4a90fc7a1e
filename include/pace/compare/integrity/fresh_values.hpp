// Fresh values: other inputs for the same buffers, which no call has seen before, so that an answer kept from earlier
// values is found out.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <numeric>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <ATen/core/Tensor.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/from_blob.h>

#include "pace/check/clone_input.hpp"
#include "pace/check/raw_memory.hpp"
#include "pace/check/restore.hpp"
#include "pace/compare/operands.hpp"
#include "pace/compare/value_structure.hpp"
#include "pace/compare/write_values.hpp"
#include "pace/core/random.hpp"

namespace pace::detail {

/// How other values are made from the given ones. Integers and bools stay as they are but for the first kind: they may be
/// indices, offsets or masks, of which few others are valid.
enum class Renewal {
  /// As rearrange; and integers and bools are rolled along a dimension by a random number of places, unless they look as
  /// if their places mattered (see place_free_dim()).
  rearrange_all,
  /// As vary; but a tensor with special values gets others with the same structure (see rearrange_values()), and is scaled
  /// as a whole only where there are none.
  rearrange,
  /// As rearrange; and one in eight of the whole numbers that have changed places takes the value of another one, for what
  /// does not depend on places, such as a sort.
  resample,
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
  /// There is nothing to renew, or what there is changes no output and no places.
  none,
};

[[nodiscard]] inline const char* to_string(Renewal renewal) {
  switch (renewal) {
    case Renewal::rearrange_all:
      return "varied at random within their structure, and integers in other places";
    case Renewal::rearrange:
      return "varied at random within their structure";
    case Renewal::resample:
      return "varied at random within their structure, and some whole numbers replaced by others";
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

/// Calls `change(position)` for the tensors that `chosen` returns true for, for memory that several of them share once
/// only.
template <class Chosen, class Change>
void renew_each_if(const std::vector<at::Tensor>& tensors, const Chosen& chosen, Change&& change) {
  std::vector<std::size_t> begins, ends;  // addresses of what is done
  for (std::size_t i = 0; i < tensors.size(); ++i) {
    if (!chosen(i)) continue;
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
    change(i);
  }
}

/// Calls `change(flat memory, position)` for the renewable tensors, for memory that several of them share once only.
template <class Change>
void renew_each(const std::vector<at::Tensor>& tensors, Change&& change) {
  renew_each_if(
      tensors, [&](std::size_t i) { return renewable(tensors[i]); },
      [&](std::size_t i) {
        at::Tensor memory = flat_memory(tensors[i]);
        change(memory, i);
      });
}

/// The structure of a tensor's values; that of a dtype without arithmetic has something that only a common factor keeps.
[[nodiscard]] inline ValueStructure structure_or_unknown(const at::Tensor& tensor) {
  try {
    return structure_of(tensor);
  } catch (...) {
    return {.infinite = true};
  }
}

/// Whether the values of a tensor have a property that factors of their own would take away.
[[nodiscard]] inline bool has_special_values(const at::Tensor& tensor) {
  return structure_or_unknown(tensor).needs_common_factor();
}

/// A random factor in [1/2, 1).
[[nodiscard]] inline double draw_factor(SplitMix64& random) {
  return 0.5 + 0.5 * static_cast<double>(random() >> 11) / static_cast<double>(std::uint64_t{1} << 53);
}

/// `count` random factors in [1/2, 1), of a period that is long enough not to be found by looking at a few values. Drawing
/// one for each element would take longer than most calls do.
[[nodiscard]] inline at::Tensor draw_factors(std::int64_t count, SplitMix64& random, const at::TensorOptions& options) {
  constexpr std::int64_t longest_period = 65521;  // a prime, so that rows do not repeat
  const std::int64_t period = std::min(count, longest_period);
  std::vector<double> drawn(static_cast<std::size_t>(period));
  for (auto& each : drawn) each = draw_factor(random);
  return at::from_blob(drawn.data(), {period}, at::kDouble).to(options, /*non_blocking=*/false, /*copy=*/true);
}

/// A random order of `count` places that is not the given one, by Fisher and Yates. `count` is at least 2.
[[nodiscard]] inline at::Tensor draw_order(std::int64_t count, SplitMix64& random, at::Device device) {
  std::vector<std::int64_t> order(static_cast<std::size_t>(count));
  std::iota(order.begin(), order.end(), std::int64_t{0});
  for (std::size_t i = order.size(); i > 1; --i) std::swap(order[i - 1], order[random.below(i)]);
  if (std::is_sorted(order.begin(), order.end())) std::rotate(order.begin(), order.begin() + 1, order.end());
  return at::from_blob(order.data(), {count}, at::kLong).to(at::TensorOptions().device(device), false, /*copy=*/true);
}

/// Gives `values`, a view of what is to be renewed, other ones in place that have the structure that `structure` says.
/// Returns false, and leaves them, where there are none but scaled ones.
///
/// - Symmetric matrices become D A D for a diagonal matrix D of random numbers in [0.7, 1), which keeps signs, zeros and
///   positive definiteness, or P A P^T for a random permutation P where the former would take a property away. Those with
///   equal diagonals (Toeplitz) stay.
/// - Rows in order get other steps between equal ends; equal neighbours stay equal.
/// - Rows of length 1 or with the sum 1, whole numbers and ties get other places: slices of each dimension are permuted.
///   Triangular matrices stay.
[[nodiscard]] inline bool rearrange_values(at::Tensor& values, const ValueStructure& structure, double factor,
                                           SplitMix64& random) {
  const auto all = [](const at::Tensor& condition) { return condition.all().item<bool>(); };
  const auto real = values.options().dtype(c10::toRealValueType(values.scalar_type())).requires_grad(false);
  if (structure.infinite || values.dim() == 0) return false;
  const std::int64_t width = values.size(-1);
  if (structure.symmetric) {
    const auto inner = [&](std::int64_t first) {
      return values.narrow(-1, first, width - 1).narrow(-2, first, width - 1);
    };
    if (all(inner(0).eq(inner(1)))) return false;
    const at::Tensor diagonal = values.diagonal(0, -2, -1);
    if (structure.whole || structure.unit_rows || structure.unit_sums || all(diagonal.eq(diagonal.narrow(-1, 0, 1)))) {
      const at::Tensor order = draw_order(width, random, values.device());
      values.copy_(values.index_select(-1, order).index_select(-2, order));
    } else {
      std::vector<double> drawn(static_cast<std::size_t>(width));
      for (auto& each : drawn) each = std::sqrt(draw_factor(random));
      const at::Tensor d = at::from_blob(drawn.data(), {width}, at::kDouble);
      // The same product on both sides of the diagonal.
      values.mul_(d.unsqueeze(1).mul(d).to(real));
    }
    return true;
  }
  if (values.is_complex()) return false;
  if (structure.sorted) {
    if (structure.whole || structure.unit_rows || structure.unit_sums) return false;
    const at::Tensor given = values.to(at::kDouble), first = given.narrow(-1, 0, 1);
    const at::Tensor last = given.narrow(-1, width - 1, 1), steps = given.diff();
    if (all(steps.eq(0))) return false;
    const at::Tensor factors = draw_factors(steps.numel(), random, steps.options());
    const std::int64_t times = (steps.numel() + factors.numel() - 1) / factors.numel();
    at::Tensor sums = steps.mul(factors.repeat({times}).narrow(0, 0, steps.numel()).view(steps.sizes())).cumsum(-1);
    const at::Tensor total = sums.narrow(-1, width - 2, 1);
    sums = first.add(sums.mul(last.sub(first).div(total).nan_to_num(1, 1, 1)));
    // Rounding must not lead beyond the ends.
    values.narrow(-1, 1, width - 1).copy_(sums.minimum(first.maximum(last)).maximum(first.minimum(last)));
    return true;
  }
  const at::Tensor reference = values.flatten().narrow(0, 0, 1);
  if (all(values.eq(reference))) return false;
  if (values.dim() >= 2 && (all(values.eq(values.tril())) || all(values.eq(values.triu())))) return false;
  for (std::int64_t dim = 0; dim < values.dim(); ++dim)
    if (values.size(dim) > 1)
      values.copy_(values.index_select(dim, draw_order(values.size(dim), random, values.device())));
  if (!structure.whole && !structure.unit_rows && !structure.unit_sums) values.mul_(factor);
  return true;
}

/// Whether whole numbers may take each other's values without a loss of structure.
[[nodiscard]] inline bool may_repeat(const ValueStructure& structure) {
  return structure.whole && !structure.zeros && !structure.infinite && !structure.sorted && !structure.symmetric &&
         !structure.unit_rows && !structure.unit_sums;
}

/// Gives about one in eight of `values` the value of another one.
inline void resample_values(at::Tensor& values, SplitMix64& random) {
  const std::int64_t count = values.numel();
  const at::Tensor drawn = draw_factors(count, random, values.options().dtype(at::kDouble));
  const std::int64_t times = (count + drawn.numel() - 1) / drawn.numel();
  const at::Tensor stays = drawn.repeat({times}).narrow(0, 0, count).ge(0.5 + 0.5 / 8).view(values.sizes());
  const auto shift = static_cast<std::int64_t>(random.below(static_cast<std::size_t>(count)));
  values.copy_(values.where(stays, values.flatten().roll(shift).view(values.sizes())));
}

/// Returns the dimension along which integers or bools may change places: the longest one along which no line of three or
/// more is in order, as offsets and padding are; nothing for other dtypes, and where values may be addresses or markers
/// (negative or large), are equal, or point back or ahead only, as those of a tree may.
[[nodiscard]] inline std::optional<std::int64_t> place_free_dim(const at::Tensor& tensor) {
  if (!tensor.defined() || !check::detail::is_plain(tensor) || tensor.numel() < 3 ||
      !c10::isIntegralType(tensor.scalar_type(), /*includeBool=*/true))
    return std::nullopt;
  try {
    const at::Tensor values = check::detail::distinct_values_of(tensor).to(at::kLong);
    const std::int64_t least = values.min().item<std::int64_t>(), most = values.max().item<std::int64_t>();
    if (least < 0 || most > std::numeric_limits<std::int32_t>::max() || least == most) return std::nullopt;
    if (values.dim() == 1) {
      const at::Tensor ahead = values.sub(at::arange(values.numel(), values.options()));
      if (ahead.le(0).all().item<bool>() || ahead.ge(0).all().item<bool>()) return std::nullopt;
    }
    std::optional<std::int64_t> found;
    for (std::int64_t dim = 0; dim < values.dim(); ++dim) {
      if (values.size(dim) < 3 || (found && values.size(dim) <= values.size(*found))) continue;
      const at::Tensor steps = values.diff(1, dim);
      if (!steps.ge(0).all(dim).logical_or(steps.le(0).all(dim)).any().item<bool>()) found = dim;
    }
    return found;
  } catch (...) {  // a dtype without arithmetic
    return std::nullopt;
  }
}

/// Draws fresh values from given ones, by numbers that cannot be foreseen without the seed.
class FreshValues {
 public:
  /// Looks at the given values once.
  FreshValues(std::vector<at::Tensor> given, std::uint64_t seed) : given_(std::move(given)), random_(seed) {
    for (std::size_t i = 0; i < given_.size(); ++i) {
      renewable_.push_back(renewable(given_[i]));
      structures_.push_back(renewable_[i] ? structure_or_unknown(given_[i]) : ValueStructure{});
      special_.push_back(structures_[i].needs_common_factor());
      dims_.push_back(place_free_dim(given_[i]));
      same_as_.push_back(i);
      for (std::size_t earlier = 0; earlier < i && (renewable_[i] || dims_[i]); ++earlier)
        if ((renewable_[earlier] || dims_[earlier]) && given_[earlier].sizes() == given_[i].sizes() &&
            given_[earlier].scalar_type() == given_[i].scalar_type() &&
            given_[earlier].device() == given_[i].device() && unchanged(given_[earlier], given_[i])) {
          same_as_[i] = same_as_[earlier];
          break;
        }
    }
  }

  /// Whether there is anything to renew by values of this kind that simpler kinds leave.
  [[nodiscard]] bool any(Renewal renewal) const {
    const auto is_set = [](const auto& flags) { return std::find(flags.begin(), flags.end(), true) != flags.end(); };
    if (renewal == Renewal::rearrange_all)
      return std::any_of(dims_.begin(), dims_.end(), [](const auto& dim) { return dim.has_value(); });
    if (renewal == Renewal::resample) return std::any_of(structures_.begin(), structures_.end(), may_repeat);
    return is_set(renewal == Renewal::rearrange ? special_ : renewable_);
  }
  /// Positions of the tensors whose values the last draw has renewed.
  [[nodiscard]] std::vector<std::size_t> positions() const {
    std::vector<std::size_t> found;
    for (std::size_t i = 0; i < renewable_.size(); ++i)
      if (renewable_[i] || (last_ == Renewal::rearrange_all && dims_[i])) found.push_back(i);
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
    last_ = renewal;
    const double factor = draw_factor(random_);
    const std::uint64_t seed = random_();
    const bool rearranges = renewal < Renewal::vary;
    const std::size_t places = 2 + random_.below(1 << 16);
    renew_each(tensors, [&](at::Tensor& memory, std::size_t i) {
      if (stays(i)) return;
      switch (renewal) {
        case Renewal::rearrange_all:
        case Renewal::rearrange:
        case Renewal::resample:
        case Renewal::vary: {
          SplitMix64 own(seed + same_as_[i]);
          if (!special_[i]) {
            vary(memory, own);
            return;
          }
          at::Tensor values = check::detail::distinct_values_of(tensors[i]);
          if (!rearranges || !rearrange_values(values, structures_[i], factor, own))
            memory.mul_(factor);
          else if (renewal == Renewal::resample && may_repeat(structures_[i]))
            resample_values(values, own);
          return;
        }
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
    if (renewal != Renewal::rearrange_all) return;
    renew_each_if(
        tensors, [&](std::size_t i) { return !stays(i) && dims_[i].has_value(); },
        [&](std::size_t i) {
          at::Tensor values = check::detail::distinct_values_of(tensors[i]);
          // By as many places in all dimensions of one size, since lengths may belong to rows.
          SplitMix64 own(seed);
          const auto size = static_cast<std::size_t>(values.size(*dims_[i]));
          values.copy_(values.roll(1 + static_cast<std::int64_t>(own.below(size - 1)), *dims_[i]));
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

  /// Multiplies each value by a factor of its own.
  static void vary(at::Tensor& memory, SplitMix64& random) {
    const at::Tensor factors =
        draw_factors(memory.numel(), random, memory.options().dtype(c10::toRealValueType(memory.scalar_type())));
    const std::int64_t period = factors.numel();
    for (std::int64_t first = 0; first < memory.numel(); first += period) {
      const std::int64_t count = std::min(period, memory.numel() - first);
      memory.narrow(0, first, count).mul_(factors.narrow(0, 0, count));
    }
  }

  std::vector<at::Tensor> given_;
  SplitMix64 random_;
  std::vector<bool> renewable_, special_;
  std::vector<ValueStructure> structures_ = {};
  /// For integers and bools, the dimension along which they may change places.
  std::vector<std::optional<std::int64_t>> dims_ = {};
  Renewal last_ = Renewal::none;
  /// Index of the first tensor with the same values.
  std::vector<std::size_t> same_as_;
};

}  // namespace pace::detail
