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

#include "pace/check/check_options.hpp"
#include "pace/check/clone.hpp"
#include "pace/check/clone_input.hpp"
#include "pace/check/ivalue.hpp"
#include "pace/check/poison.hpp"
#include "pace/check/raw_memory.hpp"
#include "pace/check/tolerance.hpp"
#include "pace/os/activity.hpp"
#include "pace/subject/implementation.hpp"
#include "pace/subject/operands.hpp"
#include "pace/subject/random_state.hpp"
#include "pace/subject/write_values.hpp"
#include "pace/values/integer_places.hpp"
#include "pace/values/padding.hpp"
#include "pace/values/rearranged_matrices.hpp"
#include "pace/values/related_integers.hpp"
#include "pace/values/replaced_values.hpp"
#include "pace/values/unseen_values.hpp"
#include "pace/values/value_structure.hpp"
#include "pace/verify/answers.hpp"
#include "pace/verify/check.hpp"
#include "pace/verify/expected.hpp"
#include "pace/verify/rounding.hpp"
#include "pace/verify/sensitivity.hpp"

namespace pace::detail {

/// One kind of edge values for the operands.
struct EdgeKind {
  /// Completes "it is right for the operands given, but not for ...".
  std::string description;
  /// Writes to the tensors. Returns whether anything changed.
  std::function<bool(const std::vector<at::Tensor>&)> write;
  /// Skip these values if the baseline's results have more that are not finite than for the values given.
  bool must_stay_finite = false;
  /// Whether to compare indices: integers of 32 bits or more. Not where many values are equal, since any of their
  /// indices is right.
  bool compares_indices = true;
  /// Compare only results of elementwise operators, whose errors are relative to their own size. Elsewhere, such as in
  /// a normalisation, a sum may cancel terms larger than operands and results.
  bool elementwise_only = false;
  /// Skip these values if the baseline loses more than a thousandth, measured by a float64 call.
  bool must_stay_accurate = false;
  /// Skip these values if integers in the results may have overflowed.
  bool must_not_overflow = false;
  /// Writes values that are `sixteenths` smaller and bent (see bend()), for EdgeValues::are_no_places(). Null: not
  /// checked.
  std::function<bool(const std::vector<at::Tensor>&, int sixteenths)> write_smaller = nullptr;
};

/// Whether each element of the baseline's output tensor `output` depends on few values only.
[[nodiscard]] inline bool is_elementwise(const Expected& expected, const at::Tensor& output) {
  constexpr double most_terms = 4;
  const auto* known = check::find_learned(&expected.learned, output);
  return known != nullptr && known->terms <= most_terms;
}

/// Multiplies each value by 1 + `share` * |value| / the largest |value|. On the same rounding grid, a variance ignores
/// a shift, and a quotient a factor. Bent values change both.
inline void bend(const at::Tensor& values, double share) {
  if (share != 0) values.mul_(values.abs().div(values.abs().max()).mul(share).add(1));
}

/// Bends operands that may be large or small by `bent`, then multiplies them by `factor`. `both_signs` selects operands
/// of both signs or of one. Below 1, a factor skips float16, which loses precision there.
[[nodiscard]] inline bool scale(const std::vector<at::Tensor>& tensors, double factor, bool both_signs,
                                double bent = 0) {
  bool changed = false;
  for (const auto& tensor : tensors) {
    if (!has_real_values(tensor) || tensor.numel() == 1) continue;
    if (factor < 1 && c10::toRealValueType(tensor.scalar_type()) == at::kHalf) continue;
    const auto structure = structure_of(tensor);
    if (structure.both_signs != both_signs || structure.unit_range || structure.whole || structure.unit_rows) continue;
    // Sorted values of one sign may be boundaries, which have a largest value.
    if (!both_signs && structure.is_special()) continue;
    auto values = check::detail::distinct_values_of(tensor);
    bend(values, bent);
    values.mul_(factor);
    changed = true;
  }
  return changed;
}

/// Bends the largest operand by `bent`, then adds `deviations` standard deviations. Not if it has a special structure
/// or a 16-bit type, which has too few digits.
[[nodiscard]] inline bool shift(const std::vector<at::Tensor>& tensors, double deviations, double bent = 0) {
  constexpr double most_deviations = 64;
  const at::Tensor* largest = nullptr;
  for (const auto& tensor : tensors)
    if (has_real_values(tensor) && !tensor.is_complex() && tensor.numel() > 1 && tensor.element_size() >= 4 &&
        (largest == nullptr || tensor.numel() > largest->numel()))
      largest = &tensor;
  if (largest == nullptr) return false;
  const auto structure = structure_of(*largest);
  if (structure.unit_range || structure.is_special()) return false;
  auto values = check::detail::distinct_values_of(*largest);
  if (values.numel() < 2) return false;
  const double deviation = values.std().item<double>(), mean = values.mean().item<double>();
  if (!std::isfinite(deviation) || !(std::abs(mean) < most_deviations * deviation)) return false;
  bend(values, bent);
  values.add_(deviations * deviation);
  return true;
}

/// Makes masks true or false everywhere: bools, and numbers that are all 0 or 1. Not where `source` keeps the sum.
[[nodiscard]] inline bool fill_masks(const std::vector<at::Tensor>& tensors, const UnseenValues& source, bool value) {
  bool changed = false;
  for (std::size_t i = 0; i < tensors.size(); ++i) {
    const at::Tensor& tensor = tensors[i];
    if (source.keeps_sum(i)) continue;
    if (!tensor.defined() || !check::detail::is_plain(tensor) || tensor.numel() == 0 || tensor.is_complex()) continue;
    const bool real = has_real_values(tensor);
    if (!real && !c10::isIntegralType(tensor.scalar_type(), /*includeBool=*/true)) continue;
    auto values = check::detail::distinct_values_of(tensor);
    if (tensor.scalar_type() != at::kBool && !values.eq(0).logical_or(values.eq(1)).all().item<bool>()) continue;
    const auto structure = real ? structure_of(tensor) : ValueStructure{};
    if (!replace_dim(tensor, structure, place_free_dim(tensor)) || one_hot_dim(values)) continue;
    values.fill_(value);
    changed = true;
  }
  return changed;
}

/// Multiplies an operand's integers, except padding, so that the largest has about 40 bits. The factor is odd, so odd
/// integers stay odd.
inline void enlarge(const at::Tensor& tensor) {
  auto values = check::detail::distinct_values_of(tensor);
  const auto largest = std::max<std::int64_t>(values.abs().max().item<std::int64_t>(), 1);
  const auto padding = padding_of(tensor);
  const at::Tensor enlarged = values.mul(((std::int64_t{1} << 40) / largest) | 1);
  values.copy_(padding ? values.where(values.eq(padding->value), enlarged) : enlarged);
}

/// Makes the first row of operands zeros of both signs, and the second one denormals.
[[nodiscard]] inline bool empty_rows(const std::vector<at::Tensor>& tensors) {
  bool changed = false;
  for (const auto& tensor : tensors) {
    if (!has_real_values(tensor) || tensor.dim() == 0) continue;
    const auto structure = structure_of(tensor);
    if (!structure.both_signs || structure.whole || structure.sorted || structure.symmetric || structure.unit_rows ||
        structure.centred_columns)
      continue;
    auto values = check::detail::distinct_values_of(tensor);
    if (values.size(0) < 2 || is_toeplitz(values)) continue;
    values.select(0, 0).mul_(0);
    if (values.size(0) > 2) {
      const double smallest = check::detail::precision_of(values.scalar_type()).smallest;
      values.select(0, 1).mul_(smallest / 4);
    }
    changed = true;
  }
  return changed;
}

/// Fills operands that are all zeros, such as a bias, with different values in [1/4, 1).
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

