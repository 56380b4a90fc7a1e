#include "benches/cuda/planned_gates.hpp"

#include <cstdlib>
#include <string>

#include <catch2/catch_test_macros.hpp>

#include "tests/support/why.hpp"

namespace {

using pace::test::why;

TEST_CASE("PACE_GPU_GATES is a number of gates, or absent") {
  ::unsetenv("PACE_GPU_GATES");
  CHECK(planned_gates(4) == 4);
  ::setenv("PACE_GPU_GATES", "", 1);
  CHECK(planned_gates(4) == 4);
  ::setenv("PACE_GPU_GATES", "250", 1);
  CHECK(planned_gates(4) == 250);
  for (const char* wrong : {"0", "many", "10 ", "-1", "10000001"}) {
    ::setenv("PACE_GPU_GATES", wrong, 1);
    CHECK(why([] { (void)planned_gates(4); }) ==
          "PACE_GPU_GATES: invalid value '" + std::string(wrong) + "'; expected a whole number from 1 to 10000000");
  }
}

}  // namespace
