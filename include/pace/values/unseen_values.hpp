// Unseen values: other inputs for the same buffers, which no call has seen before. A call that returns an answer to
// earlier values is wrong on them.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include <ATen/core/Tensor.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/full.h>
#include <ATen/ops/ones.h>
#include <c10/core/GradMode.h>

#include "pace/base/random.hpp"
#include "pace/check/raw_memory.hpp"
#include "pace/check/restore.hpp"
#include "pace/values/changed_memory.hpp"
#include "pace/values/kept_integers.hpp"
#include "pace/values/operand_values.hpp"
#include "pace/values/quantized_values.hpp"
#include "pace/values/random_draws.hpp"
#include "pace/values/rearranged_values.hpp"
#include "pace/values/related_integers.hpp"
#include "pace/values/repeated_draws.hpp"
#include "pace/values/replaced_values.hpp"
#include "pace/values/unseen_kind.hpp"
#include "pace/values/value_structure.hpp"

namespace pace::detail {

/// Draws unseen values from given ones, by numbers that nobody can foresee without the seed.
class UnseenValues {
 public:
  /// Looks at the given values once. `known`: sizes that integers may add up to, or be bounded by.
  UnseenValues(std::vector<at::Tensor> given, std::uint64_t seed, const KnownSizes& known = {})
      : given_(std::move(given)), random_(seed), drawn_(given_), operands_(look_at_all(given_, known)) {}

  /// Returns a source of other values that does not advance this one.
  [[nodiscard]] UnseenValues with_seed(std::uint64_t seed) const {
    UnseenValues other = *this;
    other.random_ = SplitMix64(seed);
    return other;
  }

  /// Whether values of this kind change anything that simpler kinds leave.
  [[nodiscard]] bool any(UnseenKind kind) const {
    if (kind.signs && !has(&OperandValues::signs)) return false;
    if (kind.integers == UnseenKind::Integers::replace)
      return has([](const auto& each) { return each.integers.replace_dim.has_value(); });
    if (kind.integers == UnseenKind::Integers::move) return may_move_integers();
    if (kind == UnseenKind::resample)
      return has([](const auto& each) { return each.changeable && may_repeat(each.structure); });
    // Without special values each of these is another one of the kinds.
    if (kind == UnseenKind::rearrange || kind == UnseenKind(UnseenKind::vary, /*of_signs=*/true))
      return has(&OperandValues::special);
    return has(&OperandValues::changeable);
  }
  /// Whether values of this kind are in other places than the given ones. They may be unseen then though no output
  /// shows it.
  [[nodiscard]] bool changes_places(UnseenKind kind) const {
    return (kind.moves_integers() && may_move_integers()) || (kind.rearranges() && has(&OperandValues::special));
  }
  /// Positions of the tensors that the last draw has changed.
  [[nodiscard]] std::vector<std::size_t> positions() const { return changed_by(last_); }
  /// Whether values of this kind change tensor `i`.
  [[nodiscard]] bool changes(UnseenKind kind, std::size_t i) const {
    return operands_[i].changeable || (kind.moves_integers() && moves(i));
  }
  /// Positions of the tensors that a draw of this kind changes.
  [[nodiscard]] std::vector<std::size_t> changed_by(UnseenKind kind) const {
    std::vector<std::size_t> found;
    for (std::size_t i = 0; i < operands_.size(); ++i)
      if (changes(kind, i)) found.push_back(i);
    return found;
  }
  /// Whether integers or bools of tensor `i` may change places.
  [[nodiscard]] bool moves(std::size_t i) const { return operands_[i].integers.dim.has_value(); }
  /// Whether the integers of tensor `i` stay. They do if another tensor's integers follow from them, or if they
  /// describe its padding.
  [[nodiscard]] bool is_related(std::size_t i) const { return operands_[i].related; }
  /// Whether other integers or bools of tensor `i` must have the sum, or the largest number, of those given.
  [[nodiscard]] bool keeps_sum(std::size_t i) const { return operands_[i].integers.keeps_sum; }
  [[nodiscard]] bool keeps_largest(std::size_t i) const { return operands_[i].integers.keeps_largest; }
  /// Index of the first tensor with the values of tensor `i`.
  [[nodiscard]] std::size_t same_as(std::size_t i) const { return operands_[i].same_as; }
  /// Structure of the given values of tensor `i`; none for integers and bools.
  [[nodiscard]] const ValueStructure& structure(std::size_t i) const { return operands_[i].structure; }
  /// Returns a seed that nobody can foresee either.
  [[nodiscard]] std::uint64_t draw_seed() { return random_(); }

  /// Writes values into `tensors`, which are like the given ones. They differ from all earlier draws; given ones that
  /// are equal stay equal. Tensors of the indices `kept` are not touched, not even read. Throws c10::Error for dtypes
  /// that have no arithmetic.
  void draw(UnseenKind kind, const std::vector<at::Tensor>& tensors, std::span<const std::size_t> kept = {}) {
    const c10::NoGradGuard no_grad;
    const auto stays = [&](std::size_t i) { return std::ranges::find(kept, i) != kept.end(); };
    for (std::size_t i = 0; i < given_.size(); ++i)
      if (!stays(i)) check::restore_tensor(given_[i], tensors[i]);
    last_ = kind;
    const Draw draw{kind, draw_factor(random_), random_(), 2 + random_.below(1 << 16)};
    if (kind == UnseenKind::none) return;
    change_each(tensors, [&](at::Tensor& memory, std::size_t i) {
      if (!stays(i) && operands_[i].changeable) change(draw, i, tensors[i], memory);
    });
    for (std::size_t i = 0; i < given_.size(); ++i)
      if (operands_[i].quantized && !stays(i))
        change_quantized(draw, tensors[i], SplitMix64(draw.seed + operands_[i].same_as));
    if (!kind.moves_integers()) return;
    change_each_if(
        tensors, [&](std::size_t i) { return !stays(i) && moves(i); },
        [&](std::size_t i) {
          at::Tensor values = check::detail::distinct_values_of(tensors[i]);
          // By as many places in all dimensions of one size, since lengths may belong to rows.
          move_integers(values, operands_[i].integers, SplitMix64(draw.seed),
                        kind.integers == UnseenKind::Integers::replace);
        });
  }

