// same() with a float64 reference: which multiplier, which bound, and the rules for NaN.
#include <string>
#include <vector>

#include "pace/check/same_tensor.hpp"
#include "values.hpp"

using pace::check::error_multiplier;
using pace::check::MultiplierSet;
using pace::check::SameOptions;
using Messages = std::vector<std::string>;

namespace {

struct Logged {
  bool same = false;
  Messages messages;
};

Logged run(const at::Tensor& ref, const at::Tensor& res, const at::Tensor& exact, SameOptions options = {}) {
  Logged out;
  options.log = [&](const std::string& message) {
    out.messages.push_back(message);
    UNSCOPED_INFO(message);
  };
  out.same = pace::check::same_tensor(ref, res, exact, options);
  return out;
}

SameOptions with(double tol, bool larger, MultiplierSet set) {
  SameOptions options;
  options.tol = tol;
  options.use_larger_multiplier_for_smaller_tensor = larger;
  options.multipliers = set;
  return options;
}

double multiplier(std::int64_t elements, const SameOptions& options, at::ScalarType dtype = at::kFloat,
                  bool one_by_one = false) {
  return error_multiplier(dtype, elements, one_by_one, options);
}

/// Does a result pass if its error is `times` the reference's? (Exact is 1, the reference 1.25 everywhere.)
bool passes(std::vector<std::int64_t> shape, double times, const SameOptions& options = {}) {
  return run(at::full(shape, 1.25f), at::full(shape, 1 - 0.25 * times, at::kFloat), at::full(shape, 1.0, at::kDouble),
             options)
      .same;
}

}  // namespace

TEST_CASE("multiplier by size: 3 below 1000 elements, 2 from there on") {
  const SameOptions plain;
  CHECK(multiplier(1, plain) == 3);
  CHECK(multiplier(999, plain) == 3);
  CHECK(multiplier(1000, plain) == 2);
  CHECK(passes({999}, 3));
  CHECK_FALSE(passes({999}, 3.01));
  CHECK(passes({1000}, 2));
  CHECK_FALSE(passes({1000}, 2.01));
}

TEST_CASE("multiplier 3 for 16-bit results, whatever the size") {
  const SameOptions plain;
  CHECK(multiplier(1000, plain, at::kHalf) == 3);
  CHECK(multiplier(1000, plain, at::kBFloat16) == 3);
  CHECK(multiplier(1000, plain, at::kDouble) == 2);
  const auto half = [](double value) { return at::full({1000}, value, at::kHalf); };
  const auto exact = at::full({1000}, 1.0, at::kDouble);
  CHECK(run(half(1.25), half(1.75), exact).same);
  CHECK_FALSE(run(half(1.25), half(2), exact).same);
}

TEST_CASE("multiplier 3 for four dimensions that end in 1x1, and for a tolerance from 2e-2 on") {
  const SameOptions plain;
  CHECK(multiplier(4096, plain, at::kFloat, true) == 3);
  CHECK(passes({64, 64, 1, 1}, 3));
  CHECK_FALSE(passes({64, 64, 1, 1}, 3.01));
  CHECK_FALSE(passes({64, 64, 1}, 3));  // three dimensions
  CHECK_FALSE(passes({64, 32, 1, 2}, 3));
  CHECK_FALSE(passes({64, 32, 2, 1}, 3));
  CHECK(multiplier(1000, with(2e-2, false, MultiplierSet::newest)) == 3);
  CHECK(multiplier(1000, with(1.99e-2, false, MultiplierSet::newest)) == 2);
}

TEST_CASE("larger multipliers for small tensors, as they are now") {
  const auto options = with(1e-4, true, MultiplierSet::newest);
  CHECK(multiplier(10, options) == 10);
  CHECK(multiplier(11, options) == 8);
  CHECK(multiplier(500, options) == 8);
  CHECK(multiplier(501, options) == 3);
  CHECK(multiplier(999, options) == 3);
  CHECK(multiplier(1000, options) == 2);
  CHECK(passes({10}, 10, options));
  CHECK_FALSE(passes({10}, 10.01, options));
  CHECK(passes({11}, 8, options));
  CHECK_FALSE(passes({11}, 8.01, options));
  CHECK(passes({500}, 8, options));
  CHECK_FALSE(passes({501}, 8, options));
}

TEST_CASE("larger multipliers as in PyTorch 2.6: from a tolerance of 4e-2 on, and 5 for 8") {
  const auto tight = with(3.9e-2, true, MultiplierSet::v2_6), loose = with(4e-2, true, MultiplierSet::v2_6);
  CHECK(multiplier(10, tight) == 3);
  CHECK(multiplier(500, tight) == 3);
  CHECK(multiplier(10, loose) == 10);
  CHECK(multiplier(11, loose) == 5);
  CHECK(multiplier(500, loose) == 5);
  CHECK(multiplier(501, loose) == 3);
  CHECK(multiplier(10, with(4e-2, false, MultiplierSet::v2_6)) == 3);
}

