// How true the times of kernels alone are on this GPU: against the profiler's of the same launches, and as parts of the
// whole, which no profiler watches.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <functional>
#include <string>
#include <vector>

#include <ATen/core/grad_mode.h>
#include <ATen/ops/add.h>
#include <ATen/ops/conv2d.h>
#include <ATen/ops/gelu.h>
#include <ATen/ops/layer_norm.h>
#include <ATen/ops/linear.h>
#include <ATen/ops/mm.h>
#include <ATen/ops/randn.h>
#include <ATen/ops/relu.h>
#include <ATen/ops/scaled_dot_product_attention.h>
#include <ATen/ops/softmax.h>
#include <ATen/ops/sum.h>
#include <ATen/ops/tanh.h>
#include <c10/cuda/CUDAStream.h>
#include <torch/csrc/jit/api/compilation_unit.h>
#include <torch/jit.h>
#include <catch2/catch_test_macros.hpp>

#include "benches/cuda/needs_gpu.hpp"
#include "benches/cuda/own_kernels.hpp"
#include "pace/kernels/kernels.hpp"

namespace {

using pace::Nanoseconds;
using Call = std::function<at::Tensor(const at::Tensor&)>;

struct Subject {
  std::string name;
  at::Tensor input;
  Call call;
};

std::vector<Subject> subjects() {
  const auto f32 = at::TensorOptions().device(at::kCUDA);
  const auto random = [&](at::IntArrayRef sizes, at::ScalarType type = at::kFloat) {
    return at::randn(sizes, f32.dtype(type));
  };
  const auto w = random({4096}), conv = random({64, 64, 3, 3});
  const auto w1 = random({1024, 1024}, at::kBFloat16), b1 = random({1024}, at::kBFloat16);
  const auto scripted = torch::jit::compile(R"(
def gated(x):
    return torch.sigmoid(x) * torch.tanh(x + 1)
)");
  return {
      {"pointwise chain", random({4096, 4096}), [](const auto& x) { return at::gelu(at::add(at::relu(x), x)); }},
      {"short pointwise chain", random({64, 256}), [](const auto& x) { return at::gelu(at::add(at::relu(x), x)); }},
      {"reduction of rows", random({4096, 4096}), [](const auto& x) { return at::sum(x, 1); }},
      {"reduction of all", random({2048, 2048}), [](const auto& x) { return at::sum(x); }},
      {"softmax", random({4096, 4096}), [](const auto& x) { return at::softmax(x, 1); }},
      {"layer norm", random({4096, 4096}), [w](const auto& x) { return at::layer_norm(x, {4096}, w, w); }},
      {"small MLP", random({256, 1024}, at::kBFloat16),
       [w1, b1](const auto& x) { return at::linear(at::gelu(at::linear(x, w1, b1)), w1, b1); }},
      {"float32 product", random({2048, 2048}), [](const auto& x) { return at::mm(x, x); }},
      {"convolution", random({32, 64, 56, 56}),
       [conv](const auto& x) { return at::relu(at::conv2d(x, conv, {}, at::IntArrayRef{1}, at::IntArrayRef{1})); }},
      {"attention", random({8, 16, 1024, 64}, at::kHalf),
       [](const auto& x) { return at::scaled_dot_product_attention(x, x, x); }},
      {"TorchScript", random({2048, 2048}),
       [scripted](const auto& x) { return scripted->get_function("gated")({x}).toTensor(); }},
      {"a kernel of one's own", random({4096, 4096}),
       [y = random({4096, 4096})](const auto& x) {
         own::axpy(0.5F, x.template const_data_ptr<float>(), y.template mutable_data_ptr<float>(), x.numel(),
                   c10::cuda::getCurrentCUDAStream().stream());
         return y;
       }},
      {"hundred kernels", random({1024, 1024}),
       [](const auto& x) {
         at::Tensor y = x;
         for (int i = 0; i < 50; ++i) y = at::tanh(at::add(y, x));
         return y;
       }},
  };
}

TEST_CASE("kernels alone take what the profiler says, and explain the whole", "[kernels]") {
  needs_gpu();
  const at::NoGradGuard values_alone;
  std::size_t within = 0;
  for (auto& [name, input, call] : subjects()) {
    const auto report = pace::kernels(name, call, input);
    double worst = 0, worst_share = 0, slowed = 0;
    std::size_t alone = 0;
    for (const auto& kernel : report.kernels) {
      if (!kernel.hot || !kernel.under_profiler) continue;
      ++alone;
      const auto [by_profiler, by_clock] = *kernel.under_profiler;
      // Both of the launches that the profiler watches, since it slows some kernels (TorchScript's by a seventh).
      const double off = std::abs((by_clock - by_profiler).count());
      worst = std::max(worst, off);
      worst_share = std::max(worst_share, off / std::max(300.0, 0.02 * by_profiler.count()));
      slowed = std::max(slowed, by_clock / kernel.hot->median - 1);
    }
    std::printf(
        "%-22s %3zu kernels, %3zu alone, off by %5.0f ns at most, %4.2f of 0.3 us or 2 %%; slowed by the "
        "profiler by %4.1f %% at most; whole %8.2f us, explained %.3f\n",
        name.c_str(), report.kernels.size(), alone, worst, worst_share, 100 * slowed, report.whole.count() * 1e-3,
        report.explained());
    INFO(name);
    CHECK(alone > 0);
    within += worst_share <= 1;
    CHECK(std::abs(report.explained() - 1) <= 0.03);
  }
  CHECK(within >= 12);
}

}  // namespace
