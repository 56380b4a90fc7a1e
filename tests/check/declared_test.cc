// Outputs that may differ as declared, and the differences that calls of the baseline have shown.
#include "pace/check/declared.hpp"

#include <ATen/core/Dict.h>
#include <ATen/ops/_nested_tensor_from_tensor_list.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/complex.h>
#include <ATen/ops/eye.h>
#include <ATen/ops/ones.h>
#include <ATen/ops/quantize_per_tensor.h>
#include <ATen/ops/rand.h>
#include <ATen/ops/randint.h>
#include <ATen/ops/randn.h>
#include <ATen/ops/tensor.h>

#include <cmath>
#include <string>
#include <tuple>
#include <vector>

#include "pace/check/outputs.hpp"
#include "pace/check/ties.hpp"
#include "values.hpp"

using Catch::Matchers::ContainsSubstring;
using pace::check::CheckOptions;
using pace::check::LearnedTolerances;
using pace::check::outputs_match;
using Method = pace::check::CheckOptions::Method;

namespace {

CheckOptions by(Method method) {
  CheckOptions options;
  options.method = method;
  return options;
}

}  // namespace

TEST_CASE("in any order, equal multisets match, and others do not") {
  CHECK(outputs_match(floats({1, 2, 2}), floats({2, 1, 2}), by(Method::order_free)).correct);
  CHECK_FALSE(outputs_match(floats({1, 2, 2}), floats({1, 1, 2}), by(Method::order_free)).correct);
  CHECK_FALSE(outputs_match(floats({1, 2}), floats({2, 1})).correct);
}

TEST_CASE("rows of outputs that belong together are put into one order") {
  const auto pair = [](const at::Tensor& keys, const at::Tensor& values) {
    return c10::IValue(std::tuple(keys, values));
  };
  const auto match = [&](const c10::IValue& e, const c10::IValue& a) {
    return outputs_match(e, a, by(Method::order_free));
  };
  const auto expected = pair(longs({3, 1, 2}), floats({30, 10, 20}));
  CHECK(match(expected, pair(longs({2, 3, 1}), floats({20, 30, 10}))).correct);
  const auto wrong = match(expected, pair(longs({2, 3, 1}), floats({30, 10, 20})));
  CHECK_FALSE(wrong.correct);
  CHECK_THAT(wrong.message, ContainsSubstring("output[1]: with rows in ascending order"));
  // Also where the first output is the same in all rows, and where tensors have several columns.
  CHECK_FALSE(match(pair(longs({1, 1}), floats({1, 2, 3, 4}).view({2, 2})),
                    pair(longs({1, 1}), floats({1, 4, 3, 2}).view({2, 2})))
                  .correct);
  CHECK(match(pair(longs({1, 1}), floats({1, 2, 3, 4}).view({2, 2})),
              pair(longs({1, 1}), floats({3, 4, 1, 2}).view({2, 2})))
            .correct);
  // Those with other numbers of rows have an order of their own.
  CHECK(match(pair(longs({1, 2}), floats({1, 2, 3})), pair(longs({2, 1}), floats({1, 3, 2}))).correct);
  // Dicts have their keys in any order.
  c10::Dict<std::string, at::Tensor> one, other;
  one.insert("k", longs({1, 2}));
  one.insert("v", longs({5, 4}));
  other.insert("v", longs({4, 5}));
  other.insert("k", longs({2, 1}));
  CHECK(match(one, other).correct);
  other.insert_or_assign("v", longs({5, 4}));
  CHECK_FALSE(match(one, other).correct);
  CHECK_FALSE(match(expected, pair(longs({2, 3, 1}), floats({20, 30}))).correct);
  CHECK_FALSE(match(expected, c10::IValue(longs({2, 3, 1}))).correct);
  // What is not like the expected output fails by that.
  CHECK(match(floats({1, 2}), at::complex(floats({2, 1}), floats({0, 0}))).message ==
        "output: expected dtype float32, got complex64");
  CHECK(match(floats({1, 2}), floats({2, 1}).to_sparse()).message == "output: expected layout strided, got sparse COO");
  CHECK_THROWS_WITH(match(at::zeros({}), at::zeros({})),
                    "order_free: expected outputs of at least one dimension, got a scalar, which has no order");
}

