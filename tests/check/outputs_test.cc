// outputs_match on values: methods, tolerances, messages, NaN, poison.
#include "pace/check/outputs.hpp"

#include <ATen/ops/arange.h>
#include <ATen/ops/quantize_per_tensor.h>

#include <cmath>
#include <string>
#include <tuple>
#include <vector>

#include "pace/check/ivalue.hpp"
#include "values.hpp"

using Catch::Matchers::ContainsSubstring;
using Catch::Matchers::StartsWith;
using pace::check::CheckOptions;
using pace::check::Match;
using Method = pace::check::CheckOptions::Method;

namespace {

/// pace's match; a failing check prints its message.
Match matched(const c10::IValue& expected, const c10::IValue& actual, const CheckOptions& options = {}) {
  Match match = pace::check::outputs_match(expected, actual, options);
  UNSCOPED_INFO(match.message);
  return match;
}

CheckOptions by(Method method) {
  CheckOptions options;
  options.method = method;
  return options;
}

CheckOptions within(double rtol, double atol) {
  CheckOptions options;
  options.rtol = rtol;
  options.atol = atol;
  return options;
}

}  // namespace

TEST_CASE("equal outputs are correct, and what was compared is counted") {
  const Match match = matched(floats({1, 2, 3}), floats({1, 2, 3}));
  CHECK(match.correct);
  CHECK(match.message == "");
  CHECK(match.compared == 1);
  CHECK(match.elements == 3);
  CHECK(match.mismatches == 0);
  CHECK(match.max_abs_error == 0);
}

TEST_CASE("the message says how many, where, what, how far and how far allowed") {
  auto expected = at::zeros({3, 4}), actual = at::zeros({3, 4});
  expected.fill_(1.5);
  actual.fill_(1.5);
  actual[1][0] = 2.5;
  actual[2][3] = 1.25;
  actual[0][1] = 1.0;
  const Match match = matched(expected, actual, within(0.125, 0));
  CHECK_FALSE(match.correct);
  CHECK(match.message ==
        "output: 3 of 12 elements (25 %) differ; worst at [1, 0]: expected 1.5, got 2.5 (off by 1, allowed 0.188)");
  CHECK(match.mismatches == 3);
  CHECK(match.max_abs_error == 1);
  CHECK_FALSE(match.unwritten);
}

TEST_CASE("an error that may be rounding names what would allow it") {
  const auto expected = at::ones({1000});
  const auto message_for = [&](double actual) { return matched(expected, expected.mul(actual), {}).message; };
  CHECK_THAT(message_for(1.001),
             ContainsSubstring("state check::CheckOptions::reduction_length or atol (//benches/files: --atol)"));
  CHECK_THAT(message_for(1.1), !ContainsSubstring("reduction_length"));
  CHECK_THAT(matched(expected, expected.mul(1.001), within(1e-5, 1e-4)).message,
             !ContainsSubstring("reduction_length"));
}

TEST_CASE("errors are reported of correct outputs, too") {
  const Match match = matched(floats({1, 2}), floats({1, 2.25}), within(1, 0));
  CHECK(match.correct);
  CHECK(match.max_abs_error == 0.25);
  CHECK(match.max_rel_error == 0.125);
}

TEST_CASE("default tolerances by dtype") {
  // rtol 1.3e-6 + 2^-13 of the typical 1 for float32: 1.234e-4 in all.
  CHECK(matched(floats({1}), floats({1.00012})).correct);
  CHECK_FALSE(matched(floats({1}), floats({1.00013})).correct);
  CHECK(matched(doubles({1}), doubles({1 + 1.9e-7})).correct);
  CHECK_FALSE(matched(doubles({1}), doubles({1 + 2.1e-7})).correct);
  const auto half = [](double x) { return floats({x}).to(at::kHalf); };
  CHECK(matched(half(1), half(1 + 17 * 0x1p-10)).correct);  // 1e-3 + 16 steps of 2^-10 = 17.02 steps
  CHECK_FALSE(matched(half(1), half(1 + 18 * 0x1p-10)).correct);
  CHECK_FALSE(matched(longs({1'000'000'000}), longs({1'000'000'001})).correct);
  CHECK_FALSE(matched(bools({1}), bools({0})).correct);
  CHECK(matched(bools({0}), bools({1})).message ==
        "output: 1 of 1 elements (100 %) differ; worst at [0]: expected false, got true (off by 1, allowed 0)");
}

TEST_CASE("tolerances of one's own are used as they are") {
  CHECK_FALSE(matched(floats({1}), floats({1.0000001}), within(0, 0)).correct);
  CHECK(matched(longs({10}), longs({11}), within(0, 1)).correct);
  CheckOptions rtol_only;
  rtol_only.rtol = 0.5;
  CHECK(matched(floats({1}), floats({1.5}), rtol_only).correct);
  CHECK_FALSE(matched(floats({1}), floats({1.6}), rtol_only).correct);
}

