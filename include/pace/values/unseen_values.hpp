// Unseen values: other inputs for the same buffers, which no call has seen before, so that an answer kept from earlier
// values is found out.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <ATen/core/Tensor.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/eye.h>
#include <ATen/ops/from_blob.h>
#include <ATen/ops/ones.h>
#include <ATen/ops/unique_dim.h>
#include <ATen/ops/where.h>
#include <ATen/ops/zeros.h>

#include "pace/base/random.hpp"
#include "pace/check/clone_input.hpp"
#include "pace/check/raw_memory.hpp"
#include "pace/check/restore.hpp"
#include "pace/subject/operands.hpp"
#include "pace/subject/write_values.hpp"
#include "pace/values/integer_places.hpp"
#include "pace/values/padding.hpp"
#include "pace/values/quantized_values.hpp"
#include "pace/values/random_draws.hpp"
#include "pace/values/rearranged_values.hpp"
#include "pace/values/related_integers.hpp"
#include "pace/values/renewal.hpp"
#include "pace/values/repeated_draws.hpp"
#include "pace/values/replaced_values.hpp"
#include "pace/values/value_structure.hpp"

namespace pace::detail {

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
         (tensor.is_floating_point() || tensor.is_complex()) && !check::detail::holds_only_bits(tensor.scalar_type());
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

/// Draws unseen values from given ones, by numbers that cannot be foreseen without the seed.
class UnseenValues {
 public:
  /// Looks at the given values once. `known`: what integers may add up to, or be bounded by.
  UnseenValues(std::vector<at::Tensor> given, std::uint64_t seed, const KnownSizes& known = {})
      : given_(std::move(given)), random_(seed), drawn_(given_) {
    for (std::size_t i = 0; i < given_.size(); ++i) {
      quantized_.push_back(is_renewable_quantized(given_[i]));
      renewable_.push_back(quantized_[i] || renewable(given_[i]));
      structures_.push_back(renewable_[i] && !quantized_[i] ? structure_or_unknown(given_[i]) : ValueStructure{});
      special_.push_back(structures_[i].needs_common_factor());
      dims_.push_back(place_free_dim(given_[i]));
      replace_dims_.push_back(replace_dim(given_[i], structures_[i], dims_[i]));
      one_hot_.push_back(replace_dims_[i] && one_hot_dim(check::detail::distinct_values_of(given_[i])));
      signs_.push_back(renewable_[i] && !special_[i] && structures_[i].both_signs);
      same_as_.push_back(i);
      for (std::size_t earlier = 0; earlier < i && given_[i].defined(); ++earlier)
        if (given_[earlier].defined() && given_[earlier].sizes() == given_[i].sizes() &&
            given_[earlier].scalar_type() == given_[i].scalar_type() &&
            given_[earlier].device() == given_[i].device() && unchanged(given_[earlier], given_[i])) {
          same_as_[i] = same_as_[earlier];
          break;
        }
      related_.push_back(false);
      for (std::size_t earlier = 0; earlier < i; ++earlier)
        if (follows_from(given_[earlier], given_[i]) || follows_from(given_[i], given_[earlier]))
          related_[earlier] = related_[i] = true;
    }
    for (std::size_t i = 0; i < given_.size(); ++i) {
      integers_.push_back(integers_of(i, known));
      if (related_[i]) {
        dims_[i].reset();
        one_hot_[i] = false;
      }
      if (related_[i] || integers_[i].successors || integers_[i].segments) replace_dims_[i].reset();
    }
    for (std::size_t i = 0; i < given_.size(); ++i) keep_padding(i);
  }

  /// Returns a source of other values that does not advance this one.
  [[nodiscard]] UnseenValues with_seed(std::uint64_t seed) const {
    UnseenValues other = *this;
    other.random_ = SplitMix64(seed);
    return other;
  }

