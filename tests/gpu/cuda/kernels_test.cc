// Kernels of captured calls on a GPU: what the driver reports of them, replays, and what is left alone.
#include <array>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include <ATen/ops/add.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/mm.h>
#include <ATen/ops/ones.h>
#include <ATen/ops/randn.h>
#include <ATen/ops/relu.h>
#include <ATen/ops/sum.h>
#include <c10/cuda/CUDAStream.h>
#include <cuda_runtime_api.h>

#include "benches/kernels/compat/timer.hpp"
#include "pace/catch2.hpp"
#include "pace/gpu/cuda/device.hpp"
#include "pace/gpu/cuda/error.hpp"
#include "pace/kernels.hpp"
#include "tests/gpu/cuda/gpu.hpp"
#include "tests/gpu/cuda/scale.hpp"

#include <catch2/matchers/catch_matchers_exception.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

namespace {

using Catch::Matchers::ContainsSubstring;
using Catch::Matchers::MessageMatches;

at::TensorOptions on_cuda() { return at::TensorOptions().device(at::kCUDA); }

pace::KernelsOptions quickly() {
  pace::KernelsOptions options;
  options.peak_bandwidth = false;
  return options;
}

/// In a capture, a node whose body scales `x` once; elsewhere, the same without a node.
void scale_in_a_body(at::Tensor& x) {
  using pace::cuda::check;
  const cudaStream_t stream = c10::cuda::getCurrentCUDAStream().stream();
  const auto scale = [&](cudaStream_t on) {
    pace::testing::scale(x.const_data_ptr<float>(), x.mutable_data_ptr<float>(), 2, x.numel(), on);
  };
  cudaStreamCaptureStatus status{};
  cudaGraph_t graph = nullptr;
  const cudaGraphNode_t* after = nullptr;
  std::size_t count = 0;
  check(cudaStreamGetCaptureInfo(stream, &status, nullptr, &graph, &after, nullptr, &count), "looking at the stream");
  if (status != cudaStreamCaptureStatusActive) return scale(stream);
  cudaGraphConditionalHandle handle{};
  check(cudaGraphConditionalHandleCreate(&handle, graph, 1, cudaGraphCondAssignDefault), "making a condition");
  cudaGraphNodeParams conditional{};
  conditional.type = cudaGraphNodeTypeConditional;
  conditional.conditional.handle = handle;
  conditional.conditional.type = cudaGraphCondTypeIf;
  conditional.conditional.size = 1;
  cudaGraphNode_t node = nullptr;
  check(cudaGraphAddNode(&node, graph, after, nullptr, count, &conditional), "adding a conditional node");
  cudaStream_t side = nullptr;
  check(cudaStreamCreateWithFlags(&side, cudaStreamNonBlocking), "making a stream");
  check(cudaStreamBeginCaptureToGraph(side, conditional.conditional.phGraph_out[0], nullptr, nullptr, 0,
                                      cudaStreamCaptureModeThreadLocal),
        "capturing a body");
  scale(side);
  check(cudaStreamEndCapture(side, nullptr), "capturing a body");
  check(cudaStreamDestroy(side), "destroying a stream");
  check(cudaStreamUpdateCaptureDependencies(stream, &node, nullptr, 1, cudaStreamSetCaptureDependencies),
        "going on behind a node");
}

}  // namespace

