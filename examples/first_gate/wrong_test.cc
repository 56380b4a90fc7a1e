// Must fail: the candidate is off by 0.01 in one element of 65,536.
#include <ATen/ops/randn.h>
#include <catch2/catch_test_macros.hpp>
#include <pace/catch2.hpp>
#include <pace/pace.hpp>

#include "my_layer_norm.hpp"

namespace {

at::Tensor wrong(const at::Tensor& x) {
  at::Tensor y = my_layer_norm(x);
  y.select(0, 63).select(0, 1023).add_(0.01);
  return y;
}

}  // namespace

TEST_CASE("a candidate with a wrong element is correct", "[perf]") {
  const at::Tensor x = at::randn({64, 1024});
  const auto result =
      pace::compare("layer_norm/64x1024", x).baseline("mine", my_layer_norm).candidate("wrong", wrong).run();
  REQUIRE_THAT(result, pace::Correct());
  CHECK_THAT(result["wrong"], pace::SpeedupAtLeast(0.50));
}
