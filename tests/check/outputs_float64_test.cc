// outputs_match by float64 reference: how much further away than the baseline an implementation may be.
#include "pace/check/outputs.hpp"

#include <map>
#include <string>
#include <tuple>
#include <vector>

#include "pace/check/ivalue.hpp"
#include "values.hpp"

using Catch::Matchers::StartsWith;
using pace::to_ivalue;
using pace::check::CheckOptions;
using pace::check::Match;
using pace::check::outputs_match;

namespace {

Match run(const c10::IValue& expected, const c10::IValue& actual, const c10::IValue& reference,
          std::optional<double> factor = std::nullopt) {
  CheckOptions options;
  options.method = CheckOptions::Method::float64_reference;
  options.error_factor = factor;
  const Match match = outputs_match(expected, actual, options, &reference);
  UNSCOPED_INFO(match.message);
  return match;
}

/// Reference 1, baseline off by 0.25, implementation by `times` that; alternating in sign.
Match off_by(double times, std::int64_t elements, std::optional<double> factor = std::nullopt,
             at::ScalarType dtype = at::kFloat) {
  auto sign = at::full({elements}, 1.0, at::kDouble);
  sign.slice(0, 1, elements, 2).neg_();
  const auto exact = at::full({elements}, 1.0, at::kDouble);
  return run((exact + sign * 0.25).to(dtype), (exact - sign * (0.25 * times)).to(dtype), exact, factor);
}

}  // namespace

TEST_CASE("the factor is the user's, or by size") {
  CHECK(off_by(4, 2000, 4.0).correct);
  CHECK_FALSE(off_by(4.01, 2000, 4.0).correct);
  CHECK(off_by(2, 1000).correct);
  CHECK_FALSE(off_by(2.01, 1000).correct);
  CHECK(off_by(3, 999).correct);
  CHECK_FALSE(off_by(3.01, 999).correct);
  CHECK(off_by(8, 500).correct);
  CHECK_FALSE(off_by(8.01, 500).correct);
  CHECK(off_by(10, 10).correct);
  CHECK_FALSE(off_by(10.01, 10).correct);
  CHECK(off_by(3, 1000, std::nullopt, at::kHalf).correct);
}

TEST_CASE("the message compares both errors") {
  const Match match = off_by(4, 1000);
  CHECK(match.message ==
        "output: root mean square error to the float64 reference is 1, the baseline's 0.25 (allowed: 2 times that); "
        "1000 of 1000 elements (100 %) differ; worst at [0]: reference 1.0, got 0.0 (off by 1, allowed 0.5)");
}

TEST_CASE("as good as exact: a baseline without error leaves one rounding") {
  const auto exact = at::full({4}, 1.0, at::kDouble), baseline = exact.to(at::kFloat);
  CHECK(run(baseline, baseline + 0x1p-23, exact, 1.0).correct);
  CheckOptions strict;  // without the default tolerance, which takes the baseline's word
  strict.method = CheckOptions::Method::float64_reference;
  strict.rtol = strict.atol = 0;
  const c10::IValue reference = exact;
  CHECK(outputs_match(baseline, baseline + 0x1p-23, strict, &reference).correct);
  CHECK_FALSE(outputs_match(baseline, baseline + 0x1p-22, strict, &reference).correct);
}

TEST_CASE("one bad element does not hide in a large tensor") {
  // Root mean square over 10,000 elements: 0.01 against the baseline's 0.25. But the element is 1 off, 0.5 allowed.
  const auto exact = at::full({10'000}, 1.0, at::kDouble);
  auto actual = exact.to(at::kFloat);
  actual[77] = 2;
  const Match match = run((exact + 0.25).to(at::kFloat), actual, exact);
  CHECK_FALSE(match.correct);
  CHECK(match.mismatches == 1);
}

TEST_CASE("where the baseline overflows, the reference judges") {
  const auto exact = doubles({1, 100'000}), baseline = exact.to(at::kHalf);  // 100,000 is infinite as float16
  CHECK(run(baseline, baseline.clone(), exact).correct);
  CHECK(run(floats({1, inf}), floats({1, 100'000}), exact).correct);  // better than the baseline
  CHECK_FALSE(run(floats({1, inf}), floats({1, 50'000}), exact).correct);
  CHECK(run(floats({1, not_a_number}), floats({1, 100'000}), exact).correct);
  CHECK_FALSE(run(floats({1, 100'000}), floats({1, inf}), exact).correct);
  CHECK_FALSE(run(floats({1, 100'000}), floats({1, not_a_number}), exact).correct);
  CHECK_FALSE(run(floats({1, inf}), floats({1, -inf}), exact).correct);
}

TEST_CASE("structures, complex numbers, and types that have no float64 counterpart") {
  const auto value = [](const at::Tensor& x) { return to_ivalue(std::tuple(3, std::vector<at::Tensor>{x})); };
  CHECK(run(value(floats({1.25})), value(floats({0.75})), value(doubles({1}))).correct);
  CHECK_THAT(run(value(floats({1.25})), value(floats({-3})), value(doubles({1}))).message,
             StartsWith("output[1][0]: root mean square error"));
  const auto complex = [](double re, double im, at::ScalarType dtype) {
    return at::full({1}, at::Scalar(c10::complex<double>(re, im)), dtype);
  };
  const auto exact = complex(1, 1, at::kComplexDouble);
  CHECK(run(complex(1.25, 1, at::kComplexFloat), complex(1, 0.75, at::kComplexFloat), exact).correct);
  CHECK_FALSE(run(complex(1.25, 1, at::kComplexFloat), complex(1, 9, at::kComplexFloat), exact).correct);
  CHECK(run(longs({5}), longs({5}), doubles({5})).correct);
  CHECK_FALSE(run(longs({5}), longs({6}), doubles({6})).correct);
}

TEST_CASE("a reference that does not fit is the caller's mistake") {
  using Catch::Matchers::Message;
  CheckOptions options;
  options.method = CheckOptions::Method::float64_reference;
  CHECK_THROWS_MATCHES(outputs_match(1, 1, options), pace::Error,
                       Message("check by float64 reference: no reference was given"));
  const auto a = floats({1.25}), b = floats({2});
  CHECK_THROWS_MATCHES(run(a, b, doubles({1, 1})), pace::Error,
                       Message("the float64 reference has shape [2], expected [1]"));
  CHECK_THROWS_MATCHES(run(a, b, floats({1})), pace::Error, Message("the float64 reference is of type float32"));
  CHECK_THROWS_MATCHES(run(to_ivalue(std::tuple(a)), to_ivalue(std::tuple(b)), a), pace::Error,
                       Message("output: the float64 reference must have 1 outputs as the baseline"));
  CHECK_THROWS_AS(run(a, b, c10::IValue()), pace::Error);
  const auto of_key = [](const char* key, const at::Tensor& value) {
    return to_ivalue(std::map<std::string, at::Tensor>{{key, value}});
  };
  for (const c10::IValue& reference : {of_key("y", doubles({1})), c10::IValue(doubles({1}))})
    CHECK_THROWS_MATCHES(run(of_key("x", a), of_key("x", b), reference), pace::Error,
                         Message("output: the float64 reference has no key \"x\""));
}
