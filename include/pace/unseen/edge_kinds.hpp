// EdgeKind: values that random operands hardly have, and how outputs are compared there.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include <ATen/core/Tensor.h>
#include <ATen/core/ivalue.h>
#include <c10/core/GradMode.h>

#include "pace/check/clone.hpp"
#include "pace/check/clone_input.hpp"
#include "pace/check/ivalue.hpp"
#include "pace/check/raw_memory.hpp"
#include "pace/check/tolerance.hpp"
#include "pace/values/integer_places.hpp"
#include "pace/values/padding.hpp"
#include "pace/values/rearranged_matrices.hpp"
#include "pace/values/replaced_values.hpp"
#include "pace/values/unseen_values.hpp"
#include "pace/values/value_structure.hpp"
#include "pace/verify/expected.hpp"
#include "pace/verify/sensitivity.hpp"

namespace pace::detail {

/// One kind of edge values for the operands.
struct EdgeKind {
  /// Completes "it is right for the operands given, but not for ...".
  std::string description;
  /// Writes to the tensors. Returns whether anything changed.
  std::function<bool(const std::vector<at::Tensor>&)> write;
  /// Skip these values if the baseline's results have more that are not finite than for the values given.
  bool must_stay_finite = false;
  /// Whether to compare indices: integers of 32 bits or more. Not where many values are equal, since any of their
  /// indices is right.
  bool compares_indices = true;
  /// Compare only results of elementwise operators, whose errors are relative to their own size. Elsewhere, such as in
  /// a normalisation, a sum may cancel terms larger than operands and results.
  bool elementwise_only = false;
  /// Skip these values if the baseline loses more than a thousandth, measured by a float64 call.
  bool must_stay_accurate = false;
  /// Skip these values if integers in the results may have overflowed.
  bool must_not_overflow = false;
  /// Writes values that are `sixteenths` smaller and bent (see bend()), for EdgeValues::are_no_places(). Null: not
  /// checked.
  std::function<bool(const std::vector<at::Tensor>&, int sixteenths)> write_smaller = nullptr;
};

/// Whether each element of the baseline's output tensor `output` depends on few values only.
[[nodiscard]] inline bool is_elementwise(const Expected& expected, const at::Tensor& output) {
  constexpr double most_terms = 4;
  const auto* known = check::find_learned(&expected.learned, output);
  return known != nullptr && known->terms <= most_terms;
}

/// Multiplies each value by 1 + `share` * |value| / the largest |value|. On the same rounding grid, a variance ignores
/// a shift, and a quotient a factor. Bent values change both.
inline void bend(const at::Tensor& values, double share) {
  if (share != 0) values.mul_(values.abs().div(values.abs().max()).mul(share).add(1));
}

/// Bends operands that may be large or small by `bent`, then multiplies them by `factor`. `both_signs` selects operands
/// of both signs or of one. Below 1, a factor skips float16, which loses precision there.
[[nodiscard]] inline bool scale(const std::vector<at::Tensor>& tensors, double factor, bool both_signs,
                                double bent = 0) {
  bool changed = false;
  for (const auto& tensor : tensors) {
    if (!has_real_values(tensor) || tensor.numel() == 1) continue;
    if (factor < 1 && c10::toRealValueType(tensor.scalar_type()) == at::kHalf) continue;
    const auto structure = structure_of(tensor);
    if (structure.both_signs != both_signs || structure.unit_range || structure.whole || structure.unit_rows) continue;
    // Sorted values of one sign may be boundaries, which have a largest value.
    if (!both_signs && structure.is_special()) continue;
    auto values = check::detail::distinct_values_of(tensor);
    bend(values, bent);
    values.mul_(factor);
    changed = true;
  }
  return changed;
}

/// Bends the largest operand by `bent`, then adds `deviations` standard deviations. Not if it has a special structure
/// or a 16-bit type, which has too few digits.
[[nodiscard]] inline bool shift(const std::vector<at::Tensor>& tensors, double deviations, double bent = 0) {
  constexpr double most_deviations = 64;
  const at::Tensor* largest = nullptr;
  for (const auto& tensor : tensors)
    if (has_real_values(tensor) && !tensor.is_complex() && tensor.numel() > 1 && tensor.element_size() >= 4 &&
        (largest == nullptr || tensor.numel() > largest->numel()))
      largest = &tensor;
  if (largest == nullptr) return false;
  const auto structure = structure_of(*largest);
  if (structure.unit_range || structure.is_special()) return false;
  auto values = check::detail::distinct_values_of(*largest);
  if (values.numel() < 2) return false;
  const double deviation = values.std().item<double>(), mean = values.mean().item<double>();
  if (!std::isfinite(deviation) || !(std::abs(mean) < most_deviations * deviation)) return false;
  bend(values, bent);
  values.add_(deviations * deviation);
  return true;
}

/// Makes masks true or false everywhere: bools, and numbers that are all 0 or 1. Not where `source` keeps the sum.
[[nodiscard]] inline bool fill_masks(const std::vector<at::Tensor>& tensors, const UnseenValues& source, bool value) {
  bool changed = false;
  for (std::size_t i = 0; i < tensors.size(); ++i) {
    const at::Tensor& tensor = tensors[i];
    if (source.keeps_sum(i)) continue;
    if (!tensor.defined() || !check::detail::is_plain(tensor) || tensor.numel() == 0 || tensor.is_complex()) continue;
    const bool real = has_real_values(tensor);
    if (!real && !c10::isIntegralType(tensor.scalar_type(), /*includeBool=*/true)) continue;
    auto values = check::detail::distinct_values_of(tensor);
    if (tensor.scalar_type() != at::kBool && !values.eq(0).logical_or(values.eq(1)).all().item<bool>()) continue;
    const auto structure = real ? structure_of(tensor) : ValueStructure{};
    if (!replace_dim(tensor, structure, place_free_dim(tensor)) || one_hot_dim(values)) continue;
    values.fill_(value);
    changed = true;
  }
  return changed;
}

/// Multiplies an operand's integers, except padding, so that the largest has about 40 bits. The factor is odd, so odd
/// integers stay odd.
inline void enlarge(const at::Tensor& tensor) {
  auto values = check::detail::distinct_values_of(tensor);
  const auto largest = std::max<std::int64_t>(values.abs().max().item<std::int64_t>(), 1);
  const auto padding = padding_of(tensor);
  const at::Tensor enlarged = values.mul(((std::int64_t{1} << 40) / largest) | 1);
  values.copy_(padding ? values.where(values.eq(padding->value), enlarged) : enlarged);
}

/// Makes the first row of operands zeros of both signs, and the second one denormals.
[[nodiscard]] inline bool empty_rows(const std::vector<at::Tensor>& tensors) {
  bool changed = false;
  for (const auto& tensor : tensors) {
    if (!has_real_values(tensor) || tensor.dim() == 0) continue;
    const auto structure = structure_of(tensor);
    if (!structure.both_signs || structure.whole || structure.sorted || structure.symmetric || structure.unit_rows ||
        structure.centred_columns)
      continue;
    auto values = check::detail::distinct_values_of(tensor);
    if (values.size(0) < 2 || is_toeplitz(values)) continue;
    values.select(0, 0).mul_(0);
    if (values.size(0) > 2) {
      const double smallest = check::detail::precision_of(values.scalar_type()).smallest;
      values.select(0, 1).mul_(smallest / 4);
    }
    changed = true;
  }
  return changed;
}

/// Fills operands that are all zeros, such as a bias, with different values in [1/4, 1).
[[nodiscard]] inline bool fill_zeros(const std::vector<at::Tensor>& tensors, std::uint64_t seed) {
  bool changed = false;
  change_values(tensors, seed, [&](at::Tensor& values, const at::Tensor& numbers) {
    // Other constants may be masks, counts or lengths.
    if (values.is_complex() || !structure_of(values).zeros) return;
    values.copy_(numbers.mul(0.75).add(0.25));
    changed = true;
  });
  return changed;
}

/// Whether each tensor of `edge` has no more elements that are not finite than the one of `given` in its place.
[[nodiscard]] inline bool as_finite(const c10::IValue& given, const c10::IValue& edge) {
  const auto before = check::tensors_of(given), now = check::tensors_of(edge);
  for (std::size_t i = 0; i < std::min(before.size(), now.size()); ++i) {
    if (!has_real_values(before[i]) || !has_real_values(now[i])) continue;
    const auto not_finite = [](const at::Tensor& tensor) {
      return tensor.numel() - tensor.isfinite().sum().item<std::int64_t>();
    };
    if (not_finite(before[i]) < not_finite(now[i])) return false;
  }
  return true;
}

/// Replaces elements of an output by the expected ones where those are not finite, and where they are indices not to
/// compare.
class MaskedOutput {
 public:
  MaskedOutput(const EdgeKind& kind, const Expected& expected_here, const c10::IValue& output) {
    const auto expected = check::tensors_of(expected_here.output);
    outputs_ = check::tensors_of(output);
    for (std::size_t i = 0; i < outputs_.size(); ++i) {
      masked_.push_back(outputs_[i]);
      // Tensors that are not dense are compared as they are.
      if (i >= expected.size() || !check::detail::is_plain(outputs_[i]) || !check::detail::is_plain(expected[i]) ||
          expected[i].sizes() != outputs_[i].sizes() || expected[i].scalar_type() != outputs_[i].scalar_type() ||
          expected[i].device() != outputs_[i].device())
        continue;
      // Shorter integers are quantised values, which overflow for large operands.
      const bool indices = c10::isIntegralType(outputs_[i].scalar_type(), /*includeBool=*/false) &&
                           outputs_[i].element_size() >= std::int64_t{sizeof(std::int32_t)};
      if (indices && !kind.compares_indices) masked_[i] = expected[i];
      if (kind.elementwise_only && !is_elementwise(expected_here, expected[i])) {
        masked_[i] = expected[i];
        continue;
      }
      if (has_real_values(outputs_[i]) && has_real_values(expected[i]))
        masked_[i] = outputs_[i].where(expected[i].isfinite(), expected[i]);
    }
  }
  [[nodiscard]] const at::Tensor& of(const at::Tensor& tensor) const {
    std::size_t i = 0;
    while (!outputs_[i].is_same(tensor)) ++i;
    return masked_[i];
  }

 private:
  std::vector<at::Tensor> outputs_, masked_;
};

/// Returns an output that is masked so.
[[nodiscard]] inline c10::IValue where_expected_is_finite(const EdgeKind& kind, const Expected& expected,
                                                          const c10::IValue& output) {
  const c10::NoGradGuard no_grad;
  return check::detail::with_clones(output, MaskedOutput(kind, expected, output));
}

}  // namespace pace::detail
