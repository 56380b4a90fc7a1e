#include "pace/timing/clock.hpp"

#include <cstddef>
#include <cstdint>

#include <catch2/catch_test_macros.hpp>

#include "pace/timing/hardware_counter.hpp"
#include "pace/timing/phases.hpp"
#include "pace/timing/subject.hpp"
#include "pace/timing/wall.hpp"

namespace {

using pace::Nanoseconds;
using pace::timing::TwoClocks;

TEST_CASE("a stretch has the ticks between the readings of the clock, up to what passed during these") {
  TwoClocks sum;
  sum.add({.before = 1000, .at = Nanoseconds(10), .after = 1600},
          {.before = 9600, .at = Nanoseconds(110), .after = 9700});
  // 8000 at least, 8700 at most.
  CHECK(sum.ticks == 8350);
  CHECK(sum.tick_error == 350);
  CHECK(sum.by_clock == Nanoseconds(100));
  CHECK(sum.stretches == 1);
  sum.add({.before = 0, .at = Nanoseconds(200), .after = 10}, {.before = 110, .at = Nanoseconds(260), .after = 120});
  CHECK(sum.ticks == 8350 + 110);
  CHECK(sum.tick_error == 350 + 10);
  CHECK(sum.by_clock == Nanoseconds(160));
  CHECK(sum.stretches == 2);
}

TEST_CASE("a stretch that is shorter than the readings of its ends may have no ticks at all") {
  TwoClocks sum;
  sum.add({.before = 100, .at = Nanoseconds(1), .after = 200}, {.before = 200, .at = Nanoseconds(2), .after = 300});
  CHECK(sum.ticks == 100);
  CHECK(sum.tick_error == 100);
}

TEST_CASE("the wall clock reads the CPU's counter with each sample") {
  if (!pace::timing::has_steady_ticks()) SKIP("the CPU's counter does not tick at one rate");
  struct OneTick final : pace::timing::Subject {
    void run(std::size_t, std::int64_t) override {
      const auto start = pace::timing::hardware_ticks();
      while (pace::timing::hardware_ticks() == start) {
      }
    }
  } subject;
  pace::timing::WallClock clock;
  for (int i = 0; i < 2; ++i) {
    const Nanoseconds took = clock.sample(subject, 0, 1);
    const TwoClocks both = clock.last_sample();
    CHECK(both.by_clock == took);
    CHECK(both.stretches == 1);
    CHECK(both.ticks > 0);
    CHECK(both.tick_error < both.ticks);
  }
}

TEST_CASE("the wall clock's sample of phases is their sum, with a stretch for each") {
  struct TwoPhases final : pace::timing::Subject {
    pace::timing::Phases parts{{"forward", "backward"}};
    void run(std::size_t, std::int64_t iterations) override {
      for (; iterations > 0; --iterations)
        for (const std::size_t part : {0, 1}) {
          parts.begin(part);
          parts.end(part);
        }
    }
    [[nodiscard]] pace::timing::Phases* phases() override { return &parts; }
  } subject;
  pace::timing::WallClock clock;
  const Nanoseconds took = clock.sample(subject, 0, 3);
  const auto& times = subject.parts.times();
  REQUIRE(times.size() == 2);
  CHECK(took == times[0] + times[1]);
  if (pace::timing::has_steady_ticks()) CHECK(clock.last_sample().stretches == 6);
}

}  // namespace
