// graphed_step: a training step as CUDA graphs of its forward, its backward and its update.
#pragma once

#include <functional>
#include <memory>
#include <utility>

#include "pace/base/error.hpp"
#include "pace/training/step.hpp"

#ifdef PACE_CUDA
#include <algorithm>
#include <list>
#include <optional>
#include <tuple>
#include <vector>

#include <ATen/core/Tensor.h>
#include <ATen/core/grad_mode.h>
#include <c10/core/Device.h>

#include "pace/check/ivalue.hpp"
#include "pace/gpu/capture.hpp"
#include "pace/gpu/cuda/device.hpp"
#include "pace/gpu/owned.hpp"
#include "pace/subject/operands.hpp"
#endif

namespace pace {

#ifdef PACE_CUDA

namespace detail {

template <class... Operands>
class GraphedStep {
 public:
  GraphedStep(c10::DeviceIndex device, TrainingStep<Operands...> step) : device_(device), step_(std::move(step)) {}

  [[nodiscard]] c10::IValue forward(Operands&... operands) {
    std::vector<at::Tensor> tensors;
    (OperandTraits<Operands>::collect(operands, tensors), ...);
    std::vector<const void*> key;
    for (const auto& tensor : tensors) key.push_back(tensor.const_data_ptr());
    const auto found =
        std::find_if(entries_.begin(), entries_.end(), [&](const Entry& each) { return each.key == key; });
    current_ = found != entries_.end() ? &*found : &capture(std::move(key), operands...);
    launch(current_->forward);
    return current_->output;
  }
  void backward() { launch(current_->backward); }

 private:
  using Graph = gpu::Owned<cuda::CudaDevice, cuda::CudaDevice::Graph>;
  struct Entry {
    std::vector<const void*> key;
    std::optional<Graph> forward = {}, backward = {};
    // Destroyed before the graphs, so that no tensor uses their memory any more.
    c10::IValue output = {};
    /// Input of the backward; its memory must stay.
    c10::IValue prepared = {};
  };

  void launch(std::optional<Graph>& graph) {
    if (graph) device_.launch(graph->get(), device_.current_stream());
  }

  /// First runs a whole step on the capture stream. In it, libraries allocate their workspaces, and the gradients get
  /// the memory that the graph will add to.
  Entry& capture(std::vector<const void*> key, Operands&... operands) {
    const auto side = device_.capture_stream();
    device_.synchronise();
    {
      const gpu::OnStream<cuda::CudaDevice> on(device_, side);
      const c10::IValue output = step_.forward(operands...);
      if (step_.backward) step_.backward(step_.backward_setup ? step_.backward_setup(output) : output);
    }
    device_.synchronise();
    zero_gradients(step_.parameters);
    const at::NoGradGuard values_alone;
    Entry entry{.key = std::move(key)};
    c10::IValue output;
    entry.forward.emplace(gpu::capture(device_, side, [&] {
      const at::AutoGradMode with_gradients(static_cast<bool>(step_.backward));
      output = step_.forward(operands...);
    }));
    if (step_.backward) {
      {
        // Autograd records the forward on the capture stream, so backward_setup must run there, too.
        const gpu::OnStream<cuda::CudaDevice> on(device_, side);
        entry.prepared = step_.backward_setup ? step_.backward_setup(output) : output;
      }
      device_.synchronise();
      const at::AutoGradMode with_gradients(true);
      entry.backward.emplace(gpu::capture(device_, side, [&] { step_.backward(entry.prepared); }));
    }
    entry.output = std::move(output);
    device_.synchronise();
    return entries_.emplace_back(std::move(entry));
  }

  cuda::CudaDevice device_;
  TrainingStep<Operands...> step_;
  std::list<Entry> entries_;
  Entry* current_ = nullptr;
};

class GraphedUpdate {
 public:
  GraphedUpdate(c10::DeviceIndex device, std::function<void()> update) : device_(device), update_(std::move(update)) {}

