// Edge values: whether an implementation is also right where random operands never lead it: for large and small values,
// rows of zeros, denormals, and where an operand was all zeros, such as a bias.
//
// NaN and infinities are not among them. LibTorch's own operators differ in what they make of a NaN (a maximum, a sort, a
// product with zero), code for finite numbers may index by them or never converge, and a call that never returns would be
// a worse answer than none.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <ATen/core/Tensor.h>
#include <ATen/core/ivalue.h>
#include <c10/core/GradMode.h>

#include "pace/check/check_options.hpp"
#include "pace/check/clone.hpp"
#include "pace/check/clone_input.hpp"
#include "pace/check/ivalue.hpp"
#include "pace/check/poison.hpp"
#include "pace/check/raw_memory.hpp"
#include "pace/check/tolerance.hpp"
#include "pace/compare/expected.hpp"
#include "pace/compare/implementation.hpp"
#include "pace/compare/operands.hpp"
#include "pace/compare/random_state.hpp"
#include "pace/compare/sensitivity.hpp"
#include "pace/compare/value_structure.hpp"
#include "pace/compare/write_values.hpp"

namespace pace::detail {

/// Other values for the same operands.
struct EdgeKind {
  /// In words, as in "... is not right for DESCRIPTION".
  std::string description;
  /// Writes to the tensors, and returns whether anything has changed.
  std::function<bool(const std::vector<at::Tensor>&)> write;
  /// Whether results count only if they are finite in as many places as those for the given values.
  bool must_stay_finite = false;
  /// Whether indices are compared; not where many values are equal, of which any index is right.
  bool compares_indices = true;
  /// Whether only results of elementwise operators are compared, whose errors are relative to their own size. What sums
  /// cancel from may be larger than operands and results, as the terms of a normalisation are.
  bool elementwise_only = false;
};

/// Whether each element of the output tensor `output` of a baseline depends on a few values only.
[[nodiscard]] inline bool is_elementwise(const Expected& expected, const at::Tensor& output) {
  constexpr double most_terms = 4;
  const auto* known = check::find_learned(&expected.learned, output);
  return known != nullptr && known->terms <= most_terms;
}

/// Multiplies the values of operands that may be large or small by `factor`. Those of float16 have no small numbers of
/// their precision, and stay if the factor is below 1.
[[nodiscard]] inline bool scale(const std::vector<at::Tensor>& tensors, double factor) {
  bool changed = false;
  for (const auto& tensor : tensors) {
    if (!has_real_values(tensor) || tensor.numel() == 1) continue;
    if (factor < 1 && c10::toRealValueType(tensor.scalar_type()) == at::kHalf) continue;
    const auto structure = structure_of(tensor);
    // One sign may mean coordinates or counts, which have a largest value.
    if (!structure.both_signs || structure.unit_range || structure.whole || structure.unit_rows) continue;
    check::detail::distinct_values_of(tensor).mul_(factor);
    changed = true;
  }
  return changed;
}

/// Makes the first row of operands zeros of both signs, and the second one denormals.
[[nodiscard]] inline bool empty_rows(const std::vector<at::Tensor>& tensors) {
  bool changed = false;
  for (const auto& tensor : tensors) {
    if (!has_real_values(tensor) || tensor.dim() == 0) continue;
    const auto structure = structure_of(tensor);
    if (!structure.both_signs || structure.whole || structure.sorted || structure.symmetric || structure.unit_rows)
      continue;
    auto values = check::detail::distinct_values_of(tensor);
    if (values.size(0) < 2) continue;
    values.select(0, 0).mul_(0);
    if (values.size(0) > 2) {
      const double smallest = check::detail::precision_of(values.scalar_type()).smallest;
      values.select(0, 1).mul_(smallest / 4);
    }
    changed = true;
  }
  return changed;
}

/// Gives operands whose values are all zeros, such as a bias, different ones in [1/4, 1).
[[nodiscard]] inline bool fill_zeros(const std::vector<at::Tensor>& tensors, std::uint64_t seed) {
  bool changed = false;
  change_values(tensors, seed, [&](at::Tensor& values, const at::Tensor& numbers) {
    // Other constants may be masks, counts or lengths.
    if (values.is_complex() || !structure_of(values).zeros) return;
    values.copy_(numbers.mul(0.75).add(0.25));
    changed = true;
  });
  return changed;
}

/// Examines implementations on edge values that the baseline accepts, as learned once from the baseline.
class EdgeValues {
 public:
  /// Whether outputs that are compared by `options` can be compared for edge values: not by directions or errors as a
  /// whole, which one large element decides, and not for vectors, which equal eigenvalues leave undetermined. A stated
  /// tolerance holds for values as large as those given.
  [[nodiscard]] static bool applies(const check::CheckOptions& options) {
    using Method = check::CheckOptions::Method;
    return options.edge_values && options.fresh_values != check::CheckOptions::FreshValues::none &&
           (options.method == Method::allclose || options.method == Method::bitwise || options.method == Method::ties);
  }

