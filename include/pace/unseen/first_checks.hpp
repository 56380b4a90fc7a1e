// FirstChecks: the checks of a candidate at its first calls, on unseen inputs.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "pace/base/random.hpp"
#include "pace/base/spelling.hpp"
#include "pace/base/units.hpp"
#include "pace/check/tolerance.hpp"
#include "pace/result/options.hpp"
#include "pace/subject/implementation.hpp"
#include "pace/subject/operands.hpp"
#include "pace/subject/prepare.hpp"
#include "pace/timing/clock.hpp"
#include "pace/unseen/check.hpp"
#include "pace/unseen/drawn_anew.hpp"
#include "pace/unseen/drawn_in_a_row.hpp"
#include "pace/unseen/each_operand.hpp"
#include "pace/unseen/edge_values.hpp"
#include "pace/unseen/gradients.hpp"
#include "pace/unseen/oracle.hpp"
#include "pace/verify/candidate_audit.hpp"
#include "pace/verify/expected.hpp"

namespace pace::detail {

/// The lowest level of a check, and its largest calls and operands.
struct CheckLimits {
  Audit level = Audit::standard;
  Nanoseconds longest_call = std::chrono::milliseconds(200);    ///< longest one that was made
  double most_bytes = std::numeric_limits<double>::infinity();  ///< of the operands

  [[nodiscard]] bool allow(const Options& options, Nanoseconds call, double bytes) const {
    return options.audit >= level && call <= longest_call && bytes <= most_bytes;
  }
};

inline constexpr CheckLimits limits_of_edge_values, limits_of_gradients, limits_of_draws;
inline constexpr CheckLimits limits_of_draws_in_a_row{.level = Audit::strict};
/// Each operand takes dozens of calls, and copies that live as long as the comparison.
inline constexpr CheckLimits limits_of_each_operand{
    .level = Audit::strict, .longest_call = std::chrono::milliseconds(20), .most_bytes = 64 << 20};
/// Copies for the repetition must not take memory that the rounds may need.
inline constexpr CheckLimits limits_of_repetition = limits_of_each_operand;

/// Learns from the baseline which checks are possible, and makes them for each candidate.
class FirstChecks {
 public:
  /// Both must outlive it, as must everything that `calls` refers to.
  FirstChecks(timing::Clock& clock, const Prepared& prepared, const BaselineCalls& calls)
      : clock_(clock),
        prepared_(prepared),
        operands_(*prepared.operands),
        options_(prepared.options),
        expected_(calls.expected),
        check_(calls.check),
        oracle_{calls.baseline, operands_, *prepared.given, calls.expected, calls.check},
        learn_tolerances_(calls.learn_tolerances),
        took_(calls.took),
        bytes_(bytes_of(prepared.operands->given)) {}

  /// Calls the baseline. Adds to `notes` what cannot be checked. Returns whether there is any check.
  [[nodiscard]] bool learn(Implementation& baseline, std::vector<std::string>& notes) {
    // A training step keeps changes of earlier ones, and takes its gradients itself.
    const bool is_step = baseline.phases() != nullptr;
    if (!is_step) learn_edge_values(notes);
    if (!is_step) learn_each_operand(notes);
    if (!is_step) learn_gradients(notes);
    learn_draws(baseline);
    return !checks_.empty();
  }

  /// Returns a candidate's fault as text, empty for none.
  [[nodiscard]] std::string find_fault(Implementation& candidate) {
    for (const auto& check : checks_)
      if (auto problem = check->find_fault(candidate); !problem.empty()) return problem;
    return {};
  }

 private:
  [[nodiscard]] bool allowed_by(const CheckLimits& limits) const { return limits.allow(options_, took_, bytes_); }

  /// Not for a training step: the gradient of a tie is a convention.
  void learn_edge_values(std::vector<std::string>& notes) {
    constexpr int copies = 20;
    if (!allowed_by(limits_of_edge_values) || !EdgeValues::applies(check_)) return;
    const bool strict = options_.audit == Audit::strict;
    if (are_large(operands_.given) && (!strict || !copies_fit(clock_, prepared_, copies))) {
      notes.push_back("Edge values were not tried: that takes " + std::to_string(copies) + " copies of the operands" +
                      (strict ? ", for which too little memory is left."
                              : "; try: " + option_text("audit", "strict") + ", which tries them."));
      return;
    }
    auto check = std::make_unique<EdgeValues>(oracle_, options_.seed, calls_in_a_row());
    check->learn(learn_tolerances_);
    checks_.push_back(std::move(check));
  }

