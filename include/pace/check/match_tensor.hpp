// match_tensor: differences of one output tensor from the baseline's, in words.
#pragma once

#include <ATen/core/Tensor.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <string>

#include "pace/base/spelling.hpp"
#include "pace/check/allclose.hpp"
#include "pace/check/check_options.hpp"
#include "pace/check/declared.hpp"
#include "pace/check/error_multiplier.hpp"
#include "pace/check/error_norms.hpp"
#include "pace/check/learned_tolerance.hpp"
#include "pace/check/poison_pattern.hpp"
#include "pace/check/reference_error.hpp"
#include "pace/check/sparse_indices.hpp"
#include "pace/check/text.hpp"
#include "pace/check/tolerance.hpp"

namespace pace::check::detail {

/// Difference of one output tensor as text, without the path of the output; empty if there is none.
struct TensorVerdict {
  std::string problem;
  Closeness closeness;
  bool unwritten = false;
};

[[nodiscard]] std::string metadata_problem(const auto& expected, const auto& actual, const CheckOptions& options) {
  std::string problem;
  const auto differ = [&](const char* what, const std::string& e, const std::string& a) {
    if (e != a) problem += (problem.empty() ? "" : "; ") + std::string("expected ") + what + ' ' + e + ", got " + a;
  };
  differ("shape", shape_text(expected), shape_text(actual));
  if (options.check_dtype) differ("dtype", dtype_text(expected.scalar_type()), dtype_text(actual.scalar_type()));
  if (options.check_device) differ("device", expected.device().str(), actual.device().str());
  if (options.check_layout) differ("layout", layout_text(expected), layout_text(actual));
  return problem;
}

/// Tolerance of an output: the user's, or the default for its type and magnitude.
[[nodiscard]] Tolerance tolerance_for(const auto& expected, const auto& actual, const CheckOptions& options) {
  // If types differ, the coarser one decides.
  const at::ScalarType other = actual.scalar_type();
  const Precision precision = precision_of(expected.scalar_type()), coarser = precision_of(other);
  const at::ScalarType dtype = coarser.rtol > precision.rtol ? other : expected.scalar_type();
  Tolerance tolerance{options.rtol.value_or(precision_of(dtype).rtol), options.atol.value_or(0), options.equal_nan};
  if (!options.atol && precision_of(dtype).epsilon > 0) {
    tolerance.atol = default_atol(dtype, typical_magnitude(expected), options.reduction_length);
  }
  return tolerance;
}

/// Uses the learned tolerance: the magnitude of the output, the number of terms, and how far the output moves with its
/// operands. Computes the first and the last only if the outputs do not agree closely.
[[nodiscard]] Closeness compare_within(const auto& expected, const auto& actual, const CheckOptions& options,
                                       const LearnedTolerance& learned) {
  const at::ScalarType dtype = expected.scalar_type();
  const double rtol = learned_rtol(dtype, learned.terms);
  Closeness found = check::allclose(expected, actual, rtol, 0, options.equal_nan);
  if (found.close) return found;
  // If many values contribute to an element, as in an inverse, its error is relative to the large elements beside it.
  // An elementwise error is relative to its own element.
  constexpr double most_elementwise_terms = 4;
  double magnitude = typical_magnitude(expected);
  if (learned.terms > most_elementwise_terms) magnitude = std::max(magnitude, root_mean_square(expected));
  const double atol = learned_atol(dtype, magnitude, learned.terms);
  found = check::allclose(expected, actual, rtol, atol, options.equal_nan);
  if (found.close || !learned.slack.defined()) return found;
  return check::allclose_with_slack(expected, actual, learned.slack, rtol, atol, options.equal_nan);
}

/// `learned` may be null. It is not used if the user states a tolerance, or if types differ.
[[nodiscard]] Closeness compare_within(const auto& expected, const auto& actual, const CheckOptions& options,
                                       const LearnedTolerance* learned = nullptr) {
  if (learned != nullptr && !options.rtol && !options.atol && expected.scalar_type() == actual.scalar_type() &&
      precision_of(expected.scalar_type()).epsilon > 0)
    return compare_within(expected, actual, options, *learned);
  // Outputs are mostly equal or nearly so, and then need no typical magnitude.
  const double rtol = options.rtol.value_or(precision_of(expected.scalar_type()).rtol);
  Closeness found = check::allclose(expected, actual, rtol, options.atol.value_or(0), options.equal_nan);
  if (found.close || options.atol) return found;
  const Tolerance tolerance = tolerance_for(expected, actual, options);
  return check::allclose(expected, actual, tolerance.rtol, tolerance.atol, tolerance.equal_nan);
}

[[nodiscard]] inline std::string closeness_problem(const Closeness& found, const char* reference_word = "expected") {
  if (found.close) return {};
  std::string text = std::to_string(found.mismatches) + " of " + std::to_string(found.elements) + " elements (" +
                     share_text(found.mismatches, found.elements) + ") differ; worst at " + found.where + ": " +
                     reference_word + ' ' + found.expected_value + ", got " + found.actual_value;
  if (std::isfinite(found.abs_error)) {
    text += " (off by " + rounded_text(found.abs_error) + ", allowed " + rounded_text(found.allowed) + ')';
  }
  if (found.expected_nans != found.actual_nans) {
    text += "; NaN: " + std::to_string(found.expected_nans) + ' ' + reference_word + ", " +
            std::to_string(found.actual_nans) + " got";
  }
  return text;
}

[[nodiscard]] TensorVerdict by_cosine(const auto& expected, const auto& actual, const CheckOptions& options) {
  TensorVerdict verdict;
  verdict.closeness = compare_within(expected, actual, options);  // also accepts zeros and NaN in equal places
  if (verdict.closeness.close) return verdict;
  const Angle angle = angle_between<double>(expected, actual);
  const double cosine = angle.cosine(1e-300), ratio = angle.norm_a > 0 ? angle.norm_b / angle.norm_a : infinite;
  const double slack = std::sqrt(2 * (1 - options.cosine_threshold));
  if (!(cosine >= options.cosine_threshold)) {
    verdict.problem =
        "cosine similarity " + rounded_text(cosine, 6) + ", expected at least " + number_text(options.cosine_threshold);
  } else if (!(ratio <= 1 + slack && ratio >= 1 / (1 + slack))) {
    verdict.problem = "norm is " + rounded_text(ratio) + " times the expected, allowed " +
                      rounded_text(1 / (1 + slack)) + " to " + rounded_text(1 + slack) + " times";
  }
  if (!verdict.problem.empty()) verdict.problem += "; " + closeness_problem(verdict.closeness);
  return verdict;
}

[[nodiscard]] TensorVerdict by_reference(const auto& expected, const auto& actual, const auto& reference,
                                         const CheckOptions& options) {
  TensorVerdict verdict;
  verdict.closeness = compare_within(expected, actual, options);
  if (verdict.closeness.close) return verdict;
  if (precision_of(expected.scalar_type()).epsilon == 0) {  // integers: a float64 run adds nothing
    verdict.problem = closeness_problem(verdict.closeness);
    return verdict;
  }
  if (reference.sizes() != expected.sizes()) {
    throw Error("the float64 reference has shape " + shape_text(reference) + ", expected " + shape_text(expected));
  }
  if (reference.scalar_type() != at::kDouble && reference.scalar_type() != at::kComplexDouble) {
    throw Error("the float64 reference is of type " + dtype_text(reference.scalar_type()));
  }
  SameOptions rule;
  rule.tol = 0;
  rule.use_larger_multiplier_for_smaller_tensor = true;
  const bool one_by_one = expected.dim() == 4 && expected.size(2) == 1 && expected.size(3) == 1;
  const double factor =
      options.error_factor.value_or(error_multiplier(actual.scalar_type(), expected.numel(), one_by_one, rule));
  // Rounding an exact result costs up to half an epsilon. We allow twice that: the baseline may be exact by chance.
  const double epsilon = precision_of(expected.scalar_type()).epsilon;
  const ReferenceErrors errors =
      compare_to_reference(reference, expected, actual, factor, epsilon, tolerance_for(expected, actual, options));
  const bool rms_holds = errors.actual_rms <= factor * errors.baseline_rms + epsilon * errors.reference_rms;
  if (rms_holds && errors.closeness.close) return verdict;
  verdict.closeness.mismatches = errors.closeness.mismatches;
  verdict.problem = "root mean square error to the float64 reference is " + rounded_text(errors.actual_rms) +
                    ", the baseline's " + rounded_text(errors.baseline_rms) + " (allowed: " + rounded_text(factor) +
                    " times that)";
  if (!errors.closeness.close) verdict.problem += "; " + closeness_problem(errors.closeness, "reference");
  return verdict;
}

/// One element's value as text, by its place in row-major order.
[[nodiscard]] std::string element_at(const auto& tensor, std::int64_t position) {
  auto element = tensor;
  while (element.dim() > 0) {
    const std::int64_t inner = element.numel() / element.size(0);
    element = element.select(0, position / inner);
    position %= inner;
  }
  const at::ScalarType dtype = tensor.scalar_type();
  if (tensor.is_complex()) {
    const auto value = on_cpu_as(element, at::kComplexDouble);
    return element_text(*static_cast<const std::complex<double>*>(value.const_data_ptr()), dtype);
  }
  const auto value = on_cpu_as(element, tensor.is_floating_point() ? at::kDouble : at::kLong);
  return tensor.is_floating_point() ? element_text(*static_cast<const double*>(value.const_data_ptr()), dtype)
                                    : element_text(*static_cast<const std::int64_t*>(value.const_data_ptr()), dtype);
}

[[nodiscard]] TensorVerdict by_bits(const auto& expected, const auto& actual, const CheckOptions& options) {
  TensorVerdict verdict;
  if (!expected.is_cpu() && surely_identical(expected, actual)) {
    verdict.closeness = closeness_of_identical(expected);
    return verdict;
  }
  verdict.closeness = check::allclose(expected, actual, 0, 0, options.equal_nan);
  if (expected.scalar_type() != actual.scalar_type()) {
    verdict.problem =
        "expected the bits of " + dtype_text(expected.scalar_type()) + ", got " + dtype_text(actual.scalar_type());
    return verdict;
  }
  const auto es = strided(expected), as = strided(actual);
  const std::size_t item = es.element_size();
  std::int64_t different = 0, first = -1;
  const auto dense = [](const auto& piece) {
    return piece.resolve_conj().resolve_neg().to(at::Device(at::kCPU)).contiguous();
  };
  for (Chunks pieces{es, as}; pieces.next();) {
    const auto x = dense(pieces[0]), y = dense(pieces[1]);
    const auto* e = static_cast<const char*>(x.const_data_ptr());
    const auto* a = static_cast<const char*>(y.const_data_ptr());
    const std::int64_t count = x.numel();
    if (std::memcmp(e, a, static_cast<std::size_t>(count) * item) == 0) continue;
    for (std::int64_t i = 0; i < count; ++i) {
      if (std::memcmp(e + static_cast<std::size_t>(i) * item, a + static_cast<std::size_t>(i) * item, item) == 0)
        continue;
      if (first < 0) first = pieces.offset() + i;
      ++different;
    }
  }
  if (different == 0) return verdict;
  verdict.closeness.mismatches = different;
  verdict.problem = std::to_string(different) + " of " + std::to_string(es.numel()) + " elements (" +
                    share_text(different, es.numel()) + ") differ in their bits; first at " +
                    index_text(first, es.sizes()) + ": expected " + element_at(es, first) + ", got " +
                    element_at(as, first);
  return verdict;
}

[[nodiscard]] TensorVerdict by_values(const auto& expected, const auto& actual, const CheckOptions& options,
                                      const LearnedTolerance* learned) {
  TensorVerdict verdict;
  verdict.closeness = compare_within(expected, actual, options, learned);
  verdict.problem = closeness_problem(verdict.closeness);
  // A plain loop over 2^18 float32 values is off by a few times the tolerance for sums of 4096.
  constexpr double most_by_rounding = 16;
  const auto& found = verdict.closeness;
  if (!found.close && !options.rtol && !options.atol && found.allowed > 0 &&
      found.abs_error <= most_by_rounding * found.allowed)
    verdict.problem += "; try: if that is rounding, as of a longer sum, state " +
                       spelled("check::CheckOptions::reduction_length or atol (//benches/files: --atol)",
                               "check(reduction_length=...) or check(atol=...)");
  return verdict;
}

/// Looks for poison in an output that is wrong, holds NaN or is bool. A search costs a pass over the output.
void find_poison(const auto& actual, TensorVerdict& verdict) {
  if (looks_poisoned(actual)) {
    verdict.unwritten = true;
    verdict.problem = "looks unwritten (poison pattern): all " + std::to_string(actual.numel()) +
                      " elements hold what was put there before the call";
    return;
  }
  // Always search a bool: every byte but 0 reads as true, poison as well.
  const bool boolean = actual.scalar_type() == at::kBool;
  if (verdict.problem.empty() && verdict.closeness.actual_nans == 0 && !boolean) return;
  if (actual.element_size() == 1 && !boolean) return;
  const std::int64_t count = poisoned_elements(actual);
  if (count == 0) return;
  verdict.unwritten = true;
  if (!verdict.problem.empty()) verdict.problem += "; ";
  verdict.problem += std::to_string(count) + " of " + std::to_string(actual.numel()) + " elements (" +
                     share_text(count, actual.numel()) + ") look unwritten (poison pattern)";
}

/// Compares two defined tensors by `options.method`. Their rows or signs must already correspond if the method needs
/// it. `reference` may be undefined and `learned` null.
[[nodiscard]] TensorVerdict match_tensor(const auto& expected, const auto& actual, const auto& reference,
                                         const CheckOptions& options, const LearnedTolerance* learned = nullptr) {
  TensorVerdict verdict;
  verdict.problem = metadata_problem(expected, actual, options);
  if (!verdict.problem.empty() || expected.sizes() != actual.sizes()) {
    verdict.closeness.close = false;
    verdict.closeness.max_abs_error = verdict.closeness.max_rel_error = infinite;
    return verdict;
  }
  if (options.check_layout) {
    verdict.problem = indices_problem(expected, actual);
    if (!verdict.problem.empty()) return verdict;
  }
  switch (options.method) {
    case CheckOptions::Method::cosine:
      verdict = by_cosine(expected, actual, options);
      break;
    case CheckOptions::Method::float64_reference:
      verdict = by_reference(expected, actual, reference, options);
      break;
    case CheckOptions::Method::bitwise:
      verdict = by_bits(expected, actual, options);
      break;
    case CheckOptions::Method::order_free:
      verdict = by_values(expected, actual, options, learned);
      if (!verdict.problem.empty()) verdict.problem = "with rows in ascending order, " + verdict.problem;
      break;
    case CheckOptions::Method::sign_free:
      verdict = by_values(expected, actual, options, learned);
      if (!verdict.problem.empty()) verdict.problem = "with the signs of the expected vectors, " + verdict.problem;
      break;
    case CheckOptions::Method::random:
      verdict.closeness = check::allclose(expected, actual, 0, 0, true);
      verdict.problem = distribution_problem(expected, actual);
      break;
    case CheckOptions::Method::none:  // never reached for this and custom: outputs_match() returns before
    case CheckOptions::Method::custom:
    case CheckOptions::Method::ties:
    case CheckOptions::Method::allclose:
      verdict = by_values(expected, actual, options, learned);
  }
  find_poison(actual, verdict);
  return verdict;
}

}  // namespace pace::check::detail