  void step() {
    if (!graph_) {
      device_.synchronise();
      const at::NoGradGuard values_alone;
      graph_.emplace(gpu::capture(device_, device_.capture_stream(), update_));
      device_.synchronise();
    }
    device_.launch(graph_->get(), device_.current_stream());
  }

 private:
  cuda::CudaDevice device_;
  std::function<void()> update_;
  std::optional<gpu::Owned<cuda::CudaDevice, cuda::CudaDevice::Graph>> graph_ = {};
};

}  // namespace detail

/// Throws Unsupported unless `device` is a CUDA device, which CUDA graphs need.
inline void require_graphs_on(c10::Device device) {
  if (!device.is_cuda())
    throw Unsupported("a CUDA graph holds what a GPU does; expected operands on one, not on " + device.str());
}

/// Returns `step` with its forward and backward as CUDA graphs. That removes the host's share, which is large where
/// kernels are short.
///
/// The first call with each set of operands captures both, later calls launch them. Operands are the same if their
/// tensors have the same addresses. backward_setup runs once, at the capture. Throws Unsupported if `set_to_none` is
/// set, if `device` is not a CUDA device, or if the program was built without CUDA. The first forward throws if the
/// step cannot be captured.
template <class... Operands>
[[nodiscard]] TrainingStep<Operands...> graphed_step(c10::Device device, TrainingStep<Operands...> step) {
  if (step.set_to_none)
    throw Unsupported("a CUDA graph adds to gradients at fixed addresses; expected a step whose set_to_none is false");
  require_graphs_on(device);
  auto graphed = std::make_shared<detail::GraphedStep<Operands...>>(device.has_index() ? device.index() : 0, step);
  const bool trains = static_cast<bool>(step.backward);
  step.forward = [graphed](Operands&... operands) { return graphed->forward(operands...); };
  step.backward_setup = {};
  if (trains) step.backward = [graphed](const c10::IValue&) { graphed->backward(); };
  return step;
}

/// Returns `update` as a CUDA graph. The first call captures it, when there are gradients, and every call launches it.
/// UpdatingStep::capturable says what `update` must be. Throws Unsupported as require_graphs_on() does; the first call
/// throws if `update` cannot be captured.
[[nodiscard]] inline std::function<void()> graphed_update(c10::Device device, std::function<void()> update) {
  require_graphs_on(device);
  const auto graphed =
      std::make_shared<detail::GraphedUpdate>(device.has_index() ? device.index() : 0, std::move(update));
  return [graphed] { graphed->step(); };
}

#else

/// Throws Unsupported: the program was built without CUDA.
inline void require_graphs_on(c10::Device) {
  throw Unsupported("this program was built without CUDA: build it with --config=cuda");
}

template <class... Operands>
[[nodiscard]] TrainingStep<Operands...> graphed_step(c10::Device device, TrainingStep<Operands...> step) {
  require_graphs_on(device);
  return step;
}

[[nodiscard]] inline std::function<void()> graphed_update(c10::Device device, std::function<void()> update) {
  require_graphs_on(device);
  return update;
}

#endif  // PACE_CUDA

/// The same for a step with an update. A capturable update becomes a third graph; otherwise each step calls it.
template <class... Operands>
[[nodiscard]] UpdatingStep<Operands...> graphed_step(c10::Device device, UpdatingStep<Operands...> step) {
  if (step.set_to_none)
    throw Unsupported(
        "a CUDA graph adds to gradients at fixed addresses; expected a step whose set_to_none is false before it is "
        "captured");
  UpdatingStep<Operands...> graphed{graphed_step(device, TrainingStep<Operands...>(step))};
  graphed.update = step.capturable ? graphed_update(device, std::move(step.update)) : std::move(step.update);
  graphed.capturable = step.capturable;
  graphed.restore = std::move(step.restore);
  return graphed;
}

}  // namespace pace
