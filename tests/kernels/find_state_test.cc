// The state that kernels must find before each launch, on a device that only keeps books and the CPU's memory.
#include "pace/kernels/find_state.hpp"

#include <catch2/catch_test_macros.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "tests/gpu/fake_device.hpp"

using namespace std::chrono_literals;
using pace::kernel::find_state;
using pace::kernel::KernelState;
using pace::kernel::MemoryDigest;
using pace::kernel::Replayer;
using pace::testing::FakeDevice;

namespace {

/// A few numbers that a kernel finds, and a kernel that works on them.
struct Fixture {
  Fixture() {
    replayer.calibrate([&] { device.work(2us); });
    digest.watch({{reinterpret_cast<std::uintptr_t>(numbers.data()), sizeof numbers}});
  }
  KernelState find(const std::function<void()>& launch, const std::function<void()>& help = {}) {
    return find_state(digest, at::kCPU, replayer, [&] { numbers = {4, 5, 6, 7}; }, launch, help);
  }

  alignas(8) std::array<std::int64_t, 4> numbers{};
  FakeDevice device;
  Replayer<FakeDevice> replayer{device};
  MemoryDigest digest{at::kCPU};
};

}  // namespace

TEST_CASE("a kernel that changes nothing needs nothing") {
  Fixture all;
  const auto state = all.find([&] { all.device.work(5us); });
  CHECK_FALSE(state.kept);
  CHECK(state.why_unknown.empty());
}

TEST_CASE("an output is no state: each launch writes the same values in the same time") {
  Fixture all;
  const auto state = all.find([&] {
    all.numbers[1] = 2 * all.numbers[0];
    all.device.work(5us);
  });
  CHECK_FALSE(state.kept);
}

TEST_CASE("memory that each launch changes is kept as the first one finds it") {
  Fixture all;
  const auto state = all.find([&] {
    all.numbers[2] *= 2;
    all.device.work(5us);
  });
  REQUIRE(state.kept);
  CHECK(state.kept->bytes() == sizeof all.numbers);
  all.numbers = {0, 0, 0, 0};
  state.kept->restore();
  CHECK(all.numbers == std::array<std::int64_t, 4>{4, 5, 6, 7});
}

TEST_CASE("a kernel whose results vary on the same memory is not said to work in place") {
  Fixture all;
  std::int64_t launches = 0;
  const auto varying = all.find([&] {
    all.numbers[1] = 2 * all.numbers[0] + ++launches;
    all.device.work(5us);
  });
  CHECK(varying.varies);
  // It may do so, and each launch finds the same values.
  REQUIRE(varying.kept);
  all.numbers = {0, 0, 0, 0};
  varying.kept->restore();
  CHECK(all.numbers == std::array<std::int64_t, 4>{4, 5, 6, 7});
  const auto in_place = all.find([&] {
    all.numbers[1] += 1;
    all.device.work(5us);
  });
  CHECK(in_place.kept);
  CHECK_FALSE(in_place.varies);
}

TEST_CASE("a counter that a launch uses up is kept, since the next launch ends at once") {
  Fixture all;
  const auto kernel = [&] {
    all.device.work(all.numbers[3] == 0 ? 1us : 8us);
    all.numbers[3] = 0;
  };
  const auto state = all.find(kernel);
  REQUIRE(state.kept);
  // With the state, all launches take the same time.
  const auto times = all.replayer.time([&] { all.numbers[3] = 7; }, kernel, {},
                                       [&] {
                                         state.kept->restore();
                                         all.device.work(3us, "copy");
                                       });
  CHECK(times.hot.median == 8us);
  CHECK(times.hot.least == 8us);
  CHECK(times.restoring == 3us);
  CHECK(times.help == 0us);
  REQUIRE(times.cold);
  CHECK(times.cold->median == 8us);
  CHECK(times.cold->least == 8us);
  REQUIRE(times.under_profiler);
  CHECK(times.under_profiler->by_profiler == 8us);
  CHECK(times.under_profiler->by_clock == 8us);
}

TEST_CASE("what a copy or a fill before each launch restores is no state") {
  Fixture all;
  const auto state = all.find(
      [&] {
        all.device.work(all.numbers[3] == 7 ? 8us : 1us);
        all.numbers[3] -= 1;
      },
      [&] {
        all.numbers[3] = 7;
        all.device.work(1us, "fill");
      });
  CHECK_FALSE(state.kept);
}

TEST_CASE("a cold cache is flushed after memory is restored, before the help and the kernel") {
  Fixture all;
  all.device.log_only = {"queue restore", "queue help", "queue kernel", "evict"};
  std::vector<std::string> captured;
  const auto note = [&](const char* what) {
    if (all.device.capturing) captured.emplace_back(what);
  };
  (void)all.replayer.time([] {},
                          [&] {
                            note("kernel");
                            all.device.work(8us);
                          },
                          [&] {
                            note("help");
                            all.device.work(1us, "help");
                          },
                          [&] {
                            note("restore");
                            all.device.work(1us, "restore");
                          });
  const std::vector<std::string> last(all.device.log.end() - 4, all.device.log.end());
  CHECK(last == std::vector<std::string>{"queue restore", "evict", "queue help", "queue kernel"});
  REQUIRE(captured.size() >= 3);
  CHECK(std::vector<std::string>(captured.end() - 3, captured.end()) ==
        std::vector<std::string>{"restore", "help", "kernel"});
}

TEST_CASE("both costs are told apart where there is help, too") {
  Fixture all;
  const auto times = all.replayer.time([] {}, [&] { all.device.work(8us); }, [&] { all.device.work(2us, "fill"); },
                                       [&] { all.device.work(3us, "copy"); });
  CHECK(times.hot.median == 8us);
  CHECK(times.help == 2us);
  CHECK(times.restoring == 3us);
  CHECK(times.cold->median == 8us);
  CHECK(all.replayer.whole_time([&] { all.device.work(9us); }, [&] { all.device.work(4us, "copy"); }) == 9us);
}
