// A user's kernels beside LibTorch's: from a .cu file, from a library of headers (CUB), compiled at run time (NVRTC).
#include <string>
#include <vector>

#include <ATen/ops/empty.h>
#include <ATen/ops/matmul.h>
#include <ATen/ops/mul.h>
#include <ATen/ops/randn.h>
#include <ATen/ops/sigmoid.h>
#include <ATen/ops/silu.h>
#include <ATen/ops/sum.h>
#include <c10/cuda/CUDAStream.h>
#include <nvrtc.h>
#include <catch2/catch_test_macros.hpp>

#include "benches/cuda/needs_gpu.hpp"
#include "benches/cuda/own_kernels.hpp"
#include "pace/catch2.hpp"
#include "pace/gpu/cuda/device.hpp"
#include "pace/pace.hpp"

namespace {

constexpr std::int64_t elements = 16 << 20;

at::Tensor operand() { return at::randn({elements}, at::TensorOptions(at::kCUDA)); }
cudaStream_t stream() { return c10::cuda::getCurrentCUDAStream(); }

TEST_CASE("a kernel from a .cu file: y += a x in one pass", "[cuda]") {
  needs_gpu();
  const auto result =
      pace::compare("axpy/16Mi", operand(), operand())
          .baseline("two passes", [](const at::Tensor& x, at::Tensor& y) { y.add_(at::mul(x, 2)); })
          .candidate("eager", [](const at::Tensor& x, at::Tensor& y) { y.add_(x, 2); })
          .candidate("own",
                     [](const at::Tensor& x, at::Tensor& y) {
                       own::axpy(2, x.const_data_ptr<float>(), y.mutable_data_ptr<float>(), x.numel(), stream());
                     })
          .bytes(3.0 * elements * sizeof(float))
          .expect("own", pace::SpeedupAtLeast(1.2))
          .run();
  CHECK_THAT(result, pace::AsExpected());
}

TEST_CASE("a kernel from a library of headers: CUB's sum", "[cuda]") {
  needs_gpu();
  const std::size_t bytes = own::sum_scratch(elements);
  const at::Tensor scratch =
      at::empty({static_cast<std::int64_t>(bytes)}, at::TensorOptions(at::kCUDA).dtype(at::kByte));
  const auto result = pace::compare("sum/16Mi", operand())
                          .baseline("eager", [](const at::Tensor& x) { return at::sum(x); })
                          .candidate("cub",
                                     [&](const at::Tensor& x) {
                                       at::Tensor total = at::empty({}, x.options());
                                       own::sum(x.const_data_ptr<float>(), total.mutable_data_ptr<float>(), x.numel(),
                                                scratch.mutable_data_ptr(), bytes, stream());
                                       return total;
                                     })
                          .bytes(1.0 * elements * sizeof(float))
                          .run();
  CHECK_THAT(result, pace::Correct());
}

/// Compiled when the program runs, for the GPU that is there.
class CompiledAtRunTime {
 public:
  CompiledAtRunTime(const char* source, const char* name) {
    nvrtcProgram program = nullptr;
    REQUIRE(nvrtcCreateProgram(&program, source, "own.cu", 0, nullptr, nullptr) == NVRTC_SUCCESS);
    cudaDeviceProp gpu{};
    REQUIRE(cudaGetDeviceProperties(&gpu, 0) == cudaSuccess);
    const std::string arch = "--gpu-architecture=sm_" + std::to_string(10 * gpu.major + gpu.minor);
    const char* const options[] = {arch.c_str()};
    REQUIRE(nvrtcCompileProgram(program, 1, options) == NVRTC_SUCCESS);
    std::size_t size = 0;
    REQUIRE(nvrtcGetCUBINSize(program, &size) == NVRTC_SUCCESS);
    std::vector<char> code(size);
    REQUIRE(nvrtcGetCUBIN(program, code.data()) == NVRTC_SUCCESS);
    nvrtcDestroyProgram(&program);
    REQUIRE(cudaLibraryLoadData(&library_, code.data(), nullptr, nullptr, 0, nullptr, nullptr, 0) == cudaSuccess);
    REQUIRE(cudaLibraryGetKernel(&kernel_, library_, name) == cudaSuccess);
  }
  CompiledAtRunTime(const CompiledAtRunTime&) = delete;
  ~CompiledAtRunTime() { cudaLibraryUnload(library_); }

  void launch(unsigned blocks, unsigned threads, void** arguments) const {
    pace::cuda::check(cudaLaunchKernel(kernel_, dim3(blocks), dim3(threads), arguments, 0, stream()), "launching silu");
  }

 private:
  cudaLibrary_t library_ = nullptr;
  cudaKernel_t kernel_ = nullptr;
};

TEST_CASE("a kernel compiled at run time: silu", "[cuda]") {
  needs_gpu();
  // Makes the context that the module is loaded into.
  const at::Tensor x = operand();
  const CompiledAtRunTime silu(
      "extern \"C\" __global__ void silu(const float* x, float* y, long long n) {\n"
      "  long long i = blockIdx.x * (long long)blockDim.x + threadIdx.x;\n"
      "  if (i < n) y[i] = x[i] / (1.0f + __expf(-x[i]));\n"
      "}\n",
      "silu");
  const auto result = pace::compare("silu/16Mi", x)
                          .baseline("by steps", [](const at::Tensor& t) { return at::mul(t, at::sigmoid(t)); })
                          .candidate("eager", [](const at::Tensor& t) { return at::silu(t); })
                          .candidate("nvrtc",
                                     [&](const at::Tensor& t) {
                                       at::Tensor y = at::empty(t.sizes(), t.options());
                                       const float* from = t.const_data_ptr<float>();
                                       float* to = y.mutable_data_ptr<float>();
                                       long long n = t.numel();
                                       void* arguments[] = {&from, &to, &n};
                                       silu.launch(static_cast<unsigned>((n + 255) / 256), 256, arguments);
                                       return y;
                                     })
                          .bytes(2.0 * elements * sizeof(float))
                          .run();
  CHECK_THAT(result, pace::Correct());
}

/// A long bf16 product draws so much power that the GPU lowers its clock; then it is the pairing that keeps both sides
/// alike.
TEST_CASE("identical code at the power limit is not told apart", "[cuda]") {
  needs_gpu();
  const auto options = at::TensorOptions(at::kCUDA).dtype(at::kBFloat16);
  const auto product = [](const at::Tensor& a, const at::Tensor& b) { return at::matmul(a, b); };
  const at::Tensor a = at::randn({8192, 8192}, options), b = at::randn({8192, 8192}, options);
  const auto result = pace::compare("bf16 product, 8192", a, b)
                          .budget(std::chrono::seconds(4))
                          .baseline("one", product)
                          .candidate("other", product)
                          .flops(2.0 * 8192 * 8192 * 8192)
                          .expect(pace::NoSlowerThan(1.02))
                          .run();
  CHECK_THAT(result, pace::AsExpected());
}

}  // namespace