TEST_CASE("a user's kernel: name, shape, registers, memory, times and bytes", "[gpu]") {
  (void)pace::testing::on_gpu();
  const std::int64_t n = 1'000'000;
  at::Tensor x = at::ones({n}, on_cuda()), y = at::empty({n}, on_cuda());
  auto options = quickly();
  options.peak_bandwidth = true;
  options.providers = {[](const pace::kernel::Kernel& kernel) -> std::optional<pace::kernel::Knowledge> {
    if (kernel.name.find("scale_kernel") == std::string::npos) return std::nullopt;
    return pace::kernel::Knowledge{pace::kernel::Category::pointwise, 8e6};
  }};
  const auto report = pace::kernels(
      options, "scale",
      [&](at::Tensor& from, at::Tensor& to) {
        pace::testing::scale(from.const_data_ptr<float>(), to.mutable_data_ptr<float>(), 3, n,
                             c10::cuda::getCurrentCUDAStream().stream());
      },
      x, y);
  REQUIRE(report.kernels.size() == 1);
  const auto& kernel = report.kernels[0];
  CHECK_THAT(kernel.name, ContainsSubstring("scale_kernel(float const*, float*, float, long)"));
  CHECK_THAT(kernel.symbol, ContainsSubstring("scale_kernel"));
  CHECK(kernel.launch->grid == std::array<std::uint32_t, 3>{3907, 1, 1});
  CHECK(kernel.launch->block == std::array<std::uint32_t, 3>{256, 1, 1});
  CHECK(kernel.launch->registers > 0);
  CHECK(kernel.launch->local_bytes == 0);
  CHECK(kernel.launch->shared_bytes() == 0);
  CHECK(kernel.launch->occupancy == 1);
  CHECK(to_string(kernel.category) == "pointwise");
  CHECK(kernel.why_not_alone == "");
  REQUIRE(kernel.hot);
  REQUIRE(kernel.cold);
  CHECK(kernel.hot->least <= kernel.hot->median);
  CHECK(kernel.hot->median <= kernel.hot->most);
  CHECK(kernel.profiled);
  CHECK(kernel.under_profiler);
  CHECK(kernel.bandwidth());
  CHECK(report.peak_bandwidth > 0);
  CHECK_THAT(report, pace::AtMost(pace::kernel::Count::spills, 0));
  CHECK_THAT(report, pace::AtMost(pace::kernel::Count::kernels, 1));
  CHECK_FALSE(pace::AtMost(pace::kernel::Count::registers, 1).match(report));
}

TEST_CASE("operands have their values again, whatever the replays wrote", "[gpu]") {
  (void)pace::testing::on_gpu();
  at::Tensor x = at::ones({1000}, on_cuda());
  const auto report = pace::kernels(
      quickly(), "in place",
      [](at::Tensor& x) {
        x.add_(1);
        x.mul_(2);
      },
      x);
  CHECK(report.kernels.size() == 2);
  CHECK(x.equal(at::ones({1000}, on_cuda())));
}

TEST_CASE("a kernel that needs a counter to be zero gets it before each replay", "[gpu]") {
  (void)pace::testing::on_gpu();
  at::Tensor x = at::randn({1024, 1024}, on_cuda());
  const auto report = pace::kernels(quickly(), "sum", [](at::Tensor& x) { return at::sum(x); }, x);
  CHECK(report.fills == 1);
  REQUIRE(report.kernels.size() == 1);
  CHECK_THAT(report.kernels[0].name, ContainsSubstring("reduce_kernel"));
  CHECK(report.kernels[0].why_not_alone == "");
  CHECK(report.copying.count() > 0);
}

TEST_CASE("kernels come in the order of the calls, cuBLAS's among them", "[gpu]") {
  (void)pace::testing::on_gpu();
  at::Tensor x = at::randn({256, 256}, on_cuda());
  const auto report =
      pace::kernels(quickly(), "three", [](at::Tensor& x) { return at::add(at::relu(at::mm(x, x)), x); }, x);
  REQUIRE(report.kernels.size() >= 3);
  CHECK_THAT(report.kernels.front().name, ContainsSubstring("gemm"));
  CHECK_THAT(report.kernels.back().name, ContainsSubstring("CUDAFunctor_add"));
  double shares = 0;
  for (const auto& kernel : report.kernels) shares += report.share_of(kernel);
  CHECK(shares > 0.999);
  CHECK(shares < 1.001);
}

TEST_CASE("what has no kernel, or cannot be captured, is refused in words", "[gpu]") {
  (void)pace::testing::on_gpu();
  at::Tensor on_cpu = at::ones({8}), x = at::ones({8}, on_cuda());
  auto options = quickly();
  options.on = c10::DeviceType::CUDA;
  CHECK_THROWS_MATCHES(pace::kernels(
                           options, "host", [](at::Tensor& x) { return at::add(x, x); }, on_cpu),
                       pace::Unsupported, MessageMatches(ContainsSubstring("host: no kernel ran in this call on")));
  CHECK_THROWS_MATCHES(pace::kernels(
                           "waits", [](at::Tensor& x) { return x.sum().item<float>(); }, x),
                       pace::Unsupported, MessageMatches(ContainsSubstring("cannot be captured")));
  // And the device is as usable as before.
  CHECK(pace::kernels(quickly(), "after", [](at::Tensor& x) { return at::add(x, x); }, x).kernels.size() == 1);
}

