// What capture_kernels() does with a graph, step by step: captures it, traces launches, finds state, loads builds.
#pragma once

#ifdef PACE_CUDA

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <ATen/core/Tensor.h>
#include <ATen/ops/add.h>
#include <ATen/ops/empty.h>
#include <c10/util/Exception.h>

#include "pace/base/error.hpp"
#include "pace/gpu/activity.hpp"
#include "pace/gpu/capture.hpp"
#include "pace/gpu/cuda/device.hpp"
#include "pace/gpu/cuda/graph.hpp"
#include "pace/gpu/cuda/graph_nodes.hpp"
#include "pace/gpu/cuda/held_memory.hpp"
#include "pace/gpu/cuda/kernel_module.hpp"
#include "pace/gpu/cuda/kernel_node.hpp"
#include "pace/gpu/memory_region.hpp"
#include "pace/gpu/owned.hpp"
#include "pace/kernels/attempt.hpp"
#include "pace/kernels/find_state.hpp"
#include "pace/kernels/launch_of.hpp"
#include "pace/kernels/match_activities.hpp"
#include "pace/kernels/memory_digest.hpp"
#include "pace/kernels/replay.hpp"
#include "pace/kernels/report.hpp"
#include "pace/kernels/time_builds.hpp"

namespace pace::kernel::detail {

/// Whether a kernel waits for other processes or other GPUs; alone, it would wait for ever.
[[nodiscard]] inline bool waits_for_others(std::string_view symbol) {
  return symbol.find("nccl") != std::string_view::npos || symbol.find("nvshmem") != std::string_view::npos;
}

/// Returns a function that queues a kernel as gpu::measure_overhead() requires it.
[[nodiscard]] inline std::function<void()> short_kernel(const cuda::CudaDevice& device) {
  const auto options = at::TensorOptions().device(device.torch_device()).dtype(at::kFloat);
  const at::Tensor from = at::empty({1 << 20}, options).zero_();
  const at::Tensor to = at::empty({1 << 20}, options);
  return [from, to] {
    at::Tensor out = to;
    at::add_out(out, from, from);
  };
}

/// Returns a function that queues the copies and fills between the kernel at `place` and the one before it, which are
/// usually for this kernel; empty if there are none.
[[nodiscard]] inline std::function<void()> copies_before(const std::vector<cuda::GraphNode>& nodes, std::size_t place,
                                                         const cuda::CudaDevice& device) {
  std::size_t first = place;
  while (first > 0 && nodes[first - 1].type != cudaGraphNodeTypeKernel) --first;
  const auto moves = [](const cuda::GraphNode& node) {
    return node.type == cudaGraphNodeTypeMemcpy || node.type == cudaGraphNodeTypeMemset;
  };
  const std::vector<cuda::GraphNode> between(nodes.begin() + static_cast<std::ptrdiff_t>(first),
                                             nodes.begin() + static_cast<std::ptrdiff_t>(place));
  if (std::ranges::none_of(between, moves)) return {};
  return [between, &device] {
    for (const auto& node : between) cuda::queue_copy_or_fill(node, device.current_stream().stream());
  };
}

/// Returns the graph of `call`. Throws Unsupported if `call` cannot be captured.
[[nodiscard]] inline gpu::Owned<cuda::CudaDevice, cuda::CudaDevice::Graph> captured(
    cuda::CudaDevice& device, const cuda::CudaDevice::Stream& stream, const std::string& name,
    const std::function<void()>& call) {
  try {
    return gpu::capture(device, stream, call);
  } catch (const c10::Error& error) {
    const std::string text = error.what_without_backtrace();
    throw Unsupported(name + ": " + text.substr(0, text.find('\n')) + "; " + cuda::cannot_be_captured);
  } catch (const Unsupported& refusal) {
    throw Unsupported(name + ": " + refusal.what());
  }
}

inline constexpr std::size_t profiled_launches = 11;

/// Returns the activities of that many launches, each after `restore()` if that is not empty. If the activities of
/// `restore()` look like the others, it runs only once. Then later launches work on memory that the one before has
/// left.
[[nodiscard]] inline std::vector<gpu::Activity> profiled_activities(cuda::CudaDevice& device,
                                                                    const std::function<void()>& launch,
                                                                    const std::function<void()>& restore) {
  const auto trace_all = [&](const std::function<void()>& before) {
    return gpu::trace(device, [&] {
      for (std::size_t i = 0; i < profiled_launches; ++i) {
        if (before) before();
        launch();
      }
    });
  };
  if (restore) {
    const std::size_t before = gpu::trace(device, restore).size();
    if (auto activities = without_those_before(trace_all(restore), profiled_launches, before)) return *activities;
    restore();
  }
  return trace_all({});
}

/// The time of a launch of the whole graph, each after `restore()` if that is not empty and can be captured.
[[nodiscard]] inline Nanoseconds time_whole(Replayer<cuda::CudaDevice>& replayer, const std::function<void()>& launch,
                                            const std::function<void()>& restore) {
  Nanoseconds time{};
  if (restore && failure_of([&] { time = replayer.whole_time(launch, restore); }).empty()) return time;
  return replayer.whole_time(launch);
}

/// Finds the state of kernels of a graph, see find_state().
class StateFinder {
 public:
  /// For kernels of a graph on `device` with memory from `pool`; both must outlive the object. Kernels also write to
  /// `tensors`.
  StateFinder(cuda::CudaDevice& device, const cuda::CapturePool& pool, const std::vector<at::Tensor>& tensors)
      : device_(device), pool_(pool) {
    // Memory that LibTorch's allocator may not know.
    for (const auto& tensor : tensors)
      if (tensor.defined() && tensor.has_storage() && tensor.device() == device.torch_device())
        operands_.push_back({reinterpret_cast<std::uintptr_t>(tensor.storage().data()), tensor.storage().nbytes()});
    why_not_ = failure_of([&] { digest_.emplace(device.torch_device()); });
  }

