#include "pace/compare/comparison.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <new>
#include <optional>
#include <stdexcept>
#include <string>
#include <tuple>
#include <vector>

#include <ATen/Context.h>
#include <ATen/ops/_nested_tensor_from_tensor_list.h>
#include <ATen/ops/add.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/empty_like.h>
#include <ATen/ops/equal.h>
#include <ATen/ops/eye.h>
#include <ATen/ops/matmul.h>
#include <ATen/ops/mul.h>
#include <ATen/ops/ones.h>
#include <ATen/ops/rand.h>
#include <ATen/ops/randint.h>
#include <ATen/ops/randn.h>
#include <ATen/ops/relu.h>
#include <ATen/ops/sigmoid.h>
#include <ATen/ops/sum.h>
#include <ATen/ops/zeros.h>
#include <ATen/ops/zeros_like.h>
#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>
#include <catch2/matchers/catch_matchers_contains.hpp>
#include <catch2/matchers/catch_matchers_exception.hpp>
#include <catch2/matchers/catch_matchers_floating_point.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

#include "pace/base/message_parts.hpp"
#include "pace/catch2.hpp"
#include "tests/support/comparisons.hpp"

namespace {

using Catch::Matchers::ContainsSubstring;
using Catch::Matchers::EndsWith;
using Catch::Matchers::Message;
using Catch::Matchers::StartsWith;
using Catch::Matchers::WithinRel;
using pace::Nanoseconds;
using pace::Outcome;
using pace::Verdict;
using pace::test::costing;
using pace::test::FakeClock;
using pace::test::few_rounds;

at::Tensor twice(const at::Tensor& x) { return at::add(x, x); }

TEST_CASE("the baseline's float64 output of float32 operands stays as it was") {
  FakeClock clock;
  const auto wide_sum = costing(clock, 300, [](const at::Tensor& x) { return at::sum(x, {-1}, false, at::kDouble); });
  const auto result = pace::compare("wide sums", at::randn({64, 64}))
                          .options(few_rounds())
                          .baseline("old", wide_sum)
                          .candidate("new", wide_sum)
                          .run(clock);
  CHECK(result["old"].outcome == pace::Outcome::measured);
  CHECK_THAT(result, pace::Correct());
}

TEST_CASE("a result names its inputs and its device, which tell it apart from other results") {
  struct GpuClock : FakeClock {
    [[nodiscard]] std::string device_name() const override { return "NVIDIA H200"; }
  } gpu;
  FakeClock clock;
  const auto first = [](const at::Tensor& x, const auto&...) { return at::add(x, x); };
  const auto halves = std::vector<at::Tensor>{at::zeros({4}, at::kHalf)};
  const auto run = [&](auto& on, auto comparison) {
    return comparison.options(few_rounds()).baseline("add", costing(on, 300, first)).run(on);
  };
  const auto result = run(clock, pace::compare("case", at::zeros({2, 3}), 7, halves));
  CHECK(result.inputs == "Float[2, 3], 7, Half[4]");
  CHECK(result.device == "");
  CHECK(run(gpu, pace::compare("case", at::zeros({2, 3}).t())).inputs == "Float[3, 2] with strides [1, 3]");
  CHECK(run(gpu, pace::compare("case", at::zeros({2}))).device == "NVIDIA H200");
  CHECK(run(clock, pace::compare("case", at::zeros({2})).inputs("mine")).inputs == "mine");
}

TEST_CASE("candidates are timed in pairs with the baseline") {
  FakeClock clock;
  const auto result = pace::compare("twice", at::randn({8, 8}))
                          .options(few_rounds())
                          .baseline("add", costing(clock, 300, twice))
                          .candidate("mul", costing(clock, 100, [](const at::Tensor& x) { return at::mul(x, 2); }))
                          .candidate("slow", costing(clock, 600, twice))
                          .bytes(600)
                          .flops(1200)
                          .run(clock);
  REQUIRE(result.implementations.size() == 3);
  CHECK(result.name == "twice");
  CHECK(result.clock == "fake");
  CHECK_THAT(result, pace::Correct());
  CHECK(result.rounds == 24);
  CHECK(result.iterations == 10);

  const auto& mul = result["mul"];
  REQUIRE(mul.speedup);
  CHECK(mul.speedup->observations == 8);  // 24 rounds in cycles of three
  CHECK_THAT(mul.speedup->median, WithinRel(3.0, 1e-9));
  REQUIRE(mul.speedup->interval);
  CHECK_THAT(mul.speedup->interval->low, WithinRel(3.0, 1e-9));
  CHECK_THAT(mul.speedup->interval->confidence, WithinRel(0.975, 1e-9));  // two candidates share 5 %
  CHECK_THAT(result["slow"].speedup->median, WithinRel(0.5, 1e-9));
  CHECK_FALSE(result.baseline().speedup);
  CHECK_THAT(result.baseline().time->median.count(), WithinRel(300.0, 1e-9));
  CHECK_THAT(*mul.gigabytes_per_second(), WithinRel(6.0, 1e-9));
  CHECK_THAT(*mul.gigaflops_per_second(), WithinRel(12.0, 1e-9));

  CHECK(mul.judgements.empty());
  CHECK_FALSE(mul.speedup->anytime);  // nothing was expected, so nothing but the budget ended the rounds
  CHECK(mul.context.baseline == "add");
  CHECK(mul.context.rounds_per_cycle == 3);
  CHECK_THAT(mul.context.alpha, WithinRel(0.0005, 1e-9));  // two candidates share 1e-3
  // Three rounds of three samples of ten iterations.
  CHECK_THAT(mul.context.cycle.count(), WithinRel(3 * 10 * (300.0 + 100 + 600), 1e-9));
}

TEST_CASE("a wrong candidate is named and has no speed-up, however fast") {
  FakeClock clock;
  const auto result = pace::compare("relu", at::randn({100}))
                          .options(few_rounds())
                          .baseline("relu", costing(clock, 1000, [](const at::Tensor& x) { return at::relu(x); }))
                          .candidate("identity", costing(clock, 1, [](const at::Tensor& x) { return x.clone(); }))
                          .candidate("right", costing(clock, 500, [](const at::Tensor& x) { return at::relu(x); }))
                          .expect(pace::NoSlowerThan(100))
                          .run(clock);
  const auto& wrong = result["identity"];
  CHECK(wrong.outcome == Outcome::wrong);
  CHECK_FALSE(wrong.speedup);
  CHECK_FALSE(wrong.time);
  CHECK(wrong.samples.empty());
  CHECK_THAT(wrong.message, ContainsSubstring("100 elements"));
  CHECK(wrong.judgements.at(0).verdict == Verdict::failed);
  CHECK_THAT(result, !pace::Correct());
  CHECK_THAT(result["right"].speedup->median, WithinRel(2.0, 1e-9));
}

TEST_CASE("outputs of another kind are wrong") {
  const auto outcome_of = [](auto candidate) {
    FakeClock clock;
    const auto result = pace::compare("relu", at::rand({4, 4}))
                            .options(few_rounds())
                            .baseline("relu", costing(clock, 100, [](const at::Tensor& x) { return at::relu(x); }))
                            .candidate("other", costing(clock, 100, candidate))
                            .run(clock);
    return result["other"];
  };
  const auto shape = outcome_of([](const at::Tensor& x) { return x.reshape({16}).clone(); });
  CHECK(shape.outcome == Outcome::wrong);
  CHECK_THAT(shape.message, ContainsSubstring("shape") && ContainsSubstring("[16]"));
  const auto dtype = outcome_of([](const at::Tensor& x) { return x.to(at::kDouble); });
  CHECK(dtype.outcome == Outcome::wrong);
  CHECK_THAT(dtype.message, ContainsSubstring("float64"));
  CHECK(outcome_of([](const at::Tensor& x) { return std::vector<at::Tensor>{x, x}; }).outcome == Outcome::wrong);
  CHECK(outcome_of([](const at::Tensor& x) { return std::tuple(x.clone(), 1); }).outcome == Outcome::wrong);
  CHECK(outcome_of([](const at::Tensor&) {}).outcome == Outcome::wrong);
  CHECK(outcome_of([](const at::Tensor& x) { return x.clone(); }).outcome == Outcome::measured);
}

TEST_CASE("a candidate that writes nothing cannot pass with what earlier calls left in memory") {
  FakeClock clock;
  const auto result = pace::compare("sigmoid", at::randn({64, 64}))
                          .options(few_rounds())
                          .baseline("eager", costing(clock, 100, [](const at::Tensor& x) { return at::sigmoid(x); }))
                          .candidate("null", costing(clock, 1, [](const at::Tensor& x) { return at::empty_like(x); }))
                          .run(clock);
  CHECK(result["null"].outcome == Outcome::wrong);
  CHECK_THAT(result["null"].message, ContainsSubstring("unwritten"));
}

TEST_CASE("a candidate that is right only while it is checked is found out by what it returns when timed") {
  FakeClock clock;
  int calls = 0;
  const auto lazy = [&](const at::Tensor& x) { return ++calls <= 100 ? at::sigmoid(x) : at::empty_like(x); };
  const auto result = pace::compare("sigmoid", at::randn({64, 64}))
                          .options(few_rounds())
                          .baseline("eager", costing(clock, 100, [](const at::Tensor& x) { return at::sigmoid(x); }))
                          .candidate("lazy", costing(clock, 100, lazy))
                          .run(clock);
  CHECK(result["lazy"].outcome == Outcome::wrong);
  CHECK_FALSE(result["lazy"].speedup);
  CHECK_THAT(result["lazy"].message, ContainsSubstring("timed call"));
  CHECK(result["eager"].outcome == Outcome::measured);
}

TEST_CASE("operands that the baseline writes to are outputs, and start each sample from their first values") {
  FakeClock clock;
  const auto add_into = [](const at::Tensor& x, at::Tensor& out) { out.add_(x); };
  const auto x = at::randn({32}), out = at::randn({32});
  const auto out_before = out.clone();
  double largest = 0;
  const auto watched = [&](const at::Tensor& a, at::Tensor& b) {
    b.add_(a);
    largest = std::max(largest, b.abs().max().item<double>());
  };
  pace::check::CheckOptions no_large_values;
  no_large_values.edge_values = false;
  const auto result =
      pace::compare("add_", x, out)
          .options(few_rounds())
          .check(no_large_values)
          .baseline("eager", costing(clock, 100, add_into))
          .candidate("same", costing(clock, 100, watched))
          .candidate("nothing", costing(clock, 1, [](const at::Tensor&, at::Tensor&) {}))
          .candidate("double", costing(clock, 1, [](const at::Tensor& a, at::Tensor& b) { b.add_(a, 2); }))
          .run(clock);
  CHECK(result["same"].outcome == Outcome::measured);
  CHECK(result["same"].checked);
  CHECK(result["nothing"].outcome == Outcome::wrong);
  CHECK_THAT(result["nothing"].message, ContainsSubstring("operand tensor 1"));
  CHECK(result["double"].outcome == Outcome::wrong);
  // Every call of a sample has first values, restored or of its own.
  CHECK(largest < 10 * x.abs().max().item<double>() + out.abs().max().item<double>() + 1);
  // The user's own tensors stay as they are.
  CHECK(at::equal(out, out_before));
}

TEST_CASE("a candidate that changes what the baseline leaves alone is wrong") {
  FakeClock clock;
  const auto result = pace::compare("relu", at::randn({32}))
                          .options(few_rounds())
                          .baseline("relu", costing(clock, 100, [](const at::Tensor& x) { return at::relu(x); }))
                          .candidate("in place", costing(clock, 50, [](at::Tensor& x) { return x.relu_(); }))
                          .run(clock);
  CHECK(result["in place"].outcome == Outcome::wrong);
  CHECK_THAT(result["in place"].message, ContainsSubstring("operand tensor 0"));
}

TEST_CASE("a candidate that throws is named and the others are measured") {
  FakeClock clock;
  // At most, with the calls of the checks.
  constexpr int calls_before_rounds = 250;
  int calls = 0;
  const auto later = [&](const at::Tensor& x) {
    if (++calls > calls_before_rounds) throw std::runtime_error("out of luck");
    return twice(x);
  };
  const auto at_once = [](const at::Tensor&) -> at::Tensor { throw std::runtime_error("no kernel"); };
  const auto result = pace::compare("twice", at::randn({8}))
                          .options(few_rounds())
                          .baseline("add", costing(clock, 300, twice))
                          .candidate("at once", costing(clock, 100, at_once))
                          .candidate("later", costing(clock, 100, later))
                          .candidate("fine", costing(clock, 100, twice))
                          .refused({.name = "package", .reason = "no compiler here"})
                          .run(clock);
  CHECK(result["at once"].outcome == Outcome::threw);
  CHECK(result["at once"].message == "no kernel");
  CHECK(result["later"].outcome == Outcome::threw);
  CHECK(result["later"].message == "out of luck");
  CHECK_FALSE(result["later"].speedup);
  CHECK(result["package"].outcome == Outcome::refused);
  CHECK(result["package"].message == "no compiler here");
  CHECK_THAT(result["fine"].speedup->median, WithinRel(3.0, 1e-9));
  CHECK(result["fine"].speedup->observations == 12);  // cycles of two: only the two that are left
}

TEST_CASE("a message of a megabyte is kept to 64 KiB, with its length") {
  FakeClock clock;
  const auto fail = [](const at::Tensor&) -> at::Tensor { throw std::runtime_error(std::string(1 << 20, 'x')); };
  const auto result = pace::compare("twice", at::randn({8}))
                          .options(few_rounds())
                          .baseline("add", costing(clock, 300, twice))
                          .candidate("broken", costing(clock, 1, fail))
                          .refused({.name = "package", .reason = std::string(1 << 20, 'y')})
                          .run(clock);
  for (const char* name : {"broken", "package"}) {
    CHECK(result[name].message.size() < 66'000);
    CHECK_THAT(result[name].message, ContainsSubstring(" of 1048576 bytes are left out here"));
  }
}

TEST_CASE("without a baseline that runs there are no speed-ups, but there is a result") {
  FakeClock clock;
  const auto fail = [](const at::Tensor&) -> at::Tensor { throw std::runtime_error("broken"); };
  const auto result = pace::compare("twice", at::randn({8}))
                          .options(few_rounds())
                          .baseline("broken", costing(clock, 1, fail))
                          .candidate("add", costing(clock, 1, twice))
                          .run(clock);
  CHECK(result["broken"].outcome == Outcome::threw);
  CHECK(result["add"].outcome == Outcome::refused);
  CHECK_THAT(result["add"].message, ContainsSubstring("broken"));
  CHECK(result.stop_reason == pace::StopReason::not_started);
}

TEST_CASE("a baseline that does not repeat itself cannot vouch for any candidate") {
  FakeClock clock;
  int calls = 0;
  const auto counting = [&](const at::Tensor& x) { return at::add(x, ++calls); };
  const auto result = pace::compare("counter", at::randn({8}))
                          .options(few_rounds())
                          .baseline("counter", costing(clock, 100, counting))
                          .candidate("add", costing(clock, 100, twice))
                          .run(clock);
  CHECK(result["add"].outcome == Outcome::measured);
  CHECK_FALSE(result["add"].checked);
  CAPTURE(result);
  CHECK_FALSE(pace::Correct().match(result));
  REQUIRE(result.notes.size() == 1);
  CHECK_THAT(result.notes[0], ContainsSubstring("does not repeat itself"));
  for (const auto& row : result.implementations)
    CHECK_THAT(pace::Correct().examine(row).text, ContainsSubstring("not compared: ") && EndsWith("not repeat itself"));
}

TEST_CASE("random operators draw the same numbers on both sides while they are checked") {
  FakeClock clock;
  const auto noise = [](const at::Tensor& x) { return at::add(x, at::randn({8})); };
  const auto other = [](const at::Tensor& x) { return at::add(x, at::rand({8})); };
  const auto result = pace::compare("noise", at::randn({8}))
                          .options(few_rounds())
                          .baseline("one", costing(clock, 100, noise))
                          .candidate("two", costing(clock, 100, noise))
                          .candidate("uniform", costing(clock, 100, other))
                          .run(clock);
  CHECK(result["one"].outcome == Outcome::measured);
  CHECK(result["two"].outcome == Outcome::measured);
  CHECK(result["two"].checked);
  CHECK(result["uniform"].outcome == Outcome::wrong);
}

TEST_CASE("a float64 reference forgives a candidate what the baseline does wrong itself") {
  FakeClock clock;
  const auto x = at::randn({64}).add_(4096);
  // Both lose about the same accuracy to cancellation, in different ways.
  const auto one = [](const at::Tensor& t) { return t.mul(t).sub(t.mul(4096)).sub(t.mul(1)); };
  const auto two = [](const at::Tensor& t) { return t.mul(t.sub(4097)); };
  const auto compare = [&](bool reference) {
    auto comparison = pace::compare("cancellation", x);
    comparison.options(few_rounds())
        .baseline("one", costing(clock, 100, one))
        .candidate("two", costing(clock, 100, two));
    if (reference) comparison.float64_reference();
    pace::check::CheckOptions strict;
    strict.rtol = 1.3e-6;
    strict.atol = 1e-3;
    comparison.check(strict);  // undoes no reference
    return comparison.run(clock);
  };
  CHECK(compare(false)["two"].outcome == Outcome::wrong);
  CHECK(compare(true)["two"].outcome == Outcome::measured);
}

TEST_CASE("operands reach every implementation with equal values, strides and phase, in buffers of their own") {
  FakeClock clock;
  std::vector<const void*> seen_by_baseline, seen_by_candidate;
  const auto x = at::randn({16, 8}).t();
  const auto look = [&](std::vector<const void*>& seen) {
    return [&](const at::Tensor& t) {
      seen.push_back(t.const_data_ptr());
      if (!t.strides().equals(x.strides()) || !at::equal(t, x)) throw std::runtime_error("other operands");
      return t.sum();
    };
  };
  auto options = few_rounds();
  const auto run = [&](pace::OperandPolicy policy) {
    seen_by_baseline.clear();
    seen_by_candidate.clear();
    options.operands = policy;
    return pace::compare("look", x)
        .options(options)
        .baseline("a", costing(clock, 1000, look(seen_by_baseline)))
        .candidate("b", costing(clock, 1000, look(seen_by_candidate)))
        .run(clock);
  };
  const auto distinct = [](std::vector<const void*> seen) {
    std::ranges::sort(seen);
    return std::unique(seen.begin(), seen.end()) - seen.begin();
  };
  REQUIRE_THAT(run(pace::OperandPolicy::crossover), pace::Correct());
  CHECK(distinct(seen_by_baseline) == 2);
  CHECK(distinct(seen_by_candidate) == 2);
  CHECK(std::ranges::find(seen_by_baseline, x.const_data_ptr()) == seen_by_baseline.end());
  REQUIRE_THAT(run(pace::OperandPolicy::shared), pace::Correct());
  CHECK(distinct(seen_by_baseline) == 1);
  CHECK(distinct(seen_by_candidate) == 1);
}

TEST_CASE("operands that share memory share it in every copy, in lists and optionals, too") {
  FakeClock clock;
  const at::Tensor buffer = at::randn({64, 96});
  const auto parts = buffer.chunk(3, 1);
  const auto rows = buffer.chunk(2, 0);
  bool together = true;
  const auto look = [&](const at::Tensor& q, const std::vector<at::Tensor>& others,
                        const std::optional<at::Tensor>& row, const at::Tensor& again) {
    together = together && q.is_alias_of(others[0]) && q.is_alias_of(others[1]) && q.is_alias_of(*row) &&
               q.is_same(again) && others[0].storage_offset() - q.storage_offset() == 32;
    return at::add(at::add(q, others[0]), others[1]);
  };
  const auto result =
      pace::compare("chunks", parts[0], std::vector<at::Tensor>{parts[1], parts[2]}, std::optional(rows[1]), parts[0])
          .options(few_rounds())
          .baseline("one", costing(clock, 1000, look))
          .candidate("other", costing(clock, 1000, look))
          .run(clock);
  CHECK_THAT(result, pace::Correct());
  CHECK(together);
}

TEST_CASE("a candidate that is wrong in a buffer that operands share is wrong") {
  FakeClock clock;
  const at::Tensor buffer = at::randn({4, 32});
  // Right for operands that lie apart: a write to one changes the other here.
  const auto result =
      pace::compare("in place", buffer.narrow(0, 0, 3), buffer.narrow(0, 1, 3))
          .options(few_rounds())
          .baseline("copies first",
                    costing(clock, 1000, [](const at::Tensor& to, const at::Tensor& from) { to.copy_(from.add(1)); }))
          .candidate("row by row", costing(clock, 1000,
                                           [](const at::Tensor& to, const at::Tensor& from) {
                                             for (const std::int64_t row : {2, 1, 0}) to[row].copy_(from[row].add(1));
                                           }))
          .run(clock);
  CHECK(result.implementations[1].outcome == pace::Outcome::wrong);
}

TEST_CASE("operands may be anything, and implementations need no tensors") {
  FakeClock clock;
  const auto result =
      pace::compare("sum", std::vector<double>{1, 2, 3}, 4)
          .options(few_rounds())
          .baseline("loop",
                    costing(clock, 200, [](const std::vector<double>& v, int n) { return (v[0] + v[1] + v[2]) * n; }))
          .candidate("formula", costing(clock, 100, [](const std::vector<double>&, int n) { return 6.0 * n; }))
          .run(clock);
  CHECK(result["formula"].checked);
  CHECK_THAT(result["formula"].speedup->median, WithinRel(2.0, 1e-9));

  const auto nothing = pace::compare("nothing")
                           .options(few_rounds())
                           .baseline("a", costing(clock, 100, [] {}))
                           .candidate("b", costing(clock, 100, [] {}))
                           .run(clock);
  CHECK(nothing["b"].outcome == Outcome::measured);
  CHECK_FALSE(nothing["b"].checked);
}

TEST_CASE("a claim does not pass on uncompared outputs, and says the reason") {
  FakeClock clock;
  auto options = few_rounds();
  options.max_rounds = 200;
  const auto compare = [&](const at::Tensor& x, auto function) {
    return pace::compare("uncompared", x)
        .options(options)
        .baseline("old", costing(clock, 200, function))
        .candidate("new", costing(clock, 100, function))
        .expect(pace::SpeedupAtLeast(1.5))
        .expect(pace::NoSlowerThan(1.1))
        .run(clock);
  };
  const auto root = [](const at::Tensor& x) { return x.sqrt(); };
  const auto below_zero = at::rand({16}).add(0.5).neg();
  using pace::Uncompared;
  for (const auto& [result, uncompared, why] :
       {std::tuple{compare(below_zero, root), Uncompared::only_nan, std::string("they are NaN throughout")},
        std::tuple{compare(below_zero, [](const at::Tensor& x) { return x.slice(0, 0, 0).clone(); }), Uncompared::empty,
                   std::string("they have no elements")},
        std::tuple{
            compare(below_zero,
                    [](const at::Tensor& x) { return std::vector<at::Tensor>{x.sqrt(), x.slice(0, 0, 0).clone()}; }),
            Uncompared::empty_or_nan, std::string("they have no elements, or are NaN throughout")},
        std::tuple{compare(below_zero, [](const at::Tensor&) {}), Uncompared::no_output,
                   describe(Uncompared::no_output)}}) {
    const auto& row = result["new"];
    INFO(why << ": " << row.message);
    REQUIRE(row.outcome == Outcome::measured);
    CHECK_FALSE(row.checked);
    CHECK(row.uncompared == uncompared);
    REQUIRE(row.judgements.size() == 2);
    CHECK(row.judgements[0].verdict == pace::Verdict::invalid);
    CHECK_THAT(
        row.judgements[0].message,
        EndsWith(pace::MessageParts::of("which proves nothing", "its outputs were not compared: " + std::string(why))
                     .text()));
    CHECK(row.judgements[1].verdict == pace::Verdict::passed);
    CHECK_THAT(pace::Correct().examine(row).text,
               EndsWith("'new' was not checked: its outputs were not compared: " + std::string(why)));
    // Functions without outputs need no note, unless something is claimed.
    if (uncompared == Uncompared::no_output)
      CHECK_THAT(result.notes, !Catch::Matchers::Contains(ContainsSubstring("Nothing was compared")));
    else
      CHECK_THAT(result.notes, Catch::Matchers::Contains(Catch::Matchers::Equals(
                                   "Nothing was compared of the outputs of 'old': " + std::string(why) + '.')));
  }
  // Where it is declared that nothing is compared, a claim is about times alone.
  const auto declared = pace::compare("uncompared", below_zero)
                            .options(options)
                            .check(pace::test::not_compared())
                            .baseline("old", costing(clock, 200, [](const at::Tensor&) {}))
                            .candidate("new", costing(clock, 100, [](const at::Tensor&) {}))
                            .expect(pace::SpeedupAtLeast(1.5))
                            .run(clock);
  CHECK_FALSE(declared["new"].uncompared);
  CHECK(declared["new"].judgements.at(0).verdict == pace::Verdict::passed);
  // Outputs that are NaN in places, those beside an empty one, and changes to operands are compared.
  const auto in_place = [](const at::Tensor& x) { x.neg_(); };
  const auto with_both = [](const at::Tensor& x) {
    return std::vector<at::Tensor>{x.sqrt(), x.slice(0, 0, 0).clone(), x.add(1)};
  };
  for (const auto& result :
       {compare(at::randn({64}), root), compare(below_zero, with_both), compare(below_zero, in_place)}) {
    CHECK(result["new"].checked);
    CHECK_FALSE(result["new"].uncompared);
    CHECK(result["new"].judgements[0].verdict == pace::Verdict::passed);
    CHECK_THAT(result.notes, !Catch::Matchers::Contains(ContainsSubstring("Nothing was compared")));
  }
}

TEST_CASE("no setter undoes another, whichever is called first") {
  const auto budget = std::chrono::milliseconds(3);
  const auto elapsed = [&](bool options_last) {
    FakeClock clock;
    auto options = few_rounds();
    options.budget = std::chrono::milliseconds(1);
    options.max_rounds = 1'000'000;
    auto comparison = pace::compare("x");
    if (!options_last) comparison.options(options);
    comparison.budget(budget);
    if (options_last) comparison.options(options);
    return comparison.baseline("a", costing(clock, 100'000, [] {})).run(clock).elapsed;
  };
  CHECK(elapsed(true) >= budget);
  CHECK(elapsed(true) == elapsed(false));

  const auto message =
      ContainsSubstring("float64_reference() and another method of check() or of a declaration exclude each other");
  pace::check::CheckOptions bitwise;
  bitwise.method = pace::check::CheckOptions::Method::bitwise;
  CHECK_THROWS_WITH(pace::compare("x").check(bitwise).float64_reference(), message);
  CHECK_THROWS_WITH(pace::compare("x").float64_reference().check(bitwise), message);
}

TEST_CASE("results are published") {
  FakeClock clock;
  std::vector<std::string> heard;
  pace::run_context().on_result([&](const pace::Result& result) { heard.push_back(result.name); });
  (void)pace::compare("heard").options(few_rounds()).baseline("a", costing(clock, 100, [] {})).run(clock);
  pace::run_context().clear_listeners();
  CHECK(heard == std::vector<std::string>{"heard"});
}

TEST_CASE("functions may hold sparse tensors, which operands may not be") {
  FakeClock clock;
  const at::Tensor sparse = at::eye(3).mul(2).to_sparse();
  const auto result =
      pace::compare("scale", at::randn({3, 3}))
          .options(few_rounds())
          .baseline("dense", costing(clock, 300, twice))
          .candidate("sparse", costing(clock, 300, [sparse](const at::Tensor& x) { return at::matmul(sparse, x); }))
          .run(clock);
  CHECK_THAT(result, pace::Correct());
}

TEST_CASE("a null function is an error as soon as it is given") {
  using Function = at::Tensor (*)(const at::Tensor&);
  const auto message = [](const std::string& which) {
    return Message("comparison 'x': " + which + " is null; expected a function that can be called with the operands");
  };
  auto comparison = pace::compare("x", at::ones({2}));
  CHECK_THROWS_MATCHES(comparison.baseline("a", Function()), pace::Error, message("the function of 'a'"));
  CHECK_THROWS_MATCHES(comparison.candidate("b", std::function<at::Tensor(const at::Tensor&)>()), pace::Error,
                       message("the function of 'b'"));
  using Member = at::Tensor (at::Tensor::*)() const;
  CHECK_THROWS_MATCHES(comparison.candidate("c", Member()), pace::Error, message("the function of 'c'"));
  CHECK_THROWS_MATCHES(comparison.float64_reference(Function()), pace::Error,
                       message("the function of the float64 reference"));
  CHECK_THROWS_MATCHES(comparison.renew_each_round(std::function<void(at::Tensor&)>()), pace::Error,
                       message("the function of renew_each_round()"));

  // A refused implementation is no part of the comparison.
  FakeClock clock;
  const auto result = comparison.options(few_rounds())
                          .baseline("a", costing(clock, 300, Function(twice)))
                          .candidate("b", std::function<at::Tensor(const at::Tensor&)>(costing(clock, 300, twice)))
                          .run(clock);
  CHECK(result.implementations.size() == 2);
  CHECK_THAT(result, pace::Correct());
}

TEST_CASE("an ill-formed comparison is an error, before anything runs") {
  const auto nothing = [] {};
  // Results files would have one name for both.
  CHECK_THROWS_AS(pace::compare("x").baseline("\xfe", nothing).candidate("\xff", nothing).run(), pace::Error);
  const auto ignores = [](const at::Tensor&) {};
  CHECK_THROWS_WITH(pace::compare("x", at::ones({2})).baseline("a", ignores).scratch(0).constant(0).run(),
                    ContainsSubstring("declares operand tensor 0 by both scratch() and constant(); why: "));
  CHECK_THROWS_MATCHES(
      pace::compare("x").candidate("a", nothing).run(), pace::Error,
      Message("comparison 'x': needs exactly one baseline, and has none; try: call .baseline(name, function) once"));
  CHECK_THROWS_AS(pace::compare("x").baseline("a", nothing).baseline("b", nothing).run(), pace::Error);
  CHECK_THROWS_MATCHES(pace::compare("x").baseline("a", nothing).candidate("a", nothing).run(), pace::Error,
                       Message("comparison 'x': has two implementations named 'a'; each needs a name of its own"));
  CHECK_THROWS_MATCHES(pace::compare("x").baseline("a", nothing).expect("b", pace::SpeedupAtLeast(1)).run(),
                       pace::Error,
                       Message("comparison 'x': expects something of 'b', which is not one of its candidates"));
  CHECK_THROWS_MATCHES(pace::compare("x").baseline("a", nothing).expect(pace::SpeedupAtLeast(1)).run(), pace::Error,
                       Message("comparison 'x': expects something of its candidates, and has none; try: add "
                               "one by .candidate(name, function)"));
  for (const double amount : {-1.0, std::nan(""), HUGE_VAL}) {
    CHECK_THROWS_MATCHES(pace::compare("x").baseline("a", nothing).bytes(amount).run(), pace::Error,
                         Message("comparison 'x': bytes of one iteration must be a number from 0 on"));
    CHECK_THROWS_MATCHES(pace::compare("x").baseline("a", nothing).flops(amount).run(), pace::Error,
                         Message("comparison 'x': flops of one iteration must be a number from 0 on"));
  }
  // Tensors inside of other operands count, too.
  const at::Tensor dense = at::eye(3);
  CHECK_THROWS_MATCHES(
      pace::compare("x", std::vector<at::Tensor>{dense, dense.to_sparse()}).baseline("a", [](const auto&) {}).run(),
      pace::Error,
      Message(
          "comparison 'x': operand tensor 1 (of 2, counted from 0) is sparse COO, of shape [3, 3]; expected dense, "
          "strided tensors; try: pass its parts as operands, such as indices and values, or let each function hold a "
          "tensor of its own"));
  for (const auto& operand : {dense.to_sparse_csr(), dense.to_mkldnn(), at::_nested_tensor_from_tensor_list({dense})})
    CHECK_THROWS_WITH(pace::compare("x", operand).baseline("a", [](const at::Tensor&) {}).run(),
                      StartsWith("comparison 'x': operand tensor 0 (of 1, counted from 0) is "));
  const auto unnamed = [](const at::Tensor&, const at::Tensor&, const at::Tensor&) {};
  CHECK_THROWS_MATCHES(
      pace::compare("x", dense, dense, dense).baseline("a", unnamed).scratch(7).run(), pace::Error,
      Message("comparison 'x': declares operand tensor 7 (counted from 0) as scratch; expected 0, 1 or 2"));
  CHECK_THROWS_MATCHES(
      pace::compare("x").baseline("a", nothing).scratch(0).run(), pace::Error,
      Message("comparison 'x': declares operand tensor 0 (counted from 0) as scratch; expected none, since there are "
              "none"));
  pace::Options senseless;
  senseless.confidence = 2;
  CHECK_THROWS_AS(pace::compare("x").options(senseless).baseline("a", nothing).run(), pace::Error);
}

TEST_CASE("values of float4 are compared by their bits, and operators that they lack are nobody's fault") {
  FakeClock clock;
  const auto audit = GENERATE(pace::Audit::standard, pace::Audit::strict);
  auto options = few_rounds();
  options.audit = audit;
  const auto copy = [](const at::Tensor& x) { return x.clone(); };
  const at::Tensor bytes = at::randint(256, {64}, at::kByte);
  const auto result =
      pace::compare("float4", bytes.view(at::ScalarType::Float4_e2m1fn_x2))
          .options(options)
          .baseline("old", costing(clock, 300, copy))
          .candidate("new", costing(clock, 100, copy))
          .candidate("wrong", costing(clock, 100, [](const at::Tensor& x) { return at::zeros_like(x); }))
          .run(clock);
  for (const char* const name : {"old", "new"}) {
    INFO(result[name].message);
    CHECK(result[name].outcome == Outcome::measured);
  }
  CHECK(result["wrong"].outcome == Outcome::wrong);
  CHECK_THAT(result["wrong"].message, ContainsSubstring("of 64 elements"));
}

TEST_CASE("where memory runs out, the message advises what would take less") {
  const auto fails = [](const auto&...) -> at::Tensor { throw std::bad_alloc(); };
  const auto message = [&](auto comparison, pace::OperandPolicy operands, pace::Audit audit) {
    FakeClock clock;
    auto options = few_rounds();
    options.operands = operands;
    options.audit = audit;
    return comparison.options(options).baseline("a", fails).run(clock)["a"].message;
  };
  using pace::Audit, pace::OperandPolicy;
  const auto with_operand = [] { return pace::compare("x", at::ones({4})); };
  CHECK_THAT(message(with_operand(), OperandPolicy::crossover, Audit::standard),
             EndsWith("; try: --operands shared, which copies the operands once, or --audit off, or smaller operands"));
  CHECK_THAT(message(with_operand(), OperandPolicy::shared, Audit::standard),
             EndsWith("; try: --audit off, or smaller operands"));
  CHECK_THAT(message(pace::compare("x"), OperandPolicy::crossover, Audit::standard), EndsWith("; try: --audit off"));
  CHECK_THAT(message(pace::compare("x"), OperandPolicy::crossover, Audit::off), !ContainsSubstring("try"));
}

TEST_CASE("the numbers that are drawn after a comparison are what they are without it, and other ones than in it") {
  FakeClock clock;
  auto options = few_rounds();
  const auto draw_after = [&](bool compares) {
    at::manual_seed(options.seed);
    at::Tensor in_call;
    if (compares)
      (void)pace::compare("a", at::ones({64}))
          .options(options)
          .baseline("a", costing(clock, 100,
                                 [&](const at::Tensor& x) {
                                   in_call = at::randn({64});
                                   return x.mul(2);
                                 }))
          .candidate("b", costing(clock, 100, [](const at::Tensor& x) { return x.mul(2); }))
          .run(clock);
    const at::Tensor after = at::randn({64});
    CHECK_FALSE((compares && in_call.equal(after)));
    return after;
  };
  CHECK(draw_after(false).equal(draw_after(true)));
}

}  // namespace
