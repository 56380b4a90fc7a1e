// Tails of Student's t and of the normal distribution.
#pragma once

#include <cmath>
#include <cstddef>

namespace pace::stats {

/// P(Z > z) for a standard normal Z.
[[nodiscard]] inline double normal_tail(double z) { return 0.5 * std::erfc(z / std::sqrt(2.0)); }

/// P(T > t) for Student's t with `freedom` >= 1 degrees of freedom: the finite sums of Abramowitz and Stegun 26.7.3 and
/// 26.7.4. The absolute error is below 1e-15, so tails below 1e-12 are not reliable.
[[nodiscard]] inline double student_tail(double t, std::size_t freedom) {
  const double count = static_cast<double>(freedom), angle = std::atan(t / std::sqrt(count));
  const double sine = std::sin(angle), square = std::cos(angle) * std::cos(angle);
  const bool odd = freedom % 2 == 1;
  // Terms 1, 1/2 c^2, 1*3/(2*4) c^4, ... for even counts; c, 2/3 c^3, 2*4/(3*5) c^5, ... for odd ones.
  double term = odd ? std::cos(angle) : 1, sum = 0;
  for (std::size_t k = odd ? 1 : 0; k + 2 <= freedom; k += 2) {
    sum += term;
    const double order = static_cast<double>(k);
    term *= (order + 1) / (order + 2) * square;
  }
  const double within = odd ? 2 / std::acos(-1.0) * (angle + sine * sum) : sine * sum;
  return (1 - within) / 2;
}

/// Returns the argument where the decreasing function `tail` equals `level`, 0 < level <= 0.5, by bisection.
template <class Tail>
[[nodiscard]] double quantile_of_tail(Tail tail, double level) {
  double low = 0, high = 1;
  while (tail(high) > level && high < 1e12) high *= 2;
  for (int halving = 0; halving < 100; ++halving) {
    const double middle = (low + high) / 2;
    (tail(middle) > level ? low : high) = middle;
  }
  return high;
}

}  // namespace pace::stats
