// Any step of a device clock may throw: nothing stays alive, blocked, captured or traced.
#include <catch2/catch_test_macros.hpp>

#include "benches/timers/do_bench.hpp"
#include "benches/timers/inductor.hpp"
#include "benches/timers/profiling.hpp"
#include "pace/gpu/event.hpp"
#include "pace/gpu/graph.hpp"
#include "pace/gpu/profiler.hpp"
#include "pace/gpu/synchronised_wall.hpp"
#include "tests/gpu/fake_device.hpp"

using namespace pace::gpu;
using namespace pace::timing;
using namespace std::chrono_literals;
using pace::testing::FakeDevice;
using pace::testing::FakeSubject;
using pace::testing::StepFailed;

namespace {

/// Fails every single step of `use` in turn; returns how many there are.
template <class Use>
std::size_t fail_each_step(Use&& use) {
  for (std::size_t step = 1;; ++step) {
    FakeDevice device;
    FakeSubject subject{device, 3us};
    device.fail_at = step;
    bool failed = false;
    try {
      use(device, subject);
    } catch (const StepFailed&) {
      failed = true;
    }
    INFO("step " << step << ": " << (device.log.empty() ? "" : device.log.back()));
    REQUIRE(device.live == 0);
    REQUIRE_FALSE(device.still_blocked());
    REQUIRE_FALSE(device.capturing);
    REQUIRE_FALSE(device.tracing);
    REQUIRE(device.current_stream() == FakeDevice::Stream{0});
    if (!failed) return step - 1;
  }
}

const pace::benches::timers::DoBench short_bench{.warm_up = pace::benches::timers::Milliseconds(0.01),
                                                 .repeat = pace::benches::timers::Milliseconds(0.02),
                                                 .flush_bytes = 64};

}  // namespace

TEST_CASE("event clock, blocked and not") {
  // Two events and a flag are made; blocked, recorded twice, run three times, looked at.
  CHECK(fail_each_step([](FakeDevice& device, FakeSubject& subject) {
          EventClock clock(device);
          clock.sample(subject, 0, 3);
          clock.warmed_up();
          clock.sample(subject, 0, 3);
        }) >= 15);
}

TEST_CASE("graph clock, hot and cold") {
  for (const bool cold : {false, true})
    CHECK(fail_each_step([cold](FakeDevice& device, FakeSubject& subject) {
            GraphClock clock(device, {.cold = cold, .calls = 3});
            clock.sample(subject, 0, 7);
            clock.sample(subject, std::vector<std::size_t>{1, 2}, 2);
            clock.time([&] { device.work(1us); });
          }) >= 30);
}

TEST_CASE("a failed capture leaves the clock usable, and the earlier graphs") {
  FakeDevice device;
  FakeSubject subject{device, 3us};
  GraphClock clock(device);
  CHECK(clock.sample(subject, 0, 2) == 6us);
  device.fail_at = device.steps + 1;
  CHECK_THROWS_AS(clock.sample(subject, 1, 2), StepFailed);
  device.fail_at = 0;
  CHECK(clock.sample(subject, 0, 2) == 6us);
  CHECK(clock.sample(subject, 1, 2) == 6us);
}

TEST_CASE("profiler, wall and host clock") {
  CHECK(fail_each_step([](FakeDevice& device, FakeSubject& subject) {
          ProfilerClock(device).time([&] { device.work(1us); });
          ProfilerClock(device, {.cold = true}).sample(subject, 0, 2);
          SynchronisedWallClock(device).time([&] { device.work(1us); });
          HostClock(device).sample(subject, 0, 40);
        }) >= 10);
}

TEST_CASE("compatible timers") {
  CHECK(fail_each_step([](FakeDevice& device, FakeSubject&) {
          const auto call = [&] { device.work(1us); };
          static_cast<void>(pace::benches::timers::do_bench(device, call, short_bench));
          static_cast<void>(pace::benches::timers::do_bench_using_profiling(device, call, short_bench));
          static_cast<void>(pace::benches::timers::do_bench_cudagraph(
              device, call, {.repeat = pace::benches::timers::Milliseconds(0.005)}));
          static_cast<void>(pace::benches::timers::inductor_benchmark(device, call, {.memory_warm_up = 2, .calls = 2}));
          static_cast<void>(
              pace::benches::timers::inductor_benchmark_graph(device, call, {.memory_warm_up = 2, .calls = 2}));
          static_cast<void>(pace::benches::timers::profiler_benchmark(device, call, {.memory_warm_up = 2, .calls = 2}));
        }) >= 100);
}
