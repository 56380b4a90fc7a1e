// The baseline against itself, beside a comparison.
#include "pace/measure/controls.hpp"

#include <cmath>
#include <string>
#include <vector>

#include "pace/compare/comparison.hpp"

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_floating_point.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

#include "tests/support/fake_clock.hpp"

namespace {

using Catch::Matchers::ContainsSubstring;
using Catch::Matchers::WithinRel;
using pace::Nanoseconds;
using pace::Options;
using pace::detail::Controls;
using pace::test::FakeClock;
using pace::test::FakeOperation;

/// Log ratios about `centre`, half a per mille to either side.
std::vector<double> around(double centre, std::size_t count) {
  std::vector<double> values;
  for (std::size_t i = 0; i < count; ++i) values.push_back(centre + (i % 2 == 0 ? 5e-4 : -5e-4));
  return values;
}

TEST_CASE("controls: without noise, the same is the same, and added calls are found to the digit") {
  FakeClock clock;
  FakeOperation baseline(clock, 0, [](std::size_t operands) { return Nanoseconds(operands == 0 ? 100 : 130); });
  Controls controls(clock, baseline, 2, 100, Options{});
  for (int cycle = 0; cycle < 400; ++cycle) {
    clock.advance(Nanoseconds(1e6));
    controls.cycle_ended({.elapsed = clock.now()});
  }
  const auto found = controls.summarize(1e-3, 0.95);
  REQUIRE(found.size() == 2);
  CHECK(found[0].injected == 1);
  CHECK(found[0].speedup.median == 1);
  CHECK_FALSE(found[0].proven_slower);
  CHECK_FALSE(found[0].proven_faster);
  CHECK_THAT(found[1].injected, WithinRel(100 / 105.0, 1e-12));
  CHECK_THAT(found[1].speedup.median, WithinRel(100 / 105.0, 1e-12));
  CHECK(found[1].proven_slower);
  CHECK(pace::detail::control_alarm(found) == "");
  CHECK_THAT(pace::detail::describe_controls(found), ContainsSubstring("0.9524x") && ContainsSubstring("(detected)"));
}

TEST_CASE("controls: they take a tenth of the time, and one added call where there is a single one") {
  FakeClock clock;
  std::vector<pace::test::Call> calls;
  FakeOperation baseline(clock, 0, [](std::size_t) { return Nanoseconds(1000); }, &calls);
  Controls controls(clock, baseline, 1, 1, Options{});
  Nanoseconds start = clock.now();
  for (int cycle = 0; cycle < 1000; ++cycle) {
    clock.advance(Nanoseconds(4000));
    controls.cycle_ended({.elapsed = clock.now() - start});
  }
  const double share = controls.took() / (clock.now() - start);
  CHECK(share <= Controls::share);
  CHECK(share > 0.08);
  // Both controls, in each: two of one call; two of one, two of two.
  REQUIRE_FALSE(calls.empty());
  CHECK(calls.size() % 8 == 0);
  std::size_t of_two = 0;
  for (const auto& call : calls) {
    CHECK(call.operands == 0);
    of_two += call.iterations == 2;
  }
  CHECK(of_two == calls.size() / 4);
}

TEST_CASE("controls: a proven difference where there is none, or to the wrong side, speaks against all figures") {
  using pace::detail::control_alarm;
  using pace::detail::judge_control;
  const auto same = judge_control(around(0, 200), 1, 1e-3, 0.95);
  const auto slower = judge_control(around(-0.01, 200), 1, 1e-3, 0.95);
  const auto faster = judge_control(around(0.01, 200), 1, 1e-3, 0.95);
  const auto slowed = judge_control(around(std::log(0.95), 200), 0.95, 1e-3, 0.95);
  const auto not_found = judge_control(around(0, 200), 0.95, 1e-3, 0.95);
  const auto backwards = judge_control(around(0.01, 200), 0.95, 1e-3, 0.95);
  CHECK(control_alarm({same, slowed}) == "");
  CHECK(control_alarm({same, not_found}) == "");
  CHECK_THAT(pace::detail::describe_controls({same, not_found}), ContainsSubstring("not detected"));
  CHECK_THAT(control_alarm({slower, slowed}), ContainsSubstring("differ from itself"));
  CHECK_THAT(control_alarm({faster, slowed}), ContainsSubstring("differ from itself"));
  CHECK_THAT(control_alarm({same, backwards}), ContainsSubstring("proven faster than itself"));
}

TEST_CASE("controls: a comparison that is asked for them has them, with a note") {
  FakeClock clock;
  Options options;
  options.audit = pace::Audit::strict;
  options.budget = Nanoseconds(1e8);
  options.warm_up = Nanoseconds(1);
  options.controls = true;
  const auto taking = [&clock](double time) { return [&clock, time] { clock.advance(Nanoseconds(time)); }; };
  const auto run = [&] {
    return pace::Comparison<>("sleepers")
        .options(options)
        .baseline("a", taking(1000))
        .candidate("b", taking(900))
        .run(clock);
  };
  const auto result = run();
  REQUIRE(result.controls.size() == 2);
  CHECK(result.controls[0].speedup.median == 1);
  CHECK(result.controls[1].proven_slower);
  CHECK_THAT(result.notes.back(), ContainsSubstring("Controls: the baseline against itself: 1.000x"));
  CHECK_THAT(result["b"].speedup->median, WithinRel(1000 / 900.0, 1e-12));
  options.controls = false;
  CHECK(run().controls.empty());
}

}  // namespace
