#include "pace/check/allclose.hpp"

#include <ATen/ops/arange.h>
#include <ATen/ops/sparse_coo_tensor.h>

#include "pace/check/same_tensor.hpp"
#include "reusing_allocator.hpp"
#include "values.hpp"

using pace::check::Closeness;

namespace {

// Not `allclose`: with Torch's own in scope that would be ambiguous.
constexpr auto* close_to = &pace::check::allclose;

}  // namespace

TEST_CASE("the tolerance is atol + rtol * |expected|, bound included") {
  // 8 + 2 = 2 + 0.75 * 8: just allowed, and one step more is not. All numbers exact in binary.
  CHECK(close_to(doubles({-8}), doubles({-16}), 0.75, 2, false).close);
  CHECK_FALSE(close_to(doubles({-8}), doubles({std::nextafter(-16.0, -17.0)}), 0.75, 2, false).close);
  // The expected value sets the room, not the actual: 0.75 * 16 + 2 = 14 one way, 0.75 * 2 + 2 = 3.5 the other.
  CHECK(close_to(doubles({16}), doubles({2}), 0.75, 2, false).close);
  CHECK_FALSE(close_to(doubles({2}), doubles({16}), 0.75, 2, false).close);
}

TEST_CASE("the report counts mismatches and names the worst element") {
  const auto expected = floats({1, 2, 4, 8, 0, 1}).view({2, 3});
  const auto actual = floats({1, 2.5, 4, 9, 0.25, 1.0625}).view({2, 3});
  // Errors 0.5, 1, 0.25, 0.0625; allowed 0.125 + 0.125 * |expected| = 0.375, 1.125, 0.125, 0.25.
  const Closeness found = close_to(expected, actual, 0.125, 0.125, false);
  CHECK_FALSE(found.close);
  CHECK(found.elements == 6);
  CHECK(found.mismatches == 2);
  CHECK(found.max_abs_error == 1);
  CHECK(found.max_rel_error == inf);  // 0.25 where 0 was expected
  CHECK(found.where == "[0, 1]");     // not [1, 0]: its larger error is allowed
  CHECK(found.expected_value == "2.0");
  CHECK(found.actual_value == "2.5");
  CHECK(found.abs_error == 0.5);
  CHECK(found.allowed == 0.375);
}

TEST_CASE("equal tensors have no worst element, near ones have") {
  const auto x = doubles({1, 2});
  CHECK(close_to(x, x, 0, 0, false).where == "");
  const Closeness near = close_to(x, doubles({1, 2.5}), 1, 1, false);
  CHECK(near.close);
  CHECK(near.max_abs_error == 0.5);
  CHECK(near.max_rel_error == 0.25);
  CHECK(near.where == "[1]");
}

TEST_CASE("NaN matches no number, however large the tolerance") {
  for (const bool equal_nan : {false, true}) {
    CHECK_FALSE(close_to(doubles({1}), doubles({not_a_number}), 1e300, inf, equal_nan).close);
    CHECK_FALSE(close_to(doubles({not_a_number}), doubles({1}), 1e300, inf, equal_nan).close);
    CHECK_FALSE(close_to(doubles({inf}), doubles({not_a_number}), 1e300, inf, equal_nan).close);
    CHECK(close_to(doubles({not_a_number}), doubles({not_a_number}), 0, 0, equal_nan).close == equal_nan);
  }
  const Closeness found =
      close_to(doubles({not_a_number, 1, 2}), doubles({not_a_number, not_a_number, not_a_number}), 0, 0, true);
  CHECK(found.mismatches == 2);
  CHECK(found.expected_nans == 1);
  CHECK(found.actual_nans == 3);
  CHECK(found.max_abs_error == inf);
  CHECK(found.where == "[1]");
  CHECK(found.actual_value == "nan");
}

TEST_CASE("an infinity matches only itself") {
  CHECK(close_to(doubles({inf, -inf}), doubles({inf, -inf}), 0, 0, false).close);
  CHECK_FALSE(close_to(doubles({inf}), doubles({-inf}), 1, inf, false).close);
  CHECK_FALSE(close_to(doubles({inf}), doubles({1e308}), 1, inf, false).close);
  CHECK_FALSE(close_to(doubles({1e308}), doubles({inf}), 1, inf, false).close);
}

