// time_builds: times the configurations of a kernel, among which its tuner chose, in the place of the kernel.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "pace/base/error.hpp"
#include "pace/gpu/activity.hpp"
#include "pace/kernels/attempt.hpp"
#include "pace/kernels/kernel.hpp"
#include "pace/kernels/knowledge.hpp"
#include "pace/kernels/replay.hpp"

namespace pace::kernel::detail {

/// Largest number of spilled words of a configuration that Inductor's tuner runs.
inline constexpr std::int64_t spill_threshold = 16;

/// A build that has been loaded.
struct LoadedBuild {
  Launch launch;                ///< in the place of the kernel
  std::function<void()> check;  ///< throws Unsupported unless it takes the arguments of the kernel
  std::function<void()> queue;  ///< queues it on the current stream
};

/// How builds are timed: as their kernel is, see Replayer::time().
struct BuildTiming {
  std::function<void()> prepare;       ///< restores the memory to its state before the kernel in the call
  std::function<void()> help = {};     ///< precedes each launch; empty: nothing
  std::function<void()> restore = {};  ///< precedes each launch and the help, if the kernel works in place
  std::function<Nanoseconds(const std::function<void()>&)> compatible = {};  ///< as in KernelsOptions
};

/// Times `builds`, which `load(build)` loads, in the place of their kernel. A build that spills more words than
/// `spill_threshold` is reported without a time, one that fails with the reason, and the next one is timed. Throws
/// DeviceLost alone.
template <gpu::TracesActivities D>
[[nodiscard]] std::vector<Configuration> time_builds(const std::vector<Build>& builds,
                                                     const std::function<LoadedBuild(const Build&)>& load, D& device,
                                                     Replayer<D>& replayer, const BuildTiming& timing) {
  std::vector<Configuration> configurations;
  for (const Build& build : builds) {
    Configuration each{.text = build.text, .printed = build.printed, .chosen = build.chosen};
    each.why_not = failure_of([&] {
      const LoadedBuild loaded = load(build);
      each.launch = loaded.launch;
      loaded.check();
      if (loaded.launch.spills() > spill_threshold)
        throw Unsupported("it spills " + std::to_string(loaded.launch.spills()) + " words, more than " +
                          std::to_string(spill_threshold));
      const auto times = replayer.time(timing.prepare, loaded.queue, timing.help, timing.restore);
      each.hot = times.hot;
      each.cold = times.cold;
      if (!timing.compatible) return;
      timing.prepare();
      each.compatible = timing.compatible(loaded.queue);
    });
    if (!each.why_not.empty()) device.synchronise();
    configurations.push_back(std::move(each));
  }
  return configurations;
}

}  // namespace pace::kernel::detail
