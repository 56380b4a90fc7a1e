// The least time of a call from bandwidths that are made up.
#include <catch2/catch_approx.hpp>
#include <catch2/catch_test_macros.hpp>

#include <cstddef>
#include <optional>
#include <vector>

#include "pace/timing/host_bandwidth.hpp"

using Catch::Approx;
using pace::Nanoseconds;
using pace::timing::Bandwidths;
using pace::timing::HostBandwidth;

namespace {

/// 100 bytes a nanosecond in the first cache, a tenth of that from 256 kB on; stores at half of that.
std::optional<Bandwidths> made_up(std::size_t bytes) {
  const double read = bytes < (256 << 10) ? 100e9 : 10e9;
  return Bandwidths{read, read / 2};
}

}  // namespace

TEST_CASE("the least time is half of the time at the measured bandwidth") {
  HostBandwidth bandwidth(made_up);
  CHECK(bandwidth.least_time({.read = 64e3}, 1)->count() == Approx(320));
  CHECK(bandwidth.least_time({.written = 64e3}, 1)->count() == Approx(640));
  CHECK(bandwidth.least_time({}, 1)->count() == 0);
}

TEST_CASE("loads and stores may overlap: the slower of the two counts") {
  HostBandwidth bandwidth(made_up);
  CHECK(bandwidth.least_time({.read = 64e3, .written = 64e3}, 1)->count() == Approx(640));
  CHECK(bandwidth.least_time({.read = 64e3, .written = 8e3}, 1)->count() == Approx(320));
}

TEST_CASE("threads share the data, and each has caches of its own") {
  HostBandwidth bandwidth(made_up);
  CHECK(bandwidth.least_time({.read = 400e3}, 1)->count() == Approx(20'000));
  CHECK(bandwidth.least_time({.read = 400e3}, 2)->count() == Approx(1000));
}

TEST_CASE("a size is measured when it is needed, and the larger figure is kept") {
  std::vector<std::size_t> asked;
  double read = 10e9;
  HostBandwidth bandwidth([&](std::size_t bytes) -> std::optional<Bandwidths> {
    asked.push_back(bytes);
    return Bandwidths{read, 1e9};
  });
  const pace::timing::LeastTraffic traffic{.read = 32e3};
  CHECK(bandwidth.least_time(traffic, 1)->count() == Approx(1600));
  CHECK(bandwidth.least_time(traffic, 1)->count() == Approx(1600));
  CHECK(asked == std::vector<std::size_t>{16 << 10});
  read = 5e9;
  bandwidth.measure_again(traffic, 1);
  CHECK(bandwidth.least_time(traffic, 1)->count() == Approx(1600));
  read = 20e9;
  bandwidth.measure_again(traffic, 1);
  CHECK(bandwidth.least_time(traffic, 1)->count() == Approx(800));
  CHECK(asked.size() == 3);
}

TEST_CASE("where nothing can be measured, there is no least time") {
  HostBandwidth bandwidth([](std::size_t) -> std::optional<Bandwidths> { return std::nullopt; });
  CHECK_FALSE(bandwidth.least_time({.read = 64e3}, 1).has_value());
}

#if defined(__x86_64__)
TEST_CASE("stores of either width reach each byte up to the end, and none behind it") {
  constexpr std::size_t bytes = 1536, behind = 64;
  struct Store {
    bool supported;
    void (*store)(std::byte* to, std::size_t bytes);
  };
  bool tried = false;
  for (const auto& [supported, store] :
       {Store{__builtin_cpu_supports("avx2") != 0, pace::timing::detail::store_all_avx2},
        Store{__builtin_cpu_supports("avx512f") != 0, pace::timing::detail::store_all_avx512}}) {
    if (!supported) continue;
    tried = true;
    std::vector<std::byte> memory(bytes + behind, std::byte{1});
    store(memory.data(), bytes);
    for (std::size_t i = 0; i < memory.size(); ++i) REQUIRE(memory[i] == (i < bytes ? std::byte{0} : std::byte{1}));
  }
  if (!tried) SKIP("this processor has neither");
}
#endif

TEST_CASE("the loops touch all of the memory, and their time is what the clock says") {
  int timed = 0;
  const auto found = pace::timing::measure_host_bandwidth(16 << 10, [&](pace::FunctionRef<void()> body) {
    ++timed;
    body();
    return Nanoseconds(1e6);
  });
  if (!found) SKIP("the CPU has no AVX2");
  CHECK(timed >= 6);
  // 16 passes of 16 kB in a millisecond.
  CHECK(found->read == Approx(262'144e3));
  CHECK(found->write == Approx(262'144e3));
}