TEST_CASE("NaN agrees with NaN in its place, with nothing else") {
  CHECK(matched(floats({not_a_number, 1}), floats({not_a_number, 1})).correct);
  CheckOptions strict;
  strict.equal_nan = false;
  CHECK_FALSE(matched(floats({not_a_number, 1}), floats({not_a_number, 1}), strict).correct);
  const Match match = matched(floats({0, 1, not_a_number}), floats({not_a_number, not_a_number, not_a_number}));
  CHECK(match.message ==
        "output: 2 of 3 elements (66.7 %) differ; worst at [0]: expected 0.0, got nan; NaN: 1 expected, 3 got");
  CHECK(match.max_abs_error == inf);
  // No wildcard: an output of nothing but NaN.
  CHECK_FALSE(matched(floats({1, 2}), floats({not_a_number, not_a_number}), within(1e30, 1e30)).correct);
  CHECK(matched(floats({1}), floats({inf})).message ==
        "output: 1 of 1 elements (100 %) differ; worst at [0]: expected 1.0, got inf");
}

TEST_CASE("poison is named: all of it, some of it, and where the baseline is unwritten as well") {
  const auto expected = at::arange(10, at::kFloat);
  auto actual = expected.clone();
  pace::check::poison_(actual);
  const Match all = matched(expected, actual);
  CHECK(all.unwritten);
  CHECK(all.message ==
        "output: looks unwritten (poison pattern): all 10 elements hold what was put there before the call");
  // The same poison on both sides is no agreement, although NaN agrees with NaN.
  CHECK_FALSE(matched(actual, actual.clone()).correct);

  auto tail = expected.clone();
  auto unwritten = tail.narrow(0, 7, 3);
  pace::check::poison_(unwritten);
  const Match some = matched(expected, tail);
  CHECK(some.unwritten);
  CHECK(some.message ==
        "output: 3 of 10 elements (30 %) differ; worst at [7]: expected 7.0, got nan; NaN: 0 expected, 3 got; "
        "3 of 10 elements (30 %) look unwritten (poison pattern)");
  const Match both = matched(tail, tail.clone());
  CHECK(both.message == "output: 3 of 10 elements (30 %) look unwritten (poison pattern)");

  // Integers are told by their bits; bools, whose poison reads as true, even where true is right.
  auto integers = longs({1, 2});
  pace::check::poison_(integers);
  CHECK(matched(longs({1, 2}), integers).unwritten);
  CHECK(matched(integers, integers.clone()).unwritten);
  auto flags = bools({1, 1, 1});
  auto last = flags.narrow(0, 2, 1);
  pace::check::poison_(last);
  CHECK(matched(bools({1, 1, 1}), flags).message == "output: 1 of 3 elements (33.3 %) look unwritten (poison pattern)");
  CHECK_FALSE(matched(expected, tail, by(Method::bitwise)).correct);
  CHECK(matched(expected, actual, by(Method::cosine)).unwritten);
}

TEST_CASE("cosine: direction within the threshold, and the length as well") {
  const auto vector = [](double cosine, double length) {
    return floats({length * cosine, length * std::sqrt(1 - cosine * cosine)});
  };
  const CheckOptions options = by(Method::cosine);
  CHECK(matched(floats({1, 0}), vector(0.991, 1), options).correct);
  const Match turned = matched(floats({1, 0}), vector(0.5, 1), options);
  CHECK_FALSE(turned.correct);
  CHECK_THAT(turned.message,
             StartsWith("output: cosine similarity 0.5, expected at least 0.99; 2 of 2 elements (100 %) differ"));
  CHECK_FALSE(matched(floats({1, 0}), vector(0.989, 1), options).correct);
  // sqrt(2 * 0.01) = 0.1414: up to 1.1414 times, and down to 1 / 1.1414 = 0.8761 times.
  CHECK(matched(floats({1, 0}), vector(1, 1.14), options).correct);
  CHECK(matched(floats({1, 0}), vector(1, 0.877), options).correct);
  CHECK_FALSE(matched(floats({1, 0}), vector(1, 0.875), options).correct);
  CHECK_THAT(matched(floats({1, 0}), floats({2, 0}), options).message,
             StartsWith("output: norm is 2 times the expected, allowed 0.876 to 1.14 times; "));
  // Zeros and NaN.
  CHECK(matched(floats({0, 0}), floats({0, 0}), options).correct);
  CHECK_FALSE(matched(floats({0, 0}), floats({1, 0}), options).correct);
  CHECK_FALSE(matched(floats({1, 0}), floats({0, 0}), options).correct);
  CHECK(matched(floats({not_a_number, 1}), floats({not_a_number, 1}), options).correct);
  CHECK_FALSE(matched(floats({not_a_number, 1}), floats({not_a_number, 2}), options).correct);
  CHECK_FALSE(matched(floats({1, 1}), floats({not_a_number, 1}), options).correct);
  // Sparse and quantised numbers are numbers.
  CHECK(matched(floats({1, 0}).to_sparse(), vector(0.999, 1).to_sparse(), options).correct);
  CHECK_THAT(matched(floats({1, 0}).to_sparse(), floats({1, 2}).to_sparse(), options).message,
             StartsWith("output: cosine similarity 0.447214, expected at least 0.99; "));
  const auto quantized = [](double x) { return at::quantize_per_tensor(floats({1, x}), 0.5, 0, at::kQInt8); };
  CHECK_THAT(matched(quantized(0), quantized(2), options).message,
             StartsWith("output: cosine similarity 0.447214, expected at least 0.99; "));
  CheckOptions loose = options;
  loose.cosine_threshold = 0.4;
  CHECK(matched(floats({1, 0}), vector(0.5, 1), loose).correct);
}

