// The common parts of all runners' steps: the backward from one tensor of the output, and the forms of compared
// outputs.
#pragma once

#include <functional>
#include <utility>

#include <ATen/Context.h>
#include <ATen/core/Tensor.h>
#include <ATen/core/ivalue.h>
#include <ATen/ops/randn_like.h>

#include "benches/rnn/draw.hpp"
#include "benches/rnn/model_def.hpp"
#include "pace/training/gradient.hpp"

namespace pace::benches::rnn {

/// cuDNN as `enabled` says while it lives, even after other runners changed it.
class CudnnSwitch {
 public:
  explicit CudnnSwitch(bool enabled) { at::globalContext().setUserEnabledCuDNN(enabled); }
  CudnnSwitch(const CudnnSwitch&) = delete;
  CudnnSwitch& operator=(const CudnnSwitch&) = delete;
  ~CudnnSwitch() { at::globalContext().setUserEnabledCuDNN(before_); }

 private:
  const bool before_ = at::globalContext().userEnabledCuDNN();
};

/// The step's forward and backward without cuDNN.
inline void disable_cudnn(Step& step) {
  step.forward = [inner = std::move(step.forward)](Stack& inputs) {
    const CudnnSwitch off(false);
    return inner(inputs);
  };
  if (!step.backward) return;
  step.backward = [inner = std::move(step.backward)](const c10::IValue& prepared) {
    const CudnnSwitch off(false);
    inner(prepared);
  };
}

[[nodiscard]] inline c10::IValue tuple(c10::IValue first, c10::IValue second) {
  return c10::ivalue::Tuple::create(std::move(first), std::move(second));
}
[[nodiscard]] inline c10::IValue tuple(c10::IValue first, c10::IValue second, c10::IValue third) {
  return c10::ivalue::Tuple::create(std::move(first), std::move(second), std::move(third));
}

/// Item `index` of a tuple.
[[nodiscard]] inline const c10::IValue& part(const c10::IValue& value, std::size_t index) {
  return value.toTupleRef().elements()[index];
}

/// Which tensor of a forward's answer the backward starts from.
using Differentiated = std::function<at::Tensor(const c10::IValue& output)>;

[[nodiscard]] inline at::Tensor first_of_pair(const c10::IValue& output) { return part(output, 0).toTensor(); }

/// The usual backward: from one tensor, with a gradient that depends on the seed and the shape alone. With
/// Sizes::original it is drawn for each step by the device's default generator, as fastrnns does.
inline void add_backward(Step& step, const Sizes& sizes, Differentiated differentiated = first_of_pair) {
  if (sizes.original) {
    step.backward_setup = [differentiated = std::move(differentiated)](const c10::IValue& output) {
      at::Tensor tensor = differentiated(output);
      at::Tensor start = at::randn_like(tensor);
      return tuple(std::move(tensor), std::move(start));
    };
  } else {
    step.backward_setup = [gradient = sizes.seed ? OutputGradient(*sizes.seed) : OutputGradient(),
                           differentiated = std::move(differentiated)](const c10::IValue& output) {
      at::Tensor tensor = differentiated(output);
      at::Tensor start = gradient.of(tensor);
      return tuple(std::move(tensor), std::move(start));
    };
  }
  step.backward = run_backward;
}

/// (output, (hy, cy)) as (output, hy, cy) with the states of the last layer, [1, batch, hidden]. A runner that goes
/// through several layers one after the other returns no others.
[[nodiscard]] inline c10::IValue output_and_last_states(const c10::IValue& answer) {
  const c10::IValue& states = part(answer, 1);
  const auto last = [](const at::Tensor& all) { return all.narrow(0, all.size(0) - 1, 1); };
  return tuple(part(answer, 0), last(part(states, 0).toTensor()), last(part(states, 1).toTensor()));
}

}  // namespace pace::benches::rnn
