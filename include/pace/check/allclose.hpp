// allclose: whether two tensors are close, and if not, where, by how much and how often.
#pragma once

#include <ATen/core/Tensor.h>

#include <algorithm>
#include <cmath>
#include <complex>
#include <cstdint>
#include <limits>
#include <string>

#include "pace/check/chunks.hpp"
#include "pace/check/on_device.hpp"
#include "pace/check/text.hpp"

namespace pace::check {

/// Result of an element-wise comparison of two tensors. Errors are infinite where a NaN or an infinity lacks an equal
/// partner. The worst element has the largest absolute error among the mismatches or, without one, among all elements.
/// The strings are empty if all elements are equal.
struct Closeness {
  bool close = true;               ///< no element mismatches
  double max_abs_error = 0;        ///< largest |expected - actual|
  double max_rel_error = 0;        ///< relative to the expected value; infinite if only that is 0
  std::int64_t mismatches = 0;     ///< elements that differ by more than the tolerance
  std::int64_t elements = 0;       ///< elements of each tensor
  std::int64_t expected_nans = 0;  ///< elements of the expected tensor that are or contain NaN
  std::int64_t actual_nans = 0;    ///< elements of the actual tensor that are or contain NaN
  std::string where;               ///< index of the worst element, such as `[1, 0, 7]`
  std::string expected_value;      ///< the worst element in the expected tensor, as text
  std::string actual_value;        ///< the worst element in the actual tensor, as text
  double abs_error = 0;            ///< absolute error of the worst element
  double allowed = 0;              ///< largest absolute error that the tolerance allows for the worst element
};

namespace detail {

/// Error and verdict of one pair of elements.
struct ElementError {
  double error = 0;     // absolute; infinite for a NaN, or an infinity without its equal
  double relative = 0;  // error over the expected magnitude
  double allowed = 0;
  bool mismatch = false;
};

struct Tolerance {
  double rtol = 0, atol = 0;
  bool equal_nan = false;
};

[[nodiscard]] inline bool is_nan(double value) { return value != value; }
[[nodiscard]] inline bool is_nan(const std::complex<double>& value) {
  return is_nan(value.real()) || is_nan(value.imag());
}
[[nodiscard]] inline bool is_nan(std::int64_t) { return false; }

[[nodiscard]] inline ElementError judge(double error, double magnitude, const Tolerance& tolerance) {
  ElementError out;
  out.error = error;
  out.relative = error == 0 ? 0 : error / magnitude;
  out.allowed = tolerance.atol + tolerance.rtol * magnitude;
  out.mismatch = !(error <= out.allowed);
  return out;
}

inline constexpr double infinite = std::numeric_limits<double>::infinity();

/// Equal elements (the same infinity included), or two NaNs if these count as equal.
[[nodiscard]] inline bool identical(double expected, double actual, const Tolerance& tolerance) {
  return expected == actual || (tolerance.equal_nan && is_nan(expected) && is_nan(actual));
}

[[nodiscard]] inline ElementError compare(double expected, double actual, const Tolerance& tolerance) {
  if (identical(expected, actual, tolerance)) return {};
  // Not even an infinite tolerance makes a NaN or an infinity match a number.
  if (!std::isfinite(expected) || !std::isfinite(actual)) return {infinite, infinite, 0, true};
  return judge(std::abs(expected - actual), std::abs(expected), tolerance);
}

[[nodiscard]] inline ElementError compare(const std::complex<double>& expected, const std::complex<double>& actual,
                                          const Tolerance& tolerance) {
  const auto finite = [](const std::complex<double>& z) { return std::isfinite(z.real()) && std::isfinite(z.imag()); };
  if (finite(expected) && finite(actual)) {
    return judge(std::abs(expected - actual), std::abs(expected), tolerance);
  }
  // Real and imaginary part apart: a NaN in one must not hide an error in the other.
  const ElementError real = compare(expected.real(), actual.real(), tolerance);
  const ElementError imaginary = compare(expected.imag(), actual.imag(), tolerance);
  return real.mismatch || real.error > imaginary.error ? real : imaginary;
}

template <bool is_unsigned>
[[nodiscard]] ElementError compare_integers(std::int64_t expected, std::int64_t actual, const Tolerance& tolerance) {
  if (expected == actual) return {};
  // Exact in unsigned arithmetic. Converted to double first, the difference could round to 0.
  const auto e = static_cast<std::uint64_t>(expected), a = static_cast<std::uint64_t>(actual);
  const bool greater = is_unsigned ? e > a : expected > actual;
  const double magnitude = is_unsigned ? static_cast<double>(e) : std::abs(static_cast<double>(expected));
  return judge(static_cast<double>(greater ? e - a : a - e), magnitude, tolerance);
}

template <class Element>
struct Tally {
  Closeness found;
  std::int64_t worst = -1;
  bool worst_mismatches = false;
  Element expected{}, actual{};

