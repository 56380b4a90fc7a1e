// The timers of wrapper_benchmark, for one launch of a kernel.
#pragma once

#include <chrono>

#include "benches/timers/do_bench.hpp"
#include "benches/timers/inductor.hpp"
#include "benches/timers/profiling.hpp"
#include "benches/timers/summary.hpp"
#include "pace/base/units.hpp"
#include "pace/gpu/activity.hpp"

namespace pace::benches::kernels::compat {

/// Which of PyTorch's timers times each kernel. Triton's do_bench, as wrapper_benchmark did up to PyTorch 2.6;
/// Inductor's own, as it does today; or the profiler, as Inductor's mode `profile_bandwidth` does on request.
enum class CompatibleTimer { do_bench, inductor, profiler };

/// `launch` queues the kernel on the current stream. Throws Error where the original divides by zero.
template <gpu::TracesActivities D, class Launch>
[[nodiscard]] Nanoseconds time_launch(D& device, CompatibleTimer timer, Launch&& launch) {
  namespace compatible = benches::timers;
  if (timer == CompatibleTimer::inductor) return compatible::inductor_benchmark(device, launch).least;
  // The original asks for warmup=10 and rep=40.
  if (timer == CompatibleTimer::profiler)
    return compatible::do_bench_using_profiling(
        device, launch, {.warm_up = std::chrono::milliseconds(10), .repeat = std::chrono::milliseconds(40)});
  // wrapper_benchmark asks for rep=40.
  return compatible::do_bench(device, launch, {.repeat = std::chrono::milliseconds(40)}, compatible::Statistic::median);
}

}  // namespace pace::benches::kernels::compat
