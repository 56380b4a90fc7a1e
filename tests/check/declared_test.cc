// Outputs that may differ as declared, and what calls of the baseline have shown of them.
#include "pace/check/declared.hpp"

#include <ATen/ops/ones.h>
#include <ATen/ops/rand.h>
#include <ATen/ops/randn.h>

#include <string>
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

TEST_CASE("rows are sorted by their first element, then the second, NaN last") {
  const auto sorted = pace::check::with_sorted_rows(longs({3, 1, 2, 9, 1, 5, 2, 1}).view({4, 2}));
  CHECK(sorted.equal(longs({1, 5, 2, 1, 2, 9, 3, 1}).view({4, 2})));
  const auto values = pace::check::with_sorted_rows(doubles({not_a_number, inf, -1, 0}));
  CHECK(values.narrow(0, 0, 3).equal(doubles({-1, 0, inf})));
  CHECK(values.isnan()[3].item<bool>());
  CHECK(pace::check::with_sorted_rows(at::zeros({0, 3})).numel() == 0);
  CHECK_THROWS_WITH(pace::check::with_sorted_rows(floats({1}).squeeze()), ContainsSubstring("scalar"));
}

TEST_CASE("in any order, equal multisets match, and others do not") {
  CHECK(outputs_match(floats({1, 2, 2}), floats({2, 1, 2}), by(Method::order_free)).correct);
  CHECK_FALSE(outputs_match(floats({1, 2, 2}), floats({1, 1, 2}), by(Method::order_free)).correct);
  CHECK_FALSE(outputs_match(floats({1, 2}), floats({2, 1})).correct);
}

TEST_CASE("signs are those of whole vectors, columns or rows") {
  const auto columns = doubles({1, 2, 3, 4}).view({2, 2}), turned = doubles({-1, 2, -3, 4}).view({2, 2});
  CHECK(outputs_match(columns, turned, by(Method::sign_free)).correct);
  CHECK(outputs_match(columns.t(), turned.t(), by(Method::sign_free)).correct);
  CHECK_FALSE(outputs_match(columns, doubles({-1, 2, 3, 4}).view({2, 2}), by(Method::sign_free)).correct);
  // A list of numbers has no vectors.
  CHECK_FALSE(outputs_match(doubles({1, 2}), doubles({-1, -2}), by(Method::sign_free)).correct);
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
  CHECK_FALSE(pace::check::distribution_problem(at::ones({9}), at::ones({9}) * 2).empty());
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

TEST_CASE("what is learned of a tensor decides on it alone, unless a tolerance is stated") {
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
}

TEST_CASE("learned tolerances by type and number of terms") {
  // 16 * 2^-23 of the magnitude, and 4 to 16 epsilons in 16 bits.
  CHECK(pace::check::learned_atol(at::kFloat, 1, 1) == 0x1p-19);
  CHECK(pace::check::learned_atol(at::kFloat, 1, 4096) == 0x1p-13);
  CHECK(pace::check::learned_atol(at::kBFloat16, 1, 1) == 0x1p-5);
  CHECK(pace::check::learned_atol(at::kBFloat16, 1, 4096) == 0x1p-3);
  CHECK(pace::check::learned_atol(at::kDouble, 1, 1) == 0x1p-48);
  CHECK(pace::check::learned_rtol(at::kFloat, 1) == 1.3e-6);
  CHECK(pace::check::learned_rtol(at::kDouble, 1) == 0x1p-46);
}