  void add(std::int64_t position, const Element& e, const Element& a, const ElementError& error) {
    found.expected_nans += is_nan(e);
    found.actual_nans += is_nan(a);
    if (error.error == 0) return;
    found.mismatches += error.mismatch;
    found.max_abs_error = std::max(found.max_abs_error, error.error);
    found.max_rel_error = std::max(found.max_rel_error, error.relative);
    consider(position, e, a, error);
  }

  /// An element that may be the worst.
  void consider(std::int64_t position, const Element& e, const Element& a, const ElementError& error) {
    if (error.mismatch < worst_mismatches) return;
    if (error.mismatch == worst_mismatches && worst >= 0 && error.error <= found.abs_error) return;
    worst = position;
    worst_mismatches = error.mismatch;
    found.abs_error = error.error;
    found.allowed = error.allowed;
    expected = e;
    actual = a;
  }

  [[nodiscard]] Closeness finish(const auto& expected_tensor, const auto& actual_tensor) {
    found.close = found.mismatches == 0;
    found.elements = expected_tensor.numel();
    if (worst >= 0) {
      found.where = index_text(worst, expected_tensor.sizes());
      found.expected_value = element_text(expected, expected_tensor.scalar_type());
      found.actual_value = element_text(actual, actual_tensor.scalar_type());
    }
    return found;
  }
};

/// Reads both tensors as elements of `Element` and judges each pair by `compare_elements(expected, actual)`.
template <class Element, class Compare>
[[nodiscard]] Closeness tally(const auto& expected, const auto& actual, at::ScalarType dtype,
                              const Compare& compare_elements) {
  Tally<Element> sum;
  for (Chunks pieces{expected, actual}; pieces.next();) {
    const auto es = on_cpu_as(pieces[0], dtype), as = on_cpu_as(pieces[1], dtype);
    const auto* e = static_cast<const Element*>(es.const_data_ptr());
    const auto* a = static_cast<const Element*>(as.const_data_ptr());
    for (std::int64_t i = 0; i < es.numel(); ++i)
      sum.add(pieces.offset() + i, e[i], a[i], compare_elements(e[i], a[i]));
  }
  return sum.finish(expected, actual);
}

/// The same with an allowance per element beside `tolerance`.
template <class Element>
[[nodiscard]] Closeness tally_with_slack(const auto& expected, const auto& actual, const auto& slack,
                                         at::ScalarType dtype, const Tolerance& tolerance) {
  Tally<Element> sum;
  for (Chunks pieces{expected, actual, slack}; pieces.next();) {
    const auto es = on_cpu_as(pieces[0], dtype), as = on_cpu_as(pieces[1], dtype);
    const auto more = on_cpu_as(pieces[2], at::kDouble);
    const auto* e = static_cast<const Element*>(es.const_data_ptr());
    const auto* a = static_cast<const Element*>(as.const_data_ptr());
    const auto* s = static_cast<const double*>(more.const_data_ptr());
    for (std::int64_t i = 0; i < es.numel(); ++i)
      sum.add(pieces.offset() + i, e[i], a[i],
              compare(e[i], a[i], {tolerance.rtol, tolerance.atol + s[i], tolerance.equal_nan}));
  }
  return sum.finish(expected, actual);
}

/// The same for doubles on one GPU.
[[nodiscard]] Closeness tally_on_device(const auto& expected, const auto& actual, const Tolerance& tolerance) {
  Tally<double> sum;
  for (Chunks pieces{expected, actual}; pieces.next();) {
    const DevicePiece piece =
        compare_on_device(as_elements(pieces[0], at::kDouble), as_elements(pieces[1], at::kDouble), tolerance.rtol,
                          tolerance.atol, tolerance.equal_nan);
    sum.found.expected_nans += piece.expected_nans;
    sum.found.actual_nans += piece.actual_nans;
    if (piece.max_error == 0) continue;
    sum.found.mismatches += piece.mismatches;
    sum.found.max_abs_error = std::max(sum.found.max_abs_error, piece.max_error);
    sum.found.max_rel_error = std::max(sum.found.max_rel_error, piece.max_relative);
    sum.consider(pieces.offset() + piece.worst, piece.expected, piece.actual,
                 compare(piece.expected, piece.actual, tolerance));
  }
  return sum.finish(expected, actual);
}

/// The Closeness of two tensors with the same bits. Complete only if a NaN counts as equal to a NaN.
[[nodiscard]] Closeness closeness_of_identical(const auto& tensor) {
  Closeness found;
  found.elements = tensor.numel();
  found.expected_nans = found.actual_nans = count_nans(tensor);
  return found;
}

}  // namespace detail

/// Compares two tensors of one shape element by element, as torch.allclose does, and locates the worst element.
///
/// Elements are close if |expected - actual| <= `atol` + `rtol` * |expected|: in double, in exact integers for
/// integers, by modulus for finite complex numbers. Whatever the tolerances, an infinity is close only to the same
/// infinity, and a NaN to nothing or, with `equal_nan`, to a NaN. Types may differ. Sparse tensors are expanded. Takes
/// some MiB beside the tensors, on a GPU some hundred MiB. Throws Error if the shapes differ, or if a tensor is
/// undefined, nested, or on the meta device.
[[nodiscard]] inline Closeness allclose(const at::Tensor& expected, const at::Tensor& actual, double rtol, double atol,
                                        bool equal_nan) {
  const c10::NoGradGuard no_grad;
  const auto e = detail::strided(expected), a = detail::strided(actual);
  const detail::Tolerance tolerance{rtol, atol, equal_nan};
  if (!e.is_cpu() && detail::surely_identical(e, a)) {
    const Closeness found = detail::closeness_of_identical(e);
    if (equal_nan || found.expected_nans == 0) return found;
  }
  const auto by_tolerance = [&](const auto& x, const auto& y) { return detail::compare(x, y, tolerance); };
  if (e.is_complex() || a.is_complex()) {
    return detail::tally<std::complex<double>>(e, a, at::kComplexDouble, by_tolerance);
  }
  if (e.is_floating_point() || a.is_floating_point()) {
    if (e.is_cuda() && e.device() == a.device()) return detail::tally_on_device(e, a, tolerance);
    return detail::tally<double>(e, a, at::kDouble, by_tolerance);
  }
  if (e.scalar_type() == at::kUInt64 && a.scalar_type() == at::kUInt64) {
    return detail::tally<std::int64_t>(e, a, at::kLong, [&](std::int64_t x, std::int64_t y) {
      return detail::compare_integers<true>(x, y, tolerance);
    });
  }
  return detail::tally<std::int64_t>(e, a, at::kLong, [&](std::int64_t x, std::int64_t y) {
    return detail::compare_integers<false>(x, y, tolerance);
  });
}

/// As allclose() for floating or complex tensors, with an allowance per element, `slack`, beside the tolerance.
/// Evaluated in main memory.
[[nodiscard]] inline Closeness allclose_with_slack(const at::Tensor& expected, const at::Tensor& actual,
                                                   const at::Tensor& slack, double rtol, double atol, bool equal_nan) {
  const c10::NoGradGuard no_grad;
  const auto e = detail::strided(expected), a = detail::strided(actual);
  const detail::Tolerance tolerance{rtol, atol, equal_nan};
  if (e.is_complex() || a.is_complex())
    return detail::tally_with_slack<std::complex<double>>(e, a, slack, at::kComplexDouble, tolerance);
  return detail::tally_with_slack<double>(e, a, slack, at::kDouble, tolerance);
}

}  // namespace pace::check
