// time_builds: times the configurations of a kernel, among which its tuner chose, in the place of the kernel.
#pragma once

#ifdef PACE_CUDA

#include <cstdint>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "pace/core/error.hpp"
#include "pace/gpu/cuda/cubin.hpp"
#include "pace/gpu/cuda/device.hpp"
#include "pace/gpu/cuda/kernel_node.hpp"
#include "pace/kernels/attempt.hpp"
#include "pace/kernels/kernel.hpp"
#include "pace/kernels/knowledge.hpp"
#include "pace/kernels/launch_of.hpp"
#include "pace/kernels/replay.hpp"

namespace pace::kernel::detail {

/// Largest number of spilled words of a configuration that Inductor's tuner runs.
inline constexpr std::int64_t spill_threshold = 16;

/// Times `builds` in the place of `node`. `prepare`, `help` and `restore` are as for Replayer::time(), `compatible` as in
/// KernelsOptions. A build that spills more words than `spill_threshold` is reported without a time.
[[nodiscard]] inline std::vector<Configuration> time_builds(
    const std::vector<Build>& builds, const cuda::KernelNode& node, cuda::CudaDevice& device,
    Replayer<cuda::CudaDevice>& replayer, const std::function<Nanoseconds(const std::function<void()>&)>& compatible,
    const std::function<void()>& prepare, const std::function<void()>& help, const std::function<void()>& restore) {
  std::vector<Configuration> configurations;
  for (const Build& build : builds) {
    Configuration each{.text = build.text, .printed = build.printed, .chosen = build.chosen};
    each.why_not = failure_of([&] {
      const cuda::Cubin cubin(build.file);
      const auto function = cubin.function(build.symbol, static_cast<int>(build.shared_bytes));
      const cuda::LaunchShape shape{build.grid, {build.threads, 1, 1}, build.shared_bytes};
      each.launch = launch_of(node.facts(function, shape), device);
      node.check_same_parameters(function, build.file.string());
      if (each.launch->spills() > spill_threshold)
        throw Unsupported("it spills " + std::to_string(each.launch->spills()) + " words, more than " +
                          std::to_string(spill_threshold));
      const auto times =
          replayer.time(prepare, [&] { node.launch(function, shape, device.current_stream().stream()); }, help, restore);
      each.hot = times.hot;
      each.cold = times.cold;
      if (!compatible) return;
      prepare();
      each.compatible = compatible([&] { node.launch(function, shape, device.current_stream().stream()); });
    });
    if (!each.why_not.empty()) device.synchronise();
    configurations.push_back(std::move(each));
  }
  return configurations;
}

}  // namespace pace::kernel::detail

#endif  // PACE_CUDA
