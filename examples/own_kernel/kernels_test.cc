#include <torch/torch.h>

// LibTorch's CHECK ends the program, Catch2's a test.
#undef CHECK
#include <pace/catch2.hpp>
#include <pace/kernels.hpp>

TEST_CASE("the block runs few kernels, and none of them spills", "[gpu]") {
  if (!at::hasCUDA()) SKIP("kernels are a GPU's");
  at::Tensor x = torch::randn({4096, 4096}, at::kCUDA);
  const auto block = [](at::Tensor& x) { return at::gelu(at::layer_norm(x, {4096})); };
  const auto report = pace::kernels("block", block, x);
  CHECK_THAT(report, pace::AtMost(pace::kernel::Count::kernels, 2));
  CHECK_THAT(report, pace::AtMost(pace::kernel::Count::spills, 0));
  CHECK_THAT(report, pace::AtMost(pace::kernel::Count::registers, 64));
  for (const auto& kernel : report.kernels) {
    UNSCOPED_INFO(kernel.name << ": " << kernel.hot->median.count() << " ns, " << kernel.launch->registers
                              << " registers");
    CHECK(report.share_of(kernel) < 0.9);
  }
}
