// NoAudit: the checks that remain where the caller vouches for the candidates (Audit::off).
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "pace/base/random.hpp"
#include "pace/subject/implementation.hpp"
#include "pace/subject/operands.hpp"
#include "pace/subject/plan.hpp"
#include "pace/subject/prepare.hpp"
#include "pace/timing/clock.hpp"
#include "pace/timing/rounds.hpp"
#include "pace/verify/call_counts.hpp"
#include "pace/verify/candidate_audit.hpp"
#include "pace/verify/observed_call.hpp"
#include "pace/verify/one_timed_call.hpp"
#include "pace/verify/shortcuts.hpp"

namespace pace::detail {

/// Counts a call's operators and memory, looks at the operands after the rounds, and compares the output of the last
/// timed call. Rounding gets no second look, and settings that a call leaves changed stay so.
class NoAudit final : public CandidateAudit {
 public:
  /// Both must outlive it.
  NoAudit(timing::Clock& clock, const Prepared& prepared)
      : clock_(clock), prepared_(prepared), random_(prepared.options.check_seed) {}

  void after_first_calls() override { repair(0); }
  void repair(std::size_t set) override { detail::repair(prepared_, set); }
  void learn(const BaselineCalls& calls) override {
    calls_.emplace(calls);
    calls_->complete = nullptr;
  }

  void examine(Implementation& implementation, Nanoseconds, Examination& found) override {
    const OperandSets& operands = *prepared_.operands;
    const auto call = [&] {
      return observe_call(implementation, operands, nullptr, prepared_.options.seed, calls_->expected.output);
    };
    const ObservedCall first = call(), second = call();
    found.repeats_outputs = repeats_elements(second.output, operands.tensors[0]);
    enter_counts(
        second.counts, first.counts, [&] { return call().counts; }, calls_add_up() ? 0 : 2,
        [&](std::int64_t calls) {
          repair(0);
          return count_in_a_row(implementation, calls);
        },
        found);
  }

  void begin_pass() override {
    changed_.clear();
    prepared_.operands->round_seed.reset();
    repair_all(prepared_);
  }
  void begin_rounds(const std::vector<std::size_t>& timed, std::int64_t) override { timed_ = timed; }
  [[nodiscard]] bool has_fault() const override { return false; }
  [[nodiscard]] bool draws_anew() const override {
    return calls_->expected.random && calls_->check.method == check::CheckOptions::Method::random;
  }
  /// Gives the round a seed of its own if outputs are random numbers. Not on a device: a graph has the same outputs at
  /// each replay.
  void round_started(std::size_t) override {
    if (draws_anew() && clock_.modes() == nullptr) prepared_.operands->round_seed = random_();
  }
  void cycle_ended(const timing::Rounds&) override { prepared_.operands->round_seed.reset(); }
  void check_operands() override {
    for (std::size_t set = 0; set < prepared_.operands->sets.size(); ++set) {
      if (changed_.empty()) changed_ = changed_operand(*prepared_.operands, prepared_.operands->values(), set);
      repair(set);
    }
  }

  [[nodiscard]] AuditFindings check_after_rounds(RoundFigures) override {
    AuditFindings findings;
    findings.max_abs_errors.resize(prepared_.implementations.size());
    check_operands();
    if (calls_->check.method == check::CheckOptions::Method::none) return findings;
    if (!changed_.empty()) return drop_for_changed_operands(findings), findings;
    for (const std::size_t index : timed_) {
      auto& implementation = *prepared_.implementations[index];
      // Calls that write to operands or draw random numbers build on each other, and rounds may have their own values.
      // So one more call stands in for the last.
      std::optional<std::size_t> set;
      if (calls_add_up() || prepared_.renew) set = run_once(implementation);
      const Agreement agreement =
          agree(calls_->expected, implementation.take_output(), *prepared_.operands, set, calls_->check);
      findings.max_abs_errors[index] = agreement.max_abs_error;
      if (!agreement.correct)
        findings.dropped.push_back(
            {index, Outcome::wrong, "correct at first, but not in the last timed call: " + agreement.message});
      if (!agreement.correct && index == prepared_.participants.baseline()) break;
    }
    return findings;
  }

 private:
  /// Each implementation used each set, and all outputs are wrong on changed operands. Drops those that change them in
  /// one more call, or else all candidates.
  void drop_for_changed_operands(AuditFindings& findings) {
    const auto drop = [&](std::size_t index, const std::string& whose) {
      findings.dropped.push_back(
          {index, Outcome::wrong, whose + "correct at first, but not in a timed call: " + changed_});
    };
    for (const std::size_t index : timed_) {
      (void)run_once(*prepared_.implementations[index]);
      if (!changed_operand(*prepared_.operands, prepared_.operands->given, 0).empty()) drop(index, "");
      repair(0);
    }
    const std::size_t baseline = prepared_.participants.baseline();
    if (findings.dropped.empty())
      for (const std::size_t index : timed_)
        if (index != baseline) drop(index, timed_.size() == 2 ? "" : "it or another candidate: ");
    findings.measure_again = !findings.drops(baseline) && findings.dropped.size() + 1 < timed_.size();
  }

  [[nodiscard]] bool calls_add_up() const { return detail::calls_add_up(*prepared_.operands, calls_->expected); }
  /// Returns the set of the call.
  [[nodiscard]] std::size_t run_once(Implementation& implementation) {
    make_one_timed_call(clock_, implementation, *prepared_.operands, calls_->expected, prepared_.options.seed);
    return 0;
  }

  timing::Clock& clock_;
  const Prepared& prepared_;
  /// Seeds of the rounds.
  SplitMix64 random_;
  std::optional<BaselineCalls> calls_;
  std::vector<std::size_t> timed_;
  /// Which operand changed that the baseline leaves alone, as text; empty if none.
  std::string changed_;
};

/// StartAudit without an audit.
[[nodiscard]] inline std::unique_ptr<PendingAudit> start_no_audit(timing::Clock& clock, const ComparisonPlan&,
                                                                  BaselineSamples) {
  class Pending final : public PendingAudit {
   public:
    explicit Pending(timing::Clock& its_clock) : clock_(its_clock) {}
    [[nodiscard]] std::unique_ptr<CandidateAudit> begin(const Prepared& prepared) override {
      return std::make_unique<NoAudit>(clock_, prepared);
    }

   private:
    timing::Clock& clock_;
  };
  return std::make_unique<Pending>(clock);
}

}  // namespace pace::detail
