// graphed_step: a training step as two CUDA graphs, one of its forward and one of its backward.
#pragma once

#include <memory>
#include <utility>

#include "pace/core/error.hpp"
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
#include "pace/compare/operands.hpp"
#include "pace/gpu/capture.hpp"
#include "pace/gpu/cuda/device.hpp"
#include "pace/gpu/owned.hpp"
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
    // Destroyed first: the graphs give back what nothing lies in any more.
    c10::IValue output = {};
    /// What the backward reads, which must stay where it is.
    c10::IValue prepared = {};
  };

  void launch(std::optional<Graph>& graph) {
    if (graph) device_.launch(graph->get(), device_.current_stream());
  }

  /// A whole step first, on a stream apart, where libraries make their workspaces and the gradients get the memory that
  /// the graph will add to.
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
        // The graph of calls is recorded on the stream of the capture, and so is whatever it is prepared by.
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

}  // namespace detail

/// The same step, whose forward and backward are captured once for given operands and launched from then on: what a loop
/// of short kernels costs without the host. "The same operands" are tensors at the same addresses. What backward_setup
/// makes is made once. Throws, in its first forward, what says why a step cannot be captured.
template <class... Operands>
[[nodiscard]] TrainingStep<Operands...> graphed_step(c10::Device device, TrainingStep<Operands...> step) {
  if (!device.is_cuda())
    throw Unsupported("a CUDA graph holds what a GPU does; expected operands on one, not on " + device.str());
  auto graphed = std::make_shared<detail::GraphedStep<Operands...>>(device.has_index() ? device.index() : 0, step);
  const bool trains = static_cast<bool>(step.backward);
  step.forward = [graphed](Operands&... operands) { return graphed->forward(operands...); };
  step.backward_setup = {};
  if (trains) step.backward = [graphed](const c10::IValue&) { graphed->backward(); };
  return step;
}

#else

template <class... Operands>
[[nodiscard]] TrainingStep<Operands...> graphed_step(c10::Device, TrainingStep<Operands...>) {
  throw Unsupported("this program was built without CUDA: build it with --config=cuda");
}

#endif  // PACE_CUDA

}  // namespace pace
