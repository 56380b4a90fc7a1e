// A step of the timing that fails costs no other step its figures.
#include "pace/kernels/timing_steps.hpp"

#include <catch2/catch_test_macros.hpp>

#include <cstddef>
#include <string>
#include <vector>

using namespace std::chrono_literals;
using pace::kernel::KernelReport;
using pace::kernel::KernelTime;
using pace::kernel::take_steps;
using pace::kernel::TimingSteps;

namespace {

/// Steps that write down that they were taken; the one of the name `fails` throws.
struct Fixture {
  Fixture() {
    report.kernels.resize(3);
    report.kernels[1].why_not_alone = "it waits";
    const auto step = [this](const std::string& name) {
      taken.push_back(name);
      if (name == fails) throw pace::Error("it failed\nwith a stack");
    };
    steps.profile = [=, this] {
      step("profile");
      report.profiled_span = 30us;
    };
    steps.measure_peak = [=] { step("peak"); };
    steps.prepare_replays = [=] { step("prepare"); };
    steps.time_whole = [=, this] {
      step("whole");
      report.whole = 25us;
    };
    steps.replay = [=, this](std::size_t i) {
      step("replay " + std::to_string(i));
      report.kernels[i].hot = KernelTime{5us, 5us, 5us};
    };
    steps.synchronise = [this] { taken.emplace_back("synchronise"); };
  }
  void run(const std::string& only_as_a_whole = "") { take_steps(report, only_as_a_whole, steps); }

  std::string fails;
  std::vector<std::string> taken;
  KernelReport report;
  TimingSteps steps;
};

using Names = std::vector<std::string>;

}  // namespace

TEST_CASE("all steps in their order, and only kernels that can be replayed are") {
  Fixture all;
  all.run();
  CHECK(all.taken == Names{"profile", "peak", "prepare", "whole", "replay 0", "replay 2"});
  CHECK(all.report.whole == 25us);
  CHECK(all.report.notes.empty());
  CHECK(all.report.kernels[0].why_not_alone.empty());
  CHECK(all.report.kernels[1].why_not_alone == "it waits");
}

TEST_CASE("without a profiler the kernels are timed alone") {
  Fixture all;
  all.fails = "profile";
  all.run();
  CHECK(all.taken == Names{"profile", "synchronise", "peak", "prepare", "whole", "replay 0", "replay 2"});
  CHECK(all.report.notes == Names{"the profiler has no times of the kernels in their place: it failed"});
  CHECK(all.report.kernels[2].hot);
}

TEST_CASE("without the memory's peak everything else is timed, and it is not measured unasked") {
  Fixture all;
  all.fails = "peak";
  all.run();
  CHECK(all.report.notes == Names{"the peak bandwidth of the memory could not be measured: it failed"});
  CHECK(all.report.kernels[2].hot);
  Fixture unasked;
  unasked.steps.measure_peak = {};
  unasked.run();
  CHECK(unasked.taken == Names{"profile", "prepare", "whole", "replay 0", "replay 2"});
}

TEST_CASE("a graph that is launched as a whole alone has the profiler's times") {
  Fixture all;
  all.run("in its place only");
  CHECK(all.taken == Names{"profile", "peak"});
  CHECK(all.report.whole == 30us);
  CHECK(all.report.kernels[0].why_not_alone == "in its place only");
  CHECK(all.report.kernels[1].why_not_alone == "it waits");
}

TEST_CASE("without replays the list has the profiler's times, and each kernel the reason") {
  Fixture all;
  all.fails = "prepare";
  all.run();
  CHECK(all.taken == Names{"profile", "peak", "prepare", "synchronise"});
  CHECK(all.report.whole == 30us);
  for (const std::size_t i : {0U, 2U})
    CHECK(all.report.kernels[i].why_not_alone == "no kernel of this graph could be replayed alone: it failed");
}

TEST_CASE("without a time of the whole it is the profiler's, and the kernels are timed") {
  Fixture all;
  all.fails = "whole";
  all.run();
  CHECK(all.report.whole == 30us);
  REQUIRE(all.report.notes.size() == 1);
  CHECK(all.report.kernels[2].hot);
}

TEST_CASE("a kernel that fails is a row with the reason, and the next one is timed") {
  Fixture all;
  all.fails = "replay 0";
  all.run();
  CHECK(all.taken == Names{"profile", "peak", "prepare", "whole", "replay 0", "synchronise", "replay 2"});
  CHECK(all.report.kernels[0].why_not_alone == "it failed");
  CHECK(all.report.kernels[2].hot);
}

TEST_CASE("on a lost device no further step is taken") {
  Fixture all;
  all.steps.time_whole = [] { throw pace::DeviceLost("an illegal address"); };
  CHECK_THROWS_AS(all.run(), pace::DeviceLost);
  CHECK(all.taken == Names{"profile", "peak", "prepare"});
  // A step has failed for another reason, and it turns out that it has broken the device.
  Fixture broken;
  broken.fails = "prepare";
  broken.steps.synchronise = [] { throw pace::DeviceLost("an illegal address"); };
  CHECK_THROWS_AS(broken.run(), pace::DeviceLost);
}
