// rounding_explains: whether rounding of operands explains the difference between two outputs.
#pragma once

#include <algorithm>
#include <cmath>
#include <complex>
#include <cstddef>
#include <cstdint>
#include <vector>

#include <ATen/core/Tensor.h>
#include <ATen/core/ivalue.h>
#include <ATen/ops/scalar_tensor.h>
#include <c10/core/GradMode.h>

#include "pace/check/check_options.hpp"
#include "pace/check/clone.hpp"
#include "pace/check/ivalue.hpp"
#include "pace/check/learned_tolerance.hpp"
#include "pace/check/outputs.hpp"
#include "pace/check/raw_memory.hpp"
#include "pace/check/restore.hpp"
#include "pace/check/structure.hpp"
#include "pace/check/tolerance.hpp"
#include "pace/subject/implementation.hpp"
#include "pace/subject/operands.hpp"
#include "pace/unseen/oracle.hpp"
#include "pace/values/unseen_values.hpp"
#include "pace/verify/expected.hpp"
#include "pace/verify/observed_call.hpp"
#include "pace/verify/sensitivity.hpp"

namespace pace::detail {

/// The method in use, without a float64 reference.
[[nodiscard]] inline check::CheckOptions without_reference(check::CheckOptions options) {
  if (options.method == check::CheckOptions::Method::float64_reference)
    options.method = check::CheckOptions::Method::allclose;
  return options;
}

/// Values of operands, and the baseline's outputs for them.
struct AnswerOnValues {
  const std::vector<at::Tensor>& values;
  const Expected& expected;
  /// Seed of the random numbers that the call draws.
  std::uint64_t seed = 0;
};

/// Replaces output elements by the expected ones where rounding explains the difference, for
/// check::detail::with_clones(). `moved`: baseline outputs for operands changed in their last places. Real and complex
/// numbers may be off by eight times their element's move. The typical move counts if larger, except for whole numbers,
/// which jump. Integers and bools may differ where the baseline's do.
class WithoutRounding {
 public:
  WithoutRounding(const c10::IValue& expected, const c10::IValue& output, const std::vector<c10::IValue>& moved)
      : originals_(check::tensors_of(output)), tensors_(originals_) {
    const auto known = check::tensors_of(expected);
    for (std::size_t i = 0; i < std::min(known.size(), tensors_.size()); ++i) {
      std::vector<at::Tensor> others;
      for (const auto& each : moved)
        if (const auto found = check::tensors_of(each); i < found.size() && alike(known[i], found[i]))
          others.push_back(found[i]);
      if (!others.empty() && alike(known[i], tensors_[i]))
        tensors_[i] = without_rounding(known[i], tensors_[i], others);
    }
  }
  [[nodiscard]] const at::Tensor& of(const at::Tensor& tensor) const {
    std::size_t i = 0;
    while (!originals_[i].is_same(tensor)) ++i;
    return tensors_[i];
  }

  static constexpr double as_much = 8;

 private:
  [[nodiscard]] static bool alike(const at::Tensor& one, const at::Tensor& other) {
    return check::detail::is_plain(one) && check::detail::is_plain(other) && one.sizes() == other.sizes() &&
           one.scalar_type() == other.scalar_type() && one.device() == other.device() && !one.is_quantized();
  }
  [[nodiscard]] static at::Tensor without_rounding(const at::Tensor& known, const at::Tensor& output,
                                                   const std::vector<at::Tensor>& others) {
    if (!has_real_values(known)) {
      at::Tensor moves = others[0].ne(known);
      for (const auto& each : others) moves.logical_or_(each.ne(known));
      return known.where(moves, output);
    }
    const auto wide = [](const at::Tensor& tensor) {
      return tensor.resolve_conj().resolve_neg().to(tensor.is_complex() ? at::kComplexDouble : at::kDouble);
    };
    const at::Tensor values = wide(known);
    at::Tensor moves;
    for (const auto& each : others) {
      const at::Tensor move = wide(each).sub(values).abs().nan_to_num(0, 0, 0);
      moves = moves.defined() ? moves.maximum(move) : move;
    }
    const bool whole = !known.is_complex() && values.eq(values.round()).all().item<bool>();
    if (!whole) moves = moves.clamp_min(check::typical_magnitude(moves));
    return known.where(wide(output).sub(values).abs().le(moves.mul(as_much)), output);
  }

