// capture_kernels: captures a call into a CUDA graph, and identifies and times each of its kernels alone.
#pragma once

#ifdef PACE_CUDA

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <ATen/core/Tensor.h>

#include "pace/base/demangle.hpp"
#include "pace/base/error.hpp"
#include "pace/base/format.hpp"
#include "pace/gpu/cuda/device.hpp"
#include "pace/gpu/cuda/graph.hpp"
#include "pace/gpu/cuda/graph_nodes.hpp"
#include "pace/gpu/cuda/kernel_node.hpp"
#include "pace/gpu/cuda/limits.hpp"
#include "pace/gpu/owned.hpp"
#include "pace/kernels/attempt.hpp"
#include "pace/kernels/capture_steps.hpp"
#include "pace/kernels/find_state.hpp"
#include "pace/kernels/held_memory.hpp"
#include "pace/kernels/launch_of.hpp"
#include "pace/kernels/nested_graphs.hpp"
#include "pace/kernels/options.hpp"
#include "pace/kernels/replay.hpp"
#include "pace/kernels/report.hpp"
#include "pace/kernels/time_builds.hpp"
#include "pace/kernels/timing_steps.hpp"

namespace pace::kernel::detail {

/// The call to capture into a graph, and the operands to restore around it.
struct CapturedCall {
  const std::function<void()>& call;
  const std::function<void()>& restore_operands;  ///< restores the values of the operands
  const std::vector<at::Tensor>& tensors;         ///< tensors of the operands
};

/// Captures a call into a graph, lists the kernels of the graph, and times each of them alone. The device, the graph
/// and the report live in one object, since every step works on them.
class KernelCapture {
 public:
  /// Makes the call twice, and captures it. What `what` refers to must outlive the object. Throws Unsupported if the
  /// call cannot be captured.
  KernelCapture(const KernelsOptions& options, std::string name, const CapturedCall& what)
      : options_(options),
        what_(what),
        device_(options.device),
        report_{.name = std::move(name), .device = device_.name()},
        stream_(device_.capture_stream()),
        held_(device_, report_.notes),
        graph_(captured_after_two_calls()),
        nodes_(cuda::nodes_in_order(graph_.get()->raw())) {}
  KernelCapture(const KernelCapture&) = delete;
  KernelCapture& operator=(const KernelCapture&) = delete;

  /// Lists and times the kernels; to be called once. Throws Unsupported if the graph has none.
  [[nodiscard]] KernelReport find() {
    list_kernels();
    const char* const whole_alone = why_whole_alone();
    take_steps(report_,
               whole_alone == nullptr
                   ? ""
                   : std::string("it runs in its place only: a graph with ") + whole_alone + " is launched as a whole",
               steps());
    return std::move(report_);
  }

 private:
  using Graph = gpu::Owned<cuda::CudaDevice, cuda::CudaDevice::Graph>;

  /// Facts of a kernel beside its row in the report.
  struct Listed {
    std::size_t place = 0;                   ///< which node it is
    const cuda::KernelNode* node = nullptr;  ///< null: it cannot be launched alone
    std::vector<Build> builds = {};          ///< the choices of its tuner
  };

  /// How a kernel is launched alone, see Replayer::time().
  struct Alone {
    std::function<void()> prepare;        ///< restores memory, and runs the nodes before the kernel
    std::function<void()> help;           ///< queues the copies and fills before it; empty: there are none
    std::function<void()> launch;         ///< queues the kernel
    std::function<void()> put_back = {};  ///< restores memory that the kernel works on in place; empty: none
  };

  [[nodiscard]] Graph captured_after_two_calls() {
    {
      // Two calls, as code that compiles itself, or searches for the best algorithm, needs them.
      const gpu::OnStream<cuda::CudaDevice> on(device_, stream_);
      what_.call();
      what_.call();
    }
    device_.synchronise();
    // Before operands are restored, since it finds out whether the calls change them.
    held_.keep_changed();
    what_.restore_operands();
    auto graph = captured(device_, stream_, report_.name, what_.call);
    held_.keep_held();
    return graph;
  }

  /// Restores memory that the call changes.
  void restore() {
    what_.restore_operands();
    held_.restore();
  }
  /// As restore(); empty if the call changes nothing.
  [[nodiscard]] std::function<void()> restore_if_needed() {
    if (!held_.changes()) return nullptr;
    return [this] { restore(); };
  }

  void launch_whole() {
    report_.host_function_runs += host_functions_;
    device_.launch(graph_.get(), device_.current_stream());
  }

