// The timers of wrapper_benchmark, for one launch of a kernel.
#pragma once

#include <chrono>

#include "benches/timers/do_bench.hpp"
#include "benches/timers/inductor.hpp"
#include "benches/timers/summary.hpp"
#include "pace/core/units.hpp"
#include "pace/gpu/device.hpp"

namespace pace::benches::kernels::compat {

/// Which of PyTorch's timers times each kernel: Triton's do_bench, as wrapper_benchmark did up to PyTorch 2.6, or
/// Inductor's own, as it does today.
enum class CompatibleTimer { do_bench, inductor };

/// `launch` queues the kernel on the current stream. Throws Error where the original divides by zero.
template <gpu::Device D, class Launch>
[[nodiscard]] Nanoseconds time_launch(D& device, CompatibleTimer timer, Launch&& launch) {
  namespace compatible = benches::timers;
  if (timer == CompatibleTimer::inductor) return compatible::inductor_benchmark(device, launch).least;
  // wrapper_benchmark asks for rep=40.
  return compatible::do_bench(device, launch, {.repeat = std::chrono::milliseconds(40)}, compatible::Statistic::median);
}

}  // namespace pace::benches::kernels::compat