TEST_CASE("kernels in the body of a conditional node are missing with a note, and no limit passes without them",
          "[gpu]") {
  (void)pace::testing::on_gpu();
  at::Tensor x = at::ones({1000}, on_cuda());
  const auto report = pace::kernels(
      quickly(), "conditional",
      [](at::Tensor& x) {
        x.add_(1);
        scale_in_a_body(x);
        x.mul_(2);
      },
      x);
  CHECK(report.conditionals == 1);
  REQUIRE(report.kernels.size() == 2);
  for (const auto& kernel : report.kernels) {
    CHECK_THAT(kernel.why_not_alone, ContainsSubstring("in its place only"));
    CHECK(kernel.profiled);
  }
  CHECK(report.whole > report.sum());
  CHECK(pace::AtMost(pace::kernel::Count::kernels, 2).judge(report).verdict == pace::Verdict::invalid);
  CHECK(x.equal(at::ones({1000}, on_cuda())));
}

TEST_CASE("a provider that fails on one kernel costs neither it nor the others their times", "[gpu]") {
  (void)pace::testing::on_gpu();
  at::Tensor x = at::ones({1000}, on_cuda());
  auto options = quickly();
  options.providers = {[asked = 0](const pace::kernel::Kernel&) mutable -> std::optional<pace::kernel::Knowledge> {
    if (asked++ == 0) throw pace::Error("its record cannot be read");
    return std::nullopt;
  }};
  const auto report = pace::kernels(
      options, "two",
      [](at::Tensor& x) {
        x.add_(1);
        x.mul_(2);
      },
      x);
  REQUIRE(report.kernels.size() == 2);
  CHECK(report.notes.size() == 1);
  for (const auto& kernel : report.kernels) CHECK(kernel.hot);
}

TEST_CASE("PyTorch's timers time each kernel, too, where they are asked for", "[gpu]") {
  (void)pace::testing::on_gpu();
  at::Tensor x = at::ones({1 << 20}, on_cuda());
  using pace::benches::kernels::compat::CompatibleTimer;
  pace::cuda::CudaDevice device(0);
  const auto time_by = [&](std::optional<CompatibleTimer> timer) {
    auto options = quickly();
    if (timer)
      options.compatible = [&device, timer](const std::function<void()>& launch) {
        return pace::benches::kernels::compat::time_launch(device, *timer, launch);
      };
    return pace::kernels(options, "relu", [](at::Tensor& x) { return at::relu(x); }, x).kernels.at(0).compatible;
  };
  CHECK_FALSE(time_by(std::nullopt));
  for (const auto timer : {CompatibleTimer::do_bench, CompatibleTimer::inductor}) {
    const auto took = time_by(timer);
    REQUIRE(took);
    CHECK(took->count() > 0);
  }
}

TEST_CASE("a call whose operands are on the CPU is listed there, unless the GPU is asked for", "[gpu]") {
  (void)pace::testing::on_gpu();
  at::Tensor on_cpu = at::ones({8}), hidden = at::ones({8}, on_cuda());
  const auto report = pace::kernels(quickly(), "host", [](at::Tensor& x) { return at::add(x, x); }, on_cpu);
  CHECK(report.by_ranges);
  REQUIRE(report.kernels.size() == 1);
  CHECK(report.kernels[0].name == "aten::add");
  auto options = quickly();
  options.on = c10::DeviceType::CUDA;
  const auto on_gpu = pace::kernels(options, "no operands", [&] { return at::add(hidden, hidden); });
  CHECK_FALSE(on_gpu.by_ranges);
  REQUIRE(on_gpu.kernels.size() == 1);
  CHECK(on_gpu.kernels[0].launch);
}