  /// All must outlive it, and so must the baseline of learn(). Each answer comes from the last of `calls` calls in a
  /// row.
  EdgeValues(OperandSets& operands, std::uint64_t seed, std::int64_t calls, const check::CheckOptions& options)
      : operands_(operands), seed_(seed), calls_(calls), options_(options) {}

  using Learn = std::function<void(Expected&, const OperandSet&)>;
  using WriteSmaller = std::function<bool(const std::vector<at::Tensor>&, int)>;

  /// Calls the baseline on each kind of edge values, and keeps the kinds that it accepts. `learn` adds tolerances for
  /// such values, and is kept.
  void learn(Implementation& baseline, const Expected& given, const OperandSet& original, const Learn& learn) {
    const c10::NoGradGuard no_grad;
    learn_tolerances_ = learn;
    baseline_ = &baseline;
    source_.emplace(operands_.pristine, seed_, KnownSizes(operands_.pristine, given.output, original.numbers()));
    const bool stated = options_.rtol.has_value() || options_.atol.has_value();
    for (const bool both_signs : {true, false})
      for (const double factor : {64.0, 8.0})
        if (!stated &&
            add(baseline, given, original,
                {.description = std::string("large values ") + (both_signs ? "" : "of one sign ") +
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
          baseline, given, original,
          {.description = "values far from zero (the largest operand plus 1024 standard deviations)",
           .write = [](const auto& tensors) { return shift(tensors, 1024); },
           .must_stay_finite = true,
           .compares_indices = false,
           .must_stay_accurate = true,
           .write_smaller = [](const auto& tensors,
                               int sixteenths) { return shift(tensors, 1024 - 64 * sixteenths, sixteenths / 16.0); }});
    if (!stated)
      (void)add(baseline, given, original,
                {.description = "small values (the operands times 2^-10)",
                 .write = [](const auto& tensors) { return scale(tensors, 0x1p-10, /*both_signs=*/true); },
                 .must_stay_finite = true,
                 .elementwise_only = true});
    (void)add(baseline, given, original,
              {.description = "operands whose first row is zeros, and the second one denormal",
               .write = empty_rows,
               .compares_indices = false});
    (void)add(baseline, given, original,
              {.description = "random values in an operand that was all zeros",
               .write = [seed = seed_](const auto& tensors) { return fill_zeros(tensors, seed + 7); }});
    for (const bool value : {true, false})
      (void)add(baseline, given, original,
                {.description = std::string("a mask that is ") + (value ? "true" : "false") + " everywhere",
                 .write = [=, this](const auto& tensors) { return fill_masks(tensors, *source_, value); },
                 .must_stay_finite = true,
                 .compares_indices = false});
    for (std::size_t i = 0; i < operands_.pristine.size(); ++i)
      if (options_.large_integers && is_arithmetic_in(baseline, original, i))
        (void)add(baseline, given, original,
                  {.description = "large integers (up to 2^40 in operand tensor " + std::to_string(i) + ')',
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
    const std::string hint =
        "; try: if it relies on what is special about the operands, switch this check off "
        "(check::CheckOptions::edge_values = false in C++, --audit off on a command line)";
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
      const Agreement agreement = agree(each.expected, where_expected_is_finite(each, output), operands_, 0, options_);
      // The comparison above covers the operands that it writes to.
      const bool output_alone =
          !agreement.correct && operands_.mutated.empty() && unchanged(each.expected.operands, operands_.tensors[0]);
      operands_.restore_all(0);
      if (agreement.correct) continue;
      const auto values = each.values->tensors();
      if (output_alone && rounding_explains(where_expected_is_finite(each, output), {values, each.expected, seed_},
                                            *baseline_, operands_, *each.values, *source_, options_))
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
    const OnOtherValues other("pace tried " + description, remedy_for_edge_values);
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
  [[nodiscard]] bool is_arithmetic_in(Implementation& baseline, const OperandSet& original, std::size_t i) {
    const at::Tensor& given = operands_.pristine[i];
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
          const auto changed = original.clone();
          auto memory = check::detail::distinct_values_of(changed->tensors().at(i));
          memory.masked_fill_(at::arange(memory.numel(), memory.options()).view(memory.sizes()).eq(place), value);
          results.push_back(check::tensors_of(call(baseline, *changed, "single integers that occur in other places")));
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
  [[nodiscard]] bool is_accurate(Implementation& baseline, const c10::IValue& output, const OperandSet& values) {
    constexpr double most_error = 1e-3;
    std::vector<at::Tensor> exact;
    try {
      const c10::AutoGradMode as_given(gradients_);
      exact = check::tensors_of(call_in_float64(baseline, operands_, values, seed_));
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
  [[nodiscard]] bool are_no_places(Implementation& baseline, const OperandSet& original, const Learned& made) {
    constexpr double most_equal = 0.1, most_of_step = 0.25, most_of_size = 0.02;
    std::vector<std::vector<at::Tensor>> results;
    results.push_back(check::tensors_of(made.expected.output));
    for (const std::size_t i : operands_.mutated) results.back().push_back(made.expected.operands[i]);
    for (const int sixteenths : {1, 2}) {
      const auto smaller = original.clone();
      if (!made.kind.write_smaller(smaller->tensors(), sixteenths)) return false;
      results.push_back(check::tensors_of(call(baseline, *smaller, made.kind.description)));
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
  [[nodiscard]] bool add(Implementation& baseline, const Expected& given, const OperandSet& original, EdgeKind kind) {
    try {
      Learned made{.kind = std::move(kind), .values = original.clone(), .expected = {}};
      if (!made.kind.write(made.values->tensors())) return false;
      Expected& expected = made.expected;
      expected.random = given.random;
      expected.output = call(baseline, *made.values, made.kind.description);
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
      if (made.kind.write_smaller != nullptr && !are_no_places(baseline, original, made)) return false;
      if (made.kind.must_stay_accurate && !is_accurate(baseline, expected.output, *made.values)) return false;
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

  [[nodiscard]] static bool as_finite(const c10::IValue& given, const c10::IValue& edge) {
    const auto before = check::tensors_of(given), now = check::tensors_of(edge);
    for (std::size_t i = 0; i < std::min(before.size(), now.size()); ++i) {
      if (!has_real_values(before[i]) || !has_real_values(now[i])) continue;
      const auto not_finite = [](const at::Tensor& tensor) {
        return tensor.numel() - tensor.isfinite().sum().item<std::int64_t>();
      };
      if (not_finite(before[i]) < not_finite(now[i])) return false;
    }
    return true;
  }

  /// Replaces elements of an output by the expected ones where those are not finite, and where they are indices not to
  /// compare.
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
        // Shorter integers are quantised values, which overflow for large operands.
        const bool indices = c10::isIntegralType(outputs_[i].scalar_type(), /*includeBool=*/false) &&
                             outputs_[i].element_size() >= std::int64_t{sizeof(std::int32_t)};
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
  std::int64_t calls_;
  const check::CheckOptions& options_;
  bool gradients_ = c10::GradMode::is_enabled();
  Implementation* baseline_ = nullptr;
  Learn learn_tolerances_ = {};
  /// Finds which operands are special.
  std::optional<UnseenValues> source_ = {};
  std::vector<Learned> learned_ = {};
};

}  // namespace pace::detail
