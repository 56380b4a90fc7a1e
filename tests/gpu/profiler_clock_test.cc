// The profiler, the wall and the host clock on a device that only keeps books, and the figures made of their times.
#include <array>

#include <catch2/catch_test_macros.hpp>

#include "pace/gpu/event.hpp"
#include "pace/gpu/graph.hpp"
#include "pace/gpu/overhead.hpp"
#include "pace/gpu/profiler.hpp"
#include "pace/gpu/synchronised_wall.hpp"
#include "tests/gpu/fake_device.hpp"

using namespace pace;
using namespace pace::gpu;
using namespace pace::timing;
using namespace std::chrono_literals;
using testing::FakeDevice;
using testing::FakeSubject;

TEST_CASE("resolutions are what empty samples read, or a floor where that is nothing") {
  FakeDevice device;
  CHECK(GraphClock(device).resolution() == 1ns);
  CHECK(EventClock(device).resolution() == 500ns);
  CHECK(SynchronisedWallClock(device).resolution() == 1ns);
  CHECK(HostClock(device).resolution() == 1ns);
}

TEST_CASE("the wall clock waits for the whole device, the host clock times what the host does") {
  FakeDevice device;
  device.launch_cost = 1us;
  FakeSubject subject{device, 3us};
  SynchronisedWallClock wall(device);
  HostClock host(device);
  // Reading the fake's clock takes 1 ns.
  CHECK(wall.time([&] { subject.run(0, 4); }) == 13us + 1ns);
  CHECK(host.sample(subject, 0, 4) == 4us + 1ns);
  // In batches of 32, with nothing queued before each.
  CHECK(host.sample(subject, 0, 64) == 64us + 2ns);
}

TEST_CASE("the profiler's time is that for which anything ran") {
  FakeDevice device;
  device.launch_cost = 5us;
  ProfilerClock clock(device);
  CHECK(clock.time([&] {
    device.work(3us);
    device.work(2us);
  }) == 5us);
  REQUIRE(clock.last().size() == 2);
  CHECK(span_of(clock.last()) == 7us);
  CHECK(clock.time([] {}) == 0us);
  CHECK_FALSE(device.tracing);

  const std::vector<Activity> overlapping{{.start = 0us, .duration = 10us, .stream = 1},
                                          {.start = 2us, .duration = 3us, .stream = 2},
                                          {.start = 8us, .duration = 4us, .stream = 2},
                                          {.start = 20us, .duration = 1us, .stream = 1}};
  CHECK(busy_time(overlapping) == 13us);
  CHECK(span_of(overlapping) == 21us);
}

TEST_CASE("the profiler's cold sample leaves the flushes out, and refuses calls that differ") {
  FakeDevice device;
  FakeSubject subject{device, 3us};
  ProfilerClock clock(device, {.cold = true});
  CHECK(clock.sample(subject, 0, 4) == 12us);
  CHECK(clock.last().size() == 4);
  CHECK(device.buffer_bytes == std::vector<std::size_t>{3000});
  struct Uneven final : FakeSubject {
    using FakeSubject::FakeSubject;
    void run(std::size_t /*set*/, std::int64_t /*iterations*/) override {
      if (++runs % 2 == 0) device.work(1us);
    }
  } uneven(device);
  CHECK_THROWS_AS(clock.sample(uneven, 0, 3), Error);
}

namespace {

/// Adds 300, 400, 500 ns in turn to a kernel of a microsecond; its first sample, which is not read, far more.
struct Adding final : pace::timing::Clock {
  int samples = 0;
  Nanoseconds time(FunctionRef<void()> /*body*/) override { return {}; }
  Nanoseconds sample(pace::timing::Subject& /*subject*/, std::size_t /*operands*/, std::int64_t iterations) override {
    const double each = samples % 4 == 0 ? 9000 : 1200 + 100 * (samples % 4);
    ++samples;
    return Nanoseconds(each * static_cast<double>(iterations));
  }
  [[nodiscard]] Nanoseconds now() const override { return {}; }
  [[nodiscard]] Nanoseconds resolution() override { return 1ns; }
  [[nodiscard]] std::string name() const override { return "adding"; }
};

}  // namespace

TEST_CASE("what a clock adds to a call is the median over kernels and rounds, and its error half their range") {
  FakeDevice device;
  FakeSubject one{device, 1us}, other{device, 1us};
  ProfilerClock profiler(device);
  Adding clock;
  const std::array<pace::timing::Subject*, 2> kernels{&one, &other};
  const ClockOverhead overhead = overhead_of(clock, profiler, kernels, 3, 8);
  CHECK(overhead.added == 400ns);
  CHECK(overhead.error == 100ns);
  CHECK(clock.samples == 8);

  // Without a recording the whole time would be taken for what the clock adds.
  FakeSubject nothing{device, 0us};
  const std::array<pace::timing::Subject*, 1> unseen{&nothing};
  CHECK_THROWS_AS(overhead_of(clock, profiler, unseen, 3, 8), Error);
}

TEST_CASE("what a clock adds is what it reads beyond the profiler, per call and per further kernel") {
  FakeDevice device;
  FakeSubject nothing{device, 1us};
  ProfilerClock profiler(device);
  struct Slow final : pace::timing::Clock {
    Nanoseconds time(FunctionRef<void()> /*body*/) override { return {}; }
    Nanoseconds sample(pace::timing::Subject& /*subject*/, std::size_t /*operands*/, std::int64_t iterations) override {
      return 1400ns * static_cast<double>(iterations);
    }
    [[nodiscard]] Nanoseconds now() const override { return {}; }
    [[nodiscard]] Nanoseconds resolution() override { return 1ns; }
    [[nodiscard]] std::string name() const override { return "slow"; }
  } slow;
  const Overhead overhead = measure_overhead(slow, profiler, nothing, 3, 8);
  CHECK(overhead.per_call == 400ns);
  CHECK(overhead.remove_from(10us, 3) == 8800ns);
  CHECK(overhead.remove_from(100ns, 1) == 0ns);
}
