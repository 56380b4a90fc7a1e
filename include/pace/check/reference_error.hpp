// compare_to_reference: whether an implementation's error to a float64 reference is much larger than the baseline's.
#pragma once

#include <ATen/core/Tensor.h>
#include <ATen/ops/view_as_real_ops.h>

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "pace/check/allclose.hpp"
#include "pace/check/chunks.hpp"

namespace pace::check {

/// Result of compare_to_reference. The errors are over the elements that are finite in all three tensors. A complex
/// element counts as its two parts.
struct ReferenceErrors {
  double baseline_rms = 0;   ///< root mean square of the baseline's error
  double baseline_max = 0;   ///< largest absolute error of the baseline
  double actual_rms = 0;     ///< root mean square of the implementation's error
  double reference_rms = 0;  ///< root mean square of the reference itself
  Closeness closeness;       ///< of `actual` to the reference; `close` unless an element is too far away
};

namespace detail {

template <class Visit>
void for_each_triple(const auto& reference, const auto& expected, const auto& actual, Visit&& visit) {
  std::int64_t position = 0;
  for (Chunks pieces{reference, expected, actual}; pieces.next();) {
    const auto rs = on_cpu_as(pieces[0], at::kDouble), es = on_cpu_as(pieces[1], at::kDouble);
    const auto as = on_cpu_as(pieces[2], at::kDouble);
    const auto* r = static_cast<const double*>(rs.const_data_ptr());
    const auto* e = static_cast<const double*>(es.const_data_ptr());
    const auto* a = static_cast<const double*>(as.const_data_ptr());
    for (std::int64_t i = 0; i < rs.numel(); ++i) visit(position++, r[i], e[i], a[i]);
  }
}

}  // namespace detail

/// Compares `actual` and `expected` (the baseline's) with `reference`, three tensors of one shape. An element passes if
/// actual - reference| <= `factor` * baseline_max + `epsilon` * |reference|. If the baseline is infinite or NaN and
/// `actual` is not, `fallback` is the tolerance of `actual` against the reference. If both are the same infinity (or,
/// with fallback.equal_nan, NaN), the element passes. Throws Error if the shapes differ.
[[nodiscard]] ReferenceErrors compare_to_reference(const auto& reference, const auto& expected, const auto& actual,
                                                   double factor, double epsilon, const detail::Tolerance& fallback) {
  const auto parts = [](const auto& tensor) {
    const auto dense = detail::strided(tensor).resolve_conj().resolve_neg();
    return dense.is_complex() ? at::_ops::view_as_real::call(dense) : dense;
  };
  const auto rs = parts(reference), es = parts(expected), as = parts(actual);
  ReferenceErrors out;
  std::int64_t finite = 0;
  double baseline = 0, own = 0, size = 0;
  detail::for_each_triple(rs, es, as, [&](std::int64_t, double r, double e, double a) {
    if (!std::isfinite(r) || !std::isfinite(e) || !std::isfinite(a)) return;
    ++finite;
    baseline += (e - r) * (e - r);
    own += (a - r) * (a - r);
    size += r * r;
    out.baseline_max = std::max(out.baseline_max, std::abs(e - r));
  });
  const auto root = [&](double sum) { return finite == 0 ? 0 : std::sqrt(sum / static_cast<double>(finite)); };
  out.baseline_rms = root(baseline);
  out.actual_rms = root(own);
  out.reference_rms = root(size);

  detail::Tally<double> tally;
  detail::for_each_triple(rs, es, as, [&](std::int64_t position, double r, double e, double a) {
    const bool all_finite = std::isfinite(r) && std::isfinite(e) && std::isfinite(a);
    const bool as_baseline = !std::isfinite(a) && detail::identical(e, a, fallback);
    // If only the reference is not finite, compare the other two with each other.
    const bool no_reference = !std::isfinite(r) && std::isfinite(e) && std::isfinite(a);
    const detail::Tolerance tolerance{epsilon, factor * out.baseline_max, fallback.equal_nan};
    const detail::ElementError error = as_baseline    ? detail::ElementError{}
                                       : no_reference ? detail::compare(e, a, fallback)
                                                      : detail::compare(r, a, all_finite ? tolerance : fallback);
    tally.add(position, no_reference ? e : r, a, error);
  });
  out.closeness = tally.finish(rs, as);
  return out;
}

}  // namespace pace::check
