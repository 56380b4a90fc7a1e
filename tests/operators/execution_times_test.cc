// The loop of operator_benchmark: its batches, its lines, and its results.
#include "benches/operators/compat/execution_times.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <vector>

#include "benches/operators/cases.hpp"
#include "pace/base/error.hpp"
#include "pace/os/activity.hpp"
#include "tests/operators/compat_dependencies.hpp"

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

namespace {

using Catch::Matchers::ContainsSubstring;
using pace::Nanoseconds;
using pace::benches::operators::CaseList;
using pace::benches::operators::Pass;
using pace::test::CompatFixture;
namespace compat = pace::test::compat;
namespace operators = pace::benches::operators;
using namespace std::chrono_literals;

/// Iterations of each batch, the warm-up first, where one takes `each`; and the times found.
struct Batches {
  explicit Batches(double each, const compat::Iterations& number = {}) {
    times = compat::time_doubling([&] { return compat::Seconds(now); },
                                  [&](std::int64_t made) {
                                    iterations.push_back(made);
                                    now += each * static_cast<double>(made);
                                  },
                                  number);
  }
  double now = 5;
  std::vector<std::int64_t> iterations;
  std::vector<Nanoseconds> times;
};

TEST_CASE("iterations double until a batch takes longer than a second") {
  const Batches milliseconds(1e-3);
  CHECK(milliseconds.iterations == std::vector<std::int64_t>{100, 200, 400, 800, 1600});
  CHECK(milliseconds.times.size() == 5);
  for (const auto each : milliseconds.times) CHECK(std::abs(each / Nanoseconds(1ms) - 1) < 1e-9);
  CHECK(Batches(0.5).iterations == std::vector<std::int64_t>{100});
}

TEST_CASE("a batch of more than a million iterations is the last one, however short") {
  CHECK(Batches(0).iterations.back() == 1'638'400);
  CHECK(Batches(0, {.most = 150}).iterations == std::vector<std::int64_t>{100, 200});
}

TEST_CASE("a number of iterations makes one batch, and more of them where a run needs a least time") {
  CHECK(Batches(1e-3, {.first = 7, .fixed = true}).iterations == std::vector<std::int64_t>{7});
  // 7 and 14 ms are less than 30 ms, and 49 ms are not.
  CHECK(Batches(1e-3, {.first = 7, .fixed = true, .least = compat::Seconds(0.03)}).iterations ==
        std::vector<std::int64_t>{7, 14, 28});
  // The batch of 1.6 s is long enough, but not the run.
  CHECK(Batches(1e-3, {.least = compat::Seconds(3.2)}).iterations.back() == 3200);
}

TEST_CASE("the lines have the median of the batches of each run in microseconds") {
  CHECK(compat::execution_time_lines(Pass::forward, {{1us, 9us, 2us}}) == "Forward Execution Time (us) : 2.000\n");
  CHECK(compat::execution_time_lines(Pass::backward, {{1us, 2us}, {3us}}) ==
        "Run: 0, Backward Execution Time (us) : 1.500\nRun: 1, Backward Execution Time (us) : 3.000\n");
}

TEST_CASE("a batch for programs is an object of JSON in milliseconds") {
  CHECK(compat::observer_line("add_M8_cpu", "Eager", 6500ns) ==
        "PyTorchObserver {\"type\":\"PyTorch_add_M8_cpu_Eager\",\"metric\":\"latency\",\"unit\":\"ms\","
        "\"value\":\"0.0065\"}");
}

struct Run {
  explicit Run(const std::vector<pace::corpus::OperatorSamples>& cases, Pass pass, const std::string& backends,
               CompatFixture& fixture, compat::Iterations number = {.most = 100}, bool for_observer = false) {
    const auto corpus = pace::corpus::Corpus::from_samples(cases);
    operators::ReplayOptions options;
    options.pass = pass;
    options.backends = backends;
    const auto selection = operators::select(corpus, options, [](const std::string&) {});
    compat::ExecutionTimes flow(options, fixture.registry, fixture.timer, number, for_observer, fixture.out,
                                fixture.err);
    summary = flow.run(selection);
  }
  compat::ExecutionTimes::Summary summary;
};

TEST_CASE("forward and backward of declared cases, in the words of operator_benchmark") {
  CompatFixture fixture(pace::test::relu_of({1}));
  fixture.eager->cost = [](std::int64_t) { return 0.004; };
  fixture.add("torchscript", [](std::int64_t) { return 0.02; });
  const auto cases = CaseList("aten.mul.Tensor", "mul")
                         .cross("M", {8})
                         .cross("device", {"cpu"})
                         .auto_set({0, 1})
                         .call("((T([{M}], f32), T([{M}], f32)), {})")
                         .all_samples("cpu", "");
  const Run run(cases, Pass::both, "eager,torchscript", fixture);
  CHECK(run.summary.tests == 8);
  CHECK(run.summary.errors == 0);
  const auto text = fixture.out.str();
  CHECK_THAT(text, ContainsSubstring("# Benchmarking PyTorch: mul\n"
                                     "# Mode: Eager\n"
                                     "# Name: mul_M8_cpu\n"
                                     "# Input: M: 8, device: cpu\n"
                                     "Forward Execution Time (us) : 4000.000\n\n"
                                     "# Benchmarking PyTorch: mul\n"
                                     "# Mode: JIT\n"
                                     "# Name: mul_M8_cpu\n"
                                     "# Input: M: 8, device: cpu\n"
                                     "Forward Execution Time (us) : 20000.000\n\n"));
  // A backward pass costs no simulated time, since it does not call the back end again.
  for (const char* suffix : {"_bwdall", "_bwd1", "_bwd2"})
    CHECK_THAT(text, ContainsSubstring("# Name: mul_M8_cpu" + std::string(suffix) +
                                       "\n# Input: M: 8, device: cpu\nBackward Execution Time (us) : 0.000\n"));
  // The GPU is waited for once in each batch of forward passes: the warm-ups', two of eager's, one of TorchScript's.
  const auto waits = std::ranges::count(fixture.dependencies.log, "wait");
  CHECK(waits == 2 + 2 + 1);
}

TEST_CASE("a test that fails has a line of its error, and the next one runs") {
  CompatFixture fixture(pace::test::relu_of({1}));
  fixture.eager->run = [](const operators::OperatorCall& call, const std::vector<at::Tensor>& tensors) -> c10::IValue {
    if (tensors[0].numel() == 4) throw std::runtime_error("no fours");
    return call.run(tensors);
  };
  const auto cases =
      CaseList("aten.relu.default", "relu").cross("M", {4, 8}).call("((T([{M}], f32),), {})").all_samples("cpu", "");
  const Run run(cases, Pass::forward, "eager", fixture);
  CHECK(run.summary.tests == 1);
  CHECK(run.summary.errors == 1);
  CHECK_THAT(fixture.err.str(), ContainsSubstring("error aten.relu.default[relu_M4]: eager: no fours"));
  CHECK_THAT(fixture.out.str(), ContainsSubstring("# Name: relu_M8\n"));
}

TEST_CASE("an operator without a backward pass is left out, and its forward pass is not") {
  CompatFixture fixture(pace::test::relu_of({1}));
  const auto cases = CaseList("aten.argmax.default", "argmax").call("((T([4], f32),), {})").all_samples("cpu", "");
  const Run run(cases, Pass::both, "eager", fixture);
  CHECK(run.summary.tests == 1);
  CHECK(run.summary.errors == 0);
  CHECK(run.summary.skipped == 1);
  CHECK_THAT(fixture.err.str(), ContainsSubstring("Skipping aten.argmax.default[argmax_bwd]: "));
}

TEST_CASE("a backward pass that is left out is no error of a run that goes on") {
  const pace::test::Earlier earlier;
  CompatFixture fixture(pace::test::relu_of({1}));
  const auto cases = CaseList("aten.argmax.default", "argmax").call("((T([4], f32),), {})").all_samples("cpu", "");
  for (int run = 0; run < 2; ++run) {
    CAPTURE(run);
    const auto summary = Run(cases, Pass::both, "eager", fixture).summary;
    CHECK(summary.tests == 1);
    CHECK(summary.errors == 0);
    CHECK(summary.skipped == 1);
  }
  CHECK(earlier.kept.size() == 1);
  // The forward pass was timed once, by the warm-up and a batch; gradients were sought by two calls in each run.
  CHECK(fixture.runs_of("eager").size() == 100 + 100 + 2 * 2);
}

TEST_CASE("each iteration beats, so that a long test is not taken for a call that hangs") {
  CompatFixture fixture(pace::test::relu_of({1}));
  const auto cases = CaseList("aten.relu.default", "relu").call("((T([4], f32),), {})").all_samples("cpu", "");
  const auto before = pace::activity()->beats;
  std::uint64_t longest = 0, last = before;
  fixture.eager->run = [&](const operators::OperatorCall& call, const std::vector<at::Tensor>& tensors) -> c10::IValue {
    longest += pace::activity()->beats == last;
    last = pace::activity()->beats;
    return call.run(tensors);
  };
  const Run forward(cases, Pass::forward, "eager", fixture, {.first = 50, .fixed = true});
  CHECK(forward.summary.tests == 1);
  CHECK(longest == 0);
  const auto between = pace::activity()->beats;
  const Run backward(cases, Pass::backward, "eager", fixture, {.warm_up = 0, .first = 1000, .fixed = true});
  CHECK(backward.summary.tests == 1);
  CHECK(pace::activity()->beats - between > 1000);
}

TEST_CASE("a device that is lost is published, and ends the flow") {
  const pace::test::Earlier earlier;
  CompatFixture fixture(pace::test::relu_of({1}));
  fixture.add("torchscript", [](std::int64_t) { return 0.02; });
  fixture.eager->run = [](const operators::OperatorCall& /*call*/,
                          const std::vector<at::Tensor>& /*tensors*/) -> c10::IValue {
    throw pace::DeviceLost("the GPU fell off the bus");
  };
  const auto cases = CaseList("aten.relu.default", "relu").call("((T([4], f32),), {})").all_samples("cpu", "");
  CHECK_THROWS_AS(Run(cases, Pass::forward, "eager,torchscript", fixture), pace::DeviceLost);
  REQUIRE(earlier.kept.size() == 1);
  CHECK(earlier.kept[0].lost_device == "the GPU fell off the bus");
  REQUIRE(earlier.kept[0].implementations.size() == 2);
  CHECK(earlier.kept[0].implementations[0].outcome == pace::Outcome::threw);
  CHECK(earlier.kept[0].implementations[1].outcome == pace::Outcome::unreached);
}

TEST_CASE("several runs have one warm-up, and a line each") {
  CompatFixture fixture(pace::test::relu_of({1}));
  fixture.eager->cost = [](std::int64_t) { return 0.004; };
  const auto cases = CaseList("aten.relu.default", "relu").call("((T([4], f32),), {})").all_samples("cpu", "");
  const compat::Iterations number{.warm_up = 3, .first = 5, .fixed = true, .runs = 2};
  const Run run(cases, Pass::forward, "eager", fixture, number);
  CHECK(run.summary.tests == 1);
  CHECK(fixture.runs_of("eager").size() == 3 + 5 + 5);
  CHECK_THAT(fixture.out.str(), ContainsSubstring("\nRun: 0, Forward Execution Time (us) : 4000.000\n"
                                                  "Run: 1, Forward Execution Time (us) : 4000.000\n\n"));
}

TEST_CASE("lines for programs stand in the place of those for people") {
  CompatFixture fixture(pace::test::relu_of({1}));
  fixture.eager->cost = [](std::int64_t) { return 0.004; };
  const auto cases = CaseList("aten.relu.default", "relu").call("((T([4], f32),), {})").all_samples("cpu", "");
  const Run run(cases, Pass::forward, "eager", fixture, {.most = 100}, /*for_observer=*/true);
  const std::string line =
      "PyTorchObserver {\"type\":\"PyTorch_relu_Eager\",\"metric\":\"latency\",\"unit\":\"ms\",\"value\":\"4.0";
  const auto text = fixture.out.str();
  CHECK_THAT(text, Catch::Matchers::StartsWith("# Benchmarking PyTorch: relu\n" + line));
  CHECK(std::ranges::count(text, '\n') == 1 + 2);
  CHECK_THAT(text, !ContainsSubstring("Execution Time"));
}

TEST_CASE("only the original's two modes are back ends") {
  CompatFixture fixture(pace::test::relu_of({1}));
  const auto cases = CaseList("aten.relu.default", "relu").call("((T([4], f32),), {})").all_samples("cpu", "");
  CHECK_THROWS_WITH(Run(cases, Pass::forward, "eager,aot_inductor", fixture),
                    ContainsSubstring("expected eager, torchscript (the original's JIT mode) or both"));
}

}  // namespace
