// outputs_match: whether an implementation's outputs match the baseline's, with a message about those that do not.
#pragma once

#include <ATen/core/Tensor.h>
#include <ATen/core/ivalue.h>
#include <c10/core/ScalarType.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <complex>
#include <cstdint>
#include <string>

#include "pace/base/error.hpp"
#include "pace/base/message_parts.hpp"
#include "pace/check/check_options.hpp"
#include "pace/check/corresponding.hpp"
#include "pace/check/learned_tolerance.hpp"
#include "pace/check/match_tensor.hpp"
#include "pace/check/out_of_memory.hpp"
#include "pace/check/raw_memory.hpp"
#include "pace/check/structure.hpp"
#include "pace/check/text.hpp"

namespace pace::check {

namespace detail {

/// Returns the tensor; one of a type that holds only bits becomes integers in the same memory.
[[nodiscard]] inline at::Tensor with_values(const at::Tensor& tensor) {
  if (!holds_only_bits(tensor.scalar_type())) return tensor;
  return tensor.view(tensor.element_size() == 2 ? at::kShort : at::kByte);
}

/// Walks through two values side by side and gathers differences.
class OutputMatcher {
 public:
  OutputMatcher(const CheckOptions& options, const LearnedTolerances* learned) : options_(options), learned_(learned) {}

  void compare(const std::string& path, const auto& expected, const auto& actual, const c10::IValue* reference) {
    if (is_sequence(expected) && is_sequence(actual)) return compare_sequences(path, expected, actual, reference);
    if (expected.isGenericDict() && actual.isGenericDict()) return compare_dicts(path, expected, actual, reference);
    if (is_none(expected) && is_none(actual)) return;
    const std::string kind = kind_text(expected), other = kind_text(actual);
    if (kind != other) {
      fail(path, "expected " + described(expected) + ", got " + described(actual));
    } else if (expected.isTensor()) {
      compare_tensors(path, expected.toTensor(), actual.toTensor(), reference);
    } else {
      compare_scalars(path, expected, actual);
    }
  }

  [[nodiscard]] Match finish() {
    if (failures_ > options_.max_reported) {
      match_.message += "\n... and " + std::to_string(failures_ - options_.max_reported) + " more outputs differ";
    }
    return match_;
  }

 private:
  [[nodiscard]] static std::string described(const auto& value) {
    if (is_none(value)) return "nothing (none)";
    if (is_sequence(value)) return kind_text(value) + " of " + std::to_string(elements_of_sequence(value).size());
    if (value.isTensor()) return "a tensor of shape " + shape_text(value.toTensor());
    if (value.isGenericDict()) return "a dict of " + std::to_string(value.toGenericDict().size());
    return "a " + kind_text(value) + ' ' + scalar_text(value);
  }

  void fail(const std::string& path, const std::string& problem) {
    match_.correct = false;
    if (++failures_ > options_.max_reported) return;
    match_.message += (match_.message.empty() ? "" : "\n") + path + ": " + problem;
  }

  void compare_sequences(const std::string& path, const auto& expected, const auto& actual,
                         const c10::IValue* reference) {
    const auto es = elements_of_sequence(expected), as = elements_of_sequence(actual);
    if (es.size() != as.size()) {
      const std::string noun = es.size() == 1 ? " output" : " outputs";
      return fail(path, "expected " + std::to_string(es.size()) + noun + ", got " + std::to_string(as.size()));
    }
    if (reference != nullptr && (!is_sequence(*reference) || elements_of_sequence(*reference).size() != es.size())) {
      throw Error(path + ": the float64 reference must have " + std::to_string(es.size()) + " outputs as the baseline");
    }
    for (std::size_t i = 0; i < es.size(); ++i) {
      compare(path + '[' + std::to_string(i) + ']', es[i], as[i],
              reference == nullptr ? nullptr : &elements_of_sequence(*reference)[i]);
    }
  }

