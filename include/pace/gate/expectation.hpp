// Expectations: what a gate demands of one implementation. Judged on the interval, never on the point.
#pragma once

#include <functional>
#include <optional>
#include <string>

#include "pace/core/error.hpp"
#include "pace/core/format.hpp"
#include "pace/core/result.hpp"
#include "pace/core/verdict.hpp"

namespace pace {

/// Judges one implementation; what the two classes below convert to.
using Expectation = std::function<Judgement(const ImplementationResult&)>;

namespace gate {

/// A judgement that needs no figures: nothing was measured, so nothing can be said. Empty if something was.
[[nodiscard]] inline std::optional<Judgement> judge_without_speedup(const ImplementationResult& result,
                                                                    const std::string& expectation) {
  Judgement judgement{.expectation = expectation};
  switch (result.outcome) {
    case Outcome::wrong:
      judgement.verdict = Verdict::failed;
      judgement.message = "'" + result.name + "' does not compute what the baseline computes, so it has no speed-up: " +
                          result.message + ". Correct it, or state a tolerance that its inputs justify";
      return judgement;
    case Outcome::threw:
      judgement.verdict = Verdict::failed;
      judgement.message = "'" + result.name + "' threw: " + result.message + ". Make it run on these inputs first";
      return judgement;
    case Outcome::refused:
      judgement.message = "'" + result.name + "' could not be run here: " + result.message;
      return judgement;
    case Outcome::measured: break;
  }
  if (result.is_baseline) {
    judgement.message = "'" + result.name + "' is the baseline itself; state the expectation for a candidate";
    return judgement;
  }
  if (!result.speedup || !result.speedup->interval) {
    const auto seen = result.speedup ? result.speedup->observations : 0;
    judgement.verdict = Verdict::undecided;
    judgement.message = "'" + result.name + "' has only " + std::to_string(seen) +
                        " paired observations, too few for an interval; give it a longer budget (--budget)";
    return judgement;
  }
  return std::nullopt;
}

/// Base of the expectations, which makes them usable as they are in Catch2's CHECK_THAT: Catch2 asks a matcher for
/// `match` and then, to print a failure, for `toString`.
template <class Derived>
class Matchable {
 public:
  bool match(const ImplementationResult& result) const {
    last_ = static_cast<const Derived&>(*this).judge(result);
    return last_.acceptable;
  }
  [[nodiscard]] std::string toString() const {
    return "was expected to have a " + static_cast<const Derived&>(*this).describe() + "\n" +
           pace::to_string(last_.verdict) + ": " + last_.message;
  }

 private:
  mutable Judgement last_;
};

}  // namespace gate

/// A claim: the speed-up over the baseline is at least `factor`. Passes only when proven, that is when the lower end
/// of the interval reaches the factor.
class SpeedupAtLeast : public gate::Matchable<SpeedupAtLeast> {
 public:
  /// Throws Error unless factor > 0.
  explicit SpeedupAtLeast(double factor) : factor_(factor) {
    if (!(factor > 0)) throw Error("SpeedupAtLeast: the factor must be above 0, such as 1.20");
  }

  [[nodiscard]] std::string describe() const { return "speed-up of at least " + format_factor(factor_); }

  [[nodiscard]] Judgement judge(const ImplementationResult& result) const {
    if (auto early = gate::judge_without_speedup(result, describe())) return *early;
    const SpeedupSummary& speedup = *result.speedup;
    Judgement judgement{.expectation = describe()};
    const std::string figures = "'" + result.name + "' is " + format_factor(speedup.median) + " as fast as the baseline " +
                                format_interval(*speedup.interval) + " at " + format_percent(speedup.interval->confidence);
    if (speedup.interval->low >= factor_) {
      judgement.verdict = Verdict::passed;
      judgement.message = figures + ", all of it at or above " + format_factor(factor_);
    } else if (speedup.interval->high < factor_) {
      judgement.verdict = Verdict::failed;
      judgement.message = figures + ", all of it below " + format_factor(factor_) +
                          ". Make the implementation faster, or lower what is expected of it";
    } else {
      judgement.verdict = Verdict::undecided;
      judgement.message = figures + ", which holds " + format_factor(factor_) +
                          ". Measure longer (--budget), or on a quieter machine, or claim less";
    }
    judgement.acceptable = judgement.verdict == Verdict::passed;
    return judgement;
  }

 private:
  double factor_;
};

/// A guard: the implementation takes at most `factor` times as long as the baseline. Fails only when the contrary is
/// proven, that is when even the fast end of the interval is slower than that.
class NoSlowerThan : public gate::Matchable<NoSlowerThan> {
 public:
  /// Throws Error unless factor > 0.
  explicit NoSlowerThan(double factor) : factor_(factor) {
    if (!(factor > 0)) throw Error("NoSlowerThan: the factor must be above 0, such as 1.02");
  }

  [[nodiscard]] std::string describe() const { return "time of at most " + format_factor(factor_) + " the baseline's"; }

  [[nodiscard]] Judgement judge(const ImplementationResult& result) const {
    if (auto early = gate::judge_without_speedup(result, describe())) {
      early->acceptable = early->verdict == Verdict::undecided;
      return *early;
    }
    const SpeedupSummary& speedup = *result.speedup;
    const Interval<double> slowdown{1 / speedup.interval->high, 1 / speedup.interval->low, speedup.interval->confidence};
    Judgement judgement{.expectation = describe()};
    const std::string figures = "'" + result.name + "' takes " + format_factor(1 / speedup.median) + " the baseline's time " +
                                format_interval(slowdown) + " at " + format_percent(slowdown.confidence);
    if (slowdown.low > factor_) {
      judgement.verdict = Verdict::failed;
      judgement.message = figures + ", all of it above " + format_factor(factor_) +
                          ". Find what made it slower, or allow more";
    } else if (slowdown.high <= factor_) {
      judgement.verdict = Verdict::passed;
      judgement.message = figures + ", all of it at or below " + format_factor(factor_);
    } else {
      judgement.verdict = Verdict::undecided;
      judgement.message = figures + ", which holds " + format_factor(factor_) + "; no regression is proven";
    }
    judgement.acceptable = judgement.verdict != Verdict::failed;
    return judgement;
  }

 private:
  double factor_;
};

}  // namespace pace
