// --dynamic-batch-only: which models may run another batch than the one that it was made for.
#include "benches/models/run/run_model.hpp"

#include <string>
#include <utility>

#include <ATen/ops/add.h>
#include <ATen/ops/mul.h>
#include <ATen/ops/randn.h>
#include <ATen/ops/zeros.h>

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

TEST_CASE("what packages for any batch are not made of", "[models]") {
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
