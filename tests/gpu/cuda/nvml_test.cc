// Readings of NVML, with a library that stands in for it; needs neither a GPU nor the toolkit.
#include "pace/gpu/cuda/nvml.hpp"

#include <catch2/catch_test_macros.hpp>
#include <cstdlib>
#include <string>

using namespace pace::cuda;

namespace {

[[nodiscard]] std::string fake_library() {
  const char* const path = std::getenv("FAKE_NVML");
  return path == nullptr ? "./tests/gpu/cuda/libfake_nvml.so" : path;
}

}  // namespace

TEST_CASE("what the GPU reports is there, what it does not is absent") {
  const auto nvml = Nvml::open("0000:18:00.0", fake_library().c_str());
  REQUIRE(nvml);
  const GpuState state = nvml->state();
  CHECK(state.sm_megahertz == 1980u);
  CHECK(state.memory_megahertz == 3201u);
  CHECK_FALSE(state.celsius);
  CHECK(state.watts == 512.5);
  // By the older name of the function.
  CHECK(state.reasons == 0x5u);
}

TEST_CASE("without the library or the GPU there is no Nvml, and the driver has no version") {
  CHECK(Nvml::driver_version(fake_library().c_str()) == "580.65.06");
  CHECK(Nvml::driver_version("no_such_library.so") == "");
  CHECK_FALSE(Nvml::open("0000:18:00.0", "no_such_library.so"));
  CHECK_FALSE(Nvml::open("0000:19:00.0", fake_library().c_str()));
}

TEST_CASE("reasons have names, and only some of them slow work down unasked") {
  CHECK(clock_reasons(0x5) == std::vector<std::string_view>{"idle", "power limit"});
  CHECK(clock_reasons(0) == std::vector<std::string_view>{});
  CHECK(throttles(0x4));
  CHECK(throttles(0x40));
  CHECK_FALSE(throttles(0x1 | 0x2 | 0x10 | 0x100));
}
