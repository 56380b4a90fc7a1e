#include "pace/values/unseen_values.hpp"

#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <utility>
#include <vector>

#include <ATen/ops/_unique.h>
#include <ATen/ops/allclose.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/empty_like.h>
#include <ATen/ops/equal.h>
#include <ATen/ops/eye.h>
#include <ATen/ops/full.h>
#include <ATen/ops/isin.h>
#include <ATen/ops/linalg_eigvalsh.h>
#include <ATen/ops/linalg_qr.h>
#include <ATen/ops/linalg_svdvals.h>
#include <ATen/ops/ones.h>
#include <ATen/ops/quantize_per_tensor.h>
#include <ATen/ops/rand.h>
#include <ATen/ops/randint.h>
#include <ATen/ops/randn.h>
#include <ATen/ops/randperm.h>
#include <ATen/ops/stack.h>
#include <ATen/ops/tensor.h>
#include <ATen/ops/zeros.h>
#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>

#include "pace/values/padding.hpp"
#include "pace/values/rearranged_matrices.hpp"
#include "pace/values/repeated_draws.hpp"
#include "pace/values/unseen_kind.hpp"
#include "pace/values/value_structure.hpp"

namespace {

using pace::detail::RepeatedDraws;
using pace::detail::UnseenKind;
using pace::detail::UnseenValues;

constexpr UnseenKind rearrange_signs{UnseenKind::rearrange, /*of_signs=*/true};
constexpr UnseenKind vary_signs{UnseenKind::vary, /*of_signs=*/true};
constexpr UnseenKind rearrange_all{UnseenKind::rearrange, /*of_signs=*/false, UnseenKind::Integers::move};
constexpr UnseenKind replace_all{UnseenKind::rearrange, /*of_signs=*/false, UnseenKind::Integers::replace};
constexpr UnseenKind replace_all_signs{UnseenKind::rearrange, /*of_signs=*/true, UnseenKind::Integers::replace};

at::Tensor numbers(std::initializer_list<double> values) { return at::tensor(std::vector<double>(values)); }

bool has_special_values(const at::Tensor& values) { return pace::detail::structure_of(values).needs_common_factor(); }

/// `given` after one draw.
std::vector<at::Tensor> drawn(UnseenKind kind, const std::vector<at::Tensor>& given, std::uint64_t seed = 1) {
  UnseenValues source(given, seed);
  std::vector<at::Tensor> values;
  for (const auto& each : given) values.push_back(each.defined() ? pace::check::clone_input(each) : each);
  source.draw(kind, values);
  return values;
}

TEST_CASE("varied values get factors of their own in [1/2, 1), and integers, bools and missing tensors stay") {
  const std::vector<at::Tensor> given{numbers({1.5, -3.25, 0, 0.1}), at::arange(4), at::ones({2}, at::kBool),
                                      at::Tensor(), at::ones({0})};
  const auto values = drawn(UnseenKind::vary, given);
  const at::Tensor factors = values[0].div(given[0]);
  CHECK(values[0][2].item<double>() == 0);
  for (const int i : {0, 1, 3}) {
    CHECK(factors[i].item<double>() >= 0.5);
    CHECK(factors[i].item<double>() < 1);
  }
  CHECK(factors[0].item<double>() != factors[1].item<double>());
  CHECK(at::equal(values[1], at::arange(4)));
  CHECK(at::equal(values[2], at::ones({2}, at::kBool)));
}

TEST_CASE("varied: no two parts of a long operand share their factors, nor a ratio of them") {
  const std::int64_t period = 65521, count = 2 * period + 1000;
  const auto given = at::rand({count}, at::kDouble).sub(3);
  const auto ratios = drawn(UnseenKind::vary, {given})[0].div(given);
  CHECK(ratios.ge(0.5).logical_and(ratios.lt(1)).all().item<bool>());
  const auto first = ratios.narrow(0, 0, 1000);
  for (const std::int64_t later : {period, 2 * period}) {
    const auto other = ratios.narrow(0, later, 1000).div(first);
    CHECK(other.sub(1).abs().lt(1e-9).sum().item<std::int64_t>() < 10);
    CHECK(other.sub(other[0]).abs().lt(1e-9).sum().item<std::int64_t>() < 10);
  }
}

TEST_CASE("signs: one in eight of values of both signs, and angles of complex ones, but none of special values") {
  const auto x = at::randn({1000}, at::kDouble);
  const auto flipped = [](const at::Tensor& now, const at::Tensor& given) {
    return now.mul(given).lt(0).sum().item<std::int64_t>();
  };
  for (const auto kind : {rearrange_signs, vary_signs, replace_all_signs}) {
    const auto now = drawn(kind, {x})[0];
    CHECK(flipped(now, x) > 60);
    CHECK(flipped(now, x) < 250);
    const auto sizes = now.div(x).abs();
    CHECK(sizes.ge(0.5).logical_and(sizes.lt(1)).all().item<bool>());
  }
  CHECK(flipped(drawn(UnseenKind::rearrange, {x})[0], x) == 0);
  CHECK(flipped(drawn(rearrange_signs, {x.abs()})[0], x.abs()) == 0);
  const auto in_order = std::get<0>(x.sort());
  CHECK(drawn(rearrange_signs, {in_order})[0].diff().ge(0).all().item<bool>());
  const auto complex = at::randn({1000}, at::kComplexDouble);
  const auto turned = drawn(vary_signs, {complex})[0].div(complex);
  CHECK(turned.abs().ge(0.5).logical_and(turned.abs().lt(1)).all().item<bool>());
  const auto angles = turned.angle();
  for (const double quarter : {-3.0, -1.5, 0.0, 1.5})
    CHECK(angles.gt(quarter).logical_and(angles.lt(quarter + 1.5)).sum().item<std::int64_t>() > 150);
  CHECK(drawn(UnseenKind::vary, {complex})[0].div(complex).angle().abs().lt(1e-9).all().item<bool>());
  CHECK(UnseenValues({x}, 1).any(rearrange_signs));
  CHECK_FALSE(UnseenValues({x.abs(), in_order}, 1).any(rearrange_signs));
}

TEST_CASE("each draw has values of its own, which the seed repeats") {
  const std::vector<at::Tensor> given{numbers({1.5, -3.25, 0.1})};
  CHECK(at::equal(drawn(UnseenKind::vary, given, 7)[0], drawn(UnseenKind::vary, given, 7)[0]));
  CHECK_FALSE(at::equal(drawn(UnseenKind::vary, given, 7)[0], drawn(UnseenKind::vary, given, 8)[0]));
  UnseenValues source(given, 7);
  const std::vector<at::Tensor> first{at::empty_like(given[0])}, second{at::empty_like(given[0])};
  source.draw(UnseenKind::vary, first);
  source.draw(UnseenKind::vary, second);
  CHECK_FALSE(at::equal(first[0], second[0]));
  const auto before = second[0].clone();
  source.draw(UnseenKind::vary, second, /*kept=*/std::vector<std::size_t>{0});
  CHECK(at::equal(second[0], before));
}

TEST_CASE("a source with another seed has other values, and leaves the first source's values as they are") {
  const std::vector<at::Tensor> given = {at::randn({64})};
  UnseenValues one(given, 1), same(given, 1);
  UnseenValues other = one.with_seed(2);
  const at::Tensor of_one = at::empty_like(given[0]), of_same = at::empty_like(given[0]),
                   of_other = at::empty_like(given[0]);
  other.draw(UnseenKind::vary, {of_other});
  one.draw(UnseenKind::vary, {of_one});
  same.draw(UnseenKind::vary, {of_same});
  CHECK(at::equal(of_one, of_same));
  CHECK_FALSE(at::equal(of_one, of_other));
}

TEST_CASE("values with a property that a function may rely on are scaled as a whole") {
  const auto noise = at::rand({8, 8}, at::kDouble).add(0.1);
  CHECK_FALSE(has_special_values(noise));
  CHECK(has_special_values(numbers({0, 1, 1, 0})));  // a mask
  CHECK(has_special_values(numbers({1.5, std::numeric_limits<double>::infinity()})));
  CHECK(has_special_values(noise.add(noise.t())));                        // symmetric
  CHECK(has_special_values(numbers({0.1, 0.25, 3.5, 3.75})));             // in order
  CHECK(has_special_values(noise.div(noise.sum(-1, /*keepdim=*/true))));  // probabilities
  CHECK(has_special_values(numbers({0.5, 1.5, -0.5}).repeat({8})));       // ties
  CHECK_FALSE(has_special_values(at::randn({32, 32}).tril()));            // zeros stay zeros
  const auto wide = at::randn({8, 64});
  CHECK(has_special_values(wide.mm(wide.t()).mul(at::rand({8, 8}).mul(1e-7).add(1))));  // symmetric but for rounding
  CHECK_FALSE(has_special_values(wide.mm(wide.t()).mul(at::rand({8, 8}).mul(1e-4).add(1))));
  CHECK_FALSE(has_special_values(at::randn({64}).to(at::kBFloat16)));  // ties of the type
  const auto symmetric = noise.add(noise.t());
  const auto values = drawn(UnseenKind::vary, {symmetric})[0];
  CHECK(at::equal(values, values.t()));
}

/// `given` after one draw that keeps structure.
at::Tensor rearranged(const at::Tensor& given, UnseenKind kind = UnseenKind::rearrange) {
  return drawn(kind, {given}, 5)[0];
}
at::Tensor sorted(const at::Tensor& values) { return std::get<0>(values.flatten().sort()); }

TEST_CASE("rearranged: ties and whole numbers are the same values in other places, rows and columns taken as wholes") {
  const auto flags = at::tensor({0.0, 1.0, 1.0, 0.0, 0.0, 0.0, 1.0, 1.0, 1.0, 0.0, 1.0, 0.0}).view({4, 3});
  const auto moved = rearranged(flags);
  CHECK_FALSE(at::equal(moved, flags));
  CHECK(at::equal(sorted(moved), sorted(flags)));
  CHECK(at::equal(sorted(moved.sum(1)), sorted(flags.sum(1))));
  const auto ties = numbers({0.5, 1.5, -0.5, 2.25}).repeat({8});
  const auto scaled = rearranged(ties);
  CHECK(std::get<0>(at::_unique(scaled)).numel() == 4);
  CHECK_FALSE(at::equal(scaled.argsort(std::int64_t{0}), ties.argsort(std::int64_t{0})));
  CHECK(scaled.max().item<double>() < 2.25);
  const auto one_hot = at::eye(5, at::kDouble).index_select(0, at::tensor({3, 1, 1, 0, 4, 2, 2}));
  CHECK(at::equal(rearranged(one_hot).sum(1), at::ones({7}, at::kDouble)));
  CHECK_FALSE(at::equal(rearranged(one_hot), one_hot));
}

TEST_CASE("resampled: whole numbers take each other's values, so that even a sort has another answer") {
  const auto counts = at::arange(64.0).roll(5);
  const auto values = rearranged(counts, UnseenKind::resample);
  CHECK_FALSE(at::equal(sorted(values), sorted(counts)));
  CHECK(values.unsqueeze(1).eq(counts).any(1).all().item<bool>());
  const auto one_hot = at::eye(5, at::kDouble).index_select(0, at::tensor({3, 1, 1, 0, 4, 2, 2}));
  CHECK(at::equal(rearranged(one_hot, UnseenKind::resample).sum(1), at::ones({7}, at::kDouble)));
}

TEST_CASE("rearranged: rows in order stay so, between the same ends, and so do ties among them") {
  const auto rows = at::stack({numbers({0.25, 1.5, 1.5, 2.75, 4.5}), numbers({-1, 0.5, 2.5, 2.5, 3})});
  const auto moved = rearranged(rows);
  CHECK_FALSE(at::equal(moved.select(1, 1), rows.select(1, 1)));
  CHECK(moved.diff().ge(0).all().item<bool>());
  CHECK(at::equal(moved.diff().eq(0), rows.diff().eq(0)));
  CHECK(at::equal(moved.select(1, 0), rows.select(1, 0)));
  CHECK(at::allclose(moved.select(1, 4), rows.select(1, 4)));
  const auto down = numbers({4.5, 2.25, 1.5, 0.5});
  CHECK(rearranged(down).diff().lt(0).all().item<bool>());
}

TEST_CASE("rearranged: symmetric matrices stay symmetric, positive definite, and zero where they were") {
  const auto noise = at::rand({6, 6}, at::kDouble);
  const auto product = noise.matmul(noise.t());
  const auto definite = product.add(product.t()).add(at::eye(6, at::kDouble));
  const auto moved = rearranged(definite);
  CHECK(at::equal(moved, moved.t()));
  CHECK(at::linalg_eigvalsh(moved).gt(0).all().item<bool>());
  // The inverse is no kept one between two diagonal matrices, or the rank of the quotients would be 1.
  const auto rank = [](const at::Tensor& quotients) {
    return at::linalg_svdvals(quotients).gt(1e-6).sum().item<std::int64_t>();
  };
  CHECK(rank(moved.div(definite)) > 1);
  const auto sizes = definite.diagonal().rsqrt();
  auto unit = definite.mul(sizes.unsqueeze(1).mul(sizes)).fill_diagonal_(1);
  const auto other = rearranged(unit);
  CHECK(at::equal(other, other.t()));
  CHECK(at::equal(other.diagonal(), at::ones({6}, at::kDouble)));
  CHECK(at::linalg_eigvalsh(other).gt(0).all().item<bool>());
  CHECK_FALSE(at::allclose(sorted(other), sorted(unit)));
  const auto banded = definite.tril(1).triu(-1);
  CHECK(at::equal(rearranged(banded).eq(0), banded.eq(0)));
  const auto factors = moved.div(definite);
  CHECK(factors[0][1].item<double>() != factors[0][2].item<double>());
  // Edges of a graph, and correlations: other places.
  const auto edges = noise.add(noise.t()).gt(1).to(at::kDouble).fill_diagonal_(0);
  CHECK(at::equal(sorted(rearranged(edges)), sorted(edges)));
  const auto correlations = noise.add(noise.t()).div(4).fill_diagonal_(1);
  CHECK(at::equal(rearranged(correlations).diagonal(), at::ones({6}, at::kDouble)));
  CHECK_FALSE(at::equal(rearranged(correlations), correlations));
}

TEST_CASE("rearranged: where no other values have the structure, they are scaled as a whole") {
  const auto is_scaled = [](const at::Tensor& given) {
    const auto factors = rearranged(given).div(given).flatten().masked_select(given.flatten().ne(0));
    return at::allclose(factors, factors[0].expand_as(factors)) && factors[0].item<double>() < 1;
  };
  CHECK(is_scaled(at::ones({8}, at::kDouble)));
  CHECK(is_scaled(at::arange(1.0, 9.0)));                  // offsets
  CHECK(is_scaled(at::ones({5, 5}, at::kDouble).tril()));  // a causal mask
  // A band of a causal mask, and distances.
  CHECK(is_scaled(at::ones({5, 5}, at::kDouble).tril(1).mul(0.5)));
  CHECK(is_scaled(at::arange(5.0).sub(at::arange(5.0).unsqueeze(1)).abs().to(at::kDouble)));
}

TEST_CASE("rearranged: a multiple of the identity becomes another diagonal matrix") {
  for (const double scale : {1.0, 0.3}) {
    const auto moved = rearranged(at::eye(5, at::kDouble).mul(scale));
    CHECK(at::equal(moved, moved.diagonal().diag()));
    CHECK(moved.diagonal().gt(0).all().item<bool>());
    CHECK(moved.diagonal().diff().ne(0).all().item<bool>());
  }
}

TEST_CASE("rearranged: Toeplitz matrices have other values on their diagonals, in order or definite as before") {
  const auto lags = at::arange(6.0, at::kDouble).sub(at::arange(6.0, at::kDouble).unsqueeze(1));
  const auto is_toeplitz = [](const at::Tensor& m) {
    return at::equal(m.narrow(0, 1, 5).narrow(1, 1, 5), m.narrow(0, 0, 5).narrow(1, 0, 5));
  };
  const auto factors_differ = [](const at::Tensor& now, const at::Tensor& given) {
    const auto factors = now.div(given);
    return factors.sub(factors[0][0]).abs().gt(1e-3).any().item<bool>();
  };
  const auto definite = lags.abs().mul(-0.7).exp();
  for (const auto& given : {definite, lags.mul(0.9).sin().add(lags.mul(0.1)).add(0.05), lags.mul(0.37).exp()}) {
    const auto now = rearranged(given);
    CHECK(is_toeplitz(now));
    CHECK(factors_differ(now, given));
  }
  CHECK(at::linalg_eigvalsh(rearranged(definite)).gt(0).all().item<bool>());
  CHECK(rearranged(lags.mul(0.37).exp()).diff().gt(0).all().item<bool>());
}

TEST_CASE("rearranged: rows of length 1 and with the sum 1 are other ones, unless they are orthogonal") {
  const auto x = at::randn({8, 6}, at::kDouble);
  const auto unit = x.div(x.norm(2, {1}, true)), shares = x.abs().div(x.abs().sum(1, true));
  CHECK(at::allclose(rearranged(unit).norm(2, {1}, false), at::ones({8}, at::kDouble)));
  CHECK(at::allclose(rearranged(shares).sum(1), at::ones({8}, at::kDouble)));
  for (const auto& given : {unit, shares}) CHECK_FALSE(at::allclose(sorted(rearranged(given)), sorted(given)));
  const auto rotation = std::get<0>(at::linalg_qr(at::randn({6, 6}, at::kDouble)));
  const auto moved = rearranged(rotation);
  CHECK(at::allclose(moved.matmul(moved.t()), at::eye(6, at::kDouble)));
  CHECK_FALSE(at::equal(moved, rotation));
}

TEST_CASE("rearranged: rows and columns with the sum 0 keep it") {
  for (const auto type : {at::kFloat, at::kDouble}) {
    const auto x = at::randn({8, 24}, type);
    const auto rows = x.sub(x.mean(1, true)), columns = x.sub(x.mean(0, true)), both = rows.sub(rows.mean(0, true));
    const auto is_centred = [](const at::Tensor& values, std::int64_t dim) {
      return values.sum(dim).abs().lt(1e-5).all().item<bool>();
    };
    for (const auto& given : {rows, columns, both, rows[0]}) {
      const auto moved = rearranged(given);
      if (is_centred(given, -1)) CHECK(is_centred(moved, -1));
      if (is_centred(given, 0)) CHECK(is_centred(moved, 0));
      const auto factors = moved.div(given).flatten();
      CHECK_FALSE(at::allclose(factors, factors[0].expand_as(factors)));
    }
    CHECK_FALSE(has_special_values(x));
    // Rows of differences keep their zeros, and rates their signs.
    const auto forward =
        at::rand({8, 1}, type).add(1).mul(at::eye(9, type).narrow(0, 1, 8).sub(at::eye(9, type).narrow(0, 0, 8)));
    const auto rates = at::rand({8, 8}, type).add(0.1).fill_diagonal_(0);
    const auto of_rates = rates.sub(rates.sum(1).diag());
    for (const auto& given : {forward, of_rates}) CHECK_FALSE(pace::detail::structure_of(given).is_centred());
  }
}

TEST_CASE("rearranged: log-probabilities are other ones, and their order, ties and zeros stay") {
  const auto x = at::randn({8, 6}, at::kDouble);
  const auto sums = [](const at::Tensor& rows) { return rows.exp().sum(-1); };
  const auto of_one = at::ones({8}, at::kDouble);
  x.select(1, 2).fill_(-std::numeric_limits<double>::infinity());
  for (const auto& given : {at::randn({8, 6}, at::kDouble).log_softmax(-1), x.log_softmax(-1)}) {
    const auto moved = rearranged(given);
    CHECK(at::allclose(sums(moved), of_one));
    CHECK(at::equal(moved.isinf(), given.isinf()));
    CHECK_FALSE(at::allclose(sorted(moved.exp()), sorted(given.exp())));
  }
  const auto in_order = std::get<0>(at::randn({8, 6}, at::kDouble).sort()).log_softmax(-1);
  const auto tied = at::randn({8, 3}, at::kDouble).repeat({1, 2}).log_softmax(-1);
  for (const auto& given : {in_order, tied}) {
    const auto moved = rearranged(given);
    CHECK(at::allclose(sums(moved), of_one));
    CHECK_FALSE(at::allclose(moved, given));
  }
  CHECK(rearranged(in_order).diff().ge(0).all().item<bool>());
  CHECK(at::equal(rearranged(tied).narrow(1, 0, 3), rearranged(tied).narrow(1, 3, 3)));
  // In float32 and 16 bits, by one row, and for equal classes.
  for (const auto type : {at::kFloat, at::kHalf, at::kBFloat16}) {
    const auto given = at::randn({8, 6}).log_softmax(-1).to(type);
    CHECK(at::allclose(sums(rearranged(given).to(at::kDouble)), of_one, 0, 0.02));
  }
  const auto equal = at::zeros({6}, at::kDouble).log_softmax(-1);
  CHECK(at::allclose(sums(rearranged(equal)), at::ones({}, at::kDouble)));
  CHECK_FALSE(at::allclose(rearranged(equal), equal));
}

TEST_CASE("rearranged: whole numbers in order have the same steps in another order") {
  const auto offsets = numbers({0, 3, 4, 9, 16, 17, 30});
  const auto moved = rearranged(offsets);
  CHECK_FALSE(at::equal(moved, offsets));
  CHECK(at::equal(sorted(moved.diff()), sorted(offsets.diff())));
  CHECK(at::equal(moved[0], offsets[0]));
}

TEST_CASE("one-hot rows are replaced by any others, but a permutation stays a permutation") {
  const auto classes = at::tensor({3, 1, 1, 0, 4, 2, 2, 1, 1, 1, 3, 1}, at::kLong);
  const auto one_hot = at::arange(5).eq(classes.unsqueeze(1));
  for (const auto dtype : {at::kBool, at::kLong, at::kDouble}) {
    bool differ = false;
    for (std::uint64_t seed = 1; seed < 6; ++seed) {
      const auto now = drawn(replace_all, {one_hot.to(dtype)}, seed)[0];
      CHECK(now.sum(1).eq(1).all().item<bool>());
      differ = differ || !at::equal(sorted(now.sum(0)), sorted(one_hot.sum(0)));
    }
    CHECK(differ);
  }
  const auto permutation = at::eye(6, at::kDouble).index_select(0, at::tensor({3, 1, 0, 5, 2, 4}));
  const auto now = drawn(replace_all, {permutation}, 5)[0];
  CHECK(at::equal(now.sum(0), at::ones({6}, at::kDouble)));
}

TEST_CASE("rearranged, integers too: the same ones in other places, unless their places matter") {
  const auto moved = [](const at::Tensor& given) {
    const auto now = rearranged(given, rearrange_all);
    CHECK(at::equal(sorted(now), sorted(given)));
    return !at::equal(now, given);
  };
  const auto longs = [](std::vector<std::int64_t> values) { return at::tensor(values); };
  CHECK(moved(longs({3, 0, 7, 7, 1})));
  CHECK(moved(longs({1, 0, 1, 1, 0}).to(at::kBool)));
  CHECK_FALSE(moved(longs({0, 2, 5, 9})));         // offsets
  CHECK_FALSE(moved(longs({1, 1, 1, 0, 0, 0})));   // padding
  CHECK_FALSE(moved(longs({4, -1, 3, 2})));        // a marker
  CHECK(moved(longs({4, -1, 3, -2})));             // no marker
  CHECK_FALSE(moved(longs({5, 1L << 40, 3, 2})));  // an address
  CHECK_FALSE(moved(longs({0, 0, 1, 0, 2})));      // parents of a tree
  CHECK_FALSE(moved(longs({3, 1})));
  // Along the longest dimension: the other one may tell coordinates apart.
  const auto points = longs({1, 90, 4, 80, 2, 70, 0, 95, 3, 60}).view({5, 2});
  const auto now = rearranged(points, rearrange_all);
  CHECK(at::equal(sorted(now.select(1, 0)), sorted(points.select(1, 0))));
  // By as many places where sizes are equal; other kinds leave them.
  const std::vector<at::Tensor> given{longs({3, 0, 7, 7, 1}), longs({4, 0, 8, 8, 1})};
  const auto both = drawn(rearrange_all, given);
  CHECK(at::equal(both[0].argmin(), both[1].argmin()));
  CHECK(at::equal(drawn(UnseenKind::rearrange, given)[0], given[0]));
}

/// Random integers from 2 to 99 with padding at the end of rows, or at their beginning, beside `lengths`.
at::Tensor padded(const at::Tensor& lengths, std::int64_t width, std::int64_t value, bool at_end = true) {
  const auto given = at::randint(2, 100, {lengths.numel(), width}, at::kLong);
  const auto places = at::arange(width).ge(lengths.unsqueeze(1));
  return given.masked_fill(given.eq(value), 2).masked_fill(at_end ? places : places.flip(1), value);
}

TEST_CASE("padding stays where it is, or changes places with its row, and no other element takes its value") {
  const auto lengths = at::tensor({5, 12, 9, 16, 7, 3, 11, 14}, at::kLong);
  const auto counts = [](const at::Tensor& places) { return sorted(places.sum(1)); };
  for (const std::int64_t value : {0, 1, 100, 50})
    for (const bool at_end : {true, false}) {
      const auto given = padded(lengths, 16, value, at_end);
      const auto places = given.eq(value);
      CAPTURE(value, at_end);
      bool replaced = false;
      for (std::uint64_t seed = 1; seed < 6; ++seed)
        for (const auto kind : {rearrange_all, replace_all}) {
          const auto alone = drawn(kind, {given}, seed)[0], padding = alone.eq(value);
          CHECK_FALSE(at::equal(padding, places));
          CHECK(at::equal(counts(padding), counts(places)));
          CHECK(padding.to(at::kLong).diff().mul(at_end ? 1 : -1).ge(0).all().item<bool>());
          replaced = replaced || !at::equal(sorted(alone), sorted(given));
          // The operand that marks the padding stays, and so does the padding.
          for (const auto& said : {places, places.logical_not(), lengths}) {
            const auto both = drawn(kind, {said, given}, seed);
            CHECK(at::equal(both[0], said));
            CHECK(at::equal(both[1].eq(value), places));
            CHECK_FALSE(at::equal(both[1], given));
          }
        }
      CHECK(replaced);
    }
}

TEST_CASE("what describes padding stays: masks of any dtype and shape, and lengths") {
  const auto lengths = at::tensor({5, 12, 9, 16, 7, 3, 11, 14}, at::kLong);
  const auto given = padded(lengths, 16, 0), mask = given.ne(0);
  const auto additive = at::zeros({8, 16}).masked_fill(mask.logical_not(), -1e9);
  for (const auto& said :
       {mask.to(at::kLong), mask.to(at::kFloat), mask.logical_not().to(at::kDouble), additive, mask.view({8, 1, 1, 16}),
        additive.view({8, 1, 1, 16}), mask.unsqueeze(1).logical_and(at::ones({16, 16}, at::kBool).tril()).unsqueeze(1),
        additive.unsqueeze(1).repeat({1, 16, 1}), lengths.to(at::kInt), lengths.to(at::kFloat), lengths.neg().add(16),
        lengths.unsqueeze(1)})
    for (const auto kind :
         {replace_all_signs, rearrange_all, UnseenKind(UnseenKind::rearrange), UnseenKind(UnseenKind::scale)}) {
      const auto both = drawn(kind, {given, said}, 3);
      CHECK(at::equal(both[1], said));
      CHECK(at::equal(both[0].ne(0), mask));
    }
  // Elements that have padding in the same places have it there in other values as well.
  const auto labels = padded(lengths, 16, 1), rows = at::randn({8, 16, 3}).mul(mask.unsqueeze(2));
  const auto all = drawn(replace_all, {given, labels, rows}, 3);
  CHECK(at::equal(all[0].ne(0), mask));
  CHECK(at::equal(all[1].ne(1), mask));
  CHECK(at::equal(all[2].ne(0).any(2), mask));
  CHECK_FALSE(at::equal(all[1], labels));
  CHECK_FALSE(at::equal(all[2], rows));
}

TEST_CASE("rows whose lengths are in order stay in order") {
  const auto given = padded(at::arange(16, 0, -2), 16, 0);
  const auto now = drawn(replace_all, {given}, 3)[0];
  CHECK(at::equal(now.ne(0), given.ne(0)));
}

TEST_CASE("no padding: values in the middle of rows, masks, coordinates, rows in order, too few") {
  const auto found = [](const at::Tensor& given) { return pace::detail::padding_of(given).has_value(); };
  const auto lengths = at::tensor({5, 12, 9, 16, 7, 3, 11, 14}, at::kLong);
  const auto given = padded(lengths, 16, 0);
  CHECK(found(given));
  CHECK(found(given.to(at::kInt)));
  CHECK(found(given.view({2, 4, 16})));
  auto within = given.clone();
  within[3][8] = 0;
  CHECK_FALSE(found(within));
  CHECK_FALSE(found(given.ne(0)));
  CHECK_FALSE(found(given.ne(0).to(at::kLong)));
  CHECK_FALSE(found(given.to(at::kFloat)));
  CHECK_FALSE(found(padded(at::tensor({2, 1, 3, 4}), 4, 0)));
  CHECK_FALSE(found(padded(at::tensor({13, 16, 16, 16}), 16, 0)));
  CHECK_FALSE(found(at::arange(1, 17).expand({8, 16}).masked_fill(given.eq(0), 0)));
  CHECK_FALSE(found(given[0]));
  CHECK_FALSE(found(at::randint(0, 20, {64, 16}, at::kLong)));
}

TEST_CASE("replaced: whole numbers by others that occur, and bools by the other value, so that counts change") {
  const auto replaced = [](const at::Tensor& given) {
    const auto now = drawn(replace_all, {given}, 5)[0];
    CHECK(at::isin(now.to(at::kDouble), given.to(at::kDouble)).all().item<bool>());
    return !at::equal(sorted(now), sorted(given));
  };
  const auto numbers_below = [](std::int64_t end, std::initializer_list<std::int64_t> shape) {
    return at::randint(0, end, shape, at::kLong);
  };
  CHECK(replaced(numbers_below(20, {64})));
  CHECK(replaced(numbers_below(20, {64}).sub(10)));
  CHECK(replaced(numbers_below(20, {64}).to(at::kDouble)));
  // The number of all that are true may be the same by chance; the numbers of each row are not.
  const auto flags = at::rand({8, 64}).gt(0.5);
  CHECK_FALSE(at::equal(drawn(replace_all, {flags}, 5)[0].sum(-1), flags.sum(-1)));
  CHECK(replaced(numbers_below(20, {8, 64})));
  // An operand with a structure at most changes its places.
  CHECK_FALSE(replaced(at::randperm(64, at::kLong)));
  CHECK_FALSE(replaced(at::randperm(64, at::kLong).to(at::kDouble)));
  CHECK_FALSE(replaced(at::arange(32).eq(numbers_below(32, {16, 1}))));                // one-hot rows
  CHECK_FALSE(replaced(at::arange(32).eq(numbers_below(32, {16, 1})).to(at::kLong)));  // ... as numbers
  CHECK_FALSE(replaced(at::arange(64).eq(20)));                                        // one place
  const auto place = at::randperm(64, at::kLong);
  CHECK_FALSE(replaced(at::stack({place.floor_divide(8), place.remainder(8)})));  // edges, each of them once
  // Whole slices: elements that belong together in one stay together.
  const auto starts = numbers_below(20, {64});
  const auto ranges = at::stack({starts, starts.add(numbers_below(2, {64})).add(1)}, 1);
  const auto now = drawn(replace_all, {ranges}, 5)[0];
  CHECK_FALSE(at::equal(sorted(now), sorted(ranges)));
  CHECK(now.select(1, 0).lt(now.select(1, 1)).all().item<bool>());
  CHECK_FALSE(UnseenValues({at::randperm(64, at::kLong)}, 1).any(replace_all));
}

TEST_CASE("operands that are equal stay equal, and have their own values otherwise") {
  const auto x = numbers({1.5, -3.25, 0.1});
  const auto values = drawn(UnseenKind::vary, {x, x.clone(), x.mul(2)});
  CHECK(at::equal(values[0], values[1]));
  CHECK_FALSE(at::equal(values[2], values[0].mul(2)));
}

TEST_CASE("scaled: by one factor for all, which keeps order, ties and ratios") {
  const std::vector<at::Tensor> given{numbers({1, -3, 0}), numbers({1, 2})};
  const auto values = drawn(UnseenKind::scale, given);
  const double factor = values[0][0].item<double>();
  CHECK(factor >= 0.5);
  CHECK(factor < 1);
  CHECK(at::equal(values[0], given[0].mul(factor)));
  CHECK(at::equal(values[1], given[1].mul(factor)));
}

TEST_CASE("memory that several operands share, or one element several times, is renewed once") {
  const auto whole = numbers({2, 4, 6, 8});
  std::vector<at::Tensor> values{whole.clone()};
  values.push_back(values[0].narrow(0, 1, 2));
  UnseenValues({whole, whole.narrow(0, 1, 2)}, 1).draw(UnseenKind::scale, values);
  CHECK(values[0][0].item<double>() * 4 == values[0][3].item<double>());
  CHECK(at::equal(values[0].narrow(0, 1, 2), values[1]));
  CHECK(values[0][0].item<double>() >= 1);
  const auto expanded = drawn(UnseenKind::scale, {numbers({2, 4}).unsqueeze(0).expand({3, 2})})[0];
  CHECK(expanded[0][0].item<double>() >= 1);
  CHECK(at::equal(expanded[0], expanded[2]));
}

TEST_CASE("scaled each: by powers of two that differ from tensor to tensor") {
  const auto values = drawn(UnseenKind::scale_each, {numbers({8}), numbers({8}), numbers({8}), numbers({8})});
  CHECK(at::equal(values[0], values[3]));
  CHECK(values[0].item<double>() + values[1].item<double>() + values[2].item<double>() == 7);  // 4, 2 and 1
}

TEST_CASE("rotated: the same values in other places, but not what lies in the gaps of a view") {
  const auto x = numbers({1, 2, 3, 4, 5});
  const auto values = drawn(UnseenKind::rotate, {x})[0];
  CHECK_FALSE(at::equal(values, x));
  CHECK(at::equal(std::get<0>(values.sort()), x));
  const auto memory = numbers({1, 9, 2, 9, 3});
  CHECK(at::equal(drawn(UnseenKind::rotate, {memory.slice(0, 0, 5, 2)})[0], memory.slice(0, 0, 5, 2)));
}

TEST_CASE("rotated: stored integers of quantized values, in other places") {
  const auto x = at::quantize_per_tensor(numbers({1, 2, 3, 4, 5}).to(at::kFloat), 0.5, 3, at::kQInt8);
  const auto before = x.int_repr(), after = drawn(UnseenKind::rotate, {x})[0].int_repr();
  CHECK_FALSE(at::equal(after, before));
  CHECK(at::equal(std::get<0>(after.sort()), before));
}

TEST_CASE("perturbed: values of 16 bits by a few of their own units") {
  for (const auto& [type, unit] : {std::pair(at::kHalf, 0x1p-10), std::pair(at::kBFloat16, 0x1p-7)}) {
    CAPTURE(type);
    const auto before = at::full({64}, 1.25, type);
    const std::vector<at::Tensor> values{before.clone()};
    UnseenValues(values, 1).perturb(values, 1);
    const auto steps = values[0].to(at::kDouble).sub(1.25).abs().div(unit);
    CHECK(steps.min().item<double>() >= 1);
    CHECK(steps.max().item<double>() <= 8);
  }
}

TEST_CASE("perturbed: by a few units in the last place, in several ways") {
  std::vector<at::Tensor> perturbed;
  const auto before = at::randn({64}, at::kDouble);
  for (const std::uint32_t way : {0, 1, 2, 3}) {
    const std::vector<at::Tensor> values{before.clone()};
    UnseenValues(values, 1).perturb(values, way);
    CHECK_FALSE(at::equal(values[0], before));
    CHECK(at::allclose(values[0], before, 1e-14, 0));
    for (const auto& each : perturbed) CHECK_FALSE(at::equal(values[0], each));
    if (way > 0) {
      const auto ups = values[0].abs().gt(before.abs()).sum().item<std::int64_t>();
      CAPTURE(way, ups);
      CHECK(ups > 8);
      CHECK(ups < 56);
    }
    perturbed.push_back(values[0]);
  }
}

TEST_CASE("values that are drawn a second time, and others that are not") {
  const std::vector<at::Tensor> given{at::randn({32}), at::zeros({32}), at::randn({8}), at::ones({32}, at::kLong)};
  RepeatedDraws draws(given);
  const at::Tensor first = at::randn({32}), second = at::randn({32});
  for (const auto& each : {first, second}) draws.look_at(0, each);
  for (std::size_t i = 1; i < given.size(); ++i) draws.look_at(i, given[i]);  // these may come again
  CHECK_FALSE(draws.take().has_value());
  draws.look_at(0, GENERATE(true, false) ? given[0].clone() : first.clone());
  CHECK(draws.take() == 0);
  CHECK_FALSE(draws.take().has_value());
}

TEST_CASE("operands that share memory, or keep their values, are not taken for values that are drawn again") {
  const at::Tensor whole = at::randn({1024});
  const at::Tensor window = whole.narrow(0, 512, 512);
  const bool same_twice = GENERATE(false, true);
  const std::vector<at::Tensor> given = same_twice ? std::vector{whole, whole} : std::vector{window, whole};
  UnseenValues source(given, 1);
  const at::Tensor memory = whole.clone();
  const at::Tensor part = memory.narrow(0, 512, 512);
  const std::vector<std::size_t> kept{0};
  for (int draw = 0; draw < 3; ++draw)
    source.draw(UnseenKind::vary, {same_twice ? memory : part, memory},
                same_twice ? std::span<const std::size_t>(kept) : std::span<const std::size_t>());
  CHECK_FALSE(source.take_repeated_draw().has_value());
}

}  // namespace
