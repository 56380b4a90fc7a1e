// EdgeValues: whether an implementation is also right for values that random operands hardly have.
//
// Not for NaN and infinities. LibTorch's own operators disagree on NaN in a maximum, a sort or a product with zero.
// Code for finite numbers may use them as indices or never converge, and a call that never returns is worse than no
// check.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <ATen/core/Tensor.h>
#include <ATen/core/ivalue.h>
#include <ATen/ops/_unique.h>
#include <ATen/ops/arange.h>
#include <c10/core/GradMode.h>

#include "pace/base/spelling.hpp"
#include "pace/check/check_options.hpp"
#include "pace/check/clone.hpp"
#include "pace/check/clone_input.hpp"
#include "pace/check/ivalue.hpp"
#include "pace/check/poison.hpp"
#include "pace/os/activity.hpp"
#include "pace/subject/implementation.hpp"
#include "pace/subject/operands.hpp"
#include "pace/subject/random_state.hpp"
#include "pace/subject/write_values.hpp"
#include "pace/unseen/answers.hpp"
#include "pace/unseen/check.hpp"
#include "pace/unseen/edge_kinds.hpp"
#include "pace/unseen/oracle.hpp"
#include "pace/unseen/rounding.hpp"
#include "pace/values/related_integers.hpp"
#include "pace/values/replaced_values.hpp"
#include "pace/values/unseen_values.hpp"
#include "pace/values/value_structure.hpp"
#include "pace/verify/expected.hpp"
#include "pace/verify/sensitivity.hpp"

namespace pace::detail {

/// Checks implementations on edge values that the baseline accepts.
class EdgeValues final : public Check {
 public:
  /// Whether edge values suit the comparison. One large element decides a direction or an overall error, and equal
  /// eigenvalues leave vectors undetermined. A stated tolerance holds for values as large as those given.
  [[nodiscard]] static bool applies(const check::CheckOptions& options) {
    using Method = check::CheckOptions::Method;
    return options.edge_values && options.unseen_values != check::CheckOptions::UnseenValues::none &&
           (options.method == Method::allclose || options.method == Method::bitwise || options.method == Method::ties);
  }

  /// Each answer comes from the last of `calls` calls in a row.
  EdgeValues(const Oracle& oracle, std::uint64_t seed, std::int64_t calls)
      : oracle_(oracle), operands_(oracle.operands), seed_(seed), calls_(calls), options_(oracle.check) {}

  using Learn = std::function<void(Expected&, const OperandSet&)>;
  using WriteSmaller = std::function<bool(const std::vector<at::Tensor>&, int)>;

  /// Calls the baseline on each kind of edge values, and keeps the kinds that it accepts. `learn` adds tolerances for
  /// such values, and is kept.
  void learn(const Learn& learn) {
    const c10::NoGradGuard no_grad;
    learn_tolerances_ = learn;
    const bool stated = options_.rtol.has_value() || options_.atol.has_value();
    for (const bool both_signs : {true, false})
      for (const double factor : {64.0, 8.0})
        if (!stated &&
            add({.description = std::string("large values ") + (both_signs ? "" : "of one sign ") +
                                "(the operands times " + std::to_string(static_cast<int>(factor)) + ')',
                 .write = [=](const auto& tensors) { return scale(tensors, factor, both_signs); },
                 .must_stay_finite = true,
                 // A softmax of large values is 0 in most places: a router may take any of them.
                 .compares_indices = false,
                 .write_smaller = both_signs ? WriteSmaller() : WriteSmaller([=](const auto& tensors, int sixteenths) {
                   // Bent by less than the reduction, so that the largest values shrink, too.
                   return scale(tensors, factor * (1 - sixteenths / 16.0), both_signs, sixteenths / 32.0);
                 })}))
          break;
    if (!stated)
      (void)add(
          {.description = "values far from zero (the largest operand plus 1024 standard deviations)",
           .write = [](const auto& tensors) { return shift(tensors, 1024); },
           .must_stay_finite = true,
           .compares_indices = false,
           .must_stay_accurate = true,
           .write_smaller = [](const auto& tensors,
                               int sixteenths) { return shift(tensors, 1024 - 64 * sixteenths, sixteenths / 16.0); }});
    if (!stated)
      (void)add({.description = "small values (the operands times 2^-10)",
                 .write = [](const auto& tensors) { return scale(tensors, 0x1p-10, /*both_signs=*/true); },
                 .must_stay_finite = true,
                 .elementwise_only = true});
    (void)add({.description = "operands whose first row is zeros, and the second one denormal",
               .write = empty_rows,
               .compares_indices = false});
    (void)add({.description = "random values in an operand that was all zeros",
               .write = [seed = seed_](const auto& tensors) { return fill_zeros(tensors, seed + 7); }});
    for (const bool value : {true, false})
      (void)add({.description = std::string("a mask that is ") + (value ? "true" : "false") + " everywhere",
                 .write = [=, this](const auto& tensors) { return fill_masks(tensors, source_, value); },
                 .must_stay_finite = true,
                 .compares_indices = false});
    for (std::size_t i = 0; i < operands_.given.size(); ++i)
      if (options_.large_integers && is_arithmetic_in(i))
        (void)add({.description = "large integers (up to 2^40 in operand tensor " + std::to_string(i) + ')',
                   .write =
                       [=](const auto& tensors) {
                         enlarge(tensors[i]);
                         return true;
                       },
                   .must_stay_finite = true,
                   .must_not_overflow = true});
    operands_.restore_all(0);
  }