  /// Returns, once, a tensor whose values were drawn a second time, or stayed as given. Then something has changed the
  /// operators that draw them. Nothing if there is none.
  [[nodiscard]] std::optional<std::size_t> take_repeated_draw() { return drawn_.take(); }

  /// Changes values by a few units in their last places, as rounding does. Way 0 does so by halves of a tensor. Any
  /// other way moves each value up or down, by a pattern of its own. Whole numbers have no last places: results that
  /// are computed from them may jump.
  void perturb(const std::vector<at::Tensor>& tensors, std::uint32_t way = 0) const {
    const c10::NoGradGuard no_grad;
    change_each(tensors, [&](at::Tensor& memory, std::size_t i) {
      if (operands_[i].structure.whole) return;
      const double few = 4 * epsilon_of(memory.scalar_type());
      if (way > 0) {
        const auto place = at::arange(memory.numel(), memory.options().dtype(at::kLong));
        const auto up = place.add(way).mul(2654435761 * std::int64_t{way}).bitwise_right_shift(20).bitwise_and(1);
        memory.mul_(up.to(c10::toRealValueType(memory.scalar_type())).mul(2 * few).add(1 - few));
        return;
      }
      if (!operands_[i].special) memory.mul_(1 + few);
      memory.narrow(0, 0, (memory.numel() + 1) / 2).mul_(1 - few);
    });
  }

 private:
  /// One draw: its kind, and the random numbers that all operands share.
  struct Draw {
    UnseenKind kind;
    double factor;
    std::uint64_t seed;
    std::size_t places;

    /// `values` in other places.
    [[nodiscard]] at::Tensor rolled(const at::Tensor& values) const {
      return values.roll(1 + static_cast<std::int64_t>(places) % std::max<std::int64_t>(values.numel() - 1, 1));
    }
  };

  [[nodiscard]] bool has(const auto& property) const { return std::ranges::any_of(operands_, property); }
  [[nodiscard]] bool may_move_integers() const {
    return has([](const auto& each) { return each.integers.dim.has_value(); });
  }

  /// `memory` belongs to `tensor`, which is at position `i`.
  void change(const Draw& draw, std::size_t i, const at::Tensor& tensor, at::Tensor& memory) {
    switch (draw.kind.family) {
      case UnseenKind::rotate:
        // The gaps of a strided view hold no values.
        if (tensor.is_non_overlapping_and_dense()) memory.copy_(draw.rolled(memory));
        return;
      case UnseenKind::scale_each:
        memory.mul_(1.0 / static_cast<double>(2 << ((i + draw.places) % 3)));
        return;
      case UnseenKind::scale:
        memory.mul_(draw.factor);
        // A factor of fewer digits may come again: float32 has 2^23 of them.
        if (!operands_[i].special && tensor.scalar_type() == at::kDouble) drawn_.look_at(i, tensor);
        return;
      default:
        if (operands_[i].special)
          change_special(draw, operands_[i], tensor, memory);
        else
          vary(draw, i, tensor, memory);
    }
  }

  void vary(const Draw& draw, std::size_t i, const at::Tensor& tensor, at::Tensor& memory) {
    const bool signs = draw.kind.signs && operands_[i].signs;
    SplitMix64 own(draw.seed + operands_[i].same_as);
    multiply_each(memory, own, signs && !memory.is_complex());
    if (signs && memory.is_complex()) turn_each(memory, own);
    drawn_.look_at(i, tensor);
  }

  static void change_special(const Draw& draw, const OperandValues& given, const at::Tensor& tensor,
                             at::Tensor& memory) {
    SplitMix64 own(draw.seed + given.same_as);
    at::Tensor values = check::detail::distinct_values_of(tensor);
    if (!draw.kind.rearranges() || !rearrange_values(values, given.structure, draw.factor, own)) {
      memory.mul_(draw.factor);
      return;
    }
    const auto& dim = given.integers.replace_dim;
    const bool replaces = draw.kind.integers == UnseenKind::Integers::replace && dim;
    const bool resamples = draw.kind == UnseenKind::resample && may_repeat(given.structure);
    if (replaces || resamples) resample_values(values, dim.value_or(longest_dim(values)), own);
  }

  static void change_quantized(const Draw& draw, const at::Tensor& tensor, SplitMix64 random) {
    if (draw.kind == UnseenKind::rotate) {
      at::Tensor stored = stored_integers_of(tensor);
      stored.copy_(draw.rolled(stored));
      return;
    }
    const auto options = at::TensorOptions().dtype(at::kDouble).device(tensor.device());
    if (!draw.kind.varies()) return multiply_quantized(tensor, at::full({}, draw.factor, options));
    const at::Tensor factors = at::ones(tensor.sizes(), options);
    multiply_each(factors.view({-1}), random, /*signs=*/false);
    multiply_quantized(tensor, factors);
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

  std::vector<at::Tensor> given_;
  SplitMix64 random_;
  RepeatedDraws drawn_;
  std::vector<OperandValues> operands_;
  UnseenKind last_ = UnseenKind::none;
};

}  // namespace pace::detail
