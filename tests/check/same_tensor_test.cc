// The tensor branch of same() without a float64 reference: dtypes, bool, cosine, sparse, NaN.
#include <ATen/ops/sparse_coo_tensor.h>

#include <cmath>
#include <string>
#include <vector>

#include "pace/check/same_tensor.hpp"
#include "values.hpp"

using pace::check::SameOptions;
using Messages = std::vector<std::string>;

namespace {

struct Logged {
  bool same = false;
  Messages messages;
};

Logged run(const at::Tensor& ref, const at::Tensor& res, SameOptions options = {}) {
  Logged out;
  options.log = [&](const std::string& message) {
    out.messages.push_back(message);
    UNSCOPED_INFO(message);
  };
  out.same = pace::check::same_tensor(ref, res, ref, options);
  return out;
}

/// A vector at an angle of the given cosine to (1, 0).
at::Tensor at_cosine(double cosine) { return floats({cosine, std::sqrt(1 - cosine * cosine)}); }

}  // namespace

TEST_CASE("within the tolerance of the result, not of the reference") {
  SameOptions options;
  options.tol = 0.25;
  // |4 - 3| <= 0.25 + 0.25 * 3 = 1, and |3 - 4| <= 1.25; |4 - 2.96875| = 1.03125 > 0.9921875.
  CHECK(run(floats({4}), floats({3}), options).same);
  CHECK(run(floats({3}), floats({4}), options).same);
  CHECK_FALSE(run(floats({4}), floats({2.96875}), options).same);
  CHECK(run(floats({2.96875}), floats({4}), options).same);
  CHECK(run(floats({4}), floats({2.96875}), options).messages ==
        Messages{"Accuracy failed: allclose not within tol=0.25"});
  CHECK(run(floats({1}), floats({2})).messages == Messages{"Accuracy failed: allclose not within tol=0.0001"});
}

TEST_CASE("another dtype is not the same, unless exact_dtype is off") {
  CHECK(run(floats({1}), doubles({1})).messages == Messages{"dtype mismatch torch.float32, torch.float64"});
  CHECK(run(floats({1}), floats({1}).to(at::kHalf)).messages ==
        Messages{"dtype mismatch torch.float32, torch.float16"});
  SameOptions options;
  options.exact_dtype = false;
  CHECK(run(floats({1}), doubles({1}), options).same);
  CHECK(run(floats({2.7}), longs({2}), options).same);  // the reference is cut to the result's type
  CHECK_FALSE(run(floats({1}), doubles({2}), options).same);
}

TEST_CASE("other shapes and devices are not the same") {
  CHECK(run(floats({1, 1, 1}), floats({1})).messages == Messages{"shape mismatch [3], [1]"});
  CHECK(run(floats({1}), floats({1}).squeeze()).messages == Messages{"shape mismatch [1], []"});
  CHECK(run(floats({1}), floats({1}).to(at::kMeta)).messages == Messages{"device mismatch cpu, meta"});
}

TEST_CASE("integers go by the tolerance, too") {
  CHECK(run(longs({1, 2}), longs({1, 2})).same);
  CHECK_FALSE(run(longs({1, 2}), longs({1, 3})).same);
  CHECK(run(longs({100'000}), longs({100'010})).same);  // 10 <= 1e-4 * 100,010 + 1e-4
  CHECK_FALSE(run(longs({100'000}), longs({100'011})).same);
}

TEST_CASE("bool tensors are compared as uint8") {
  CHECK(run(bools({1, 0}), bools({1, 0})).same);
  CHECK(run(bools({1, 0}), bools({1, 1})).messages == Messages{"Accuracy failed: uint8 tensor did not match"});
  SameOptions options;
  options.tol = 1;  // enough for |1 - 0| <= 1 + 1 * 0
  CHECK(run(bools({1, 0}), bools({1, 1}), options).same);
}

TEST_CASE("bool tensors by intersection over union") {
  SameOptions options;
  options.use_iou_for_bool = true;
  const auto true_until = [](std::int64_t count) {
    auto out = at::zeros({200}, at::kBool);
    out.narrow(0, 0, count).fill_(true);
    return out;
  };
  CHECK(run(true_until(100), true_until(99), options).same);          // 99 / 100
  const Logged found = run(true_until(99), true_until(98), options);  // 98 / 99 = 0.98989...
  CHECK_FALSE(found.same);
  CHECK(found.messages == Messages{"IoU accuracy failed: 0.98989898989899 < 0.99 (intersection: 98.0, union: 99.0)"});
  CHECK(run(true_until(0), true_until(0), options).same);  // nothing in either
  CHECK_FALSE(run(true_until(0), true_until(1), options).same);
  options.iou_threshold = 0.5;
  CHECK(run(true_until(2), true_until(1), options).same);
}

