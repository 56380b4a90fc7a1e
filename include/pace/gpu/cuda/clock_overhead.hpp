// clock_overhead: what a device clock adds to each call on a CUDA GPU, by kernels of LibTorch.
#pragma once

#include <ATen/core/Tensor.h>
#include <ATen/ops/empty_like.h>
#include <ATen/ops/neg.h>
#include <ATen/ops/zeros.h>

#include <array>
#include <cstddef>
#include <cstdint>

#include "pace/gpu/cuda/device.hpp"
#include "pace/gpu/graph.hpp"
#include "pace/gpu/overhead.hpp"
#include "pace/gpu/profiler.hpp"
#include "pace/result/result.hpp"
#include "pace/timing/subject.hpp"

namespace pace::cuda {

namespace detail {

/// One kernel that reads and writes `elements` floats: a few microseconds on the whole GPU.
class Negation final : public timing::Subject {
 public:
  Negation(const CudaDevice& device, std::int64_t elements)
      : from_(at::zeros({elements}, at::TensorOptions().device(device.torch_device()).dtype(at::kFloat))),
        to_(at::empty_like(from_)) {}
  void run(std::size_t /*operands*/, std::int64_t iterations) override {
    for (std::int64_t i = 0; i < iterations; ++i) at::neg_out(to_, from_);
  }

 private:
  at::Tensor from_, to_;
};

}  // namespace detail

/// Measures what the cold (`cold`) or the graph clock adds to each call of a CUDA GPU, against CUPTI's durations of
/// three kernels of 4 to 20 MiB. Takes about 0.2 s, and 6 times the size of the L2 in memory; the first time in a
/// process CUPTI starts as well. Calls must not be captured or timed meanwhile. Throws c10::Error if memory does not
/// suffice or another recording is in progress, and Error if CUPTI records nothing.
[[nodiscard]] inline ClockOverhead measure_clock_overhead(CudaDevice& device, bool cold) {
  constexpr std::int64_t mebi = 1 << 20;
  constexpr std::size_t rounds = 3;
  // As many as a graph of the clock holds, which are what short calls have. The pair of events around them is a part of
  // what is added, 0.04 us a call; in longer calls, of which a sample of 1 ms has fewer, it is 0.25 % of their time.
  const std::int64_t calls = cold ? 16 : gpu::GraphClockOptions().calls;
  // The sizes of calibration_subjects() in benches/cuda/subjects.hpp, which clock_accuracy compares with 50 kernels.
  detail::Negation small(device, mebi), medium(device, 3 * mebi), large(device, 5 * mebi);
  const std::array<timing::Subject*, 3> kernels{&small, &medium, &large};
  for (timing::Subject* const each : kernels) each->run(0, 1);
  device.synchronise();
  // Clocks of its own, whose graphs and memory go with it.
  gpu::GraphClock<CudaDevice> clock(device, {.cold = cold});
  gpu::ProfilerClock<CudaDevice> profiler(device, {.cold = cold});
  return gpu::overhead_of(clock, profiler, kernels, rounds, calls);
}

}  // namespace pace::cuda
