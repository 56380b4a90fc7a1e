// Audits: their share of the time, the implementations that they reach, and their operands.
#include <functional>
#include <map>
#include <new>
#include <optional>
#include <stdexcept>
#include <string>

#include <ATen/core/Tensor.h>
#include <ATen/ops/add.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/ones.h>
#include <ATen/ops/randn.h>
#include <c10/core/DefaultDtype.h>
#include <c10/core/ScalarTypeToTypeMeta.h>

#include "pace/audit/timed_outputs.hpp"
#include "pace/base/error.hpp"
#include "pace/compare/comparison.hpp"
#include "pace/gate/times.hpp"
#include "pace/run/run_context.hpp"
#include "tests/support/fake_clock.hpp"

// After LibTorch, which has a CHECK of its own.
#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

namespace {

using Catch::Matchers::ContainsSubstring;
using Catch::Matchers::StartsWith;
using pace::Nanoseconds;
using pace::Outcome;
using pace::test::FakeClock;

/// Samples of a few calls.
pace::Options many_rounds() {
  pace::Options options;
  options.audit = pace::Audit::strict;
  options.budget = Nanoseconds(1e7);
  options.warm_up = Nanoseconds(1);
  options.min_sample = Nanoseconds(4000);
  options.resolutions_per_sample = 1;
  return options;
}

}  // namespace

