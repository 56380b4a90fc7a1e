// MeanDifference: whether the random outputs of two implementations have the same means, element by element.
#pragma once

#include <ATen/core/Tensor.h>
#include <c10/core/GradMode.h>
#include <c10/util/accumulate.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "pace/check/allclose.hpp"
#include "pace/check/clone_input.hpp"
#include "pace/check/text.hpp"
#include "pace/check/tolerance.hpp"

namespace pace::check {

namespace detail {

/// Most compared elements of a tensor, spread over it evenly.
inline constexpr std::int64_t most_means = 1 << 20;

/// Distance between compared elements in a tensor of `elements` elements.
[[nodiscard]] inline std::int64_t step_of(std::int64_t elements) { return (elements - 1) / most_means + 1; }

/// Compared elements in float64, infinities and NaN as zeros; undefined for tensors without real elements in strided
/// memory.
[[nodiscard]] inline at::Tensor real_elements(const at::Tensor& tensor) {
  if (!tensor.defined() || !is_plain(tensor) || tensor.is_complex() || tensor.numel() == 0) return {};
  return tensor.detach()
      .reshape({-1})
      .slice(0, 0, std::nullopt, step_of(tensor.numel()))
      .to(at::kDouble)
      .nan_to_num(0, 0, 0);
}

}  // namespace detail

/// Mean and variance of each element over several draws of tensors.
class ElementMoments {
 public:
  /// Adds a draw. Tensors whose shape differs from the first draw's are left out.
  void add(const std::vector<at::Tensor>& draw) {
    const c10::NoGradGuard no_grad;
    if (count_ == 0) {
      tensors_.resize(draw.size());
      for (std::size_t i = 0; i < draw.size(); ++i)
        if (!draw[i].is_nested()) tensors_[i] = {.sizes = draw[i].sizes().vec(), .dtype = draw[i].scalar_type()};
    }
    ++count_;
    for (std::size_t i = 0; i < tensors_.size(); ++i) {
      auto& [sizes, dtype, mean, squares] = tensors_[i];
      const bool fits = i < draw.size() && !draw[i].is_nested() && draw[i].sizes() == sizes;
      const at::Tensor values = fits ? detail::real_elements(draw[i]) : at::Tensor();
      if (!values.defined() || (count_ > 1 && !mean.defined())) {
        mean = squares = at::Tensor();
      } else if (count_ == 1) {
        mean = values.clone();
        squares = values.mul(0);
      } else {
        // B. P. Welford, Note on a method for calculating corrected sums of squares and products, 1962.
        const at::Tensor change = values.sub(mean);
        mean.add_(change.div(count_));
        squares.add_(change.mul(values.sub(mean)));
      }
    }
  }
  /// Returns the number of tensors in a draw.
  [[nodiscard]] std::size_t size() const { return tensors_.size(); }
  /// Returns the mean of each element of tensor `i`; undefined if it was left out.
  [[nodiscard]] const at::Tensor& mean(std::size_t i) const { return tensors_[i].mean; }
  /// Returns the variance of each element of tensor `i` from draw to draw.
  [[nodiscard]] at::Tensor variance(std::size_t i) const { return tensors_[i].squares.div(std::max(count_ - 1, 1)); }
  /// Returns the sizes of tensor `i`.
  [[nodiscard]] const std::vector<std::int64_t>& sizes(std::size_t i) const { return tensors_[i].sizes; }
  /// Returns the type of tensor `i`.
  [[nodiscard]] at::ScalarType dtype(std::size_t i) const { return tensors_[i].dtype; }

 private:
  struct OfTensor {
    std::vector<std::int64_t> sizes = {};
    at::ScalarType dtype = at::kFloat;
    at::Tensor mean = {}, squares = {};
  };
  std::vector<OfTensor> tensors_ = {};
  int count_ = 0;
};

/// Compares the means of all elements of two sources of random tensors, without an assumption about distributions.
///
/// The first draws choose two weighted sums: of all elements, by difference over variance, and of the one element that
/// differs most in its standard deviations. Further, independent draws then compare them. The sources differ if one of
/// the sums is larger in all draws of one source than in all of the other. That must be in the direction of the first
/// draws, and by more than rounding explains.
///
/// If both sources are the same, each order of 2 n further draws is equally likely (R. A. Fisher's permutation test).
/// So they wrongly differ with a probability of at most 2 / C(2 n, n), 5e-8 for n = 14, for any number of elements. The
/// first pair in the wrong order ends the test, mostly after two or three.
class MeanDifference {
 public:
  /// n above.
  static constexpr int most_pairs = 14;

