// The repeats of performance runs: their timings one by one, and their inputs.
#include "benches/models/run/run_model.hpp"

#include <cstddef>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "benches/models/compat/compat_loop.hpp"
#include "tests/models/run_fakes.hpp"
#include "tests/models/run_rows.hpp"
#include "tests/models/run_samples.hpp"

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_floating_point.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

namespace {

using namespace pace::benches::models;
using Catch::Matchers::ContainsSubstring;
using Catch::Matchers::WithinRel;
using pace::test::AddedBackend;
using pace::test::number;
using pace::test::quick;
using pace::test::run;
using pace::test::text;

TEST_CASE("--dump-raw-metrics: seconds of eager and of the back end, for each repeat", "[models]") {
  for (const bool compat : {false, true}) {
    for (const bool training : {false, true}) {
      auto settings = quick({"torchscript", "eager", "cuda_graph"}, training);
      settings.compat = compat;
      settings.iterations_per_run = 3;
      const auto rows = run(pace::test::small_net(), settings);
      for (std::size_t i = 0; i < 2; ++i) {
        INFO(rows[i].backend << (compat ? ", compat" : "") << (training ? ", training" : ""));
        const auto& raw = rows[i].raw_timings;
        REQUIRE(raw.size() == 12);
        std::vector<double> eager, own;
        for (const auto& repeat : raw) {
          REQUIRE(repeat.size() == 2);
          eager.push_back(repeat[0]);
          own.push_back(repeat[1]);
        }
        // The columns of the row are milliseconds, under --compat of a run, else of one of its three iterations.
        const double per_run = compat ? 1 : 3;
        REQUIRE_THAT(median_of(eager), WithinRel(1e-3 * per_run * number(rows[i], "eager_latency"), 1e-9));
        REQUIRE_THAT(median_of(own), WithinRel(1e-3 * per_run * number(rows[i], "abs_latency"), 1e-9));
      }
      REQUIRE(rows[2].raw_timings.empty());  // it could not be run
    }
  }
}

TEST_CASE("--randomize-input: new inputs for each repeat, equal for all back ends", "[models]") {
  std::vector<std::vector<double>> seen(2);
  const auto untouched = [&](std::size_t which) {
    return [&seen, which](Instance instance, const MakeOptions& options) {
      auto made = pace::benches::models::detail::make_eager(std::move(instance), options);
      made.model.step.forward = [&seen, which, forward = made.model.step.forward](auto& inputs) mutable {
        seen[which].push_back(inputs[0].toTensor().flatten()[0].template item<double>());
        return forward(inputs);
      };
      return made;
    };
  };
  const AddedBackend one("one", untouched(0)), other("other", untouched(1));
  for (const bool training : {false, true}) {
    for (auto& each : seen) each.clear();
    auto settings = quick({"one", "other"}, training);
    settings.repeat = 6;
    settings.skip_accuracy_check = true;  // so that few calls are made beside the repeats
    const auto inputs_of = [&] {
      for (const auto& row : run(pace::test::mlp(), settings)) REQUIRE(text(row, "status") == "pass");
      std::vector<std::set<double>> values;
      for (auto& each : seen) {
        values.emplace_back(each.begin(), each.end());
        each.clear();
      }
      REQUIRE(values[0] == values[1]);
      return values[0].size();
    };
    const auto without = inputs_of();
    settings.randomize_input = true;
    REQUIRE(inputs_of() == without + 6);
  }

  // As in torchbench, other types than float32, float64 and int64 are no input that can be drawn.
  auto settings = quick({"one"});
  settings.randomize_input = true;
  settings.precision = Precision::bfloat16;
  const auto rows = run(pace::test::mlp(), settings);
  REQUIRE(text(rows[0], "status") == "fail_to_run");
  REQUIRE_THAT(rows[0].message, ContainsSubstring("randomize_input need support tensor of type BFloat16"));
}

}  // namespace
