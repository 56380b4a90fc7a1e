// The comparisons that run on a GPU, run here on the CPU: they must find the same as the ones for the CPU.
#include "pace/check/on_device.hpp"

#include <cmath>
#include <limits>
#include <vector>

#include "pace/check/allclose.hpp"
#include "pace/check/tolerance.hpp"
#include "values.hpp"

using pace::check::Closeness;
namespace detail = pace::check::detail;

namespace {

/// Each of some odd numbers beside each, in both orders.
std::pair<at::Tensor, at::Tensor> odd_pairs() {
  const std::vector<double> odd{
      0.0, -0.0, 1.0, 1.0625, -3.0, 4.9e-324, 1e300, -1e300, inf, -inf, std::numeric_limits<double>::quiet_NaN()};
  std::vector<double> x, y;
  for (const double a : odd)
    for (const double b : odd) {
      x.push_back(a);
      y.push_back(b);
    }
  return {doubles(x), doubles(y)};
}

void check_equal(const Closeness& found, const Closeness& expected) {
  CHECK(found.close == expected.close);
  CHECK(found.max_abs_error == expected.max_abs_error);
  CHECK(found.max_rel_error == expected.max_rel_error);
  CHECK(found.mismatches == expected.mismatches);
  CHECK(found.elements == expected.elements);
  CHECK(found.expected_nans == expected.expected_nans);
  CHECK(found.actual_nans == expected.actual_nans);
  CHECK(found.where == expected.where);
  CHECK(found.expected_value == expected.expected_value);
  CHECK(found.actual_value == expected.actual_value);
  CHECK(found.abs_error == expected.abs_error);
  CHECK(found.allowed == expected.allowed);
}

Closeness by_elements(const at::Tensor& x, const at::Tensor& y, const detail::Tolerance& tolerance) {
  return detail::tally<double>(x, y, at::kDouble, [&](double e, double a) { return detail::compare(e, a, tolerance); });
}

}  // namespace

TEST_CASE("on a device: every odd number beside every other, by every tolerance") {
  const auto [x, y] = odd_pairs();
  for (const detail::Tolerance& tolerance :
       {detail::Tolerance{0, 0, false}, detail::Tolerance{0, 0, true}, detail::Tolerance{0.0625, 0, false},
        detail::Tolerance{0, 4, true}, detail::Tolerance{inf, inf, false}}) {
    CAPTURE(tolerance.rtol, tolerance.atol, tolerance.equal_nan);
    check_equal(detail::tally_on_device(x, y, tolerance), by_elements(x, y, tolerance));
    // Pair by pair, so that one odd pair does not hide another.
    for (std::int64_t i = 0; i < x.numel(); ++i) {
      const at::Tensor e = x.narrow(0, i, 1), a = y.narrow(0, i, 1);
      const Closeness found = detail::tally_on_device(e, a, tolerance), expected = by_elements(e, a, tolerance);
      if (found.close == expected.close && found.max_rel_error == expected.max_rel_error) continue;
      CAPTURE(x[i].item<double>(), y[i].item<double>());
      check_equal(found, expected);
    }
  }
}

TEST_CASE("on a device: the worst element of several pieces, in the types of the tensors") {
  // Two rows of 5 halves, transposed, so that a piece is not one row of the memory.
  const at::Tensor x = doubles({1, 2, 3, 4, 5, 6, 7, 8, 9, 10}).view({2, 5}).t().to(at::kHalf);
  at::Tensor y = x.clone();
  y[3][1] = 9.5;
  y[4][0] = 5.25;
  const detail::Tolerance tolerance{0, 0.3, false};
  check_equal(detail::tally_on_device(x, y, tolerance), by_elements(x, y, tolerance));
  CHECK(detail::tally_on_device(x, y, tolerance).where == "[3, 1]");
}

TEST_CASE("on a device: identical means the same bits") {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const at::Tensor x = doubles({1, nan, -inf});
  CHECK(detail::surely_identical(x, x.clone()));
  CHECK(detail::surely_identical(x.to(at::kBFloat16), x.to(at::kBFloat16)));
  CHECK_FALSE(detail::surely_identical(doubles({0.0}), doubles({-0.0})));
  CHECK_FALSE(detail::surely_identical(x, x.to(at::kFloat)));
  CHECK_FALSE(detail::surely_identical(x, x.view({3, 1})));
  CHECK_FALSE(detail::surely_identical(x, doubles({1, nan, inf})));
  // Other strides, the same values in their places.
  const at::Tensor matrix = doubles({1, 2, 3, 4, 5, 6}).view({2, 3});
  CHECK(detail::surely_identical(matrix.t(), matrix.t().contiguous()));
  // Outputs that are not compared are neither identical nor different.
  CHECK(detail::identical_bits(x, x.clone()) == true);
  CHECK(detail::identical_bits(x, doubles({1, nan, inf})) == false);
  CHECK(detail::identical_bits(x, x.view({3, 1})) == false);
  CHECK_FALSE(detail::identical_bits(x.to_sparse(), x.to_sparse()).has_value());
  CHECK_FALSE(detail::identical_bits(x.to(at::kComplexDouble), x.to(at::kComplexDouble)).has_value());
  CHECK(detail::count_nans(x) == 1);
  CHECK(detail::count_nans(x.to(at::kLong)) == 0);
}

TEST_CASE("on a device: binary exponents as ilogb counts them") {
  const std::vector<double> values{0,   1,    1.99, 2,        -2.5,
                                   inf, -0.5, 1e3,  4.9e-324, std::numeric_limits<double>::quiet_NaN()};
  const at::Tensor counts = detail::count_exponents(doubles(values), 900, -1075, 2200);
  REQUIRE(counts.numel() == 2200);
  std::vector<std::int64_t> expected(2200);
  for (const double value : values)
    if (std::abs(value) > 0 && std::abs(value) < 900) ++expected[static_cast<std::size_t>(std::ilogb(value) + 1075)];
  for (std::int64_t i = 0; i < 2200; ++i) {
    INFO(i);
    REQUIRE(counts[i].item<std::int64_t>() == expected[static_cast<std::size_t>(i)]);
  }
}
