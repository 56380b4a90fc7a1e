// Structure of values, and the parts that draws of unseen values are made of.
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include <ATen/core/Tensor.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/equal.h>
#include <ATen/ops/eye.h>
#include <ATen/ops/full.h>
#include <ATen/ops/linspace.h>
#include <ATen/ops/ones.h>
#include <ATen/ops/quantize_per_channel.h>
#include <ATen/ops/quantize_per_tensor.h>
#include <ATen/ops/rand.h>
#include <ATen/ops/randn.h>
#include <ATen/ops/tensor.h>
#include <ATen/ops/zeros.h>

#include "pace/base/random.hpp"
#include "pace/values/quantized_values.hpp"
#include "pace/values/random_draws.hpp"
#include "pace/values/rearranged_matrices.hpp"
#include "pace/values/rearranged_rows.hpp"
#include "pace/values/rearranged_values.hpp"
#include "pace/values/replaced_values.hpp"
#include "pace/values/value_structure.hpp"

// After LibTorch, which has a CHECK of its own.
#include <catch2/catch_test_macros.hpp>

namespace {

using pace::SplitMix64;
using pace::detail::holds_for_all;
using pace::detail::structure_of;
using pace::detail::ValueStructure;

constexpr double inf = std::numeric_limits<double>::infinity();

at::Tensor doubles(const std::vector<double>& values) { return at::tensor(values, at::kDouble); }
at::Tensor longs(const std::vector<std::int64_t>& values) { return at::tensor(values, at::kLong); }
at::Tensor sorted(const at::Tensor& values) { return std::get<0>(values.flatten().sort()); }

TEST_CASE("each property of values is told from the values alone, and no other one") {
  using Flags = std::vector<bool ValueStructure::*>;
  using S = ValueStructure;
  const at::Tensor random = at::randn({6, 8}, at::kDouble).mul(3);
  const at::Tensor symmetric = random.narrow(1, 0, 6).add(random.narrow(1, 0, 6).t());
  const at::Tensor unit = random.div(random.square().sum(1, true).sqrt());
  const at::Tensor sums = random.abs().div(random.abs().sum(1, true));
  const at::Tensor hermitian = at::randn({4, 4}, at::kComplexDouble);
  const struct {
    const char* what;
    at::Tensor values;
    Flags flags;
  } rows[] = {
      {"any numbers", random, {&S::both_signs}},
      {"positive ones", random.abs(), {}},
      {"of a size up to 1",
       random.clamp(-0.99, 0.98).sub(at::rand({6, 8}, at::kDouble).mul(0.01)).mul(0.9),
       {&S::both_signs, &S::unit_range}},
      {"exactly 1", doubles({1, 0.5, -0.25, 0.75, 1}), {&S::both_signs, &S::unit_range}},
      {"a little more than 1", doubles({1.001, 0.5, -0.25, 0.75, 1}), {&S::both_signs}},
      {"whole numbers", doubles({3, -2, 7, 0, 5}), {&S::both_signs, &S::whole}},
      {"an infinity", doubles({3.5, -2, inf, 0, 5}), {&S::both_signs, &S::infinite}},
      {"a NaN", doubles({3.5, -2, std::nan(""), 0, 5}), {&S::both_signs, &S::infinite}},
      {"zeros", at::zeros({2}, at::kDouble), {&S::zeros, &S::whole, &S::unit_range}},
      {"one zero", at::zeros({1}, at::kDouble), {&S::whole, &S::unit_range}},
      {"in order", doubles({1.5, 2.5, 2.5, 7.25}), {&S::sorted}},
      {"in the other order", doubles({7.25, 2.5, 2.5, 1.5}), {&S::sorted}},
      {"two numbers", doubles({1.5, 2.5}), {}},
      {"rows in order", std::get<0>(random.sort(1)), {&S::both_signs, &S::sorted}},
      {"all rows in order but one",
       at::cat({std::get<0>(random.sort(1)), random.narrow(0, 0, 1).mul(2)}),
       {&S::both_signs}},
      {"a symmetric matrix", symmetric, {&S::both_signs, &S::symmetric, &S::ties}},
      {"a symmetric matrix but for rounding",
       symmetric.mul(at::ones({6, 6}, at::kDouble).triu().mul(1e-15).add(1)),
       {&S::both_signs, &S::symmetric}},
      {"a matrix that is nearly symmetric",
       symmetric.mul(at::ones({6, 6}, at::kDouble).triu(1).mul(1e-9).add(1)),
       {&S::both_signs}},
      {"several symmetric matrices",
       at::cat({symmetric, symmetric.mul(2)}).view({2, 6, 6}),
       {&S::both_signs, &S::symmetric, &S::ties}},
      {"complex numbers", hermitian.mul(9), {&S::both_signs}},
      {"a Hermitian matrix",
       hermitian.add(hermitian.t().conj()).mul(9).resolve_conj(),
       {&S::both_signs, &S::symmetric}},
      {"rows of length 1", unit, {&S::both_signs, &S::unit_range, &S::unit_rows}},
      {"rows of a length of 1.1", unit.mul(1.1).clamp(-9, 9), {&S::both_signs, &S::unit_range}},
      {"rows with the sum 1", sums, {&S::unit_range, &S::unit_sums}},
      {"rows with the sum 1.1", sums.mul(1.1), {&S::unit_range}},
      {"log-probabilities", sums.log(), {&S::log_probabilities}},
      {"rows with the sum 0", random.sub(random.mean(1, true)), {&S::both_signs, &S::centred_rows}},
      {"columns with the sum 0", random.sub(random.mean(0, true)), {&S::both_signs, &S::centred_columns}},
      {"rows with a small sum", random.sub(random.mean(1, true)).add(1e-9), {&S::both_signs}},
      {"an eighth of equal numbers", at::cat({random, random.narrow(0, 0, 1)}), {&S::both_signs, &S::ties}},
      {"a fiftieth of equal numbers", at::cat({random.flatten(), random[0].narrow(0, 0, 1)}), {&S::both_signs}},
      {"equal 16-bit numbers", at::cat({random, random}).to(at::kHalf), {&S::both_signs}},
      {"an eighth of zeros",
       random.add(20).masked_fill(at::arange(48).view({6, 8}).remainder(8).eq(0), 0),
       {&S::sparse}},
      {"a sixteenth of zeros", random.add(20).masked_fill(at::arange(48).view({6, 8}).remainder(16).eq(0), 0), {}},
      {"a number alone", at::full({}, 2.5, at::kDouble), {}},
      {"repeated memory is looked at once", doubles({1.5, 3.5, 2.5}).unsqueeze(1).expand({3, 16}), {}},
  };
  const Flags every{&S::unit_range, &S::whole,     &S::infinite,     &S::zeros,          &S::both_signs,
                    &S::sorted,     &S::symmetric, &S::unit_rows,    &S::unit_sums,      &S::log_probabilities,
                    &S::ties,       &S::sparse,    &S::centred_rows, &S::centred_columns};
  for (const auto& row : rows) {
    INFO(row.what);
    const auto found = structure_of(row.values);
    for (std::size_t i = 0; i < every.size(); ++i) {
      CAPTURE(i);
      CHECK(found.*every[i] == (std::ranges::find(row.flags, every[i]) != row.flags.end()));
    }
  }
}

TEST_CASE("a common factor is all that order, ties, symmetry and whole numbers allow, and zeros allow any factors") {
  using S = ValueStructure;
  for (const auto flag : {&S::whole, &S::infinite, &S::sorted, &S::symmetric, &S::unit_rows, &S::unit_sums,
                          &S::log_probabilities, &S::centred_rows, &S::centred_columns, &S::ties}) {
    S structure;
    structure.*flag = true;
    CHECK(structure.needs_common_factor());
    CHECK(structure.is_special());
  }
  for (const auto flag : {&S::unit_range, &S::both_signs, &S::zeros, &S::sparse}) {
    S structure;
    structure.*flag = true;
    CHECK_FALSE(structure.needs_common_factor());
    CHECK(structure.is_special() == (flag == &S::sparse));
  }
}

TEST_CASE("Toeplitz, triangular and orthogonal matrices and values of a mask are told from others") {
  const auto toeplitz = longs({3, 4, 5, 2, 3, 4}).view({2, 3}), other = longs({3, 4, 5, 2, 3, 9}).view({2, 3});
  CHECK(pace::detail::is_toeplitz(toeplitz));
  CHECK_FALSE(pace::detail::is_toeplitz(other));
  CHECK_FALSE(pace::detail::is_toeplitz(toeplitz.narrow(0, 0, 1)));
  CHECK_FALSE(pace::detail::is_toeplitz(toeplitz.flatten()));
  auto copy = at::zeros({2, 3}, at::kLong);
  CHECK(at::equal(pace::detail::diagonals_of(toeplitz), longs({2, 3, 4, 5})));
  pace::detail::write_diagonals(copy, pace::detail::diagonals_of(toeplitz));
  CHECK(at::equal(copy, toeplitz));

  const auto full = at::rand({4, 4}).add(1);
  CHECK(pace::detail::is_triangular(full.tril()));
  CHECK(pace::detail::is_triangular(full.triu()));
  CHECK_FALSE(pace::detail::is_triangular(full));
  CHECK_FALSE(pace::detail::is_triangular(full[0]));

  CHECK(pace::detail::has_one_value(doubles({0, -2, 0, -2})));
  CHECK_FALSE(pace::detail::has_one_value(doubles({0, -2, 0, 2})));
  CHECK_FALSE(pace::detail::has_one_value(doubles({0, -2, 0, -1})));

  CHECK(pace::detail::orthogonal_rows(at::eye(4).narrow(0, 0, 3)));
  CHECK_FALSE(pace::detail::orthogonal_rows(full.div(full.square().sum(1, true).sqrt())));
  CHECK_FALSE(pace::detail::orthogonal_rows(at::eye(4).narrow(1, 0, 3)));
  CHECK_FALSE(pace::detail::orthogonal_rows(at::eye(1)));
}

TEST_CASE("values of a dtype without arithmetic have a structure that only a common factor keeps") {
  const at::Tensor eighth = doubles({0.5, 1, 2, 4}).to(at::kFloat8_e4m3fn);
  CHECK_THROWS(pace::detail::structure_of(eighth));
  const auto structure = pace::detail::structure_or_unknown(eighth);
  CHECK(structure.infinite);
  CHECK(structure.needs_common_factor());
  CHECK_FALSE(pace::detail::replace_dim(eighth, structure, {}));
}

TEST_CASE("slices change places in each dimension, but coordinates stay together") {
  const auto given = at::arange(40, at::kDouble).view({8, 5});
  SplitMix64 random(1);
  auto values = given.clone();
  pace::detail::permute_slices(values, random);
  CHECK(at::equal(sorted(values), given.flatten()));
  CHECK_FALSE(at::equal(values.select(1, 0).sub(values.select(1, 1)), given.select(1, 0).sub(given.select(1, 1))));
  CHECK_FALSE(at::equal(sorted(values.select(1, 0)), given.select(1, 0)));
  auto points = given.view({10, 4}).clone();
  pace::detail::permute_slices(points, random);
  CHECK_FALSE(at::equal(points, given.view({10, 4})));
  CHECK(at::equal(sorted(points.select(1, 3)), given.view({10, 4}).select(1, 3)));
}

TEST_CASE("stored integers move towards zero's, by factors of the tensor or of each value") {
  const auto numbers = at::linspace(-2, 2, 9);
  const auto scales = doubles({0.5, 0.25}), zero_points = longs({3, -1});
  const struct {
    const char* what;
    at::Tensor quantized, stored;
  } rows[] = {
      {"int8", at::quantize_per_tensor(numbers, 0.5, 3, at::kQInt8), longs({1, 1, 2, 2, 3, 4, 4, 5, 5})},
      {"uint8", at::quantize_per_tensor(numbers, 0.5, 4, at::kQUInt8), longs({2, 2, 3, 3, 4, 5, 5, 6, 6})},
      {"int32", at::quantize_per_tensor(numbers, 0.5, 0, at::kQInt32), longs({-2, -2, -1, 0, 0, 0, 1, 2, 2})},
      {"channels",
       at::quantize_per_channel(doubles({1, -2, 1, -2}).view({2, 2}).to(at::kFloat), scales, zero_points, 0,
                                at::kQInt8),
       longs({4, 1, 1, -5})},
  };
  for (const auto& row : rows) {
    INFO(row.what);
    REQUIRE(pace::detail::is_changeable_quantized(row.quantized));
    pace::detail::multiply_quantized(row.quantized, at::full({}, 0.5, at::kDouble));
    const auto stored = row.quantized.int_repr().to(at::kLong).flatten();
    // Halves are rounded to even numbers of steps.
    CHECK(holds_for_all(stored.sub(row.stored).abs().le(row.quantized.scalar_type() == at::kQInt32 ? 0 : 1)));
  }
  // Two values share a byte.
  CHECK_FALSE(pace::detail::stored_type_of(at::kQUInt4x2));
  CHECK_FALSE(pace::detail::is_changeable_quantized(numbers));
  CHECK_FALSE(pace::detail::is_changeable_quantized(at::Tensor()));
}

TEST_CASE("orders are never the given one, factors lie in a half to one, and an eighth is chosen, but one at least") {
  SplitMix64 random(1);
  for (int i = 0; i < 50; ++i) {
    const auto order = pace::detail::draw_order(3, random, at::kCPU);
    CHECK_FALSE(at::equal(order, longs({0, 1, 2})));
    CHECK(at::equal(sorted(order), longs({0, 1, 2})));
    CHECK(at::equal(pace::detail::draw_order(2, random, at::kCPU), longs({1, 0})));
    const double factor = pace::detail::draw_factor(random);
    CHECK(factor >= 0.5);
    CHECK(factor < 1);
    CHECK(pace::detail::choose_eighth(1, random, at::kCPU).item<bool>());
  }
  const auto chosen = pace::detail::choose_eighth(8000, random, at::kCPU).sum().item<std::int64_t>();
  CHECK(chosen > 850);
  CHECK(chosen < 1150);
  CHECK(pace::detail::choose_eighth(0, random, at::kCPU).numel() == 0);
}

}  // namespace
