#include <ATen/ops/randn.h>
#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>
#include <pace/catch2.hpp>
#include <pace/pace.hpp>

#include <cstdint>
#include <string>

#include "gelu_by_steps.hpp"

TEST_CASE("GELU in one operator is faster than by steps") {
  const std::int64_t size = GENERATE(1024, 8192, 65536);
  const at::Tensor x = at::randn({size});
  const auto result = pace::compare("gelu/" + std::to_string(size), x)
                          .bytes(8 * static_cast<double>(size))
                          .baseline("by_steps", gelu_by_steps)
                          .candidate("at_once", gelu_at_once)
                          .expect("at_once", pace::SpeedupAtLeast(1.02))
                          .run();
  CHECK_THAT(result, pace::AsExpected());
}
