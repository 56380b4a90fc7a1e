// How benches/kernels reads a recording of LibTorch's profiler, on synthetic records.
#include "benches/kernels/profile.hpp"

#include <catch2/catch_test_macros.hpp>

#include <algorithm>
#include <sstream>
#include <string>
#include <vector>

using namespace std::chrono_literals;
using pace::Nanoseconds;
using pace::benches::kernels::key_averages;
using pace::benches::kernels::Profile;
using pace::benches::kernels::ProfiledEvent;

namespace {

ProfiledEvent host(const std::string& name, Nanoseconds start, Nanoseconds duration, std::uint64_t thread = 1,
                   const std::string& shapes = {}) {
  return {.name = name, .shapes = shapes, .thread = thread, .start = start, .duration = duration};
}

ProfiledEvent device(const std::string& name, Nanoseconds start, Nanoseconds duration) {
  return {.name = name, .start = start, .duration = duration, .on_device = true};
}

}  // namespace

TEST_CASE("a name's own time is without what lies inside it, its total with that, once") {
  const std::vector<ProfiledEvent> events{
      host("aten::mm", 12us, 5us),
      host("aten::linear", 10us, 10us),
      host("aten::t", 10us, 1us),
      host("aten::linear", 30us, 6us),
      host("aten::mm", 11us, 50us, 2),  // of another thread: not inside
      host("aten::copy_", 40us, 8us),
      host("aten::copy_", 41us, 3us),  // calls itself
      host("aten::linear", 60us, 2us, 1, "[4]"),
  };
  const auto averages = key_averages(events);
  std::string text;
  for (const auto& each : averages)
    text += each.name + each.shapes + ' ' + std::to_string(each.calls) + ' ' +
            std::to_string(static_cast<int>(each.host_self.count() / 1e3)) + ' ' +
            std::to_string(static_cast<int>(each.host_total.count() / 1e3)) + "; ";
  CHECK(text == "aten::mm 2 55 55; aten::linear 2 10 16; aten::copy_ 2 8 8; aten::linear[4] 1 2 2; aten::t 1 1 1; ");
}

TEST_CASE("the device's longest come first, in ten rows") {
  std::vector<ProfiledEvent> events{host("aten::mm", 0us, 900us), device("gemm", 5us, 20us), device("add", 30us, 4us),
                                    device("add", 40us, 30us)};
  std::ostringstream out;
  pace::benches::kernels::print_key_averages(key_averages(events), out);
  const std::string text = out.str();
  INFO(text);
  CHECK(text.find("add") < text.find("gemm"));
  CHECK(text.find("gemm") < text.find("aten::mm"));
  for (int i = 0; i < 20; ++i) events.push_back(host("op" + std::to_string(i), Nanoseconds(1e6 * (i + 1)), 1us));
  std::ostringstream many;
  pace::benches::kernels::print_key_averages(key_averages(events), many);
  const std::string lines = many.str();
  CHECK(std::ranges::count(lines, '\n') == 11);
}

TEST_CASE("the device's kernels by name, or the kernels of the thread that ran the module") {
  const Profile profile{
      .events = {host("graph_0_cpp_fused_add_0", 1us, 4us), host("aoti_torch_cpu_addmm_out", 6us, 10us),
                 host("aten::copy_", 7us, 2us), host("graph_0_cpp_fused_add_0", 20us, 6us),
                 host("aten::relu", 2us, 1us, 9), device("triton_poi_0", 1us, 3us), device("triton_poi_0", 9us, 4us)},
      .thread = 1};
  const auto on_host = pace::benches::kernels::profiled_kernels(profile, true);
  REQUIRE(on_host.size() == 2);
  CHECK(on_host[0].name == "cpp_fused_add_0");
  CHECK(on_host[0].count == 2);
  CHECK(on_host[0].device_microseconds == 10);
  CHECK(on_host[1].name == "aoti_torch_cpu_addmm_out");
  CHECK(on_host[1].device_microseconds == 10);
  const auto on_device = pace::benches::kernels::profiled_kernels(profile, false);
  REQUIRE(on_device.size() == 1);
  CHECK(on_device[0].count == 2);
  CHECK(on_device[0].device_microseconds == 7);
}
