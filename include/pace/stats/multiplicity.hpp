// Several intervals that shall hold, or verdicts that shall be right, all at once.
#pragma once

#include <algorithm>
#include <cstddef>
#include <span>

namespace pace::stats {

/// Confidence of each of `count` intervals so that all hold together with at least `family_wise`: Bonferroni's bound,
/// which needs no independence (speed-ups over one shared baseline are not independent).
[[nodiscard]] inline double simultaneous_confidence(double family_wise, std::size_t count) {
  return 1 - (1 - family_wise) / static_cast<double>(std::max<std::size_t>(count, 1));
}

/// What each of `gates` gates may err by so that a whole suite of them errs anywhere with at most `suite_alpha`:
/// Bonferroni's bound, so gates may depend on each other, run in any order, on any machine, and be left out.
[[nodiscard]] inline double alpha_share(double suite_alpha, std::size_t gates) {
  return suite_alpha / static_cast<double>(std::max<std::size_t>(gates, 1));
}

/// S. Holm, "A simple sequentially rejective multiple test procedure" (1979), put as one number: reject exactly the
/// hypotheses whose p-value is at most the level returned, and any of them is rejected wrongly with probability at
/// most `alpha`, however they depend on each other. The level is alpha / (m - r), where r of the m are rejected.
/// P-values that hold at any time may be looked at after every observation: what is rejected once stays so.
/// `count_at_most(level)` is how many of the `hypotheses` have such a p-value.
template <class CountAtMost>
[[nodiscard]] double holm_level(std::size_t hypotheses, double alpha, CountAtMost count_at_most) {
  std::size_t rejected = 0;
  while (true) {
    const double level = alpha_share(alpha, hypotheses - rejected);
    const std::size_t now = count_at_most(level);
    if (now <= rejected || now >= hypotheses) return level;
    rejected = now;
  }
}

[[nodiscard]] inline double holm_level(std::span<const double> p_values, double alpha) {
  return holm_level(p_values.size(), alpha, [&](double level) {
    std::size_t count = 0;
    for (const double p : p_values) count += p <= level;
    return count;
  });
}

}  // namespace pace::stats
