// DrawnAnew: whether outputs declared as random numbers differ from call to call, with the baseline's means.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <ATen/core/Tensor.h>
#include <c10/core/GradMode.h>

#include "pace/check/clone_input.hpp"
#include "pace/check/mean_difference.hpp"
#include "pace/check/structure.hpp"
#include "pace/check/text.hpp"
#include "pace/subject/implementation.hpp"
#include "pace/subject/random_state.hpp"
#include "pace/unseen/check.hpp"

namespace pace::detail {

/// Compares outputs of calls with different seeds of the default generators. If the baseline's outputs differ each
/// time, so must a candidate's, whatever its generator. Their elements must have the baseline's means.
class DrawnAnew final : public Check {
 public:
  /// `operands` must outlive it. Each output comes from the last of `calls` calls in a row.
  DrawnAnew(OperandSets& operands, std::uint64_t seed, std::int64_t calls)
      : operands_(operands), seed_(seed), calls_in_a_row_(calls) {}

  /// `baseline` must outlive it. Throws what the baseline throws.
  void learn(Implementation& baseline) {
    baseline_ = &baseline;
    most_equal_.clear();
    moments_ = {};
    for (const auto& shares : equal_shares(baseline, moments_)) {
      const double most = *std::max_element(shares.begin(), shares.end());
      most_equal_.push_back(most < 1 ? std::optional(most) : std::nullopt);
    }
  }

  /// Returns the fault of the random numbers as text; empty if none. Throws what the calls throw.
  [[nodiscard]] std::string find_fault(Implementation& implementation) override {
    check::ElementMoments moments;
    const auto all = equal_shares(implementation, moments);
    for (std::size_t i = 0; i < std::min(all.size(), most_equal_.size()); ++i) {
      if (!most_equal_[i]) continue;
      // By chance, few elements may be equal, but hardly in all calls. Of many changing elements, hardly more than half
      // are equal. A candidate that cycles through a few outputs has some equal pairs.
      const bool few = elements_[i] < fewest_elements;
      const double limit = few ? 1 : (1 + *most_equal_[i]) / 2;
      const auto repeated = std::count_if(all[i].begin(), all[i].end(),
                                          [&](double share) { return few ? share >= limit : share > limit; });
      const auto most = few ? static_cast<std::ptrdiff_t>(all[i].size()) : std::ptrdiff_t{4};
      if (repeated >= most)
        return "its random numbers are not drawn anew in each call: output tensor " + std::to_string(i) + " repeats " +
               check::detail::rounded_text(100 * *std::max_element(all[i].begin(), all[i].end())) +
               " % of its elements in calls for which the generators have other seeds, the baseline's at most " +
               check::detail::rounded_text(100 * *most_equal_[i]) + " %";
    }
    return find_other_means(implementation, moments);
  }

 private:
  static constexpr std::uint64_t calls = 8;
  static constexpr std::int64_t fewest_elements = 8;

  /// Copies of the tensors that a call returns or writes to. `number` selects the seed.
  [[nodiscard]] std::vector<at::Tensor> draw(Implementation& implementation, std::uint64_t number) const {
    operands_.restore_all(0);
    reset_random_state(seed_ + 101 * (number + 1));
    const auto output = call_in_a_row(implementation, operands_, calls_in_a_row_);
    const c10::NoGradGuard no_grad;
    std::vector<at::Tensor> drawn;
    for (const auto& tensor : check::detail::tensors_in_order(output))
      drawn.push_back(check::clone_input(tensor).detach());
    for (const std::size_t i : operands_.mutated) drawn.push_back(check::clone_input(operands_.tensors[0][i]).detach());
    return drawn;
  }

  /// Returns how the means of elements differ from the baseline's, as text; empty if they do not.
  [[nodiscard]] std::string find_other_means(Implementation& implementation,
                                             const check::ElementMoments& moments) const {
    check::MeanDifference difference(moments_, moments,
                                     [&](std::size_t i) { return i >= most_equal_.size() || !most_equal_[i]; });
    std::uint64_t number = calls;
    while (difference.open()) {
      // With one seed, the two sides' draws would not be independent.
      const auto expected = draw(*baseline_, number++);
      difference.add(expected, draw(implementation, number++));
    }
    operands_.restore_all(0);
    return difference.problem();
  }

  /// Returns the shares of equal elements in all pairs of calls, for each tensor that a call returns or writes to; 1
  /// where they cannot be compared. Adds the draws to `moments`.
  [[nodiscard]] std::vector<std::vector<double>> equal_shares(Implementation& implementation,
                                                              check::ElementMoments& moments) const {
    std::vector<std::vector<at::Tensor>> drawn;
    for (std::uint64_t call = 0; call < calls; ++call) {
      drawn.push_back(draw(implementation, call));
      moments.add(drawn.back());
    }
    operands_.restore_all(0);
    const c10::NoGradGuard no_grad;
    elements_.clear();
    std::vector<std::vector<double>> shares;
    for (std::size_t i = 0; i < drawn.front().size(); ++i) {
      shares.emplace_back();
      elements_.push_back(drawn.front()[i].numel());
      for (std::size_t one = 0; one < drawn.size(); ++one)
        for (std::size_t other = 0; other < one; ++other)
          shares.back().push_back(
              i < drawn[one].size() && i < drawn[other].size() ? equal_share(drawn[one][i], drawn[other][i]) : 1);
    }
    return shares;
  }

  [[nodiscard]] static double equal_share(const at::Tensor& one, const at::Tensor& other) {
    if (one.layout() != at::kStrided || one.is_nested() || one.numel() == 0) return 1;
    if (one.sizes() != other.sizes() || one.scalar_type() != other.scalar_type()) return 0;
    const at::Tensor nan = one.ne(one).logical_and(other.ne(other));
    return one.eq(other).logical_or(nan).to(at::kDouble).mean().item<double>();
  }

  OperandSets& operands_;
  std::uint64_t seed_;
  std::int64_t calls_in_a_row_;
  Implementation* baseline_ = nullptr;
  /// The draws of the baseline.
  check::ElementMoments moments_ = {};
  /// For each tensor, the baseline's largest share of equal elements; nothing if all are equal.
  std::vector<std::optional<double>> most_equal_ = {};
  /// Elements of each tensor in the last calls.
  mutable std::vector<std::int64_t> elements_ = {};
};

}  // namespace pace::detail
