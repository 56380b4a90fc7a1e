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

/// Returns the gradient of an output, in the same shape; called between forward and backward.
using GradientOf = std::function<at::Tensor(const at::Tensor& output)>;

/// Random normal gradients of outputs, drawn once per shape, dtype and device and then kept. So all implementations
/// start from equal gradients, and a CUDA graph finds them at a fixed address. They have their own generator, which
/// leaves other random numbers unchanged. Copies share the gradients.
class OutputGradient {
 public:
  /// Draws gradients with this seed; equal seeds give equal gradients.
  explicit OutputGradient(std::uint64_t seed = 17);

  /// Returns a gradient of the shape, dtype and device of `output`: the same tensor for each of these.
  [[nodiscard]] at::Tensor of(const at::Tensor& output) const;

  /// A TrainingStep::backward_setup: returns the first tensor in `output` with its gradient, undefined for a scalar (a
  /// loss). Throws Error if there is no tensor, or if it requires no gradient.
  [[nodiscard]] c10::IValue operator()(const c10::IValue& output) const;

 private:
  std::uint64_t seed_;
  std::shared_ptr<std::vector<at::Tensor>> drawn_;
};

/// Returns a function for the start of a compiled backward. It returns 1 for a scalar (a loss), else a gradient drawn
/// by `gradient`.
[[nodiscard]] GradientOf gradient_of(OutputGradient gradient = OutputGradient());

/// A TrainingStep::backward: runs the backward pass from an output and its gradient, as OutputGradient returns them.
/// Frees the graph unless `prepared` comes from keep_graph().
void run_backward(const c10::IValue& prepared);

/// Returns (output, gradient, true) for a pair (output, gradient) from OutputGradient. run_backward() then keeps the
/// graph and can run several times. Throws Error for anything but a pair.
[[nodiscard]] c10::IValue keep_graph(const c10::IValue& prepared);

}  // namespace pace

#ifdef PACE_HEADER_ONLY
#include "pace/training/gradient-inl.hpp"
#endif