  /// Chooses the sums by the first draws of both. Differences within the default tolerances are rounding. Leaves out
  /// tensor i if `skip(i)`.
  template <class Skip>
  MeanDifference(const ElementMoments& expected, const ElementMoments& actual, const Skip& skip) {
    const c10::NoGradGuard no_grad;
    double largest = 0;
    weights_.resize(std::min(expected.size(), actual.size()));
    for (std::size_t i = 0; i < weights_.size(); ++i) {
      const at::Tensor &e = expected.mean(i), &a = actual.mean(i);
      if (skip(i) || !e.defined() || !a.defined() || e.sizes() != a.sizes() || e.device() != a.device()) continue;
      const auto precision = detail::precision_of(expected.dtype(i));
      const double atol = default_atol(expected.dtype(i), typical_magnitude(e), 4096);
      const at::Tensor allowed = e.abs().mul(precision.rtol).add(atol);
      const at::Tensor difference = a.sub(e);
      // Differences that rounding explains have no weight.
      const at::Tensor beyond = difference.sub(difference.clamp(allowed.neg(), allowed));
      const at::Tensor variance = expected.variance(i).add(actual.variance(i)).div(2);
      const double typical = variance.mean().item<double>();
      const double tiny = 1e-12 * difference.square().max().item<double>() + std::numeric_limits<double>::min();
      OfTensor& of = weights_[i];
      of.all = beyond.div(variance.add(typical).add(allowed.square()).add(tiny));
      of.allowed = of.all.abs().mul(allowed).sum().item<double>();
      const at::Tensor scores = beyond.abs().div(variance.add(allowed.square()).add(tiny).sqrt());
      const double score = scores.max().item<double>();
      if (!(score > largest)) continue;
      largest = score;
      const std::int64_t place = scores.argmax().item<std::int64_t>();
      const auto at_place = [&](const at::Tensor& values) { return values.select(0, place).item<double>(); };
      one_ = {.tensor = i,
              .place = place,
              .index = place * detail::step_of(c10::multiply_integers(expected.sizes(i))),
              .sign = at_place(difference) > 0 ? 1.0 : -1.0,
              .allowed = at_place(allowed),
              .expected = at_place(e),
              .actual = at_place(a),
              .sizes = expected.sizes(i)};
    }
    if (!one_) open_ = {false, false};
  }

  /// Returns whether further draws may show a difference.
  [[nodiscard]] bool open() const { return (open_[0] || open_[1]) && pairs_ < most_pairs; }
  /// Adds a further draw of each source, independent of all others.
  void add(const std::vector<at::Tensor>& expected, const std::vector<at::Tensor>& actual) {
    const c10::NoGradGuard no_grad;
    ++pairs_;
    const Sums e = sums_of(expected), a = sums_of(actual);
    double allowed = 0;
    for (const auto& of : weights_) allowed += of.allowed;
    const std::array margins{allowed, one_ ? one_->allowed : 0};
    for (std::size_t i = 0; i < open_.size(); ++i) {
      largest_expected_[i] = std::max(largest_expected_[i], e[i]);
      smallest_actual_[i] = std::min(smallest_actual_[i], a[i]);
      open_[i] = open_[i] && !detail::is_nan(e[i]) && !detail::is_nan(a[i]) &&
                 smallest_actual_[i] - largest_expected_[i] > margins[i];
    }
  }
  /// Returns the difference as text after the last further draw; empty if there is none.
  [[nodiscard]] std::string problem() const {
    if (pairs_ < most_pairs || (!open_[0] && !open_[1])) return {};
    return "its elements have other means than the baseline's: element " +
           detail::index_text(one_->index, one_->sizes) + " of output tensor " + std::to_string(one_->tensor) + " is " +
           detail::rounded_text(one_->actual) + " on average, the baseline's " + detail::rounded_text(one_->expected) +
           ", and " + std::to_string(most_pairs) + " more calls of each differ in the same direction";
  }

 private:
  using Sums = std::array<double, 2>;
  struct OfTensor {
    at::Tensor all = {};
    double allowed = 0;
  };
  /// The element that differs most.
  struct Element {
    std::size_t tensor = 0;
    std::int64_t place = 0;  // among the compared elements
    std::int64_t index = 0;  // in its tensor
    double sign = 1, allowed = 0, expected = 0, actual = 0;
    std::vector<std::int64_t> sizes = {};
  };

  [[nodiscard]] Sums sums_of(const std::vector<at::Tensor>& draw) const {
    constexpr double unknown = std::numeric_limits<double>::quiet_NaN();
    Sums sums{};
    for (std::size_t i = 0; i < weights_.size(); ++i) {
      const at::Tensor& weights = weights_[i].all;
      if (!weights.defined()) continue;
      const at::Tensor values = i < draw.size() ? detail::real_elements(draw[i]) : at::Tensor();
      if (!values.defined() || values.sizes() != weights.sizes()) return {unknown, unknown};
      sums[0] += values.mul(weights).sum().item<double>();
      if (one_ && one_->tensor == i) sums[1] = one_->sign * values.select(0, one_->place).item<double>();
    }
    return sums;
  }

  std::vector<OfTensor> weights_ = {};
  std::optional<Element> one_ = {};
  std::array<bool, 2> open_{true, true};
  int pairs_ = 0;
  Sums largest_expected_{-std::numeric_limits<double>::infinity(), -std::numeric_limits<double>::infinity()};
  Sums smallest_actual_{std::numeric_limits<double>::infinity(), std::numeric_limits<double>::infinity()};
};

}  // namespace pace::check
