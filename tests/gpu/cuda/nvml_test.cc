// Readings of NVML, with a library that stands in for it; needs neither a GPU nor the toolkit.
#include "pace/gpu/cuda/nvml.hpp"
#include "pace/gpu/cuda/energy_recorder.hpp"
#include "pace/gpu/cuda/sharing.hpp"

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_floating_point.hpp>
#include <chrono>
#include <cstdlib>
#include <string>
#include <vector>

using namespace pace::cuda;

namespace {

[[nodiscard]] std::string fake_library() {
  const char* const path = std::getenv("FAKE_NVML");
  return path == nullptr ? "./tests/gpu/cuda/libfake_nvml.so" : path;
}

/// A variable of the environment, for its lifetime.
class Variable {
 public:
  Variable(const char* name, const char* value) : name_(name) { ::setenv(name, value, 1); }
  Variable(const Variable&) = delete;
  ~Variable() { ::unsetenv(name_); }

 private:
  const char* name_;
};

/// Who shares the fake GPU with process `own`, whose driver has processes 100, 200 and 300.
[[nodiscard]] pace::timing::GpuSharing sharing_with(unsigned own, const std::string& name = "NVIDIA H200") {
  const auto nvml = Nvml::open("0000:18:00.0", fake_library().c_str());
  return find_sharing(name, &*nvml, std::chrono::seconds(1), own, "/nowhere");
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
  const GpuState clock = nvml->clock_state();
  CHECK(clock.sm_megahertz == 1980u);
  CHECK(clock.reasons == 0x5u);
  CHECK_FALSE(clock.watts);
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

TEST_CASE("other processes on the GPU are named with what they used") {
  const Variable uses("FAKE_NVML_USES", "40");
  const auto found = sharing_with(100);
  CHECK(found.who ==
        std::vector<std::string>{"process 200, which used 40 % of it", "process 300, which used 0 % of it"});
  CHECK(found.processes == 2);
  REQUIRE(found.others);
  CHECK_THAT(*found.others, Catch::Matchers::WithinRel(0.4, 1e-12));
}

TEST_CASE("in a container, which has other numbers of processes, the busiest one is this") {
  const Variable uses("FAKE_NVML_USES", "40");
  const auto found = sharing_with(7);
  CHECK(found.processes == 2);
  CHECK_THAT(found.others.value_or(-1), Catch::Matchers::WithinRel(0.4, 1e-12));
}

TEST_CASE("where the driver does not tell what others use, that is unknown") {
  const auto found = sharing_with(100);
  CHECK(found.who == std::vector<std::string>{"process 200", "process 300"});
  CHECK(found.processes == 2);
  CHECK_FALSE(found.others);
}

TEST_CASE("an instance of MIG is named, and only processes on the same instance count") {
  const Variable instances("FAKE_NVML_INSTANCES", "1");
  const auto found = sharing_with(100, "NVIDIA H200 MIG 1g.18gb");
  CHECK(found.who == std::vector<std::string>{"this is an instance of MIG (NVIDIA H200 MIG 1g.18gb), and all instances "
                                              "share power and clocks",
                                              "process 200 on another instance", "process 300"});
  CHECK(found.processes == 1);
}

TEST_CASE("a client of MPS is named as one") {
  const Variable pipes("CUDA_MPS_PIPE_DIRECTORY", "/nowhere");
  const Variable mps("FAKE_NVML_MPS", "1");
  CHECK(sharing_with(100).who.front() == "by MPS, whose clients run kernels at the same time");
  CHECK(sharing_with(200).who.front() == "process 100");
}

TEST_CASE("without NVML, nobody is known to share a whole GPU") {
  const Variable pipes("CUDA_MPS_PIPE_DIRECTORY", "/nowhere");
  CHECK(find_sharing("NVIDIA H200", nullptr, std::chrono::seconds(1)).who.empty());
  CHECK(find_sharing("NVIDIA H200 MIG 1g.18gb", nullptr, std::chrono::seconds(1)).who.size() == 1);
}

TEST_CASE("a recording has each move of the counter of energy, in order") {
  const auto nvml = Nvml::open("0000:18:00.0", fake_library().c_str());
  REQUIRE(nvml->millijoules());
  EnergyRecorder recorder(*nvml);
  // Each reading moves the counter on, so that some moves follow however slow the thread is.
  for (int i = 0; i < 30; ++i) (void)nvml->millijoules();
  const auto moves = recorder.stop();
  for (std::size_t i = 1; i < moves.size(); ++i) {
    CHECK(moves[i].at >= moves[i - 1].at);
    CHECK(moves[i].millijoules > moves[i - 1].millijoules);
  }
  CHECK(recorder.stop().empty());
  const Variable none("FAKE_NVML_NO_ENERGY", "1");
  CHECK_FALSE(nvml->millijoules());
}