TEST_CASE("integers are compared exactly where a double cannot tell them apart") {
  const std::int64_t large = (std::int64_t{1} << 53) + 1;  // rounds to 2^53 as a double
  const auto expected = longs({large, -3});
  const auto actual = longs({large - 1, -3});
  const Closeness found = close_to(expected, actual, 0, 0, false);
  CHECK(found.mismatches == 1);
  CHECK(found.max_abs_error == 1);
  CHECK(found.expected_value == "9007199254740993");
  CHECK(found.actual_value == "9007199254740992");
  // The whole range: the difference of the extremes does not overflow. 2^64 - 1 rounds to 2^64.
  const auto low = at::full({1}, std::numeric_limits<std::int64_t>::min(), at::kLong);
  const auto high = at::full({1}, std::numeric_limits<std::int64_t>::max(), at::kLong);
  CHECK(close_to(low, high, 0, 0, false).max_abs_error == 0x1p64);
  CHECK(close_to(high, low, 0, 0, false).max_abs_error == 0x1p64);
}

TEST_CASE("uint64 beyond the signed range") {
  const auto half = at::full({2}, -1, at::kLong).view(at::kUInt64);  // 2^64 - 1
  const auto one = at::full({2}, 1, at::kLong).view(at::kUInt64);
  const Closeness found = close_to(half, one, 0, 0, false);
  CHECK(found.mismatches == 2);
  CHECK(found.expected_value == "18446744073709551615");
  CHECK(found.max_abs_error == 0x1p64);  // 2^64 - 2, rounded
  CHECK(found.max_rel_error == 1);
  CHECK(close_to(half, half, 0, 0, false).close);
}

TEST_CASE("every dtype agrees with itself and notices a change") {
  for (const auto dtype : {at::kBool, at::kByte, at::kChar, at::kShort, at::kInt, at::kLong, at::kUInt16, at::kUInt32,
                           at::kUInt64, at::kHalf, at::kBFloat16, at::kFloat, at::kDouble, at::kComplexHalf,
                           at::kComplexFloat, at::kComplexDouble, at::kFloat8_e4m3fn, at::kFloat8_e5m2}) {
    CAPTURE(c10::toString(dtype));
    const auto expected = floats({0, 1, 0, 1}).to(dtype);
    const auto actual = floats({0, 1, 1, 1}).to(dtype);
    CHECK(close_to(expected, expected.clone(), 0, 0, false).close);
    const Closeness found = close_to(expected, actual, 0.1, 0.1, false);
    CHECK(found.mismatches == 1);
    CHECK(found.max_abs_error == 1);
    CHECK(found.where == "[2]");
  }
}

TEST_CASE("values read as their type writes them") {
  const auto half = doubles({0.1}).to(at::kHalf), brain = doubles({3.140625}).to(at::kBFloat16);
  CHECK(close_to(half, half + 1, 0, 0, false).expected_value == "0.099975586");
  CHECK(close_to(brain, brain + 1, 0, 0, false).expected_value == "3.140625");
  CHECK(close_to(floats({0.1}), doubles({1e-5}), 0, 0, false).expected_value == "0.1");
  CHECK(close_to(doubles({0.1}), doubles({1e-5}), 0, 0, false).actual_value == "1e-05");
  CHECK(close_to(bools({1}), bools({0}), 0, 0, false).expected_value == "true");
}

TEST_CASE("complex numbers: modulus if finite, part by part otherwise") {
  using C = c10::complex<double>;
  const auto complex = [](double real, double imag) {
    return at::full({1}, at::Scalar(C(real, imag)), at::kComplexDouble);
  };
  // |3 + 4i - 0| = 5.
  const Closeness found = close_to(complex(3, 4), complex(0, 0), 0, 4.5, false);
  CHECK(found.max_abs_error == 5);
  CHECK(found.max_rel_error == 1);
  CHECK(found.expected_value == "3.0+4.0i");
  CHECK(close_to(complex(3, 4), complex(0, 0), 1, 0, false).close);
  // A NaN in one part does not excuse the other.
  CHECK(close_to(complex(not_a_number, 1), complex(not_a_number, 1), 0, 0, true).close);
  CHECK_FALSE(close_to(complex(not_a_number, 1), complex(not_a_number, 5), 0, 0, true).close);
  CHECK_FALSE(close_to(complex(not_a_number, 1), complex(1, not_a_number), 0, 0, true).close);
  CHECK_FALSE(close_to(complex(inf, 1), complex(inf, 2), 0, 0, true).close);
  // Lazily conjugated views are read as the values they stand for.
  CHECK(close_to(complex(3, 4).conj(), complex(3, -4), 0, 0, false).close);
}

