// Outputs that may differ in a declared way: in their order, signs, or random numbers.
#pragma once

#include <ATen/core/Tensor.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include "pace/base/error.hpp"
#include "pace/check/allclose.hpp"
#include "pace/check/check_options.hpp"
#include "pace/check/chunks.hpp"
#include "pace/check/text.hpp"

namespace pace::check {

namespace detail {

/// Rows (slices of the first dimension) of several tensors with equal numbers of rows, taken together.
class JointRows {
 public:
  /// Throws Error for a scalar, which has no order, and for complex numbers.
  void add(const at::Tensor& tensor) {
    const auto dense = strided(tensor);
    if (dense.dim() == 0)
      throw Error("order_free: expected outputs of at least one dimension, got a scalar, which has no order");
    if (dense.is_complex()) throw Error("order_free: expected real numbers, got " + dtype_text(dense.scalar_type()));
    rows_ = dense.size(0);
    const bool real = dense.is_floating_point();
    const std::int64_t columns = rows_ == 0 ? 0 : dense.numel() / rows_;
    parts_.push_back({real, columns, on_cpu_as(dense, real ? at::kDouble : at::kLong).contiguous()});
  }
  [[nodiscard]] std::int64_t rows() const { return rows_; }

  /// The rows in ascending order: by their first element, then the second and so on, NaN last.
  [[nodiscard]] std::vector<std::int64_t> ascending() const {
    std::vector<std::int64_t> order(static_cast<std::size_t>(rows_));
    std::iota(order.begin(), order.end(), std::int64_t{0});
    std::stable_sort(order.begin(), order.end(), [&](std::int64_t a, std::int64_t b) {
      for (const auto& part : parts_)
        if (const int sign = part.real ? compare_in<double>(part, a, b) : compare_in<std::int64_t>(part, a, b);
            sign != 0)
          return sign < 0;
      return false;
    });
    return order;
  }

  /// Whether the first elements of two rows differ by at most twice `tolerance`, or are both NaN.
  [[nodiscard]] bool first_within(std::int64_t a, std::int64_t b, const Tolerance& tolerance) const {
    if (parts_.front().columns == 0) return true;
    const auto within = [&](const auto* values) {
      const auto x = values[a * parts_.front().columns], y = values[b * parts_.front().columns];
      if (x == y || (is_nan(x) && is_nan(y))) return true;
      const double difference = std::abs(static_cast<double>(x) - static_cast<double>(y));
      const double magnitude = std::max(std::abs(static_cast<double>(x)), std::abs(static_cast<double>(y)));
      return difference <= 2 * (tolerance.atol + tolerance.rtol * magnitude);
    };
    return parts_.front().real ? within(values_of<double>(parts_.front()))
                               : within(values_of<std::int64_t>(parts_.front()));
  }

  /// Whether row `row` is close to row `other_row` of `other`, within the tolerance of each tensor. `other` has tensors
  /// of the same shapes.
  [[nodiscard]] bool close(std::int64_t row, const JointRows& other, std::int64_t other_row,
                           const std::vector<Tolerance>& tolerances) const {
    const auto element = [](const Part& part, std::int64_t at) {
      return part.real ? values_of<double>(part)[at] : static_cast<double>(values_of<std::int64_t>(part)[at]);
    };
    for (std::size_t i = 0; i < parts_.size(); ++i) {
      const Part &mine = parts_[i], &others = other.parts_[i];
      const bool integers = !mine.real && !others.real;
      for (std::int64_t column = 0; column < mine.columns; ++column) {
        const std::int64_t from = row * mine.columns + column, to = other_row * mine.columns + column;
        const bool differs = integers
                                 ? compare_integers<false>(values_of<std::int64_t>(mine)[from],
                                                           values_of<std::int64_t>(others)[to], tolerances[i])
                                       .mismatch
                                 : detail::compare(element(mine, from), element(others, to), tolerances[i]).mismatch;
        if (differs) return false;
      }
    }
    return true;
  }

 private:
  /// A tensor in main memory, of doubles or of int64.
  struct Part {
    bool real = false;
    std::int64_t columns = 0;
    at::Tensor memory;
  };

  template <class Element>
  [[nodiscard]] static const Element* values_of(const Part& part) {
    return static_cast<const Element*>(part.memory.const_data_ptr());
  }

