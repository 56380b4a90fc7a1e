// Twins on a GPU: ordinary operators of LibTorch gated against themselves, by size of the operand and by clock.
//
// Whatever fits into the L2 cache is the hard case: the place of its memory and the capture of its graph are random
// effects that rounds do not average out.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <functional>
#include <vector>

#include <ATen/Functions.h>
#include <c10/cuda/CUDAFunctions.h>
#include <cuda_runtime_api.h>
#include <catch2/catch_test_macros.hpp>

#include "benches/cuda/needs_gpu.hpp"
#include "benches/cuda/planned_gates.hpp"
#include "benches/selftest/bounds.hpp"
#include "benches/selftest/compare_twins.hpp"
#include "benches/selftest/quiet.hpp"
#include "benches/selftest/twin_gates.hpp"
#include "pace/catch2.hpp"
#include "pace/pace.hpp"

namespace {

namespace selftest = pace::benches::selftest;
using pace::ClockChoice;

/// An operator of one tensor, with an operand of about `bytes`.
struct Operator {
  const char* name;
  std::function<at::Tensor(std::int64_t bytes)> operand;
  std::function<at::Tensor(const at::Tensor&)> call;
};

at::Tensor rows_of_1024(std::int64_t bytes) {
  return at::randn({std::max<std::int64_t>(1, bytes / 4096), 1024}, at::TensorOptions(at::kCUDA));
}

at::Tensor square(std::int64_t bytes) {
  const auto edge = static_cast<std::int64_t>(std::sqrt(static_cast<double>(bytes) / 2)) / 64 * 64;
  return at::randn({edge, edge}, at::TensorOptions(at::kCUDA).dtype(at::kHalf));
}

at::Tensor images(std::int64_t bytes) {
  return at::randn({std::max<std::int64_t>(1, bytes / (64 * 56 * 56 * 2)), 64, 56, 56},
                   at::TensorOptions(at::kCUDA).dtype(at::kHalf));
}

at::Tensor heads(std::int64_t bytes) {
  return at::randn({std::max<std::int64_t>(1, bytes / (16 * 512 * 64 * 2)), 16, 512, 64},
                   at::TensorOptions(at::kCUDA).dtype(at::kHalf));
}

std::vector<Operator> operators() {
  const at::Tensor filter = at::randn({64, 64, 3, 3}, at::TensorOptions(at::kCUDA).dtype(at::kHalf));
  return {
      {"relu", rows_of_1024, [](const auto& x) { return at::relu(x); }},
      {"gelu", rows_of_1024, [](const auto& x) { return at::gelu(x); }},
      {"times 2", rows_of_1024, [](const auto& x) { return at::mul(x, 2); }},
      {"add", rows_of_1024, [](const auto& x) { return at::add(x, x); }},
      {"exp", rows_of_1024, [](const auto& x) { return at::exp(x); }},
      {"transpose", rows_of_1024, [](const auto& x) { return x.t().contiguous(); }},
      {"sum", rows_of_1024, [](const auto& x) { return at::sum(x); }},
      {"mean of rows", rows_of_1024, [](const auto& x) { return at::mean(x, {1}); }},
      {"cumsum", rows_of_1024, [](const auto& x) { return at::cumsum(x, 1); }},
      {"softmax", rows_of_1024, [](const auto& x) { return at::softmax(x, 1); }},
      {"layer norm", rows_of_1024, [](const auto& x) { return at::layer_norm(x, {1024}); }},
      {"layer norm, gelu, add", rows_of_1024,
       [](const auto& x) { return at::add(at::gelu(at::layer_norm(x, {1024})), x); }},
      {"product, float16", square, [](const auto& x) { return at::mm(x, x); }},
      {"convolution, float16", images, [filter](const auto& x) { return at::conv2d(x, filter, {}, 1, "same"); }},
      {"attention, float16", heads, [](const auto& x) { return at::scaled_dot_product_attention(x, x, x); }},
  };
}

selftest::TwinGates gate(const Operator& subject, std::int64_t bytes, ClockChoice clock, std::size_t planned) {
  const selftest::Quiet quiet;
  selftest::TwinGates gates;
  while (gates.run < planned) {
    // Each comparison has operands of its own, wherever the allocator puts them.
    const at::Tensor x = subject.operand(bytes);
    pace::Options options = selftest::twin_options();
    options.clock = clock;
    const auto result = selftest::compare_twins(subject.name, x, options, subject.call, subject.call);
    const auto& row = result["other"];
    INFO(subject.name << ": " << row.message);
    REQUIRE(row.outcome == pace::Outcome::measured);
    gates.add(row);
  }
  return gates;
}

TEST_CASE("ordinary operators are not told apart from themselves", "[cuda]") {
  needs_gpu();
  const std::size_t gates_of_line = planned_gates(4);
  cudaDeviceProp properties{};
  REQUIRE(cudaGetDeviceProperties(&properties, c10::cuda::current_device()) == cudaSuccess);
  const auto l2 = static_cast<double>(properties.l2CacheSize);
  std::printf("\n%s, L2 of %.0f MB\n%-24s %8s %6s %s\n", properties.name, l2 / 1e6, "operator", "of L2", "clock",
              selftest::twin_heads().c_str());
  selftest::TwinGates all;
  for (const auto& subject : operators())
    for (const double share : {1.0 / 16, 0.25, 0.5, 1.0, 4.0})
      for (const auto clock : {ClockChoice::graph, ClockChoice::cold, ClockChoice::hot}) {
        const auto gates = gate(subject, static_cast<std::int64_t>(share * l2), clock, gates_of_line);
        std::printf("%-24s %8.4g %6s %s\n", subject.name, share, pace::to_string(clock),
                    selftest::twin_columns(gates).c_str());
        std::fflush(stdout);
        all += gates;
      }
  std::printf("all, %s\n", selftest::twin_rates(all).c_str());
  CHECK(all.failed < selftest::too_many(all.run, pace::run_context().options.alpha, selftest::check_error));
  CHECK(all.failed_at_1_percent == 0);
}

}  // namespace