  std::vector<at::Tensor> originals_, tensors_;
};

/// Adds to `learned` the moves of an output's plain numbers, as WithoutRounding does for tensors.
[[nodiscard]] inline check::LearnedTolerances with_moves_of_numbers(check::LearnedTolerances learned,
                                                                    const c10::IValue& expected,
                                                                    const std::vector<c10::IValue>& moved,
                                                                    const check::CheckOptions& options) {
  const auto value_of = [](const c10::IValue& number) {
    return number.isDouble() ? std::complex<double>(number.toDouble()) : std::complex<double>(number.toComplexDouble());
  };
  const auto known = check::detail::numbers_in_order(expected);
  for (std::size_t i = 0; i < known.size(); ++i) {
    double most = 0;
    for (const auto& each : moved) {
      const auto numbers = check::detail::numbers_in_order(each);
      const double move = i < numbers.size() ? std::abs(value_of(numbers[i]) - value_of(known[i])) : 0;
      if (std::isfinite(move)) most = std::max(most, move);
    }
    const at::Tensor slack = at::scalar_tensor(WithoutRounding::as_much * most, at::kDouble);
    const auto found = std::ranges::find_if(learned, [&](const auto& each) { return each.number == i; });
    if (found == learned.end())
      learned.push_back({.terms = static_cast<double>(options.reduction_length), .slack = slack, .number = i});
    else
      found->slack = found->slack.defined() ? found->slack.add(slack) : slack;
  }
  return learned;
}

/// Whether the comparison allows for rounding.
[[nodiscard]] inline bool may_be_rounding(const c10::IValue& output, const check::CheckOptions& check) {
  return !output.isNone() && without_reference(check).method == check::CheckOptions::Method::allclose;
}

/// Whether rounding explains how `output` differs. Correct implementations differ where an output depends on the
/// operands' last digits. `source` changes their last places. Leaves set 0 with its first values. Throws if the device
/// is lost, or if a comparison runs out of memory.
[[nodiscard]] inline bool rounding_explains(const c10::IValue& output, const AnswerOnValues& known,
                                            const Oracle& oracle, const UnseenValues& source) {
  // By chance, one change may leave a sum that cancels nearly as it is.
  constexpr std::uint32_t ways = 4;
  const auto options = without_reference(oracle.check);
  if (!may_be_rounding(output, options)) return false;
  const auto& expected = known.expected;
  std::vector<c10::IValue> moved;
  bool explains = false;
  try {
    const auto changed = oracle.given.clone();
    const auto tensors = changed->tensors();
    for (std::uint32_t way = 0; way < ways && !explains; ++way) {
      for (std::size_t i = 0; i < tensors.size(); ++i) check::restore_tensor(known.values[i], tensors[i]);
      source.perturb(tensors, way);
      moved.push_back(observe_call(oracle.baseline, oracle.operands, &tensors, known.seed, expected.output).at_return);
      const c10::NoGradGuard no_grad;
      const auto adjusted = check::detail::with_clones(output, WithoutRounding(expected.output, output, moved));
      const auto learned = with_moves_of_numbers(expected.learned, expected.output, moved, options);
      explains = check::outputs_match(expected.output, adjusted, options, nullptr, &learned).correct;
    }
  } catch (...) {
    if (current_failure().device != Failure::Device::fine) throw;
  }
  oracle.operands.restore_all(0);
  return explains;
}

}  // namespace pace::detail
