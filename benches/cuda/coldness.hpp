// Is cold cold? Working sets from a sixteenth to four times the L2: the bandwidth that each way of timing implies.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <numeric>
#include <vector>

#include <ATen/ops/empty_like.h>
#include <ATen/ops/neg.h>

#include "benches/cuda/subjects.hpp"
#include "pace/gpu/cuda/device.hpp"
#include "pace/gpu/cuda/limits.hpp"
#include "pace/gpu/graph.hpp"
#include "pace/gpu/owned.hpp"
#include "pace/gpu/profiler.hpp"

namespace pace::benches::accuracy {

/// A sum reads each byte once and writes next to nothing, so a hit in the cache is a byte that memory need not give. If
/// a share h of them hits, the sum takes (1 - h) of the time that memory needs.
[[nodiscard]] inline Subject read_all(std::int64_t elements, std::size_t sets) {
  Subject subject{"sum", {}, 4.0 * static_cast<double>(elements)};
  at::Tensor out = random({1}).squeeze(0);
  for (std::size_t set = 0; set < sets; ++set)
    subject.calls.push_back(
        [x = random({elements}), out]() mutable { at::sum_out(out, x, at::OptionalIntArrayRef()); });
  return subject;
}

/// How much of a working set is still in the cache after a flush of so many times the L2. The profiler times a sum of
/// 3/4 of the L2 and one of 1/4. Their difference d is the time of half an L2 of bytes; the other costs of a call
/// cancel. It is d(hot) if all of them hit, and d(8) after a flush of eight times the L2. In between, the share of hits
/// is (d(8) - d) / (d(8) - d(hot)). Times are means of the middle half of many calls: CUPTI's stamps step by 32 ns.
inline void show_residual_hits(cuda::CudaDevice& device) {
  const auto l2 = static_cast<std::int64_t>(device.l2_bytes());
  Subject small = read_all(l2 / 16, 1), large = read_all(3 * l2 / 16, 1);
  const auto mean = [&](Subject& subject, bool cold, double flush) {
    gpu::ProfilerClock<cuda::CudaDevice> profiler(device, {.cold = cold, .flush = flush});
    static_cast<void>(profiler.sample(subject, 0, 50));
    static_cast<void>(profiler.sample(subject, 0, 400));
    std::vector<double> times;
    for (const auto& each : profiler.last()) times.push_back(1e-3 * each.duration.count());
    std::ranges::sort(times);
    const std::size_t quarter = times.size() / 4;
    const auto first = times.begin() + static_cast<std::ptrdiff_t>(quarter);
    return std::accumulate(first, first + static_cast<std::ptrdiff_t>(2 * quarter), 0.0) /
           static_cast<double>(2 * quarter);
  };
  const auto difference = [&](bool cold, double flush) { return mean(large, cold, flush) - mean(small, cold, flush); };
  const double hot = difference(false, 1), cold = (difference(true, 8) + difference(true, 8)) / 2;
  std::printf("\nTime of half an L2 of bytes in a sum: hot %.2f us, after a flush of eight times the L2 %.2f us\n", hot,
              cold);
  for (const double flush : {0.25, 0.5, 1.0, 1.5, 2.0, 3.0, 4.0, 8.0}) {
    const double between = difference(true, flush);
    std::printf("flush %4.2fx: %6.2f us, residual hits %5.1f %%\n", flush, between,
                100 * (cold - between) / (cold - hot));
  }
}

/// For a profiler that counts hits of the L2. Element-wise kernels run over working sets from a sixteenth of the L2 to
/// twice the L2, each twice hot and then twice after the cold clock's flush.
inline void run_for_hit_counters(cuda::CudaDevice& device) {
  const double flush = gpu::GraphClockOptions{}.flush;
  const auto cache = gpu::own_buffer(device, static_cast<std::size_t>(flush * static_cast<double>(device.l2_bytes())));
  for (const double share : {1.0 / 16, 1.0 / 8, 1.0 / 4, 1.0 / 2, 1.0, 2.0}) {
    const auto elements = static_cast<std::int64_t>(share * static_cast<double>(device.l2_bytes()) / 8);
    const at::Tensor x = random({elements});
    at::Tensor y = at::empty_like(x);
    device.evict(cache.get(), device.current_stream());
    static_cast<void>(at::neg_out(y, x));
    for (const bool cold : {false, false, true, true}) {
      if (cold) device.evict(cache.get(), device.current_stream());
      static_cast<void>(at::neg_out(y, x));
    }
    device.synchronise();
    std::printf("working set %.4f x L2: five calls, the second and third hot, the others cold\n", share);
  }
}

inline void show_coldness(cuda::CudaDevice& device, const cuda::MachineLimits& limits) {
  gpu::GraphClock<cuda::CudaDevice> hot(device), cold(device, {.cold = true, .calls = 16});
  gpu::ProfilerClock<cuda::CudaDevice> profiler(device);
  const double l2 = static_cast<double>(device.l2_bytes());
  std::printf("\nImplied bandwidth, GB/s (measured peak: %.0f), by working set\n%9s %9s", 1e-9 * limits.memory(),
              "x L2", "MiB");
  for (const char* column :
       {"add hot", "add rotated", "add flushed", "sum hot", "sum rotated", "sum flushed", "sum CUPTI rot."})
    std::printf(" %14s", column);
  for (const double share : {1.0 / 16, 1.0 / 8, 1.0 / 4, 1.0 / 2, 1.0, 2.0, 4.0}) {
    std::printf("\n%9.4f %9.1f", share, share * l2 / (1 << 20));
    for (const bool adds : {true, false}) {
      const auto elements = static_cast<std::int64_t>(share * l2 / (adds ? 12 : 4));
      // Rotating sets come round after four times the L2.
      const auto sets = static_cast<std::size_t>(std::clamp(std::ceil(4 / share), 2.0, 64.0));
      Subject subject = adds ? add(elements, sets) : read_all(elements, sets);
      auto& op = subject;
      std::vector<std::size_t> rotation(sets);
      std::iota(rotation.begin(), rotation.end(), std::size_t{0});
      const auto show = [&](auto&& sample, std::int64_t calls) {
        Nanoseconds least = Nanoseconds::max();
        for (int i = 0; i < 7; ++i) least = std::min(least, sample(calls));
        std::printf(" %14.0f", subject.bytes * static_cast<double>(calls) / least.count());
      };
      show([&](std::int64_t calls) { return hot.sample(op, 0, calls); }, 64);
      show([&](std::int64_t calls) { return hot.sample(op, rotation, calls); }, static_cast<std::int64_t>(2 * sets));
      show([&](std::int64_t calls) { return cold.sample(op, 0, calls); }, 16);
      if (!adds)
        show(
            [&](std::int64_t calls) {
              return profiler.time([&] {
                for (std::int64_t i = 0; i < calls; ++i) op.run(static_cast<std::size_t>(i) % sets, 1);
              });
            },
            static_cast<std::int64_t>(2 * sets));
      hot.forget();
      cold.forget();
    }
  }
  std::printf("\n");
}

}  // namespace pace::benches::accuracy
