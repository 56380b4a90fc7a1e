// ReplicateTest: whether the centre lies above a threshold, by a few processes that each measured it once.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <limits>
#include <span>

#include "pace/base/error.hpp"
#include "pace/base/units.hpp"

namespace pace::stats {

/// Returns the natural logarithm of the t likelihood ratio of "the mean lies `effect` standard deviations above 0" to
/// "the mean is 0", for `n` normal values of unknown scale. The statistic `u` is their sum over the root of the sum of
/// their squares.
///
/// It is the ratio of two integrals over the unknown scale with the right Haar measure d(sigma)/sigma,
///
///     integral of r^(n-1) exp(-r^2/2 + effect u r) dr * exp(-n effect^2 / 2)  /  integral of r^(n-1) exp(-r^2/2) dr,
///
/// evaluated by Simpson's rule. ReplicateTest names the sources.
[[nodiscard]] inline double log_t_likelihood_ratio(double u, std::size_t n, double effect) {
  const double count = static_cast<double>(n), tilt = effect * u;
  const auto exponent = [&](double r) { return (n > 1 ? (count - 1) * std::log(r) : 0) - r * r / 2 + tilt * r; };
  // ln of the integrand is concave. All but 1e-16 lies between nine deviations below the peak and, above it, as many
  // units or an exponential tail of forty deviations.
  const double peak = (tilt + std::sqrt(tilt * tilt + 4 * (count - 1))) / 2;
  const double deviation = n > 1 ? 1 / std::sqrt((count - 1) / (peak * peak) + 1) : 1;
  const double top = peak > 0 ? exponent(peak) : 0;
  const double from = std::max(0.0, peak - 9 * deviation), to = peak + std::min(9.0, 40 * deviation);
  // Simpson's rule, with at least eight steps a deviation.
  constexpr int steps = 400;
  const double width = (to - from) / steps;
  double sum = 0;
  for (int i = 0; i <= steps; ++i) {
    const double r = from + i * width;
    const double weight = i == 0 || i == steps ? 1 : i % 2 == 1 ? 4 : 2;
    if (r > 0 || n == 1) sum += weight * std::exp(exponent(r) - top);
  }
  const double log_without_effect = std::lgamma(count / 2) + (count / 2 - 1) * std::log(2.0);
  return top + std::log(sum * width / 3) - count * effect * effect / 2 - log_without_effect;
}

/// A sequential one-sided t-test on replicates: one number per process, such as its median log ratio, so that the
/// scatter includes differences between processes. Assumes independent, normal replicates with one mean and one unknown
/// deviation. Needs 5 if they agree (a test of signs needs 12 at the same level). The evidence that the mean lies above
/// the threshold is the mean over six effects of the t likelihood ratio:
/// 1. For a mean on the threshold it is a martingale that starts at 1: a ratio of densities of the data up to scale.
/// 2. For a mean below it is a supermartingale. Given the past, one step of the ratio increases in the next u for an
///    effect above 0, and decreases for one below 0. The mean of a product of two such steps is at most the product of
///    their means (Chebyshev's association inequality), which is 1.
/// 3. By Ville's inequality, as for Wealth, it may reject at 1/alpha at any time.
///
/// Sources: T. L. Lai, "On confidence sequences" (Annals of Statistics, 1976); H. Wang and A. Ramdas, "Anytime-valid
/// t-tests and confidence sequences for Gaussian means with unknown variance" (arXiv 2310.03722); M. F. Perez-Ortiz, T.
/// Lardy, R. de Heide and P. Grunwald, "E-statistics, group invariance and anytime-valid testing" (Annals of
/// Statistics, 2024), for the right Haar measure; P. Grunwald and W. Koolen, "Supermartingales for one-sided tests:
/// sufficient monotone likelihood ratios are sufficient" (arXiv 2502.04208), for step 2.
class ReplicateTest {
 public:
  /// Alternatives to the hypothesis, in standard deviations between processes. A margin of 2 % is an effect of 4 if
  /// processes scatter by 0.5 %.
  static constexpr std::array<double, 6> effects{0.25, 0.5, 1, 2, 4, 8};

