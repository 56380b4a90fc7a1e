// PyTorch's timer that times a launch, and the use of the times.
#include "benches/kernels/compat/timer.hpp"

#include <algorithm>
#include <functional>

#include "tests/gpu/fake_device.hpp"

#include <catch2/catch_test_macros.hpp>

using namespace std::chrono_literals;
using pace::Nanoseconds;
using pace::benches::kernels::compat::CompatibleTimer;
using pace::benches::kernels::compat::time_launch;
using pace::testing::FakeDevice;

namespace {

/// The third launch and each after it takes 2 ms, those before 1 ms.
struct Launches {
  FakeDevice device;
  int launches = 0;
  Nanoseconds time(CompatibleTimer timer) {
    device.launch_cost = Nanoseconds(0);
    return time_launch(device, timer, [this] { device.work(++launches <= 2 ? 1ms : 2ms); });
  }
  [[nodiscard]] long flushes() const { return std::ranges::count(device.log, "fill"); }
};

}  // namespace

TEST_CASE("Inductor's own: the least of all timed launches") {
  Launches subject;
  // The first launch is not timed; the second is, and takes 1 ms.
  CHECK(subject.time(CompatibleTimer::inductor) == Nanoseconds(1ms));
}

TEST_CASE("the profiler: the mean of what fits into 40 ms, without the flushes") {
  Launches subject;
  CHECK(subject.time(CompatibleTimer::profiler) == Nanoseconds(2ms));
  CHECK(subject.launches > 20);
  CHECK(std::ranges::count(subject.device.log, "start_trace") == 1);
}

TEST_CASE("do_bench: the median of what fits into 40 ms") {
  Launches subject;
  CHECK(subject.time(CompatibleTimer::do_bench) == Nanoseconds(2ms));
  CHECK(subject.launches > 20);
}
