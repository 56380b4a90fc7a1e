// Default tolerances: by how much correct implementations of one computation may differ.
#pragma once

#include <ATen/core/Tensor.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <complex>
#include <cstdint>
#include <limits>
#include <optional>
#include <tuple>
#include <vector>

#include "pace/check/chunks.hpp"

namespace pace::check {

namespace detail {

/// Properties of a floating type, or of a complex one's parts, that tolerances depend on.
struct Precision {
  double epsilon;              // distance from 1 to the next number
  double accumulator_epsilon;  // epsilon of the type that sums are taken in
  double smallest;             // largest error by gradual or abrupt underflow
  double largest;
  double rtol, atol;  // as in torch.testing.assert_close, if it has any
};

template <class Real>
constexpr Precision precision_of_real(double rtol, double atol) {
  using Limits = std::numeric_limits<Real>;
  return {Limits::epsilon(), Limits::epsilon(), Limits::min(), Limits::max(), rtol, atol};
}

/// Properties of `dtype`; all zero for integers and bool, which must be equal.
[[nodiscard]] inline Precision precision_of(at::ScalarType dtype) {
  const double single = std::numeric_limits<float>::epsilon();
  switch (dtype) {
    case at::kDouble:
    case at::kComplexDouble:
      return precision_of_real<double>(1e-7, 1e-7);
    case at::kHalf:
    // Four of the smallest steps: below 6e-5, this type has a fixed step.
    case at::kComplexHalf:
      return {0x1p-10, single, 4 * 0x1p-24, 65504, 1e-3, 1e-5};
    case at::kBFloat16:
      return {0x1p-7, single, std::numeric_limits<float>::min(), 0x1.fep127, 1.6e-2, 1e-5};
    case at::kFloat:
    case at::kComplexFloat:
      return precision_of_real<float>(1.3e-6, 1e-5);
    default:
      break;
  }
  // One step of the type, since a correct result may be rounded up or down.
  if (dtype == at::kFloat8_e4m3fn || dtype == at::kFloat8_e4m3fnuz)
    return {0x1p-3, single, 0x1p-9, dtype == at::kFloat8_e4m3fn ? 448.0 : 240.0, 0x1p-3, 0x1p-9};
  if (c10::isFloat8Type(dtype))
    return {0x1p-2, single, 0x1p-16, dtype == at::kFloat8_e8m0fnu ? 0x1p127 : 57344.0, 0x1p-2, 0x1p-16};
  return {0, 0, 0, 0, 0, 0};
}

/// Whether the real type `dtype`, of at most 32 bits, holds `value` exactly.
[[nodiscard]] inline bool is_exact_in(double value, at::ScalarType dtype) {
  if (!std::isfinite(value)) return true;
  if (dtype == at::kFloat) return static_cast<double>(static_cast<float>(value)) == value;
  if (dtype == at::kHalf) return static_cast<double>(c10::Half(static_cast<float>(value))) == value;
  return static_cast<double>(c10::BFloat16(static_cast<float>(value))) == value;
}
[[nodiscard]] inline bool is_exact_in(const std::complex<double>& value, at::ScalarType dtype) {
  return is_exact_in(value.real(), dtype) && is_exact_in(value.imag(), dtype);
}

/// Real type whose tolerance applies to a number that a functor returns as a double. `widest` is the widest floating
/// type of the operands. Few results computed in float64 are exact in float32, so one that is was computed in float32.
/// A number that 16 bits do not hold was not rounded to them.
[[nodiscard]] inline at::ScalarType number_dtype(const auto& value, at::ScalarType widest) {
  const at::ScalarType real = c10::toRealValueType(widest);
  if (real == at::kHalf || real == at::kBFloat16) return is_exact_in(value, real) ? real : at::kFloat;
  return real == at::kDouble && !is_exact_in(value, at::kFloat) ? at::kDouble : at::kFloat;
}

/// Floating type with the smallest epsilon among `tensors`; float32 if none is floating. 0-d tensors count only if
/// there are no others, since they do not decide the type of a result.
[[nodiscard]] inline at::ScalarType widest_floating_type(const std::vector<at::Tensor>& tensors) {
  for (const bool scalars : {false, true}) {
    std::optional<at::ScalarType> widest;
    for (const auto& tensor : tensors) {
      if (!tensor.defined() || (tensor.dim() == 0) != scalars) continue;
      const double epsilon = precision_of(tensor.scalar_type()).epsilon;
      if (epsilon > 0 && (!widest || epsilon < precision_of(*widest).epsilon)) widest = tensor.scalar_type();
    }
    if (widest) return *widest;
  }
  return at::kFloat;
}

/// Returns std::ilogb(size) for a positive number, mostly from its bits. For large operands this is a good part of a
/// check's time.
[[nodiscard]] inline int exponent_of(double size) {
  constexpr int mantissa_bits = 52, bias = 1023;
  const int biased = static_cast<int>(std::bit_cast<std::uint64_t>(size) >> mantissa_bits);
  return biased > 0 ? biased - bias : std::ilogb(size);
}

/// Counts, on the device of `values`, the binary exponents of magnitudes above 0 and below `limit`. Returns `count`
/// int64 numbers in main memory, for the exponents from `lowest` on.
[[nodiscard]] at::Tensor count_exponents(const auto& values, double limit, int lowest, int count) {
  const auto size = values.abs();
  const auto chosen = size.masked_select(size.gt(0).logical_and_(size.lt(limit)));
  // frexp's mantissas lie in [0.5, 1), ilogb's in [1, 2).
  return std::get<1>(chosen.frexp()).sub(lowest + 1).bincount({}, count).to(at::kCPU, at::kLong);
}

}  // namespace detail

/// Returns a magnitude that three quarters of the non-zero elements of `tensor` reach, rounded down to a power of two;
/// 0 without any. Leaves out infinities, NaN and fillers (at least half of the type's largest number, as in attention
/// masks). Unlike a root mean square, it does not grow with a few huge elements.
[[nodiscard]] double typical_magnitude(const auto& tensor) {
  const auto dense = detail::strided(tensor);
  const double largest = detail::precision_of(dense.scalar_type()).largest;
  const bool complex = dense.is_complex();
  constexpr int lowest = -1075, count = 2200;  // exponents of double
  std::array<std::int64_t, count> histogram{};
  std::int64_t total = 0;
  for (detail::Chunks pieces{dense}; pieces.next();) {
    if (dense.is_cuda()) {
      const auto counts = detail::count_exponents(
          detail::as_elements(pieces[0], complex ? at::kComplexDouble : at::kDouble), largest / 2, lowest, count);
      const auto* number = static_cast<const std::int64_t*>(counts.const_data_ptr());
      for (std::size_t i = 0; i < histogram.size(); ++i) {
        histogram[i] += number[i];
        total += number[i];
      }
      continue;
    }
    const auto values = detail::on_cpu_as(pieces[0], complex ? at::kComplexDouble : at::kDouble);
    const auto* x = static_cast<const double*>(values.const_data_ptr());
    for (std::int64_t i = 0; i < values.numel(); ++i) {
      const double size = complex ? std::hypot(x[2 * i], x[2 * i + 1]) : std::abs(x[i]);
      if (!(size > 0 && size < largest / 2)) continue;
      ++histogram[static_cast<std::size_t>(detail::exponent_of(size) - lowest)];
      ++total;
    }
  }
  std::int64_t below = 0;
  for (int i = 0; i < count; ++i) {
    below += histogram[static_cast<std::size_t>(i)];
    if (4 * below > total) return std::ldexp(1.0, i + lowest);
  }
  return 0;
}

/// Returns the root mean square of elements that are neither infinite nor NaN nor fillers (see typical_magnitude()); 0
/// without any.
[[nodiscard]] inline double root_mean_square(const at::Tensor& tensor) {
  const double largest = detail::precision_of(tensor.scalar_type()).largest;
  const at::ScalarType dtype = tensor.is_complex() ? at::kComplexDouble : at::kDouble;
  const at::Tensor sizes = detail::as_elements(detail::strided(tensor), dtype).abs();
  const at::Tensor counted = sizes.masked_select(sizes.lt(largest / 2));
  return counted.numel() == 0 ? 0 : std::sqrt(counted.square().mean().item<double>());
}

/// Returns the absolute tolerance for an output of type `dtype` whose elements are typically as large as `typical` (see
/// typical_magnitude) and are sums of up to `reduction_length` terms.
///
/// A fixed tolerance, as in torch.testing.assert_close, is too small for a long sum and too large for small outputs.
/// Summing n terms in a different order changes the result by about epsilon * sqrt(n) of its typical magnitude, since
/// rounding errors add up as a random walk. So the tolerance is 16 * epsilon * sqrt(n) of the typical magnitude: 1.2e-4
/// for float32 and n = 4096.
///
/// Measured for a product of normal 256 x 4096 and 4096 x 128 matrices: plain loops that run forwards and backwards
/// differ by 0.4 of that, and assert_close rejects them. MKL differs from float64 by 0.04 of it, operands rounded to
/// bfloat16 by 280 times.
///
/// 16-bit types are summed in float32, but rounded on the way, as between the two products of an attention: they get at
/// least 16 of their own epsilons. At assert_close's atol of 1e-5, all zeros would pass for a softmax over a million
/// classes. So we cap it at a thousandth of the typical magnitude, unless all elements are zero.
[[nodiscard]] inline double default_atol(at::ScalarType dtype, double typical, std::int64_t reduction_length) {
  const detail::Precision precision = detail::precision_of(dtype);
  if (typical == 0) return precision.atol;
  const double reordering = 16 * precision.accumulator_epsilon * std::sqrt(static_cast<double>(reduction_length));
  const bool rounded = precision.epsilon > precision.accumulator_epsilon;
  const double relative = rounded ? std::max(reordering, 16 * precision.epsilon) : reordering;
  return std::max({precision.smallest, relative * typical, std::min(precision.atol, 1e-3 * typical)});
}

/// Relative part of the tolerance for an output of type `dtype` whose elements depend on about `terms` values. As
/// torch.testing.assert_close, but at most 64 * epsilon * sqrt(terms). That is far less for float64, where 1e-7 would
/// accept results computed in float32.
[[nodiscard]] inline double learned_rtol(at::ScalarType dtype, double terms) {
  const detail::Precision precision = detail::precision_of(dtype);
  return std::min(precision.rtol, 64 * precision.epsilon * std::sqrt(terms));
}

/// As default_atol(), for elements that depend on about `terms` values of the operands. Has no fixed part, which would
/// be a relative error of 1e-3 for outputs of 0.01.
///
/// Up to 256 terms, results get 256 epsilons of their typical magnitude. Vectorised exp and erf are right to within 20
/// epsilons, but of intermediate values that may be larger than the result. Measured against float64 for operands from
/// -8 to 8: 162 epsilons for 1 + erf in LibTorch's gelu, 59 for its formula by single operators, 48 for silu. These are
/// epsilons of the typical magnitude of results for normal operands. Operands rounded to TF32 are off by up to 16 times
/// the tolerance, those rounded to bfloat16 by 64 times.
[[nodiscard]] inline double learned_atol(at::ScalarType dtype, double typical, double terms) {
  const detail::Precision precision = detail::precision_of(dtype);
  if (typical == 0) return precision.atol;
  constexpr double as_elementwise = 256;
  const double reordering = 16 * precision.accumulator_epsilon * std::sqrt(std::max(terms, as_elementwise));
  const bool rounded = precision.epsilon > precision.accumulator_epsilon;
  const double relative =
      rounded ? std::max(reordering, std::min(16.0, 4 * std::sqrt(terms)) * precision.epsilon) : reordering;
  return std::max(precision.smallest, relative * typical);
}

}  // namespace pace::check