  /// Returns the fault of an implementation that is right for the values given, as text; empty if none.
  [[nodiscard]] std::string find_fault(Implementation& implementation) override {
    const std::string hint = "; try: if it relies on special operands, switch this check off (" +
                             spelled("check::CheckOptions::edge_values = false in C++, --audit off on a command line",
                                     "check(edge_values=False)") +
                             ')';
    for (auto& each : learned_) {
      c10::IValue output;
      try {
        output = call(implementation, *each.values, each.kind.description);
      } catch (...) {
        const Failure failure = current_failure();
        if (failure.device != Failure::Device::fine || failure.out_of_memory) throw;
        operands_.restore_all(0);
        return "it is right for the operands given, but throws on others: " + failure.message;
      }
      if (check::outputs_match(each.expected.output, output, exactly()).correct &&
          unchanged(each.expected.operands, operands_.tensors[0])) {
        operands_.restore_all(0);
        continue;
      }
      if (!std::exchange(each.has_tolerances, true)) {
        std::vector<at::Tensor> after;
        for (const auto& tensor : operands_.tensors[0]) after.push_back(check::clone_input(tensor));
        learn_tolerances_(each.expected, *each.values);
        write_values(after, operands_.tensors[0]);
      }
      const Agreement agreement =
          agree(each.expected, where_expected_is_finite(each.kind, each.expected, output), operands_, 0, options_);
      // The comparison above covers the operands that it writes to.
      const bool output_alone =
          !agreement.correct && operands_.mutated.empty() && unchanged(each.expected.operands, operands_.tensors[0]);
      operands_.restore_all(0);
      if (agreement.correct) continue;
      const auto values = each.values->tensors();
      if (output_alone && rounding_explains(where_expected_is_finite(each.kind, each.expected, output),
                                            {values, each.expected, seed_}, oracle_, source_))
        continue;
      return "it is right for the operands given, but not for " + each.kind.description + ": " + agreement.message +
             hint;
    }
    return {};
  }

 private:
  struct Learned {
    EdgeKind kind;
    std::unique_ptr<OperandSet> values;
    Expected expected;
    /// Whether `expected` has tolerances for these values. Learned only when an implementation differs.
    bool has_tolerances = false;
  };

  [[nodiscard]] check::CheckOptions exactly() const {
    check::CheckOptions options = options_;
    options.method = check::CheckOptions::Method::bitwise;
    return options;
  }

  [[nodiscard]] c10::IValue call(Implementation& implementation, const OperandSet& values,
                                 const std::string& description) const {
    const UnseenValuesInUse in_use("pace tried " + description, remedy_for_edge_values());
    write_values(values.tensors(), operands_.tensors[0]);
    reset_random_state(seed_);
    const check::PoisonedAllocations poisoned;
    // Records gradients as the first calls do, since an implementation may take some.
    const c10::AutoGradMode as_given(gradients_);
    const c10::IValue output = call_in_a_row(implementation, operands_, calls_);
    const c10::NoGradGuard no_grad;
    return check::clone_ivalue(output);
  }

