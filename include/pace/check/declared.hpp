// Outputs that may differ in a way that was declared: another order, other signs, other random numbers.
#pragma once

#include <ATen/core/Tensor.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <numeric>
#include <string>
#include <type_traits>
#include <vector>

#include "pace/check/chunks.hpp"
#include "pace/check/text.hpp"
#include "pace/core/error.hpp"

namespace pace::check {

namespace detail {

/// The rows of `values` in ascending order, by their first element, then the second and so on, NaN last. `columns`
/// elements make up a row.
[[nodiscard]] std::vector<std::int64_t> order_of_rows(const auto* values, std::int64_t rows, std::int64_t columns) {
  std::vector<std::int64_t> order(static_cast<std::size_t>(rows));
  std::iota(order.begin(), order.end(), std::int64_t{0});
  const auto is_nan = [](auto value) {
    if constexpr (std::is_floating_point_v<decltype(value)>)
      return std::isnan(value);
    else
      return false;
  };
  const auto less = [&](auto a, auto b) { return a < b || (!is_nan(a) && is_nan(b)); };
  std::stable_sort(order.begin(), order.end(), [&](std::int64_t a, std::int64_t b) {
    for (std::int64_t i = 0; i < columns; ++i) {
      const auto x = values[a * columns + i], y = values[b * columns + i];
      if (less(x, y)) return true;
      if (less(y, x)) return false;
    }
    return false;
  });
  return order;
}

}  // namespace detail

/// Returns a copy of `tensor` with its rows (slices of the first dimension) in ascending order. Throws Error for a
/// scalar, which has no order, and for complex numbers.
[[nodiscard]] inline at::Tensor with_sorted_rows(const at::Tensor& tensor) {
  auto dense = detail::strided(tensor);
  if (dense.dim() == 0)
    throw Error("order_free: expected outputs of at least one dimension, got a scalar, which has no order");
  if (dense.is_complex())
    throw Error("order_free: expected real numbers, got " + detail::dtype_text(dense.scalar_type()));
  if (dense.numel() == 0) return dense;
  const std::int64_t rows = dense.size(0), columns = dense.numel() / rows;
  std::vector<std::int64_t> order;
  if (dense.is_floating_point()) {
    const auto values = detail::on_cpu_as(dense, at::kDouble);
    order = detail::order_of_rows(static_cast<const double*>(values.const_data_ptr()), rows, columns);
  } else {
    const auto values = detail::on_cpu_as(dense, at::kLong);
    order = detail::order_of_rows(static_cast<const std::int64_t*>(values.const_data_ptr()), rows, columns);
  }
  auto index = dense.new_empty({rows}, at::TensorOptions().dtype(at::kLong).device(at::kCPU));
  std::copy(order.begin(), order.end(), static_cast<std::int64_t*>(index.mutable_data_ptr()));
  return dense.index_select(0, index.to(dense.device()));
}

/// Returns `actual` with each of its vectors, along dimension `dim` of matrices, multiplied by 1 or -1, so that it points
/// as in `expected`. `signs` gets these factors, one for each vector. Throws Error for complex numbers.
[[nodiscard]] inline at::Tensor with_signs_of(const at::Tensor& expected, const at::Tensor& actual, std::int64_t dim,
                                              at::Tensor& signs) {
  if (expected.is_complex() || actual.is_complex())
    throw Error("sign_free: expected real vectors, got " + detail::dtype_text(expected.scalar_type()) +
                "; compare complex ones by check(function)");
  const auto products = expected.to(at::kDouble).mul(actual.to(at::kDouble)).sum(dim, true);
  signs = products.lt(0).to(at::kDouble).mul(-2).add(1);
  return actual.mul(signs.to(actual.scalar_type()));
}

/// Returns how the distribution of `actual` differs from that of `expected`; empty if it does not. Means, variances and
/// shares of zeros of finite elements are compared, each by a z test at 6 standard errors, taken from both samples: an
/// honest implementation fails one of them in 2 of 10^9 comparisons. Throws Error for complex numbers.
[[nodiscard]] inline std::string distribution_problem(const at::Tensor& expected, const at::Tensor& actual) {
  struct Moments {
    double count = 0, mean = 0, variance = 0, fourth = 0, zeros = 0, odd = 0;
  };
  constexpr double standard_errors = 6;
  const auto moments_of = [](const at::Tensor& tensor) {
    if (tensor.is_complex())
      throw Error("random: expected real numbers, got " + detail::dtype_text(tensor.scalar_type()));
    const auto values = detail::on_cpu_as(detail::strided(tensor), at::kDouble).reshape({-1});
    const auto* x = static_cast<const double*>(values.const_data_ptr());
    const std::int64_t size = values.numel();
    Moments m;
    for (std::int64_t i = 0; i < size; ++i) {
      if (!std::isfinite(x[i])) {
        ++m.odd;
        continue;
      }
      ++m.count;
      m.mean += x[i];
      m.zeros += x[i] == 0;
    }
    if (m.count == 0) return m;
    m.mean /= m.count;
    m.zeros /= m.count;
    for (std::int64_t i = 0; i < size; ++i) {
      if (!std::isfinite(x[i])) continue;
      const double square = (x[i] - m.mean) * (x[i] - m.mean);
      m.variance += square;
      m.fourth += square * square;
    }
    m.variance /= m.count;
    m.fourth /= m.count;
    return m;
  };
  const Moments e = moments_of(expected), a = moments_of(actual);
  std::string problem;
  const auto compare = [&](const char* what, double of_e, double of_a, double variance, double floor) {
    const double allowed = standard_errors * std::sqrt(variance) + floor;
    if (std::abs(of_e - of_a) <= allowed) return;
    problem += (problem.empty() ? "" : "; ") + std::string("expected ") + what + ' ' + detail::rounded_text(of_e) +
               ", got " + detail::rounded_text(of_a) + " (allowed to be off by " + detail::rounded_text(allowed) + ')';
  };
  if (e.odd != a.odd)
    problem = "expected " + std::to_string(static_cast<std::int64_t>(e.odd)) + " elements that are not finite, got " +
              std::to_string(static_cast<std::int64_t>(a.odd));
  if (e.count == 0 || a.count == 0) return problem;
  // What is constant in both differs by rounding alone.
  const double rounding = 1e-3 * (std::abs(e.mean) + std::sqrt(e.variance));
  compare("a mean of", e.mean, a.mean, e.variance / e.count + a.variance / a.count, 1e-3 * rounding);
  compare("a variance of", e.variance, a.variance,
          (e.fourth - e.variance * e.variance) / e.count + (a.fourth - a.variance * a.variance) / a.count,
          1e-3 * rounding * rounding);
  const double share = (e.zeros * e.count + a.zeros * a.count) / (e.count + a.count);
  compare("a share of zeros of", e.zeros, a.zeros, share * (1 - share) * (1 / e.count + 1 / a.count), 0);
  return problem.empty() ? problem : "another distribution: " + problem;
}

}  // namespace pace::check