  /// Whether there is anything to renew by values of this kind that simpler kinds leave.
  [[nodiscard]] bool any(Renewal renewal) const {
    const auto is_set = [](const auto& flags) { return std::find(flags.begin(), flags.end(), true) != flags.end(); };
    const auto has = [](const auto& dims) {
      return std::any_of(dims.begin(), dims.end(), [](const auto& dim) { return dim.has_value(); });
    };
    if (renewal.signs && !is_set(signs_)) return false;
    if (renewal.integers == Renewal::Integers::replace) return has(replace_dims_);
    if (renewal.integers == Renewal::Integers::move) return has(dims_);
    if (renewal == Renewal::resample) {
      for (std::size_t i = 0; i < given_.size(); ++i)
        if (renewable_[i] && may_repeat(structures_[i])) return true;
      return false;
    }
    // Without special values each of these is another one of the kinds.
    if (renewal == Renewal::rearrange || renewal == Renewal(Renewal::vary, /*signs=*/true)) return is_set(special_);
    return is_set(renewable_);
  }
  /// Whether values of this kind are in other places than the given ones, so that they may be unseen though no output
  /// shows it.
  [[nodiscard]] bool changes_places(Renewal renewal) const {
    return (renewal.moves_integers() && any({Renewal::rearrange, /*signs=*/false, Renewal::Integers::move})) ||
           (renewal.rearranges() && any(Renewal::rearrange));
  }
  /// Positions of the tensors whose values the last draw has renewed.
  [[nodiscard]] std::vector<std::size_t> positions() const { return renewed_by(last_); }
  /// Whether values of this kind renew tensor `i`.
  [[nodiscard]] bool renews(Renewal renewal, std::size_t i) const {
    return renewable_[i] || (renewal.moves_integers() && dims_[i]);
  }
  /// Positions of the tensors whose values a draw of this kind renews.
  [[nodiscard]] std::vector<std::size_t> renewed_by(Renewal renewal) const {
    std::vector<std::size_t> found;
    for (std::size_t i = 0; i < renewable_.size(); ++i)
      if (renews(renewal, i)) found.push_back(i);
    return found;
  }
  /// Whether integers or bools of tensor `i` may change places.
  [[nodiscard]] bool moves(std::size_t i) const { return dims_[i].has_value(); }
  /// Whether the integers of tensor `i` stay, since those of another tensor follow from them (see follows_from()), or
  /// since they describe the padding of another one (see relation_to_padding()).
  [[nodiscard]] bool is_related(std::size_t i) const { return related_[i]; }
  /// Whether other integers or bools of tensor `i` must have the sum, or the largest number, of those given.
  [[nodiscard]] bool keeps_sum(std::size_t i) const { return integers_[i].keeps_sum; }
  [[nodiscard]] bool keeps_largest(std::size_t i) const { return integers_[i].keeps_largest; }
  /// Index of the first tensor with the values of tensor `i`.
  [[nodiscard]] std::size_t same_as(std::size_t i) const { return same_as_[i]; }
  /// Structure of the given values of tensor `i`; none for integers and bools.
  [[nodiscard]] const ValueStructure& structure(std::size_t i) const { return structures_[i]; }
  /// Returns a seed that cannot be foreseen either.
  [[nodiscard]] std::uint64_t draw_seed() { return random_(); }