  /// Whether the baseline's outputs are linear in the integers of operand `i`, which are then no indices, lengths or
  /// counts. Tries three values of the operand in two places.
  [[nodiscard]] bool is_arithmetic_in(std::size_t i) {
    const at::Tensor& given = operands_.given[i];
    if (!given.defined() || !check::detail::is_plain(given) || given.scalar_type() != at::kLong || given.numel() < 2 ||
        operands_.may_change(i))
      return false;
    constexpr std::int64_t most_looked_at = 4096;
    const at::Tensor values = check::detail::distinct_values_of(given).flatten();
    const at::Tensor occurring =
        std::get<0>(at::_unique(values.narrow(0, 0, std::min(values.numel(), most_looked_at)), /*sorted=*/true));
    if (occurring.numel() < 3) return false;
    const std::int64_t middle = occurring.numel() / 2, last = occurring.numel() - 1;
    const auto value_at = [&](std::int64_t place) { return occurring[place].item<std::int64_t>(); };
    const std::int64_t a = value_at(0), b = value_at(middle), c = value_at(last);
    try {
      for (const std::int64_t place : {std::int64_t{0}, values.numel() - 1}) {
        std::vector<std::vector<at::Tensor>> results;
        for (const std::int64_t value : {a, b, c}) {
          const auto changed = oracle_.given.clone();
          auto memory = check::detail::distinct_values_of(changed->tensors().at(i));
          memory.masked_fill_(at::arange(memory.numel(), memory.options()).view(memory.sizes()).eq(place), value);
          results.push_back(
              check::tensors_of(call(oracle_.baseline, *changed, "single integers that occur in other places")));
          operands_.restore_all(0);
        }
        if (!moves_linearly(results, b - a, c - b)) return false;
      }
      return true;
    } catch (...) {
      if (current_failure().device != Failure::Device::fine) throw;
      operands_.restore_all(0);
      return false;
    }
  }

  [[nodiscard]] static bool moves_linearly(const std::vector<std::vector<at::Tensor>>& results, std::int64_t first,
                                           std::int64_t second) {
    bool moves = false;
    if (results[0].size() != results[1].size() || results[1].size() != results[2].size()) return false;
    for (std::size_t k = 0; k < results[0].size(); ++k) {
      const auto wide = [&](int which) { return results[static_cast<std::size_t>(which)][k].to(at::kDouble); };
      for (int which = 0; which < 3; ++which) {
        const at::Tensor& one = results[static_cast<std::size_t>(which)][k];
        if (!check::detail::is_plain(one) || one.is_complex() || one.sizes() != results[0][k].sizes()) return false;
      }
      const at::Tensor early = wide(1).sub(wide(0)), late = wide(2).sub(wide(1));
      const at::Tensor expected = early.mul(static_cast<double>(second) / static_cast<double>(first));
      if (!late.sub(expected).abs().le(wide(2).abs().mul(1e-5).add(1e-9)).all().item<bool>()) return false;
      moves = moves || late.ne(0).any().item<bool>();
    }
    return moves;
  }

  /// Whether a float64 call of the baseline has nearly the same outputs; false if none can be compared.
  [[nodiscard]] bool is_accurate(const c10::IValue& output, const OperandSet& values) {
    constexpr double most_error = 1e-3;
    std::vector<at::Tensor> exact;
    try {
      const c10::AutoGradMode as_given(gradients_);
      exact = check::tensors_of(call_in_float64(oracle_.baseline, operands_, values, seed_));
    } catch (...) {
      if (current_failure().device != Failure::Device::fine) throw;
      return false;
    }
    bool compared = false;
    const auto outputs = check::tensors_of(output);
    for (std::size_t k = 0; k < std::min(outputs.size(), exact.size()); ++k) {
      if (!has_real_values(outputs[k]) || outputs[k].is_complex() || exact[k].scalar_type() != at::kDouble ||
          exact[k].sizes() != outputs[k].sizes())
        continue;
      const auto rms = [](const at::Tensor& tensor) {
        return tensor.nan_to_num(0, 0, 0).square().mean().sqrt().item<double>();
      };
      if (!(rms(outputs[k].to(at::kDouble).sub(exact[k])) <= most_error * rms(exact[k]))) return false;
      compared = true;
    }
    return compared;
  }

  /// Whether integers in the output are below 2^53. Then none has overflowed, and doubles hold them exactly.
  [[nodiscard]] static bool below_overflow(const c10::IValue& output) {
    constexpr double most = 0x1p53;
    for (const auto& tensor : check::tensors_of(output))
      if (check::detail::is_plain(tensor) && tensor.numel() > 0 &&
          c10::isIntegralType(tensor.scalar_type(), /*includeBool=*/false) &&
          !tensor.to(at::kDouble).abs().le(most).all().template item<bool>())
        return false;
    return true;
  }

