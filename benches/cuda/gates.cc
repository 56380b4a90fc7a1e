// Gates on a GPU: how often identical code is told apart, how near its two sides come, and how much added work is
// found.
#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <string>
#include <vector>

#include <ATen/ops/empty_like.h>
#include <ATen/ops/randn.h>
#include <c10/cuda/CUDAStream.h>
#include <catch2/catch_test_macros.hpp>

#include "benches/cuda/needs_gpu.hpp"
#include "benches/cuda/planned_gates.hpp"
#include "benches/cuda/work.hpp"
#include "benches/selftest/bounds.hpp"
#include "benches/selftest/compare_twins.hpp"
#include "benches/selftest/quiet.hpp"
#include "pace/catch2.hpp"
#include "pace/pace.hpp"

namespace {

namespace selftest = pace::benches::selftest;
using pace::Verdict;

/// Some 20 us.
struct Subject {
  int trips = 2000;
  at::Tensor operator()(const at::Tensor& x) const {
    at::Tensor y = at::empty_like(x);
    work::copy_with_work(x.const_data_ptr<float>(), y.mutable_data_ptr<float>(), x.numel(), trips,
                         c10::cuda::getCurrentCUDAStream());
    return y;
  }
};

struct Gates {
  std::size_t run = 0, passed = 0, failed = 0;
  std::vector<double> log_ratios, milliseconds;
};

/// `planned` gates, or as many as fit into `time`. The GPU's own noise in a new order every time.
Gates run_gates(std::size_t planned, std::chrono::seconds time, double extra, double limit) {
  const selftest::Quiet quiet;
  const at::Tensor x = at::randn({1 << 18}, at::TensorOptions(at::kCUDA));
  const auto end = std::chrono::steady_clock::now() + time;
  Gates gates;
  for (; gates.run < planned && std::chrono::steady_clock::now() < end; ++gates.run) {
    const Subject subject;
    const auto result = pace::compare("copy with work", x)
                            .options(selftest::twin_options())
                            .baseline("one", subject)
                            .candidate("other", Subject{static_cast<int>(std::lround(subject.trips * (1 + extra)))})
                            .expect(pace::NoSlowerThan(limit).on_device())
                            .run();
    const auto& row = result["other"];
    INFO(row.message);
    REQUIRE(row.outcome == pace::Outcome::measured);
    const Verdict verdict = row.judgements.at(0).verdict;
    gates.passed += verdict == Verdict::passed;
    gates.failed += verdict == Verdict::failed;
    gates.log_ratios.push_back(std::log(row.speedup->median));
    gates.milliseconds.push_back(result.elapsed.count() / 1e6);
  }
  return gates;
}

void print(const char* what, const Gates& gates) {
  auto ratios = gates.log_ratios, times = gates.milliseconds;
  std::sort(ratios.begin(), ratios.end());
  std::sort(times.begin(), times.end());
  const auto at = [](const std::vector<double>& sorted, double q) {
    return sorted.empty() ? 0 : sorted[static_cast<std::size_t>(q * static_cast<double>(sorted.size() - 1))];
  };
  std::printf("%-34s %6zu %7zu %7zu %9zu %9.3f%% %9.3f%% %9.1f\n", what, gates.run, gates.failed, gates.passed,
              gates.run - gates.failed - gates.passed, 100 * std::expm1(-at(ratios, 0.5)),
              100 * std::max(std::abs(at(ratios, 0)), std::abs(at(ratios, 1))), at(times, 0.5));
  std::fflush(stdout);
}

TEST_CASE("gates on a GPU raise no more alarms than promised, and find what was added", "[cuda]") {
  needs_gpu();
  const std::size_t planned = planned_gates(500), tenth = std::max<std::size_t>(planned / 10, 1);
  std::printf("\n%-34s %6s %7s %7s %9s %10s %10s %9s\n", "a kernel of 20 us", "gates", "failed", "passed", "undecided",
              "median", "largest", "ms, half");
  const Gates same = run_gates(planned, std::chrono::seconds(120), 0, 1.00);
  print("identical, NoSlowerThan(1.00)", same);
  CHECK(same.failed < selftest::too_many(planned, pace::run_context().options.alpha, selftest::check_error));
  for (const double ratio : same.log_ratios) CHECK(std::abs(ratio) < 0.002);
  for (const double extra : {0.01, 0.02, 0.05}) {
    const Gates slower = run_gates(tenth, std::chrono::seconds(15), extra, 1.00);
    const std::string name = "+" + std::to_string(std::lround(100 * extra)) + " %, NoSlowerThan(1.00)";
    print(name.c_str(), slower);
    CHECK(slower.passed == 0);
  }
  const Gates small = run_gates(tenth, std::chrono::seconds(15), 0.01, 1.02);
  print("+1 %, NoSlowerThan(1.02)", small);
  CHECK(small.failed == 0);
}

TEST_CASE("a whole comparison of two kernels of 100 us, with all four figures", "[cuda]") {
  needs_gpu();
  const at::Tensor x = at::randn({1 << 18}, at::TensorOptions(at::kCUDA));
  const Subject subject{.trips = 10000};
  for (int repeat = 0; repeat < 2; ++repeat) {  // the first one also measures the GPU's peak
    const auto start = std::chrono::steady_clock::now();
    const auto result = pace::compare("100 us", x)
                            .baseline("one", subject)
                            .candidate("other", subject)
                            .bytes(2.0 * static_cast<double>(x.nbytes()))
                            .expect(pace::NoSlowerThan(1.02))
                            .run();
    const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
    REQUIRE(result["other"].outcome == pace::Outcome::measured);
    CHECK(result["other"].modes.size() == 4);
    std::printf("a whole comparison with four figures: %.2f s\n", took.count());
  }
}

}  // namespace
