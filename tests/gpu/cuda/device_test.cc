// On a GPU: captures that fail leave LibTorch whole, streams are blocked and released, escapes and limits are seen.
#include <ATen/ops/add.h>
#include <ATen/ops/dropout.h>
#include <ATen/ops/equal.h>
#include <ATen/ops/mul.h>
#include <ATen/ops/ones.h>
#include <ATen/ops/rand.h>
#include <ATen/ops/randn.h>
#include <ATen/ops/zeros.h>

#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>
#include <chrono>

#include "pace/check/allclose.hpp"
#include "pace/check/tolerance.hpp"
#include "pace/gpu/cuda/cuda_graph.hpp"
#include "pace/gpu/cuda/device.hpp"
#include "pace/gpu/cuda/escape.hpp"
#include "pace/gpu/cuda/limits.hpp"
#include "pace/gpu/cuda/memory.hpp"
#include "pace/gpu/cuda/nvml.hpp"
#include "pace/gpu/event.hpp"
#include "pace/gpu/graph.hpp"
#include "pace/gpu/profiler.hpp"
#include "pace/timing/subject.hpp"
#include "tests/gpu/cuda/gpu.hpp"
#include "tests/gpu/cuda/scale.hpp"

using namespace pace;
using namespace std::chrono_literals;
using Catch::Matchers::ContainsSubstring;
using cuda::CudaDevice;
using testing::on_gpu;

namespace {

template <class F>
struct Calls final : timing::Subject {
  explicit Calls(F called) : call(std::move(called)) {}
  F call;
  int prepared = 0;
  void run(std::size_t /*operands*/, std::int64_t n) override {
    for (std::int64_t i = 0; i < n; ++i) call();
  }
  void prepare(std::size_t /*operands*/) override { ++prepared; }
};

}  // namespace

TEST_CASE("a stream is blocked until it is released") {
  CudaDevice& device = on_gpu();
  const auto x = at::zeros({16}, at::kCUDA);
  // Loaded before the block: loading waits for the device.
  x.add_(1);
  testing::spin(1, device.current_stream());
  // Made before the block, too: an H100's driver made no stream behind one.
  const auto side = device.take_stream();
  testing::spin(1, side);
  const auto event = pace::gpu::own_event(device), side_event = pace::gpu::own_event(device);
  device.record(side_event.get(), side);
  device.synchronise();
  pace::gpu::StreamBlocker blocker(device, 24h);
  const auto stream = device.current_stream();
  blocker.block(stream);
  x.add_(1);
  device.record(event.get(), stream);
  // Work queued later on another stream is done, so the blocked work could have run.
  testing::spin(10, side);
  device.record(side_event.get(), side);
  pace::gpu::wait_for(device, side_event.get());
  CHECK_FALSE(device.finished(event.get()));
  CHECK(blocker.release());
  pace::gpu::wait_for(device, event.get());
  CHECK(x[3].item<float>() == 2);
}

TEST_CASE("a call that waits for the device behind a block is released and no longer blocked") {
  CudaDevice& device = on_gpu();
  const auto x = at::ones({16}, at::kCUDA);
  Calls calls{[&] { static_cast<void>(at::add(x, x).sum().item<float>()); }};
  calls.call();
  pace::gpu::EventClock clock(device, {.time_out = 5ms, .batch = 2});
  clock.warmed_up();
  CHECK(clock.sample(calls, 0, 4).count() > 0);
  CHECK(clock.batch() == 0);
  CHECK(calls.prepared == 3);
}

TEST_CASE("a capture that fails names why, and leaves allocator, random numbers and streams as they were") {
  CudaDevice& device = on_gpu();
  const auto x = at::ones({1000}, at::kCUDA);
  const auto before = device.current_stream();
  static_cast<void>(at::rand({10}, at::kCUDA));
  pace::gpu::GraphClock clock(device);
  CHECK_THROWS_WITH(clock.time([&] {
    static_cast<void>(at::dropout(at::add(x, x), 0.5, true));
    device.synchronise();
  }),
                    ContainsSubstring("captur"));
  CHECK_THROWS_AS(clock.time([&] {
    static_cast<void>(at::rand({10}, at::kCUDA));
    throw 7;
  }),
                  int);
  CHECK(device.current_stream() == before);
  CHECK(at::dropout(x, 0.5, true).sum().item<float>() > 0);
  CHECK(at::rand({100}, at::kCUDA).max().item<float>() > 0);
  CHECK(clock.time([&] { static_cast<void>(at::dropout(at::add(x, x), 0.5, true)); }).count() > 0);
}

