// cuda_graph: captures a callable into a CUDA graph and replays it.
#pragma once

#include <ATen/core/Tensor.h>
#include <ATen/core/ivalue.h>

#include <algorithm>
#include <list>
#include <memory>
#include <optional>
#include <tuple>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "pace/check/ivalue.hpp"
#include "pace/gpu/capture.hpp"
#include "pace/gpu/cuda/device.hpp"
#include "pace/gpu/owned.hpp"

namespace pace::cuda {

/// A functor that runs a callable as a CUDA graph.
///
/// The first call with given operands runs the callable on the capture stream, on which libraries allocate their
/// workspaces, and then captures a second call, which runs nothing on the device; later calls with the same operands
/// launch that graph. Operands are the same if their tensors have the same addresses: nothing is copied, and the graph
/// reads the present values. A launch writes to the output tensors of the capture, which every call returns; a caller
/// must clone a value to keep it, and a comparison declares that by .reuses_outputs(). Copies of the functor share
/// their graphs.
template <class F>
class CudaGraphed {
 public:
  /// Captures `function` on `device`, which must outlive the functor and its copies.
  CudaGraphed(CudaDevice& device, F function) : state_(std::make_shared<State>(device, std::move(function))) {}

  /// Runs the callable, or launches its graph, on the current stream. Throws if the callable cannot be captured.
  template <class... Operands>
  auto operator()(Operands&... operands) const {
    using Returned = std::invoke_result_t<F&, Operands&...>;
    using Kept = std::conditional_t<std::is_void_v<Returned>, std::monostate, std::decay_t<Returned>>;
    State& state = *state_;
    CudaDevice& device = state.device;
    state.key.clear();
    (collect(operands, state.key), ...);
    auto found = std::ranges::find(state.entries, state.key, &Entry::key);
    if (found != state.entries.end()) {
      device.launch(found->graph->get(), device.current_stream());
      if constexpr (!std::is_void_v<Returned>)
        return Kept(*std::static_pointer_cast<Kept>(found->output));
      else
        return;
    }
    const auto call = [&]() -> Kept {
      if constexpr (std::is_void_v<Returned>)
        return state.function(operands...), std::monostate{};
      else
        return state.function(operands...);
    };
    const auto side = device.capture_stream();
    device.synchronise();
    // This is the work of this call: another call would change operands to which the callable writes twice.
    Kept first = [&] {
      const gpu::OnStream<CudaDevice> on(device, side);
      return call();
    }();
    device.synchronise();
    Entry entry;
    entry.key = state.key;
    auto output = std::make_shared<Kept>();
    entry.graph.emplace(gpu::capture(device, side, [&] { *output = call(); }));
    entry.output = std::move(output);
    state.entries.push_back(std::move(entry));
    if constexpr (!std::is_void_v<Returned>) return first;
  }

  /// Number of graphs so far.
  [[nodiscard]] std::size_t graphs() const { return state_->entries.size(); }

 private:
  struct Entry {
    std::vector<const void*> key;
    std::optional<gpu::Owned<CudaDevice, CudaDevice::Graph>> graph;
    // Destroyed first: when the graph then frees its memory, no tensor uses it any more.
    std::shared_ptr<void> output;
  };
  struct State {
    State(CudaDevice& device, F function) : device(device), function(std::move(function)) {}
    CudaDevice& device;
    F function;
    std::list<Entry> entries;
    std::vector<const void*> key;
  };

  static void collect(const at::Tensor& tensor, std::vector<const void*>& key) {
    key.push_back(tensor.defined() ? tensor.const_data_ptr() : nullptr);
  }
  template <class T>
  static void collect(const T& operand, std::vector<const void*>& key) {
    if constexpr (!std::is_arithmetic_v<T>)
      for (const auto& tensor : check::tensors_of(to_ivalue(operand))) collect(tensor, key);
  }

  std::shared_ptr<State> state_;
};

/// Returns a functor that runs `function` as a CUDA graph. `device` must outlive it.
template <class F>
[[nodiscard]] CudaGraphed<F> cuda_graph(CudaDevice& device, F function) {
  return {device, std::move(function)};
}

}  // namespace pace::cuda
