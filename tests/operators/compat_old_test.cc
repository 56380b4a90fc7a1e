// The old generation's flow: its text, its file, which samples it takes.
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "tests/operators/compat_dependencies.hpp"

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers.hpp>
#include <catch2/matchers/catch_matchers_container_properties.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

namespace {

using Catch::Matchers::ContainsSubstring;
using pace::test::CompatFixture;
using pace::test::costs;
using pace::test::give_costs;
using pace::test::notice;
using pace::test::relu_of;
using pace::test::compat::Generation;

TEST_CASE("old: lines of text, and the same in a file that grows") {
  CompatFixture fixture(relu_of({1, 2, 3}));
  give_costs(fixture);
  const auto summary = fixture.run(Generation::old);
  CHECK(summary.operators == 1);
  CHECK(summary.samples == 3);
  CHECK(summary.errors == 0);
  const std::string result = "aten.relu.default:\nInductor Speedups : [1.4, 2.0, 2.6]\n";
  CHECK(fixture.out.str() == "Running aten.relu.default\nIter 0\nIter 1\nIter 2\n" + result + "\n");
  CHECK(fixture.file("timings_torchbench_allfloat32.txt") == result);
  (void)fixture.run(Generation::old);
  CHECK(fixture.file("timings_torchbench_allfloat32.txt") == result + result);
}

TEST_CASE("old: nvFuser's stand-in has a line of its own, with its own spacing") {
  CompatFixture fixture(relu_of({1, 2, 3}));
  give_costs(fixture);
  fixture.add("torchscript", [](std::int64_t) { return 2.0; });
  fixture.options.measure_nvfuser = true;
  fixture.options.suite = "timm";
  fixture.options.dtype = "float16";
  (void)fixture.run(Generation::old);
  // 2/2, 6/2, 4/2: quantiles 1.4, 2 and 2.6 again.
  CHECK(fixture.file("timings_timm_allfloat16.txt") ==
        "aten.relu.default:\nInductor Speedups : [1.4, 2.0, 2.6]\nNVFUSER Speedups :[1.4, 2.0, 2.6]\n");
  CHECK_THAT(fixture.err.str(), ContainsSubstring("no nvFuser; torchscript is measured in its place"));
}

TEST_CASE("old: one operator is printed, and no file written") {
  CompatFixture fixture(relu_of({1}) + "Operator: aten.neg.default\ncnt: 1, ((T([2], f32),), {})\n");
  fixture.options.op = "torch.ops.aten.neg.default";
  (void)fixture.run(Generation::old);
  CHECK(fixture.out.str() ==
        "Running aten.neg.default\nIter 0\naten.neg.default:\nInductor Speedups : [2.0, 2.0, 2.0]\n\n");
  CHECK_FALSE(std::filesystem::exists(fixture.options.output_directory));
  fixture.options.op = "aten.abs.default";
  CHECK_THROWS_AS(fixture.run(Generation::old), pace::InputError);
}

TEST_CASE("old: start-idx is added to max-samples, and numbers count from the first recorded sample") {
  CompatFixture fixture(relu_of({1, 2, 3, 4, 5}));
  fixture.options.start_idx = 1;
  fixture.options.max_samples = 2;
  (void)fixture.run(Generation::old);
  CHECK_THAT(fixture.out.str(), ContainsSubstring("default\nIter 1\nIter 2\naten"));
  // The first call of all, and the timed one.
  CHECK(fixture.runs_of("eager") == std::vector<std::string>{"2", "2", "3", "3"});
  fixture.options.start_idx = 7;
  CHECK(fixture.run(Generation::old).operators == 0);
}

TEST_CASE("old: an error takes two lines, and an operator without times is not heard of again") {
  CompatFixture fixture(relu_of({1, 2}) + "Operator: aten.neg.default\ncnt: 1, ((T([2], f32),), {})\n");
  fixture.inductor->run = [](const auto& call, const auto& tensors) -> c10::IValue {
    if (tensors[0].numel() == 2) throw std::runtime_error("two is\ntoo many");
    return call.run(tensors);
  };
  const auto summary = fixture.run(Generation::old);
  CHECK(summary.operators == 1);
  CHECK(summary.samples == 1);
  CHECK(summary.errors == 2);
  CHECK(fixture.out.str() ==
        "Running aten.relu.default\nIter 0\nIter 1\nerror aten.relu.default\ntwo is\ntoo many\n"
        "aten.relu.default:\nInductor Speedups : [2.0, 2.0, 2.0]\n\n"
        "Running aten.neg.default\nIter 0\nerror aten.neg.default\ntwo is\ntoo many\n");
}

TEST_CASE("some operators are left out with a line, convolutions without one, and unknown ones with a warning") {
  CompatFixture fixture(
      "Operator: aten.index.Tensor\ncnt: 1, ((T([2], f32), [T([1], i64)]), {})\n"
      "Operator: aten._unsafe_view.default\ncnt: 1, ((T([2], f32), [2]), {})\n"
      "Operator: aten._cudnn_rnn_flatten_weight.default\n"
      "cnt: 1, (([T([2], f32)], 4, 1, 2, 1, 0, 1, False, False), {})\n"
      "Operator: aten.convolution.default\n"
      "cnt: 1, ((T([1, 1, 2, 2], f32), T([1, 1, 1, 1], f32), None, [1, 1], [0, 0], [1, 1], False, [0, 0], 1), {})\n"
      "Operator: aten.no_such_thing.default\ncnt: 1, ((T([2], f32),), {})\n"
      "Operator: aten.embedding.default\ncnt: 1, ((T([2, 2], f32), T([2], i64)), {})\n");
  CHECK(fixture.run(Generation::old).operators == 0);
  CHECK(fixture.out.str() ==
        "Skipping aten.index.Tensor, input generator nyi\n"
        "Skipping aten._unsafe_view.default, non compute operator\n"
        "Skipping aten._cudnn_rnn_flatten_weight.default, no inductor impl\n"
        "Running aten.embedding.default\n");
  CHECK(fixture.err.str() ==
        notice() +
            "Evaluating an op name into an OpOverload: this LibTorch has no aten.no_such_thing.default\n"
            "Embedding inputs NYI\n");
  CHECK_THAT(fixture.dependencies.log, Catch::Matchers::IsEmpty());
}

TEST_CASE("what decides which operators have an implementation can be exchanged") {
  CompatFixture fixture(relu_of({1}));
  fixture.options.has_implementation = [](std::string_view) { return false; };
  (void)fixture.run(Generation::old);
  CHECK(fixture.out.str() == "Skipping aten.relu.default, no inductor impl\n");
}

TEST_CASE("inputs are converted as upstream converts them: every recorded type becomes the run's") {
  CompatFixture fixture("Operator: aten.sum.dim_IntList\ncnt: 1, ((T([2], f16), [0]), {'dtype': i64})\n");
  at::ScalarType input{}, result{};
  fixture.eager->run = [&](const auto& call, const auto& tensors) {
    const auto sum = call.run(tensors);
    input = tensors[0].scalar_type(), result = sum.toTensor().scalar_type();
    return sum;
  };
  (void)fixture.run(Generation::old);
  CHECK(input == at::kFloat);
  CHECK(result == at::kFloat);
  fixture.options.dtype = "float16";
  (void)fixture.run(Generation::old);
  CHECK(input == at::kHalf);
  CHECK(result == at::kLong);
}

TEST_CASE("channels-last reaches the models") {
  CompatFixture fixture("Operator: aten.relu.default\ncnt: 1, ((T([1, 2, 3, 4], f32),), {})\n");
  std::vector<std::int64_t> strides;
  fixture.inductor->run = [&](const auto& call, const auto& tensors) {
    strides = tensors[0].strides().vec();
    return call.run(tensors);
  };
  (void)fixture.run(Generation::old);
  CHECK(strides == std::vector<std::int64_t>{24, 12, 4, 1});
  fixture.options.channels_last = true;
  (void)fixture.run(Generation::old);
  CHECK(strides == std::vector<std::int64_t>{24, 1, 8, 2});
}

TEST_CASE("a file that cannot be opened, or written, is named") {
  CompatFixture fixture(relu_of({1}));
  fixture.options.output_directory = fixture.folder / "inputs.log";
  for (const auto generation : {Generation::old, Generation::new_}) {
    try {
      (void)fixture.run(generation);
      FAIL("the folder is a file");
    } catch (const pace::InputError& error) {
      CHECK_THAT(error.what(), ContainsSubstring((fixture.folder / "inputs.log").string() +
                                                 ": the folder cannot be made: Not a directory"));
    }
  }
  namespace compat = pace::test::compat;
  compat::TextFile full("/dev/full", compat::TextFile::Mode::append);
  try {
    full.write("text");
    FAIL("the disk is full");
  } catch (const pace::Error& error) {
    CHECK_THAT(error.what(), ContainsSubstring("cannot write '/dev/full': No space left on device"));
  }
}

}  // namespace