  /// Negative if row `a` comes before row `b`, positive if after, else 0.
  template <class Element>
  [[nodiscard]] static int compare_in(const Part& part, std::int64_t a, std::int64_t b) {
    const Element* values = values_of<Element>(part);
    const auto less = [](Element x, Element y) { return x < y || (!is_nan(x) && is_nan(y)); };
    for (std::int64_t i = 0; i < part.columns; ++i) {
      const Element x = values[a * part.columns + i], y = values[b * part.columns + i];
      if (less(x, y)) return -1;
      if (less(y, x)) return 1;
    }
    return 0;
  }

  std::int64_t rows_ = 0;
  std::vector<Part> parts_ = {};
};

/// The rows of `tensor` in this order.
[[nodiscard]] inline at::Tensor rows_of(const at::Tensor& tensor, const std::vector<std::int64_t>& order) {
  const auto dense = strided(tensor);
  auto index =
      dense.new_empty({static_cast<std::int64_t>(order.size())}, at::TensorOptions().dtype(at::kLong).device(at::kCPU));
  std::copy(order.begin(), order.end(), static_cast<std::int64_t*>(index.mutable_data_ptr()));
  return dense.index_select(0, index.to(dense.device()));
}

/// Whether the vectors counted by dimension `dim` have length 1, up to the precision of 16 bits.
[[nodiscard]] inline bool has_unit_vectors(const at::Tensor& matrices, std::int64_t dim) {
  const auto lengths = matrices.to(at::kDouble).square().sum(dim == -1 ? -2 : -1);
  return lengths.sub(1).abs().lt(0.02).all().item<bool>();
}

/// Whether `tensor` may hold vectors: dense, real matrices.
[[nodiscard]] inline bool holds_matrices(const at::Tensor& tensor) {
  return tensor.layout() == c10::kStrided && !tensor.is_nested() && tensor.dim() >= 2 && tensor.is_floating_point();
}

/// Outputs with vectors of length 1: columns or, if only these have it, rows.
[[nodiscard]] inline std::vector<CheckOptions::Vectors> unit_vectors_among(const std::vector<at::Tensor>& outputs) {
  std::vector<CheckOptions::Vectors> found;
  for (std::size_t i = 0; i < outputs.size(); ++i)
    for (const std::int64_t dim : {-1, -2})
      if (holds_matrices(outputs[i]) && has_unit_vectors(outputs[i], dim)) {
        found.push_back({.output = i, .dim = dim});
        break;
      }
  return found;
}

/// Outputs that hold vectors: the named ones, or the first with vectors of length 1.
[[nodiscard]] inline std::vector<CheckOptions::Vectors> vectors_among(const std::vector<at::Tensor>& outputs,
                                                                      const CheckOptions& options) {
  if (!options.vectors.empty()) return options.vectors;
  auto found = unit_vectors_among(outputs);
  if (found.size() > 1) found.resize(1);
  return found;
}

/// Scalar products of the vectors counted by dimension `dim` (-1 or -2).
[[nodiscard]] inline at::Tensor products_of_vectors(const at::Tensor& expected, const at::Tensor& actual,
                                                    std::int64_t dim) {
  return expected.to(at::kDouble).mul(actual.to(at::kDouble)).sum(dim == -1 ? -2 : -1);
}

/// Correlation of `size` numbers with those `lag` places later, from their mean and variance.
[[nodiscard]] inline double correlation_at(const double* x, std::int64_t size, std::int64_t lag, double mean,
                                           double variance) {
  double sum = 0;
  for (std::int64_t i = lag; i < size; ++i) sum += (x[i] - mean) * (x[i - lag] - mean);
  return sum / (static_cast<double>(size - lag) * variance);
}

/// Returns how elements of `actual` repeat, or depend on each other, more than in `expected`; empty if they do not.
/// Both must be finite doubles in main memory. Compares the numbers of different values, and by z tests at 6 standard
/// errors the correlations of neighbours, rows and slices of the first dimension. Correlations need numbers drawn one
/// by one. With many zeros or a few large elements, as after dropout, they would be about these, and are left out.
[[nodiscard]] inline std::string dependence_problem(const at::Tensor& expected, const at::Tensor& actual) {
  constexpr std::int64_t fewest = 64, most_to_sort = 1 << 16;
  constexpr std::size_t fewest_distinct = 16;
  const std::int64_t size = expected.numel();
  if (size < fewest || actual.numel() != size) return {};
  const auto* e = static_cast<const double*>(expected.const_data_ptr());
  const auto* a = static_cast<const double*>(actual.const_data_ptr());
  const auto distinct = [&](const double* x) {
    std::vector<double> values(x, x + std::min(size, most_to_sort));
    std::sort(values.begin(), values.end());
    return static_cast<std::size_t>(std::unique(values.begin(), values.end()) - values.begin());
  };
  const std::size_t of_e = distinct(e), of_a = distinct(a);
  if (of_e >= fewest_distinct && 2 * of_a < of_e)
    return "numbers repeat: expected about " + std::to_string(of_e) + " different ones among " +
           std::to_string(std::min(size, most_to_sort)) + ", got " + std::to_string(of_a);
  const auto moments = [&](const at::Tensor& tensor) {
    return std::pair(tensor.mean().item<double>(), tensor.var(/*unbiased=*/false).item<double>());
  };
  const auto [mean_e, variance_e] = moments(expected);
  const auto [mean_a, variance_a] = moments(actual);
  if (!(variance_e > 0) || !(variance_a > 0)) return {};
  constexpr double most_zeros = 0.01, largest_kurtosis = 10;
  const double zeros = expected.eq(0).to(at::kDouble).mean().item<double>();
  const double fourth = expected.sub(mean_e).pow(4).mean().item<double>();
  if (zeros > most_zeros || fourth > largest_kurtosis * variance_e * variance_e) return {};
  const std::int64_t rows = expected.dim() < 2 ? 1 : expected.size(-1);
  const std::int64_t slices = expected.dim() < 2 ? 1 : size / expected.size(0);
  for (const std::int64_t lag : {std::int64_t{1}, rows, slices}) {
    if (2 * lag > size) continue;
    const double r_e = correlation_at(e, size, lag, mean_e, variance_e);
    const double r_a = correlation_at(a, size, lag, mean_a, variance_a);
    const double allowed = 6 * std::sqrt(2 / static_cast<double>(size - lag));
    if (std::abs(r_e - r_a) > allowed)
      return "elements that lie " + std::to_string(lag) + " apart correlate by " + rounded_text(r_a) + ", expected " +
             rounded_text(r_e) + " (allowed to be off by " + rounded_text(allowed) + ')';
  }
  return {};
}

/// Moments of the finite elements of a tensor, the share of zeros among them, and the number of others.
struct Moments {
  double count = 0, mean = 0, variance = 0, fourth = 0, zeros = 0, odd = 0;
};

[[nodiscard]] inline Moments moments_of(const at::Tensor& tensor) {
  if (tensor.is_complex()) throw Error("random: expected real numbers, got " + dtype_text(tensor.scalar_type()));
  const auto values = on_cpu_as(strided(tensor), at::kDouble).reshape({-1});
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
}

}  // namespace detail

/// Returns how the distributions of `actual` and `expected` differ; empty if they do not. Compares means, variances and
/// shares of zeros of finite elements, each by a z test at 6 standard errors: correct code fails one in 2 of 10^9
/// comparisons. If all elements are finite, also compares the numbers of different values and the correlations of
/// neighbours. Throws Error for complex numbers.
[[nodiscard]] inline std::string distribution_problem(const at::Tensor& expected, const at::Tensor& actual) {
  constexpr double standard_errors = 6;
  const detail::Moments e = detail::moments_of(expected), a = detail::moments_of(actual);
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
  // Values that are constant in both differ by rounding alone.
  const double rounding = 1e-3 * (std::abs(e.mean) + std::sqrt(e.variance));
  // Pooled over both samples: a few bools may all be true in one and all false in the other.
  const double both = e.count + a.count, distance = e.mean - a.mean;
  const double pooled =
      (e.count * e.variance + a.count * a.variance + e.count * a.count / both * distance * distance) / both;
  compare("a mean of", e.mean, a.mean, pooled * (1 / e.count + 1 / a.count), 1e-3 * rounding);
  // With fewer elements, fourth moments do not show how far variances scatter.
  constexpr double fewest_for_variance = 16;
  if (std::min(e.count, a.count) >= fewest_for_variance)
    compare("a variance of", e.variance, a.variance,
            (e.fourth - e.variance * e.variance) / e.count + (a.fourth - a.variance * a.variance) / a.count,
            1e-3 * rounding * rounding);
  const double share = (e.zeros * e.count + a.zeros * a.count) / (e.count + a.count);
  compare("a share of zeros of", e.zeros, a.zeros, share * (1 - share) * (1 / e.count + 1 / a.count), 0);
  if (problem.empty() && e.odd == 0 && a.odd == 0) {
    const auto dense = [](const at::Tensor& tensor) {
      return detail::on_cpu_as(detail::strided(tensor), at::kDouble).contiguous();
    };
    problem = detail::dependence_problem(dense(expected), dense(actual));
  }
  return problem.empty() ? problem : "another distribution: " + problem;
}

}  // namespace pace::check
