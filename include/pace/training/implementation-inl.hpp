// Definitions of implementation.hpp.
#pragma once

#include "pace/training/implementation.hpp"

#include <ATen/core/grad_mode.h>
#include <ATen/ops/zeros_like.h>

#include "pace/check/clone.hpp"
#include "pace/check/ivalue.hpp"
#include "pace/check/poison.hpp"

namespace pace::detail {

/// The same values in the same structure, detached from the autograd graph.
[[nodiscard]] inline c10::IValue detached(const c10::IValue& value) {
  if (value.isTensor()) return value.toTensor().defined() ? value.toTensor().detach() : value;
  if (value.isTuple()) {
    std::vector<c10::IValue> elements;
    for (const auto& element : value.toTupleRef().elements()) elements.push_back(detached(element));
    return c10::ivalue::Tuple::create(std::move(elements));
  }
  if (value.isList()) {
    // A copy keeps the list's element type, which readers of the answer may depend on.
    auto list = value.toList().copy();
    for (std::size_t i = 0; i < list.size(); ++i) list.set(i, detached(list.get(i)));
    return list;
  }
  return value;
}

PACE_INLINE TrainingImplementation::TrainingImplementation(AnyTrainingStep step, const OperandSets& operands)
    : Implementation(operands), step_(std::move(step)), phases_(step_.update ? updating_phases() : training_phases()) {}

PACE_INLINE c10::IValue TrainingImplementation::call(std::size_t set) {
  announce();
  // This step overwrites the gradients of the last timed one.
  if (!output_.isNone()) timed_answer_ = answer();
  iterate(set);
  return answer();
}

PACE_INLINE c10::IValue TrainingImplementation::take_output() {
  c10::IValue before_calls = std::exchange(timed_answer_, {});
  return before_calls.isNone() ? answer() : before_calls;
}

PACE_INLINE c10::IValue TrainingImplementation::answer() {
  if (output_.isNone()) return {};
  const at::NoGradGuard values_alone;
  std::vector<at::Tensor> gradients;
  if (step_.gradients) {
    gradients = step_.gradients();
  } else {
    for (const auto& parameter : step_.parameters)
      gradients.push_back(parameter.grad().defined() ? parameter.grad() : at::zeros_like(parameter));
  }
  std::vector<c10::IValue> parts{step_.answer ? step_.answer(output_) : output_, c10::IValue(std::move(gradients))};
  if (step_.restore) {
    std::vector<at::Tensor> updated;
    for (const auto& parameter : step_.parameters) updated.push_back(parameter.detach());
    parts.emplace_back(std::move(updated));
  }
  auto copied = check::clone_ivalue(c10::ivalue::Tuple::create(std::move(parts)));
  forget();
  return copied;
}

PACE_INLINE void TrainingImplementation::expect_outputs_like(const c10::IValue& answer) {
  // The gradients keep their memory; the first element is the output of forward.
  Implementation::expect_outputs_like(answer.toTupleRef().elements()[0]);
}

PACE_INLINE void TrainingImplementation::run(std::size_t set, std::int64_t iterations) {
  timed_answer_ = {};
  try {
    for (std::int64_t i = 0; i < iterations; ++i) iterate(set);
  } catch (...) {
    failed();
  }
}

PACE_INLINE void TrainingImplementation::prepare(std::size_t set) {
  timed_answer_ = {};
  forget();
  start(set);
}

PACE_INLINE std::shared_ptr<void> TrainingImplementation::keep_output() {
  c10::IValue output = detached(output_);
  forget();
  if (step_.set_to_none) {
    std::vector<at::Tensor> gradients;
    std::vector<std::int64_t> positions;
    for (std::size_t i = 0; i < step_.parameters.size(); ++i) {
      if (!step_.parameters[i].grad().defined()) continue;
      gradients.push_back(step_.parameters[i].grad());
      positions.push_back(static_cast<std::int64_t>(i));
    }
    output = c10::ivalue::Tuple::create(
        {std::move(output), c10::IValue(std::move(gradients)), c10::IValue(std::move(positions))});
  }
  return captured(std::move(output));
}

PACE_INLINE void TrainingImplementation::put_back_output(const std::shared_ptr<void>& output) {
  const at::NoGradGuard values_alone;
  output_ = replayed(output);
  if (step_.set_to_none) {
    const c10::IValue kept = std::exchange(output_, {});
    const auto& parts = kept.toTupleRef().elements();
    output_ = parts[0];
    const auto gradients = parts[1].toTensorVector();
    const auto positions = parts[2].toIntVector();
    for (std::size_t i = 0; i < gradients.size(); ++i)
      step_.parameters[static_cast<std::size_t>(positions[i])].mutable_grad() = gradients[i];
  }
  // A replay that does nothing must not pass with an earlier replay's gradients or parameters.
  if (step_.restore) step_.restore();
  for (const auto& parameter : step_.parameters)
    if (parameter.grad().defined()) check::poison_(parameter.mutable_grad());
}

PACE_INLINE void TrainingImplementation::finish() {
  if (output_.isNone()) return;
  try {
    prepared_ = {};
    output_ = copy_of(detached(std::exchange(output_, {})));
  } catch (...) {
    failed();
  }
}

PACE_INLINE void TrainingImplementation::forget() {
  prepared_ = {};
  output_ = {};
}

PACE_INLINE void TrainingImplementation::iterate(std::size_t set) {
  forget();
  if (step_.set_to_none)
    remove_gradients(step_.parameters);
  else
    zero_gradients(step_.parameters);
  if (step_.restore) step_.restore();
  const at::AutoGradMode with_gradients(static_cast<bool>(step_.backward));
  phases_.begin(0);
  output_ = step_.forward(*operands().sets[set]);
  phases_.end(0);
  prepared_ = step_.backward && step_.backward_setup ? step_.backward_setup(output_) : output_;
  phases_.begin(1);
  if (step_.backward) step_.backward(prepared_);
  phases_.end(1);
  if (!step_.update) return;
  phases_.begin(2);
  step_.update();
  phases_.end(2);
}

}  // namespace pace::detail
