// Demand: an expectation as plain figures, such that what is observed must lie above a threshold.
#pragma once

#include <optional>
#include <string>

#include "pace/core/format.hpp"
#include "pace/core/units.hpp"
#include "pace/core/verdict.hpp"
#include "pace/stats/sequential_test.hpp"

namespace pace {

/// What a verdict of `undecided` does to the gate.
enum class WhenUndecided {
  by_burden,    ///< closes it to a claim, lets a guard through with a warning
  close,        ///< closes it to a guard as well
  let_through,  ///< lets a claim through as well, with exit code 0
};

namespace gate {

/// What is observed, once a crossover cycle.
enum class Quantity {
  speedup,  ///< ln(time of the reference / own time)
  time,     ///< -ln(own time in nanoseconds)
};

/// Which side needs a proof.
enum class Burden {
  claim,  ///< passing does: what is not proven does not pass
  guard,  ///< failing does: what is not proven does not fail
};

/// How figures become a verdict.
enum class Method {
  sequential,  ///< by betting: holds no matter how often the figures are looked at, and when it stops
  fixed_size,  ///< by the sign test: for data whose amount was fixed beforehand; decides with less of it
  replicates,  ///< by a sequential t-test: each observation is the centre of what one process found
};

/// How often a gate may err: `alpha` is to pass a claim that is false or fail a guard that holds, `beta` the other way.
struct Rates {
  double alpha = 1e-3, beta = 1e-2;
};

struct Demand {
  Quantity quantity = Quantity::speedup;
  Burden burden = Burden::claim;
  /// Observations whose centre lies above this meet the demand.
  double threshold = 0;
  /// As the user stated it: a factor, or a time in nanoseconds.
  double limit = 1;
  /// Name of the implementation to be faster than; empty: whatever is the baseline.
  std::string reference = {};
  WhenUndecided when_undecided = WhenUndecided::by_burden;
  Method method = Method::sequential;
  /// Rates of its own, in place of its share of the comparison's.
  std::optional<double> alpha = {}, beta = {};

  /// The same, where identical code may differ by `allowance` (a log ratio): a proof takes that much
  /// more. Times are not compared with anything.
  [[nodiscard]] Demand with(double allowance) const {
    Demand demand = *this;
    if (quantity == Quantity::speedup) demand.threshold += burden == Burden::claim ? allowance : -allowance;
    return demand;
  }

  /// Ratios of one process are symmetric, times are not.
  [[nodiscard]] stats::Assumption assumption() const {
    return quantity == Quantity::speedup ? stats::Assumption::symmetry : stats::Assumption::median;
  }
  /// Probability to pass, or fail, wrongly.
  [[nodiscard]] double pass_level(const Rates& rates) const {
    return burden == Burden::claim ? alpha.value_or(rates.alpha) : beta.value_or(rates.beta);
  }
  [[nodiscard]] double fail_level(const Rates& rates) const {
    return burden == Burden::claim ? beta.value_or(rates.beta) : alpha.value_or(rates.alpha);
  }
  [[nodiscard]] bool closes_when_undecided() const {
    return when_undecided == WhenUndecided::close ||
           (when_undecided == WhenUndecided::by_burden && burden == Burden::claim);
  }
  /// What an open question does to the gate.
  void leave_open(Judgement& judgement) const {
    judgement.acceptable = !closes_when_undecided();
    judgement.unresolved = judgement.acceptable && when_undecided != WhenUndecided::let_through;
  }
  /// The threshold as text: `1.20x`, `1.00 ms`.
  [[nodiscard]] std::string limit_text() const {
    return quantity == Quantity::time ? format_time(Nanoseconds(limit)) : format_factor(limit);
  }
  /// `the baseline`, `'eager'`.
  [[nodiscard]] std::string reference_text() const {
    return reference.empty() ? "the baseline" : '\'' + reference + '\'';
  }

  /// What is expected, to follow "a".
  [[nodiscard]] std::string describe() const {
    if (quantity == Quantity::time) return "time of at most " + limit_text();
    if (burden == Burden::guard) return "time of at most " + limit_text() + ' ' + reference_text() + "'s";
    if (!reference.empty()) return "speed-up of more than " + limit_text() + " over " + reference_text();
    return "speed-up of at least " + limit_text();
  }
};

}  // namespace gate
}  // namespace pace
