// Timers as other libraries have them, on a GPU: each against CUPTI's durations and against the others.
#include <ATen/core/Tensor.h>
#include <ATen/ops/add.h>
#include <ATen/ops/randn.h>

#include <algorithm>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "benches/timers/do_bench.hpp"
#include "benches/timers/inductor.hpp"
#include "benches/timers/profiling.hpp"
#include "benches/timers/summary.hpp"
#include "pace/gpu/activity.hpp"
#include "tests/gpu/cuda/gpu.hpp"
#include "tests/gpu/cuda/scale.hpp"

namespace {

using namespace pace::benches::timers;
using pace::cuda::CudaDevice;

at::Tensor random(std::int64_t elements) {
  return at::randn({elements}, at::TensorOptions().device(at::kCUDA).dtype(at::kFloat));
}

/// How far two timers of one call may be apart: machines are shared, and clocks of a GPU rise and fall.
constexpr double factor = 1.5;

void check_agreement(const std::vector<std::pair<std::string, Milliseconds>>& times) {
  for (const auto& [name, time] : times)
    for (const auto& [other, reference] : times) {
      INFO(name << ": " << time.count() << " ms, " << other << ": " << reference.count() << " ms");
      CHECK(time.count() > 0);
      CHECK(time <= factor * reference);
    }
}

/// The median of CUPTI's times of single calls, each alone on the device.
template <class F>
Milliseconds by_cupti(CudaDevice& device, F&& call) {
  std::vector<Milliseconds> times;
  for (int i = 0; i < 9; ++i) times.emplace_back(pace::gpu::span_of(pace::gpu::trace(device, call)));
  return mean_median(std::move(times));
}

TEST_CASE("timers agree on a kernel that is longer than all that they add", "[timers]") {
  auto& device = pace::testing::on_gpu();
  // 1.5 GiB of traffic: some 400 us or more on any GPU, and too much for any cache.
  constexpr std::int64_t elements = std::int64_t{1} << 27;
  const at::Tensor a = random(elements), b = random(elements);
  at::Tensor out = random(elements);
  const auto call = [&] { at::add_out(out, a, b); };
  call();
  device.synchronise();
  check_agreement({{"CUPTI", by_cupti(device, call)},
                   {"do_bench, median", do_bench(device, call, {}, Statistic::median)},
                   {"do_bench_cudagraph, median", do_bench_cudagraph(device, call, {}, Statistic::median)},
                   {"do_bench_using_profiling", do_bench_using_profiling(device, call)},
                   {"inductor_benchmark, least", inductor_benchmark(device, call).least},
                   {"inductor_benchmark_graph, least", inductor_benchmark_graph(device, call).least},
                   {"profiler_benchmark", profiler_benchmark(device, call)}});
}

TEST_CASE("in a graph and by the profiler a short kernel takes what CUPTI says", "[timers]") {
  auto& device = pace::testing::on_gpu();
  // Pairs of events add several microseconds to it; a graph of many calls and the profiler do not.
  const auto call = [&] { pace::testing::spin(50, device.current_stream().stream()); };
  call();
  device.synchronise();
  check_agreement({{"CUPTI", by_cupti(device, call)},
                   {"do_bench_cudagraph, median", do_bench_cudagraph(device, call, {}, Statistic::median)},
                   {"do_bench_using_profiling", do_bench_using_profiling(device, call)},
                   {"profiler_benchmark", profiler_benchmark(device, call)}});
}

TEST_CASE("calls with different numbers of kernels are told apart by the profiler", "[timers]") {
  auto& device = pace::testing::on_gpu();
  const auto spin = [&] { pace::testing::spin(100, device.current_stream().stream()); };
  spin();
  device.synchronise();
  std::int64_t calls = 0;
  // One kernel and three in turn: two in the mean, whether the number of calls is even or not (at least 20).
  const auto uneven = [&] {
    for (std::int64_t i = 0; i < 1 + 2 * (calls % 2); ++i) spin();
    ++calls;
  };
  const Milliseconds one = by_cupti(device, spin);
  const Milliseconds found = do_bench_using_profiling(device, uneven);
  INFO("one kernel: " << one.count() << " ms, a call: " << found.count() << " ms");
  CHECK(found > 2 / factor * one);
  CHECK(found < 2 * factor * one);
}

TEST_CASE("a profiled call knows which activities one launch of a graph had", "[timers]") {
  auto& device = pace::testing::on_gpu();
  const auto stream = device.take_stream();
  const pace::gpu::OnStream<CudaDevice> on(device, stream);
  const auto spin = [&] { pace::testing::spin(20, device.current_stream().stream()); };
  spin();
  device.synchronise();
  const auto graph = pace::gpu::capture(device, stream, [&] {
    spin();
    spin();
  });
  const auto activities = pace::gpu::trace(device, [&] {
    device.launch(graph.get(), stream);
    spin();
  });
  REQUIRE(activities.size() == 3);
  CHECK(activities[0].correlation > 0);
  CHECK(activities[0].correlation == activities[1].correlation);
  CHECK(activities[1].correlation < activities[2].correlation);
}

}  // namespace
