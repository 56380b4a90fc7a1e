// How far apart two tensors are as a whole: root mean square and cosine.
#pragma once

#include <ATen/core/Tensor.h>

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "pace/check/chunks.hpp"

namespace pace::check::detail {

/// Calls `visit(x, y, count)` with consecutive elements of both tensors as `Real` (float or double) in main memory. A
/// complex element counts as its two parts.
template <class Real, class Visit>
void for_each_real_pair(const auto& a, const auto& b, Visit&& visit) {
  const bool complex = a.is_complex() || b.is_complex();
  const at::ScalarType dtype = std::is_same_v<Real, double> ? (complex ? at::kComplexDouble : at::kDouble)
                                                            : (complex ? at::kComplexFloat : at::kFloat);
  for (Chunks pieces{strided(a), strided(b)}; pieces.next();) {
    const auto x = on_cpu_as(pieces[0], dtype), y = on_cpu_as(pieces[1], dtype);
    visit(static_cast<const Real*>(x.const_data_ptr()), static_cast<const Real*>(y.const_data_ptr()),
          x.numel() * (complex ? 2 : 1));
  }
}

/// sqrt(mean(|a - b|^2)) in double; NaN for tensors without elements.
[[nodiscard]] double rms_difference(const auto& a, const auto& b) {
  double sum = 0;
  for_each_real_pair<double>(a, b, [&](const double* x, const double* y, std::int64_t count) {
    double part = 0;
    for (std::int64_t i = 0; i < count; ++i) part += (x[i] - y[i]) * (x[i] - y[i]);
    sum += part;
  });
  return std::sqrt(sum / static_cast<double>(a.numel()));
}

struct Angle {
  double dot = 0, norm_a = 0, norm_b = 0;

  /// Cosine of the angle between the two. Norms below `epsilon` count as `epsilon`, so it is 0 if one of them is zero.
  [[nodiscard]] double cosine(double epsilon) const {
    return dot / (std::max(norm_a, epsilon) * std::max(norm_b, epsilon));
  }
};

/// Both tensors as flat vectors of `Real`; sums in double.
template <class Real>
[[nodiscard]] Angle angle_between(const auto& a, const auto& b) {
  Angle sum;
  for_each_real_pair<Real>(a, b, [&](const Real* x, const Real* y, std::int64_t count) {
    Angle part;
    for (std::int64_t i = 0; i < count; ++i) {
      const double p = x[i], q = y[i];
      part.dot += p * q;
      part.norm_a += p * p;
      part.norm_b += q * q;
    }
    sum.dot += part.dot;
    sum.norm_a += part.norm_a;
    sum.norm_b += part.norm_b;
  });
  return {sum.dot, std::sqrt(sum.norm_a), std::sqrt(sum.norm_b)};
}

}  // namespace pace::check::detail
