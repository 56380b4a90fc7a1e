// A measuring program with Catch2's main function for catch2_main_test.
#include <chrono>
#include <iostream>
#include <string>

#include <ATen/Parallel.h>
#include <ATen/ops/add.h>
#include <ATen/ops/ones.h>

#include "pace/catch2.hpp"
#include "pace/pace.hpp"
#include "pace/run/run_context.hpp"
#include "pace/timing/wall.hpp"
#include "tests/support/fake_clock.hpp"

namespace {

/// Compares one call with `calls` of them, and expects them to take at most 1.5 times as long.
pace::Result compare_calls(int calls) {
  pace::test::FakeClock clock;
  clock.advance(pace::timing::WallClock().now());
  const auto add = [&clock](const at::Tensor& x) {
    clock.advance(pace::Nanoseconds(1e4));
    return at::add(x, 1);
  };
  return pace::compare("case", at::ones({16}))
      .baseline("eager", add)
      .candidate("mine",
                 [add, calls](const at::Tensor& x) {
                   for (int i = 1; i < calls; ++i) (void)add(x);
                   return add(x);
                 })
      .expect("mine", pace::NoSlowerThan(1.5))
      .budget(std::chrono::milliseconds(50))
      .run(clock);
}

}  // namespace

TEST_CASE("fast enough") { CHECK_THAT(compare_calls(1), pace::AsExpected()); }
TEST_CASE("too slow", "[.]") { CHECK_THAT(compare_calls(2), pace::AsExpected()); }
TEST_CASE("too slow without an assertion", "[.]") { (void)compare_calls(2); }
TEST_CASE("undecided", "[.]") {
  pace::Result result = compare_calls(1);
  auto& row = result.implementations[1];
  row.judgements.clear();
  row.log_ratios.clear();
  row.speedup->interval = pace::Interval<double>{0.5, 2.1, 0.95};
  result.name = "open";
  row.judgements.push_back(pace::NoSlowerThan(1.02).judge(row));
  pace::run_context().publish(result);
  CHECK_THAT(result, pace::AsExpected());
}
TEST_CASE("no comparison", "[.]") { CHECK(true); }
TEST_CASE("skipped", "[.]") { SKIP("not here"); }
TEST_CASE("one thread", "[.]") {
  CHECK_THAT(compare_calls(1), pace::AsExpected());
  std::cout << at::get_num_threads() << " threads\n";
}
TEST_CASE("threads of its own", "[.]") {
  at::set_num_threads(5);
  CHECK_THAT(compare_calls(1), pace::AsExpected());
  std::cout << at::get_num_threads() << " threads\n";
}
