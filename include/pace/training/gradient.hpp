// OutputGradient: the gradient that a backward pass starts from if the model's output is not a loss.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <utility>
#include <vector>

#include <ATen/core/Tensor.h>
#include <ATen/core/ivalue.h>

#include "pace/base/config.hpp"

namespace pace {

/// A function that returns the gradient of an output, of the same shape; called between forward and backward.
using GradientOf = std::function<at::Tensor(const at::Tensor& output)>;

/// Random normal gradients of outputs. They are drawn once for each shape, dtype and device by a generator of their own
/// and kept, so that all implementations start from equal gradients, no other random numbers change, and a CUDA graph
/// finds them at a fixed address. Copies share the drawn gradients.
class OutputGradient {
 public:
  /// Draws gradients with this seed; equal seeds give equal gradients.
  explicit OutputGradient(std::uint64_t seed = 17);

  /// Returns a gradient of the shape, dtype and device of `output`, the same tensor for each of these.
  [[nodiscard]] at::Tensor of(const at::Tensor& output) const;

  /// A TrainingStep::backward_setup: returns the pair of the first tensor in `output` and its gradient, which is
  /// undefined if that tensor is a scalar, a loss. Throws Error if there is no tensor, or if it requires no gradient.
  [[nodiscard]] c10::IValue operator()(const c10::IValue& output) const;

 private:
  std::uint64_t seed_;
  std::shared_ptr<std::vector<at::Tensor>> drawn_;
};

/// Returns a function for the start of a compiled backward: it returns 1 for a scalar, a loss, and otherwise a gradient
/// that `gradient` draws.
[[nodiscard]] GradientOf gradient_of(OutputGradient gradient = OutputGradient());

/// A TrainingStep::backward: runs the backward pass from an output and its gradient, as OutputGradient returns them. It
/// frees the graph unless `prepared` comes from keep_graph().
void run_backward(const c10::IValue& prepared);

/// Returns (output, gradient, true) for a pair (output, gradient), as OutputGradient returns it: run_backward() then
/// keeps the graph, so that it can run several times. Throws Error for a value other than a pair.
[[nodiscard]] c10::IValue keep_graph(const c10::IValue& prepared);

}  // namespace pace

#ifdef PACE_HEADER_ONLY
#include "pace/training/gradient-inl.hpp"
#endif