  void compare_dicts(const std::string& path, const auto& expected, const auto& actual, const c10::IValue* reference) {
    const auto es = expected.toGenericDict(), as = actual.toGenericDict();
    for (const auto& key : sorted_keys(actual)) {
      if (!es.contains(key)) fail(path, "unexpected key " + key_text(key));
    }
    for (const auto& key : sorted_keys(expected)) {
      if (!as.contains(key)) {
        fail(path, "key " + key_text(key) + " is missing");
        continue;
      }
      if (reference != nullptr && (!reference->isGenericDict() || !reference->toGenericDict().contains(key))) {
        throw Error(path + ": the float64 reference has no key " + key_text(key));
      }
      const auto of_key = reference == nullptr ? c10::IValue() : reference->toGenericDict().at(key);
      compare(path + '[' + key_text(key) + ']', es.at(key), as.at(key), reference == nullptr ? nullptr : &of_key);
    }
  }

  void compare_tensors(const std::string& path, const auto& expected, const auto& actual,
                       const c10::IValue* reference) {
    if (expected.is_nested() && actual.is_nested()) {
      if (options_.check_dtype && expected.scalar_type() != actual.scalar_type())
        return fail(path, metadata_problem(expected, actual, options_));
      const auto components = [](const auto& tensor) { return c10::IValue(tensor.unbind()); };
      const auto of_reference =
          reference != nullptr && reference->isTensor() ? components(reference->toTensor()) : c10::IValue();
      return compare_sequences(path, components(expected), components(actual),
                               reference == nullptr ? nullptr : &of_reference);
    }
    if (reference != nullptr && (!reference->isTensor() || is_none(*reference))) {
      throw Error(path + ": expected a tensor as float64 reference, got " + described(*reference));
    }
    TensorVerdict verdict;
    try {
      const bool same_type = expected.scalar_type() == actual.scalar_type();
      verdict = match_tensor(same_type ? with_values(expected) : expected, same_type ? with_values(actual) : actual,
                             reference == nullptr ? at::Tensor() : reference->toTensor(), options_,
                             find_learned(learned_, expected));
    } catch (const c10::Error& error) {
      // A lack of memory does not mean that the output is wrong.
      if (means_out_of_memory(error)) throw;
      ++match_.compared;
      return fail(path, std::string("cannot be compared: ") + error.what_without_backtrace());
    }
    match_.max_abs_error = std::max(match_.max_abs_error, verdict.closeness.max_abs_error);
    match_.max_rel_error = std::max(match_.max_rel_error, verdict.closeness.max_rel_error);
    match_.elements += expected.numel();
    match_.unwritten = match_.unwritten || verdict.unwritten;
    if (verdict.problem.empty()) return count_agreeing(expected.numel(), verdict.closeness.expected_nans);
    ++match_.compared;
    match_.mismatches += verdict.closeness.mismatches;
    fail(path, verdict.problem);
  }

  /// If all elements are NaN, or there are none, any implementation that fails in the same way agrees.
  void count_agreeing(std::int64_t elements, std::int64_t nans) {
    if (elements == 0)
      ++match_.empty;
    else if (nans == elements)
      ++match_.only_nan;
    else
      ++match_.compared;
  }

  void compare_scalars(const std::string& path, const auto& expected, const auto& actual) {
    ++match_.elements;
    bool equal = false;
    if (expected.isDouble()) {
      const double e = expected.toDouble(), a = actual.toDouble();
      const ElementError error = detail::compare(e, a, scalar_tolerance(e));
      match_.max_abs_error = std::max(match_.max_abs_error, error.error);
      match_.max_rel_error = std::max(match_.max_rel_error, error.relative);
      equal = options_.method == CheckOptions::Method::bitwise
                  ? std::bit_cast<std::uint64_t>(e) == std::bit_cast<std::uint64_t>(a)
                  : !error.mismatch;
    } else if (expected.isComplexDouble()) {
      const std::complex<double> e(expected.toComplexDouble()), a(actual.toComplexDouble());
      equal = !detail::compare(e, a, scalar_tolerance(e)).mismatch;
    } else {
      equal = expected == actual;
    }
    if (equal) return count_agreeing(1, holds_nan(expected) ? 1 : 0);
    ++match_.compared;
    ++match_.mismatches;
    fail(path, "expected " + scalar_text(expected) + ", got " + scalar_text(actual));
  }

