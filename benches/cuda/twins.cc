// Twins on a GPU: ordinary operators of LibTorch gated against themselves, by size of the operand and by clock.
//
// Whatever fits into the L2 cache is the hard case: the place of its memory and the capture of its graph are random effects
// that rounds do not average out.
#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include <ATen/Functions.h>
#include <c10/cuda/CUDAFunctions.h>
#include <cuda_runtime_api.h>
#include <catch2/catch_test_macros.hpp>

#include "benches/cuda/needs_gpu.hpp"
#include "pace/catch2.hpp"
#include "pace/pace.hpp"

namespace {

using pace::ClockChoice;
using pace::Verdict;

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

struct Gates {
  std::size_t run = 0, failed = 0, failed_at_1_percent = 0;
  std::vector<double> log_ratios;

  [[nodiscard]] double deviation() const {
    double mean = 0, squares = 0;
    for (const double each : log_ratios) mean += each / static_cast<double>(log_ratios.size());
    for (const double each : log_ratios) squares += (each - mean) * (each - mean);
    return log_ratios.size() < 2 ? 0 : std::sqrt(squares / static_cast<double>(log_ratios.size() - 1));
  }
  [[nodiscard]] double largest() const {
    double largest = 0;
    for (const double each : log_ratios) largest = std::max(largest, std::abs(each));
    return largest;
  }
};

Gates gate(const Operator& subject, std::int64_t bytes, ClockChoice clock, std::size_t planned) {
  static std::mt19937_64 seeds(std::random_device{}());
  pace::RunContext listeners;
  pace::run_context().swap_listeners(listeners);
  Gates gates;
  for (; gates.run < planned; ++gates.run) {
    // Each comparison has operands of its own, wherever the allocator puts them.
    const at::Tensor x = subject.operand(bytes);
    pace::Options options = pace::run_context().options;
    options.seed = seeds();
    options.clock = clock;
    options.budget = std::chrono::milliseconds(100);
    options.mode_share = 0;
    options.max_interference = 1;
    const auto result = pace::compare(subject.name, x)
                            .options(options)
                            .baseline("one", subject.call)
                            .candidate("other", subject.call)
                            .expect(pace::NoSlowerThan(1.00))
                            .expect(pace::NoSlowerThan(1.01))
                            .run();
    const auto& row = result["other"];
    INFO(subject.name << ": " << row.message);
    REQUIRE(row.outcome == pace::Outcome::measured);
    gates.failed += row.judgements.at(0).verdict == Verdict::failed;
    gates.failed_at_1_percent += row.judgements.at(1).verdict == Verdict::failed;
    gates.log_ratios.push_back(std::log(row.speedup->median));
  }
  pace::run_context().swap_listeners(listeners);
  return gates;
}

/// Returns the count that is exceeded with a probability below 1e-4 at this rate (Poisson).
std::size_t most_alarms(std::size_t gates, double rate) {
  const double mean = static_cast<double>(gates) * rate;
  double term = std::exp(-mean), beyond = 1 - term;
  std::size_t count = 0;
  while (beyond >= 1e-4) beyond -= term *= mean / static_cast<double>(++count);
  return count;
}

TEST_CASE("ordinary operators are not told apart from themselves", "[cuda]") {
  needs_gpu();
  // PACE_GPU_GATES is the number of gates of each line.
  const char* const asked = std::getenv("PACE_GPU_GATES");
  const std::size_t planned = asked == nullptr ? 4 : std::strtoul(asked, nullptr, 10);
  cudaDeviceProp properties{};
  REQUIRE(cudaGetDeviceProperties(&properties, c10::cuda::current_device()) == cudaSuccess);
  const auto l2 = static_cast<double>(properties.l2CacheSize);
  std::printf("\n%s, L2 of %.0f MB\n%-24s %8s %6s %6s %14s %14s %9s %9s\n", properties.name, l2 / 1e6, "operator",
              "of L2", "clock", "gates", "failed at 1.00", "at 1.01", "sd", "largest");
  Gates all;
  for (const auto& subject : operators())
    for (const double share : {1.0 / 16, 0.25, 0.5, 1.0, 4.0})
      for (const auto clock : {ClockChoice::graph, ClockChoice::cold, ClockChoice::hot}) {
        const Gates gates = gate(subject, static_cast<std::int64_t>(share * l2), clock, planned);
        std::printf("%-24s %8.4g %6s %6zu %14zu %14zu %8.3f%% %8.3f%%\n", subject.name, share, pace::to_string(clock),
                    gates.run, gates.failed, gates.failed_at_1_percent, 100 * gates.deviation(), 100 * gates.largest());
        std::fflush(stdout);
        all.run += gates.run;
        all.failed += gates.failed;
        all.failed_at_1_percent += gates.failed_at_1_percent;
      }
  std::printf("all: %zu gates, %zu failed at 1.00, %zu at 1.01\n", all.run, all.failed, all.failed_at_1_percent);
  CHECK(all.failed <= most_alarms(all.run, pace::run_context().options.alpha));
  CHECK(all.failed_at_1_percent == 0);
}

}  // namespace
