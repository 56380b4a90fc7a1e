// Decisions that rest on times taken again and again: beside another process's times, and after pauses.
#include <cstddef>
#include <limits>
#include <optional>
#include <vector>

#include "pace/audit/persistence.hpp"
#include "pace/audit/time_pairs.hpp"
#include "pace/base/random.hpp"
#include "tests/support/fake_clock.hpp"

// After LibTorch, which has a CHECK of its own.
#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>
#include <catch2/generators/catch_generators_range.hpp>

namespace {

using pace::Nanoseconds;
using pace::detail::Persistence;
using pace::detail::persistence_of;
using pace::detail::slower_here;
using pace::detail::take_pairs;
using pace::detail::TimePair;
using pace::test::FakeClock;

constexpr Nanoseconds us{1e3}, ms{1e6}, s{1e9};
constexpr double share = 0.25;

/// Pairs where `slow` of `all` have the time `here`. The others have 51 us, as all have in the other process.
std::vector<TimePair> pairs_with(std::size_t slow, Nanoseconds here, std::size_t all = 24) {
  std::vector<TimePair> pairs(all, {51 * us, 51 * us});
  for (std::size_t i = 0; i < slow; ++i) pairs[i].here = here;
  return pairs;
}

}  // namespace

TEST_CASE("work is slower here if 20 of 24 pairs say so") {
  CHECK(slower_here(pairs_with(20, 85 * us), share));
  CHECK_FALSE(slower_here(pairs_with(19, 85 * us), share));
}

TEST_CASE("only a ratio beyond the limit counts") {
  CHECK(slower_here(pairs_with(24, 1.26 * 51 * us), share));
  CHECK_FALSE(slower_here(pairs_with(24, 1.24 * 51 * us), share));
}

TEST_CASE("few pairs decide nothing, however slow") {
  CHECK(slower_here(pairs_with(10, 1 * s, 10), share));
  CHECK_FALSE(slower_here(pairs_with(9, 1 * s, 9), share));
  CHECK_FALSE(slower_here({}, share));
}

TEST_CASE("what slows both processes alike makes nothing slower here") {
  std::vector<TimePair> pairs;
  pace::SplitMix64 random(1);
  for (int i = 0; i < 24; ++i) {
    const auto busy = static_cast<double>(1 + random.below(5));
    pairs.push_back({busy * 51 * us, busy * 50 * us});
  }
  CHECK_FALSE(slower_here(pairs, share));
}

TEST_CASE("bursts of other work that fall on one side of the pairs do not make the work slower here") {
  // A compiler that starts: while it runs, it slows everything else three times, and takes `busy` of the time.
  const Nanoseconds begins = GENERATE(0 * ms, 200 * ms), lasts = GENERATE(100 * ms, 400 * ms, 900 * ms);
  FakeClock clock;
  const auto pairs = take_pairs(clock, share, [&](std::size_t) {
    const bool busy = clock.now() >= begins && clock.now() < begins + lasts;
    clock.advance(1 * ms);
    return std::optional(TimePair{(busy ? 153 : 51) * us, 51 * us});
  });
  CHECK_FALSE(slower_here(pairs, share));
  // It ends as soon as no further pairs could change that.
  CHECK(clock.now() < begins + lasts + 5 * 61 * ms);
}

TEST_CASE("work that stays slower is found by pairs that are spread over more than a second") {
  FakeClock clock;
  const auto pairs = take_pairs(clock, share, [](std::size_t) { return std::optional(TimePair{69 * us, 51 * us}); });
  CHECK(pairs.size() == 24);
  CHECK(slower_here(pairs, share));
  CHECK(clock.now() > 1 * s);
}

TEST_CASE("pairs end when no more can be taken") {
  FakeClock clock;
  const std::size_t most = GENERATE(0, 1, 12);
  const auto pairs = take_pairs(clock, share, [&](std::size_t number) {
    return number < most ? std::optional(TimePair{2 * us, 1 * us}) : std::nullopt;
  });
  CHECK(pairs.size() == most);
}

TEST_CASE("the medians of pairs") {
  const std::vector<TimePair> pairs{{3 * us, 10 * us}, {1 * us, 30 * us}, {2 * us, 20 * us}};
  CHECK(median_of(pairs, &TimePair::here) == 2 * us);
  CHECK(median_of(pairs, &TimePair::there) == 20 * us);
}

namespace {

const auto without_limit = [] { return Nanoseconds(std::numeric_limits<double>::infinity()); };

}  // namespace

TEST_CASE("what lasts as long as an interruption does not persist, however many tries in a row fall into it") {
  FakeClock clock;
  const Nanoseconds interrupted = GENERATE(0 * ms, 10 * ms, 100 * ms, 1 * s);
  const auto is_slow = [&] {
    clock.advance(1 * ms);
    return clock.now() < interrupted;
  };
  CHECK(persistence_of(clock, is_slow, without_limit) == Persistence::passes);
}

TEST_CASE("a finding that still holds more than a second later persists") {
  FakeClock clock;
  int tries = 0;
  CHECK(persistence_of(clock, [&] { return ++tries > 0; }, without_limit) == Persistence::persists);
  CHECK(tries > 8);
  CHECK(clock.now() > 1 * s);
}

TEST_CASE("one try without the finding is enough to end it") {
  FakeClock clock;
  const int passes_at = GENERATE(range(1, 11));
  int tries = 0;
  CHECK(persistence_of(clock, [&] { return ++tries != passes_at; }, without_limit) == Persistence::passes);
  CHECK(tries == passes_at);
}

TEST_CASE("without time for the next pause it is unknown whether it persists") {
  FakeClock clock;
  const Nanoseconds deadline = GENERATE(0 * ms, 20 * ms, 500 * ms);
  CHECK(persistence_of(clock, [] { return true; }, [&] { return deadline - clock.now(); }) == Persistence::unknown);
  CHECK(clock.now() <= deadline);
}
