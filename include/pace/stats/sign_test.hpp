// The sign test, for samples whose size was fixed in advance.
#pragma once

#include <cmath>
#include <cstddef>
#include <span>

namespace pace::stats {

/// P(X >= successes) for X binomial with n trials at `share`, above 0 and below 1.
[[nodiscard]] inline double upper_tail_of_binomial(std::size_t n, std::size_t successes, double share) {
  const double count = static_cast<double>(n);
  double sum = 0;
  // From the far end, where terms are smallest for shares up to 1/2: ln C(n, i) + i ln p + (n - i) ln(1 - p).
  for (std::size_t i = n + 1; i-- > successes;) {
    const double index = static_cast<double>(i);
    sum += std::exp(std::lgamma(count + 1) - std::lgamma(index + 1) - std::lgamma(count - index + 1) +
                    index * std::log(share) + (count - index) * std::log1p(-share));
  }
  return sum < 1 ? sum : 1;
}

/// P(X >= successes) for X binomial with n trials at 1/2.
[[nodiscard]] inline double upper_tail_of_fair_coin(std::size_t n, std::size_t successes) {
  return upper_tail_of_binomial(n, successes, 0.5);
}

/// Largest share for which `successes` or more of `n` trials have a probability of at most `error`: the lower bound of
/// C. J. Clopper and E. S. Pearson, "The use of confidence or fiducial limits", Biometrika 26 (1934). 0 without
/// successes.
[[nodiscard]] inline double least_share(std::size_t n, std::size_t successes, double error) {
  if (successes == 0) return 0;
  double low = 0, high = 1;
  constexpr int halvings = 50;
  for (int i = 0; i < halvings; ++i) {
    const double middle = (low + high) / 2;
    (upper_tail_of_binomial(n, successes, middle) <= error ? low : high) = middle;
  }
  return low;
}

/// Result of sign_test(). Ties count against both rejections.
struct SignTest {
  double p_above = 1;  ///< p-value of "the median is at or below the threshold"
  double p_below = 1;  ///< p-value of "the median is at or above the threshold"
};

/// The sign test of the median of `observations` against `threshold`; leaves out NaNs. Exact for independent
/// observations of any distribution (W. J. Conover, "Practical Nonparametric Statistics", 3.4), if their number does
/// not depend on their values. Not valid for a sample that grows until the result is favourable.
[[nodiscard]] inline SignTest sign_test(std::span<const double> observations, double threshold) {
  std::size_t above = 0, below = 0, all = 0;
  for (const double observation : observations) {
    if (std::isnan(observation)) continue;
    ++all;
    above += observation > threshold;
    below += observation < threshold;
  }
  return {upper_tail_of_fair_coin(all, above), upper_tail_of_fair_coin(all, below)};
}

}  // namespace pace::stats
