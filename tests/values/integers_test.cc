// Integers of operands: which of them describe their own places, other operands or sizes, and how they change.
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include <ATen/core/Tensor.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/equal.h>
#include <ATen/ops/eye.h>
#include <ATen/ops/nonzero.h>
#include <ATen/ops/ones.h>
#include <ATen/ops/randint.h>
#include <ATen/ops/randperm.h>
#include <ATen/ops/tensor.h>
#include <ATen/ops/zeros.h>

#include "pace/base/random.hpp"
#include "pace/values/integer_places.hpp"
#include "pace/values/kept_integers.hpp"
#include "pace/values/padding.hpp"
#include "pace/values/related_integers.hpp"
#include "pace/values/replaced_values.hpp"
#include "pace/values/value_structure.hpp"

// After LibTorch, which has a CHECK of its own.
#include <catch2/catch_test_macros.hpp>

namespace {

using pace::SplitMix64;
using Longs = std::vector<std::int64_t>;

at::Tensor longs(const Longs& values) { return at::tensor(values, at::kLong); }
/// Rows of `width` integers.
at::Tensor rows_of(std::int64_t width, const Longs& values) { return longs(values).view({-1, width}); }
/// Where `places` are true, in a flat order.
at::Tensor places_of(const at::Tensor& places) { return at::nonzero(places.flatten()).flatten(); }
/// How many elements differ.
std::int64_t differing(const at::Tensor& one, const at::Tensor& other) {
  return one.ne(other).sum().item<std::int64_t>();
}

TEST_CASE("integers follow from others that they count, group or invert, and from no others") {
  const struct {
    const char* what;
    Longs numbers, others;
    bool follow;
  } rows[] = {
      {"an inverse permutation", {2, 0, 3, 1}, {1, 3, 0, 2}, true},
      {"another permutation", {2, 0, 3, 1}, {1, 0, 3, 2}, false},
      {"offsets of lengths with both ends", {3, 1, 2}, {0, 3, 4, 6}, true},
      {"offsets of lengths that begin elsewhere", {3, 1, 2}, {5, 8, 9, 11}, true},
      {"ends of lengths", {3, 1, 2}, {3, 4, 6}, true},
      {"starts of lengths", {3, 1, 2}, {0, 3, 4}, true},
      {"offsets with another last one", {3, 1, 2}, {0, 3, 4, 5}, false},
      {"starts with another last one", {3, 1, 2}, {0, 3, 5}, false},
      {"lengths do not follow from their offsets", {0, 3, 4, 6}, {3, 1, 2}, false},
      {"counts of groups", {0, 2, 2, 1, 0, 2}, {2, 1, 3}, true},
      {"counts with an empty group", {0, 2, 2, 1, 0, 2}, {2, 1, 3, 0}, true},
      {"other counts", {0, 2, 2, 1, 0, 2}, {2, 2, 3}, false},
      {"ends of counted groups", {0, 2, 2, 1, 0, 2}, {2, 3, 6}, true},
      {"starts of counted groups", {0, 2, 2, 1, 0, 2}, {0, 2, 3}, true},
      {"offsets of counted groups", {0, 2, 2, 1, 0, 2}, {0, 2, 3, 6}, true},
      {"offsets of counted groups that begin elsewhere", {0, 2, 2, 1, 0, 2}, {5, 7, 8, 11}, true},
      {"offsets of other groups", {0, 2, 2, 1, 0, 2}, {0, 2, 4, 6}, false},
      {"counts of groups out of range", {0, 3, 3, 1, 0, 3}, {2, 1, 3}, false},
      {"counts beside a negative group", {0, -1, 2, 1, 0, 2}, {2, 1, 2}, false},
      {"a single number", {3}, {0, 3}, false},
      {"a single other", {3, 1}, {4}, false},
  };
  for (const auto& row : rows) {
    INFO(row.what);
    const auto numbers = longs(row.numbers), others = longs(row.others);
    CHECK(pace::detail::follows_from(numbers, others) == row.follow);
    CHECK(pace::detail::follows_from(numbers.to(at::kInt), others) == row.follow);
    // Vectors of integers alone.
    CHECK_FALSE(pace::detail::follows_from(numbers.to(at::kFloat), others));
    CHECK_FALSE(pace::detail::follows_from(numbers, others.to(at::kDouble)));
    CHECK_FALSE(pace::detail::follows_from(numbers.unsqueeze(1), others));
    CHECK_FALSE(pace::detail::follows_from(numbers, at::Tensor()));
  }
}

TEST_CASE("successors are a permutation, or one list of eight or more whose end names itself or the place behind") {
  const struct {
    const char* what;
    Longs values;
    bool successors;
  } rows[] = {
      {"a cycle", {1, 2, 0}, true},
      {"two cycles", {1, 0, 3, 4, 2}, true},
      {"a cycle of two", {1, 0}, false},
      {"a list that ends behind the last place", {1, 2, 3, 4, 5, 6, 7, 8}, true},
      {"a list in another order", {3, 8, 1, 6, 7, 2, 4, 5}, true},
      {"a short list that ends behind the last place", {1, 2, 3, 4, 5, 6, 7}, false},
      {"a list whose end names itself", {1, 2, 3, 4, 5, 6, 7, 7}, true},
      {"a short list whose end names itself", {1, 2, 3, 4, 5, 6, 6}, false},
      {"a list whose end leads back", {1, 2, 3, 4, 5, 6, 7, 6}, false},
      {"a list with both ends", {1, 2, 3, 4, 5, 5, 8, 6}, false},
      {"two places that are never named", {1, 2, 3, 4, 5, 5, 5, 5}, false},
      {"beyond the last place", {1, 2, 3, 4, 5, 6, 7, 9}, false},
      {"a negative one", {1, 2, -1}, false},
  };
  for (const auto& row : rows) {
    INFO(row.what);
    CHECK(pace::detail::is_successors(longs(row.values)) == row.successors);
    CHECK_FALSE(pace::detail::is_successors(longs(row.values).to(at::kFloat)));
  }
}

TEST_CASE("renamed successors lead through the new places in the old order, and end as before") {
  auto cycles = longs({1, 0, 3, 4, 2});
  pace::detail::rename_successors(cycles, longs({4, 2, 0, 1, 3}));
  CHECK(at::equal(cycles, longs({1, 3, 4, 0, 2})));
  for (const std::int64_t end : {8, 7}) {
    auto list = longs({1, 2, 3, 4, 5, 6, 7, end}).to(at::kInt);
    const Longs order{5, 2, 7, 0, 6, 1, 4, 3};
    pace::detail::rename_successors(list, longs(order));
    CAPTURE(end);
    for (std::size_t i = 0; i + 1 < order.size(); ++i) CHECK(list[order[i]].item<std::int64_t>() == order[i + 1]);
    CHECK(list[order.back()].item<std::int64_t>() == (end == 8 ? 8 : order.back()));
  }
}

TEST_CASE("offsets, lengths and numbers split a vector into ascending segments, where all ascend") {
  const Longs keys{1, 4, 6, 0, 2, 5, 3, 7, 8};
  const struct {
    const char* what;
    Longs values, others;
    /// Where a segment begins, but for the first one; nothing if there are none.
    std::optional<Longs> starts;
  } rows[] = {
      {"offsets with both ends", keys, {0, 3, 6, 9}, Longs{3, 6}},
      {"starts", keys, {0, 3, 6}, Longs{3, 6}},
      {"ends", keys, {3, 6, 9}, Longs{3, 6}},
      {"lengths", keys, {3, 3, 3}, Longs{3, 6}},
      {"lengths that are in no order", {1, 4, 6, 7, 0, 2, 3, 7, 8}, {4, 2, 3}, Longs{4, 6}},
      {"lengths with an empty segment", {1, 4, 6, 7, 0, 2, 3, 7, 8}, {4, 0, 5}, Longs{4}},
      {"numbers of segments", keys, {0, 0, 0, 1, 1, 1, 2, 2, 2}, Longs{3, 6}},
      {"equal keys", {1, 1, 1, 0, 0, 0, 3, 3, 3}, {3, 3, 3}, Longs{3, 6}},
      {"a segment that descends", keys, {0, 4, 9}, std::nullopt},
      {"lengths that end too early", keys, {3, 3, 2}, std::nullopt},
      {"a negative length", {0, 1, 2, 3, 4, 5, 6, 7, 8}, {10, -1}, std::nullopt},
      {"offsets beyond the end", keys, {0, 3, 6, 10}, std::nullopt},
      {"offsets with neither end", {0, 1, 2, 3, 4, 5, 6, 7, 8}, {2, 5}, std::nullopt},
      {"five pairs, which may ascend by chance", {1, 4, 6, 0, 2, 5, 3, 7}, {3, 3, 2}, std::nullopt},
      {"a number alone", keys, {9}, std::nullopt},
  };
  for (const auto& row : rows) {
    INFO(row.what);
    const auto found = pace::detail::ascending_segments(longs(row.values), longs(row.others));
    REQUIRE(found.has_value() == row.starts.has_value());
    if (found) CHECK(at::equal(places_of(found->diff().ne(0)).add(1), longs(*row.starts)));
    CHECK_FALSE(pace::detail::ascending_segments(longs(row.values).to(at::kDouble), longs(row.others)));
  }
}

TEST_CASE("segments get renamed numbers, and stay ascending and in their places") {
  const struct {
    Longs values, segments, order, expected;
  } rows[] = {
      {{1, 4, 6, 0, 2, 5, 3, 7, 8},
       {0, 0, 0, 1, 1, 1, 2, 2, 2},
       {8, 7, 6, 5, 4, 3, 2, 1, 0},
       {2, 4, 7, 3, 6, 8, 0, 1, 5}},
      // The least number is 3, and segments have any numbers in order.
      {{3, 3, 5, 4, 5}, {2, 2, 2, 9, 9}, {2, 1, 0}, {3, 5, 5, 3, 4}},
      {{-2, 0, -1, 1}, {0, 0, 1, 1}, {1, 2, 3, 0}, {-1, 1, -2, 0}},
  };
  for (const auto& row : rows) {
    auto values = longs(row.values).to(at::kInt);
    pace::detail::change_in_segments(values, longs(row.segments), longs(row.order));
    CHECK(at::equal(values.to(at::kLong), longs(row.expected)));
  }
}

TEST_CASE("keys ascend before padding where equal ones end every line that goes down, and one line at least") {
  const struct {
    const char* what;
    at::Tensor lines;
    bool ascend;
  } rows[] = {
      {"lines of several lengths", rows_of(5, {1, 3, 5, 0, 0, 2, 4, 0, 0, 0}), true},
      {"a line without padding beside one with it", rows_of(5, {1, 2, 3, 4, 5, 2, 4, 0, 0, 0}), true},
      {"no padding", rows_of(5, {1, 2, 3, 4, 5, 1, 2, 3, 4, 6}), false},
      {"a single element of padding", rows_of(5, {1, 2, 3, 4, 0, 2, 4, 0, 0, 0}), false},
      {"padding above all keys", rows_of(5, {1, 2, 9, 9, 9, 2, 4, 9, 9, 9}), false},
      {"two steps down", rows_of(5, {1, 5, 2, 0, 0, 2, 4, 0, 0, 0}), false},
      {"keys behind the padding", rows_of(5, {1, 3, 0, 0, 4, 2, 4, 0, 0, 0}), false},
      {"keys in no order", rows_of(5, {3, 1, 5, 5, 5, 2, 4, 6, 1, 3}), false},
      {"lines of two", rows_of(2, {1, 0, 1, 0}), false},
  };
  for (const auto& row : rows) {
    INFO(row.what);
    CHECK(pace::detail::ascends_before_padding(row.lines, 1) == row.ascend);
    CHECK(pace::detail::ascends_before_padding(row.lines.t(), 0) == row.ascend);
  }
}

TEST_CASE("sums and largest numbers are known sizes of operands and outputs, and counts of bools those of outputs") {
  // Operands of 5 x 7, outputs of 11 x 1, and the number 13.
  const pace::detail::KnownSizes known({at::zeros({5, 7}), at::Tensor()}, c10::IValue(at::zeros({11, 1})), {13});
  const struct {
    Longs values;
    bool sum, largest;
  } rows[] = {
      {{1, 4, 0}, true, true},     // 5, and 4 is the largest index
      {{2, 2, 3}, true, false},    // 7
      {{9, 1, 1}, true, false},    // 11
      {{9, 2, 2}, true, false},    // 13
      {{3, 3, 0}, false, false},   // 6
      {{1, 0, 0}, false, false},   // any number may be 1
      {{-1, 3, 3}, false, false},  // negative numbers are no counts
      {{10, 10, 0}, false, true},  // below 11
      {{11, 11, 0}, false, true},  // 11
      {{12, 12, 0}, false, true},  // below 13
      {{0, 14, 14}, false, false},
      {{2, 3}, false, false},  // two numbers have any sum
      {{std::numeric_limits<std::int64_t>::max(), 0, 0}, false, false},
  };
  for (const auto& row : rows) {
    CAPTURE(row.values);
    CHECK(known.has_sum_of(longs(row.values)) == row.sum);
    CHECK(known.has_largest_of(longs(row.values)) == row.largest);
    CHECK_FALSE(pace::detail::KnownSizes().has_sum_of(longs(row.values)));
    CHECK_FALSE(pace::detail::KnownSizes().has_largest_of(longs(row.values)));
  }
  const auto trues = [](std::int64_t count) { return at::arange(20).lt(count); };
  CHECK(known.has_sum_of(trues(11)));
  CHECK(known.has_sum_of(trues(13)));
  CHECK_FALSE(known.has_sum_of(trues(5)));
  CHECK_FALSE(known.has_sum_of(trues(12)));
  CHECK_FALSE(known.has_sum_of(at::Tensor()));
  CHECK_FALSE(known.has_largest_of(at::Tensor()));
  CHECK_FALSE(known.has_largest_of(longs({5})));
}

TEST_CASE("parts of integers move within their range, and leave the sum, and the largest if they must") {
  const auto given = longs({4, 0, 9, 3, 3, 7, 1, 9, 2, 5, 6, 8, 0, 4, 1, 2});
  for (const bool holds_largest : {false, true}) {
    bool largest_moves = false;
    for (std::uint64_t seed = 1; seed <= 20; ++seed) {
      CAPTURE(holds_largest, seed);
      auto values = given.to(at::kInt);
      SplitMix64 random(seed);
      pace::detail::move_sum(values, holds_largest, random);
      CHECK(at::equal(values.sum(), given.sum()));
      CHECK(values.ge(0).logical_and(values.le(9)).all().item<bool>());
      CHECK(differing(values, given) >= 2);
      largest_moves = largest_moves || values.eq(9).logical_not().logical_and(given.eq(9)).any().item<bool>();
    }
    CHECK(largest_moves == !holds_largest);
  }
}

TEST_CASE("replaced integers keep the largest one if they must") {
  const pace::detail::KeptIntegers kept{.dim = 0, .replace_dim = 0, .keeps_largest = true};
  for (std::uint64_t seed = 1; seed <= 40; ++seed) {
    CAPTURE(seed);
    auto values = longs({4, 0, 9, 3, 3, 7, 1, 0, 2, 5, 6, 8, 0, 4, 1, 2});
    pace::detail::move_integers(values, kept, SplitMix64(seed), /*replace=*/true);
    CHECK(values.eq(9).sum().item<std::int64_t>() >= 1);
  }
}

TEST_CASE("bools change places, and as many stay true") {
  const auto given = at::arange(64).lt(20);
  for (std::uint64_t seed = 1; seed <= 5; ++seed) {
    auto values = given.clone();
    SplitMix64 random(seed);
    pace::detail::move_sum(values, false, random);
    CHECK(values.sum().item<std::int64_t>() == 20);
    CHECK(differing(values, given) >= 2);
  }
}

TEST_CASE("addresses, markers, pointers and equal integers have a meaning") {
  constexpr std::int64_t most = std::numeric_limits<std::int32_t>::max();
  constexpr std::int64_t least = std::numeric_limits<std::int32_t>::min();
  const struct {
    const char* what;
    Longs values;
    bool meaning;
  } rows[] = {
      {"any numbers", {3, 0, 7, 7, 1}, false},
      {"as large as 32 bits hold", {3, 0, most, 7, 1}, false},
      {"an address", {3, 0, most + 1, 7, 1}, true},
      {"as small as 32 bits hold", {3, 0, least, 7, -1}, false},
      {"a negative address", {3, 0, least - 1, 7, -1}, true},
      {"equal ones", {4, 4, 4}, true},
      {"one marker", {4, -1, 3, 2}, true},
      {"equal markers", {4, -7, 3, -7}, true},
      {"two negative numbers", {4, -1, 3, -2}, false},
      {"parents of a tree", {0, 0, 1, 0, 2}, true},
      {"children of a tree", {4, 2, 4, 4, 4}, true},
      {"both directions", {1, 0, 4, 2, 3}, false},
      {"ahead, but beyond the end", {4, 2, 5, 4, 4}, false},
      {"flags", {0, 1, 0, 1, 1}, false},
      {"a few ids of many places", {0, 1, 0, 1, 2, 0, 1, 2, 1, 0, 1, 2, 0, 1, 2, 1}, false},
  };
  for (const auto& row : rows) {
    INFO(row.what);
    CHECK(pace::detail::have_a_meaning(longs(row.values)) == row.meaning);
  }
  // Pointers are vectors.
  CHECK_FALSE(pace::detail::have_a_meaning(rows_of(3, {0, 0, 1, 0, 2, 3})));
}

TEST_CASE("integers change places along their longest dimension with lines of three that are in no order") {
  const auto by_three = rows_of(3, {4, 9, 1, 8, 3, 7, 2, 9, 5, 6, 0, 8});
  const auto by_six = rows_of(6, {4, 9, 6, 8, 3, 7, 2, 0, 5, 6, 8, 9, 7, 4, 9, 8, 6, 4});
  auto one_row_in_order = by_six.clone();
  one_row_in_order[1] = longs({0, 2, 5, 6, 8, 9});
  const struct {
    const char* what;
    at::Tensor values;
    std::optional<std::int64_t> dim;
  } rows[] = {
      {"a vector", longs({3, 0, 7, 7, 1}), 0},
      {"two numbers", longs({3, 1}), std::nullopt},
      {"ascending numbers", longs({0, 2, 5, 9}), std::nullopt},
      {"descending numbers", longs({9, 5, 5, 0}), std::nullopt},
      {"rows of six", by_six, 1},
      {"columns of six", by_six.t(), 0},
      {"columns of six, rows of five",
       rows_of(5, {6, 0, 8, 3, 7, 7, 8, 3, 5, 3, 3, 7, 4, 0, 6, 8, 1, 2, 4, 1, 5, 8, 6, 8, 3, 4, 4, 9, 7, 8}), 0},
      {"rows with one in order", one_row_in_order, 0},
      {"rows of three may be coordinates", by_three, 0},
      {"columns of three, rows of four", by_three.t(), 0},
      {"keys before padding", rows_of(5, {1, 3, 5, 0, 0, 2, 4, 0, 0, 0}), std::nullopt},
      {"rows of bools may be short", rows_of(3, {0, 1, 0, 1, 0, 1}).to(at::kBool), 1},
      {"short integers", longs({3, 0, 7, 7, 1}).to(at::kShort), 0},
      {"unsigned integers of 32 bits", longs({3, 0, 7, 7, 1}).to(at::kUInt32), std::nullopt},
      {"floating-point numbers", longs({3, 0, 7, 7, 1}).to(at::kFloat), std::nullopt},
      {"repeated memory is looked at once", longs({3, 0, 7}).unsqueeze(1).expand({3, 8}), 0},
      {"a marker", longs({4, -1, 3, 2}), std::nullopt},
      {"nothing", at::Tensor(), std::nullopt},
  };
  for (const auto& row : rows) {
    INFO(row.what);
    CHECK(pace::detail::place_free_dim(row.values) == row.dim);
  }
}

TEST_CASE("padding is one value at one end of rows, often enough, beside two others that are in no order") {
  const Longs ends{5, 3, 9, 8, 4, 6, /**/ 7, 2, 6, 0, 0, 0, /**/ 9, 4, 7, 3, 0, 0};
  const auto at_end = rows_of(6, ends);
  struct Found {
    std::int64_t value;
    Longs lengths;
  };
  const struct {
    const char* what;
    at::Tensor values;
    std::optional<Found> found;
  } rows[] = {
      {"zeros at the end", at_end, Found{0, {6, 3, 4}}},
      {"zeros at the beginning", at_end.flip(1), Found{0, {6, 3, 4}}},
      {"another value", at_end.sub(50), Found{-50, {6, 3, 4}}},
      {"shorter integers", at_end.to(at::kInt), Found{0, {6, 3, 4}}},
      {"more dimensions", at_end.view({3, 1, 6}), Found{0, {6, 3, 4}}},
      {"three places in all", rows_of(6, {5, 3, 9, 8, 4, 6, 7, 2, 6, 3, 0, 0, 9, 4, 7, 3, 4, 0}), std::nullopt},
      {"four places in all", rows_of(6, {5, 3, 9, 8, 4, 6, 7, 2, 6, 0, 0, 0, 9, 4, 7, 3, 4, 0}), Found{0, {6, 3, 5}}},
      {"one place in each row", rows_of(5, {5, 3, 9, 8, 0, 7, 2, 6, 3, 0, 9, 4, 7, 3, 0, 6, 1, 7, 3, 0}), std::nullopt},
      {"the value within a row, too", rows_of(6, {5, 0, 9, 8, 4, 6, 7, 2, 6, 0, 0, 0, 9, 4, 7, 3, 0, 0}), std::nullopt},
      {"a mask", at_end.ne(0).to(at::kLong), std::nullopt},
      {"rows in order", rows_of(6, {1, 3, 4, 5, 7, 8, 2, 4, 6, 0, 0, 0, 2, 3, 5, 7, 0, 0}), std::nullopt},
      {"rows of four", at_end.narrow(1, 2, 4), std::nullopt},
      {"a vector", at_end.flatten(), std::nullopt},
      {"floating-point numbers", at_end.to(at::kFloat), std::nullopt},
      {"bools", at_end.to(at::kBool), std::nullopt},
      {"nothing", at::Tensor(), std::nullopt},
      {"no elements", at_end.narrow(0, 0, 0), std::nullopt},
  };
  for (const auto& row : rows) {
    INFO(row.what);
    const auto found = pace::detail::padding_of(row.values);
    REQUIRE(found.has_value() == row.found.has_value());
    if (!found) continue;
    CHECK(found->value == row.found->value);
    CHECK(at::equal(found->lengths, longs(row.found->lengths)));
    CHECK(at::equal(found->places, row.values.eq(row.found->value)));
  }
}

TEST_CASE("operands describe padding, have it in the same places, or are unrelated to it") {
  using pace::detail::PaddingRelation;
  const auto tokens = rows_of(6, {5, 3, 9, 8, 4, 6, 7, 2, 6, 0, 0, 0, 9, 4, 7, 3, 0, 0});
  const auto padding = pace::detail::padding_of(tokens);
  REQUIRE(padding.has_value());
  const auto mask = tokens.ne(0), tril = at::ones({6, 6}, at::kBool).tril();
  auto labels = tokens.mul(3).add(1), other_labels = labels.clone(), other_mask = mask.clone();
  other_labels[0][0] = 1;
  other_mask[0][5] = false;
  const auto vectors = at::arange(1, 37).view({3, 6, 2}).mul(mask.unsqueeze(2)).to(at::kFloat);
  auto other_vectors = vectors.clone();
  other_vectors[0][0].fill_(0);
  const auto ends = longs({6, 9, 13});
  const struct {
    const char* what;
    at::Tensor tensor;
    PaddingRelation relation;
  } rows[] = {
      {"a mask", mask, PaddingRelation::description},
      {"a mask of what is padding", mask.logical_not(), PaddingRelation::description},
      {"a mask of numbers to add", at::zeros({3, 6}).masked_fill(mask.logical_not(), -1e9),
       PaddingRelation::description},
      {"a mask for each head", mask.view({3, 1, 1, 6}), PaddingRelation::description},
      {"a mask of keys for each query", mask.view({3, 1, 1, 6}).logical_and(tril), PaddingRelation::description},
      {"a mask that is false elsewhere, too", other_mask, PaddingRelation::none},
      {"a mask of other sizes", mask.narrow(1, 0, 5), PaddingRelation::none},
      {"lengths", longs({6, 3, 4}), PaddingRelation::description},
      {"lengths as a column of floats", longs({6, 3, 4}).unsqueeze(1).to(at::kFloat), PaddingRelation::description},
      {"how much is padding", longs({0, 3, 2}), PaddingRelation::description},
      {"ends", ends, PaddingRelation::description},
      {"starts", longs({0, 6, 9}), PaddingRelation::description},
      {"offsets", longs({0, 6, 9, 13}), PaddingRelation::description},
      {"other offsets", longs({0, 6, 8, 13}), PaddingRelation::none},
      {"other numbers", longs({6, 3, 5}), PaddingRelation::none},
      {"labels", labels, PaddingRelation::same_places},
      {"labels with the value elsewhere", other_labels, PaddingRelation::none},
      {"vectors of zeros in its places", vectors, PaddingRelation::same_places},
      {"vectors of zeros elsewhere, too", other_vectors, PaddingRelation::none},
      {"complex numbers", mask.to(at::kComplexFloat), PaddingRelation::none},
      {"nothing", at::Tensor(), PaddingRelation::none},
      {"no elements", at::zeros({0}), PaddingRelation::none},
  };
  for (const auto& row : rows) {
    INFO(row.what);
    CHECK(pace::detail::relation_to_padding(row.tensor, *padding) == row.relation);
  }
  // A zero is the start of a single row, and many other things.
  const auto one_row = pace::detail::padding_of(rows_of(8, {5, 3, 9, 8, 0, 0, 0, 0}));
  REQUIRE(one_row.has_value());
  CHECK(pace::detail::relation_to_padding(longs({0}), *one_row) == PaddingRelation::none);
  CHECK(pace::detail::relation_to_padding(longs({4}), *one_row) == PaddingRelation::description);
}

TEST_CASE("rows are in order beside their padding if all ascend, or all descend") {
  const struct {
    Longs values;
    bool in_order;
  } rows[] = {
      {{1, 2, 2, 0, 0, 3, 5, 7, 9, 0}, true},
      {{4, 2, 2, 9, 9, 8, 5, 3, 1, 9}, true},
      {{1, 2, 5, 0, 0, 9, 5, 3, 1, 0}, false},
      {{1, 5, 2, 0, 0, 3, 5, 7, 9, 0}, false},
  };
  for (const auto& row : rows) {
    CAPTURE(row.values);
    const auto values = rows_of(5, row.values);
    const auto padding = values.eq(row.values[9]);
    CHECK(pace::detail::in_order_beside(values, padding) == row.in_order);
  }
}

TEST_CASE("one-hot rows have a longest dimension beside their own, unless each occurs once") {
  const auto classes = longs({2, 0, 1, 2, 1, 0}), rows = at::arange(3).eq(classes.unsqueeze(1));
  auto none = rows.clone(), two = rows.to(at::kLong), three = rows.to(at::kLong);
  none[0].fill_(false);
  two[0].fill_(1);
  three[0] = longs({3, -1, -1});
  const struct {
    const char* what;
    at::Tensor values;
    std::optional<std::int64_t> dim;
  } table[] = {
      {"bools", rows, 0},
      {"numbers", rows.to(at::kLong), 0},
      {"floating-point numbers", rows.to(at::kDouble), 0},
      {"the longest is the second", rows.view({1, 6, 3}), 1},
      {"the longest is the first", rows.view({3, 2, 3}), 0},
      {"a row of zeros", none, std::nullopt},
      {"a row of ones", two, std::nullopt},
      {"a row with the sum 1", three, std::nullopt},
      {"a permutation", at::eye(4), std::nullopt},
      {"two rows", rows.narrow(0, 0, 2), std::nullopt},
      {"a vector", classes.eq(0), std::nullopt},
      {"complex numbers", rows.to(at::kComplexFloat), std::nullopt},
  };
  for (const auto& row : table) {
    INFO(row.what);
    CHECK(pace::detail::one_hot_dim(row.values) == row.dim);
  }
}

TEST_CASE("numbers replace each other where that takes no structure away") {
  const auto edges = rows_of(2, {0, 1, 0, 2, 1, 2, 3, 1}), same_edge = rows_of(2, {0, 1, 0, 2, 1, 2, 0, 1});
  const struct {
    const char* what;
    at::Tensor values;
    std::int64_t dim;
    bool replaced;
  } rows[] = {
      {"numbers that occur twice", longs({3, 1, 3, 2}), 0, true},
      {"numbers that occur once", longs({3, 1, 0, 2}), 0, false},
      {"two numbers", longs({3, 3}), 0, false},
      {"slices of two that occur once", edges, 0, false},
      {"slices of two that occur twice", same_edge, 0, true},
      {"slices of five that occur once", rows_of(5, {0, 1, 2, 3, 4, 0, 2, 2, 3, 4, 1, 1, 2, 3, 9}), 0, true},
      {"lines with one sum", rows_of(3, {1, 1, 3, 2, 2, 1, 0, 0, 5}), 1, false},
      {"lines with several sums", rows_of(3, {1, 1, 3, 2, 2, 1, 0, 0, 6}), 1, true},
      {"bools", longs({1, 0, 1, 0, 1}).to(at::kBool), 0, true},
      {"a single true", longs({1, 0, 0, 0, 0}).to(at::kBool), 0, false},
      {"a single false", longs({1, 1, 1, 0, 1}).to(at::kBool), 0, false},
      {"bools of one sum in rows", rows_of(3, {1, 0, 1, 1, 1, 0}).to(at::kBool), 0, false},
      {"bools of one sum in columns", rows_of(2, {1, 0, 0, 1, 1, 1}).to(at::kBool), 1, false},
  };
  for (const auto& row : rows) {
    INFO(row.what);
    CHECK(pace::detail::may_replace(row.values, row.dim) == row.replaced);
  }
}

TEST_CASE("numbers are replaced along the rows of one-hot ones, where they change places, or the longest dimension") {
  const auto one_hot = at::arange(3).eq(longs({2, 0, 1, 2, 1, 0}).unsqueeze(1));
  const auto counts = rows_of(3, {4, 9, 1, 8, 3, 7, 2, 9, 5, 6, 0, 8, 4, 9, 1});
  const auto of = [](const at::Tensor& values, std::optional<std::int64_t> place_free) {
    const auto structure =
        values.is_floating_point() ? pace::detail::structure_of(values) : pace::detail::ValueStructure();
    return pace::detail::replace_dim(values, structure, place_free);
  };
  CHECK(of(one_hot, 1) == 0);
  CHECK(of(one_hot.to(at::kFloat), std::nullopt) == 0);
  CHECK(of(counts, 0) == 0);
  CHECK(of(counts, std::nullopt) == std::nullopt);
  CHECK(of(counts.to(at::kFloat), std::nullopt) == 0);
  CHECK(of(counts.t().to(at::kFloat), std::nullopt) == 1);
  CHECK(of(counts.to(at::kFloat).add(0.5), std::nullopt) == std::nullopt);
  CHECK(of(longs({3, 1, 0, 2}), 0) == std::nullopt);
  CHECK(of(at::zeros({5}), std::nullopt) == std::nullopt);
}

TEST_CASE("one slice in eight takes another one's values as a whole, and one bool in eight the other value") {
  // Row i holds i twice, so that rows show whether their numbers stay together.
  const auto given = at::arange(800).unsqueeze(1).expand({800, 2}).contiguous();
  auto values = given.clone();
  SplitMix64 random(1);
  pace::detail::resample_values(values, 0, random);
  CHECK(at::equal(values.select(1, 0), values.select(1, 1)));
  const auto replaced = differing(values.select(1, 0), given.select(1, 0));
  CHECK(replaced > 60);
  CHECK(replaced < 140);
  auto across = given.t().contiguous();
  pace::detail::resample_values(across, 1, random);
  CHECK(at::equal(across[0], across[1]));
  CHECK(differing(across[0], given.select(1, 0)) > 60);
  const auto flags = at::arange(800).lt(400);
  auto flipped = flags.clone();
  pace::detail::resample_values(flipped, 0, random);
  CHECK(differing(flipped, flags) > 60);
  CHECK(differing(flipped, flags) < 140);
  auto one = longs({7});
  pace::detail::resample_slices(one, 0, random);
  CHECK(at::equal(one, longs({7})));
}

}  // namespace
