// Expectation: the condition of a gate on one implementation, as a value.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "pace/base/config.hpp"
#include "pace/gate/demand.hpp"
#include "pace/gate/matcher.hpp"
#include "pace/result/result.hpp"
#include "pace/result/verdict.hpp"

namespace pace {

/// Condition on one implementation, a plain value. Make it by the functions of gate/times.hpp and gate/counts.hpp, or
/// from a Rule. You may state it in several comparisons (Comparison::expect) and judge any row by it. Members that
/// refine it return a copy.
///
/// As a matcher (`CHECK_THAT(result["mine"], NoSlowerThan(1.02))`) it explores a finished result. It then needs a
/// proof, and reports and exit codes treat it as an ordinary assertion. State a gate in its comparison.
class Expectation : public Matcher<Expectation> {
 public:
  /// Judges an implementation by its row alone, after the rounds.
  struct Rule {
    /// Description without an article, such as `count of at most 3 kernels`.
    std::string description = {};
    /// Judges the row of a measured implementation (of the baseline only if you name it). Return a verdict and a
    /// message with the measured and the expected figures; pace sets the rest. `undecided` and `invalid` close the
    /// gate. Without a message, pace names the rule and the verdict. A default Judgement is `invalid`. The result must
    /// depend on the row alone.
    std::function<Judgement(const ImplementationResult&)> judge = {};
    /// Whether the rule reads ImplementationResult::device_counts, which are only taken if an expectation needs them.
    bool needs_device_counts = false;
    /// Whether the rule reads ImplementationResult::energy, which is only measured if an expectation needs it.
    bool needs_energy = false;
    /// Counter that the rule reads of ImplementationResult::counters, which is only read if an expectation needs it.
    std::string needs_counter = {};
    /// Whether the rule reads figures that exist for whole iterations only, not for phases.
    bool of_whole_iterations = false;
  };

  /// Throws Error unless `rule` has a description and a function.
  explicit Expectation(Rule rule);
  /// Makes an expectation of a time or a speed-up; see gate/times.hpp. A test that is valid after every cycle
  /// (stats::SequentialTest) proves both `passed` and `failed`. The message of `undecided` estimates the missing time.
  explicit Expectation(gate::Demand demand) : demand_(std::move(demand)) {}

  /// Sets the probability that a false claim passes or a guard that holds fails, instead of a share of Options::alpha.
  /// Throws Error unless it is in (0, 0.5), and for a Rule, which has no error rates.
  [[nodiscard]] Expectation alpha(double rate) const;
  /// Sets the probability that a true claim fails or a violated guard passes, instead of a share of Options::beta.
  /// Throws Error as alpha() does.
  [[nodiscard]] Expectation beta(double rate) const;
  /// Sets the effect of an undecided verdict. By default an undecided claim closes the gate, since it is not proven,
  /// and an undecided guard does not. A Rule is a claim.
  [[nodiscard]] Expectation when_undecided(WhenUndecided what) const;
  /// Selects the exact sign test, which needs fewer observations. Their number must be fixed in advance, as for stored
  /// samples: it is not valid for rounds that an expectation ended. Throws Error for a Rule, and for a mean or a
  /// quantile.
  [[nodiscard]] Expectation fixed_size() const;
  /// Restricts the expectation to one phase of each iteration, such as "backward" of a training step, in
  /// Comparison::expect. Throws Error for an empty name, for a Rule of whole iterations, such as a count, and after
  /// on_host().
  [[nodiscard]] Expectation in_phase(std::string name) const;
  /// Restricts the expectation to the time by the clock of the comparison, such as a graph of the calls. Otherwise a
  /// guard of calls on a GPU is also about the host's time, which calls deployed without a graph take. Throws Error for
  /// a Rule.
  [[nodiscard]] Expectation on_device() const;
  /// Restricts the expectation to the host's time for each call until it returns, in Comparison::expect. On the CPU
  /// that is the only time. Throws Error for a Rule, and for an expectation of a phase.
  [[nodiscard]] Expectation on_host() const;

  /// Returns the description without an article, such as `speed-up of at least 1.20x`.
  [[nodiscard]] std::string describe() const;
  /// Returns the verdict on one row, of whole iterations or of a phase, with its reason. Uses the comparison's error
  /// rates without a share for other expectations. With `--suite-alpha` each distinct demand on a row spends a part of
  /// the run's error rate (gate::matched_alpha); one with alpha() throws Error.
  [[nodiscard]] Judgement judge(const ImplementationResult& row) const;
  /// Returns the verdict on several processes by stats::ReplicateTest. `centres` has one observation per process in the
  /// order of their ends, such as the median of its log ratios. `row` gives the name and the error rates. Use it for
  /// margins as small as the differences between processes. Throws Error for a Rule.
  [[nodiscard]] Judgement judge_replicates(const ImplementationResult& row, const std::vector<double>& centres) const;
  /// Met if judge() passes, or is undecided and explicitly let through; refuted if judge() fails. Throws Error for an
  /// expectation of a phase, since a row does not name its phase, and if the row's clock is not the one it is about.
  [[nodiscard]] MatchResult examine(const ImplementationResult& row) const;

  /// Returns whether it is about a time or a speed-up, and so has a demand().
  [[nodiscard]] bool is_of_time() const { return demand_.has_value(); }
  /// Returns the demand. Throws Error for a Rule.
  [[nodiscard]] const gate::Demand& demand() const;
  /// Returns the name of the phase; empty: the whole iteration.
  [[nodiscard]] const std::string& phase() const { return phase_; }
  /// Returns where its time is taken.
  [[nodiscard]] gate::TakenOn taken_on() const { return taken_on_; }
  /// Returns whether it needs Options::device_counts.
  [[nodiscard]] bool needs_device_counts() const { return rule_.needs_device_counts; }
  /// Returns whether it needs Options::energy.
  [[nodiscard]] bool needs_energy() const { return rule_.needs_energy; }
  /// Returns the counter that it needs in Options::counters; empty: none.
  [[nodiscard]] const std::string& needs_counter() const { return rule_.needs_counter; }

 private:
  [[nodiscard]] Judgement judge_by_rule(const ImplementationResult& row) const;

  std::optional<gate::Demand> demand_ = {};
  /// Used without a demand.
  Rule rule_ = {};
  WhenUndecided rule_when_undecided_ = WhenUndecided::by_burden;
  std::string phase_ = {};
  gate::TakenOn taken_on_ = gate::TakenOn::by_burden;
};

namespace gate {

/// An expectation, and the implementation it is stated for.
struct Stated {
  std::string implementation;  ///< name of the implementation; empty: every candidate
  Expectation expectation;     ///< the expectation
};

}  // namespace gate
}  // namespace pace

#ifdef PACE_HEADER_ONLY
#include "pace/gate/expectation-inl.hpp"
#endif
