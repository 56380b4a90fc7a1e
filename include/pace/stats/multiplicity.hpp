// Multiple comparisons: several intervals, or several verdicts, that must be right at once.
#pragma once

#include <algorithm>
#include <cstddef>
#include <span>

namespace pace::stats {

/// Confidence of each of `count` intervals so that all hold together with at least `family_wise`. Bonferroni's bound
/// needs no independence, which speed-ups over one baseline lack.
[[nodiscard]] inline double simultaneous_confidence(double family_wise, std::size_t count) {
  return 1 - (1 - family_wise) / static_cast<double>(std::max<std::size_t>(count, 1));
}

/// Error rate of each of `gates` gates so that the suite has any error with probability at most `suite_alpha`. By
/// Bonferroni's bound, gates may depend on each other, run in any order, on any machine, and be left out.
[[nodiscard]] inline double alpha_share(double suite_alpha, std::size_t gates) {
  return suite_alpha / static_cast<double>(std::max<std::size_t>(gates, 1));
}

/// Returns the share of an error rate that hypothesis `k` (1, 2, ...) of a sequence spends: 1 / (k (k + 1)). Any number
/// of shares sums to less than 1, so that any wrong rejection has at most the rate as its probability. The number of
/// hypotheses need not be known beforehand. This is Bonferroni's bound with unequal parts, called alpha spending (D. P.
/// Foster, R. A. Stine, "Alpha-investing", 2008; J. Tian, A. Ramdas, "Online control of the familywise error rate",
/// 2021). The place of a hypothesis must not depend on its own observations.
[[nodiscard]] inline double spent_share(std::size_t k) {
  const auto place = static_cast<double>(k);
  return 1 / (place * (place + 1));
}

/// Returns the level of Holm's procedure (S. Holm, "A simple sequentially rejective multiple test procedure", 1979).
/// Reject exactly the hypotheses with p-values up to it: any wrong rejection then has a probability of at most `alpha`,
/// however the hypotheses depend on each other.
///
/// `count_at_most(level)` returns how many of the `hypotheses` have a p-value of at most `level`. The result is alpha /
/// (m - r), with r of the m hypotheses rejected. With p-values that are valid at any time, you may repeat it after
/// every observation, and its last rejections hold.
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

/// Returns the level of Holm's procedure for these p-values.
[[nodiscard]] inline double holm_level(std::span<const double> p_values, double alpha) {
  return holm_level(p_values.size(), alpha, [&](double level) {
    std::size_t count = 0;
    for (const double p : p_values) count += p <= level;
    return count;
  });
}

}  // namespace pace::stats
