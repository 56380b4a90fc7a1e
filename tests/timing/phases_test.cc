// Phases of an operation by every clock: each gets its own time, and the time between them goes to none.
#include <catch2/catch_test_macros.hpp>

#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <vector>

#include "pace/gpu/event.hpp"
#include "pace/gpu/graph.hpp"
#include "pace/gpu/multi_mode_clock.hpp"
#include "pace/timing/subject.hpp"
#include "tests/gpu/fake_device.hpp"

using namespace pace;
using namespace pace::gpu;
using namespace pace::timing;
using namespace std::chrono_literals;
using testing::FakeDevice;

namespace {

/// An iteration: 3 us of forward, 100 us of something, 7 us of backward. In backward the host waits for `waits`.
struct Step final : pace::timing::Subject {
  explicit Step(FakeDevice& on, bool fails = false) : device(on), throws(fails) {}

  FakeDevice& device;
  bool throws;
  Phases parts{{"forward", "backward"}};
  int iterations = 0;

  void run(std::size_t /*operands*/, std::int64_t calls) override {
    for (std::int64_t i = 0; i < calls; ++i) {
      ++iterations;
      parts.begin(0);
      device.work(3us);
      parts.end(0);
      device.work(100us);
      if (throws) throw std::runtime_error("between");
      parts.begin(1);
      device.work(7us);
      parts.end(1);
    }
  }
  [[nodiscard]] Phases* phases() override { return &parts; }
};

using Times = std::vector<Nanoseconds>;

}  // namespace

TEST_CASE("events around each phase, in the stream as the host comes to them, never behind a block") {
  FakeDevice device;
  Step step{device};
  EventClock clock(device);
  clock.warmed_up();
  // After the step that leads in, which is not timed, nothing is queued; a launch takes the host 1 us.
  CHECK(clock.sample(step, 0, 5) == 51us);
  CHECK(step.parts.times() == Times{16us, 35us});
  CHECK(step.iterations == 6);
  // Now the device waits for the host at every launch, and in backward from the end of the untimed part.
  device.launch_cost = 200us;
  CHECK(clock.sample(step, 0, 1) == 310us);
  CHECK(step.parts.times() == Times{203us, 107us});
  CHECK(device.blocks == 0);
}

TEST_CASE("event nodes around each phase in a graph; a cold one empties the cache before each") {
  for (const bool cold : {false, true}) {
    FakeDevice device;
    Step step{device};
    {
      GraphClock clock(device, {.cold = cold, .calls = 2});
      // Three launches of two steps; five steps count.
      CHECK(clock.sample(step, 0, 5) == 50us);
      CHECK(step.parts.times() == Times{15us, 35us});
      CHECK(clock.kernels_per_call() == 3);
      // The same graph again.
      CHECK(clock.sample(step, 0, 2) == 20us);
      CHECK(step.parts.times() == Times{6us, 14us});
    }
    CHECK(device.live == 0);
  }
}

TEST_CASE("the host's phases each start with nothing queued; the wall clock's end with nothing queued") {
  FakeDevice device;
  device.launch_cost = 2us;
  Step step{device};
  MultiModeClock clock(device);
  clock.select(ClockChoice::host);
  // Reading the fake clock takes 1 ns.
  CHECK(clock.sample(step, 0, 3) == 3 * (4us + 2ns));
  CHECK(step.parts.times() == Times{3 * (2us + 1ns), 3 * (2us + 1ns)});
  clock.select(ClockChoice::wall);
  CHECK(clock.sample(step, 0, 1) == 14us + 2ns);
  CHECK(step.parts.times() == Times{5us + 1ns, 9us + 1ns});
  clock.select(ClockChoice::profiler);
  CHECK_THROWS_AS(clock.sample(step, 0, 1), Unsupported);
}

TEST_CASE("a step that throws is not listened to any more") {
  FakeDevice device;
  Step step{device, true};
  EventClock clock(device);
  CHECK_THROWS_AS(clock.sample(step, 0, 1), std::runtime_error);
  const auto steps = device.steps;
  CHECK_THROWS_AS(step.run(0, 1), std::runtime_error);
  CHECK(device.steps == steps + 2);  // the two kernels, no events
}
