#include "pace/check/tolerance.hpp"

#include <ATen/ops/arange.h>

#include <vector>

#include "pace/check/outputs.hpp"
#include "values.hpp"

using pace::check::default_atol;
using pace::check::outputs_match;
using pace::check::typical_magnitude;

TEST_CASE("the typical magnitude is the first quartile of nonzero values, down to a power of two") {
  CHECK(typical_magnitude(floats({5, 5, 5, 5})) == 4);
  CHECK(typical_magnitude(floats({-8, 8, -8, 8})) == 8);
  CHECK(typical_magnitude(floats({0.75})) == 0.5);
  // One of five is a quarter or less; the next quarter begins with the second.
  CHECK(typical_magnitude(floats({1, 16, 16, 16, 16})) == 16);
  CHECK(typical_magnitude(floats({1, 1, 16, 16, 16})) == 1);
  CHECK(typical_magnitude(floats({0, 0, 0, 0, 0, 0, 32})) == 32);
  CHECK(typical_magnitude(floats({0, 0})) == 0);
  CHECK(typical_magnitude(at::zeros({0})) == 0);
  CHECK(typical_magnitude(doubles({3}).squeeze()) == 2);
}

TEST_CASE("NaN, infinities and fillers do not count") {
  CHECK(typical_magnitude(floats({not_a_number, inf, -inf, 3})) == 2);
  const double lowest = -3.4028234663852886e38;  // float32's, which attention masks are filled with
  CHECK(typical_magnitude(floats({lowest, lowest, lowest, lowest, 3})) == 2);
  CHECK(typical_magnitude(floats({-65504, -65504, -65504, 40}).to(at::kHalf)) == 32);
  CHECK(typical_magnitude(floats({inf})) == 0);
  CHECK(typical_magnitude(floats({-448, -448, -448, 192}).to(at::kFloat8_e4m3fn)) == 128);
  CHECK(typical_magnitude(floats({-240, -240, -240, 64}).to(at::kFloat8_e4m3fnuz)) == 64);
  CHECK(typical_magnitude(floats({65536, 65536, 65536}).to(at::kFloat8_e8m0fnu)) == 65536);
  CHECK(typical_magnitude(floats({-57344, -57344, -57344, 64}).to(at::kFloat8_e5m2)) == 64);
}

TEST_CASE("complex magnitude is the modulus") {
  CHECK(typical_magnitude(at::full({2}, at::Scalar(c10::complex<double>(3, 4)), at::kComplexDouble)) == 4);
}

TEST_CASE("default atol by type and magnitude") {
  // 16 * 2^-23 * sqrt(4096) = 2^-13 of the magnitude.
  CHECK(default_atol(at::kFloat, 1, 4096) == 0x1p-13);
  CHECK(default_atol(at::kFloat, 64, 4096) == 0x1p-7);
  CHECK(default_atol(at::kFloat, 1, 64) == 0x1p-16);
  // 16 bits: 16 * epsilon, 2^-10 and 2^-7.
  CHECK(default_atol(at::kHalf, 1, 4096) == 0x1p-6);
  CHECK(default_atol(at::kBFloat16, 1, 4096) == 0x1p-3);
  // float64: assert_close's 1e-7 is more than 16 * 2^-52 * 64.
  CHECK(default_atol(at::kDouble, 1, 4096) == 1e-7);
  CHECK(default_atol(at::kDouble, 0x1p30, 4096) == 0x1p-12);
  // Small outputs: assert_close's atol, but a thousandth of the output at most.
  CHECK(default_atol(at::kFloat, 0x1p-5, 4096) == 1e-5);
  CHECK(default_atol(at::kFloat, 0x1p-17, 4096) == 1e-3 * 0x1p-17);
  // Nothing but zeros: no magnitude to go by.
  CHECK(default_atol(at::kFloat, 0, 4096) == 1e-5);
  // Numbers below float16's smallest normal have steps of 2^-24.
  CHECK(default_atol(at::kHalf, 0x1p-22, 4096) == 0x1p-22);
  CHECK(default_atol(at::kLong, 1, 4096) == 0);
}

TEST_CASE("summing 4096 terms in the other direction is accepted, as assert_close's defaults would not") {
  // Plain loops over pseudo-random terms in [-1, 1), deterministic: 64 sums.
  std::vector<double> forwards, backwards, exact;
  std::uint32_t state = 1;
  for (int sum = 0; sum < 64; ++sum) {
    std::vector<float> terms(4096);
    for (auto& term : terms) {
      state = state * 1664525u + 1013904223u;
      term = static_cast<float>(static_cast<std::int32_t>(state)) * 0x1p-31f;
    }
    float up = 0, down = 0;
    double full = 0;
    for (std::size_t i = 0; i < terms.size(); ++i) {
      up += terms[i];
      down += terms[terms.size() - 1 - i];
      full += terms[i];
    }
    forwards.push_back(up);
    backwards.push_back(down);
    exact.push_back(full);
  }
  CHECK(outputs_match(floats(forwards), floats(backwards)).correct);
  CHECK(outputs_match(floats(exact), floats(forwards)).correct);
  pace::check::CheckOptions fixed;
  fixed.atol = 1e-5;
  CHECK_FALSE(outputs_match(floats(forwards), floats(backwards), fixed).correct);
  // Sums of terms rounded to bfloat16 would be off by 2^-9 / sqrt(3) of sqrt(4096 / 3) = 0.04: a tenth of it fails.
  CHECK_FALSE(outputs_match(floats(exact), floats(exact) + 0.004).correct);
}

TEST_CASE("zeros do not pass for small outputs") {
  const auto softmax_like = at::full({100'000}, 1e-5f);
  CHECK_FALSE(outputs_match(softmax_like, at::zeros({100'000})).correct);
  CHECK(outputs_match(softmax_like, softmax_like * 1.000001).correct);
  CHECK(outputs_match(at::zeros({4}), floats({0, 1e-6, 0, 0})).correct);  // noise where all is zero
  CHECK_FALSE(outputs_match(at::zeros({4}), floats({0, 1e-4, 0, 0})).correct);
}

TEST_CASE("a few huge elements do not excuse the others") {
  const auto expected = floats({1e10, 1, 2, 3, 4}), actual = floats({1e10, 1, 2, 3, 4.01});
  CHECK_FALSE(outputs_match(expected, actual).correct);
}