TEST_CASE("audits take at most 5 % of the rounds' time, and do take place") {
  FakeClock clock;
  // A sample is one call, and nearly all of the time is the candidate's: an audit takes as long as a cycle.
  auto options = many_rounds();
  options.min_sample = Nanoseconds(1);
  options.budget = Nanoseconds(1e8);
  const auto taking = [&](double time) {
    return [&clock, time](const at::Tensor& x) { return clock.advance(Nanoseconds(time)), at::add(x, 1); };
  };
  const auto result = pace::compare("case", at::ones({4}))
                          .options(options)
                          .baseline("old", taking(100))
                          .candidate("new", taking(20'000))
                          .run(clock);
  REQUIRE(result["new"].outcome == Outcome::measured);
  REQUIRE(result.rounds > 1000);
  // Nothing else moves this clock between the first sample and the last.
  Nanoseconds sampled{};
  for (const auto& row : result.implementations)
    for (const auto sample : row.samples) sampled += static_cast<double>(result.iterations) * sample;
  const double share = (result.elapsed - sampled) / result.elapsed;
  CHECK(share <= 0.0501);
  CHECK(share > 0.03);
}

TEST_CASE("a baseline that changes an operand in its timed calls is found to have done it") {
  FakeClock clock;
  int calls = 0;
  const auto add = [&](const at::Tensor& x) { return clock.advance(Nanoseconds(1000)), at::add(x, 1); };
  const auto result = pace::compare("case", at::ones({4}))
                          .options(many_rounds())
                          .baseline("old",
                                    [&](const at::Tensor& x) {
                                      auto sum = add(x);
                                      if (++calls > 100) x.fill_(7);
                                      return sum;
                                    })
                          .candidate("new", add)
                          .run(clock);
  CHECK(result["old"].outcome == Outcome::wrong);
  CHECK_THAT(result["old"].message, ContainsSubstring("it changes operand tensor 0"));
  // It is not to blame.
  CHECK(result["new"].outcome == Outcome::refused);
  CHECK_THAT(result["new"].message, ContainsSubstring("there is no baseline to compare with: 'old' wrong"));
}

TEST_CASE("a workspace that a timed call reshapes is a fault, which names both shapes") {
  FakeClock clock;
  const auto adds = [&](bool reshapes) {
    return [&clock, reshapes, calls = 0](const at::Tensor& x, at::Tensor& workspace) mutable {
      clock.advance(Nanoseconds(1000));
      if (reshapes && ++calls > 200) workspace.resize_({1});
      return at::add(x, 1);
    };
  };
  const auto result = pace::compare("case", at::randn({4}), at::ones({4}))
                          .options(many_rounds())
                          .baseline("old", adds(false))
                          .candidate("new", adds(true))
                          .scratch(1)
                          .run(clock);
  CHECK(result["new"].outcome == Outcome::wrong);
  CHECK_THAT(
      result["new"].message,
      ContainsSubstring("it changes what an operand is: restore: the input was a tensor float32 of shape [4] and "
                        "strides [1], and is now float32 of shape [1] and strides [1]"));
}

TEST_CASE("values in outputs that are no tensors are equal bit for bit if they are of one kind") {
  using pace::detail::same_bits;
  CHECK(same_bits("text", "text"));
  CHECK_FALSE(same_bits("text", "other"));
  CHECK_FALSE(same_bits("1", 1));
  CHECK_FALSE(same_bits(0.0, -0.0));
  CHECK_FALSE(same_bits(at::Device("cpu"), at::Device("cpu")));  // judged by tolerances, as other kinds are
}

TEST_CASE("audits go to all sets of operands") {
  FakeClock clock;
  const auto add = [&](const at::Tensor& x) { return clock.advance(Nanoseconds(1000)), at::add(x, 1); };
  // Computes where it was called first, and keeps its answer for every other address.
  const void* first = nullptr;
  std::map<const void*, at::Tensor> kept;
  const auto result = pace::compare("case", at::ones({4}))
                          .options(many_rounds())
                          .baseline("old", add)
                          .candidate("new",
                                     [&](const at::Tensor& x) {
                                       const void* const address = x.const_data_ptr();
                                       if (first == nullptr) first = address;
                                       const auto known = kept.find(address);
                                       if (known == kept.end()) {
                                         auto sum = add(x);
                                         if (address != first) kept[address] = sum;
                                         return sum;
                                       }
                                       clock.advance(Nanoseconds(1000));
                                       return known->second.clone();
                                     })
                          .run(clock);
  CHECK(result["new"].outcome == Outcome::wrong);
  CHECK_THAT(result["new"].message, ContainsSubstring("not in a timed call"));
}

/// Knows the time of its pauses.
struct PausingClock : FakeClock {
  Nanoseconds paused{};
  void pause(Nanoseconds time) override {
    FakeClock::pause(time);
    paused += time;
  }
};

TEST_CASE("an audit that finds something ends the rounds, and those that remain are measured again without it") {
  PausingClock clock;
  int calls = 0;
  const auto add = [&](const at::Tensor& x) { return clock.advance(Nanoseconds(1000)), at::add(x, 1); };
  const at::Tensor kept = at::add(at::ones({4}), 1);
  const auto result = pace::compare("case", at::ones({4}))
                          .options(many_rounds())
                          .baseline("old", add)
                          .candidate("keeps",
                                     [&](const at::Tensor& x) {
                                       auto sum = add(x);
                                       // From some moment in the rounds on.
                                       return ++calls > 200 ? kept.clone() : sum;
                                     })
                          .candidate("fine", add)
                          .run(clock);
  CHECK(result["keeps"].outcome == Outcome::wrong);
  CHECK_THAT(result["keeps"].message, ContainsSubstring("so the answer was kept"));
  REQUIRE(result["fine"].outcome == Outcome::measured);
  CHECK(result["fine"].context.rounds_per_cycle == 2);
  CHECK(result["fine"].samples.size() == result.rounds);
  CHECK(result.stop_reason == pace::StopReason::budget);
  CHECK(result.elapsed >= many_rounds().budget);
  // Nothing was sampled after the finding: otherwise both measurements would have taken the whole budget.
  CHECK(clock.now() - clock.paused < 2 * many_rounds().budget);
}

TEST_CASE("an exception in the questions after the rounds is of one row alone, and the others keep their figures") {
  FakeClock clock;
  // Audits of the rounds have few unseen values, and the samples of calls on unseen values after them have many.
  const at::Tensor given = at::randn({4, 4});
  constexpr int more_than_audits = 8;
  at::Tensor last = given.clone();
  int others = 0;
  const auto add = [&](const at::Tensor& x) { return clock.advance(Nanoseconds(1000)), at::add(x, 1); };
  const bool of_candidate = GENERATE(true, false), out_of_memory = GENERATE(true, false);
  CAPTURE(of_candidate, out_of_memory);
  const auto throwing = [&](bool throws) {
    return [&, throws](const at::Tensor& x) {
      // The clock has moved by the budget once the rounds are over.
      if (throws && clock.now() > many_rounds().budget && !x.equal(given) && !x.equal(last)) {
        last = x.clone();
        ++others;
      }
      if (others > more_than_audits) {
        if (out_of_memory) throw std::bad_alloc();
        throw std::runtime_error("out of luck");
      }
      return add(x);
    };
  };
  pace::check::CheckOptions check;
  check.edge_values = false;
  const auto result = pace::compare("case", given)
                          .options(many_rounds())
                          .check(check)
                          .baseline("old", add)
                          .candidate("new", throwing(of_candidate))
                          .candidate("fine", add)
                          .run(clock);
  for (const char* const name : {"old", "fine"}) {
    CAPTURE(name, result[name].message);
    CHECK(result[name].outcome == Outcome::measured);
    CHECK(result[name].samples.size() == result.rounds);
  }
  // They were measured beside it, and not again without it.
  CHECK(result["fine"].context.rounds_per_cycle == 3);
  const auto& row = result["new"];
  CAPTURE(row.message, result.notes);
  if (of_candidate) {
    CHECK(row.outcome == Outcome::threw);
    // The memory that others have left may be taken once, and not twice.
    CHECK_THAT(row.message,
               StartsWith(std::string("after the rounds: ") + (out_of_memory ? "memory ran out" : "out of luck")));
    CHECK_FALSE(row.speedup);
    return;
  }
  CHECK(row.outcome == Outcome::measured);
  CHECK(row.speedup);
}

TEST_CASE("questions that the baseline's exceptions leave out are asked again, and then leave a claim undecided") {
  FakeClock clock;
  const at::Tensor given = at::randn({4, 4});
  const bool out_of_memory = GENERATE(true, false), always = GENERATE(true, false);
  CAPTURE(out_of_memory, always);
  auto options = many_rounds();
  options.least_duration = {};
  options.stop = pace::StopPolicy::budget;
  constexpr int more_than_audits = 4, once_more = 2;
  at::Tensor last = given.clone();
  int others = 0, thrown = 0;
  const auto add = [&](double cost) {
    return [&, cost](const at::Tensor& x) { return clock.advance(Nanoseconds(cost)), at::add(x, 1); };
  };
  pace::check::CheckOptions check;
  check.edge_values = false;
  const auto result = pace::compare("case", given)
                          .options(options)
                          .check(check)
                          .baseline("old",
                                    [&, slow = add(2000)](const at::Tensor& x) {
                                      // The clock has moved by the budget once the rounds are over.
                                      if (clock.now() > options.budget && !x.equal(given) && !x.equal(last)) {
                                        last = x.clone();
                                        ++others;
                                      }
                                      if (others > more_than_audits && (always || thrown < once_more)) {
                                        ++thrown;
                                        if (out_of_memory) throw std::bad_alloc();
                                        throw std::runtime_error("out of luck");
                                      }
                                      return slow(x);
                                    })
                          .candidate("new", add(1000))
                          .expect(pace::SpeedupAtLeast(1.2))
                          .expect(pace::NoSlowerThan(1.2))
                          .run(clock);
  const auto& row = result["new"];
  CAPTURE(row.message, result.notes, row.context.describe(pace::Severity::unchecked), others, thrown);
  CHECK(thrown >= once_more);
  REQUIRE(row.judgements.size() == 2);
  CHECK(row.judgements[1].verdict == pace::Verdict::passed);
  if (!always) {
    CHECK(row.context.describe(pace::Severity::unchecked) == "");
    CHECK(row.judgements[0].verdict == pace::Verdict::passed);
    return;
  }
  CHECK(row.judgements[0].verdict == pace::Verdict::undecided);
  CHECK_THAT(row.context.describe(pace::Severity::unchecked),
             StartsWith("it was not checked for everything after the rounds, since the baseline threw: ") &&
                 ContainsSubstring(out_of_memory ? "; try: give it more memory" : "unseen_values"));
}

TEST_CASE("a device that is lost in the baseline's call on unseen values is no answer") {
  FakeClock clock;
  const at::Tensor given = at::ones({4});
  const auto add = [&](const at::Tensor& x) { return clock.advance(Nanoseconds(1000)), at::add(x, 1); };
  const auto result = pace::compare("case", given)
                          .options(many_rounds())
                          .baseline("old",
                                    [&](const at::Tensor& x) {
                                      if (!x.equal(given)) throw pace::DeviceLost("an illegal address");
                                      return add(x);
                                    })
                          .candidate("new", add)
                          .run(clock);
  CHECK_THAT(result.lost_device, ContainsSubstring("an illegal address"));
  CHECK_FALSE(result["new"].speedup);
}

namespace {

/// A candidate whose calls take 100 us after the rounds, for so long, and 1 us before and later. `at_first` is called
/// before the first of the slow ones.
pace::ImplementationResult slow_after_rounds(
    FakeClock& clock, Nanoseconds slow_for, const std::function<void()>& at_first = [] {}) {
  std::optional<Nanoseconds> since;
  return pace::compare("case", at::randn({4, 4}))
      .options(many_rounds())
      .baseline("old", [&](const at::Tensor& x) { return clock.advance(Nanoseconds(1000)), at::add(x, 1); })
      .candidate("new",
                 [&](const at::Tensor& x) {
                   // The clock has moved by the budget once the rounds are over.
                   if (!since && clock.now() > many_rounds().budget) {
                     since = clock.now();
                     at_first();
                   }
                   clock.advance(Nanoseconds(since && clock.now() - *since < slow_for ? 100'000 : 1000));
                   return at::add(x, 1);
                 })
      .run(clock)["new"];
}

}  // namespace

TEST_CASE("a candidate that stays slow after the rounds is fast only while it is timed") {
  FakeClock clock;
  const auto row = slow_after_rounds(clock, Nanoseconds(1e12));
  CHECK(row.outcome == Outcome::wrong);
  CHECK_THAT(row.message, StartsWith("its calls take 100 us after the rounds, and took 1.00 us in them"));
}

TEST_CASE("a candidate that is interrupted after the rounds, in more tries than one, is not") {
  FakeClock clock;
  const auto row = slow_after_rounds(clock, Nanoseconds(2e8));
  CHECK(row.message == "");
  CHECK(row.outcome == Outcome::measured);
  CHECK(row.context.describe(pace::Severity::unchecked) == "");
}

TEST_CASE("where no time is left to see whether it stays slow, the row says that") {
  FakeClock clock;
  const auto row = slow_after_rounds(clock, Nanoseconds(1e12), [&] {
    pace::run_context().deadline = {clock.now() + Nanoseconds(2e8), "the test's time is over"};
  });
  pace::run_context().deadline.reset();
  CHECK(row.outcome == Outcome::measured);
  CHECK_THAT(row.context.describe(pace::Severity::unchecked),
             ContainsSubstring("whether it stays as slow as it was for a moment after the rounds"));
}

TEST_CASE("what a candidate leaves behind when it throws is not held against those that are measured again") {
  FakeClock clock;
  const bool operand = GENERATE(true, false);
  CAPTURE(operand);
  int calls = 0;
  const auto add = [&](const at::Tensor& x) { return clock.advance(Nanoseconds(1000)), at::add(x, 1); };
  const auto result = pace::compare("case", at::ones({4}))
                          .options(many_rounds())
                          .baseline("old", add)
                          .candidate("throws",
                                     [&](const at::Tensor& x) {
                                       if (++calls <= 200) return add(x);
                                       if (operand)
                                         x.fill_(7);
                                       else
                                         c10::set_default_dtype(c10::scalarTypeToTypeMeta(at::kDouble));
                                       throw std::runtime_error("out of luck");
                                     })
                          .candidate("fine", add)
                          .run(clock);
  CHECK(result["throws"].outcome == Outcome::threw);
  CHECK(result["throws"].message == "out of luck");
  CAPTURE(result["fine"].message);
  CHECK(result["fine"].outcome == Outcome::measured);
  CHECK(c10::get_default_dtype_as_scalartype() == at::kFloat);
}

TEST_CASE("an exception on values which pace made has the values and the remedy in its message") {
  FakeClock clock;
  // The same in all runs of the test: the generated cases keep the tensor of the first run.
  const at::Tensor given = at::arange(16).sin().mul(2).view({4, 4});
  const auto add = [&](const at::Tensor& x) { return clock.advance(Nanoseconds(1000)), at::add(x, 1); };
  struct Case {
    std::function<bool(const at::Tensor&)> throws;
    std::string which, remedy;
  };
  const double largest = given.abs().max().item<double>();
  const auto tried = GENERATE_COPY(Case{[=](const at::Tensor& x) { return !x.equal(given); },
                                        "pace drew those of operand tensor 0 (varied at random",
                                        "if the code relies on special values, choose other unseen values or none "
                                        "(check::CheckOptions::unseen_values = scaled or "
                                        "none in C++, --audit off on a command line)"},
                                   Case{[=](const at::Tensor& x) { return x.abs().max().item<double>() > 2 * largest; },
                                        "pace tried large values (the operands times 64)",
                                        "if the code relies on special values, leave such values out: "
                                        "check::CheckOptions::edge_values = false in C++, --audit off "
                                        "on a command line"});
  const auto result = pace::compare("case", given)
                          .options(many_rounds())
                          .baseline("old", add)
                          .candidate("new",
                                     [&](const at::Tensor& x) {
                                       if (tried.throws(x)) throw std::runtime_error("out of luck");
                                       return add(x);
                                     })
                          .run(clock);
  CHECK_THAT(result["new"].message,
             ContainsSubstring("out of luck. This was a call on unseen values: " + tried.which) &&
                 ContainsSubstring(tried.remedy));
}
