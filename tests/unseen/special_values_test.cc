// Other values for operands with a property that a draw keeps: constants, products, rows, and integers in place.
#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include <ATen/core/Tensor.h>
#include <ATen/ops/allclose.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/equal.h>
#include <ATen/ops/eye.h>
#include <ATen/ops/full.h>
#include <ATen/ops/ones.h>
#include <ATen/ops/rand.h>
#include <ATen/ops/randn.h>
#include <ATen/ops/tensor.h>
#include <ATen/ops/zeros.h>

#include "pace/base/random.hpp"
#include "pace/unseen/special_values.hpp"
#include "pace/values/value_structure.hpp"

// After LibTorch, which has a CHECK of its own.
#include <catch2/catch_test_macros.hpp>

namespace {

using pace::SplitMix64;
using pace::detail::holds_for_all;
using pace::detail::LowerBounds;
using pace::detail::structure_of;
using Longs = std::vector<std::int64_t>;

constexpr double inf = std::numeric_limits<double>::infinity();
constexpr std::int64_t largest_int = std::numeric_limits<std::int32_t>::max();

at::Tensor doubles(const std::vector<double>& values) { return at::tensor(values, at::kDouble); }
at::Tensor longs(const std::vector<std::int64_t>& values) { return at::tensor(values, at::kLong); }
at::Tensor sorted(const at::Tensor& values) { return std::get<0>(values.flatten().sort()); }

/// `change(values, ...)` of a copy of `given`, and what has become of it.
struct Changed {
  bool changed = false;
  at::Tensor values;
};
template <class Change>
Changed after(const Change& change, const at::Tensor& given, std::uint64_t seed = 1) {
  SplitMix64 random(seed);
  at::Tensor values = given.clone();
  const bool changed = change(values, random);
  return {changed, values};
}

TEST_CASE("a constant is one finite number other than zero in several places") {
  const struct {
    const char* what;
    at::Tensor values;
    bool constant;
  } rows[] = {
      {"a number", doubles({2.5, 2.5}), true},
      {"a negative number", doubles({-1, -1, -1}), true},
      {"integers", longs({3, 3}), true},
      {"two numbers", doubles({2.5, 2.5, 2.25}), false},
      {"zeros", doubles({0, 0}), false},
      {"infinities", doubles({inf, inf}), false},
      {"NaN", doubles({std::nan(""), std::nan("")}), false},
      {"one place", doubles({2.5}), false},
      {"complex numbers", doubles({2.5, 2.5}).to(at::kComplexDouble), false},
  };
  for (const auto& row : rows) {
    INFO(row.what);
    CHECK(pace::detail::is_constant(row.values) == row.constant);
  }
}

TEST_CASE("an eighth of ones become zeros, and other constants stay") {
  const auto ones = after(pace::detail::zero_some_ones, at::ones({40, 20}));
  CHECK(ones.changed);
  const auto zeros = ones.values.eq(0).sum().item<std::int64_t>();
  CHECK(zeros > 60);
  CHECK(zeros < 140);
  CHECK(ones.values.eq(1).sum().item<std::int64_t>() == 800 - zeros);
  for (const auto& given : {at::full({40, 20}, 2.0), at::zeros({9}), at::full({9}, -1.0), doubles({1, 1, 0})}) {
    const auto other = after(pace::detail::zero_some_ones, given);
    CHECK_FALSE(other.changed);
    CHECK(at::equal(other.values, given));
  }
}

TEST_CASE("constants become different numbers of up to their size, whole if they are whole and not 1") {
  const struct {
    const char* what;
    at::Tensor given;
    bool whole;
    double least, most;
  } rows[] = {
      {"a number", at::full({64}, 2.5, at::kDouble), false, 1.25, 2.5},
      {"a negative number", at::full({64}, -2.5, at::kDouble), false, -2.5, -1.25},
      {"ones", at::ones({64}, at::kDouble), false, 0.5, 1},
      {"minus ones", at::full({64}, -1.0, at::kDouble), false, -1, -0.5},
      {"a count", at::full({64}, 9.0, at::kDouble), true, 5, 9},
      {"two, which has one smaller count", at::full({64}, 2.0, at::kDouble), true, 1, 2},
      {"minus two", at::full({64}, -2.0, at::kDouble), true, -2, -1},
  };
  const auto unequal = [](at::Tensor& values, SplitMix64& random) {
    return pace::detail::make_unequal(values, structure_of(values), random);
  };
  for (const auto& row : rows) {
    INFO(row.what);
    const auto now = after(unequal, row.given);
    CHECK(now.changed);
    CHECK(holds_for_all(now.values.ge(row.least).logical_and(now.values.le(row.most))));
    CHECK_FALSE(holds_for_all(now.values.eq(now.values[0])));
    CHECK(holds_for_all(now.values.eq(now.values.round())) == row.whole);
  }
  // Rows keep their property.
  const auto shares = after(unequal, at::full({5, 8}, 1 / 8.0, at::kDouble));
  CHECK(shares.changed);
  CHECK(at::allclose(shares.values.sum(1), at::ones({5}, at::kDouble)));
  const auto lengths = after(unequal, at::full({5, 4}, 0.5, at::kDouble));
  CHECK(lengths.changed);
  CHECK(at::allclose(lengths.values.square().sum(1), at::ones({5}, at::kDouble)));
  const auto logs = after(unequal, at::full({5, 8}, -std::log(8.0), at::kDouble));
  CHECK(logs.changed);
  CHECK(at::allclose(logs.values.exp().sum(1), at::ones({5}, at::kDouble)));
  for (const auto& given : {doubles({2, 2, 3}), at::zeros({9}, at::kDouble)}) {
    const auto stays = after(unequal, given);
    CHECK_FALSE(stays.changed);
    CHECK(at::equal(stays.values, given));
  }
}

TEST_CASE("repeated numbers take each other's places, but zeros, and numbers that have a structure besides, stay") {
  const at::Tensor counts =
      longs({4, 9, 1, 8, 3, 7, 2, 9, 5, 6, 0, 8, 4, 9, 1, 7, 5, 5, 6, 2, 8, 0, 4, 3, 3}).view({5, 5}).to(at::kDouble);
  const at::Tensor row = at::randn({1, 8}, at::kDouble), product = at::ones({6, 1}, at::kDouble).mul(row);
  const at::Tensor symmetric = counts.add(counts.t());
  const struct {
    const char* what;
    at::Tensor given;
    bool mixed;
  } rows[] = {
      {"counts", counts, true},
      {"equal rows", product, true},
      {"equal rows of whole numbers", at::ones({6, 1}, at::kDouble).mul(doubles({1, 5, 3, 2, 9})), true},
      {"counts once in each line", doubles({0, 1, 2, 3, 4, 5, 5, 4, 3, 1, 2, 0}).view({2, 6}), false},
      {"numbers of their own", at::randn({5, 5}, at::kDouble), false},
      {"a vector", counts.flatten(), false},
      {"a constant", at::full({5, 5}, 3.0, at::kDouble), false},
      {"rows in order", std::get<0>(counts.sort(1)), false},
      {"a symmetric matrix", symmetric, false},
      {"one-hot rows", at::eye(5, at::kDouble).index_select(0, longs({0, 3, 3, 2, 1, 4, 0})), false},
      {"coordinates", counts.view({25, 1}).narrow(0, 0, 24).view({8, 3}), false},
      {"an infinity", counts.masked_fill(counts.eq(9), inf), false},
      {"a Toeplitz matrix",
       longs({1, 2, 3, 4, 7, 8, 1, 2, 3, 4, 9, 8, 1, 2, 3, 5, 9, 8, 1, 2, 3, 5, 9, 8, 1}).view({5, 5}).to(at::kDouble),
       false},
      {"complex numbers", product.to(at::kComplexDouble), false},
      {"two numbers but zeros", doubles({0, 0, 3, 0, 0, 0, 0, 0, 5, 0}).view({2, 5}), false},
  };
  for (const auto& each : rows) {
    INFO(each.what);
    const auto now =
        after([](at::Tensor& values,
                 SplitMix64& random) { return pace::detail::mix_elements(values, structure_of(values), random); },
              each.given);
    CHECK(now.changed == each.mixed);
    CHECK(at::equal(now.values, each.given) != each.mixed);
    CHECK(at::equal(now.values.eq(0), each.given.eq(0)));
    if (!each.given.is_complex()) CHECK(at::equal(sorted(now.values), sorted(each.given)));
  }
}

TEST_CASE("equal rows with a property become unlike, and rows of one number each become rows in order") {
  const at::Tensor row = at::rand({1, 6}, at::kDouble).add(0.1), six = at::ones({5, 1}, at::kDouble);
  const at::Tensor shares = six.mul(row.div(row.sum())), unit = six.mul(row.div(row.square().sum().sqrt()));
  const at::Tensor ordered = std::get<0>(shares.sort(1)), falling = ordered.flip(1);
  const at::Tensor single = doubles({0.25, 3.5, 1.25, 7.5, 2.75}).unsqueeze(1).repeat({1, 6});
  enum class Keeps { nothing, sum, length, logarithm };
  const struct {
    const char* what;
    at::Tensor given;
    bool unlike;
    Keeps keeps = Keeps::nothing;
    int order = 0;
  } rows[] = {
      {"shares", shares, true, Keeps::sum},
      {"shares in order", ordered, true, Keeps::sum, 1},
      {"shares in the other order", falling, true, Keeps::sum, -1},
      {"directions", unit, true, Keeps::length},
      {"log-probabilities", shares.log(), true, Keeps::logarithm},
      {"rows of one number", single, true, Keeps::nothing, 1},
      {"equal rows without a property", six.mul(row), false},
      {"rows that differ", shares.mul(row).div(shares.mul(row).sum(1, true)).mul(shares.flip(1)), false},
      {"one row", shares.narrow(0, 0, 1), false},
      {"a vector", shares[0], false},
      {"a constant", at::full({5, 8}, 1 / 8.0, at::kDouble), false},
      {"whole numbers", single.mul(4), false},
      {"complex numbers", shares.to(at::kComplexDouble), false},
  };
  for (const auto& each : rows) {
    INFO(each.what);
    const auto now =
        after([](at::Tensor& values,
                 SplitMix64& random) { return pace::detail::make_rows_unlike(values, structure_of(values), random); },
              each.given);
    CHECK(now.changed == each.unlike);
    if (!each.unlike) {
      CHECK(at::equal(now.values, each.given));
      continue;
    }
    const auto& values = now.values;
    CHECK_FALSE(at::allclose(values[0].div(values[0][0]), values[1].div(values[1][0])));
    const auto ones = at::ones({5}, at::kDouble);
    if (each.keeps == Keeps::sum) CHECK(at::allclose(values.sum(1), ones));
    if (each.keeps == Keeps::length) CHECK(at::allclose(values.square().sum(1), ones));
    if (each.keeps == Keeps::logarithm) CHECK(at::allclose(values.exp().sum(1), ones));
    if (each.order != 0) CHECK(holds_for_all(values.diff().mul(each.order).ge(0)));
  }
}

TEST_CASE("sizes, lengths and masks become smaller and stay in order; indices, offsets and markers stay") {
  const struct {
    const char* what;
    Longs given;
    LowerBounds bounds;
    bool lower;
  } rows[] = {
      {"a size", {64}, {}, true},
      {"a size of 2", {2}, {}, true},
      {"a size of 1", {1}, {}, false},
      {"a size that is the least", {64}, {.least = 64}, false},
      {"a size above the least", {64}, {.least = 60}, true},
      {"sizes", {64, 32, 128}, {}, true},
      {"sizes of which the largest stays", {64, 32, 128}, {.keeps_largest = true}, true},
      {"five numbers in no order", {6, 3, 8, 9, 4}, {}, false},
      {"full lengths", {64, 64, 64, 64, 64, 64}, {}, true},
      {"full lengths of 2", {2, 2, 2, 2, 2, 2}, {}, true},
      {"full lengths of which one stays", {64, 64, 64, 64, 64, 64}, {.keeps_largest = true}, true},
      {"descending lengths", {90, 70, 70, 50, 30}, {}, true},
      {"descending lengths with their sum", {90, 70, 70, 50, 30}, {.keeps_sum = true}, true},
      {"descending lengths with their sum and largest",
       {90, 70, 70, 50, 30},
       {.keeps_sum = true, .keeps_largest = true},
       true},
      {"offsets", {0, 3, 8}, {}, false},
      {"more offsets", {1, 3, 8, 20, 40}, {}, false},
      {"zeros", {0, 0, 0}, {}, false},
      {"a marker", {8, -1, 4}, {}, false},
      {"a large size", {largest_int}, {}, true},
      {"an address", {largest_int + 1}, {}, false},
      {"three ones", {1, 1, 1}, {}, false},
  };
  for (const auto& row : rows) {
    INFO(row.what);
    int changes = 0;
    for (std::uint64_t seed = 1; seed <= 8; ++seed) {
      CAPTURE(seed);
      const auto given = longs(row.given);
      const auto now =
          after([&](at::Tensor& values,
                    SplitMix64& random) { return pace::detail::lower_integers(values, row.bounds, random); },
                given, seed);
      CHECK(at::equal(now.values, given) != now.changed);
      if (!now.changed) continue;
      ++changes;
      CHECK(holds_for_all(now.values.ge(1)));
      CHECK(at::equal(now.values.sum(), given.sum()) == row.bounds.keeps_sum);
      if (row.bounds.keeps_largest) CHECK(at::equal(now.values.max(), given.max()));
      if (row.bounds.keeps_sum) {
        CHECK(holds_for_all(now.values.ge(given.min()).logical_and(now.values.le(given.max()))));
        CHECK(holds_for_all(now.values.diff().le(0)));
        continue;
      }
      CHECK(holds_for_all(now.values.le(given)));
      CHECK(holds_for_all(now.values.ge(given.clamp_max(row.bounds.least))));
      // No more than a half is taken away, and those in order stay so.
      CHECK(holds_for_all(now.values.mul(2).add(1).ge(given)));
      const bool constant = holds_for_all(given.eq(given[0]));
      if (constant && given.numel() > 1) CHECK_FALSE(holds_for_all(now.values.eq(now.values[0])));
      if (!constant) CHECK(at::equal(now.values.argsort(), given.argsort()));
    }
    // Parts of a sum may move back by chance.
    CHECK(changes >= (row.bounds.keeps_largest && row.bounds.keeps_sum ? 3 : row.lower ? 8 : 0));
    CHECK((changes > 0) == row.lower);
  }
}

TEST_CASE("masks of ones keep the first ones of each row, fewer from row to row, and each row one at least") {
  const auto lower = [](at::Tensor& values, SplitMix64& random) {
    return pace::detail::lower_integers(values, {}, random);
  };
  const auto now = after(lower, at::ones({6, 2, 16}, at::kLong));
  CHECK(now.changed);
  const auto rows = now.values.view({12, 16}), counts = rows.sum(1);
  CHECK(at::equal(rows, at::arange(16).lt(counts.unsqueeze(1)).to(at::kLong)));
  CHECK(holds_for_all(counts.ge(8).logical_and(counts.lt(16))));
  CHECK(holds_for_all(counts.diff().le(0)));
  CHECK(after(lower, at::ones({6, 4}, at::kBool)).changed);
  CHECK_FALSE(after(lower, at::ones({6, 3}, at::kBool)).changed);
}

}  // namespace
