#include "pace/kernels/report.hpp"

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_floating_point.hpp>

using namespace std::chrono_literals;
using Catch::Matchers::WithinRel;
using pace::Nanoseconds;
using pace::kernel::Kernel;
using pace::kernel::KernelReport;
using pace::kernel::KernelTime;

namespace {

Kernel kernel(Nanoseconds hot) {
  Kernel made;
  made.hot = KernelTime{hot, hot - 1us, hot + 1us};
  return made;
}

}  // namespace

TEST_CASE("kernels, copies and gaps explain the whole") {
  KernelReport report;
  report.kernels = {kernel(10us), kernel(25us)};
  Kernel in_place;
  in_place.profiled = KernelTime{5us, 4us, 6us};
  in_place.why_not_alone = "it waits";
  report.kernels.push_back(in_place);
  report.fills = 1;
  report.copying = 2us;
  report.gap = 500ns;
  report.whole = 40us;
  CHECK(report.sum() == 40us);
  CHECK(report.gaps() == 1500ns);
  CHECK_THAT(report.explained(), WithinRel(43.5 / 40));
  CHECK_THAT(report.share_of(report.kernels[1]), WithinRel(25.0 / 40));
  CHECK_THAT(report.share_of(report.kernels[2]), WithinRel(5.0 / 40));
  // A kernel that runs several times counts as often.
  report.kernels[2].runs = 3;
  CHECK(report.sum() == 50us);
  CHECK_THAT(report.share_of(report.kernels[2]), WithinRel(15.0 / 50));
  CHECK(KernelReport().explained() == 0);
}

TEST_CASE("on the CPU, kernels and the rest are the whole, and the rest is never negative") {
  KernelReport report{.name = "block", .by_ranges = true};
  report.kernels = {kernel(10us), kernel(30us)};
  report.whole = 100us;
  CHECK(report.unlisted() == 60us);
  CHECK_THAT(report.unlisted_share(), WithinRel(0.6));
  CHECK_THAT(report.share_of(report.kernels[1]), WithinRel(0.3));
  report.whole = 20us;
  CHECK(report.unlisted() == 0us);
  CHECK(report.unlisted_share() == 0);
  CHECK_THAT(report.share_of(report.kernels[1]), WithinRel(0.75));
  report.kernels.clear();
  CHECK(report.unlisted_share() == 1);
  // The rest of a graph beside its kernels is gaps, copies and other nodes.
  report.by_ranges = false;
  CHECK(report.unlisted() == 0us);
}

TEST_CASE("bandwidth is of the time that memory takes") {
  Kernel made = kernel(10us);
  CHECK_FALSE(made.bandwidth());
  made.bytes = 1e6;
  CHECK_THAT(*made.bandwidth(), WithinRel(1e11));
  made.cold = KernelTime{20us, 19us, 21us};
  CHECK_THAT(*made.bandwidth(), WithinRel(5e10));
  CHECK(made.time() == 10us);
  made.cold.reset();
  made.hot.reset();
  CHECK_FALSE(made.bandwidth());
  made.profiled = KernelTime{4us, 3us, 5us};
  CHECK_THAT(*made.bandwidth(), WithinRel(2.5e11));
}

TEST_CASE("spills are counted in words, shared memory in all") {
  pace::kernel::Launch launch;
  launch.local_bytes = 120;
  launch.static_shared_bytes = 16;
  launch.dynamic_shared_bytes = 2048;
  CHECK(launch.spills() == 30);
  CHECK(launch.shared_bytes() == 2064);
}
