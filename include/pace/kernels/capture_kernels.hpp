// capture_kernels: captures a call into a CUDA graph, and identifies and times each of its kernels alone.
#pragma once

#ifdef PACE_CUDA

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
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

#include "pace/base/demangle.hpp"
#include "pace/base/error.hpp"
#include "pace/base/format.hpp"
#include "pace/gpu/activity.hpp"
#include "pace/gpu/capture.hpp"
#include "pace/gpu/cuda/device.hpp"
#include "pace/gpu/cuda/error.hpp"
#include "pace/gpu/cuda/graph.hpp"
#include "pace/gpu/cuda/graph_nodes.hpp"
#include "pace/gpu/cuda/held_memory.hpp"
#include "pace/gpu/cuda/kernel_module.hpp"
#include "pace/gpu/cuda/kernel_node.hpp"
#include "pace/gpu/cuda/limits.hpp"
#include "pace/gpu/memory_region.hpp"
#include "pace/gpu/owned.hpp"
#include "pace/kernels/attempt.hpp"
#include "pace/kernels/find_state.hpp"
#include "pace/kernels/kept_bytes.hpp"
#include "pace/kernels/launch_of.hpp"
#include "pace/kernels/match_activities.hpp"
#include "pace/kernels/memory_digest.hpp"
#include "pace/kernels/nested_graphs.hpp"
#include "pace/kernels/options.hpp"
#include "pace/kernels/replay.hpp"
#include "pace/kernels/report.hpp"
#include "pace/kernels/time_builds.hpp"
#include "pace/kernels/timing_steps.hpp"
#include "pace/os/memory.hpp"

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

/// Returns the activities of that many launches, each after `restore()` if that is not empty. Where those of
/// `restore()` cannot be told from the others, all launches but the first work on what the one before has left.
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

/// The memory that tensors hold on a GPU, restored to what it was before the calls, whether they end or throw.
class HeldMemory {
 public:
  /// Copies the memory of `device`, which must outlive the object. Where that fails, nothing is restored, and `notes`
  /// has the reason.
  HeldMemory(cuda::CudaDevice& device, std::vector<std::string>& notes) : device_(device), notes_(notes) {
    const auto failure = failure_of([&] {
      // Work on other streams may still write to it.
      device.synchronise();
      const auto held = cuda::held_memory(device.index());
      std::size_t bytes = 0, free = 0, total = 0;
      for (const auto& region : held) bytes += region.bytes;
      cuda::check(cudaMemGetInfo(&free, &total), "asking for free memory");
      const auto place = place_for_copies(bytes, device.torch_device(), free,
                                          static_cast<std::size_t>(available_memory().value_or(0)));
      if (!place)
        throw Unsupported("the " + std::to_string(bytes >> 20U) +
                          " MiB that tensors hold are more than can be copied to the memory that is free");
      copies_.emplace(held, device.torch_device(), *place);
    });
    if (!failure.empty())
      notes.push_back("memory that the call changes beside its operands keeps what it wrote: " + failure);
  }
  HeldMemory(const HeldMemory&) = delete;
  ~HeldMemory() {
    try {
      if (!copies_) return;
      // The calls may have released memory.
      copies_->keep_held(cuda::held_memory(device_.index()));
      copies_->restore();
      device_.synchronise();
    } catch (...) {  // the device is lost
    }
  }

  /// To be called after the first calls: keeps the copies of what they have changed.
  void keep_changed() {
    drop_if_it_fails([&] { copies_->keep_changed(cuda::held_memory(device_.index())); });
  }
  /// To be called after the last call: leaves out what the calls have released.
  void keep_held() {
    drop_if_it_fails([&] {
      if (const auto gone = copies_->keep_held(cuda::held_memory(device_.index())); gone > 0)
        notes_.push_back(std::to_string(gone) +
                         " bytes that the call changed beside its operands were released by it, and do not have their "
                         "values again");
    });
  }
  /// Whether the calls have changed memory that tensors held before, that of operands included; true if that is not
  /// known.
  [[nodiscard]] bool changes() const { return !copies_ || copies_->bytes() > 0; }
  /// Queues copies back. To be called after keep_held() alone.
  void restore() const {
    if (copies_) copies_->restore();
  }

