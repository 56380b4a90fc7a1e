// --dynamic-batch-only: which models may run another batch than the one that it was made for.
#include "benches/models/run/run_model.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include <ATen/ops/add.h>
#include <ATen/ops/mul.h>
#include <ATen/ops/randn.h>
#include <ATen/ops/zeros.h>

#include "benches/models/run/varying_batch.hpp"
#include "tests/models/run_fakes.hpp"
#include "tests/models/run_rows.hpp"
#include "tests/models/run_samples.hpp"

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

namespace {

using namespace pace::benches::models;
using Catch::Matchers::ContainsSubstring;
using pace::test::cell;
using pace::test::run;

Settings any_batch(std::string backend, bool training = false) {
  Settings settings;
  settings.backends = {std::move(backend)};
  settings.training = training;
  settings.dynamic_batch = true;
  settings.repeat = 4;
  settings.warm_up_iterations = 1;
  return settings;
}

std::string status(const Row& row) { return cell<std::string>(row, "status"); }

TEST_CASE("a trace runs any batch, unless something made a number of it", "[models]") {
  for (const bool training : {false, true}) {
    for (const auto& entry : {pace::test::small_net(), pace::test::mlp()}) {
      const auto rows = run(entry, any_batch("torchscript", training));
      INFO(entry.name << ": " << rows[0].message);
      REQUIRE(status(rows[0]) == "pass");
    }
  }
  const auto refused = [](const ModelEntry& entry) {
    const auto row = run(entry, any_batch("torchscript"))[0];
    CHECK(status(row) == "fail_to_run");
    auto settings = any_batch("torchscript");
    settings.dynamic_batch = false;
    CHECK(status(run(entry, settings)[0]) == "pass");
    return row.message;
  };
  // Sizes are numbers in C++, and constants of the trace.
  CHECK_THAT(refused(pace::test::of_weights(
                 [](const at::Tensor& x, const at::Tensor& w) { return at::mul(x, w).view({x.size(0) * 3}); })),
             ContainsSubstring("made for a batch of 4, it is not right for one of 5: ") && ContainsSubstring("shape"));
  // It runs, and is wrong.
  CHECK_THAT(refused(pace::test::of_weights([](const at::Tensor& x, const at::Tensor& w) {
               return at::mul(at::mul(x, w), static_cast<double>(x.size(0)));
             })),
             ContainsSubstring("output 0 is off by"));
  CHECK_THAT(refused(pace::test::of_weights([](const at::Tensor& x, const at::Tensor& w) {
               return at::add(at::mul(x, w).sum(0, /*keepdim=*/true), at::zeros({x.size(0), 1}));
             })),
             ContainsSubstring("output 0 has sizes [4, 3], eager's has [5, 3]"));
}

/// A back end that keeps the first sizes of its inputs.
auto recording(std::vector<std::int64_t>& sizes) {
  return [&sizes](Instance instance, const MakeOptions& options) {
    auto made = pace::benches::models::detail::make_eager(std::move(instance), options);
    made.model.step.forward = [&sizes, forward = made.model.step.forward](torch::jit::Stack& inputs) {
      sizes.push_back(inputs[0].toTensor().size(0));
      return forward(inputs);
    };
    return made;
  };
}

TEST_CASE("rounds have batches of several sizes in turn, the same for all sides", "[models]") {
  for (const bool training : {false, true}) {
    for (const bool randomized : {false, true}) {
      std::vector<std::int64_t> first, second;
      const pace::test::AddedBackend one("one", recording(first)), other("other", recording(second));
      auto settings = any_batch("one", training);
      settings.backends.emplace_back("other");
      settings.repeat = 12;
      settings.randomize_input = randomized;
      settings.skip_accuracy_check = randomized;
      const auto rows = run(pace::test::mlp(), settings);
      INFO(rows[0].message << '\n' << rows[1].message);
      REQUIRE(status(rows[0]) == "pass");
      REQUIRE(status(rows[1]) == "pass");
      CHECK(cell<std::string>(rows[0], "batch_sizes") == "4 3 5");
      // Checks of values call each side at the model's own batch as often as they must, which differs.
      for (auto* seen : {&first, &second}) std::erase(*seen, 4);
      // First calls and rounds. How many calls on other values follow depends on the time that a side takes.
      constexpr std::ptrdiff_t of_rounds = 2 + 2 * 4;
      REQUIRE(std::ssize(first) >= of_rounds);
      REQUIRE(std::ssize(second) >= of_rounds);
      CHECK(std::equal(first.begin(), first.begin() + of_rounds, second.begin()));
      // Each as often as the others: 4 times in 12 rounds, beside the checks' calls.
      for (const std::int64_t size : {3, 5}) CHECK(std::ranges::count(first, size) >= 4);
      REQUIRE_FALSE(first.empty());
      CHECK(std::ranges::max(first) == 5);
      CHECK(std::ranges::min(first) == 3);
    }
  }
  auto settings = any_batch("torchscript");
  settings.dynamic_batch = false;
  CHECK_THROWS(cell<std::string>(run(pace::test::mlp(), settings)[0], "batch_sizes"));
}

TEST_CASE("a back end that is right for two sizes and wrong for the third has no figures", "[models]") {
  const auto wrong_at = [](std::int64_t size) {
    return pace::test::eager_but([](int) {},
                                 [size](c10::IValue value) {
                                   const at::Tensor output = value.toTensor();
                                   return c10::IValue(output.size(0) == size ? at::mul(output, 1.5) : output);
                                 });
  };
  const auto entry = pace::test::of_weights([](const at::Tensor& x, const at::Tensor& w) { return at::mul(x, w); });
  for (const std::int64_t size : {3, 5}) {
    const pace::test::AddedBackend wrong("wrong", wrong_at(size));
    const auto row = run(entry, any_batch("wrong"))[0];
    CHECK(status(row) == "fail_to_run");
    CHECK(cell<double>(row, "speedup") == 0);
    CHECK_THAT(row.message, ContainsSubstring("made for a batch of 4, it is not right for one of " +
                                              std::to_string(size) + ": output 0 is off by"));
  }
  // Random numbers that the back end alone draws excuse no values.
  const pace::test::AddedBackend drawing("drawing", [&](Instance instance, const MakeOptions& options) {
    auto made = wrong_at(5)(std::move(instance), options);
    made.model.step.forward = [forward = made.model.step.forward](torch::jit::Stack& inputs) mutable {
      (void)at::randn({1});
      return forward(inputs);
    };
    return made;
  });
  CHECK_THAT(run(entry, any_batch("drawing"))[0].message,
             ContainsSubstring("it is not right for one of 5: output 0 is off by"));
  const pace::test::AddedBackend right("right", wrong_at(6));
  CHECK(status(run(entry, any_batch("right"))[0]) == "pass");
}

TEST_CASE("the sizes of a schedule lie around the model's own, within what all sides take", "[models]") {
  using Sizes = std::vector<std::int64_t>;
  const auto around = BatchSchedule::sizes_around;
  const std::int64_t any = std::numeric_limits<std::int64_t>::max();
  CHECK(around(100, {2, any}) == Sizes{80, 90, 110, 120});
  CHECK(around(128, {2, any}) == Sizes{102, 115, 141, 154});
  CHECK(around(64, {2, any}) == Sizes{51, 57, 70, 77});
  CHECK(around(4, {2, any}) == Sizes{3, 5});
  CHECK(around(2, {2, any}) == Sizes{3});
  CHECK(around(100, {96, 104}) == Sizes{96, 98, 102, 104});
  CHECK(around(100, {100, 100}).empty());
  // Multiples alone, with at least those next to the own one.
  CHECK(around(100, {2, any, 4}) == Sizes{80, 88, 108, 120});
  CHECK(around(101, {2, any, 4, 1}) == Sizes{81, 89, 109, 121});
  CHECK(around(10, {2, any, 4, 2}) == Sizes{6, 14});
  CHECK(around(4, {4, 8, 4}) == Sizes{8});

  // A side that takes even sizes, beside one that takes multiples of three.
  const auto takes = [](std::int64_t step) {
    return [step](Instance instance, const MakeOptions& options) {
      auto made = pace::benches::models::detail::make_eager(std::move(instance), options);
      made.batches = {.low = 2, .step = step};
      return made;
    };
  };
  const pace::test::AddedBackend even("even", takes(2)), threes("threes", takes(3));
  auto of_both = any_batch("even");
  of_both.backends.emplace_back("threes");
  of_both.batch_size = 12;
  for (const auto& each : run(pace::test::mlp(), of_both)) {
    CHECK(status(each) == "pass");
    CHECK(cell<std::string>(each, "batch_sizes") == "12 6 18");
  }

  // A side that takes no more than four.
  const pace::test::AddedBackend bounded("bounded", [](Instance instance, const MakeOptions& options) {
    auto made = pace::benches::models::detail::make_eager(std::move(instance), options);
    made.batches.high = 4;
    return made;
  });
  auto row = run(pace::test::mlp(), any_batch("bounded"))[0];
  CHECK(status(row) == "pass");
  CHECK(cell<std::string>(row, "batch_sizes") == "4 3");
  auto settings = any_batch("bounded");
  settings.batch_size = 1;
  std::string log;
  row = run(pace::test::mlp(), settings, &log)[0];
  CHECK(status(row) == "pass");
  CHECK(cell<std::string>(row, "batch_sizes") == "1");
  CHECK_THAT(log, ContainsSubstring("mlp: there is no other batch that it could be timed with"));
}

TEST_CASE("sizes of batches lie in a range and leave a remainder", "[models]") {
  const BatchRange odd{.low = 5, .high = 128, .step = 2, .remainder = 1};
  CHECK(odd.has(5));
  CHECK(odd.has(127));
  for (const std::int64_t other : {3, 6, 128, 129}) CHECK_FALSE(odd.has(other));
  CHECK(odd.at_most(1000) == 127);
  CHECK(odd.at_most(8) == 7);
  CHECK(odd.at_most(4) == std::nullopt);
  CHECK(odd.to_string() == "5, 7, ..., 127");
  CHECK(BatchRange().to_string() == "1 or more");
  CHECK(BatchRange{.low = 2, .high = 64}.to_string() == "2 to 64");
  CHECK(BatchRange{.low = 1, .step = 4}.to_string() == "4, 8, ...");
  CHECK(BatchRange{.low = 1, .high = 9, .step = 4}.to_string() == "4, 8");
  CHECK(BatchRange{.low = 1, .high = 7, .step = 4}.to_string() == "4");
  CHECK(BatchRange{.low = 1, .high = 3, .step = 4}.to_string() == "none");
  CHECK(other_batch(4, {.low = 2, .high = 8, .step = 4}) == 8);
  CHECK(other_batch(8, {.low = 2, .high = 8, .step = 4}) == 4);
}

TEST_CASE("operands of a schedule name the batch, whatever number checks draw", "[models]") {
  const auto entry = pace::test::mlp();
  const auto instance = make_instance(entry, {.batch_size = 4});
  BatchSchedule schedule(instance, {2, 100});
  const auto operands = schedule.operands();
  REQUIRE(operands.size() == 3 * instance.model.inputs.size() + 1);
  const auto size = [&] { return schedule.chosen(operands)[0].toTensor().size(0); };
  CHECK(size() == 4);
  CHECK(schedule.chosen(operands)[0].toTensor().is_same(instance.model.inputs[0].toTensor()));
  std::vector<std::int64_t> seen;
  for (int round = 0; round < 6; ++round) {
    schedule.advance(operands);
    seen.push_back(size());
  }
  CHECK(seen == std::vector<std::int64_t>{3, 5, 4, 3, 5, 4});
  operands.back().toTensor().fill_(-2);
  CHECK(size() == 3);
  operands.back().toTensor().fill_(1000);
  CHECK(size() == 3);
}

TEST_CASE("packages for any batch are refused for some models and options", "[models]") {
  auto settings = any_batch("aot_inductor", true);
  CHECK_THAT(run(pace::test::small_net(), settings)[0].message, ContainsSubstring("needs --inference"));
  settings.training = false;
  settings.batch_size = 1;
  CHECK_THAT(run(pace::test::small_net(), settings)[0].message, ContainsSubstring("a --batch-size of at least 2"));

  auto entry = pace::test::of_weights([](const at::Tensor& x, const at::Tensor& w) { return at::mul(x, w); });
  settings.batch_size = 4;
  const auto make = entry.make;
  entry.make = [make](const ModelRequest&) { return make({.batch_size = 4}); };
  CHECK_THAT(run(entry, settings)[0].message, ContainsSubstring("no input has the batch as its first size"));
  entry.make = [make](const ModelRequest& request) {
    auto model = make(request);
    model.inputs.emplace_back(at::randn({2, request.batch_size}));
    return model;
  };
  CHECK_THAT(run(entry, settings)[0].message, ContainsSubstring("input 1 has other sizes than the first"));
}

}  // namespace
