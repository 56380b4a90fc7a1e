// A GPU that cannot make any line of the L2 persist, as where a part of one is lent: all clocks work nevertheless.
#include "pace/pace.hpp"

#include <ATen/ops/mul.h>
#include <ATen/ops/randn.h>

#include <chrono>

#include <cuda_runtime_api.h>
#include <catch2/catch_test_macros.hpp>

#include "tests/gpu/cuda/gpu.hpp"

namespace {

int refusals = 0;

cudaError_t refuse() {
  ++refusals;
  return cudaErrorInvalidValue;
}

}  // namespace

// In place of the runtime's own, for the whole of this program.
extern "C" cudaError_t cudaDeviceSetLimit(cudaLimit, std::size_t) { return refuse(); }
extern "C" cudaError_t cudaCtxResetPersistingL2Cache() { return refuse(); }
extern "C" cudaError_t cudaStreamSetAttribute(cudaStream_t, cudaStreamAttrID, const cudaStreamAttrValue*) {
  return refuse();
}
extern "C" cudaError_t cudaStreamGetAttribute(cudaStream_t, cudaStreamAttrID, cudaStreamAttrValue*) { return refuse(); }

TEST_CASE("a GPU whose L2 keeps nothing: all timing modes are there, the cold one too") {
  static_cast<void>(pace::testing::on_gpu());
  pace::Options options;
  options.audit = pace::Audit::strict;
  options.budget = std::chrono::milliseconds(100);
  options.max_interference = 1;
  const auto call = [](const at::Tensor& x) { return at::mul(x, 3); };
  const auto result = pace::compare("scale", at::randn({1 << 20}, at::TensorOptions(at::kCUDA)))
                          .options(options)
                          .baseline("a", call)
                          .candidate("b", call)
                          .run();
  INFO(result["a"].message << result["b"].message);
  REQUIRE(result["b"].outcome == pace::Outcome::measured);
  REQUIRE(result["b"].modes.size() == 4);
  for (const auto& mode : result["b"].modes) {
    CAPTURE(mode.name, mode.missing);
    CHECK(mode.time);
  }
  CHECK(refusals > 0);
}

TEST_CASE("what a device does not have is told from what went wrong") {
  using pace::cuda::check_if_supported;
  CHECK(check_if_supported(cudaSuccess, "setting"));
  CHECK_FALSE(check_if_supported(cudaErrorInvalidValue, "setting"));
  CHECK_FALSE(check_if_supported(cudaErrorNotSupported, "setting"));
  CHECK_THROWS_AS(check_if_supported(cudaErrorIllegalAddress, "setting"), pace::DeviceLost);
}
