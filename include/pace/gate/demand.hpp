// Demand: an expectation of a time or a speed-up in figures: observations must lie above a threshold.
#pragma once

#include <cmath>
#include <optional>
#include <string>

#include "pace/base/format.hpp"
#include "pace/base/units.hpp"
#include "pace/result/verdict.hpp"
#include "pace/stats/sequential_test.hpp"

namespace pace {

/// Effect of a verdict of `undecided` on the gate.
enum class WhenUndecided {
  by_burden,    ///< an undecided claim closes the gate, a guard is let through with a warning
  close,        ///< both close the gate
  let_through,  ///< both are let through, with exit code 0
};

namespace gate {

/// Quantity observed once per crossover cycle.
enum class Quantity {
  speedup,  ///< ln(time of the reference / own time)
  time,     ///< -ln(own time in nanoseconds)
};

/// Statistic of both sides' times that is compared.
enum class Statistic {
  median,           ///< median of the log ratios of cycles, or of times
  median_and_mean,  ///< as `median`, and also the mean of times: a guard fails by either
  mean,             ///< mean of times
  quantile,         ///< quantile of the times of single samples
};

/// Side that needs a proof.
enum class Burden {
  claim,  ///< passing needs a proof: without one, the demand does not pass
  guard,  ///< failing needs a proof: without one, the demand does not fail
};

/// Where a time is taken if calls run on a GPU and the host only launches them.
enum class TakenOn {
  by_burden,  ///< both times for a guard, the device's for a claim
  device,     ///< by the clock of the comparison, such as the time of a graph of the calls
  host,       ///< the host's time for a call until it returns
};

/// Statistical test that decides.
enum class Method {
  sequential,  ///< test by betting (stats::SequentialTest), valid at every stopping time
  fixed_size,  ///< exact sign test for a number of observations fixed in advance; needs fewer
  replicates,  ///< sequential t-test; each observation is the centre of one process
};

/// Error rates of a gate, as probabilities.
struct Rates {
  double alpha = 1e-3;  ///< probability that a false claim passes, or a guard that holds fails
  double beta = 1e-2;   ///< probability that a true claim fails, or a guard that is violated passes
};

/// Demand on one implementation's time or speed-up.
struct Demand {
  Quantity quantity = Quantity::speedup;  ///< quantity that is observed
  Burden burden = Burden::claim;          ///< side that needs a proof
  /// The centre of the observations must lie above this value, in the unit of `quantity`.
  double threshold = 0;
  /// Limit as stated: a factor, or a time in nanoseconds.
  double limit = 1;
  /// Implementation to compare the time with; empty: the baseline.
  std::string reference = {};
  Statistic about = Statistic::median;                      ///< statistic that is compared
  double quantile = 0;                                      ///< quantile of Statistic::quantile, in (0, 1)
  WhenUndecided when_undecided = WhenUndecided::by_burden;  ///< effect of an undecided verdict
  Method method = Method::sequential;                       ///< test that decides
  std::optional<double> alpha = {};                         ///< error rate instead of a share of Options::alpha
  std::optional<double> beta = {};                          ///< error rate instead of a share of Options::beta

  /// Returns the test's assumption: ratios within one process are symmetric, times are not.
  [[nodiscard]] stats::Assumption assumption() const {
    return quantity == Quantity::speedup ? stats::Assumption::symmetry : stats::Assumption::median;
  }
  /// Returns the probability of passing wrongly, for the error rates of the comparison.
  [[nodiscard]] double pass_level(const Rates& rates) const {
    return burden == Burden::claim ? alpha.value_or(rates.alpha) : beta.value_or(rates.beta);
  }
  /// Returns the probability of failing wrongly, for the error rates of the comparison.
  [[nodiscard]] double fail_level(const Rates& rates) const {
    return burden == Burden::claim ? beta.value_or(rates.beta) : alpha.value_or(rates.alpha);
  }
  /// Returns whether an undecided verdict closes the gate.
  [[nodiscard]] bool closes_when_undecided() const {
    return when_undecided == WhenUndecided::close ||
           (when_undecided == WhenUndecided::by_burden && burden == Burden::claim);
  }
  /// Sets `acceptable` and `unresolved` of an undecided judgement.
  void leave_open(Judgement& judgement) const {
    judgement.acceptable = !closes_when_undecided();
    judgement.unresolved = judgement.acceptable && when_undecided != WhenUndecided::let_through;
  }
  /// Returns the limit as text, such as `1.20x` or `1.00 ms`.
  [[nodiscard]] std::string limit_text() const {
    if (quantity == Quantity::time) return format_time(Nanoseconds(limit));
    // As many digits as were stated: three at least, six at most.
    int digits = 3;
    const auto is_rounded = [&] {
      const double unit = std::pow(10, std::floor(std::log10(limit)) + 1 - digits);
      return std::abs(std::round(limit / unit) * unit - limit) > 1e-9 * limit;
    };
    while (digits < 6 && is_rounded()) ++digits;
    return format_significant(limit, digits) + 'x';
  }
  /// Returns the reference as text: `the baseline`, or the name in quotes, such as `'eager'`.
  [[nodiscard]] std::string reference_text() const {
    return reference.empty() ? "the baseline" : '\'' + reference + '\'';
  }

  /// Returns whether it is about the mean or a quantile alone. Log ratios of cycles say nothing about these.
  [[nodiscard]] bool of_tails_alone() const { return about == Statistic::mean || about == Statistic::quantile; }
  /// Returns the statistic as text: `mean time` or `99 % quantile`; `time` for a median.
  [[nodiscard]] std::string statistic_text() const {
    if (about == Statistic::mean) return "mean time";
    return about == Statistic::quantile ? format_percent(quantile) + " quantile" : "time";
  }

  /// Returns the description of the demand without an article, such as `speed-up of at least 1.20x`.
  [[nodiscard]] std::string describe() const {
    if (quantity == Quantity::time) return "time of at most " + limit_text();
    if (burden == Burden::guard)
      return statistic_text() + " of at most " + limit_text() + ' ' + reference_text() + "'s";
    if (!reference.empty()) return "speed-up of more than " + limit_text() + " over " + reference_text();
    return "speed-up of at least " + limit_text();
  }
};

}  // namespace gate
}  // namespace pace
