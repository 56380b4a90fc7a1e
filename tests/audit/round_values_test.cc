// Comparisons whose rounds have unseen values each.
#include "pace/compare/comparison.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <stdexcept>
#include <string>
#include <vector>

#include <ATen/ops/add.h>
#include <ATen/ops/mul.h>
#include <ATen/ops/rand_like.h>
#include <ATen/ops/randn.h>
#include <ATen/ops/randn_like.h>
#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers.hpp>
#include <catch2/matchers/catch_matchers_exception.hpp>
#include <catch2/matchers/catch_matchers_floating_point.hpp>
#include <catch2/matchers/catch_matchers_quantifiers.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

#include "pace/catch2.hpp"
#include "tests/support/fake_clock.hpp"

namespace {

using Catch::Matchers::AnyMatch;
using Catch::Matchers::ContainsSubstring;
using Catch::Matchers::MessageMatches;
using Catch::Matchers::StartsWith;
using Catch::Matchers::WithinRel;
using pace::Nanoseconds;
using pace::Outcome;
using pace::test::FakeClock;

constexpr std::size_t rounds = 12;

/// One iteration a sample, so that each call in a round is a sample.
pace::Options one_call_a_sample() {
  pace::Options options;
  options.audit = pace::Audit::strict;
  options.budget = options.hard_limit = Nanoseconds(1e12);
  options.warm_up = Nanoseconds(1e4);
  options.min_sample = Nanoseconds(1);
  options.resolutions_per_sample = 1;
  options.max_iterations = 1;
  options.max_rounds = rounds;
  return options;
}

/// Values from here on, which nothing but the rounds have.
constexpr float in_rounds = 100'000;

/// Remembers the first element of each operand that is one of a round's.
struct Witness {
  std::map<std::string, std::vector<float>> seen = {};

  /// The values that `name` saw in the rounds, and the ones among them that it saw later.
  [[nodiscard]] std::vector<float> of_rounds(const std::string& name) const {
    const auto& all = seen.at(name);
    return {all.begin(), all.begin() + static_cast<std::ptrdiff_t>(std::min(rounds, all.size()))};
  }
  [[nodiscard]] std::set<float> later(const std::string& name) const {
    const auto& all = seen.at(name);
    return {all.begin() + static_cast<std::ptrdiff_t>(std::min(rounds, all.size())), all.end()};
  }

