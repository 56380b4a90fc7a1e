// How many observations a verdict takes.
#pragma once

#include <cmath>
#include <limits>

namespace pace::stats {

/// Wald's lower bound on the mean number of observations of any sequential test that errs with at most `alpha` where
/// the effect is 0 and `beta` where it is `effect`, when it is `effect`, for normal observations of known standard
/// deviation (A. Wald, "Sequential tests of statistical hypotheses", 1945). What a test is measured by.
[[nodiscard]] inline double wald_sample_number(double effect, double deviation, double alpha, double beta) {
  const double nats = (1 - beta) * std::log((1 - beta) / alpha) + beta * std::log(beta / (1 - alpha));
  const double ratio = effect / deviation;
  return 2 * nats / (ratio * ratio);
}

/// Nats of evidence per observation that the best test of symmetry gains from normal data whose centre lies `ratio`
/// standard deviations from the threshold: half its square while that is small (as Wald's test, which knows more),
/// ln 2 in the end. Within 6 % of the exact integral of ln(2 / (1 + exp(-2 ratio x))).
[[nodiscard]] inline double evidence_per_observation(double ratio) {
  const double most = std::log(2.0);
  return most * -std::expm1(-ratio * ratio / (2 * most));
}

/// What SequentialTest pays for not knowing the effect beforehand, in nats: its sample numbers are 1.3 to 1.4 times
/// the bound at alpha 1e-3, of 6.9 nats (tests/stats/sequential_power_test prints them).
inline constexpr double nats_for_ignorance = 2.3;

/// Observations that SequentialTest needs, on average, to reject at `alpha` a threshold from which the centre lies
/// `effect` away; infinite if it lies on it.
[[nodiscard]] inline double observations_to_reject(double effect, double deviation, double alpha) {
  if (effect == 0) return std::numeric_limits<double>::infinity();
  const double nats = std::log(1 / alpha) + nats_for_ignorance;
  // Without noise every observation wins the same.
  return nats / (deviation > 0 ? evidence_per_observation(effect / deviation) : std::log(2.0));
}

/// Replicates that ReplicateTest needs, on average, for the same: an unknown deviation makes a large effect of few
/// replicates worth ln(1 + ratio^2) / 2 nats each, and its six effects share the start.
[[nodiscard]] inline double replicates_to_reject(double effect, double deviation, double alpha) {
  if (effect == 0) return std::numeric_limits<double>::infinity();
  if (!(deviation > 0)) return 5;  // as few as can at 1e-3
  const double ratio = effect / deviation;
  return 1 + (std::log(1 / alpha) + std::log(6.0)) / (0.5 * std::log1p(ratio * ratio));
}

/// The effect that so many observations tell from 0, on average, at `alpha`; infinite if they are too few for any.
[[nodiscard]] inline double effect_within_reach(double observations, double deviation, double alpha) {
  const double share = (std::log(1 / alpha) + nats_for_ignorance) / (observations * std::log(2.0));
  if (!(share < 1)) return std::numeric_limits<double>::infinity();
  return deviation * std::sqrt(-2 * std::log(2.0) * std::log1p(-share));
}

}  // namespace pace::stats
