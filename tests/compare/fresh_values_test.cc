#include "pace/compare/integrity/fresh_values.hpp"

#include <vector>

#include <ATen/ops/arange.h>
#include <ATen/ops/equal.h>
#include <ATen/ops/ones.h>
#include <ATen/ops/tensor.h>
#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

#include "pace/compare/integrity/novelty.hpp"
#include "tests/support/fake_clock.hpp"

namespace {

using pace::Nanoseconds;
using pace::detail::Renewal;

at::Tensor numbers(std::initializer_list<double> values) { return at::tensor(std::vector<double>(values)); }

TEST_CASE("halving is exact, and leaves integers, bools and what is not there alone") {
  const std::vector<at::Tensor> tensors{numbers({1, -3, 0, 0.1}), at::arange(4), at::ones({2}, at::kBool), at::Tensor(),
                                        at::ones({0})};
  pace::detail::renew(Renewal::halve, tensors);
  CHECK(at::equal(tensors[0], numbers({0.5, -1.5, 0, 0.05})));
  CHECK(at::equal(tensors[1], at::arange(4)));
  CHECK(at::equal(tensors[2], at::ones({2}, at::kBool)));
}

TEST_CASE("memory that several operands share, or one element several times, is halved once") {
  const auto whole = numbers({2, 4, 6, 8});
  pace::detail::renew(Renewal::halve, {whole, whole.narrow(0, 1, 2)});
  CHECK(at::equal(whole, numbers({1, 2, 3, 4})));
  const auto row = numbers({2, 4});
  const auto expanded = row.unsqueeze(0).expand({3, 2});
  pace::detail::renew(Renewal::halve, {expanded});
  CHECK(at::equal(row, numbers({1, 2})));
}

TEST_CASE("scaled each: by powers of two that differ from tensor to tensor") {
  const std::vector<at::Tensor> tensors{numbers({8}), numbers({8}), numbers({8}), numbers({8})};
  pace::detail::renew(Renewal::scale_each, tensors);
  CHECK(at::equal(tensors[0], numbers({4})));
  CHECK(at::equal(tensors[1], numbers({2})));
  CHECK(at::equal(tensors[2], numbers({1})));
  CHECK(at::equal(tensors[3], numbers({4})));
}

TEST_CASE("rotated: the same values in other places, but not what lies in the gaps of a view") {
  const auto x = numbers({1, 2, 3, 4, 5});
  pace::detail::renew(Renewal::rotate, {x});
  CHECK(at::equal(x, numbers({3, 4, 5, 1, 2})));  // by 5 / 2 + 1 places
  const auto memory = numbers({1, 9, 2, 9, 3});
  pace::detail::renew(Renewal::rotate, {memory.slice(0, 0, 5, 2)});
  CHECK(at::equal(memory, numbers({1, 9, 2, 9, 3})));
}

/// Calls of `on_new` ns on new values and `on_known` ns on known ones; every `each` th takes a thousand times as long.
std::string novelty(double on_new, double on_known, int each = 0) {
  pace::test::FakeClock clock;
  bool is_new = false;
  int calls = 0;
  const auto timed_call = [&] {
    const double usual = is_new ? on_new : on_known;
    is_new = false;
    return Nanoseconds(each > 0 && ++calls % each == 0 ? 1000 * usual : usual);
  };
  return pace::detail::find_novelty_effect(clock, 8, timed_call, [&] { is_new = true; });
}

TEST_CASE("calls that take more than twice as long on new values are found, by eight pairs twice") {
  using Catch::Matchers::ContainsSubstring;
  CHECK_THAT(novelty(21'000, 10'000), ContainsSubstring("at least 21.0 us, and at most 10.0 us"));
  CHECK(novelty(19'000, 10'000) == "");
  CHECK(novelty(10'000, 10'000) == "");
  CHECK(novelty(10'000, 30'000) == "");
  CHECK(novelty(900, 10) == "");                     // less than a hundred resolutions of the clock
  CHECK_FALSE(novelty(21'000, 10'000, 17).empty());  // one interrupt in each batch of 16 changes nothing
  CHECK(novelty(10'000, 10'000, 3) == "");
}

TEST_CASE("pairs are as many as fit into the time, up to eight; fewer than three say nothing") {
  using pace::detail::affordable_pairs;
  CHECK(affordable_pairs(Nanoseconds(400), Nanoseconds(10)) == 8);
  CHECK(affordable_pairs(Nanoseconds(160), Nanoseconds(10)) == 4);  // twice, of two calls each
  CHECK(affordable_pairs(Nanoseconds(119), Nanoseconds(10)) == 0);
  CHECK(affordable_pairs(Nanoseconds(100), Nanoseconds(0)) == 8);
}

}  // namespace