  /// Whether the values of `made` are no places, such as coordinates. A baseline may clamp places, while an
  /// implementation may access memory beyond its own. Clamped places are all equal, and wrapped ones lead to random
  /// elements. So nearly all outputs must depend on the values, and smoothly: two equal steps change them about
  /// equally.
  [[nodiscard]] bool are_no_places(const Learned& made) {
    constexpr double most_equal = 0.1, most_of_step = 0.25, most_of_size = 0.02;
    std::vector<std::vector<at::Tensor>> results;
    results.push_back(check::tensors_of(made.expected.output));
    for (const std::size_t i : operands_.mutated) results.back().push_back(made.expected.operands[i]);
    for (const int sixteenths : {1, 2}) {
      const auto smaller = oracle_.given.clone();
      if (!made.kind.write_smaller(smaller->tensors(), sixteenths)) return false;
      results.push_back(check::tensors_of(call(oracle_.baseline, *smaller, made.kind.description)));
      for (const std::size_t i : operands_.mutated)
        results.back().push_back(check::clone_input(operands_.tensors[0][i]));
      operands_.restore_all(0);
      if (results.back().size() != results.front().size()) return false;
    }
    double elements = 0, equal = 0, square = 0, square_of_step = 0, square_of_difference = 0;
    for (std::size_t k = 0; k < results.front().size(); ++k) {
      for (const auto& each : results)
        if (!check::detail::is_plain(each[k]) || each[k].is_complex() || each[k].sizes() != results[0][k].sizes())
          return false;
      const auto wide = [&](std::size_t which) { return results[which][k].to(at::kDouble).nan_to_num(0, 0, 0); };
      const auto square_sum = [](const at::Tensor& tensor) { return tensor.square().sum().item<double>(); };
      elements += static_cast<double>(results[0][k].numel());
      equal += results[0][k].eq(results[1][k]).sum().item<double>();
      const at::Tensor step = wide(0).sub(wide(1));
      square += square_sum(wide(0));
      square_of_step += square_sum(step);
      square_of_difference += square_sum(step.sub(wide(1).sub(wide(2))));
    }
    return elements > 0 && equal <= most_equal * elements &&
           std::sqrt(square_of_difference) <=
               most_of_step * std::sqrt(square_of_step) + most_of_size * std::sqrt(square);
  }

  [[nodiscard]] static bool all_finite(const at::Tensor& tensor) {
    return !has_real_values(tensor) || tensor.isfinite().all().item<bool>();
  }

  /// Tries values of this kind. Returns whether the baseline accepts them.
  [[nodiscard]] bool add(EdgeKind kind) {
    const Expected& given = oracle_.expected;
    try {
      Learned made{.kind = std::move(kind), .values = oracle_.given.clone(), .expected = {}};
      if (!made.kind.write(made.values->tensors())) return false;
      Expected& expected = made.expected;
      expected.random = given.random;
      expected.output = call(oracle_.baseline, *made.values, made.kind.description);
      const auto values = made.values->tensors();
      for (std::size_t i = 0; i < values.size(); ++i) {
        const auto& now = operands_.tensors[0][i];
        const bool written = !unchanged(values[i], now);
        if (written && !operands_.may_change(i)) return false;
        // Operands are compared without masking, so infinities in them prove nothing.
        if (written && !operands_.is_scratch(i) && !all_finite(now)) return false;
        expected.operands.push_back(written ? check::clone_input(now) : values[i]);
      }
      if (made.kind.must_stay_finite && !as_finite(given.output, expected.output)) return false;
      if (made.kind.must_not_overflow && !below_overflow(expected.output)) return false;
      if (made.kind.write_smaller != nullptr && !are_no_places(made)) return false;
      if (made.kind.must_stay_accurate && !is_accurate(expected.output, *made.values)) return false;
      expected.learned = learned_for(expected, given);
      if (made.kind.elementwise_only) {
        const auto outputs = check::tensors_of(expected.output);
        if (!operands_.mutated.empty() || std::none_of(outputs.begin(), outputs.end(), [&](const at::Tensor& output) {
              return is_elementwise(expected, output);
            }))
          return false;
      }
      learned_.push_back(std::move(made));
      return true;
    } catch (...) {
      // The baseline does not accept these operands. On a lost device nothing else works.
      if (current_failure().device != Failure::Device::fine) throw;
      return false;
    }
  }

  Oracle oracle_;
  OperandSets& operands_;
  std::uint64_t seed_;
  std::int64_t calls_;
  const check::CheckOptions& options_;
  bool gradients_ = c10::GradMode::is_enabled();
  Learn learn_tolerances_ = {};
  /// Finds which operands are special.
  UnseenValues source_{oracle_.unseen_values(seed_)};
  std::vector<Learned> learned_ = {};
};

}  // namespace pace::detail
