// --compat: torchbench's loop, its medians, its p-values and its words.
#include "benches/models/compat/compat_loop.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

#include <ATen/ops/arange.h>
#include <ATen/ops/ones.h>

#include "benches/models/run/warm_up.hpp"

#include <catch2/catch_approx.hpp>
#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

namespace {

using namespace pace::benches::models;
using Catch::Approx;

/// A clock that tests move, and that remembers the events.
struct FakeDependencies {
  double seconds = 0;
  std::string story;
  CompatDependencies dependencies{[this] { return seconds; }, [this] { happen("s", 0.25); },
                                  [this] { happen("r", 100); }};

  void happen(const std::string& what, double takes) {
    story += what;
    seconds += takes;
  }
};

TEST_CASE("a run is the time of its calls and of the last wait; random states are put back untimed", "[models]") {
  FakeDependencies fake;
  REQUIRE(timed(fake.dependencies, 3, [&] { fake.happen("c", 2); }) == Approx(3 * 2 + 0.25));
  REQUIRE(fake.story == "srcrcrcs");
}

TEST_CASE("eager and compiled take turns on the same inputs", "[models]") {
  FakeDependencies fake;
  std::vector<at::Tensor> seen;
  const torch::jit::Stack inputs{at::ones({3}), at::arange(3)};
  const auto side = [&](const char* name, double takes) {
    return [&, name, takes](const torch::jit::Stack& given) {
      seen.push_back(given[0].toTensor());
      REQUIRE(given[1].toTensor().equal(at::arange(3)));
      fake.happen(name, takes);
    };
  };
  const auto timings = speedup_experiment(fake.dependencies, {.repeat = 2}, inputs, side("E", 3), side("C", 1));
  REQUIRE(fake.story == "srEssrCssrEssrCs");
  REQUIRE(timings.eager == std::vector<double>{3.25, 3.25});
  REQUIRE(timings.compiled == std::vector<double>{1.25, 1.25});
  for (const auto& each : seen) REQUIRE(each.equal(at::ones({3})));

  seen.clear();
  (void)speedup_experiment(fake.dependencies, {.repeat = 2, .randomize_input = true}, inputs, side("E", 3),
                           side("C", 1));
  REQUIRE(seen[0].equal(seen[1]));  // both sides of a repeat
  REQUIRE_FALSE(seen[0].equal(seen[2]));
  REQUIRE_FALSE(seen[0].equal(at::ones({3})));
  REQUIRE_THROWS_AS(speedup_experiment(fake.dependencies, {.repeat = 0}, inputs, side("E", 3), side("C", 1)),
                    pace::InputError);
}

TEST_CASE("with a batch that varies each of eager's iterations has another one, and the other side has its own") {
  FakeDependencies fake;
  const std::int64_t batch = 10;
  const at::Tensor rows = at::arange(batch * 3).view({batch, 3});
  // The batch is the second size of another input, and none of a third one's.
  const torch::jit::Stack inputs{rows, rows.t().contiguous(), at::arange(3)};
  std::vector<std::int64_t> eager;
  const auto varied = [&](const torch::jit::Stack& given) {
    const at::Tensor first = given[0].toTensor(), second = given[1].toTensor();
    const std::int64_t size = first.size(0);
    eager.push_back(size);
    REQUIRE(second.equal(first.t()));
    REQUIRE(given[2].toTensor().equal(at::arange(3)));
    const std::int64_t kept = std::min(size, batch);
    REQUIRE(first.narrow(0, 0, kept).equal(rows.narrow(0, 0, kept)));
    for (std::int64_t row = kept; row < size; ++row) REQUIRE(first.select(0, row).equal(rows.select(0, batch - 1)));
    fake.happen("E", 1);
  };
  const auto fixed = [&](const torch::jit::Stack& given) {
    REQUIRE(given[0].toTensor().equal(rows));
    fake.happen("C", 1);
  };
  CompatOptions options{.repeat = 20, .iterations_per_run = 5, .varied_batch = batch, .seed = 3};
  (void)speedup_experiment(fake.dependencies, options, inputs, varied, fixed);
  REQUIRE(eager.size() == 100);
  REQUIRE(std::ranges::min(eager) == 8);
  REQUIRE(std::ranges::max(eager) == 11);
  const auto first = eager;
  eager.clear();
  (void)speedup_experiment(fake.dependencies, options, inputs, varied, fixed);
  REQUIRE(eager == first);
  eager.clear();
  options.seed = 4;
  (void)speedup_experiment(fake.dependencies, options, inputs, varied, fixed);
  REQUIRE(eager != first);

  // Never a batch of one, and of a batch of one no other.
  DrawnBatches small(2, 1);
  for (int draw = 0; draw < 100; ++draw) REQUIRE(small.next() == 2);
  const auto one = [&](const torch::jit::Stack& given) { REQUIRE(given[0].toTensor().size(0) == 1); };
  (void)speedup_experiment(fake.dependencies, {.repeat = 9, .varied_batch = 1}, {at::ones({1, 3})}, one, one);
}

TEST_CASE("random inputs: normal floats, integers as they are, nothing else", "[models]") {
  const auto drawn = randomized({at::ones({4}).to(at::kDouble), at::arange(4)});
  REQUIRE(drawn[0].toTensor().scalar_type() == at::kDouble);
  REQUIRE_FALSE(drawn[0].toTensor().equal(at::ones({4}).to(at::kDouble)));
  REQUIRE(drawn[1].toTensor().equal(at::arange(4)));
  REQUIRE_THROWS_WITH(randomized({at::ones({4}).to(at::kHalf)}),
                      Catch::Matchers::ContainsSubstring("randomize_input need support tensor of type Half"));
}

TEST_CASE("Student's test and medians, against numbers worked out by integration", "[models]") {
  REQUIRE(t_test_p_value({1.0, 1.1, 0.9, 1.05}, {0.8, 0.85, 0.9, 0.7}) == Approx(0.0161581154).epsilon(1e-8));
  REQUIRE(t_test_p_value({1.0, 1.2, 1.1}, {1.05, 1.15, 1.0}) == Approx(0.6701799733).epsilon(1e-8));
  REQUIRE(std::isnan(t_test_p_value({1}, {1, 2})));
  REQUIRE(std::isnan(t_test_p_value({1, 1}, {1, 1})));
  REQUIRE(t_test_p_value({1, 1}, {2, 2}) == 0);
  REQUIRE(median_of({3, 1, 2}) == 2);
  REQUIRE(median_of({4, 1, 2, 3}) == 2.5);
}

TEST_CASE("how speed-ups are written", "[models]") {
  REQUIRE(format_speedup(1.5, 0.02) == "1.500x p=0.02");
  REQUIRE(format_speedup(1.5, 0.1) == "1.500x p=0.10");
  REQUIRE(format_speedup(1.01234, 0.11) == "1.012x SAME");
  REQUIRE(format_speedup(3, 0, false) == "ERROR");
  REQUIRE(compression_ratio(3, 2) == 1.5);
  REQUIRE(compression_ratio(3, 0) == 0);
}

TEST_CASE("memory of the process", "[models]") {
  const double before = resident_gigabytes();
  REQUIRE(before > 0);
  const at::Tensor tensor = at::ones({64 << 20});  // 256 MiB
  REQUIRE(resident_gigabytes() > before + 0.2);
}

}  // namespace
