#include <ATen/ops/randn.h>
#include <catch2/catch_test_macros.hpp>
#include <pace/catch2.hpp>
#include <pace/pace.hpp>

#include "my_layer_norm.hpp"

TEST_CASE("my layer norm is correct and at least 20 % faster than step by step", "[perf]") {
  const at::Tensor x = at::randn({16, 1024});
  const auto result = pace::compare("layer_norm/16x1024", x)
                          .baseline("by_steps", layer_norm_by_steps)
                          .candidate("mine", my_layer_norm)
                          .expect("mine", pace::SpeedupAtLeast(1.20))
                          .run();
  CHECK_THAT(result, pace::AsExpected());
}