TEST_CASE("ignore_non_fp: bool tensors pass, and so does every tensor that has no float64 reference") {
  SameOptions options;
  options.ignore_non_fp = true;
  CHECK(run(bools({1}), bools({0}), options).same);
  CHECK(run(longs({1}), longs({7}), options).same);
  CHECK(run(floats({1}), floats({7}), options).same);          // the trap
  CHECK_FALSE(run(doubles({1}), doubles({7}), options).same);  // is its own float64 reference
}

TEST_CASE("cosine: 0.991 passes, 0.989 does not, lengths do not matter") {
  SameOptions options;
  options.cos_similarity = true;
  CHECK(run(floats({1, 0}), at_cosine(0.991), options).same);
  CHECK(run(floats({1, 0}), at_cosine(0.991) * 1000, options).same);
  const Logged found = run(floats({1, 0}), at_cosine(0.989), options);
  CHECK_FALSE(found.same);
  REQUIRE(found.messages.size() == 1);
  CHECK_THAT(found.messages[0], Catch::Matchers::StartsWith("Similarity score=0.98"));
  CHECK_FALSE(run(floats({1, 0}), floats({-1, 0}), options).same);
}

TEST_CASE("cosine: zeros and NaN pass by the early exit only") {
  SameOptions options;
  options.cos_similarity = true;
  CHECK(run(floats({0, 0}), floats({0, 0}), options).same);
  CHECK(run(floats({0, 0}), floats({0, 5e-5}), options).same);  // within tol
  CHECK_FALSE(run(floats({0, 0}), floats({0, 1}), options).same);
  CHECK(run(floats({not_a_number, 1}), floats({not_a_number, 1}), options).same);  // although equal_nan is off
  CHECK_FALSE(run(floats({not_a_number, 1}), floats({1, 1}), options).same);
  CHECK_FALSE(run(floats({not_a_number, 1}), floats({not_a_number, 2}), options).same);
}

TEST_CASE("cosine looks at all pieces of a large tensor, and at integers as numbers") {
  SameOptions options;
  options.cos_similarity = true;
  const auto ones = at::full({100'000}, 1.0f);
  auto other = ones.clone();
  other.narrow(0, 0, 995).neg_();  // cosine 1 - 2 * 0.00995 = 0.9801
  CHECK_FALSE(run(ones, other, options).same);
  other.narrow(0, 0, 500).abs_();  // 495 are left: 0.9901
  CHECK(run(ones, other, options).same);
  CHECK(run(longs({1, 2}), longs({2, 4}), options).same);
}

TEST_CASE("NaN is the same as NaN only by equal_nan, infinity as itself") {
  SameOptions options;
  CHECK_FALSE(run(floats({not_a_number}), floats({not_a_number}), options).same);
  CHECK(run(floats({inf, -inf}), floats({inf, -inf}), options).same);
  CHECK_FALSE(run(floats({inf}), floats({-inf}), options).same);
  CHECK_FALSE(run(floats({inf}), floats({1}), options).same);
  options.equal_nan = true;
  CHECK(run(floats({not_a_number, 1}), floats({not_a_number, 1}), options).same);
  CHECK_FALSE(run(floats({not_a_number}), floats({1}), options).same);
  CHECK_FALSE(run(floats({1}), floats({not_a_number}), options).same);
}

TEST_CASE("empty tensors and scalars") {
  CHECK(run(at::zeros({0, 3}), at::zeros({0, 3})).same);
  CHECK_FALSE(run(at::zeros({0, 3}), at::zeros({3, 0})).same);
  CHECK(run(at::full({}, 2.0f), at::full({}, 2.0f)).same);
}

TEST_CASE("sparse tensors are made dense; a dense result for a sparse reference is an error") {
  const auto sparse = [](double second) {
    return at::sparse_coo_tensor(longs({0, 2}).view({1, 2}), floats({1, second}), {3});
  };
  CHECK(run(sparse(5), sparse(5)).same);
  CHECK_FALSE(run(sparse(5), sparse(6)).same);
  CHECK_THROWS_AS(run(sparse(5), floats({1, 0, 5})), pace::Error);
  CHECK(run(floats({1, 0, 5}), sparse(5)).same);  // only this way round
}

TEST_CASE("types that ATen cannot subtract") {
  const auto unsigned_16 = longs({1, 60'000}).to(at::kUInt16);
  CHECK(run(unsigned_16, unsigned_16.clone()).same);
  CHECK_FALSE(run(unsigned_16, longs({1, 50'000}).to(at::kUInt16)).same);
  const auto eighth = floats({0.5, 1}).to(at::kFloat8_e4m3fn);
  CHECK(run(eighth, eighth.clone()).same);
  CHECK_FALSE(run(eighth, floats({0.5, 2}).to(at::kFloat8_e4m3fn)).same);
  const auto halves = [](double imaginary) {
    return at::full({1}, at::Scalar(c10::complex<double>(1, imaginary)), at::kComplexHalf);
  };
  CHECK(run(halves(0.5), halves(0.5)).same);
  CHECK_FALSE(run(halves(0.5), halves(2)).same);
}
