// Twins on a GPU: ordinary operators of LibTorch gated against themselves, and against themselves with one per cent
// more work, by size of the operand and by clock.
//
// Sizes that fit into the L2 cache are the hard case. The place of their memory and the capture of their graph are
// random effects as large as margins.
#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <functional>
#include <string>
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

cudaDeviceProp properties_of_gpu() {
  cudaDeviceProp properties{};
  REQUIRE(cudaGetDeviceProperties(&properties, c10::cuda::current_device()) == cudaSuccess);
  return properties;
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
  const cudaDeviceProp properties = properties_of_gpu();
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

TEST_CASE("one per cent of real work more is found in ordinary operators", "[cuda]") {
  needs_gpu();
  const selftest::Quiet quiet;
  const std::size_t gates_of_line = planned_gates(2);
  const cudaDeviceProp properties = properties_of_gpu();
  // The candidate works on one row more for each hundred of the baseline.
  constexpr std::int64_t row_bytes = 4096, hundred = 100;
  pace::check::CheckOptions unchecked;
  unchecked.method = pace::check::CheckOptions::Method::none;
  std::printf("\n%s, NoSlowerThan(1.00) within 2 s\n%-24s %8s %6s %6s %6s %7s %10s %12s %9s\n", properties.name,
              "operator, +1 % of rows", "of L2", "clock", "gates", "failed", "passed", "undecided", "it takes more",
              "ms, half");
  std::size_t gates = 0, found = 0, passed = 0;
  for (const auto& subject : operators()) {
    if (subject.operand(row_bytes).dim() != 2 || std::string(subject.name) == "product, float16") continue;
    for (const double share : {1.0 / 16, 0.5, 4.0})
      for (const auto clock : {ClockChoice::graph, ClockChoice::cold, ClockChoice::hot}) {
        const auto bytes = share * static_cast<double>(properties.l2CacheSize);
        const auto hundreds = std::max<std::int64_t>(1, static_cast<std::int64_t>(bytes) / (hundred * row_bytes));
        std::size_t failed_here = 0, passed_here = 0;
        std::vector<double> extra, milliseconds;
        for (std::size_t gate = 0; gate < gates_of_line; ++gate) {
          const at::Tensor x = subject.operand((hundred + 1) * hundreds * row_bytes);
          pace::Options options = selftest::twin_options();
          options.clock = clock;
          options.budget = std::chrono::seconds(2);
          const auto fewer = [&](const at::Tensor& rows) {
            return subject.call(rows.narrow(0, 0, hundred * hundreds));
          };
          const auto result = pace::compare(subject.name, x)
                                  .options(options)
                                  .check(unchecked)
                                  .baseline("fewer", fewer)
                                  .candidate("all", subject.call)
                                  .expect(pace::NoSlowerThan(1.00))
                                  .run();
          const auto& row = result["all"];
          INFO(subject.name << ": " << row.message);
          REQUIRE(row.outcome == pace::Outcome::measured);
          failed_here += row.judgements.at(0).verdict == pace::Verdict::failed;
          passed_here += row.judgements.at(0).verdict == pace::Verdict::passed;
          extra.push_back(1 / row.speedup->median - 1);
          milliseconds.push_back(result.elapsed.count() / 1e6);
        }
        std::ranges::sort(extra);
        std::ranges::sort(milliseconds);
        std::printf("%-24s %8.4g %6s %6zu %6zu %7zu %10zu %11.2f%% %9.0f\n", subject.name, share,
                    pace::to_string(clock), gates_of_line, failed_here, passed_here,
                    gates_of_line - failed_here - passed_here, 100 * extra[extra.size() / 2],
                    milliseconds[milliseconds.size() / 2]);
        std::fflush(stdout);
        gates += gates_of_line;
        found += failed_here;
        passed += passed_here;
        // Beyond the cache, one per cent of bytes more takes one per cent more time.
        if (share > 1) CHECK(passed_here == 0);
      }
  }
  std::printf("all: %zu gates, %zu failed, %zu passed\n", gates, found, passed);
  CHECK(found > gates / 2);
}

}  // namespace