TEST_CASE("force_max_multiplier: 10 for every size") {
  SameOptions options;
  options.force_max_multiplier = true;
  CHECK(multiplier(1'000'000, options) == 10);
  CHECK(passes({1000}, 10, options));
  CHECK_FALSE(passes({1000}, 10.01, options));
}

TEST_CASE("the bound is multiplier * reference error + tol / 10") {
  // No reference error: tol / 10 is left. allclose at 1e-4 fails on the first element alone, by 0.0625;
  // the root mean square over 1024 elements is 0.0625 / 32 = 0.001953125.
  auto res = at::zeros({1024}, at::kFloat);
  res[0] = 0.0625;
  const auto zero = at::zeros({1024}, at::kFloat), exact = at::zeros({1024}, at::kDouble);
  SameOptions options;
  options.tol = 0.0195312;  // a tenth: just too small
  CHECK_FALSE(run(zero, res, exact, options).same);
  options.tol = 0.0195313;
  CHECK(run(zero, res, exact, options).same);
}

TEST_CASE("a failure is told in figures") {
  const auto ref = at::full({2, 500}, 1.25f), res = at::full({2, 500}, 2.0f);
  const auto exact = at::full({2, 500}, 1.0, at::kDouble);
  CHECK(run(ref, res, exact).messages ==
        Messages{
            "RMSE (res-fp64): 1.00000, (ref-fp64): 0.25000 and shape=torch.Size([2, 500]). res.dtype: torch.float32, "
            "multiplier: 2.000000, tol: 0.000100, use_larger_multiplier_for_smaller_tensor: 0"});
}

TEST_CASE("only a float64 reference counts") {
  const auto ref = floats({1.25}), res = floats({0.75});
  CHECK(run(ref, res, doubles({1})).same);
  CHECK_FALSE(run(ref, res, floats({1})).same);
  CHECK_FALSE(run(ref, res, longs({1})).same);
  CHECK_THROWS_AS(run(ref, res, doubles({1, 1})), pace::Error);
}

TEST_CASE("a double tensor without a reference is its own") {
  // allclose at 1e-4 fails by far on one of 1,000,000 elements, the root mean square error is 1e-6: below 1e-5.
  auto res = at::zeros({1'000'000}, at::kDouble);
  res[7] = 1e-3;
  const auto ref = at::zeros({1'000'000}, at::kDouble);
  CHECK(run(ref, res, ref).same);
  res[7] = 1.1e-2;
  CHECK_FALSE(run(ref, res, ref).same);
}

TEST_CASE("better than the reference: it has NaN, the result and the float64 reference do not") {
  const auto ref = floats({not_a_number, 1}), exact = doubles({2, 1});
  CHECK(run(ref, floats({2, 1}), exact).same);
  CHECK(run(ref, floats({2.1, 1}), exact).same);        // 0.1 <= 0.04 + 0.04 * 2.1
  CHECK_FALSE(run(ref, floats({2.2, 1}), exact).same);  // 0.2 > 0.128
  CHECK(run(ref, floats({2.2, 1}), exact).messages[0] ==
        "Found nan in reference. Consider running in higher precision.");
  CHECK_FALSE(run(ref, floats({not_a_number, 1}), exact).same);
  CHECK_FALSE(run(ref, floats({2, 1}), doubles({not_a_number, 1})).same);
}

TEST_CASE("NaN in both errors passes with equal_nan alone") {
  // NaN in the same place, but another element off: allclose fails, both errors are NaN.
  const auto ref = floats({not_a_number, 1}), res = floats({not_a_number, 2}), exact = doubles({1, 1});
  CHECK_FALSE(run(ref, res, exact).same);
  SameOptions options;
  options.equal_nan = true;
  CHECK(run(ref, res, exact, options).same);
  // In the result only.
  CHECK_FALSE(run(floats({1, 1}), floats({not_a_number, 1}), exact, options).same);
}

TEST_CASE("an infinity where the reference has a number fails, the same infinity is NaN to the error") {
  CHECK_FALSE(run(floats({1, 1}), floats({inf, 1}), doubles({1, 1})).same);
  // inf - inf: both errors are NaN, and nothing but allclose can pass it.
  CHECK(run(floats({inf, 1}), floats({inf, 1}), doubles({inf, 1})).same);
  CHECK_FALSE(run(floats({inf, 1}), floats({inf, 2}), doubles({inf, 1})).same);
}