  /// Writes values into `tensors`, which are like the given ones, that differ from those of all earlier draws; given
  /// ones that are equal stay equal. Tensors of the indices `kept` are not touched, not even read. Throws c10::Error
  /// for dtypes that have no arithmetic.
  void draw(Renewal renewal, const std::vector<at::Tensor>& tensors, std::span<const std::size_t> kept = {}) {
    const c10::NoGradGuard no_grad;
    const auto stays = [&](std::size_t i) { return std::ranges::find(kept, i) != kept.end(); };
    for (std::size_t i = 0; i < given_.size(); ++i)
      if (!stays(i)) check::restore_tensor(given_[i], tensors[i]);
    last_ = renewal;
    const double factor = draw_factor(random_);
    const std::uint64_t seed = random_();
    const bool replaces = renewal.integers == Renewal::Integers::replace;
    const std::size_t places = 2 + random_.below(1 << 16);
    // Memory that several tensors share is renewed once, so that it is looked at for the first of them alone.
    const auto look_at = [&](std::size_t i) {
      if (!special_[i] && renewal.has_random_factors(tensors[i].scalar_type())) drawn_.look_at(i, tensors[i]);
    };
    renew_each(tensors, [&](at::Tensor& memory, std::size_t i) {
      if (stays(i) || !renewable_[i]) return;
      switch (renewal.family) {
        case Renewal::rearrange:
        case Renewal::resample:
        case Renewal::vary: {
          SplitMix64 own(seed + same_as_[i]);
          if (!special_[i]) {
            const bool signs = renewal.signs && signs_[i];
            multiply_each(memory, own, signs && !memory.is_complex());
            if (signs && memory.is_complex()) turn_each(memory, own);
            look_at(i);
            return;
          }
          at::Tensor values = check::detail::distinct_values_of(tensors[i]);
          if (!renewal.rearranges() || !rearrange_values(values, structures_[i], factor, own))
            memory.mul_(factor);
          else if ((replaces && replace_dims_[i]) || (renewal == Renewal::resample && may_repeat(structures_[i])))
            resample_values(values, replace_dims_[i].value_or(longest_dim(values)), own);
          return;
        }
        case Renewal::scale:
          memory.mul_(factor);
          look_at(i);
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
    for (std::size_t i = 0; i < given_.size(); ++i)
      if (quantized_[i] && !stays(i) && renewal != Renewal::none)
        renew_quantized(renewal, tensors[i], factor, places, SplitMix64(seed + same_as_[i]));
    if (!renewal.moves_integers()) return;
    renew_each_if(
        tensors, [&](std::size_t i) { return !stays(i) && dims_[i].has_value(); },
        [&](std::size_t i) {
          at::Tensor values = check::detail::distinct_values_of(tensors[i]);
          // By as many places in all dimensions of one size, since lengths may belong to rows.
          move_integers(i, values, SplitMix64(seed), replaces);
        });
  }

  /// Returns a tensor whose values were drawn a second time, or were left as they are given, once: something has
  /// changed the operators by which they are drawn. Nothing if there is none.
  [[nodiscard]] std::optional<std::size_t> take_repeated_draw() { return drawn_.take(); }

  /// Changes values by a few units in their last places, as rounding does: in way 0 by halves of a tensor, in any other
  /// way each value up or down, by a pattern of its own. Whole numbers have no last places: what is computed from them
  /// may jump.
  void perturb(const std::vector<at::Tensor>& tensors, std::uint32_t way = 0) const {
    const c10::NoGradGuard no_grad;
    renew_each(tensors, [&](at::Tensor& memory, std::size_t i) {
      if (structures_[i].whole) return;
      const double few = 4 * epsilon_of(memory.scalar_type());
      if (way > 0) {
        const auto place = at::arange(memory.numel(), memory.options().dtype(at::kLong));
        const auto up = place.add(way).mul(2654435761 * std::int64_t{way}).bitwise_right_shift(20).bitwise_and(1);
        memory.mul_(up.to(c10::toRealValueType(memory.scalar_type())).mul(2 * few).add(1 - few));
        return;
      }
      if (!special_[i]) memory.mul_(1 + few);
      memory.narrow(0, 0, (memory.numel() + 1) / 2).mul_(1 - few);
    });
  }

 private:
  /// What other integers of a tensor must keep.
  struct Integers {
    bool successors = false;
    std::optional<at::Tensor> segments = {};
    bool keeps_sum = false, keeps_largest = false;
    /// The value of padding, which others do not take, and whether rows change places with their padding.
    std::optional<std::int64_t> padding = {};
    bool moves_rows = false;
  };
  [[nodiscard]] Integers integers_of(std::size_t i, const KnownSizes& known) const {
    constexpr std::int64_t most_looked_at = 1 << 20;
    Integers found;
    const at::Tensor& given = given_[i];
    if (!given.defined() || !check::detail::is_plain(given) || given.numel() < 2 || given.numel() > most_looked_at ||
        !is_computed_integral(given.scalar_type()))
      return found;
    found.keeps_sum = known.has_sum_of(given);
    if (given.scalar_type() == at::kBool) return found;
    found.keeps_largest = known.has_largest_of(given);
    if (!dims_[i]) return found;
    found.successors = is_successors(given);
    const auto range = given.max().item().toLong() - given.min().item().toLong() + 1;
    for (std::size_t other = 0; other < given_.size() && !found.segments && !found.successors; ++other)
      if (other != i && range <= most_looked_at) found.segments = ascending_segments(given, given_[other]);
    return found;
  }

  /// Looks for padding in tensor `i`, which other values have as well. What describes it stays; rows change places with
  /// it where no other tensor says anything of it and their lengths are not in order.
  void keep_padding(std::size_t i) {
    try {
      const auto padding = padding_of(given_[i]);
      if (!padding) return;
      bool alone = true;
      for (std::size_t other = 0; other < given_.size(); ++other) {
        const auto relation = other == i ? PaddingRelation::none : relation_to_padding(given_[other], *padding);
        alone = alone && relation == PaddingRelation::none;
        if (relation == PaddingRelation::description) leave(other);
      }
      if (!dims_[i]) return;
      const at::Tensor values = check::detail::distinct_values_of(given_[i]).to(at::kCPU, at::kLong);
      const at::Tensor steps = padding->lengths.diff();
      const bool in_order = steps.ge(0).all().item<bool>() || steps.le(0).all().item<bool>();
      integers_[i].padding = padding->value;
      integers_[i].moves_rows = alone && values.dim() == 2 && !in_order;
      // Parts of a sum might be the value of padding.
      const bool replaced =
          !integers_[i].keeps_sum && may_replace(values.masked_select(padding->places.logical_not()), 0);
      replace_dims_[i] = replaced ? std::optional<std::int64_t>(0) : std::nullopt;
    } catch (...) {  // a dtype without arithmetic
    }
  }

  /// Leaves the values of tensor `i` as they are given.
  void leave(std::size_t i) {
    related_[i] = true;
    renewable_[i] = special_[i] = signs_[i] = one_hot_[i] = false;
    dims_[i].reset();
    replace_dims_[i].reset();
  }

  [[nodiscard]] static at::Tensor rolled(const at::Tensor& values, std::int64_t dim, SplitMix64& random) {
    const auto size = static_cast<std::size_t>(values.size(dim));
    return values.roll(1 + static_cast<std::int64_t>(random.below(size - 1)), dim);
  }

  void move_integers(std::size_t i, at::Tensor& values, SplitMix64 random, bool replace) const {
    const auto& kept = integers_[i];
    if (kept.successors) return rename_successors(values, draw_order(values.numel(), random, values.device()));
    if (kept.segments) {
      const auto range = values.max().item().toLong() - values.min().item().toLong() + 1;
      return renew_in_segments(values, *kept.segments, draw_order(range, random, at::kCPU));
    }
    if (!kept.padding) return move_along(i, *dims_[i], values, random, replace);
    if (kept.moves_rows) values.copy_(rolled(values, 0, random));
    const at::Tensor places = values.ne(*kept.padding);
    at::Tensor others = values.masked_select(places);
    move_along(i, 0, others, random, replace);
    values.masked_scatter_(places, others);
  }

  void move_along(std::size_t i, std::int64_t dim, at::Tensor& values, SplitMix64& random, bool replace) const {
    const auto& kept = integers_[i];
    values.copy_(rolled(values, dim, random));
    if (!replace || !replace_dims_[i]) return;
    if (one_hot_[i]) return resample_slices(values, *replace_dims_[i], random);
    if (kept.keeps_sum) return move_sum(values, kept.keeps_largest, random);
    const at::Tensor before = values.clone();
    resample_values(values, *replace_dims_[i], random);
    if (kept.keeps_largest) values.copy_(before.where(before.eq(before.max()), values));
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

  static void renew_quantized(Renewal renewal, const at::Tensor& tensor, double factor, std::size_t places,
                              SplitMix64 random) {
    if (renewal == Renewal::rotate) {
      at::Tensor stored = stored_integers_of(tensor);
      stored.copy_(stored.roll(1 + static_cast<std::int64_t>(places) % std::max<std::int64_t>(stored.numel() - 1, 1)));
      return;
    }
    const auto options = at::TensorOptions().dtype(at::kDouble).device(tensor.device());
    at::Tensor factors = at::ones(renewal.varies() ? tensor.sizes() : at::IntArrayRef({}), options);
    if (renewal.varies()) {
      multiply_each(factors.view({-1}), random, /*signs=*/false);
    } else {
      factors.fill_(factor);
    }
    multiply_quantized(tensor, factors);
  }

  std::vector<at::Tensor> given_;
  SplitMix64 random_;
  RepeatedDraws drawn_;
  std::vector<bool> renewable_, special_;
  /// Whether values are quantized, and renewed by others of the same scale.
  std::vector<bool> quantized_ = {};
  std::vector<ValueStructure> structures_ = {};
  /// For integers and bools, the dimension along which they may change places.
  std::vector<std::optional<std::int64_t>> dims_ = {};
  std::vector<bool> related_ = {};
  std::vector<Integers> integers_ = {};
  /// The dimension along which whole numbers or bools may be replaced by others.
  std::vector<std::optional<std::int64_t>> replace_dims_ = {};
  /// Whether values are one-hot rows that may be replaced.
  std::vector<bool> one_hot_ = {};
  /// Whether values may change their signs.
  std::vector<bool> signs_ = {};
  Renewal last_ = Renewal::none;
  /// Index of the first tensor with the same values.
  std::vector<std::size_t> same_as_;
};

}  // namespace pace::detail
