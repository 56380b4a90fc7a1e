#include "benches/files/aot/rand_strided.hpp"

#include <cmath>

#include <ATen/ops/equal.h>

#include <catch2/catch_test_macros.hpp>

namespace {

using pace::benches::aot::rand_strided;
using pace::benches::aot::reset_rng_state;

TEST_CASE("rand_strided: normal floats, zeros for all else, strides as asked for", "[aot]") {
  reset_rng_state();
  const auto x = rand_strided({64, 32}, {1, 64});
  CHECK(x.strides() == at::IntArrayRef({1, 64}));
  CHECK(x.storage().nbytes() == 64 * 32 * sizeof(float));
  CHECK(std::abs(x.mean().item<double>()) < 0.1);  // 2048 numbers: four standard errors and more
  CHECK(std::abs(x.std().item<double>() - 1) < 0.1);
  reset_rng_state();
  CHECK(at::equal(rand_strided({64, 32}, {1, 64}), x));
  CHECK_FALSE(at::equal(rand_strided({64, 32}, {1, 64}), x));

  const auto integers = rand_strided({3, 4}, {8, 2}, at::kLong, at::kCPU, 5);
  CHECK(integers.sum().item<std::int64_t>() == 0);
  CHECK(integers.storage().nbytes() == (2 * 8 + 3 * 2 + 1 + 5) * sizeof(std::int64_t));
  CHECK(rand_strided({4}, {1}, at::kFloat8_e4m3fn).scalar_type() == at::kFloat8_e4m3fn);
  CHECK(rand_strided({4}, {1}, at::kBool).any().item<bool>() == false);
  // An expanded one takes a single element.
  CHECK(rand_strided({5}, {0}).storage().nbytes() == sizeof(float));
}

TEST_CASE("rand_strided names what does not fit", "[aot]") {
  CHECK_THROWS_AS(rand_strided({2, 3}, {1}), pace::InputError);
  CHECK_THROWS_AS(rand_strided({2}, {-1}), pace::InputError);
}

}  // namespace
