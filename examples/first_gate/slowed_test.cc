// Must fail: the candidate does its work twice, and may be 10 % slower at most.
#include <ATen/ops/randn.h>
#include <catch2/catch_test_macros.hpp>
#include <pace/catch2.hpp>
#include <pace/pace.hpp>

#include "my_layer_norm.hpp"

namespace {

at::Tensor slowed(const at::Tensor& x) {
  my_layer_norm(x);
  return my_layer_norm(x);
}

}  // namespace

TEST_CASE("a candidate slowed twofold is no slower", "[perf]") {
  const at::Tensor x = at::randn({64, 1024});
  const auto result = pace::compare("layer_norm/64x1024", x)
                          .baseline("mine", my_layer_norm)
                          .candidate("slowed", slowed)
                          .expect("slowed", pace::NoSlowerThan(1.10))
                          .run();
  CHECK_THAT(result, pace::AsExpected());
}
