// The outcome of the choice among a kernel's configurations, by our own figures.
#include "pace/kernels/configurations.hpp"

#include <chrono>
#include <limits>
#include <sstream>
#include <string>
#include <vector>

#include "benches/kernels/compat/info_line.hpp"

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

namespace {

using namespace std::chrono_literals;
using Catch::Matchers::ContainsSubstring;
using pace::Nanoseconds;
using pace::kernel::behind_best;
using pace::kernel::best_of;
using pace::kernel::Configuration;
using pace::kernel::KernelTime;

Configuration configuration(const std::string& text, Nanoseconds hot, Nanoseconds cold) {
  Configuration made{.text = text};
  made.launch = {.registers = 40};
  made.hot = KernelTime{hot, hot, hot};
  made.cold = KernelTime{cold, cold, cold};
  return made;
}

Configuration spilling() {
  Configuration made{.text = "XBLOCK 8"};
  made.launch = {.local_bytes = 68};
  made.why_not = "it spills 17 words, more than 16";
  return made;
}

}  // namespace

TEST_CASE("the best is the fastest with an empty cache, or else with a full one; what was not timed is none") {
  std::vector<Configuration> all{spilling(), configuration("XBLOCK 1", 10us, 30us),
                                 configuration("XBLOCK 2", 12us, 25us)};
  CHECK(best_of(all)->text == "XBLOCK 2");
  for (auto& each : all) each.cold.reset();
  CHECK(best_of(all)->text == "XBLOCK 1");
  CHECK(best_of({spilling()}) == nullptr);
  CHECK(best_of({}) == nullptr);
}

TEST_CASE("how far the chosen one is behind the best") {
  std::vector<Configuration> all{configuration("XBLOCK 1", 10us, 30us), configuration("XBLOCK 2", 12us, 25us),
                                 spilling()};
  CHECK_FALSE(behind_best(all));
  all[1].chosen = true;
  CHECK(behind_best(all) == 0);
  all[1].chosen = false;
  all[0].chosen = true;
  CHECK(behind_best(all) == 30.0 / 25 - 1);
  all[0].chosen = false;
  all[2].chosen = true;
  CHECK_FALSE(behind_best(all));
}

TEST_CASE("all configurations of each kernel that has some, as a table") {
  pace::kernel::KernelReport report{.name = "bench", .device = "a GPU"};
  report.kernels.resize(2);
  auto& kernel = report.kernels[0];
  kernel.name = "triton_red_fused_0";
  kernel.configurations = {configuration("XBLOCK 1", 10us, 30us), configuration("XBLOCK 2", 12us, 25us), spilling()};
  kernel.configurations[0].chosen = true;
  report.kernels[1].name = "gemm";
  const auto printed = [&](bool colour) {
    std::ostringstream out;
    pace::kernel::print_configurations(report, out, colour);
    return out.str();
  };
  const std::string plain = printed(false);
  CHECK_THAT(plain,
             ContainsSubstring("triton_red_fused_0: 3 configurations; the chosen one takes 20 % longer than the best"));
  CHECK_THAT(plain, ContainsSubstring("*  XBLOCK 1"));
  CHECK_THAT(plain, ContainsSubstring("inf"));
  CHECK_THAT(plain, ContainsSubstring("XBLOCK 8 was not timed: it spills 17 words, more than 16\n"));
  CHECK_THAT(plain, !ContainsSubstring("gemm"));
  CHECK_THAT(plain, !ContainsSubstring("\033["));
  const std::string coloured = printed(true);
  const auto line = [&](const std::string& text) {
    const auto at = coloured.find(text);
    const auto begin = coloured.rfind('\n', at) + 1;
    return coloured.substr(begin, coloured.find('\n', at) - begin);
  };
  CHECK_THAT(line("XBLOCK 2"), ContainsSubstring("\033[32m"));
  CHECK_THAT(line("XBLOCK 1"), !ContainsSubstring("\033[32m"));
  kernel.configurations[0].chosen = false;
  kernel.configurations[1].chosen = true;
  CHECK_THAT(printed(false), ContainsSubstring("the chosen one is the best\n"));
  kernel.configurations[1].chosen = false;
  CHECK_THAT(printed(false), ContainsSubstring("the chosen one was not timed\n"));
}

TEST_CASE("a configuration's line as wrapper_benchmark has it, one that was not run among them") {
  using pace::benches::kernels::compat::configuration_line;
  CHECK(
      configuration_line({.milliseconds = 0.02, .gigabytes = 0.05, .registers = 32, .spills = 0, .shared_bytes = 64},
                         "XBLOCK: 1024, num_warps: 4") ==
      "  0.020ms    \t0.050 GB \t 2500.00GB/s   32 regs    0 spills        64 shared mem @ XBLOCK: 1024, num_warps: 4");
  const double never = std::numeric_limits<double>::infinity();
  CHECK(configuration_line(
            {.milliseconds = never, .gigabytes = 0.05, .registers = 255, .spills = 17, .shared_bytes = 0}, "XBLOCK: 8",
            false) == "  infms    \t0.050 GB \t    0.00GB/s  255 regs   17 spills         0 shared mem @ XBLOCK: 8");
}