  /// Tests the mean of the replicates against `threshold`, in the unit of the replicates.
  explicit ReplicateTest(double threshold) : threshold_(threshold) {}

  /// Adds the number that one process measured; leaves out one that is not finite.
  void add(double replicate) {
    if (!std::isfinite(replicate)) return;
    const double deviation = replicate - threshold_;
    ++replicates_;
    sum_ += deviation;
    squares_ += deviation * deviation;
    log_most_above_ = std::max(log_most_above_, log_evidence(1));
    log_most_below_ = std::max(log_most_below_, log_evidence(-1));
  }

  /// Number of finite replicates so far.
  [[nodiscard]] std::size_t replicates() const { return replicates_; }
  /// p-value of "the mean is at or below the threshold", valid after every replicate.
  [[nodiscard]] double p_above() const { return std::exp(-log_most_above_); }
  /// p-value of "the mean is at or above the threshold", valid after every replicate.
  [[nodiscard]] double p_below() const { return std::exp(-log_most_below_); }

  /// Natural logarithm of the present evidence that the mean lies above (`side` 1) or below (`side` -1) the threshold.
  [[nodiscard]] double log_evidence(double side) const {
    if (!(squares_ > 0)) return 0;  // no replicate, or all equal the threshold
    std::array<double, effects.size()> logs{};
    for (std::size_t i = 0; i < effects.size(); ++i)
      logs[i] = log_t_likelihood_ratio(side * sum_ / std::sqrt(squares_), replicates_, effects[i]);
    const double top = *std::max_element(logs.begin(), logs.end());
    double sum = 0;
    for (const double each : logs) sum += std::exp(each - top);
    return top + std::log(sum / static_cast<double>(effects.size()));
  }

 private:
  double threshold_;
  double sum_ = 0, squares_ = 0;
  double log_most_above_ = 0, log_most_below_ = 0;
  std::size_t replicates_ = 0;
};

/// Returns a confidence interval of the mean of the replicates: the thresholds that ReplicateTest rejected on neither
/// side, at `alpha_low` for the lower and `alpha_high` for the upper end. Valid at any time, as confidence_sequence()
/// is. An end is infinite with too few replicates. Throws Error unless both alphas are above 0 and add up to less than
/// 1.
[[nodiscard]] inline Interval<double> replicate_interval(std::span<const double> replicates, double alpha_low,
                                                         double alpha_high) {
  if (!(alpha_low > 0 && alpha_high > 0 && alpha_low + alpha_high < 1))
    throw Error("replicate_interval: both alphas must be above 0 and add up to less than 1");
  constexpr double infinity = std::numeric_limits<double>::infinity();
  double least = infinity, most = -infinity;
  for (const double each : replicates) {
    if (!std::isfinite(each)) continue;
    least = std::min(least, each);
    most = std::max(most, each);
  }
  if (least > most) return {-infinity, infinity, 1 - alpha_low - alpha_high};
  const auto rejected_at = [&](double threshold, double side, double alpha) {
    ReplicateTest test(threshold);
    for (const double each : replicates) test.add(each);
    return (side > 0 ? test.p_above() : test.p_below()) <= alpha;
  };
  // From a threshold this far away the replicates look nearly equal, and the evidence is as strong as possible.
  const double far = 1000 * (most - least) + 1e-9 * (std::abs(least) + std::abs(most)) + 1e-12;
  const auto end = [&](double side, double alpha) {
    double rejected = side > 0 ? least - far : most + far, kept = side > 0 ? most : least;
    if (!rejected_at(rejected, side, alpha)) return -side * infinity;
    for (int halving = 0; halving < 50; ++halving) {
      const double middle = (rejected + kept) / 2;
      (rejected_at(middle, side, alpha) ? rejected : kept) = middle;
    }
    return rejected;
  };
  return {end(1, alpha_low), end(-1, alpha_high), 1 - alpha_low - alpha_high};
}

}  // namespace pace::stats
