// OutputGradient: what a backward starts from where the model's output is no loss.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <utility>
#include <vector>

#include <ATen/core/Tensor.h>
#include <ATen/core/ivalue.h>

#include "pace/core/config.hpp"

namespace pace {

/// Makes the gradient of an output, of the same shape; called between forward and backward.
using GradientOf = std::function<at::Tensor(const at::Tensor& output)>;

/// Gradients of outputs: normal, drawn once for each shape by a generator of their own, and kept. So all
/// implementations start from equal ones, no other random numbers are disturbed, and a CUDA graph finds them in place.
/// Copies share what they have drawn.
class OutputGradient {
 public:
  explicit OutputGradient(std::uint64_t seed = 17);

  /// Like `output` in shape, dtype and device.
  [[nodiscard]] at::Tensor of(const at::Tensor& output) const;

  /// As TrainingStep::backward_setup: the first tensor in `output`, and its gradient unless it is a scalar, a loss.
  /// Throws Error if there is no tensor, or it needs no gradient.
  [[nodiscard]] c10::IValue operator()(const c10::IValue& output) const;

 private:
  std::uint64_t seed_;
  std::shared_ptr<std::vector<at::Tensor>> drawn_;
};

/// What a compiled backward starts from: 1 for a loss, else what OutputGradient draws.
[[nodiscard]] GradientOf gradient_of(OutputGradient gradient = OutputGradient());

/// As TrainingStep::backward: goes backward from what OutputGradient prepared, which is used up unless keep_graph() made
/// it.
void run_backward(const c10::IValue& prepared);

/// What OutputGradient prepared, as (output, gradient, true): run_backward() can go backward from it again and again.
/// Throws Error for anything but such a pair.
[[nodiscard]] c10::IValue keep_graph(const c10::IValue& prepared);

}  // namespace pace

#ifdef PACE_HEADER_ONLY
#include "pace/training/gradient-inl.hpp"
#endif
