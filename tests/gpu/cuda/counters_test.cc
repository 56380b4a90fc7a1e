// Counters of the GPU, over calls whose bytes, hits and use of the tensor cores are known.
#include "pace/pace.hpp"

#include <ATen/ops/mm.h>
#include <ATen/ops/neg.h>
#include <ATen/ops/randn.h>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers.hpp>
#include <catch2/matchers/catch_matchers_floating_point.hpp>

#include "pace/gpu/cuda/gpu_counters.hpp"
#include "pace/timing/subject.hpp"
#include "tests/gpu/cuda/gpu.hpp"

namespace {

using Catch::Matchers::WithinRel;
using pace::testing::on_gpu;

/// Calls a function, and keeps count.
class Calls final : public pace::timing::Subject {
 public:
  explicit Calls(std::function<void()> call) : call_(std::move(call)) {}
  void prepare(std::size_t) override { ++prepared; }
  void run(std::size_t, std::int64_t iterations) override {
    for (std::int64_t i = 0; i < iterations; ++i) call_();
    ++ran;
  }
  void finish() override { ++finished; }
  int prepared = 0, ran = 0, finished = 0;

 private:
  std::function<void()> call_;
};

/// Skips the test where the machine, and not pace, is the reason.
void require_counted(const std::string& missing) {
  for (const auto* const reason : {"expected permission", "expected no other profiler", "cannot be loaded",
                                   "compiled without", "VIRTUALIZED", "CONFIDENTIAL_COMPUTING"})
    if (missing.find(reason) != std::string::npos) SKIP(missing);
  if (!missing.empty()) FAIL(missing);
}

using Figures = std::map<std::string, double>;

Figures figures_of(Calls& subject, const std::vector<std::string>& names, std::int64_t calls = 1) {
  pace::cuda::GpuCounters counters(on_gpu().index());
  const auto counts = counters.count(names, subject, calls);
  Figures figures;
  for (std::size_t i = 0; i < names.size(); ++i) {
    require_counted(counts.at(i).missing);
    figures[names[i]] = counts[i].events.value();
  }
  return figures;
}
Figures figures_of(std::function<void()> call, const std::vector<std::string>& names, std::int64_t calls = 1) {
  Calls subject(std::move(call));
  return figures_of(subject, names, calls);
}

/// Negates so many MiB of float32 into other memory.
std::function<void()> negation(std::int64_t mebibytes) {
  const at::Tensor x = at::randn({mebibytes << 18}, at::kCUDA);
  at::Tensor y = at::neg(x);
  return [x, y]() mutable { at::neg_out(y, x); };
}

std::function<void()> product() {
  const at::Tensor x = at::randn({4096, 4096}, at::TensorOptions(at::kCUDA).dtype(at::kBFloat16));
  at::Tensor y = at::mm(x, x);
  return [x, y]() mutable { at::mm_out(y, x, x); };
}

constexpr double gibibyte = 1024.0 * 1024 * 1024;

TEST_CASE("a comparison has counters of both kinds, and kernels are counted before and after") {
  (void)on_gpu();
  pace::Options options;
  options.budget = std::chrono::milliseconds(200);
  options.max_interference = 1;
  options.device_counts = true;
  const auto x = at::randn({256 << 18}, at::kCUDA);
  const auto compared = [&] {
    return pace::compare("counted", x)
        .options(options)
        .baseline("once", [](const at::Tensor& each) { return each.neg(); })
        .candidate("thrice", [](const at::Tensor& each) { return each.neg().neg().neg(); })
        .run();
  };
  const auto before = compared();
  REQUIRE(before["thrice"].device_counts);
  CHECK(before["thrice"].device_counts->kernels == 3);
  options.device_counts = false;
  options.counters = {"page_faults", "dram_bytes", "sm_active"};
  const auto result = compared();
  const auto& counters = result["thrice"].counters;
  REQUIRE(counters.size() == 3);
  CHECK(counters[0].name == "page_faults");
  CHECK(counters[1].name == "dram_bytes");
  require_counted(counters[1].missing);
  CHECK_THAT(counters[1].high, WithinRel(1.5 * gibibyte, 0.15));
  CHECK_THAT(counters[1].ratio().value(), WithinRel(3, 0.15));
  CHECK(counters[2].high > 40);
  CHECK(counters[2].high <= 100);
  CHECK_FALSE(counters[2].ratio());
  options.device_counts = true;
  const auto after = compared();
  REQUIRE(after["thrice"].device_counts);
  CHECK(after["thrice"].device_counts->kernels == 3);
}

TEST_CASE("a negation moves its input and its output, in each of its calls") {
  (void)on_gpu();
  const auto call = negation(1024);
  CHECK_THAT(figures_of(call, {"dram_bytes"})["dram_bytes"], WithinRel(2 * gibibyte, 0.1));
  CHECK_THAT(figures_of(call, {"dram_bytes"}, 3)["dram_bytes"], WithinRel(6 * gibibyte, 0.1));
}

TEST_CASE("the tensor cores work for a product of bfloat16, and not for a negation") {
  (void)on_gpu();
  CHECK(figures_of(product(), {"tensor_active"}, 4)["tensor_active"] > 10);
  CHECK(figures_of(negation(256), {"tensor_active"})["tensor_active"] == 0);
}

TEST_CASE("calls on a small tensor hit the L2 more often than calls on a large one") {
  (void)on_gpu();
  const double small = figures_of(negation(1), {"l2_hit_rate"}, 32)["l2_hit_rate"];
  const double large = figures_of(negation(1024), {"l2_hit_rate"})["l2_hit_rate"];
  CHECK(small > large + 10);
  // Of two passes, whose calls differ.
  CHECK(small <= 105);
}

TEST_CASE("a large negation keeps the multiprocessors busy and occupied") {
  (void)on_gpu();
  auto figures = figures_of(negation(1024), {"sm_active", "occupancy"});
  for (const char* const name : {"sm_active", "occupancy"}) {
    CHECK(figures[name] > 40);
    CHECK(figures[name] <= 100);
  }
}

TEST_CASE("counters that need several passes repeat the calls, each prepared, and keep their figures") {
  (void)on_gpu();
  Calls subject(negation(1024));
  auto figures = figures_of(subject, {"dram_bytes", "l2_hit_rate", "sm_active", "tensor_active", "occupancy"});
  CHECK(subject.ran >= 1);
  CHECK(subject.prepared == subject.ran);
  CHECK(subject.finished == subject.ran);
  CHECK_THAT(figures["dram_bytes"], WithinRel(2 * gibibyte, 0.1));
  CHECK(figures["tensor_active"] == 0);
  CHECK(figures["occupancy"] > 40);
}

TEST_CASE("a call that throws while it is counted throws on, and the next count works") {
  (void)on_gpu();
  pace::cuda::GpuCounters counters(on_gpu().index());
  Calls works(negation(1024)), fails([] { throw std::runtime_error("not while counting"); });
  const auto count = [&](Calls& subject) { return counters.count({"dram_bytes"}, subject, 1).at(0); };
  require_counted(count(works).missing);
  CHECK_THROWS_WITH(count(fails), "not while counting");
  const auto again = count(works);
  require_counted(again.missing);
  CHECK_THAT(again.events.value(), WithinRel(2 * gibibyte, 0.1));
}

}  // namespace