TEST_CASE("rows whose first elements differ by rounding may change places, and no others") {
  const float next = std::nextafter(1.0f, 2.0f);
  const auto table = [](std::initializer_list<double> values) { return floats(values).view({-1, 2}); };
  const auto match = [&](const at::Tensor& e, const at::Tensor& a) {
    return outputs_match(e, a, by(Method::order_free)).correct;
  };
  CHECK(match(table({1, 5, next, 3}), table({next, 5, 1, 3})));
  CHECK_FALSE(match(table({1, 5, next, 3}), table({next, 5, 1, 5})));
  CHECK_FALSE(match(table({1, 5, 2, 3}), table({2, 5, 1, 3})));
  // The first pairs that fit leave none for others, which a path finds.
  CHECK(match(table({1, 5, next, 3, 1, 4, 7, 7}), table({next, 4, 7, 7, 1, 3, next, 5})));
  // Many rows in one run: every second pair is swapped by rounding.
  const auto values = at::arange(2000.0).view({1000, 2}).to(at::kFloat), moved = values.clone();
  values.select(1, 0).fill_(1);
  moved.select(1, 0).fill_(1);
  moved.select(1, 0).slice(0, 0, 1000, 2).fill_(next);
  CHECK(match(values, moved.flip(0)));
  moved[7][1] += 1;
  CHECK_FALSE(match(values, moved.flip(0)));
}

TEST_CASE("signs belong to whole vectors, which are columns, or rows if only these have the length 1") {
  const auto turn = at::tensor({0.6, -0.8, 0.8, 0.6}, at::kDouble).view({2, 2});
  const auto columns = at::cat({turn, turn}).div(std::sqrt(2.0)), turned = columns.mul(doubles({-1, 1}));
  CHECK(outputs_match(columns, turned, by(Method::sign_free)).correct);
  CHECK(outputs_match(columns.t(), turned.t(), by(Method::sign_free)).correct);
  CHECK_FALSE(outputs_match(columns, columns.mul(doubles({-1, 1, 1, 1}).view({4, 1})), by(Method::sign_free)).correct);
  // The vectors of a square matrix are its columns, unless declared otherwise.
  const auto rows_turned = turn.mul(doubles({-1, 1}).view({2, 1}));
  CHECK_FALSE(outputs_match(turn, rows_turned, by(Method::sign_free)).correct);
  auto rows = by(Method::sign_free);
  rows.vectors = {{.output = 0, .dim = -2}};
  CHECK(outputs_match(turn, rows_turned, rows).correct);
  CHECK_FALSE(outputs_match(turn, turn.mul(doubles({-1, 1})), rows).correct);
  rows.vectors.front().dim = 1;
  CHECK_THROWS_WITH(outputs_match(turn, turn, rows), ContainsSubstring("-1 (columns) or -2 (rows)"));
  // What is not like the expected output fails by that.
  CHECK(outputs_match(turn, turn.to_sparse(), by(Method::sign_free)).message ==
        "output: expected layout strided, got sparse COO");
  CHECK(outputs_match(turn, at::complex(turn, turn), by(Method::sign_free)).message ==
        "output: expected dtype float64, got complex128");
  CHECK_THAT(outputs_match(turn, at::_nested_tensor_from_tensor_list({turn, turn}), by(Method::sign_free)).message,
             ContainsSubstring("got [nested]"));
  // Forms that are allowed to differ are compared by their values.
  auto loose = by(Method::sign_free);
  loose.check_layout = loose.check_dtype = false;
  for (const auto& same :
       {turn.to_sparse(), turn.to_sparse_csr(), at::quantize_per_tensor(turn.to(at::kFloat), 0.2, 0, at::kQInt8)}) {
    CAPTURE(same.toString());
    CHECK(outputs_match(turn, same, loose).correct);
    CHECK_FALSE(outputs_match(turn.mul(2), same, loose).correct);
  }
  // A list of numbers has no vectors, and neither has a sparse matrix.
  CHECK(outputs_match(turn.to_sparse(), turn.to_sparse(), by(Method::sign_free)).correct);
  CHECK_FALSE(outputs_match(doubles({1, 2}), doubles({-1, -2}), by(Method::sign_free)).correct);
}

TEST_CASE("vectors that belong together have one sign") {
  const auto u = at::tensor({0.6, -0.8, 0.8, 0.6}, at::kDouble).view({2, 2}), v = u.t().contiguous();
  const auto signs = doubles({-1, 1}), ones = doubles({1, 1});
  const auto outputs = [&](const at::Tensor& of_u, const at::Tensor& of_v) {
    return c10::IValue(std::tuple(u.mul(of_u), doubles({2, 1}), v.mul(of_v.view({2, 1}))));
  };
  auto both = by(Method::sign_free);
  both.vectors = {{.output = 0, .dim = -1}, {.output = 2, .dim = -2}};
  CHECK(outputs_match(outputs(ones, ones), outputs(signs, signs), both).correct);
  const auto apart = outputs_match(outputs(ones, ones), outputs(signs, ones), both);
  CHECK_FALSE(apart.correct);
  CHECK_THAT(apart.message, ContainsSubstring("with the signs of the expected vectors"));
}