  [[nodiscard]] static bool holds_nan(const auto& value) {
    return (value.isDouble() && is_nan(value.toDouble())) ||
           (value.isComplexDouble() && is_nan(std::complex<double>(value.toComplexDouble())));
  }

  /// Tolerance of the next number, which is a double whatever type computed it.
  [[nodiscard]] Tolerance scalar_tolerance(const auto& expected) {
    const LearnedTolerance* learned = find_learned_number(learned_, numbers_++);
    const at::ScalarType dtype = number_dtype(expected, options_.number_dtype.value_or(at::kFloat));
    const double size = std::abs(expected), typical = std::isfinite(size) ? size : 0;
    if (learned != nullptr && !options_.rtol && !options_.atol) {
      const double slack = learned->slack.defined() ? learned->slack.to(at::kDouble).template item<double>() : 0;
      return {learned_rtol(dtype, learned->terms), learned_atol(dtype, typical, learned->terms) + slack,
              options_.equal_nan};
    }
    return {options_.rtol.value_or(precision_of(dtype).rtol),
            options_.atol.value_or(default_atol(dtype, typical, options_.reduction_length)), options_.equal_nan};
  }

  const CheckOptions& options_;
  const LearnedTolerances* learned_;
  Match match_;
  std::size_t failures_ = 0;
  /// Real and complex numbers compared so far.
  std::size_t numbers_ = 0;
};

/// Only the user's function decides. It may be about anything, so nothing is counted.
[[nodiscard]] inline Match match_by(const CheckOptions::Function& function, const c10::IValue& expected,
                                    const c10::IValue& actual) {
  Match match;
  match.compared = 1;
  match.message = as_reason(function(expected, actual));
  match.correct = match.message.empty();
  match.mismatches = match.correct ? 0 : 1;
  return match;
}

}  // namespace detail

/// Compares an implementation's outputs, `actual`, with the baseline's, `expected`, by `options`.
///
/// The structure must be the same: number of outputs, keys, kinds, shapes, dtypes, devices and layouts. Strides may
/// differ; lists and tuples are one kind; an undefined tensor is None. Then values are compared. Poison in an output is
/// a failure, even if the baseline holds poison, too. Tensors without elements, or NaN throughout on both sides, agree
/// but do not count as compared. Each failing output is one line of the message:
///
///     output[1]["h"]: 3 of 12 elements (25 %) differ; worst at [1, 0]: expected 1.5, got 2.5 (off by 1, allowed 0.001)
///
/// Only Method::float64_reference uses `float64_reference`, and only methods that compare values (compares_values())
/// use `learned`. Throws Error for options out of range, and for Method::float64_reference without a reference of the
/// same structure.
[[nodiscard]] inline Match outputs_match(const c10::IValue& expected, const c10::IValue& actual,
                                         const CheckOptions& options = {},
                                         const c10::IValue* float64_reference = nullptr,
                                         const LearnedTolerances* learned = nullptr) {
  validate(options);
  if (options.method == CheckOptions::Method::none) return {};
  const bool by_reference = options.method == CheckOptions::Method::float64_reference;
  if (by_reference && float64_reference == nullptr) {
    throw Error("check by float64 reference: no reference was given");
  }
  const c10::NoGradGuard no_grad;
  if (options.method == CheckOptions::Method::custom) return detail::match_by(options.function, expected, actual);
  if (options.method == CheckOptions::Method::order_free) {
    const auto in_order = detail::with_rows_in_order(expected, actual, options, learned);
    detail::OutputMatcher matcher(options, &in_order.learned);
    matcher.compare("output", in_order.expected, in_order.actual, nullptr);
    return matcher.finish();
  }
  detail::OutputMatcher matcher(options, learned);
  if (options.method == CheckOptions::Method::sign_free) {
    matcher.compare("output", expected, detail::with_expected_signs(expected, actual, options), nullptr);
    return matcher.finish();
  }
  matcher.compare("output", expected, actual, by_reference ? float64_reference : nullptr);
  return matcher.finish();
}

}  // namespace pace::check
