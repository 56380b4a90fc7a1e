// How an expectation is refined and judged.
#pragma once

#include "pace/gate/expectation.hpp"

#include <array>
#include <cstdio>
#include <string>
#include <utility>
#include <vector>

#include "pace/base/c_numbers.hpp"
#include "pace/base/cut_text.hpp"
#include "pace/base/error.hpp"
#include "pace/gate/evidence.hpp"
#include "pace/gate/judge.hpp"
#include "pace/gate/suite_share.hpp"

namespace pace {

namespace detail {

[[nodiscard]] inline double checked_rate(double rate, const char* name) {
  if (!(rate > 0 && rate < 0.5)) throw Error(std::string(name) + " must lie between 0 and 0.5, such as 0.001");
  return rate;
}

/// Returns a text that identifies a demand on a row exactly, since descriptions round their limits.
[[nodiscard]] inline std::string text_of_matched(const gate::Demand& demand, const ImplementationResult& row) {
  std::array<char, 96> numbers{};
  const CNumbers c_numbers;
  std::snprintf(numbers.data(), numbers.size(), "%d %d %a %a", static_cast<int>(demand.method),
                static_cast<int>(demand.about), demand.threshold, demand.quantile);
  return row.context.comparison + '\n' + row.name + '\n' + demand.describe() + '\n' + numbers.data();
}

/// Returns `demand` as a finished row is judged by it, with its part of the run's error budget if there is one. Throws
/// Error if it has an error rate of its own beside that budget.
[[nodiscard]] inline gate::Demand demand_on(gate::Demand demand, const ImplementationResult& row) {
  if (row.context.budget == nullptr) return demand;
  if (demand.alpha)
    throw Error(
        "a " + demand.describe() + " of '" + row.name + "' in '" + row.context.comparison +
        "' has an error rate of its own (.alpha()), which does not go with --suite-alpha; expected one of them");
  demand.alpha = gate::matched_alpha(*row.context.budget, text_of_matched(demand, row));
  return demand;
}

}  // namespace detail

PACE_INLINE Expectation::Expectation(Rule rule) : rule_(std::move(rule)) {
  if (rule_.description.empty()) throw Error("an expectation has no description; expected what it expects, in words");
  if (!rule_.judge) throw Error("the expectation of a " + rule_.description + " has no function that judges");
}

PACE_INLINE const gate::Demand& Expectation::demand() const {
  if (!demand_)
    throw Error("a " + rule_.description + " is judged by a rule, which has neither error rates nor samples");
  return *demand_;
}

PACE_INLINE Expectation Expectation::alpha(double rate) const {
  static_cast<void>(demand());
  Expectation other = *this;
  other.demand_->alpha = detail::checked_rate(rate, "alpha");
  return other;
}

PACE_INLINE Expectation Expectation::beta(double rate) const {
  static_cast<void>(demand());
  Expectation other = *this;
  other.demand_->beta = detail::checked_rate(rate, "beta");
  return other;
}

PACE_INLINE Expectation Expectation::when_undecided(WhenUndecided what) const {
  Expectation other = *this;
  (other.demand_ ? other.demand_->when_undecided : other.rule_when_undecided_) = what;
  return other;
}

PACE_INLINE Expectation Expectation::fixed_size() const {
  if (demand().of_tails_alone()) throw Error("a " + describe() + " has no test for a fixed number of observations");
  Expectation other = *this;
  other.demand_->method = gate::Method::fixed_size;
  return other;
}

PACE_INLINE Expectation Expectation::in_phase(std::string name) const {
  if (name.empty()) throw Error("a " + describe() + ": in_phase() names no phase; expected one such as \"backward\"");
  if (rule_.of_whole_iterations) throw Error("a " + describe() + " is known of whole iterations, and of no phase");
  if (taken_on_ == gate::TakenOn::host) throw Error("a " + describe() + ": on_host() is for whole iterations alone");
  Expectation other = *this;
  other.phase_ = std::move(name);
  return other;
}

PACE_INLINE Expectation Expectation::on_device() const {
  static_cast<void>(demand());
  Expectation other = *this;
  other.taken_on_ = gate::TakenOn::device;
  return other;
}

PACE_INLINE Expectation Expectation::on_host() const {
  static_cast<void>(demand());
  if (!phase_.empty())
    throw Error("a " + describe() + " in the phase '" + phase_ + "': on_host() is for whole iterations alone");
  Expectation other = *this;
  other.taken_on_ = gate::TakenOn::host;
  return other;
}

PACE_INLINE std::string Expectation::describe() const { return demand_ ? demand_->describe() : rule_.description; }

PACE_INLINE Judgement Expectation::judge(const ImplementationResult& row) const {
  if (!demand_) return judge_by_rule(row);
  return gate::judge_row(detail::demand_on(*demand_, row), row, nullptr, {row.context.alpha, row.context.beta});
}

PACE_INLINE Judgement Expectation::judge_by_rule(const ImplementationResult& row) const {
  Judgement judgement;
  if (gate::judge_without_figures({.quantity = gate::Quantity::time}, row, nullptr, judgement)) {
    judgement.expectation = rule_.description;
    if (judgement.verdict != Verdict::failed) judgement.verdict = Verdict::invalid;
    judgement.acceptable = judgement.unresolved = false;
    return judgement;
  }
  Judgement said = rule_.judge(row);
  return {.expectation = rule_.description,
          .verdict = said.verdict,
          .acceptable = said.verdict == Verdict::passed ||
                        (said.verdict == Verdict::undecided && rule_when_undecided_ == WhenUndecided::let_through),
          .message = gate::message_of_rule(rule_.description, std::move(said), '\'' + row.name + '\'')};
}

PACE_INLINE Judgement Expectation::judge_replicates(const ImplementationResult& row,
                                                    const std::vector<double>& centres) const {
  auto over_processes = detail::demand_on(demand(), row);
  over_processes.method = gate::Method::replicates;
  return gate::judge_observations(over_processes, row.name, row.context, centres, gate::weigh(centres, over_processes),
                                  {row.context.alpha, row.context.beta});
}

PACE_INLINE MatchResult Expectation::examine(const ImplementationResult& row) const {
  if (!phase_.empty())
    throw Error("a " + describe() + " in the phase '" + phase_ +
                "' is stated in its comparison (.expect); to look at a finished result, match result.in_phase(\"" +
                phase_ + "\")[\"" + row.name + "\"] without in_phase");
  if (taken_on_ == gate::TakenOn::host && !row.context.clock.empty() && row.context.clock != "host")
    throw Error("a " + describe() + " on the host is stated in its comparison (.expect), since the row of '" +
                row.name + "' has the times of the " + row.context.clock + " clock");
  if (taken_on_ == gate::TakenOn::device && row.context.clock == "host")
    throw Error("a " + describe() + " on the device cannot be judged by the row of '" + row.name +
                "', which has the host's times; expected the row of the whole comparison");
  row.examined->outcome = true;
  const Judgement judgement = judge(row);
  return {judgement.acceptable && !judgement.unresolved, judgement.verdict == Verdict::failed,
          "was expected to have a " + describe() + '\n' + to_string(judgement.verdict) + ": " +
              cut_text(judgement.message)};
}

}  // namespace pace