  /// Counts the nodes by their types, and adds a row for each kernel.
  void list_kernels() {
    std::vector<bool> nested;  // of each node: whether a launch of a part cannot leave it out
    for (const auto& node : nodes_) nested.push_back(node.nested && cuda::changes_memory(node.type));
    for (std::size_t i = 0; i < nodes_.size(); ++i) {
      count(nodes_[i].type);
      if (nodes_[i].type == cudaGraphNodeTypeKernel) list_kernel(i, nested);
    }
    if (report_.kernels.empty())
      throw Unsupported(report_.name + ": no kernel ran in this call on " + device_.name() +
                        "; expected operands on the GPU, and work on its current stream" +
                        (report_.conditionals > 0 ? ", not in the bodies of conditional nodes alone" : ""));
    // Each of the two calls at the beginning has run them once.
    report_.host_function_runs = 2 * host_functions_;
  }

  void count(cudaGraphNodeType type) {
    report_.copies += type == cudaGraphNodeTypeMemcpy;
    report_.fills += type == cudaGraphNodeTypeMemset;
    report_.conditionals += type == cudaGraphNodeTypeConditional;
    if (auto other = cuda::name_of_other(type); !other.empty()) ++report_.other_nodes[std::move(other)];
    allocates_ = allocates_ || type == cudaGraphNodeTypeMemAlloc || type == cudaGraphNodeTypeMemFree;
    host_functions_ += type == cudaGraphNodeTypeHost;
  }

  /// Adds the kernel of the node at `place`. `nested` is as for why_not_prepared().
  void list_kernel(std::size_t place, const std::vector<bool>& nested) {
    Kernel kernel;
    Listed& listed = listed_.emplace_back();
    listed.place = place;
    kernel.why_not_alone = failure_of([&] {
      listed.node = &replayable_.emplace_back(nodes_[place].node);
      const auto facts = listed.node->facts();
      kernel.symbol = facts.symbol;
      kernel.name = demangled(facts.symbol);
      kernel.launch = launch_of(facts, device_);
      kernel.launch->overlaps = nodes_[place].programmatic;
    });
    if (kernel.why_not_alone.empty()) {
      listed.builds = learn(options_.providers, kernel, report_);
      kernel.why_not_alone =
          waits_for_others(kernel.symbol) ? "it waits for other GPUs" : why_not_prepared(nested, place);
    } else if (kernel.name.empty()) {
      kernel.name = "(unknown)";
    }
    names_.push_back(kernel.name);
    report_.kernels.push_back(std::move(kernel));
  }

  /// Returns why parts of the graph cannot be launched; null: they can. The driver allows one instance of a graph of
  /// the first two kinds at a time, and no nesting in other graphs. A launch of a part of a graph with clusters has
  /// lost the device (H100, driver 580.159.04).
  [[nodiscard]] const char* why_whole_alone() const {
    if (report_.conditionals > 0) return "conditional nodes";
    if (allocates_) return "allocations of memory";
    const bool clusters = std::ranges::any_of(report_.kernels, [](const Kernel& kernel) {
      return kernel.launch && kernel.launch->cluster != std::array<std::uint32_t, 3>{1, 1, 1};
    });
    return clusters ? "clusters" : nullptr;
  }

  /// Returns the steps that take_steps() takes. They refer to this object.
  [[nodiscard]] TimingSteps steps() {
    TimingSteps steps;
    steps.synchronise = [this] { device_.synchronise(); };
    steps.profile = [this] { profile(); };
    if (options_.peak_bandwidth)
      steps.measure_peak = [this] { report_.peak_bandwidth = cuda::measure_limits(device_).memory(); };
    steps.prepare_replays = [this] { prepare_replays(); };
    steps.time_whole = [this] { time_whole_graph(); };
    steps.replay = [this](std::size_t i) { replay(i); };
    return steps;
  }

  void profile() {
    restore();
    launch_whole();
    const auto activities = profiled_activities(device_, [this] { launch_whole(); }, restore_if_needed());
    give_profiled(report_, names_, activities);
  }

  void prepare_replays() {
    partial_.emplace(graph_.get()->raw(), nodes_);
    ReplayOptions replaying;
    if (!options_.cold) replaying.cold_launches = 0;
    replayer_.emplace(device_, replaying);
    replayer_->calibrate(short_kernel(device_));
    report_.gap = replayer_->gap();
    states_.emplace(device_, graph_.get()->pool(), what_.tensors);
  }

  void time_whole_graph() {
    restore();
    report_.whole = time_whole(*replayer_, [this] { launch_whole(); }, restore_if_needed());
  }

