// Expectations: what a gate demands of one implementation. Judged on proof, never on a point estimate.
#pragma once

#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include "pace/core/config.hpp"
#include "pace/core/error.hpp"
#include "pace/core/judgement_hook.hpp"
#include "pace/core/result.hpp"
#include "pace/core/units.hpp"
#include "pace/core/verdict.hpp"
#include "pace/gate/demand.hpp"
#include "pace/gate/matcher.hpp"

namespace pace {

namespace gate {

/// Base of what judges a row, which makes it usable as it is in Catch2's CHECK_THAT: Catch2 asks a matcher for `match`
/// and then, to print a failure, for `toString`.
template <class Derived>
class Matchable : public Matcher {
 public:
  /// Publishes the judgement, too.
  bool match(const ImplementationResult& result) const {
    static_cast<void>(holds(result));
    publish(result);
    // Elsewhere nothing is measured that could be judged again.
    const bool may_be_judged = result.outcome == Outcome::measured || result.outcome == Outcome::unreached;
    if (!last_.acceptable && may_be_judged) ++gates_found_closed();
    return last_.acceptable;
  }
  [[nodiscard]] bool holds(const ImplementationResult& result) const {
    last_ = static_cast<const Derived&>(*this).judge(result);
    return last_.acceptable;
  }
  [[nodiscard]] bool fails(const ImplementationResult& result) const {
    static_cast<void>(holds(result));
    return last_.verdict == Verdict::failed;
  }
  void publish_unresolved(const ImplementationResult& result) const {
    if (last_.unresolved) publish(result);
  }
  [[nodiscard]] std::string toString() const {
    return "was expected to have a " + static_cast<const Derived&>(*this).describe() + "\n" +
           pace::to_string(last_.verdict) + ": " + last_.message;
  }

 private:
  void publish(const ImplementationResult& result) const {
    if (const auto& hook = judgement_hook(); hook.tell != nullptr) hook.tell(hook.who, result, last_);
  }

  mutable Judgement last_;
};

}  // namespace gate

/// A gate on one implementation. Made by the four classes below; a plain value, so that the same one can be stated
/// before a run, which then ends as soon as it is decided, and judge any row afterwards.
///
/// `passed` and `failed` are both proven, by a test that may be looked at whenever one likes (stats::SequentialTest);
/// `undecided` says how much longer it would take. `alpha` and `beta` are those of the comparison (see Options) unless
/// set here.
class Expectation : public gate::Matchable<Expectation> {
 public:
  explicit Expectation(gate::Demand demand) : demand_(std::move(demand)) {}

  /// How often the gate may pass a claim that is false, or fail a guard that holds. Throws Error unless in (0, 0.5).
  Expectation& alpha(double rate) {
    demand_.alpha = checked(rate, "alpha");
    return *this;
  }
  /// How often it may fail a claim that is true, or pass a guard that is broken. Throws Error unless in (0, 0.5).
  Expectation& beta(double rate) {
    demand_.beta = checked(rate, "beta");
    return *this;
  }
  /// By default an undecided claim closes the gate, since it is not proven, and an undecided guard does not.
  Expectation& when_undecided(gate::WhenUndecided what) {
    demand_.when_undecided = what;
    return *this;
  }
  /// For data whose amount was fixed beforehand, such as stored samples: the exact sign test, which decides with less.
  /// Wrong after a run that this or another expectation ended.
  Expectation& fixed_size() {
    demand_.method = gate::Method::fixed_size;
    return *this;
  }
  /// The verdict on what several processes found, one number each, such as the median of its log ratios in the order
  /// in which they ended. `row` gives the name and the error rates. For margins as small as what differs from process
  /// to process, which no number of rounds in one of them shows.
  [[nodiscard]] Judgement judge_replicates(const ImplementationResult& row, const std::vector<double>& centres) const;

  [[nodiscard]] std::string describe() const { return demand_.describe(); }
  [[nodiscard]] Judgement judge(const ImplementationResult& row) const;
  [[nodiscard]] const gate::Demand& demand() const { return demand_; }

 protected:
  [[nodiscard]] static double factor(double factor, const char* who, const char* example) {
    if (!(factor > 0 && std::isfinite(factor)))
      throw Error(std::string(who) + ": the factor must be above 0, such as " + example);
    return factor;
  }

 private:
  [[nodiscard]] static double checked(double rate, const char* name) {
    if (!(rate > 0 && rate < 0.5)) throw Error(std::string(name) + " must lie between 0 and 0.5, such as 0.001");
    return rate;
  }

  gate::Demand demand_;
};

/// A claim: the speed-up over the baseline is at least `factor`. Passes only when proven.
class SpeedupAtLeast : public Expectation {
 public:
  /// Throws Error unless factor > 0.
  explicit SpeedupAtLeast(double factor)
      : Expectation({.threshold = std::log(Expectation::factor(factor, "SpeedupAtLeast", "1.20")), .limit = factor}) {}
};

/// A guard: the implementation takes at most `factor` times as long as the baseline. Fails only when the contrary is
/// proven. For identical code that has at most probability alpha by design, whatever the machine does meanwhile; where one
/// side takes long, under the assumption of stats::LargeDeviationBet.
class NoSlowerThan : public Expectation {
 public:
  /// Throws Error unless factor > 0.
  explicit NoSlowerThan(double factor)
      : Expectation({.burden = gate::Burden::guard,
                     .threshold = -std::log(Expectation::factor(factor, "NoSlowerThan", "1.02")),
                     .limit = factor}) {}
};

/// A claim: faster than the implementation of that name, by `factor` at least. The name may be the baseline's; any
/// other needs `.expect(candidate, FasterThan(other))`, since one row alone says nothing of the other.
class FasterThan : public Expectation {
 public:
  /// Throws Error if the name is empty or factor is not above 0.
  explicit FasterThan(std::string name, double factor = 1)
      : Expectation({.threshold = std::log(Expectation::factor(factor, "FasterThan", "1.05")),
                     .limit = factor,
                     .reference = named(std::move(name))}) {}

 private:
  [[nodiscard]] static std::string named(std::string name) {
    if (name.empty()) throw Error("FasterThan: name the implementation that it is to be faster than");
    return name;
  }
};

/// A claim: the median time of one iteration is at most `time`, whatever the baseline takes. Times drift with the
/// machine and are skewed, so this is the weaker kind of gate. What is assumed: of each cycle's time, given those
/// before it, the median is on the same side of the limit. A machine that is slow for seconds at a stretch breaks that.
class WithinBudget : public Expectation {
 public:
  /// Throws Error unless time > 0.
  explicit WithinBudget(Nanoseconds time)
      : Expectation(
            {.quantity = gate::Quantity::time, .threshold = -std::log(above_zero(time)), .limit = time.count()}) {}

 private:
  [[nodiscard]] static double above_zero(Nanoseconds time) {
    if (!(time.count() > 0 && std::isfinite(time.count()))) throw Error("WithinBudget: the time must be above 0");
    return time.count();
  }
};

namespace gate {

/// An expectation, and the candidate that it was stated for; empty: every candidate. `phase`: of each iteration, empty:
/// the whole.
struct Stated {
  std::string candidate;
  Expectation expectation;
  std::string phase = {};
};

}  // namespace gate
}  // namespace pace

#ifdef PACE_HEADER_ONLY
#include "pace/gate/expectation-inl.hpp"
#endif