  /// As find_state(). An empty state with a reason where memory cannot be looked at.
  [[nodiscard]] KernelState find(Replayer<cuda::CudaDevice>& replayer, const std::function<void()>& prepare,
                                 const std::function<void()>& launch, const std::function<void()>& help) {
    if (digest_) {
      why_not_ = failure_of([&] {
        auto regions = cuda::memory_of_graph(device_.index(), pool_.id());
        regions.insert(regions.end(), operands_.begin(), operands_.end());
        digest_->watch(gpu::joined(std::move(regions)));
      });
    }
    if (!why_not_.empty()) return {.kept = {}, .why_unknown = why_not_};
    return find_state(*digest_, device_.torch_device(), replayer, prepare, launch, help);
  }

 private:
  cuda::CudaDevice& device_;
  const cuda::CapturePool& pool_;
  std::vector<MemoryRegion> operands_;
  std::optional<MemoryDigest> digest_;
  std::string why_not_;
};

/// Gives the kernels of a report their times in `activities`, which come from profiled_activities(). `names` are the
/// kernels' names. Adds rows for kernels in the bodies of conditional nodes.
inline void give_profiled(KernelReport& report, const std::vector<std::string>& names,
                          const std::vector<gpu::Activity>& activities) {
  const auto times = match_activities(names, activities, profiled_launches);
  for (std::size_t i = 0; i < times.size(); ++i) report.kernels[i].profiled = times[i];
  if (report.conditionals > 0) add_kernels_of_bodies(report, unlisted_kernels(names, activities, profiled_launches));
  if (activities.size() % profiled_launches != 0) return;
  const std::size_t each = activities.size() / profiled_launches;
  std::vector<Nanoseconds> spans;
  for (std::size_t i = 0; i < profiled_launches; ++i)
    spans.push_back(gpu::span_of(std::span(activities).subspan(i * each, each)));
  report.profiled_span = gpu::detail::upper_median(std::move(spans));
}

/// Loads a build that is launched in the place of `node`, which must outlive the result.
[[nodiscard]] inline LoadedBuild loaded_build(const Build& build, const cuda::KernelNode& node,
                                              const cuda::CudaDevice& device) {
  const auto kernels = std::make_shared<cuda::KernelModule>(build.file);
  const auto function = kernels->function(build.symbol, static_cast<int>(build.shared_bytes));
  const cuda::LaunchShape shape{build.grid, {build.threads, 1, 1}, build.shared_bytes};
  return {.launch = launch_of(node.facts(function, shape), device),
          .check = [&node, function, name = build.file.string()] { node.check_same_parameters(function, name); },
          .queue = [&node, &device, kernels, function,
                    shape] { node.launch(function, shape, device.current_stream().stream()); }};
}

}  // namespace pace::kernel::detail

#endif  // PACE_CUDA
