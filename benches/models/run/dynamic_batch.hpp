// --dynamic-batch-only: code made for one batch must answer as eager does for another.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include <ATen/core/Tensor.h>
#include <ATen/core/grad_mode.h>
#include <ATen/core/ivalue.h>
#include <ATen/core/stack.h>

#include "benches/files/aot/model_step.hpp"
#include "benches/models/run/input_tensors.hpp"
#include "benches/models/run/instance.hpp"
#include "benches/models/run/outcome.hpp"
#include "benches/models/run/step.hpp"
#include "pace/base/error.hpp"
#include "pace/check/ivalue.hpp"
#include "pace/subject/random_state.hpp"

namespace pace::benches::models {

/// Inputs of the instance's model for so many samples.
[[nodiscard]] inline torch::jit::Stack inputs_of_batch(const Instance& instance, std::int64_t size) {
  const pace::detail::RandomStateKept kept;
  InstanceOptions options = instance.options;
  options.batch_size = size;
  return make_instance(*instance.entry, options).model.inputs;
}

/// Which tensors of all inputs are batches: tensors with the batch size as their first size, which grows with it.
/// Throws Unsupported where another batch changes anything else in the inputs, or nothing.
[[nodiscard]] inline std::vector<std::size_t> batch_inputs(const Instance& instance) {
  const std::int64_t size = instance.options.batch_size;
  const auto owns = tensors_of_inputs(instance.model.inputs);
  const auto others = tensors_of_inputs(inputs_of_batch(instance, size + 1));
  if (owns.size() != others.size()) throw Unsupported("with another batch it has another number of tensors as inputs");
  std::vector<std::size_t> found;
  for (std::size_t i = 0; i < others.size(); ++i) {
    const at::Tensor &own = owns[i], &other = others[i];
    if (own.sizes() == other.sizes()) continue;
    const bool is_batch = own.dim() > 0 && own.dim() == other.dim() && own.size(0) == size &&
                          other.size(0) == size + 1 && own.sizes().slice(1) == other.sizes().slice(1);
    if (!is_batch)
      throw Unsupported("with another batch its input " + std::to_string(i) + " has other sizes than the first");
    found.push_back(i);
  }
  if (found.empty()) throw Unsupported("no input has the batch as its first size");
  return found;
}

namespace detail {

/// Empty: `made` is as near to `expected` as rounding leaves it. A deep network may lose half of the digits of float32
/// (or of a half type). Values baked in for another batch are wrong altogether.
[[nodiscard]] inline std::string far_from(const std::vector<at::Tensor>& expected, const std::vector<at::Tensor>& made,
                                          bool values) {
  if (made.size() != expected.size()) return "it returns another number of tensors than eager";
  for (std::size_t i = 0; i < made.size(); ++i) {
    const at::Tensor is = made[i].detach(), must = expected[i].detach();
    if (is.sizes() != must.sizes())
      return "output " + std::to_string(i) + " has sizes " + c10::str(is.sizes()) + ", eager's has " +
             c10::str(must.sizes());
    if (!values) continue;
    const bool half = must.scalar_type() == at::kHalf || must.scalar_type() == at::kBFloat16;
    const double tolerance = half ? 0.1 : 1e-2;
    const at::Tensor wide = must.to(at::kDouble);
    const double error = is.to(at::kDouble).sub(wide).norm().item<double>(), whole = wide.norm().item<double>();
    if (!(error <= tolerance * whole))
      return "output " + std::to_string(i) + " is off by " + c10::str(error) + " of " + c10::str(whole) + " (norms)";
  }
  return {};
}

}  // namespace detail

/// A size beside `size`, which is one of `sizes`: the next larger one, or the next smaller one of the largest.
[[nodiscard]] inline std::int64_t other_batch(std::int64_t size, const BatchRange& sizes) {
  return size <= sizes.high - sizes.step ? size + sizes.step : size - sizes.step;
}

/// Throws Unsupported unless `made` answers as eager does for `given`, a batch of `size` samples. `made` uses the
/// parameters and buffers of `instance`. If eager draws random numbers, only the sizes of the answer count.
inline void check_other_batch(const Instance& instance, const aot::ModelStep& made, std::int64_t size,
                              const torch::jit::Stack& given) {
  const pace::detail::RandomStateKept random;
  struct Answer {
    std::vector<at::Tensor> outputs;
    bool draws;
  };
  const auto answer = [&](const aot::ModelStep& step) {
    const StateKept kept(instance);
    pace::detail::reset_random_state(instance.options.seed);
    const auto before = pace::detail::random_state();
    torch::jit::Stack inputs = clone_inputs(given);
    const at::AutoGradMode with_gradients(instance.options.training);
    const c10::IValue output = step.step.forward(inputs);
    const bool draws =
        !std::ranges::equal(before, pace::detail::random_state(),
                            [](const at::Tensor& one, const at::Tensor& other) { return one.equal(other); });
    return Answer{check::tensors_of(step.step.answer ? step.step.answer(output) : output), draws};
  };
  const auto refuse = [&](const std::string& why) {
    throw Unsupported("made for a batch of " + std::to_string(instance.options.batch_size) +
                      ", it is not right for one of " + std::to_string(size) + ": " + why);
  };
  const Answer expected = answer(eager_step(instance));
  std::vector<at::Tensor> found;
  try {
    found = answer(made).outputs;
  } catch (...) {
    refuse(current_failed().message);
  }
  if (const auto problem = detail::far_from(expected.outputs, found, !expected.draws); !problem.empty())
    refuse(problem);
}

/// The same for inputs that the model's maker makes for `size` samples.
inline void check_other_batch(const Instance& instance, const aot::ModelStep& made, std::int64_t size) {
  check_other_batch(instance, made, size, inputs_of_batch(instance, size));
}

}  // namespace pace::benches::models