  /// All must outlive it.
  EdgeValues(OperandSets& operands, std::uint64_t seed, const check::CheckOptions& options)
      : operands_(operands), seed_(seed), options_(options) {}

  using Learn = std::function<void(Expected&, const OperandSet&)>;

  /// Calls the baseline for each kind of edge values, and keeps those that it accepts. `learn` adds the tolerances for
  /// such values to what is expected.
  void learn(Implementation& baseline, const Expected& given, const OperandSet& original, const Learn& learn) {
    const c10::NoGradGuard no_grad;
    const bool stated = options_.rtol.has_value() || options_.atol.has_value();
    for (const double factor : {64.0, 8.0})
      if (!stated &&
          add(baseline, given, original, learn,
              {.description = "large values (the operands times " + std::to_string(static_cast<int>(factor)) + ')',
               .write = [=](const auto& tensors) { return scale(tensors, factor); },
               .must_stay_finite = true}))
        break;
    if (!stated)
      (void)add(baseline, given, original, learn,
                {.description = "small values (the operands times 2^-10)",
                 .write = [](const auto& tensors) { return scale(tensors, 0x1p-10); },
                 .must_stay_finite = true,
                 .elementwise_only = true});
    (void)add(baseline, given, original, learn,
              {.description = "operands whose first row is zeros, and the second one denormal",
               .write = empty_rows,
               .compares_indices = false});
    (void)add(baseline, given, original, learn,
              {.description = "random values in an operand that was all zeros",
               .write = [seed = seed_](const auto& tensors) { return fill_zeros(tensors, seed + 7); }});
    operands_.restore_all(0);
  }

