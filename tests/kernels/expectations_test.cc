#include "pace/kernels/expectations.hpp"

#include "pace/catch2.hpp"
#include "pace/kernels/knowledge.hpp"

#include <catch2/matchers/catch_matchers_exception.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

using namespace std::chrono_literals;
using Catch::Matchers::ContainsSubstring;
using pace::Verdict;
using pace::kernel::Kernel;
using pace::kernel::KernelReport;
using pace::kernel::KernelTime;

namespace {

KernelReport report() {
  KernelReport made;
  for (const char* name : {"add", "softmax"}) {
    auto& kernel = made.kernels.emplace_back();
    kernel.name = kernel.symbol = name;
    kernel.launch.emplace().registers = 32;
  }
  return made;
}

}  // namespace

TEST_CASE("numbers without noise pass or fail, and name the kernel") {
  KernelReport made = report();
  CHECK_THAT(made, pace::AtMost(pace::kernel::Count::spills, 0));
  CHECK_THAT(made, pace::AtMost(pace::kernel::Count::registers, 32));
  CHECK_THAT(made, pace::AtMost(pace::kernel::Count::kernels, 2));
  made.kernels[1].launch->local_bytes = 8;
  made.kernels[1].launch->registers = 255;
  const auto no_spills = pace::AtMost(pace::kernel::Count::spills, 0);
  CHECK_FALSE(no_spills.match(made));
  CHECK_THAT(made, !pace::AtMost(pace::kernel::Count::spills, 0) && pace::AtMost(pace::kernel::Count::kernels, 2));
  CHECK_THAT(no_spills.examine(made).text,
             ContainsSubstring("was expected to have at most 0 spills a thread\nfailed: softmax has 2 spills"));
  CHECK_THAT(made, pace::AtMost(pace::kernel::Count::spills, 2));
  CHECK_FALSE(pace::AtMost(pace::kernel::Count::spills, 1).match(made));
  CHECK(pace::AtMost(pace::kernel::Count::registers, 254).judge(made).message == "softmax has 255 registers");
  CHECK_THAT(made, pace::Exactly(pace::kernel::Count::kernels, 2) && !pace::Exactly(pace::kernel::Count::kernels, 3));
  CHECK_THAT(made, pace::AtMost(pace::kernel::Count::copies, 0) && pace::AtMost(pace::kernel::Count::fills, 0));
  made.copies = 3;
  CHECK(pace::AtMost(pace::kernel::Count::copies, 2).judge(made).message == "it has 3 copies");
  const auto judgement = pace::AtMost(pace::kernel::Count::kernels, 1).judge(made);
  CHECK(judgement.verdict == Verdict::failed);
  CHECK(judgement.message == "it has 2: add; softmax");
}

TEST_CASE("a judgement of a user's rule without a message gets one that names the rule and its verdict") {
  const pace::kernel::Expectation rule(
      {.description = "good luck", .judge = [](const KernelReport&) { return pace::Judgement(); }});
  CHECK(rule.judge(report()).message ==
        "the kernel report is judged invalid by the rule 'good luck', which gives no message; expected one with the "
        "measured and the expected figures");
}

TEST_CASE("a user's rule without a description or a function is refused") {
  using pace::kernel::Expectation;
  const auto says =
      Catch::Matchers::Message("an expectation of a kernel report needs a description and a function that judges");
  CHECK_THROWS_MATCHES(Expectation({.description = "good luck"}), pace::Error, says);
  CHECK_THROWS_MATCHES(Expectation({.judge = [](const KernelReport&) { return pace::Judgement(); }}), pace::Error,
                       says);
}

TEST_CASE("an unknown number passes nothing") {
  KernelReport made = report();
  made.kernels[0].launch.reset();
  CHECK(pace::AtMost(pace::kernel::Count::spills, 0).judge(made).verdict == Verdict::invalid);
  CHECK_FALSE(pace::AtMost(pace::kernel::Count::spills, 0).match(made));
  CHECK_FALSE((!pace::AtMost(pace::kernel::Count::spills, 0)).match(made));
  CHECK(pace::AtMost(pace::kernel::Count::spills, 0).judge(made).message == "the driver does not tell what add is");
  made.by_ranges = true;
  CHECK(pace::AtMost(pace::kernel::Count::spills, 0).judge(made).message ==
        "add runs on the CPU, where launches have no spills");
  CHECK(pace::AtMost(pace::kernel::Count::registers, 255).judge(made).verdict == Verdict::invalid);
  CHECK(pace::AtMost(pace::kernel::Count::copies, 9).judge(made).message ==
        "it runs on the CPU, where there are no copies");
  CHECK_THAT(made, pace::AtMost(pace::kernel::Count::kernels, 2));
  CHECK(pace::AtMost(pace::kernel::Count::spills, 0).judge(KernelReport()).verdict == Verdict::invalid);
  // A launch of none is known to be none; on the CPU silence says nothing.
  KernelReport silent;
  CHECK_THAT(silent, pace::AtMost(pace::kernel::Count::kernels, 0));
  silent.by_ranges = true;
  CHECK(pace::AtMost(pace::kernel::Count::kernels, 2).judge(silent).verdict == Verdict::invalid);
  CHECK(pace::AtMost(pace::kernel::Count::kernels, 2).judge(silent).message == "no kernel announced itself");
}

