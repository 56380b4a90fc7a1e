// The loop of operator_benchmark: its batches, its lines, and what it publishes.
#include "benches/operators/compat/execution_times.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <vector>

#include "benches/operators/cases.hpp"
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
  explicit Batches(double each, const compat::Doubling& doubling = {}) {
    times = compat::time_doubling([&] { return compat::Seconds(now); },
                                  [&](std::int64_t number) {
                                    iterations.push_back(number);
                                    now += each * static_cast<double>(number);
                                  },
                                  doubling);
  }
  double now = 5;
  std::vector<std::int64_t> iterations;
  std::vector<Nanoseconds> times;
};

TEST_CASE("iterations double until a batch takes longer than a second, after a hundred that are not timed") {
  const Batches milliseconds(1e-3);
  CHECK(milliseconds.iterations == std::vector<std::int64_t>{100, 100, 200, 400, 800, 1600});
  CHECK(milliseconds.times.size() == 5);
  for (const auto each : milliseconds.times) CHECK(std::abs(each / Nanoseconds(1ms) - 1) < 1e-9);
  CHECK(Batches(0.5).iterations == std::vector<std::int64_t>{100, 100});
}

TEST_CASE("a batch of more than a million iterations is the last one, however short") {
  CHECK(Batches(0).iterations.back() == 1'638'400);
  compat::Doubling doubling;
  doubling.most = 150;
  doubling.warm_up = 3;
  CHECK(Batches(0, doubling).iterations == std::vector<std::int64_t>{3, 100, 200});
}

TEST_CASE("the line has the median of the batches in microseconds") {
  CHECK(compat::execution_time_line(Pass::forward, {1us, 9us, 2us}) == "Forward Execution Time (us) : 2.000");
  CHECK(compat::execution_time_line(Pass::backward, {1us, 2us}) == "Backward Execution Time (us) : 1.500");
}

struct Run {
  explicit Run(const std::vector<pace::corpus::OperatorSamples>& cases, Pass pass, const std::string& backends,
               CompatFixture& fixture) {
    const auto corpus = pace::corpus::Corpus::from_samples(cases);
    operators::ReplayOptions options;
    options.pass = pass;
    options.backends = backends;
    const auto selection = operators::select(corpus, options, [](const std::string&) {});
    compat::Doubling doubling;
    doubling.most = 100;
    compat::ExecutionTimes flow(options, fixture.registry, fixture.timer, doubling, fixture.out, fixture.err);
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

TEST_CASE("only the original's two modes are back ends") {
  CompatFixture fixture(pace::test::relu_of({1}));
  const auto cases = CaseList("aten.relu.default", "relu").call("((T([4], f32),), {})").all_samples("cpu", "");
  CHECK_THROWS_WITH(Run(cases, Pass::forward, "eager,aot_inductor", fixture),
                    ContainsSubstring("expected eager, torchscript (the original's JIT mode) or both"));
}

}  // namespace