TEST_CASE("bitwise: signed zeros, NaN payloads, and nothing else") {
  const CheckOptions options = by(Method::bitwise);
  CHECK(matched(floats({1, not_a_number, inf}), floats({1, not_a_number, inf}), options).correct);
  const Match zero = matched(floats({1, 0.0, 0.0}), floats({1, 0.0, -0.0}), options);
  CHECK(zero.message == "output: 1 of 3 elements (33.3 %) differ in their bits; first at [2]: expected 0.0, got -0.0");
  CHECK(zero.mismatches == 1);
  const auto payload = at::full({1}, 0x7fc00001, at::kInt).view(at::kFloat);
  CHECK_FALSE(matched(floats({not_a_number}), payload, options).correct);
  const auto wide = at::arange(50'000, at::kDouble).view({2, 25'000});
  CHECK(matched(wide.t(), wide.t().contiguous(), options).correct);
  auto other = wide.t().clone();
  other[24'999][1] += 1;
  CHECK(
      matched(wide.t(), other, options).message ==
      "output: 1 of 50000 elements (0.002 %) differ in their bits; first at [24999, 1]: expected 49999.0, got 50000.0");
  CHECK_FALSE(matched(1.0, std::nextafter(1.0, 2.0), options).correct);
  const auto complex = [](double imaginary) {
    return at::full({1}, at::Scalar(c10::complex<double>(0.1, imaginary)), at::kComplexFloat);
  };
  CHECK(matched(complex(2), complex(-2), options).message ==
        "output: 1 of 1 elements (100 %) differ in their bits; first at [0]: expected 0.1+2.0i, got 0.1-2.0i");
  auto of_any_type = options;
  of_any_type.check_dtype = false;
  CHECK(matched(floats({1}), doubles({1}), of_any_type).message == "output: expected the bits of float32, got float64");
}

TEST_CASE("types that name bits are compared by their bits") {
  const auto bits = [](std::vector<std::int64_t> values) {
    return longs(values).to(at::kShort).view(at::ScalarType::Bits16);
  };
  const Match same = matched(bits({1, 2, -3}), bits({1, 2, -3}));
  CHECK(same.correct);
  CHECK(same.compared == 1);
  CHECK_THAT(matched(bits({1, 2, -3}), bits({1, 2, 3})).message,
             StartsWith("output: 1 of 3 elements (33.3 %) differ; worst at [2]: expected -3, got 3"));
  const auto bytes = longs({1, 255}).to(at::kByte);
  CHECK(matched(bytes.view(at::ScalarType::Bits1x8), bytes.clone().view(at::ScalarType::Bits1x8)).correct);
  CHECK_THAT(matched(bytes, bytes.view(at::ScalarType::Bits1x8)).message, ContainsSubstring("expected dtype"));
  using enum at::ScalarType;
  for (const auto dtype : {Float4_e2m1fn_x2, Bits8, Bits2x4, Bits4x2, UInt1, UInt7, Int1, Int7}) {
    INFO(c10::toString(dtype));
    CHECK(matched(bytes.view(dtype), bytes.clone().view(dtype)).correct);
    CHECK_THAT(matched(bytes.view(dtype), bytes.flip(0).view(dtype)).message,
               StartsWith("output: 2 of 2 elements (100 %) differ"));
  }
}

