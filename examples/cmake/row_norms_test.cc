#include <ATen/ops/randn.h>
#include <catch2/catch_test_macros.hpp>
#include <pace/catch2.hpp>
#include <pace/pace.hpp>

#include "row_norms.hpp"

TEST_CASE("the norms of rows are correct and at least 10 % faster than step by step", "[perf]") {
  const at::Tensor x = at::randn({256, 1024});
  const auto result = pace::compare("row_norms/256x1024", x)
                          .baseline("by_steps", row_norms_by_steps)
                          .candidate("mine", row_norms)
                          .expect("mine", pace::SpeedupAtLeast(1.10))
                          .run();
  CHECK_THAT(result, pace::AsExpected());
}
