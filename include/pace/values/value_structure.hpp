// ValueStructure: properties of the values of an operand that a function may rely on.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <tuple>

#include <ATen/core/Tensor.h>
#include <c10/core/GradMode.h>

#include "pace/check/raw_memory.hpp"

namespace pace::detail {

/// Whether a condition holds for all elements.
[[nodiscard]] inline bool holds_for_all(const at::Tensor& condition) { return condition.all().item<bool>(); }

/// Whether all values are equal.
[[nodiscard]] inline bool are_equal(const at::Tensor& values) {
  return holds_for_all(values.eq(values.flatten().narrow(0, 0, 1)));
}

/// Special properties of an operand's values, which other values must have, too.
struct ValueStructure {
  bool unit_range = false;  ///< all lie in [-1, 1], as probabilities and cosines do
  bool whole = false;       ///< all are whole numbers, as flags, counts and one-hot rows are
  bool infinite = false;    ///< some are infinite or NaN, as in masks of an attention
  bool zeros = false;       ///< there are several, and all are zero
  bool both_signs = false;  ///< some are negative and some are positive
  bool sorted = false;      ///< in each row none is smaller, or none is larger, than the one before
  /// Matrices that are equal to their transposes, or the conjugates of these, but for rounding of real numbers.
  bool symmetric = false;
  bool unit_rows = false;  ///< rows have the length 1
  bool unit_sums = false;  ///< rows of no negative values have the sum 1
  /// Rows of no positive values are logarithms of others with the sum 1, not all of them of 0 and 1.
  bool log_probabilities = false;
  bool centred_rows = false;  ///< rows have the sum 0 but for rounding, and none of the properties above
  /// Columns of a matrix have the sum 0 but for rounding, and none of the properties above.
  bool centred_columns = false;
  bool ties = false;    ///< more than a tenth of those other than zero are equal to another one
  bool sparse = false;  ///< more than a tenth are zeros