  /// What is wrong with an implementation that is right for the given values; empty if nothing is.
  [[nodiscard]] std::string examine(Implementation& implementation) const {
    const std::string hint =
        ". If it relies on what is special about the operands, switch this check off "
        "(check::CheckOptions::edge_values)";
    for (const auto& each : learned_) {
      c10::IValue output;
      try {
        output = call(implementation, *each.values);
      } catch (...) {
        const Failure failure = current_failure();
        if (failure.device != Failure::Device::fine || failure.out_of_memory) throw;
        operands_.restore_all(0);
        return "it is right for the operands given, but throws for " + each.kind.description + ": " + failure.message +
               hint;
      }
      const Agreement agreement = agree(each.expected, where_expected_is_finite(each, output), operands_, 0, options_);
      operands_.restore_all(0);
      if (!agreement.correct)
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
  };

  [[nodiscard]] c10::IValue call(Implementation& implementation, const OperandSet& values) const {
    write_values(values.tensors(), operands_.tensors[0]);
    reset_random_state(seed_);
    const check::PoisonedAllocations poisoned;
    // Gradients are recorded as in the first calls, since an implementation may take some.
    const c10::AutoGradMode as_given(gradients_);
    const c10::IValue output = implementation.call(0);
    const c10::NoGradGuard no_grad;
    return check::clone_ivalue(output);
  }

  [[nodiscard]] static bool all_finite(const at::Tensor& tensor) {
    return !has_real_values(tensor) || tensor.isfinite().all().item<bool>();
  }

  /// Returns whether the baseline accepts values of this kind.
  [[nodiscard]] bool add(Implementation& baseline, const Expected& given, const OperandSet& original,
                         const Learn& learn, EdgeKind kind) {
    try {
      Learned made{.kind = std::move(kind), .values = original.clone(), .expected = {}};
      if (!made.kind.write(made.values->tensors())) return false;
      Expected& expected = made.expected;
      expected.random = given.random;
      expected.output = call(baseline, *made.values);
      const auto values = made.values->tensors();
      for (std::size_t i = 0; i < values.size(); ++i) {
        const auto& now = operands_.tensors[0][i];
        const bool written = !unchanged(values[i], now);
        if (written && !operands_.may_change(i)) return false;
        // Operands are compared as they are, so that those of infinities say nothing.
        if (written && !operands_.is_scratch(i) && !all_finite(now)) return false;
        expected.operands.push_back(written ? check::clone_input(now) : values[i]);
      }
      if (made.kind.must_stay_finite && !as_finite(given.output, expected.output)) return false;
      learn(expected, *made.values);
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
      // No valid operands of the baseline. Nothing else works any more on a device that is lost.
      if (current_failure().device != Failure::Device::fine) throw;
      return false;
    }
  }

  [[nodiscard]] static bool as_finite(const c10::IValue& given, const c10::IValue& edge) {
    const auto before = check::tensors_of(given), now = check::tensors_of(edge);
    for (std::size_t i = 0; i < std::min(before.size(), now.size()); ++i) {
      if (!has_real_values(before[i]) || !has_real_values(now[i])) continue;
      if (before[i].isfinite().sum().item<std::int64_t>() > now[i].isfinite().sum().item<std::int64_t>()) return false;
    }
    return true;
  }

  /// Elements of an output, replaced by the expected ones wherever these are not finite or, if they are indices, are not
  /// compared.
  class Masked {
   public:
    Masked(const Learned& learned, const c10::IValue& output) {
      const auto expected = check::tensors_of(learned.expected.output);
      outputs_ = check::tensors_of(output);
      for (std::size_t i = 0; i < outputs_.size(); ++i) {
        masked_.push_back(outputs_[i]);
        // Tensors that are not dense are compared as they are.
        if (i >= expected.size() || !check::detail::is_plain(outputs_[i]) || !check::detail::is_plain(expected[i]) ||
            expected[i].sizes() != outputs_[i].sizes() || expected[i].scalar_type() != outputs_[i].scalar_type() ||
            expected[i].device() != outputs_[i].device())
          continue;
        const bool indices =
            !outputs_[i].is_floating_point() && !outputs_[i].is_complex() && outputs_[i].scalar_type() != at::kBool;
        if (indices && !learned.kind.compares_indices) masked_[i] = expected[i];
        if (learned.kind.elementwise_only && !is_elementwise(learned.expected, expected[i])) {
          masked_[i] = expected[i];
          continue;
        }
        if (has_real_values(outputs_[i]) && has_real_values(expected[i]))
          masked_[i] = outputs_[i].where(expected[i].isfinite(), expected[i]);
      }
    }
    [[nodiscard]] const at::Tensor& of(const at::Tensor& tensor) const {
      std::size_t i = 0;
      while (!outputs_[i].is_same(tensor)) ++i;
      return masked_[i];
    }

   private:
    std::vector<at::Tensor> outputs_, masked_;
  };

  [[nodiscard]] static c10::IValue where_expected_is_finite(const Learned& learned, const c10::IValue& output) {
    const c10::NoGradGuard no_grad;
    return check::detail::with_clones(output, Masked(learned, output));
  }

  OperandSets& operands_;
  std::uint64_t seed_;
  const check::CheckOptions& options_;
  bool gradients_ = c10::GradMode::is_enabled();
  std::vector<Learned> learned_ = {};
};

}  // namespace pace::detail