TEST_CASE("declarations of vectors that are not clear are errors") {
  using pace::check::validate_outputs;
  const auto orthogonal = at::eye(3, at::kDouble), product = orthogonal.mul(2);
  const auto message = [](const CheckOptions& options, const c10::IValue& output) {
    try {
      validate_outputs(options, output, {});
    } catch (const pace::check::BadDeclaration& error) {
      return std::string(error.what());
    }
    return std::string("no error");
  };
  CHECK(message(by(Method::sign_free), orthogonal) == "no error");
  CHECK(message(by(Method::sign_free), std::tuple(at::ones({2, 3}), orthogonal.expand({2, 3, 3}))) == "no error");
  CHECK_THAT(message(by(Method::sign_free), product), ContainsSubstring("columns or rows have the length 1"));
  CHECK_THAT(message(by(Method::sign_free), std::tuple(orthogonal, orthogonal)),
             ContainsSubstring("expected one matrix of vectors among the outputs, got 2"));
  auto named = by(Method::sign_free);
  named.vectors = {{.output = 0, .dim = -1}, {.output = 1, .dim = -2}};
  CHECK(message(named, std::tuple(product, orthogonal)) == "no error");
  CHECK_THAT(message(named, std::tuple(product, at::ones({2, 3}))), ContainsSubstring("expected as many vectors"));
  CHECK_THAT(message(named, orthogonal), ContainsSubstring("names output tensor 1"));
  CHECK_THAT(message(named, std::tuple(product, orthogonal.to_sparse())), ContainsSubstring("names output tensor 1"));
}

TEST_CASE("distributions are equal up to 6 standard errors") {
  const auto one = at::randn({10000}), other = at::randn({10000});
  CHECK(pace::check::distribution_problem(one, other).empty());
  // The standard error of the difference of two means of 10000 numbers is 0.014.
  CHECK_THAT(pace::check::distribution_problem(one, other + 0.2), ContainsSubstring("a mean of"));
  CHECK_THAT(pace::check::distribution_problem(one, other * 1.2), ContainsSubstring("a variance of"));
  CHECK_THAT(pace::check::distribution_problem(one, other.mul(at::rand({10000}).gt(0.05))),
             ContainsSubstring("a share of zeros of"));
  CHECK_THAT(pace::check::distribution_problem(one, other.masked_fill(other.gt(3), inf)),
             ContainsSubstring("not finite"));
  CHECK(pace::check::distribution_problem(at::ones({9}), at::ones({9})).empty());
  CHECK_FALSE(pace::check::distribution_problem(at::ones({32}), at::ones({32}) * 2).empty());
}

TEST_CASE("random numbers that repeat, or depend on each other, are another distribution") {
  using pace::check::distribution_problem;
  const auto noise = at::randn({64, 64});
  CHECK(distribution_problem(noise, at::randn({64, 64})).empty());
  const auto pieces = at::randn({16, 64});
  CHECK_THAT(distribution_problem(noise, at::cat({pieces, pieces, pieces, pieces})),
             ContainsSubstring("numbers repeat"));
  const auto pairs = at::randn({32, 64}).repeat_interleave(2, 0).add(at::randn({64, 64}).mul(1e-3));
  CHECK_THAT(distribution_problem(noise, pairs), ContainsSubstring("64 apart correlate"));
  CHECK_THAT(distribution_problem(noise, pairs.t()), ContainsSubstring("1 apart correlate"));
  // An error common to both is no fault.
  const auto trend = at::arange(64.0).mul(0.1), one = at::randint(0, 8, {64, 64}, at::kLong);
  CHECK(distribution_problem(noise.add(trend), at::randn({64, 64}).add(trend)).empty());
  CHECK(distribution_problem(one, at::randint(0, 8, {64, 64}, at::kLong)).empty());
}

