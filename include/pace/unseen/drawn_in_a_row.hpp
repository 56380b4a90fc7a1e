// DrawnInARow: whether the last of several calls in a row draws the baseline's random numbers.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <ATen/core/Tensor.h>
#include <ATen/core/ivalue.h>

#include "pace/check/check_options.hpp"
#include "pace/check/clone.hpp"
#include "pace/check/outputs.hpp"
#include "pace/subject/implementation.hpp"
#include "pace/subject/random_state.hpp"
#include "pace/unseen/answers.hpp"
#include "pace/unseen/check.hpp"
#include "pace/verify/expected.hpp"

namespace pace::detail {

/// For outputs that depend on a seed alone. Code can tell a single call after seeding from calls in a row. A later
/// call's output is known if each call leaves the generators as the baseline does.
class DrawnInARow final : public Check {
 public:
  /// Uses the last of `calls` calls; at least 2. Calls must not write to `operands`. `operands` and `check` must
  /// outlive it.
  DrawnInARow(OperandSets& operands, std::uint64_t seed, std::int64_t calls, const check::CheckOptions& check)
      : operands_(operands), seed_(seed), calls_(calls), check_(check) {}

  /// `given`: the baseline's result of a single call. Throws what the baseline throws.
  void learn(Implementation& baseline, const Expected& given) {
    after_one_call_ = state_after_call(baseline);
    expected_ = given;
    expected_.output = check::clone_ivalue(last_output(baseline));
    // Not if the baseline draws from its own generator, or differently in each process.
    repeats_ = check::outputs_match(expected_.output, last_output(baseline), bitwise()).correct;
    expected_.reference.reset();
    expected_.learned = learned_for(expected_, given);
    // Other random numbers need slack at other elements.
    for (auto& each : expected_.learned)
      if (each.slack.defined() && each.slack.numel() > 0) each.slack = each.slack.max().expand(each.slack.sizes());
  }

  /// Returns the fault as text. Empty if there is none, or if the implementation draws in another way. Throws what the
  /// calls throw.
  [[nodiscard]] std::string find_fault(Implementation& implementation) override {
    if (!repeats_ || !unchanged(after_one_call_, state_after_call(implementation))) return {};
    const c10::IValue output = last_output(implementation);
    const Agreement agreement = agree(expected_, output, operands_, 0, without_reference(check_));
    return agreement.correct ? std::string()
                             : "right in a single call, but not in the last of " + std::to_string(calls_) +
                                   " calls in a row that draw random numbers: " + agreement.message;
  }

 private:
  [[nodiscard]] std::vector<at::Tensor> state_after_call(Implementation& implementation) const {
    operands_.restore_all(0);
    reset_random_state(seed_);
    (void)call_in_a_row(implementation, operands_, 1);
    return random_state();
  }
  [[nodiscard]] c10::IValue last_output(Implementation& implementation) const {
    operands_.restore_all(0);
    reset_random_state(seed_);
    return call_in_a_row(implementation, operands_, calls_);
  }
  [[nodiscard]] static check::CheckOptions bitwise() {
    check::CheckOptions options;
    options.method = check::CheckOptions::Method::bitwise;
    return options;
  }

  OperandSets& operands_;
  std::uint64_t seed_;
  std::int64_t calls_;
  const check::CheckOptions& check_;
  std::vector<at::Tensor> after_one_call_ = {};
  Expected expected_ = {};
  bool repeats_ = false;
};

}  // namespace pace::detail
