// A measuring program whose candidates lose the GPU; run by lost_device_test.sh.
#include "pace/pace.hpp"

#include <ATen/ops/add.h>
#include <ATen/ops/randn.h>
#include <c10/cuda/CUDAStream.h>
#include <cuda_runtime_api.h>

#include <chrono>
#include <functional>
#include <string>

#include "pace/catch2.hpp"
#include "pace/gpu/cuda/facts.hpp"
#include "tests/gpu/cuda/scale.hpp"

namespace {

at::Tensor add(const at::Tensor& x) { return at::add(x, 1); }

void compare(const std::string& name, const std::function<void()>& also = [] {}) {
  if (pace::cuda::device_count() == 0) SKIP("no CUDA device");
  const auto result = pace::compare(name, at::randn({1 << 20}, at::TensorOptions(at::kCUDA)))
                          .baseline("eager", add)
                          .candidate("own", [&](const at::Tensor& x) { return also(), add(x); })
                          .budget(std::chrono::milliseconds(100))
                          .expect(pace::NoSlowerThan(100))
                          .run();
  CHECK_THAT(result["own"], pace::NoSlowerThan(100));
}

TEST_CASE("illegal address") {
  compare("before");
  compare("writes nowhere", [] { pace::testing::write_nowhere(c10::cuda::getCurrentCUDAStream()); });
  compare("after");
}

TEST_CASE("another test") { compare("in another test"); }

TEST_CASE("never ends", "[.]") {
  compare("before");
  int* flag = nullptr;
  cudaHostAlloc(reinterpret_cast<void**>(&flag), sizeof *flag, cudaHostAllocMapped);
  *flag = 0;
  compare("waits for ever", [&] { pace::testing::wait_for_flag(flag, c10::cuda::getCurrentCUDAStream()); });
  compare("after");
}

}  // namespace