TEST_CASE("indices find values, if they are in range and different") {
  const auto values = floats({5, 7, 7, 5}).view({2, 2});
  const auto found = [&](const std::vector<std::int64_t>& indices) {
    return pace::check::detail::found_by(longs(indices).view({2, 1}), values, 1);
  };
  CHECK(found({1, 0}).equal(floats({7, 7}).view({2, 1})));
  CHECK_FALSE(found({2, 0}).defined());
  CHECK_FALSE(found({-1, 0}).defined());
  CHECK_FALSE(pace::check::detail::found_by(longs({0, 0, 1, 0}).view({2, 2}), values, 1).defined());
  // As of argmax, without the dimension.
  CHECK(pace::check::detail::found_by(longs({1, 0}), values, -1).equal(floats({7, 7})));
}

TEST_CASE("the user's function alone decides") {
  CheckOptions options = by(Method::custom);
  options.function = [](const c10::IValue&, const c10::IValue& actual) {
    return actual.toInt() == 2 ? std::string() : std::string("it is odd");
  };
  CHECK(outputs_match(1, 2, options).correct);
  CHECK(outputs_match(1, 3, options).message == "it is odd");
  CHECK_THROWS_WITH(outputs_match(1, 2, by(Method::custom)), ContainsSubstring("needs a function"));
}

TEST_CASE("a learned tolerance decides on its own tensor alone, unless a tolerance is stated") {
  const auto expected = at::full({64}, 1.0f), off = expected + 1e-4f;
  CHECK(outputs_match(expected, off).correct);  // as a sum of 4096 terms
  LearnedTolerances learned{{.output = expected, .terms = 2}};
  CHECK_FALSE(outputs_match(expected, off, {}, nullptr, &learned).correct);
  CHECK(outputs_match(expected, expected + 0x1p-21f, {}, nullptr, &learned).correct);
  CHECK(outputs_match(expected.clone(), off, {}, nullptr, &learned).correct);  // not the same tensor
  CheckOptions stated;
  stated.atol = 1e-3;
  CHECK(outputs_match(expected, off, stated, nullptr, &learned).correct);
  learned.front().slack = at::full({64}, 1e-3f);
  CHECK(outputs_match(expected, off, {}, nullptr, &learned).correct);
  learned.front().slack[3].zero_();
  const auto match = outputs_match(expected, off, {}, nullptr, &learned);
  CHECK(match.mismatches == 1);
  CHECK_THAT(match.message, ContainsSubstring("worst at [3]"));
  // Also of sparse outputs, and of types without arithmetic.
  const auto table = at::full({8, 8}, 1.0f), sparse = table.to_sparse(), powers = table.to(at::kFloat8_e8m0fnu);
  const auto differs = [](const at::Tensor& e, const at::Tensor& a) {
    const LearnedTolerances of_sums{{.output = e, .terms = 64}};
    return outputs_match(e, a, {}, nullptr, &of_sums).message;
  };
  CHECK_THAT(differs(sparse, (table + 1).to_sparse()), ContainsSubstring("64 of 64 elements (100 %) differ"));
  CHECK_THAT(differs(powers, (table + 15).to(at::kFloat8_e8m0fnu)), ContainsSubstring("64 of 64 elements"));
}

TEST_CASE("learned tolerances by type and number of terms") {
  // 16 * 2^-23 of the magnitude times the square root of 256 terms or more, and 4 to 16 epsilons in 16 bits.
  CHECK(pace::check::learned_atol(at::kFloat, 1, 1) == 0x1p-15);
  CHECK(pace::check::learned_atol(at::kFloat, 1, 256) == 0x1p-15);
  CHECK(pace::check::learned_atol(at::kFloat, 1, 1024) == 0x1p-14);
  CHECK(pace::check::learned_atol(at::kFloat, 1, 4096) == 0x1p-13);
  CHECK(pace::check::learned_atol(at::kBFloat16, 1, 1) == 0x1p-5);
  CHECK(pace::check::learned_atol(at::kBFloat16, 1, 4096) == 0x1p-3);
  CHECK(pace::check::learned_atol(at::kDouble, 1, 1) == 0x1p-44);
  CHECK(pace::check::learned_rtol(at::kFloat, 1) == 1.3e-6);
  CHECK(pace::check::learned_rtol(at::kDouble, 1) == 0x1p-46);
}

TEST_CASE("a declaration about numbers is refused for types that hold only bits, by the name of the type") {
  const auto output = longs({1, 2}).to(at::kByte).view(at::ScalarType::Float4_e2m1fn_x2);
  for (const auto method : {Method::order_free, Method::sign_free, Method::random})
    CHECK_THROWS_WITH(
        pace::check::validate_outputs(by(method), output, {}),
        ContainsSubstring(
            "expected real numbers, got float4_e2m1fn_x2; try: compare others by compare_outputs(function)"));
}