  void learn_each_operand(std::vector<std::string>& notes) {
    constexpr double share_of_budget = 0.05, fewest_calls = 32, most_calls = 112;
    if (!allowed_by(limits_of_each_operand) || !EachOperand::applies(check_)) return;
    auto check =
        std::make_unique<EachOperand>(oracle_, SplitMix64(options_.check_seed + 1)(), options_.seed, learn_tolerances_);
    const double affordable = share_of_budget * options_.budget / std::max(took_, Nanoseconds(1));
    check->learn(static_cast<std::int64_t>(std::clamp(affordable, fewest_calls, most_calls)));
    if (auto note = check->note(); !note.empty()) notes.push_back(std::move(note));
    checks_.push_back(std::move(check));
  }

  void learn_gradients(std::vector<std::string>& notes) {
    const auto& with_graph = expected_.with_graph;
    if (!allowed_by(limits_of_gradients) || !Gradients::applies(check_) ||
        std::ranges::find(with_graph, true) == with_graph.end())
      return;
    auto check = std::make_unique<Gradients>(oracle_, options_.seed, calls_in_a_row());
    check->learn(notes);
    checks_.push_back(std::move(check));
  }

  void learn_draws(Implementation& baseline) {
    const std::int64_t calls = drawing_calls_in_a_row();
    if (allowed_by(limits_of_draws) && check_.method == check::CheckOptions::Method::random) {
      auto check = std::make_unique<DrawnAnew>(operands_, options_.check_seed, calls);
      check->learn(baseline);
      checks_.push_back(std::move(check));
    } else if (allowed_by(limits_of_draws_in_a_row) && expected_.random && operands_.mutated.empty() &&
               check_.method != check::CheckOptions::Method::none && baseline.phases() == nullptr) {
      auto check = std::make_unique<DrawnInARow>(operands_, options_.check_seed, calls, check_);
      check->learn(baseline, expected_);
      checks_.push_back(std::move(check));
    }
  }

  /// Calls in a row for one output, an unpredictable number of about a millisecond. One if random outputs are compared
  /// by value, since draws depend on earlier ones.
  [[nodiscard]] std::int64_t calls_in_a_row() const {
    return expected_.random && check_.method != check::CheckOptions::Method::random ? 1 : drawing_calls_in_a_row();
  }
  [[nodiscard]] std::int64_t drawing_calls_in_a_row() const {
    constexpr Nanoseconds together = std::chrono::milliseconds(1);
    constexpr double fewest = 2, most = 16;
    const double affordable = std::clamp(together / std::max(took_, Nanoseconds(1)), fewest, most);
    SplitMix64 random(options_.check_seed + 2);
    return static_cast<std::int64_t>(fewest) +
           static_cast<std::int64_t>(random.below(static_cast<std::size_t>(affordable - fewest + 1)));
  }

  timing::Clock& clock_;
  const Prepared& prepared_;
  OperandSets& operands_;
  const Options& options_;
  const Expected& expected_;
  const check::CheckOptions& check_;
  Oracle oracle_;
  std::function<void(Expected&, const OperandSet&)> learn_tolerances_;
  Nanoseconds took_;  ///< by a call of the baseline
  double bytes_;

  std::vector<std::unique_ptr<Check>> checks_;
};

/// Repeats the checks of the first calls after the rounds.
class FirstChecksAgain final : public Check {
 public:
  /// All must outlive it, as must everything that `calls` refers to. `longest_call` is the longest first call of all.
  FirstChecksAgain(const Prepared& prepared, const BaselineCalls& calls, FirstChecks& first,
                   const Nanoseconds& longest_call)
      : prepared_(prepared), find_lost_graph_(calls.find_lost_graph), first_(first), longest_call_(longest_call) {}

  [[nodiscard]] std::string find_fault(Implementation& candidate) override {
    if (!limits_of_repetition.allow(prepared_.options, longest_call_, bytes_of(prepared_.operands->given))) return {};
    auto problem = find_lost_graph_(candidate);
    if (problem.empty()) problem = first_.find_fault(candidate);
    return problem.empty() ? problem : "correct at first, but not after the rounds: " + problem;
  }

 private:
  const Prepared& prepared_;
  std::function<std::string(Implementation&)> find_lost_graph_;
  FirstChecks& first_;
  const Nanoseconds& longest_call_;
};

}  // namespace pace::detail
