// Bounds of a rate by a count of events, and of a count by a rate. Exact, by the binomial distribution.
#pragma once

#include <cstddef>

#include <boost/math/distributions/beta.hpp>
#include <boost/math/distributions/binomial.hpp>

namespace pace::benches::selftest {

inline constexpr double confidence_of_bounds = 0.95;

/// The rate at or above which `events` or fewer of `tries` would have probability at most 5 %: the upper end of the
/// interval of C. Clopper and E. Pearson, "The use of confidence or fiducial limits" (1934), one-sided.
[[nodiscard]] inline double upper_bound(std::size_t events, std::size_t tries) {
  if (events >= tries) return 1;
  const auto k = static_cast<double>(events), n = static_cast<double>(tries);
  return quantile(boost::math::beta_distribution<>(k + 1, n - k), confidence_of_bounds);
}

/// The rate at or below which `events` or more would have probability at most 5 %.
[[nodiscard]] inline double lower_bound(std::size_t events, std::size_t tries) {
  return events == 0 ? 0 : 1 - upper_bound(tries - events, tries);
}

/// The fewest events that chance does not explain: `tries` show them with probability at most `error`. Each try has an
/// event with probability at most `rate`, given those before it. At most tries + 1.
[[nodiscard]] inline std::size_t too_many(std::size_t tries, double rate, double error) {
  const boost::math::binomial_distribution<> chance(static_cast<double>(tries), rate);
  std::size_t events = 0;
  while (events < tries && cdf(complement(chance, static_cast<double>(events))) > error) ++events;
  return events + 1;
}

/// How often each single check of the short form may fail though all is well. It makes fewer than twenty-five of
/// them, so a run of all together errs less than once in 16,000.
inline constexpr double check_error = 2.5e-6;

}  // namespace pace::benches::selftest
