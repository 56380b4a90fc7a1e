// TrainingImplementation: a training step, prepared for checking and for the timed loop.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include <ATen/core/Tensor.h>
#include <ATen/core/grad_mode.h>
#include <ATen/core/ivalue.h>
#include <ATen/ops/zeros_like.h>

#include "pace/check/clone.hpp"
#include "pace/check/ivalue.hpp"
#include "pace/check/poison.hpp"
#include "pace/compare/callable.hpp"
#include "pace/compare/implementation.hpp"
#include "pace/compare/operands.hpp"
#include "pace/timing/phases.hpp"
#include "pace/training/step.hpp"

namespace pace::detail {

/// A TrainingStep or an UpdatingStep of any operands. An empty update is none.
struct AnyTrainingStep {
  std::function<c10::IValue(OperandSet&)> forward;
  std::vector<at::Tensor> parameters;
  std::function<c10::IValue(const c10::IValue& output)> backward_setup;
  std::function<void(const c10::IValue& prepared)> backward;
  std::function<c10::IValue(const c10::IValue& output)> answer;
  std::function<std::vector<at::Tensor>()> gradients;
  std::function<void()> update;
};

template <class... Operands>
[[nodiscard]] AnyTrainingStep any_step(const std::type_identity_t<TrainingStep<Operands...>>& step) {
  return {.forward =
              [forward = step.forward](OperandSet& operands) {
                return std::apply(forward, static_cast<TypedOperands<Operands...>&>(operands).values);
              },
          .parameters = step.parameters,
          .backward_setup = step.backward_setup,
          .backward = step.backward,
          .answer = step.answer,
          .gradients = step.gradients,
          .update = {}};
}

/// A call is a whole step; it returns the pair of the answer and all gradients. In timed iterations forward and backward
/// (and the update, where there is one) are phases; freeing what the last step left, zeroing its gradients and preparing the backward happen between them.
class TrainingImplementation final : public Implementation {
 public:
  TrainingImplementation(AnyTrainingStep step, const OperandSets& operands)
      : Implementation(operands),
        step_(std::move(step)),
        phases_(step_.update ? updating_phases() : training_phases()) {}

  c10::IValue call(std::size_t set, const std::function<void()>& returned) override {
    announce();
    iterate(set);
    if (returned) returned();
    return take_output();
  }

  /// Copies: the next step writes to the same gradients.
  c10::IValue take_output() override {
    if (output_.isNone()) return {};
    const at::NoGradGuard values_alone;
    std::vector<at::Tensor> gradients;
    if (step_.gradients) {
      gradients = step_.gradients();
    } else {
      for (const auto& parameter : step_.parameters)
        gradients.push_back(parameter.grad().defined() ? parameter.grad() : at::zeros_like(parameter));
    }
    auto answer = check::clone_ivalue(c10::ivalue::Tuple::create(
        {step_.answer ? step_.answer(output_) : output_, c10::IValue(std::move(gradients))}));
    forget();
    return answer;
  }

  void expect_outputs_like(const c10::IValue& answer) override {
    // Gradients have memory that stays; the first element is what forward returned.
    Implementation::expect_outputs_like(answer.toTupleRef().elements()[0]);
  }

  void run(std::size_t set, std::int64_t iterations) override {
    try {
      for (std::int64_t i = 0; i < iterations; ++i) iterate(set);
    } catch (...) {
      failed();
    }
  }

  void prepare(std::size_t set) override {
    forget();
    start(set);
  }

  /// What a captured step answered, without the graph of its calls.
  std::shared_ptr<void> keep_output() override {
    c10::IValue output = detached(output_);
    forget();
    return captured(std::move(output));
  }

  void put_back_output(const std::shared_ptr<void>& output) override {
    const at::NoGradGuard values_alone;
    output_ = replayed(output);
    // A replay that does nothing must not pass with the gradients of an earlier one either.
    for (const auto& parameter : step_.parameters)
      if (parameter.grad().defined()) check::poison_(parameter.mutable_grad());
  }

  /// The gradients stay: the parameters that they belong to are the step's own.
  void finish() override {
    if (output_.isNone()) return;
    try {
      prepared_ = {};
      output_ = copy_of(detached(std::exchange(output_, {})));
    } catch (...) {
      failed();
    }
  }

  [[nodiscard]] timing::Phases* phases() override { return &phases_; }

 private:
  void forget() {
    prepared_ = {};
    output_ = {};
  }

  void iterate(std::size_t set) {
    forget();
    zero_gradients(step_.parameters);
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

  /// The same values in the same structure, which hold no graph.
  static c10::IValue detached(const c10::IValue& value) {
    if (value.isTensor()) return value.toTensor().defined() ? value.toTensor().detach() : value;
    if (value.isTuple()) {
      std::vector<c10::IValue> elements;
      for (const auto& element : value.toTupleRef().elements()) elements.push_back(detached(element));
      return c10::ivalue::Tuple::create(std::move(elements));
    }
    if (value.isList()) {
      // A copy has the list's type of elements, which what reads the answer may ask for.
      auto list = value.toList().copy();
      for (std::size_t i = 0; i < list.size(); ++i) list.set(i, detached(list.get(i)));
      return list;
    }
    return value;
  }

  AnyTrainingStep step_;
  timing::Phases phases_;
  /// What the last step answered, until its sample is finished; from then on a copy of it.
  c10::IValue output_, prepared_;
};

template <class Own, class... Operands>
  requires std::is_base_of_v<TrainingStep<Operands...>, Own>
struct ImplementationOf<Own, Operands...> {
  [[nodiscard]] static std::unique_ptr<Implementation> make(const Own& step, const OperandSets& operands) {
    AnyTrainingStep any = any_step<Operands...>(step);
    if constexpr (std::is_base_of_v<UpdatingStep<Operands...>, Own>) any.update = step.update;
    return std::make_unique<TrainingImplementation>(std::move(any), operands);
  }
  static std::vector<std::string> phases() {
    return std::is_base_of_v<UpdatingStep<Operands...>, Own> ? updating_phases() : training_phases();
  }
};

}  // namespace pace::detail
