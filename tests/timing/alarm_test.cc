// The alarm of real time: that it rings, once, unless it is cancelled. How long that takes no test can ask.
#include <catch2/catch_test_macros.hpp>

#include <semaphore>

#include "pace/timing/alarm.hpp"

using namespace std::chrono_literals;
using pace::timing::Alarm;

TEST_CASE("an alarm rings from a thread of its own, each time it is set") {
  std::counting_semaphore<> rung{0};
  int rings = 0;
  Alarm alarm([&] {
    ++rings;
    rung.release();
  });
  CHECK_FALSE(alarm.cancel());
  int expected = 0;
  for (const auto after : {pace::Nanoseconds(1ns), pace::Nanoseconds(1ns), pace::Nanoseconds(50ms)}) {
    alarm.set(after);
    rung.acquire();
    CHECK(alarm.cancel());
    CHECK(rings == ++expected);
  }
}

TEST_CASE("an alarm that is cancelled, set anew or destroyed does not ring") {
  bool rang = false;
  {
    Alarm alarm([&] { rang = true; });
    alarm.set(24h);
    CHECK_FALSE(alarm.cancel());
    alarm.set(24h);
    alarm.set(48h);
  }
  CHECK_FALSE(rang);
}
