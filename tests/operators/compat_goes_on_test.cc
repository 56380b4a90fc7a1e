// A flow that goes on where an earlier process ended: its measurements, its output, its files, and the parts that it
// leaves alone.
#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <vector>

#include "pace/os/activity.hpp"
#include "pace/run/run_context.hpp"
#include "tests/operators/compat_dependencies.hpp"

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

namespace {

using Catch::Matchers::ContainsSubstring;
using pace::Outcome;
using pace::test::CompatFixture;
using pace::test::costs;
using pace::test::Earlier;
using pace::test::notice;
using pace::test::relu_of;
using pace::test::compat::Generation;

/// Stands for the death of a process.
struct Death {};

const std::string recorded = "Operator: aten.gather.default\ncnt: 1, ((T([2], f32), 0, T([1], i64)), {})\n" +
                             relu_of({1, 2, 3}) + "Operator: aten.neg.default\ncnt: 1, ((T([1], f32),), {})\n";

/// Runs the flow until its second sample of relu, where the process dies, then a fresh process.
std::string with_a_death(CompatFixture& fixture, Earlier& earlier, Generation generation) {
  const auto run = fixture.inductor->run;
  fixture.inductor->run = [&](const auto& call, const auto& tensors) {
    if (tensors[0].numel() == 2) throw Death();
    return run(call, tensors);
  };
  CHECK_THROWS_AS(fixture.run(generation), Death);
  earlier.ended = "aten.relu.default[1]";
  const auto summary = fixture.run(generation);
  CHECK(summary.operators == 2);
  CHECK(summary.samples == 3);
  CHECK(summary.errors == 1);
  return fixture.out.str();
}

TEST_CASE("new: the sample that ended a process is an error of the next, which says nothing twice") {
  Earlier earlier;
  CompatFixture fixture(recorded);
  CHECK(with_a_death(fixture, earlier, Generation::new_) ==
        "Skipping aten.gather.default, input generator nyi\n"
        "error aten.relu.default input 1: Error: inductor crashed: killed by signal 11\n"
        "aten.relu.default: inductor=2.0000x (2.0000-2.0000) took 10s\n"
        "aten.neg.default: inductor=2.0000x (2.0000-2.0000) took 5s\n"
        "Wrote operatorbench_torchbench_float32.csv\n");
  CHECK(fixture.err.str() == notice() + "aten.relu.default: 3 samples\naten.neg.default: 1 sample\n");
  CHECK(fixture.file("operatorbench_torchbench_float32.csv") ==
        "operator,inductor 20th,inductor 50th,inductor 80th,elapsed,eager abs,inductor abs\r\n"
        "aten.relu.default,2.000000,2.000000,2.000000,10.000000,2.00000000,1.00000000\r\n"
        "aten.neg.default,2.000000,2.000000,2.000000,5.000000,2.00000000,1.00000000\r\n");
  // Eager's first call, and one of each call without a known time.
  CHECK(fixture.runs_of("eager") == std::vector<std::string>{"1", "1", "2", "2", "3", "3", "1", "1"});
}

TEST_CASE("old: a line that is in the file is not written again") {
  Earlier earlier;
  CompatFixture fixture("Operator: aten.abs.default\ncnt: 1, ((T([1], f32),), {})\n" + recorded);
  const std::string line = ":\nInductor Speedups : [2.0, 2.0, 2.0]\n";
  const auto run = fixture.inductor->run;
  fixture.inductor->run = [&](const auto& call, const auto& tensors) {
    if (tensors[0].numel() == 2) throw Death();
    return run(call, tensors);
  };
  CHECK_THROWS_AS(fixture.run(Generation::old), Death);
  earlier.ended = "aten.relu.default[1]";
  (void)fixture.run(Generation::old);
  CHECK(fixture.file("timings_torchbench_allfloat32.txt") ==
        "aten.abs.default" + line + "aten.relu.default" + line + "aten.neg.default" + line);
  CHECK(fixture.out.str() == "Running aten.abs.default\nIter 0\naten.abs.default" + line +
                                 "\nSkipping aten.gather.default, input generator nyi\n"
                                 "Running aten.relu.default\nIter 0\nIter 1\nerror aten.relu.default\n"
                                 "inductor crashed: killed by signal 11\nIter 2\naten.relu.default" +
                                 line + "\nRunning aten.neg.default\nIter 0\naten.neg.default" + line + "\n");
}

TEST_CASE("every sample is a result: times, errors, and outputs that differ") {
  Earlier earlier;
  CompatFixture fixture(relu_of({1, 2, 3}));
  fixture.options.accuracy_checking = true;
  fixture.inductor->run = [](const auto& call, const auto& tensors) -> c10::IValue {
    if (tensors[0].numel() == 2) throw std::runtime_error("two is too many");
    const auto result = call.run(tensors).toTensor();
    return tensors[0].numel() == 3 ? result.sub(100) : result;
  };
  (void)fixture.run(Generation::new_);
  REQUIRE(earlier.kept.size() == 3);
  const auto& timed = earlier.kept[0];
  CHECK(timed.name == "aten.relu.default[0]");
  CHECK(timed["eager"].is_baseline);
  CHECK(timed["eager"].time->median == std::chrono::seconds(2));
  CHECK(timed["inductor"].samples == std::vector<pace::Nanoseconds>{std::chrono::seconds(1)});
  CHECK_THAT(timed.notes.at(0), ContainsSubstring("aten.relu.default(self=Float[1]"));
  CHECK(earlier.kept[1]["inductor"].outcome == Outcome::threw);
  CHECK(earlier.kept[1]["inductor"].message == "two is too many");
  CHECK(earlier.kept[2]["inductor"].outcome == Outcome::wrong);
  // A run that goes on counts the results handed to it.
  const auto again = fixture.run(Generation::new_);
  CHECK(again.samples == 2);
  CHECK(again.errors == 1);
  CHECK(again.mismatches == 1);
}

TEST_CASE("while models run, a watching process reads which sample, which model, and that calls are to be expected") {
  CompatFixture fixture(relu_of({1}));
  std::vector<std::string> seen;
  const auto note = [&](const auto& call, const auto& tensors) {
    const auto& now = *pace::activity();
    seen.push_back(std::string(now.comparison) + ' ' + std::to_string(now.implementation) +
                   (now.watched ? " watched" : ""));
    return call.run(tensors);
  };
  fixture.eager->run = fixture.inductor->run = note;
  (void)fixture.run(Generation::new_);
  CHECK(seen == std::vector<std::string>{"aten.relu.default[0] 0 watched", "aten.relu.default[0] 0 watched",
                                         "aten.relu.default[0] 1 watched"});
  CHECK(std::string(pace::activity()->comparison) == "");
}

TEST_CASE("a lost device is published before the flow ends") {
  Earlier earlier;
  CompatFixture fixture(relu_of({1, 2}));
  fixture.inductor->run = [](const auto&, const auto&) -> c10::IValue { throw pace::DeviceLost("an illegal address"); };
  CHECK_THROWS_AS(fixture.run(Generation::new_), pace::DeviceLost);
  REQUIRE(earlier.kept.size() == 1);
  CHECK(earlier.kept[0].lost_device == "an illegal address");
  CHECK_THAT(fixture.out.str(), ContainsSubstring("error aten.relu.default input 0: Error: an illegal address"));
}

TEST_CASE("values are the original's, but indices are valid") {
  CompatFixture fixture(
      "Operator: aten.max_pool2d_with_indices_backward.default\n"
      "cnt: 1, ((T([1, 1, 2, 2], f32), T([1, 1, 4, 4], f32), [2, 2], [2, 2], [0, 0], [1, 1], False, T([1, 1, 2, 2], "
      "i64)"
      "), {})\n"
      "Operator: aten.sigmoid_backward.default\ncnt: 1, ((T([64], f32), T([64], f32)), {})\n");
  std::vector<at::Tensor> outputs, indices;
  fixture.eager->run = [&](const auto& call, const auto& tensors) {
    (call.name() == "aten.sigmoid_backward.default" ? outputs : indices).push_back(tensors.back());
    return call.run(tensors);
  };
  CHECK(fixture.run(Generation::new_).errors == 0);
  CHECK(indices.at(0).lt(16).logical_and(indices.at(0).ge(0)).all().item<bool>());
  CHECK(outputs.at(0).abs().max().item<float>() > 1);  // no sigmoid returns that
}

}  // namespace