TEST_CASE("work that is forked to another stream and not joined cannot be captured") {
  CudaDevice& device = on_gpu();
  pace::gpu::GraphClock clock(device);
  const auto event = pace::gpu::own_event(device);
  const auto side = device.take_stream();
  CHECK_THROWS_WITH(clock.time([&] {
    cuda::check(cudaEventRecord(event.get(), device.current_stream()), "forking");
    cuda::check(cudaStreamWaitEvent(side, event.get(), 0), "forking");
    testing::spin(10, side);
  }),
                    ContainsSubstring("another stream"));
  CHECK(clock.time([&] { testing::spin(10, device.current_stream()); }).count() > 0);
}

TEST_CASE("work on another stream, and a stream left behind, are found") {
  CudaDevice& device = on_gpu();
  const auto side = device.take_stream();
  const auto stream = device.current_stream();
  CHECK_FALSE(cuda::find_escape(device, [&] { testing::spin(20, device.current_stream()); }));
  const auto escaped = cuda::find_escape(device, [&] { testing::spin(20, side); });
  REQUIRE(escaped);
  CHECK_THAT(*escaped, ContainsSubstring("another stream"));
  const auto swapped = cuda::find_escape(device, [&] { device.make_current(side); });
  REQUIRE(swapped);
  CHECK_THAT(*swapped, ContainsSubstring("left another stream behind"));
  CHECK(device.current_stream() == stream);
  const auto event = pace::gpu::own_event(device);
  CHECK_FALSE(cuda::find_escape(device, [&] {
    testing::spin(20, side);
    device.record(event.get(), side);
    cuda::check(cudaStreamWaitEvent(device.current_stream(), event.get(), 0), "joining");
  }));
}

TEST_CASE("the profiler sees every kernel, its name and its stream") {
  CudaDevice& device = on_gpu();
  pace::gpu::ProfilerClock clock(device);
  const auto side = device.take_stream();
  const Nanoseconds busy = clock.time([&] {
    testing::spin(200, device.current_stream());
    testing::spin(300, side);
  });
  REQUIRE(clock.last().size() == 2);
  CHECK_THAT(clock.last()[0].name, ContainsSubstring("spin_kernel"));
  CHECK(clock.last()[0].stream != clock.last()[1].stream);
  CHECK(busy >= std::max(clock.last()[0].duration, clock.last()[1].duration));
  CHECK(busy <= clock.last()[0].duration + clock.last()[1].duration);
}

TEST_CASE("cuda_graph runs each call once, reads new values, and captures once for each set of operands") {
  CudaDevice& device = on_gpu();
  at::Tensor x = at::zeros({4}, at::kCUDA), y = at::zeros({4}, at::kCUDA);
  const auto graphed = cuda::cuda_graph(device, [](at::Tensor& each) { return at::mul(each.add_(1), 2); });
  CHECK(graphed(x)[0].item<float>() == 2);
  CHECK(graphed(x)[0].item<float>() == 4);
  CHECK(graphed(y)[0].item<float>() == 2);
  CHECK(graphed(x)[0].item<float>() == 6);
  CHECK(x[0].item<float>() == 3);
  CHECK(graphed.graphs() == 2);
}

TEST_CASE("a graph becomes a part of the graph that is captured around it") {
  CudaDevice& device = on_gpu();
  at::Tensor x = at::zeros({4}, at::kCUDA);
  const auto graphed = cuda::cuda_graph(device, [](at::Tensor& each) { return each.add_(1).mul_(2); });
  static_cast<void>(graphed(x));  // 2
  const auto outer = pace::gpu::capture(device, device.take_stream(), [&] {
    static_cast<void>(graphed(x));
    x.add_(10);
    static_cast<void>(graphed(x));
  });
  CHECK(x[0].item<float>() == 2);
  CHECK(device.kernels(outer.get()) == 5);
  CHECK(outer.get()->nodes() == 5);
  device.launch(outer.get(), device.current_stream());
  CHECK(x[0].item<float>() == 34);  // ((2 + 1) * 2 + 10 + 1) * 2
}

