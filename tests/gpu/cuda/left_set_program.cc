// A measuring program for variables that were left set; run by left_set_test.sh.
#include "pace/pace.hpp"

#include <ATen/ops/add.h>
#include <ATen/ops/mul.h>
#include <ATen/ops/randn.h>

#include <chrono>

#include "pace/catch2.hpp"
#include "pace/gpu/cuda/facts.hpp"

namespace {

TEST_CASE("one pass and two") {
  if (pace::cuda::device_count() == 0) SKIP("no CUDA device");
  const auto result = pace::compare("passes", at::randn({8 << 20}, at::TensorOptions(at::kCUDA)))
                          .baseline("two", [](const at::Tensor& x) { return at::add(at::mul(x, 2), x); })
                          .candidate("one", [](const at::Tensor& x) { return at::mul(x, 3); })
                          .expect(pace::SpeedupAtLeast(1.2).on_device())
                          .budget(std::chrono::milliseconds(200))
                          .run();
  CHECK_THAT(result, pace::AsExpected());
}

}  // namespace
