// Sample numbers: how many observations a verdict takes.
#pragma once

#include <cmath>
#include <limits>

namespace pace::stats {

/// Returns Wald's lower bound on the mean number of observations of a sequential test, if the effect is `effect`. The
/// test errs with probability at most `alpha` if the effect is 0, and `beta` if it is `effect`. Observations are normal
/// with the known standard deviation `deviation`. A. Wald, "Sequential tests of statistical hypotheses" (1945).
[[nodiscard]] inline double wald_sample_number(double effect, double deviation, double alpha, double beta) {
  const double nats = (1 - beta) * std::log((1 - beta) / alpha) + beta * std::log(beta / (1 - alpha));
  const double ratio = effect / deviation;
  return 2 * nats / (ratio * ratio);
}

/// Returns the nats of evidence per observation that the best test of symmetry gains from normal data with a centre
/// `ratio` standard deviations from the threshold. For small ratios that is ratio^2 / 2, as in Wald's test of a known
/// deviation; at most ln 2. Within 6 % of the exact integral of ln(2 / (1 + exp(-2 ratio x))).
[[nodiscard]] inline double evidence_per_observation(double ratio) {
  const double most = std::log(2.0);
  return most * -std::expm1(-ratio * ratio / (2 * most));
}

/// Additional nats that SequentialTest needs, since it does not know the effect. Its sample numbers are 1.3 to 1.4
/// times the bound at alpha 1e-3, which is 6.9 nats (tests/stats/sequential_power_test prints them).
inline constexpr double nats_for_ignorance = 2.3;

/// Returns the mean number of observations that SequentialTest needs to reject a threshold at `alpha`. The threshold is
/// `effect` away from the centre, and the observations have standard deviation `deviation`. Infinite if `effect` is 0.
[[nodiscard]] inline double observations_to_reject(double effect, double deviation, double alpha) {
  if (effect == 0) return std::numeric_limits<double>::infinity();
  const double nats = std::log(1 / alpha) + nats_for_ignorance;
  // Without noise, every observation doubles the wealth.
  return nats / (deviation > 0 ? evidence_per_observation(effect / deviation) : std::log(2.0));
}

/// Returns the mean number of replicates that ReplicateTest needs for the same. With an unknown deviation, a replicate
/// is worth ln(1 + ratio^2) / 2 nats, and six alternatives share the starting wealth.
[[nodiscard]] inline double replicates_to_reject(double effect, double deviation, double alpha) {
  if (effect == 0) return std::numeric_limits<double>::infinity();
  if (!(deviation > 0)) return 5;  // the fewest that can reject at 1e-3
  const double ratio = effect / deviation;
  return 1 + (std::log(1 / alpha) + std::log(6.0)) / (0.5 * std::log1p(ratio * ratio));
}

/// Returns the effect that `observations` observations tell from 0 at `alpha`, on average; infinite if they are too few
/// for any.
[[nodiscard]] inline double effect_within_reach(double observations, double deviation, double alpha) {
  const double share = (std::log(1 / alpha) + nats_for_ignorance) / (observations * std::log(2.0));
  if (!(share < 1)) return std::numeric_limits<double>::infinity();
  return deviation * std::sqrt(-2 * std::log(2.0) * std::log1p(-share));
}

}  // namespace pace::stats
