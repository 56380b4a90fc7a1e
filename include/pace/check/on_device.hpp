// Comparison on the tensors' device: copying a GPU's memory to the host takes longer than all the rest.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <limits>
#include <optional>

#include "pace/check/chunks.hpp"

namespace pace::check::detail {

/// Whether both tensors hold the same bits, by a pass on their device, which on a CPU ends at the first difference.
/// False if device, dtype or shape differ. Nothing for tensors that are nested, quantised, lazily conjugated or
/// negated, or not strided, or whose elements do not have 1, 2, 4 or 8 bytes.
[[nodiscard]] std::optional<bool> identical_bits(const auto& x, const auto& y) {
  const auto as_integers = [](const auto& tensor) -> std::optional<at::Tensor> {
    if (tensor.is_quantized() || tensor.is_conj() || tensor.is_neg()) return {};
    switch (tensor.element_size()) {
      case 1:
        return tensor.view(at::kByte);
      case 2:
        return tensor.view(at::kShort);
      case 4:
        return tensor.view(at::kInt);
      case 8:
        return tensor.view(at::kLong);
      default:
        return {};
    }
  };
  for (const auto* each : {&x, &y})
    if (each->layout() != c10::kStrided || each->is_nested()) return {};
  if (x.device() != y.device() || x.scalar_type() != y.scalar_type() || x.sizes() != y.sizes()) return false;
  const auto xs = as_integers(x), ys = as_integers(y);
  if (!xs || !ys) return {};
  return xs->equal(*ys);
}

/// True only if both tensors hold the same bits; false also if identical_bits() returns nothing.
[[nodiscard]] bool surely_identical(const auto& x, const auto& y) { return identical_bits(x, y).value_or(false); }

[[nodiscard]] std::int64_t count_nans(const auto& tensor) {
  if (!tensor.is_floating_point() && !tensor.is_complex()) return 0;
  return tensor.isnan().sum().template item<std::int64_t>();
}

/// Errors of a pair of pieces, by the rules of `compare` for two doubles.
struct DevicePiece {
  std::int64_t mismatches = 0, expected_nans = 0, actual_nans = 0;
  double max_error = 0, max_relative = 0;
  /// First of the largest errors, among mismatches if there are any; meaningful only with an error.
  std::int64_t worst = 0;
  double expected = 0, actual = 0;
};

/// Compares elements of double, from `as_elements`, on one device other than the CPU.
[[nodiscard]] DevicePiece compare_on_device(const auto& expected, const auto& actual, double rtol, double atol,
                                            bool equal_nan) {
  constexpr double infinity = std::numeric_limits<double>::infinity();
  const auto e = expected.reshape({-1}), a = actual.reshape({-1});
  const auto expected_nan = e.isnan(), actual_nan = a.isnan();
  DevicePiece piece;
  piece.expected_nans = expected_nan.sum().template item<std::int64_t>();
  piece.actual_nans = actual_nan.sum().template item<std::int64_t>();
  auto identical = e.eq(a);
  if (equal_nan) identical = identical.logical_or(expected_nan.logical_and(actual_nan));
  const auto odd = e.isfinite().logical_and(a.isfinite()).logical_not();
  const auto magnitude = e.abs();
  auto error = e.sub(a).abs_();
  auto relative = error.div(magnitude);
  for (at::Tensor* each : {&error, &relative}) each->masked_fill_(odd, infinity).masked_fill_(identical, 0);
  piece.max_error = error.max().template item<double>();
  if (piece.max_error == 0) return piece;
  piece.max_relative = relative.max().template item<double>();
  const auto allowed = magnitude.mul(rtol).add_(atol);
  const auto mismatch = error.le(allowed).logical_not_().logical_or_(odd).logical_and_(identical.logical_not());
  piece.mismatches = mismatch.sum().template item<std::int64_t>();
  if (piece.mismatches > 0) error.masked_fill_(mismatch.logical_not(), -1);
  piece.worst = error.argmax().template item<std::int64_t>();
  piece.expected = e.select(0, piece.worst).template item<double>();
  piece.actual = a.select(0, piece.worst).template item<double>();
  return piece;
}

}  // namespace pace::check::detail