  /// Returns whether factors of their own for the values would take a property away. A common factor leaves order, ties
  /// and symmetry.
  [[nodiscard]] bool needs_common_factor() const {
    return whole || infinite || sorted || symmetric || has_unit_rows() || is_centred() || ties;
  }
  /// Returns whether there is a property that centred() gives.
  [[nodiscard]] bool is_centred() const { return centred_rows || centred_columns; }
  /// Returns whether rows have one of the properties that with_unit_rows() gives.
  [[nodiscard]] bool has_unit_rows() const { return unit_rows || unit_sums || log_probabilities; }
  /// Returns whether values far from these would take a property away: factors leave zeros where they are.
  [[nodiscard]] bool is_special() const { return needs_common_factor() || sparse; }
};

/// Returns `rows`, floating-point ones along the last dimension, with the property that `structure` says of rows: the
/// length 1, the sum 1, or logarithms of values with the sum 1. Others are returned as they are.
[[nodiscard]] inline at::Tensor with_unit_rows(const at::Tensor& rows, const ValueStructure& structure) {
  if (rows.dim() == 0) return rows;
  if (structure.log_probabilities) return rows.log_softmax(-1);
  if (structure.unit_sums) return rows.div(rows.sum(-1, /*keepdim=*/true));
  if (structure.unit_rows) return rows.div(rows.square().sum(-1, /*keepdim=*/true).sqrt());
  return rows;
}

/// Returns `values` without the means of rows or columns, if `structure` says that these have the sum 0.
[[nodiscard]] inline at::Tensor centred(at::Tensor values, const ValueStructure& structure) {
  if (structure.centred_rows) values = values.sub(values.mean(-1, /*keepdim=*/true));
  if (structure.centred_columns) values = values.sub(values.mean(0, /*keepdim=*/true));
  return values;
}

/// Returns a few roundings of a number of the size 1 in `type`, float32 or float64: smaller values count as zero.
[[nodiscard]] inline double roundings_of(at::ScalarType type) {
  constexpr double roundings = 16;
  return roundings *
         (type == at::kFloat ? std::numeric_limits<float>::epsilon() : std::numeric_limits<double>::epsilon());
}

/// Whether real square matrices, such as correlations, equal their transposes but for a few roundings of the largest
/// value. A product of a matrix and its transpose is often no more symmetric than that.
[[nodiscard]] inline bool is_symmetric_but_for_rounding(const at::Tensor& matrices) {
  if (matrices.scalar_type() != at::kFloat && matrices.scalar_type() != at::kDouble) return false;
  const double largest = matrices.abs().max().item<double>();
  const double apart = matrices.sub(matrices.transpose(-1, -2)).abs().max().item<double>();
  return std::isfinite(largest) && apart <= roundings_of(matrices.scalar_type()) * largest;
}

/// Whether dimension `dim` may hold the coordinates of points or boxes, where each has a meaning of its own: the last
/// one of several, with up to four elements.
[[nodiscard]] inline bool has_coordinates(const at::Tensor& values, std::int64_t dim) {
  constexpr std::int64_t most = 4;
  return values.dim() > 1 && dim == values.dim() - 1 && values.size(dim) <= most && values.size(dim) < values.numel();
}

/// The first rows of `values`, or as much of them as we look at for the structure of large ones.
[[nodiscard]] inline at::Tensor first_rows_of(const at::Tensor& values, std::int64_t most_elements) {
  if (values.dim() == 0 || values.numel() <= most_elements) return values;
  const std::int64_t in_row = std::max<std::int64_t>(values.numel() / values.size(0), 1);
  return values.narrow(0, 0, std::clamp<std::int64_t>(most_elements / in_row, 1, values.size(0)));
}

/// Whether square matrices are equal to their transposes, or to the conjugates of these, but for rounding.
[[nodiscard]] inline bool is_symmetric(const at::Tensor& values) {
  if (values.dim() < 2 || values.size(-1) != values.size(-2) || values.size(-1) < 2) return false;
  const at::Tensor turned = values.transpose(-1, -2);
  const auto equals = [&](const at::Tensor& other) { return holds_for_all(values.eq(other)); };
  return equals(turned) || (values.is_complex() && equals(turned.conj())) || is_symmetric_but_for_rounding(values);
}

/// Whether real values have the sum 0 along `dim` but for rounding, and so many signs that others may have it as well.
[[nodiscard]] inline bool sums_to_zero(const at::Tensor& values, std::int64_t dim) {
  const at::Tensor wide = values.to(at::kDouble);
  // Another mean would move zeros of differences. It would also change signs of rates, where one has the sum of all
  // others.
  const bool has_free_signs = holds_for_all(values.ne(0)) &&
                              values.gt(0).sum(dim).ge(2).logical_and(values.lt(0).sum(dim).ge(2)).any().item<bool>();
  return has_free_signs &&
         holds_for_all(wide.sum(dim).abs().le(wide.abs().sum(dim).mul(roundings_of(values.scalar_type()))));
}

/// Returns the structure of the values of a floating-point or complex tensor. Looks only at the first rows of large
/// ones, except for zeros and symmetry. Throws c10::Error for dtypes that have no arithmetic.
[[nodiscard]] inline ValueStructure structure_of(const at::Tensor& tensor) {
  constexpr std::int64_t most_elements = 1 << 18, most_for_ties = 1024, fewest_for_ties = 16;
  constexpr double sum_tolerance = 1e-2;  // of rows in float16
  const c10::NoGradGuard no_grad;
  const at::Tensor whole_tensor = check::detail::distinct_values_of(tensor);
  ValueStructure found;
  found.zeros = tensor.numel() > 1 && holds_for_all(whole_tensor.eq(0));
  found.symmetric = is_symmetric(whole_tensor);
  const at::Tensor values = first_rows_of(whole_tensor, most_elements);
  found.infinite = !holds_for_all(values.isfinite());
  found.unit_range = holds_for_all(values.abs().le(1));
  if (values.is_complex()) {
    found.both_signs = true;
    return found;
  }
  found.whole = holds_for_all(values.eq(values.round()));
  found.both_signs = values.lt(0).any().item<bool>() && values.gt(0).any().item<bool>();
  if (values.dim() == 0) return found;
  const std::int64_t width = values.size(-1);
  if (width >= 2) {
    const auto sums_to_one = [&](const at::Tensor& rows) {
      return holds_for_all(rows.sum(-1).sub(1).abs().lt(sum_tolerance));
    };
    found.unit_sums = holds_for_all(values.ge(0)) && sums_to_one(values.to(at::kDouble));
    found.log_probabilities = !found.whole && holds_for_all(values.le(0)) && sums_to_one(values.to(at::kDouble).exp());
  }
  if (width >= 3) {
    const at::Tensor later = values.narrow(-1, 1, width - 1), earlier = values.narrow(-1, 0, width - 1);
    found.sorted = holds_for_all(later.ge(earlier)) || holds_for_all(later.le(earlier));
    found.unit_rows = holds_for_all(values.to(at::kDouble).square().sum(-1).sub(1).abs().lt(sum_tolerance));
  }
  // Narrow types have ties among any numbers. Zeros stay zeros with any factor.
  const at::Tensor first = values.flatten().narrow(0, 0, std::min(values.numel(), most_for_ties));
  const at::Tensor some = first.masked_select(first.ne(0));
  if (values.scalar_type() != at::kFloat && values.scalar_type() != at::kDouble) return found;
  if (found.both_signs && !found.whole && !found.infinite && !found.sorted && !found.symmetric &&
      !found.has_unit_rows()) {
    found.centred_rows = sums_to_zero(values, -1);
    if (whole_tensor.dim() == 2) {
      const std::int64_t most_columns = most_elements / std::max<std::int64_t>(whole_tensor.size(0), 1);
      found.centred_columns =
          sums_to_zero(whole_tensor.narrow(1, 0, std::clamp<std::int64_t>(most_columns, 1, width)), 0);
    }
  }
  if (first.numel() >= fewest_for_ties) found.sparse = 10 * (first.numel() - some.numel()) > first.numel();
  if (some.numel() >= fewest_for_ties)
    found.ties = 10 * std::get<0>(some.sort()).diff().eq(0).sum().item<std::int64_t>() > some.numel();
  return found;
}

/// As structure_of(), but for a dtype without arithmetic a structure that only a common factor keeps.
[[nodiscard]] inline ValueStructure structure_or_unknown(const at::Tensor& tensor) {
  try {
    return structure_of(tensor);
  } catch (...) {
    return {.infinite = true};
  }
}

}  // namespace pace::detail