TEST_CASE("none compares nothing, and says so") {
  const Match match = matched(floats({1}), "anything", by(Method::none));
  CHECK(match.correct);
  CHECK(match.compared == 0);
}

TEST_CASE("numbers, strings and flags") {
  CHECK(matched(1.0, 1.0001).correct);  // as float32
  CHECK(matched(1.0, 2.0).message == "output: expected 1.0, got 2.0");
  CHECK(matched(1.0, 2.0).max_abs_error == 1);
  CHECK(matched(not_a_number, not_a_number).correct);
  CHECK_FALSE(matched(not_a_number, 1.0).correct);
  CHECK(matched(3, 4).message == "output: expected 3, got 4");
  CHECK(matched("a", "b").message == "output: expected \"a\", got \"b\"");
  CHECK(matched(true, false).message == "output: expected true, got false");
  CHECK(matched(c10::complex<double>(1, 2), c10::complex<double>(1, 3)).message ==
        "output: expected 1.0+2.0i, got 1.0+3.0i");
  CHECK(matched(c10::IValue(), c10::IValue()).compared == 0);  // proves nothing
  CHECK(matched("a", "a").compared == 1);
}

TEST_CASE("outputs that are NaN throughout agree without being compared, and so do those without elements") {
  const auto nan = at::full({3}, not_a_number), empty = at::zeros({0});
  for (const auto method : {CheckOptions::Method::allclose, CheckOptions::Method::cosine, CheckOptions::Method::bitwise,
                            CheckOptions::Method::order_free}) {
    CheckOptions options;
    options.method = method;
    options.equal_nan = true;
    for (const auto& dtype : {at::kFloat, at::kHalf, at::kComplexFloat}) {
      if (method == CheckOptions::Method::order_free && dtype == at::kComplexFloat) continue;  // has no order
      const auto match = matched(nan.to(dtype), nan.to(dtype), options);
      INFO(static_cast<int>(method) << ' ' << match.message);
      CHECK(match.correct);
      CHECK(match.compared == 0);
      CHECK(match.only_nan == 1);
    }
    CHECK(matched(empty, empty, options).empty == 1);
    CHECK(matched(empty, empty, options).compared == 0);
    // One number among them, or one output, is judged.
    const auto some = at::stack({nan, at::ones({3})});
    CHECK(matched(some, some, options).compared == 1);
  }
  CHECK(matched(not_a_number, not_a_number).only_nan == 1);
  const auto several = c10::IValue(std::vector<at::Tensor>{nan, empty, at::ones({3})});
  CHECK(matched(several, several).compared == 1);
  CHECK(matched(nan, at::ones({3})).compared == 1);
  CHECK_FALSE(matched(nan, at::ones({3})).correct);
}

TEST_CASE("the tolerance of a number depends on its type and on learned tolerances") {
  CheckOptions options;
  options.number_dtype = at::kDouble;
  CHECK_FALSE(matched(0.1, 0.100001, options).correct);
  CHECK(matched(0.1, 0.1 * (1 + 1e-8), options).correct);
  // float32 holds it exactly, so it was computed in that.
  CHECK(matched(0.5, 0.50001, options).correct);
  options.number_dtype = at::kHalf;
  CHECK(matched(0.5, 0.5004, options).correct);
  CHECK_FALSE(matched(0.1, 0.1004, options).correct);
  options.number_dtype = at::kBFloat16;
  CHECK(matched(0.5, 0.507, options).correct);
  CHECK_FALSE(matched(0.1, 0.1004, options).correct);
  options.number_dtype = at::kDouble;
  const c10::IValue expected = pace::to_ivalue(std::vector<double>{0.1, 0.2});
  const auto with = [&](double second, double slack) {
    const pace::check::LearnedTolerances learned{{.terms = 4, .slack = doubles({slack}), .number = 1}};
    return outputs_match(expected, pace::to_ivalue(std::vector<double>{0.1, second}), options, nullptr, &learned);
  };
  CHECK(with(0.2 * (1 + 1e-15), 0).correct);
  CHECK(with(0.2000000002, 0).message == "output[1]: expected 0.2, got 0.2000000002");
  CHECK(with(0.2 * (1 + 1e-9), 1e-9).correct);
  options.rtol = 1e-3;
  CHECK(with(0.2001, 0).correct);
}

TEST_CASE("options that make no sense are named") {
  using Catch::Matchers::Message;
  CHECK_THROWS_MATCHES(matched(1, 1, within(-1, 0)), pace::Error, Message("check options: rtol must be at least 0"));
  CHECK_THROWS_AS(matched(1, 1, within(0, not_a_number)), pace::Error);
  CheckOptions options;
  options.cosine_threshold = 2;
  CHECK_THROWS_AS(matched(1, 1, options), pace::Error);
}