  void look(const std::string& name, const at::Tensor& x) {
    if (const float first = x.flatten()[0].item<float>(); first >= in_rounds) seen[name].push_back(first);
  }
  auto function(FakeClock& clock, const std::string& name, double cost, bool writes = false) {
    return [this, &clock, name, cost, writes](at::Tensor& x) {
      look(name, x);
      clock.advance(Nanoseconds(cost));
      return writes ? x.mul_(2) : at::mul(x, 2);
    };
  }
};

/// Takes long, which must not show.
auto counting(FakeClock& clock) {
  return [&clock, next = in_rounds](at::Tensor& x) mutable {
    x.fill_(next++);
    clock.advance(Nanoseconds(1e6));
  };
}

TEST_CASE("each implementation gets the values of the round, unchanged by the others") {
  for (const bool writes : {false, true}) {
    FakeClock clock;
    Witness witness;
    const at::Tensor x = at::randn({4});
    const auto result = pace::compare("twice", x)
                            .options(one_call_a_sample())
                            .renew_each_round(counting(clock))
                            .baseline("a", witness.function(clock, "a", 300, writes))
                            .candidate("b", witness.function(clock, "b", 100, writes))
                            .candidate("c", witness.function(clock, "c", 600, writes))
                            .run(clock);
    INFO("writes: " << writes);
    CAPTURE(result);
    REQUIRE(result.all_measured());
    REQUIRE(result.rounds == rounds);
    // Each call of a round: one for each implementation, on the value that was written for that round.
    std::vector<float> expected;
    for (std::size_t i = 0; i < rounds; ++i) expected.push_back(in_rounds + static_cast<float>(i));
    for (const char* name : {"a", "b", "c"}) CHECK(witness.of_rounds(name) == expected);
    // After the rounds, each call has values that none has seen.
    const auto of_b = witness.later("b"), of_c = witness.later("c");
    CHECK(of_b.size() >= 11);
    CHECK(of_b.size() + rounds == witness.seen["b"].size());
    CHECK(*of_b.begin() > expected.back());
    for (const float each : of_b) CHECK_FALSE(of_c.contains(each));
    // None of the writing is in a sample, or in the time of a cycle.
    for (const auto sample : result["b"].samples) CHECK_THAT(sample.count(), WithinRel(100.0, 1e-9));
    CHECK_THAT(result["b"].speedup->median, WithinRel(3.0, 1e-9));
    CHECK(result["b"].context.cycle < Nanoseconds(1e5));
    CHECK_THAT(result.notes, AnyMatch(StartsWith("Every round")));
    // The user's own operand is left alone.
    CHECK(x.abs().max().item<float>() < 100);
  }
}

TEST_CASE("random values differ between rounds, and follow from the seed of checks") {
  const auto values = [](std::uint64_t seed) {
    FakeClock clock;
    Witness witness;
    auto options = one_call_a_sample();
    options.check_seed = seed;
    // The generators are put back before each call of a function that draws random numbers.
    const auto noisy = [&](const char* name) {
      return [&, name](at::Tensor& x) {
        witness.look(name, x);
        clock.advance(Nanoseconds(100));
        return at::add(x, at::rand_like(x));
      };
    };
    const auto result = pace::compare("noise", at::randn({4}))
                            .options(options)
                            .renew_each_round([](at::Tensor& x) { x.copy_(at::randn_like(x).abs().add(in_rounds)); })
                            .baseline("a", noisy("a"))
                            .candidate("b", noisy("b"))
                            .run(clock);
    CAPTURE(result);
    REQUIRE(result.all_measured());
    CHECK(witness.of_rounds("a") == witness.of_rounds("b"));
    return witness.of_rounds("a");
  };
  const auto first = values(1);
  CHECK(std::set<float>(first.begin(), first.end()).size() == rounds);
  CHECK(values(1) == first);
  CHECK(values(2) != first);
}

TEST_CASE("a fault in rounds of unseen values is found all the same") {
  FakeClock clock;
  Witness witness;
  // Only on the values of rounds.
  const auto spoils = [&](at::Tensor& x) {
    clock.advance(Nanoseconds(100));
    const at::Tensor y = at::mul(x, 2);
    if (x.flatten()[0].item<float>() >= in_rounds) x.zero_();
    return y;
  };
  const auto result = pace::compare("twice", at::randn({4}))
                          .options(one_call_a_sample())
                          .renew_each_round(counting(clock))
                          .baseline("a", witness.function(clock, "a", 300))
                          .candidate("spoils", spoils)
                          .run(clock);
  CHECK(result["spoils"].outcome == Outcome::wrong);
  CHECK_THAT(result["spoils"].message, ContainsSubstring("changes operand tensor 0"));

  // One that throws there leaves the others a measurement of their own.
  const auto throws = [&](at::Tensor& x) {
    if (x.flatten()[0].item<float>() >= in_rounds + 2) throw std::runtime_error("too much");
    clock.advance(Nanoseconds(100));
    return at::mul(x, 2);
  };
  const auto rest = pace::compare("twice", at::randn({4}))
                        .options(one_call_a_sample())
                        .renew_each_round(counting(clock))
                        .baseline("a", witness.function(clock, "a", 300))
                        .candidate("throws", throws)
                        .candidate("b", witness.function(clock, "b", 100))
                        .run(clock);
  CHECK(rest["throws"].outcome == Outcome::threw);
  CHECK(rest["b"].outcome == Outcome::measured);
  CHECK(rest["b"].samples.size() == rounds);
}

TEST_CASE("values of another shape, and a function that throws, end the comparison") {
  FakeClock clock;
  Witness witness;
  const auto run = [&](auto write) {
    return pace::compare("twice", at::randn({4}))
        .options(one_call_a_sample())
        .renew_each_round(write)
        .baseline("a", witness.function(clock, "a", 300))
        .candidate("b", witness.function(clock, "b", 300))
        .run(clock);
  };
  CHECK_THROWS_MATCHES(run([](at::Tensor& x) { x = at::randn({5}); }), pace::Error,
                       MessageMatches(ContainsSubstring("is now")));
  CHECK_THROWS_MATCHES(run([](at::Tensor&) { throw std::runtime_error("no values left"); }), std::runtime_error,
                       MessageMatches(ContainsSubstring("no values left")));
}

}  // namespace