 private:
  void drop_if_it_fails(const std::function<void()>& body) {
    if (!copies_) return;
    const auto failure = failure_of(body);
    if (failure.empty()) return;
    copies_.reset();
    notes_.push_back("memory that the call changes beside its operands keeps what it wrote: " + failure);
  }

  cuda::CudaDevice& device_;
  std::vector<std::string>& notes_;
  std::optional<HeldCopies> copies_;
};

/// Finds the state of kernels of a graph, see find_state().
class StateFinder {
 public:
  /// For kernels of a graph on `device` whose memory comes from `pool`; both must outlive the object. Kernels also
  /// write to `tensors`.
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

/// Gives the kernels of a report, whose names are `names`, their times in `activities` of the launches that
/// profiled_activities() makes, and adds rows for those in the bodies of conditional nodes.
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

/// Returns the kernels of `call()` on a GPU, each timed alone. `restore_operands()` restores the values of the
/// operands, whose tensors are `tensors`.
[[nodiscard]] inline KernelReport capture_kernels(const KernelsOptions& options, std::string name,
                                                  const std::function<void()>& call,
                                                  const std::function<void()>& restore_operands,
                                                  const std::vector<at::Tensor>& tensors) {
  cuda::CudaDevice device(options.device);
  KernelReport report{.name = std::move(name), .device = device.name()};
  const auto stream = device.capture_stream();
  HeldMemory held(device, report.notes);
  {
    // Two calls, as code that compiles itself, or searches for the best algorithm, needs them.
    const gpu::OnStream<cuda::CudaDevice> on(device, stream);
    call();
    call();
  }
  device.synchronise();
  // Before operands are restored, since it finds out whether the calls change them.
  held.keep_changed();
  restore_operands();
  const auto graph = captured(device, stream, report.name, call);
  held.keep_held();
  const std::function<void()> restore = [&] {
    restore_operands();
    held.restore();
  };
  const auto nodes = cuda::nodes_in_order(graph.get()->raw());

  std::deque<cuda::KernelNode> replayable;  // a deque, since addresses of its elements are kept
  std::vector<std::size_t> places, own;     // of each kernel: which node it is, and which of the replayable ones
  std::vector<std::string> names;
  std::vector<std::vector<Build>> builds;  // of each kernel
  std::vector<bool> nested;                // of each node: whether a launch of a part cannot leave it out
  for (const auto& node : nodes) nested.push_back(node.nested && cuda::changes_memory(node.type));
  bool allocates = false;
  std::size_t host_functions = 0;
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    report.copies += nodes[i].type == cudaGraphNodeTypeMemcpy;
    report.fills += nodes[i].type == cudaGraphNodeTypeMemset;
    report.conditionals += nodes[i].type == cudaGraphNodeTypeConditional;
    if (auto other = cuda::name_of_other(nodes[i].type); !other.empty()) ++report.other_nodes[std::move(other)];
    allocates = allocates || nodes[i].type == cudaGraphNodeTypeMemAlloc || nodes[i].type == cudaGraphNodeTypeMemFree;
    host_functions += nodes[i].type == cudaGraphNodeTypeHost;
    if (nodes[i].type != cudaGraphNodeTypeKernel) continue;
    Kernel kernel;
    places.push_back(i);
    own.push_back(replayable.size());
    builds.emplace_back();
    kernel.why_not_alone = failure_of([&] {
      const auto facts = replayable.emplace_back(nodes[i].node).facts();
      kernel.symbol = facts.symbol;
      kernel.name = demangled(facts.symbol);
      kernel.launch = launch_of(facts, device);
      kernel.launch->overlaps = nodes[i].programmatic;
    });
    if (kernel.why_not_alone.empty()) {
      builds.back() = learn(options.providers, kernel, report);
      kernel.why_not_alone = waits_for_others(kernel.symbol) ? "it waits for other GPUs" : why_not_prepared(nested, i);
    } else if (kernel.name.empty()) {
      kernel.name = "(unknown)";
    }
    names.push_back(kernel.name);
    report.kernels.push_back(std::move(kernel));
  }
  if (report.kernels.empty())
    throw Unsupported(report.name + ": no kernel ran in this call on " + device.name() +
                      "; expected operands on the GPU, and work on its current stream" +
                      (report.conditionals > 0 ? ", not in the bodies of conditional nodes alone" : ""));

