// The margins that this machine can support: how soon a difference of so many per cent is told from none.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <optional>
#include <vector>

#include <catch2/catch_test_macros.hpp>

#include "benches/selftest/bounds.hpp"
#include "benches/selftest/fresh_options.hpp"
#include "benches/selftest/progress.hpp"
#include "benches/selftest/quiet.hpp"
#include "benches/selftest/replay.hpp"
#include "benches/selftest/settings.hpp"
#include "benches/selftest/subjects.hpp"
#include "pace/stats/quantile.hpp"

namespace {

using namespace pace::benches::selftest;
using pace::Verdict;

constexpr std::array margins{0.001, 0.002, 0.005, 0.01, 0.02, 0.05};
constexpr std::array samples_us{150, 1000};

struct Cell {
  std::size_t decided = 0;
  std::vector<double> milliseconds;
};

double middle(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values.empty() ? 0 : pace::stats::median(values);
}

TEST_CASE("what margins this machine can support", "[margins]") {
  const Quiet quiet;
  const std::size_t planned = std::max<std::size_t>(settings().gates / 50, 10);
  std::array<std::array<Cell, margins.size()>, samples_us.size()> cells;
  std::array<std::size_t, samples_us.size()> records{};
  Progress progress("margins, records of 2 s", planned * samples_us.size());
  const Deadline deadline(std::chrono::seconds(8));
  for (std::size_t record = 0; record < planned && !deadline.over(); ++record) {
    for (std::size_t kind = 0; kind < samples_us.size(); ++kind) {
      auto options = fresh_options();
      options.budget = std::chrono::seconds(2);
      options.min_sample = std::chrono::microseconds(samples_us[kind] == 1000 ? 1000 : 50);
      const auto result = compare_subject(record, options);
      const auto& row = result["candidate"];
      REQUIRE(row.outcome == pace::Outcome::measured);
      ++records[kind];
      for (std::size_t i = 0; i < margins.size(); ++i) {
        // At the stricter of the two levels, so that it holds for slower candidates as well, which lie as far beyond.
        const auto found = replay(pace::NoSlowerThan(1 + margins[i]).beta(options.alpha), row.log_ratios);
        cells[kind][i].decided += found.verdict == Verdict::passed;
        cells[kind][i].milliseconds.push_back(static_cast<double>(found.cycles) * row.context.cycle.count() / 1e6);
      }
      progress.show(record * samples_us.size() + kind + 1);
    }
  }
  std::printf("\nMargins: identical code, or a difference so far beyond the limit, decided within 2 s at 0.1 %%\n");
  std::printf("%-8s", "margin");
  for (const int us : samples_us) std::printf("   samples of %4d us: decided   median", us);
  std::printf("\n");
  std::optional<double> smallest;
  for (std::size_t i = 0; i < margins.size(); ++i) {
    std::printf("%4.1f %%  ", 100 * margins[i]);
    bool all = true;
    for (std::size_t kind = 0; kind < samples_us.size(); ++kind) {
      const Cell& cell = cells[kind][i];
      std::printf("%20zu of %4zu %8.0f ms", cell.decided, records[kind], middle(cell.milliseconds));
      all = all && static_cast<double>(cell.decided) >= 0.99 * static_cast<double>(records[kind]);
    }
    std::printf("\n");
    if (all && !smallest) smallest = margins[i];
  }
  const std::size_t all = records[0] + records[1];
  const auto least = static_cast<std::size_t>(std::ceil(0.99 * static_cast<double>(all)));
  if (smallest)
    std::printf(
        "\nToday, this machine supports margins from %.1f %% on: decided within 2 s in at least 99 %% of %zu "
        "runs (at least %.0f %% of all, with 95 %% confidence).\n",
        100 * *smallest, all, std::floor(100 * lower_bound(least, all)));
  else
    std::printf("\nToday, this machine supports no margin up to %.0f %%: something else is running on it.\n",
                100 * margins.back());
  std::fflush(stdout);
}

}  // namespace
