// Expectation: what a gate demands of one implementation, as a value.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "pace/core/config.hpp"
#include "pace/core/result.hpp"
#include "pace/core/verdict.hpp"
#include "pace/gate/demand.hpp"
#include "pace/gate/matcher.hpp"

namespace pace {

/// What is expected of one implementation. A plain value, made by functions: those of gate/times.hpp and
/// gate/counts.hpp, or one of your own, from a Rule. The same value may be stated in comparisons (Comparison::expect) and
/// judge any row. Members that refine it return a new value and leave this one as it is.
///
/// As a matcher (`CHECK_THAT(result["mine"], NoSlowerThan(1.02))`) it is for exploring a finished result: met by what is
/// proven, an ordinary assertion, of which reports and exit codes know nothing else. A gate is stated in its comparison.
class Expectation : public Matcher<Expectation> {
 public:
  /// What judges an implementation by its row alone, after the rounds.
  struct Rule {
    /// What is expected, to follow "a": `count of at most 3 kernels`.
    std::string description = {};
    /// Called with the row of an implementation that was measured; the baseline's too, where it is named. Returns a verdict
    /// and a message with what was found and what was expected; pace sets the other members of Judgement. `undecided` and
    /// `invalid` close the gate. It must be a function of the row alone.
    std::function<Judgement(const ImplementationResult&)> judge = {};
    /// Reads ImplementationResult::device_counts, which are taken only where an expectation needs them.
    bool needs_device_counts = false;
    /// Reads what is known of whole iterations alone, and of none of their phases.
    bool of_whole_iterations = false;
  };

  /// Throws Error unless `rule` has a description and a function.
  explicit Expectation(Rule rule);
  /// Demands a time or a speed-up; see gate/times.hpp. `passed` and `failed` are both proven, by a test that may be read
  /// after every cycle (stats::SequentialTest); `undecided` says how much longer it would take.
  explicit Expectation(gate::Demand demand) : demand_(std::move(demand)) {}

  /// How often the gate may pass a claim that is false, or fail a guard that holds, in place of the comparison's rate
  /// (Options::alpha). Throws Error unless in (0, 0.5), and for a Rule, which has no error rates.
  [[nodiscard]] Expectation alpha(double rate) const;
  /// How often it may fail a claim that is true, or pass a guard that is broken (Options::beta). Throws as alpha().
  [[nodiscard]] Expectation beta(double rate) const;
  /// By default an undecided claim closes the gate, since it is not proven, and an undecided guard does not. A Rule is a
  /// claim.
  [[nodiscard]] Expectation when_undecided(WhenUndecided what) const;
  /// For data whose amount was fixed beforehand, such as stored samples: the exact sign test, which decides with less.
  /// Wrong after a run that this or another expectation ended. Throws Error for a Rule.
  [[nodiscard]] Expectation fixed_size() const;
  /// Expects the same of one phase of each iteration, such as "backward" of a training step, in Comparison::expect. Throws Error
  /// for an empty name, and for a Rule of whole iterations, such as a count.
  [[nodiscard]] Expectation in_phase(std::string name) const;

  /// What is expected, to follow "a": `speed-up of at least 1.20x`.
  [[nodiscard]] std::string describe() const;
  /// The verdict on one row, with the reason in words; with the error rates of its comparison, which this expectation does
  /// not share with others. It is of whatever `row` is of, whole iterations or a phase.
  [[nodiscard]] Judgement judge(const ImplementationResult& row) const;
  /// The verdict on what several processes found, one number each, such as the median of its log ratios in the order
  /// in which they ended. `row` gives the name and the error rates. For margins as small as what differs from process
  /// to process, which no number of rounds in one of them shows. Throws Error for a Rule.
  [[nodiscard]] Judgement judge_replicates(const ImplementationResult& row, const std::vector<double>& centres) const;
  /// Met where judge() passes, or says `undecided` and that is allowed by name; refuted where it fails. Throws Error if it
  /// is of a phase, since a row does not know which one it is of.
  [[nodiscard]] MatchResult examine(const ImplementationResult& row) const;

  /// Whether it is of a time or a speed-up, and so has a demand().
  [[nodiscard]] bool is_of_time() const { return demand_.has_value(); }
  /// Throws Error for a Rule.
  [[nodiscard]] const gate::Demand& demand() const;
  /// The phase that it is of; empty: the whole iteration.
  [[nodiscard]] const std::string& phase() const { return phase_; }
  /// Whether it needs Options::device_counts.
  [[nodiscard]] bool needs_device_counts() const { return rule_.needs_device_counts; }

 private:
  [[nodiscard]] Judgement judge_by_rule(const ImplementationResult& row) const;

  std::optional<gate::Demand> demand_ = {};
  /// In place of a demand.
  Rule rule_ = {};
  WhenUndecided rule_when_undecided_ = WhenUndecided::by_burden;
  std::string phase_ = {};
};

namespace gate {

/// An expectation, and the implementation that it was stated for; empty: every candidate.
struct Stated {
  std::string implementation;
  Expectation expectation;
};

}  // namespace gate
}  // namespace pace

#ifdef PACE_HEADER_ONLY
#include "pace/gate/expectation-inl.hpp"
#endif
