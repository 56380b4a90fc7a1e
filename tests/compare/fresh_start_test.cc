// Calls that write to their operands, or draw random numbers, start alike in every sample.
#include <algorithm>
#include <cmath>
#include <set>
#include <string>
#include <vector>

#include <ATen/ops/bernoulli.h>
#include <ATen/ops/full.h>
#include <ATen/ops/ones.h>
#include <ATen/ops/randn.h>
#include <ATen/ops/zeros.h>

#include "pace/catch2.hpp"
#include "pace/compare/comparison.hpp"
#include "tests/support/fake_clock.hpp"

#include <catch2/matchers/catch_matchers_contains.hpp>
#include <catch2/matchers/catch_matchers_predicate.hpp>
#include <catch2/matchers/catch_matchers_quantifiers.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

namespace {

using Catch::Matchers::Contains;
using Catch::Matchers::ContainsSubstring;
using Catch::Matchers::NoneMatch;
using pace::Nanoseconds;
using pace::test::FakeClock;

pace::Options long_samples() {
  pace::Options options;
  options.audit = pace::Audit::strict;
  options.budget = Nanoseconds(1e6);
  options.warm_up = Nanoseconds(1e5);
  options.min_sample = Nanoseconds(5000);
  options.resolutions_per_sample = 1;
  options.max_rounds = 24;
  return options;
}

/// Matches an operand of 1000 that a call has added to and nothing has put back.
const auto is_changed =
    Catch::Matchers::Predicate<double>([](double each) { return each > 1000 && each <= 1300; }, "lies in (1000, 1300]");

TEST_CASE("every call of a sample that writes to an operand finds its first values") {
  FakeClock clock;
  std::set<double> found;
  const auto add_one = [&](at::Tensor& x) {
    clock.advance(Nanoseconds(100));
    found.insert(x.flatten()[0].item<double>());
    x.add_(1);
  };
  const auto result = pace::compare("add_", at::full({4}, 1000.0), at::ones({3}))
                          .options(long_samples())
                          .baseline("a", [&](at::Tensor& x, const at::Tensor&) { add_one(x); })
                          .candidate("b", [&](at::Tensor& x, const at::Tensor&) { add_one(x); })
                          .run(clock);
  CHECK_THAT(result, pace::Correct());
  CHECK(result.iterations == 50);  // 100 ns each in samples of 5 us
  // Without copies of their own they would find 1001, 1002 and so on.
  CHECK_THAT(found, NoneMatch(is_changed));
  CHECK_THAT(found, Contains(1000));
  REQUIRE(result.notes.size() >= 1);
  CHECK_THAT(result.notes.front(), ContainsSubstring("The baseline writes to operand tensor 0"));
}

TEST_CASE("large operands that are written to make for samples of few calls") {
  FakeClock clock;
  std::set<double> found;
  const auto add_one = [&](at::Tensor& x) {
    clock.advance(Nanoseconds(100));
    found.insert(x[0].item<double>());
    x.add_(1);
  };
  // 5 MiB: three of them in 16 MiB.
  const auto result = pace::compare("add_", at::full({5 << 18}, 1000.0f))
                          .options(long_samples())
                          .baseline("a", add_one)
                          .candidate("b", add_one)
                          .run(clock);
  CHECK(result.iterations == 3);
  CHECK(result["b"].warmed_up);
  CHECK_THAT(found, NoneMatch(is_changed));
  for (const auto& note : result.notes) CHECK_THAT(note, !ContainsSubstring("a larger budget"));
}

TEST_CASE("a call that leaves its operands alone is sampled as often as it takes") {
  FakeClock clock;
  const auto read = [&](const at::Tensor& x) {
    clock.advance(Nanoseconds(10));
    return x;
  };
  const auto result = pace::compare("read", at::full({4}, 1000.0))
                          .options(long_samples())
                          .baseline("a", read)
                          .candidate("b", read)
                          .run(clock);
  CHECK(result.iterations == 500);
  for (const auto& note : result.notes) CHECK_THAT(note, !ContainsSubstring("writes to operand"));
}

TEST_CASE("the generators are reset before each sample of random calls") {
  FakeClock clock;
  std::vector<double> sums;
  const auto draw = [&](const at::Tensor& x) {
    clock.advance(Nanoseconds(10'000));  // one call a sample
    auto drawn = at::bernoulli(x, 0.5);
    sums.push_back(drawn.sum().item<double>());
    return drawn;
  };
  const auto result = pace::compare("bernoulli", at::zeros({4096}))
                          .options(long_samples())
                          .baseline("a", draw)
                          .candidate("b", draw)
                          .run(clock);
  CHECK_THAT(result, pace::Correct());
  CHECK(result.iterations == 1);
  // Two seeds, for the given values and for unseen ones, and further calls in a row where a check asks for them. Going
  // on would draw another sum nearly every time.
  const std::set<double> different(sums.begin(), sums.end());
  CHECK(sums.size() > 80);
  CHECK(different.size() < sums.size() / 3);
  CHECK_THAT(result.notes.front(), ContainsSubstring("The baseline draws random numbers"));
}

}  // namespace
