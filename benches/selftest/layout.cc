// Layout bias: one function at nine places in the code, with the flags that pace_test compiles with and without them.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <vector>

#include <catch2/catch_test_macros.hpp>

#include "benches/selftest/bounds.hpp"
#include "benches/selftest/fresh_options.hpp"
#include "benches/selftest/layout_functions.hpp"
#include "benches/selftest/quiet.hpp"
#include "benches/selftest/settings.hpp"
#include "benches/selftest/subjects.hpp"
#include "pace/stats/quantile.hpp"
#include "pace/stats/sequential_test.hpp"
#include "pace/stats/spread.hpp"

namespace {

using namespace pace::benches::selftest;

struct Spread {
  /// Spread of ln(time) over the places.
  double deviation = 0, range = 0;
  /// The part of `deviation` that chance explains: root mean square of the places' standard errors.
  double chance = 0;
  /// The most that any place is proven to differ from the first by, all together wrong with check_error.
  double proven = 0;
};

Spread measure(const ShiftedFunctions& functions) {
  auto options = fresh_options();
  options.budget = std::chrono::seconds(settings().long_form ? 20 : 2);
  const auto result = compare_layouts(functions, options);

  const double each = check_error / static_cast<double>(2 * functions.size());
  Spread spread;
  std::vector<double> places{0.0};
  double squares = 0;
  for (const auto& row : result.implementations) {
    if (row.is_baseline) continue;
    REQUIRE_FALSE(row.log_ratios.empty());
    std::vector<double> sorted = row.log_ratios;
    std::sort(sorted.begin(), sorted.end());
    places.push_back(-pace::stats::median(sorted));
    // A median's standard error is sqrt(pi/2) times a mean's; half the square of it is each of the two sides'.
    const double error = std::sqrt(std::acos(-1.0) / 2 / static_cast<double>(sorted.size())) *
                         pace::stats::median_absolute_deviation(sorted);
    squares += error * error / 2 / static_cast<double>(functions.size() - 1);
    const auto interval = pace::stats::confidence_sequence(row.log_ratios, each, each);
    spread.proven = std::max({spread.proven, interval.low, -interval.high});
  }
  spread.chance = std::sqrt(squares);
  const auto [least, most] = std::minmax_element(places.begin(), places.end());
  spread.range = *most - *least;
  double mean = 0;
  for (const double place : places) mean += place / static_cast<double>(places.size());
  for (const double place : places) spread.deviation += (place - mean) * (place - mean);
  spread.deviation = std::sqrt(spread.deviation / static_cast<double>(places.size() - 1));
  return spread;
}

void print(const char* flags, const Spread& spread) {
  std::printf("%-34s %9.3f%% %9.3f%% %9.3f%% %12.3f%% %9.3f%%\n", flags, 100 * spread.range, 100 * spread.deviation,
              100 * spread.chance,
              100 * std::sqrt(std::max(0.0, spread.deviation * spread.deviation - spread.chance * spread.chance)),
              100 * spread.proven);
}

TEST_CASE("where a function lies in the code does not matter with pace_test's flags", "[layout]") {
  const Quiet quiet;
  const Spread aligned = measure(aligned_functions()), plain = measure(plain_functions());
  std::printf("\nLayout bias: one function shifted by 0 to 72 bytes, %zu places\n", paddings.size());
  std::printf("%-34s %10s %10s %10s %13s %10s\n", "compiled with", "range", "sd", "of chance", "sd beyond it",
              "proven");
  print("-O2, no alignment", plain);
  print("pace_test's: -O3, aligned to 64", aligned);
  std::fflush(stdout);
  // Without the flags it stands there to show why.
  CHECK(aligned.proven <= 0.0005);
}

}  // namespace