TEST_CASE("comparing on the GPU finds what comparing on the CPU does") {
  static_cast<void>(on_gpu());
  const at::Tensor x = at::randn({300, 40000}, at::TensorOptions(at::kCUDA));
  at::Tensor y = x.clone();
  y[7][123] = 4000;
  y[299][39999] = std::numeric_limits<double>::quiet_NaN();
  for (const auto dtype : {at::kFloat, at::kHalf, at::kBFloat16}) {
    const at::Tensor e = x.to(dtype).t(), a = y.to(dtype).t();
    for (const auto& [expected, actual] : {std::pair(e, a), std::pair(e, e.clone())}) {
      const auto here = check::allclose(expected, actual, 1e-3, 1e-3, true);
      const auto there = check::allclose(expected.cpu(), actual.cpu(), 1e-3, 1e-3, true);
      CHECK(here.mismatches == there.mismatches);
      CHECK(here.max_abs_error == there.max_abs_error);
      CHECK(here.max_rel_error == there.max_rel_error);
      CHECK(here.where == there.where);
      CHECK(here.expected_nans == there.expected_nans);
      CHECK(here.actual_nans == there.actual_nans);
      CHECK(check::typical_magnitude(expected) == check::typical_magnitude(expected.cpu()));
    }
  }
}

TEST_CASE("memory of a call: its peak and its allocations") {
  CudaDevice& device = on_gpu();
  const auto options = at::TensorOptions().device(at::kCUDA);
  const at::Tensor x = at::zeros({1 << 20}, options);
  const auto use = cuda::measure_memory(device, [&] { return at::mul(at::add(x, 1), 2); });
  CHECK(use.peak == 2 * (std::int64_t{4} << 20));
  CHECK(use.allocations == 2);
  const auto none = cuda::measure_memory(device, [&] { x.add_(1); });
  CHECK(none.peak == 0);
  CHECK(none.allocations == 0);
}

TEST_CASE("too much memory is refused, and named") {
  CudaDevice& device = on_gpu();
  void* memory = nullptr;
  CHECK_THROWS_AS(cuda::check(cudaMalloc(&memory, std::size_t{1} << 50), "allocating"), Unsupported);
  CHECK_THROWS_AS(CudaDevice(1000), DeviceMissing);
  device.synchronise();
}

TEST_CASE("NVML reports clocks, temperature, power and reasons of this very GPU") {
  CudaDevice& device = on_gpu();
  char address[32] = {};
  cuda::check(cudaDeviceGetPCIBusId(address, sizeof address, device.index()), "asking for the address");
  const auto nvml = cuda::Nvml::open(address);
  REQUIRE(nvml);
  const auto state = nvml->state();
  CHECK(state.sm_megahertz.value_or(0) > 0);
  CHECK(state.memory_megahertz.value_or(0) > 0);
  CHECK(state.celsius.value_or(0) > 0);
  CHECK(state.watts.value_or(0) > 0);
  CHECK(state.reasons.has_value());
  CHECK_FALSE(cuda::Nvml::open("ffff:ff:1f.0"));
}

TEST_CASE("limits are above zero") {
  const auto limits = cuda::measure_limits(on_gpu());
  CHECK(std::min({limits.copy, limits.read, limits.write}) > 0);
  CHECK(std::min({limits.float32, limits.tf32, limits.bf16, limits.f16}) > 0);
}

TEST_CASE("a user's own kernel is timed") {
  CudaDevice& device = on_gpu();
  const at::Tensor x = at::randn({1 << 16}, at::kCUDA);
  at::Tensor y = at::zeros({1 << 16}, at::kCUDA);
  Calls calls{[&] {
    testing::scale(x.const_data_ptr<float>(), y.mutable_data_ptr<float>(), 3, x.numel(), device.current_stream());
  }};
  pace::gpu::GraphClock clock(device);
  CHECK(clock.sample(calls, 0, 100).count() > 0);
  CHECK(clock.kernels_per_call() == 1);
  CHECK(at::equal(y, at::mul(x, 3)));
}