  // Each of the two calls at the beginning has run them once.
  report.host_function_runs = 2 * host_functions;
  const auto launch_whole = [&] {
    report.host_function_runs += host_functions;
    device.launch(graph.get(), device.current_stream());
  };
  const bool clusters = std::ranges::any_of(report.kernels, [](const Kernel& kernel) {
    return kernel.launch && kernel.launch->cluster != std::array<std::uint32_t, 3>{1, 1, 1};
  });
  // The driver allows one instance of a graph of the first two kinds at a time, and no nesting in other graphs. A
  // launch of a part of a graph with clusters has lost the device (H100, driver 580.159.04).
  const char* const whole_alone = report.conditionals > 0 ? "conditional nodes"
                                  : allocates             ? "allocations of memory"
                                  : clusters              ? "clusters"
                                                          : nullptr;
  std::optional<cuda::PartialGraph> partial;
  std::optional<Replayer<cuda::CudaDevice>> replayer;
  std::optional<StateFinder> states;

  TimingSteps steps;
  steps.synchronise = [&] { device.synchronise(); };
  steps.profile = [&] {
    restore();
    launch_whole();
    const auto activities = profiled_activities(device, launch_whole, held.changes() ? restore : nullptr);
    give_profiled(report, names, activities);
  };
  if (options.peak_bandwidth)
    steps.measure_peak = [&] { report.peak_bandwidth = cuda::measure_limits(device).memory(); };
  steps.prepare_replays = [&] {
    partial.emplace(graph.get()->raw(), nodes);
    ReplayOptions replaying;
    if (!options.cold) replaying.cold_launches = 0;
    replayer.emplace(device, replaying);
    replayer->calibrate(short_kernel(device));
    report.gap = replayer->gap();
    states.emplace(device, graph.get()->pool(), tensors);
  };
  steps.time_whole = [&] {
    restore();
    report.whole = time_whole(*replayer, launch_whole, held.changes() ? restore : nullptr);
  };
  steps.replay = [&](std::size_t i) {
    Kernel& kernel = report.kernels[i];
    const cuda::KernelNode& node = replayable[own[i]];
    const auto prepare = [&] {
      restore();
      report.host_function_runs += host_functions;
      partial->launch(places[i], device.current_stream().stream());
      device.synchronise();
    };
    const auto help = copies_before(nodes, places[i], device);
    const std::function<void()> launch = [&] { node.launch(device.current_stream().stream()); };
    const KernelState state = states->find(*replayer, prepare, launch, help);
    if (!state.why_unknown.empty())
      report.notes.push_back(kernel.name +
                             ": whether it works on what its own last launch left is not known: " + state.why_unknown);
    if (state.varies)
      report.notes.push_back(kernel.name +
                             ": launches on the same memory leave different values, as where floating-point numbers "
                             "are added in any order, so that it is not known whether it works in place: what it "
                             "changes is restored before each launch");
    std::function<void()> put_back;
    if (state.kept) put_back = [&] { state.kept->restore(); };
    const auto times = replayer->time(prepare, launch, help, put_back);
    report.copying += times.help;
    if (kernel.profiled && does_less_alone(times.hot.median, kernel.profiled->median))
      throw Unsupported("alone it does less, in " + format_time(times.hot.median) +
                        ": it depends on what the nodes before it leave in memory");
    kernel.hot = times.hot;
    kernel.cold = times.cold;
    kernel.under_profiler = times.under_profiler;
    if (state.kept) {
      kernel.restored_bytes = state.kept->bytes();
      kernel.restoring = times.restoring;
    }
    if (options.configurations)
      kernel.configurations = time_builds<cuda::CudaDevice>(
          builds[i], [&](const Build& build) { return loaded_build(build, node, device); }, device, *replayer,
          {.prepare = prepare, .help = help, .restore = put_back, .compatible = options.compatible});
    if (!options.compatible) return;
    const auto failure = failure_of([&] {
      prepare();
      kernel.compatible = options.compatible(launch);
    });
    if (!failure.empty()) {
      device.synchronise();
      report.notes.push_back(kernel.name + ": PyTorch's timer has no time of it: " + failure);
    }
  };
  take_steps(report,
             whole_alone == nullptr
                 ? ""
                 : std::string("it runs in its place only: a graph with ") + whole_alone + " is launched as a whole",
             steps);
  return report;
}

}  // namespace pace::kernel::detail

#endif  // PACE_CUDA