TEST_CASE("bandwidth is judged by all samples of all kernels whose bytes are known") {
  KernelReport made = report();
  const auto most = pace::BandwidthAtLeast(0.7);
  CHECK(most.judge(made).message == "the peak was not measured");
  made.peak_bandwidth = 1e12;  // bytes per second: 1000 a nanosecond
  CHECK(most.judge(made).verdict == Verdict::invalid);
  made.kernels[0].bytes = 8e6;
  made.kernels[0].hot = KernelTime{1us, 1us, 1us};
  made.kernels[0].cold = KernelTime{10us, 9us, 11us};
  CHECK_THAT(made, most);
  made.kernels[0].cold = KernelTime{11us, 10us, 12us};
  CHECK(most.judge(made).verdict == Verdict::undecided);
  CHECK_FALSE(most.match(made));
  made.kernels[0].cold = KernelTime{16us, 15us, 17us};
  CHECK(most.judge(made).verdict == Verdict::failed);
  CHECK_THAT(most.judge(made).message, ContainsSubstring("add reaches 50"));
  made.kernels[0].hot.reset();
  made.kernels[0].cold.reset();
  CHECK(most.judge(made).verdict == Verdict::invalid);
  made.kernels[0].profiled = KernelTime{10us, 9us, 11us};  // on the CPU: in its place
  CHECK_THAT(made, most);
  CHECK_THROWS_AS(pace::BandwidthAtLeast(70), pace::Error);
}

TEST_CASE("the first provider that knows a kernel is believed") {
  using pace::kernel::Category;
  using pace::kernel::Knowledge;
  Kernel kernel;
  kernel.symbol = "triton_poi_fused_add_0";
  const pace::kernel::Provider none = [](const Kernel&) { return std::nullopt; };
  const pace::kernel::Provider mine = [](const Kernel& asked) -> std::optional<Knowledge> {
    if (asked.symbol != "triton_poi_fused_add_0") return std::nullopt;
    return Knowledge{Category::template_, 12.0};
  };
  const pace::kernel::Provider late = [](const Kernel&) { return Knowledge{Category::foreach, 1.0}; };
  apply_knowledge({none}, kernel);
  CHECK(to_string(kernel.category) == "pointwise");
  CHECK_FALSE(kernel.bytes);
  apply_knowledge({none, mine, late}, kernel);
  CHECK(to_string(kernel.category) == "template");
  CHECK(kernel.bytes == 12.0);
  kernel.symbol = "sgemm";
  apply_knowledge({mine}, kernel);
  CHECK(to_string(kernel.category) == "unknown");
}

TEST_CASE("kernels that are not listed are not judged to be fine") {
  KernelReport made = report();
  made.peak_bandwidth = 1e12;
  made.kernels[0].bytes = 1e6;
  made.kernels[0].hot = KernelTime{1us, 1us, 1us};
  CHECK_THAT(made, pace::BandwidthAtLeast(0.5));
  made.conditionals = 1;
  const auto judged = [&](const auto& expectation) { return expectation.judge(made); };
  for (const auto& judgement :
       {judged(pace::AtMost(pace::kernel::Count::kernels, 2)), judged(pace::AtMost(pace::kernel::Count::spills, 0)),
        judged(pace::AtMost(pace::kernel::Count::registers, 32)), judged(pace::BandwidthAtLeast(0.5))}) {
    INFO(judgement.expectation);
    CHECK(judgement.verdict == Verdict::invalid);
    CHECK_FALSE(judgement.acceptable);
    CHECK_THAT(judgement.message,
               ContainsSubstring("not all that is in the bodies of conditional nodes is known; of the rest: "));
  }
  // The listed kernels alone are too many already.
  CHECK(judged(pace::AtMost(pace::kernel::Count::kernels, 1)).verdict == Verdict::failed);
  CHECK(judged(pace::AtMost(pace::kernel::Count::registers, 31)).verdict == Verdict::failed);
  // The number of kernels is known of those that ran, each as often as it ran.
  made.bodies_profiled = true;
  auto& body = made.kernels.emplace_back();
  body.name = "in_a_body";
  body.runs = 2.5;
  const auto five = judged(pace::AtMost(pace::kernel::Count::kernels, 5));
  CHECK(five.verdict == Verdict::passed);
  CHECK_THAT(five.message,
             ContainsSubstring("it has 5") &&
                 ContainsSubstring("in the bodies of conditional nodes those count that ran in this run"));
  CHECK(judged(pace::AtMost(pace::kernel::Count::kernels, 4)).verdict == Verdict::failed);
  CHECK(judged(pace::AtMost(pace::kernel::Count::copies, 0)).verdict == Verdict::invalid);
  CHECK(judged(pace::AtMost(pace::kernel::Count::spills, 0)).verdict == Verdict::invalid);
}