  /// Times a kernel alone, then the builds of it, and last by PyTorch's timer. What fails keeps the figures before it.
  void replay(std::size_t i) {
    Kernel& kernel = report_.kernels[i];
    Alone alone = alone_launch(listed_[i]);
    const KernelState state = states_->find(*replayer_, alone.prepare, alone.launch, alone.help);
    note_doubts(kernel.name, state);
    if (state.kept) alone.put_back = [&] { state.kept->restore(); };
    time_alone(kernel, alone, state);
    if (options_.configurations) kernel.configurations = time_listed_builds(listed_[i], alone);
    if (options_.compatible) time_compatible(kernel, alone);
  }

  [[nodiscard]] Alone alone_launch(const Listed& listed) {
    const auto prepare = [this, &listed] {
      restore();
      report_.host_function_runs += host_functions_;
      partial_->launch(listed.place, device_.current_stream().stream());
      device_.synchronise();
    };
    return {.prepare = prepare, .help = copies_before(nodes_, listed.place, device_), .launch = [this, &listed] {
              listed.node->launch(device_.current_stream().stream());
            }};
  }

  /// Adds a note if it is unknown whether a kernel works on memory that its own last launch left.
  void note_doubts(const std::string& name, const KernelState& state) {
    if (!state.why_unknown.empty())
      report_.notes.push_back(name +
                              ": whether it works on what its own last launch left is not known: " + state.why_unknown);
    if (state.varies)
      report_.notes.push_back(name +
                              ": launches on the same memory leave different values, as where floating-point numbers "
                              "are added in any order, so that it is not known whether it works in place: what it "
                              "changes is restored before each launch");
  }

  /// Throws Unsupported if the kernel does less alone than in its place.
  void time_alone(Kernel& kernel, const Alone& alone, const KernelState& state) {
    const auto times = replayer_->time(alone.prepare, alone.launch, alone.help, alone.put_back);
    report_.copying += times.help;
    if (kernel.profiled && does_less_alone(times.hot.median, kernel.profiled->median))
      throw Unsupported("alone it does less, in " + format_time(times.hot.median) +
                        ": it depends on what the nodes before it leave in memory");
    kernel.hot = times.hot;
    kernel.cold = times.cold;
    kernel.under_profiler = times.under_profiler;
    if (!state.kept) return;
    kernel.restored_bytes = state.kept->bytes();
    kernel.restoring = times.restoring;
  }

  [[nodiscard]] std::vector<Configuration> time_listed_builds(const Listed& listed, const Alone& alone) {
    return time_builds<cuda::CudaDevice>(
        listed.builds, [&](const Build& build) { return loaded_build(build, *listed.node, device_); }, device_,
        *replayer_,
        {.prepare = alone.prepare, .help = alone.help, .restore = alone.put_back, .compatible = options_.compatible});
  }

  void time_compatible(Kernel& kernel, const Alone& alone) {
    const auto failure = failure_of([&] {
      alone.prepare();
      kernel.compatible = options_.compatible(alone.launch);
    });
    if (failure.empty()) return;
    device_.synchronise();
    report_.notes.push_back(kernel.name + ": PyTorch's timer has no time of it: " + failure);
  }

  const KernelsOptions& options_;
  const CapturedCall what_;
  cuda::CudaDevice device_;
  KernelReport report_;
  const cuda::CudaDevice::Stream stream_;
  HeldMemory held_;
  const Graph graph_;
  const std::vector<cuda::GraphNode> nodes_;
  std::deque<cuda::KernelNode> replayable_;  // a deque, since addresses of its elements are kept
  std::vector<Listed> listed_;               // of each kernel
  std::vector<std::string> names_;           // of each kernel
  bool allocates_ = false;                   // whether the graph allocates or releases memory
  std::size_t host_functions_ = 0;           // in the graph
  std::optional<cuda::PartialGraph> partial_;
  std::optional<Replayer<cuda::CudaDevice>> replayer_;
  std::optional<StateFinder> states_;
};

/// Returns the kernels of `call()` on a GPU, each timed alone. `restore_operands()` restores the values of the
/// operands; `tensors` are their tensors.
[[nodiscard]] inline KernelReport capture_kernels(const KernelsOptions& options, std::string name,
                                                  const std::function<void()>& call,
                                                  const std::function<void()>& restore_operands,
                                                  const std::vector<at::Tensor>& tensors) {
  return KernelCapture(options, std::move(name),
                       {.call = call, .restore_operands = restore_operands, .tensors = tensors})
      .find();
}

}  // namespace pace::kernel::detail

#endif  // PACE_CUDA