TEST_CASE("shapes: scalars, empty tensors, and an error for different ones") {
  CHECK(close_to(at::zeros({}), at::zeros({}), 0, 0, false).close);
  const Closeness scalar = close_to(at::zeros({}), at::full({}, 2), 0, 0, false);
  CHECK(scalar.where == "[]");
  CHECK(scalar.elements == 1);
  const Closeness empty = close_to(at::zeros({3, 0}), at::zeros({3, 0}), 0, 0, false);
  CHECK(empty.close);
  CHECK(empty.elements == 0);
  CHECK_THROWS_MATCHES(close_to(at::zeros({2}), at::zeros({1}), 0, 0, false), pace::Error,
                       Catch::Matchers::Message("cannot compare tensors of shapes [2] and [1]"));
  CHECK_THROWS_AS(close_to(at::Tensor(), at::zeros({1}), 0, 0, false), pace::Error);
}

TEST_CASE("tensors of several pieces: every layout finds the one wrong element") {
  // 300 * 700 = 210,000 elements: more than six pieces.
  const auto base = at::arange(210'000, at::kFloat).view({300, 700});
  auto wrong = base.clone();
  wrong[299][698] = -1;
  const auto check = [](const at::Tensor& expected, const at::Tensor& actual, const std::string& where) {
    const Closeness found = close_to(expected, actual, 0, 0, false);
    CHECK(found.mismatches == 1);
    CHECK(found.where == where);
    CHECK(found.actual_value == "-1.0");
    CHECK(found.elements == expected.numel());
  };
  check(base, wrong, "[299, 698]");
  check(base.t(), wrong.t(), "[698, 299]");
  check(base.t(), wrong.t().contiguous(), "[698, 299]");
  check(base.view({1, 1, 210'000}), wrong.view({1, 1, 210'000}), "[0, 0, 209998]");
  check(base.view({210'000, 1}).expand({210'000, 1}), wrong.view({210'000, 1}), "[209998, 0]");
  // A row longer than a piece, beside a short outer dimension, and not contiguous.
  check(base.view({2, 105'000}).t().contiguous().t(), wrong.view({2, 105'000}), "[1, 104998]");
  // One element that stands for many.
  const auto ones = at::full({1}, 1.0f).expand({100'000});
  CHECK(close_to(ones, at::full({100'000}, 2.0f), 0, 0, false).mismatches == 100'000);
}

TEST_CASE("sparse tensors are compared by the values they stand for") {
  const auto indices = longs({0, 2}).view({1, 2});
  const auto sparse = at::sparse_coo_tensor(indices, doubles({1, 5}), {3});
  CHECK(close_to(doubles({1, 0, 5}), sparse, 0, 0, false).close);
  CHECK(close_to(sparse, doubles({1, 0, 6}), 0, 0, false).where == "[2]");
}

TEST_CASE("tensors that require gradients leave no graph behind") {
  const auto x = doubles({1, 2}).requires_grad_();
  CHECK(close_to(x, x * 1, 0, 0, false).close);
}

TEST_CASE("comparing needs little memory beside the tensors") {
  const auto x = at::arange(8'000'000, at::kFloat).view({2000, 4000});  // 32 MB; as double 64 MB
  const auto y = x + 1;
  const auto exact = x.to(at::kDouble);
  pace::check::SameOptions cosine;
  cosine.cos_similarity = true;
  const ReusingAllocator counting;
  CHECK(close_to(x, y, 0, 1, false).close);
  CHECK(close_to(x.t(), y.t(), 0, 1, false).close);
  CHECK_FALSE(pace::check::same_tensor(x, y, exact));
  CHECK(pace::check::same_tensor(x, y, exact, cosine));
  CHECK(counting.peak_bytes() < 2'000'000);
}
