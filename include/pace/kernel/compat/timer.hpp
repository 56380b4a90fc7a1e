// The timers of wrapper_benchmark, for one launch of a kernel.
#pragma once

#include <chrono>

#include "pace/clock/compatible/do_bench.hpp"
#include "pace/clock/compatible/inductor.hpp"
#include "pace/clock/compatible/summary.hpp"
#include "pace/clock/device.hpp"
#include "pace/core/units.hpp"
#include "pace/kernel/options.hpp"

namespace pace::kernel::compat {

/// `launch` queues the kernel on the current stream. Throws Error where the original divides by zero.
template <clock::Device D, class Launch>
[[nodiscard]] Nanoseconds time_launch(D& device, CompatibleTimer timer, Launch&& launch) {
  namespace compatible = clock::compatible;
  if (timer == CompatibleTimer::inductor) return compatible::inductor_benchmark(device, launch).least;
  // wrapper_benchmark asks for rep=40.
  return compatible::do_bench(device, launch, {.repeat = std::chrono::milliseconds(40)}, compatible::Statistic::median);
}

}  // namespace pace::kernel::compat
