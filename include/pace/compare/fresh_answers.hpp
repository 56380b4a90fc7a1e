// FreshAnswers: what the baseline answers on other values than those given.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <utility>
#include <vector>

#include <ATen/core/Tensor.h>

#include "pace/check/outputs.hpp"
#include "pace/compare/fresh_values.hpp"
#include "pace/compare/observed_call.hpp"
#include "pace/compare/operands.hpp"
#include "pace/compare/verification.hpp"

namespace pace::detail {

using AddReference = std::function<void(Expected&, const OperandSet&)>;

/// The method in use, as far as it goes without a float64 reference.
[[nodiscard]] inline check::CheckOptions without_reference(check::CheckOptions options) {
  if (options.method == check::CheckOptions::Method::float64_reference)
    options.method = check::CheckOptions::Method::allclose;
  return options;
}

struct FreshAnswers {
  Renewal renewal = Renewal::none;
  std::unique_ptr<OperandSet> operands = {};
  /// Those in `operands`.
  std::vector<at::Tensor> values = {};
  Expected expected = {};
};

/// By the first kind of other values that the baseline takes, and by which its outputs change at all.
[[nodiscard]] inline FreshAnswers find_fresh_answers(Implementation& baseline, const OperandSets& operands,
                                                     const OperandSet& given, const Expected& given_expected,
                                                     const check::CheckOptions& check, std::uint64_t seed,
                                                     const AddReference& add_reference) {
  const auto options = without_reference(check);
  const auto differs = [&](const c10::IValue& before, const c10::IValue& now) {
    return !check::outputs_match(before, now, options).correct;
  };
  const auto answer = [&](FreshAnswers& fresh) {
    renew(fresh.renewal, fresh.values);
    fresh.expected.output = observe_call(baseline, operands, &fresh.values, seed, given_expected.output).at_return;
    fresh.expected.random = given_expected.random;
    bool changes = !given_expected.output.isNone() && differs(given_expected.output, fresh.expected.output);
    for (std::size_t i = 0; i < fresh.values.size(); ++i) {
      const auto& now = operands.tensors[0][i];
      const bool written = !unchanged(fresh.values[i], now);
      if (written && !operands.may_change(i)) return false;
      fresh.expected.operands.push_back(written ? check::clone_input(now) : fresh.values[i]);
      changes = changes || (written && differs(given_expected.operands[i], now));
    }
    if (changes) add_reference(fresh.expected, *fresh.operands);
    return changes;
  };
  for (const Renewal renewal : {Renewal::halve, Renewal::scale_each, Renewal::rotate}) {
    FreshAnswers fresh{.renewal = renewal};
    fresh.operands = given.clone();
    fresh.values = fresh.operands->tensors();
    const auto can_change = [](const auto& tensor) { return renewable(tensor); };
    if (std::none_of(fresh.values.begin(), fresh.values.end(), can_change)) break;
    try {
      if (answer(fresh)) return fresh;
    } catch (...) {
      // No valid input, or a dtype that has no arithmetic.
    }
  }
  return {};
}

}  // namespace pace::detail
