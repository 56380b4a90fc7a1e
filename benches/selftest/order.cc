// Order bias: identical code, one side always first, always second, or in the order that pace draws.
#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <span>
#include <vector>

#include <catch2/catch_test_macros.hpp>

#include "benches/selftest/bounds.hpp"
#include "benches/selftest/fresh_options.hpp"
#include "benches/selftest/product.hpp"
#include "benches/selftest/settings.hpp"
#include "pace/stats/cycle.hpp"
#include "pace/stats/quantile.hpp"
#include "pace/stats/sequential_test.hpp"
#include "pace/stats/spread.hpp"
#include "pace/timing/do_not_optimize.hpp"
#include "pace/timing/schedule.hpp"
#include "pace/timing/subject.hpp"
#include "pace/timing/wall.hpp"

namespace {

using namespace pace::benches::selftest;
using pace::timing::Turn;

/// 40 us of Product's work, on one of two sets of buffers.
struct Work final : pace::timing::Subject {
  static constexpr std::int64_t rows = Product::rows / 4;
  struct Buffers {
    std::vector<float> a = std::vector<float>(rows * Product::inner, 0.5F);
    std::vector<float> b = std::vector<float>(Product::inner * Product::columns, 0.25F);
    std::vector<float> c = std::vector<float>(rows * Product::columns);
  };
  std::array<Buffers, 2> buffers;

  void run(std::size_t operands, std::int64_t /*iterations*/) override {
    auto& mine = buffers[operands];
    Product::multiply(mine.a.data(), mine.b.data(), mine.c.data(), rows);
    pace::clobber_memory();
  }
};

/// Two rounds: the two sides swap buffers, but not places.
constexpr std::array<Turn, 4> first_first{{{0, 0}, {1, 1}, {0, 1}, {1, 0}}};
constexpr std::array<Turn, 4> second_first{{{1, 1}, {0, 0}, {1, 0}, {0, 1}}};

TEST_CASE("which one comes first does not matter in the order that pace draws", "[order]") {
  Work work;
  pace::timing::WallClock clock;
  pace::timing::Schedule schedule(2, pace::OperandPolicy::crossover, fresh_seed());
  constexpr std::array names{"always first", "always second", "as pace draws it"};
  std::array<std::vector<double>, names.size()> ratios;
  const auto cycle = [&](std::span<const Turn> turns, std::vector<double>& into) {
    std::array<std::array<pace::Nanoseconds, 2>, 2> times{};
    for (std::size_t i = 0; i < turns.size(); ++i)
      times[turns[i].implementation][i / 2] = pace::timing::take_sample(clock, work, turns[i].operands, 1);
    into.push_back(pace::stats::log_ratio_of_cycle(times[0], times[1]));
  };
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(settings().long_form ? 60 : 5);
  // The three take turns, so that they see the same machine.
  while (std::chrono::steady_clock::now() < end) {
    cycle(first_first, ratios[0]);
    cycle(second_first, ratios[1]);
    cycle(schedule.next_cycle(), ratios[2]);
  }
  std::printf("\nOrder bias: identical code, %zu cycles each\n%-18s %10s %12s   interval at 95 %%\n", ratios[0].size(),
              "one side is", "it takes", "of chance");
  for (std::size_t i = 0; i < names.size(); ++i) {
    auto sorted = ratios[i];
    std::sort(sorted.begin(), sorted.end());
    const double error = std::sqrt(std::acos(-1.0) / 2 / static_cast<double>(sorted.size())) *
                         pace::stats::median_absolute_deviation(sorted);
    const auto interval = pace::stats::confidence_sequence(ratios[i], 0.025, 0.025);
    std::printf("%-18s %+9.4f%% %11.4f%%   [%+.4f%%, %+.4f%%]\n", names[i], 100 * pace::stats::median(sorted),
                100 * error, 100 * interval.low, 100 * interval.high);
  }
  std::fflush(stdout);
  const auto proven = pace::stats::confidence_sequence(ratios[2], check_error / 2, check_error / 2);
  CHECK(proven.low <= 0.0002);
  CHECK(proven.high >= -0.0002);
}

}  // namespace
