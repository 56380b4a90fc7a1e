// The rank test of H. B. Mann and D. R. Whitney (1947): is one of two samples larger?
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <span>
#include <utility>
#include <vector>

namespace pace::benches::selftest {

struct RankTest {
  /// How many pairs (one value of each sample) have the first one larger; a tie counts half.
  double u = 0;
  /// Two-sided.
  double p_value = 1;
};

namespace detail {

/// How many of the orders of n + m values without ties have U at most `most`.
[[nodiscard]] inline double share_of_orders(std::size_t n, std::size_t m, std::size_t most) {
  // ways[i][u]: orders of i values of the first sample among j of the second, built up over j.
  std::vector<std::vector<double>> ways(n + 1, std::vector<double>(n * m + 1, 0.0));
  for (std::size_t i = 0; i <= n; ++i) ways[i][0] = 1;
  for (std::size_t j = 1; j <= m; ++j)
    // The largest of all is one of the first sample, above j of the second, or one of the second.
    for (std::size_t i = 1; i <= n; ++i)
      for (std::size_t u = i * j + 1; u-- > 0;) ways[i][u] = ways[i][u] + (u >= j ? ways[i - 1][u - j] : 0);
  double below = 0, all = 0;
  for (std::size_t u = 0; u <= n * m; ++u) {
    all += ways[n][u];
    if (u <= most) below += ways[n][u];
  }
  return below / all;
}

}  // namespace detail

/// Exact for up to 50 values a side if none are tied, otherwise by the normal approximation with corrections for
/// ties and continuity: as golang.org/x/perf's benchstat does, and R's wilcox.test.
[[nodiscard]] inline RankTest rank_test(std::span<const double> a, std::span<const double> b) {
  std::vector<std::pair<double, bool>> all;
  for (const double each : a) all.push_back({each, true});
  for (const double each : b) all.push_back({each, false});
  std::sort(all.begin(), all.end());
  const auto n = static_cast<double>(a.size()), m = static_cast<double>(b.size());
  double ranks = 0, ties = 0;
  for (std::size_t first = 0; first < all.size();) {
    std::size_t end = first;
    while (end < all.size() && all[end].first == all[first].first) ++end;
    const auto count = static_cast<double>(end - first);
    ties += count * count * count - count;
    for (std::size_t i = first; i < end; ++i)
      if (all[i].second) ranks += (static_cast<double>(first + end) + 1) / 2;
    first = end;
  }
  RankTest result;
  result.u = ranks - n * (n + 1) / 2;
  if (a.empty() || b.empty()) return result;
  const double smaller = std::min(result.u, n * m - result.u);
  if (ties == 0 && a.size() <= 50 && b.size() <= 50) {
    result.p_value = std::min(1.0, 2 * detail::share_of_orders(a.size(), b.size(), static_cast<std::size_t>(smaller)));
    return result;
  }
  const double variance = n * m / 12 * (n + m + 1 - ties / ((n + m) * (n + m - 1)));
  if (!(variance > 0)) return result;
  const double z = std::max(0.0, n * m / 2 - smaller - 0.5) / std::sqrt(variance);
  result.p_value = std::erfc(z / std::sqrt(2.0));
  return result;
}

}  // namespace pace::benches::selftest
