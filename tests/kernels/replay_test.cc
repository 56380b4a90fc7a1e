// Replays on a device that only keeps books.
#include "pace/kernels/replay.hpp"

#include <catch2/catch_test_macros.hpp>

#include "tests/gpu/fake_device.hpp"

using namespace std::chrono_literals;
using pace::Nanoseconds;
using pace::kernel::does_less_alone;
using pace::kernel::Replayer;
using pace::testing::FakeDevice;

TEST_CASE("a kernel is prepared once for each kind of sample, then launched alone") {
  FakeDevice device;
  Replayer replayer(device);
  replayer.calibrate([&] { device.work(2us); });
  int prepared = 0, launched = 0;
  const auto times = replayer.time([&] { ++prepared; },
                                   [&] {
                                     ++launched;
                                     device.work(7us);
                                   });
  CHECK(prepared == 8);  // to learn how long it takes, hot and profiled, three times each, and cold
  CHECK(launched > 8);
  CHECK(times.hot.median == 7us);
  CHECK(times.hot.least == 7us);
  CHECK(times.hot.most == 7us);
  REQUIRE(times.cold);
  CHECK(times.cold->median == 7us);
  REQUIRE(times.under_profiler);
  CHECK(times.under_profiler->by_profiler == 7us);
  CHECK(times.under_profiler->by_clock == 7us);
}

TEST_CASE("the middle, the least and the most of samples, less what the clock adds") {
  FakeDevice device;
  pace::kernel::ReplayOptions options;
  options.cold_launches = 0;
  options.samples = 3;
  options.least_launches = options.most_launches = 1;
  Replayer replayer(device, options);
  // Captured anew for each sample it would change; the first one captures, and all replay that.
  int captures = 0;
  const auto times = replayer.time([] {},
                                   [&] {
                                     if (device.capturing) ++captures;
                                     device.work(5us);
                                   });
  CHECK(captures == 1);
  CHECK(times.hot.median == 5us);
  CHECK(times.help == 0us);
  CHECK_FALSE(times.cold);
}

TEST_CASE("what the clock adds is measured with a short kernel, and taken away") {
  // A device whose kernels follow each other at a distance that no profiler counts.
  struct Gapped : FakeDevice {
    void work(Nanoseconds duration, const std::string& name = "kernel") {
      FakeDevice::work(duration, name);
      if (!tracing) FakeDevice::work(200ns, "gap");
    }
  } device;
  Replayer<FakeDevice> replayer(device);
  replayer.calibrate([&] { device.work(2us); });
  CHECK(replayer.gap() == 200ns);
  const auto times = replayer.time([] {}, [&] { device.work(9us); });
  CHECK(times.hot.median == 9us);
  REQUIRE(times.cold);
  CHECK(times.cold->median == 9us);
  CHECK(replayer.whole_time([&] { device.work(9us); }) == 9200ns);
}

TEST_CASE("what must come before each launch runs before each, and its time does not count") {
  FakeDevice device;
  Replayer replayer(device);
  replayer.calibrate([&] { device.work(2us); });
  int counter = 0;
  const auto times = replayer.time([] {},
                                   [&] {
                                     // Does nothing unless the counter was set to zero before.
                                     device.work(counter == 0 ? 8us : 1us);
                                     ++counter;
                                   },
                                   [&] {
                                     counter = 0;
                                     device.work(3us, "fill");
                                   });
  CHECK(times.hot.median == 8us);
  CHECK(times.help == 3us);
  REQUIRE(times.cold);
  CHECK(times.cold->median == 8us);
  REQUIRE(times.under_profiler);
  CHECK(times.under_profiler->by_profiler == 8us);
  CHECK(times.under_profiler->by_clock == 8us);
}

TEST_CASE("a kernel that does less alone than in its place is found out, one that merely has a warmer cache is not") {
  CHECK(does_less_alone(1300ns, 80us));
  CHECK(does_less_alone(2000ns, 5500ns));
  CHECK_FALSE(does_less_alone(1685ns, 2560ns));
  CHECK_FALSE(does_less_alone(15300ns, 16100ns));
}

TEST_CASE("a sample has so many launches that the first, on a rested device, hardly counts") {
  FakeDevice device;
  pace::kernel::ReplayOptions options;
  options.cold_launches = 0;
  const auto captured = [&](Nanoseconds duration) {
    Replayer replayer(device, options);
    std::int64_t launches = 0;
    static_cast<void>(replayer.time([] {},
                                    [&] {
                                      launches += device.capturing;
                                      device.work(duration);
                                    }));
    return launches;
  };
  CHECK(captured(50us) == 8 + 20);  // how long is one? Then a millisecond of them.
  CHECK(captured(1ms) == 8);        // the same
  CHECK(captured(1us) == 8 + 256);
}
