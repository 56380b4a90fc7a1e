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
#include <ATen/core/ivalue.h>

#include "pace/base/config.hpp"
#include "pace/subject/callable.hpp"
#include "pace/subject/implementation.hpp"
#include "pace/subject/operands.hpp"
#include "pace/timing/phases.hpp"
#include "pace/training/step.hpp"

namespace pace::detail {

/// A TrainingStep or an UpdatingStep without the types of its operands; `update` is empty for a TrainingStep.
struct AnyTrainingStep {
  std::function<c10::IValue(OperandSet&)> forward;
  std::vector<at::Tensor> parameters;
  std::function<c10::IValue(const c10::IValue& output)> backward_setup;
  std::function<void(const c10::IValue& prepared)> backward;
  std::function<c10::IValue(const c10::IValue& output)> answer;
  std::function<std::vector<at::Tensor>()> gradients;
  bool set_to_none = false;
  std::function<void()> update;
  std::function<void()> restore;
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
          .set_to_none = step.set_to_none,
          .update = {},
          .restore = {}};
}

/// A training step as an Implementation. A call is a whole step and returns a tuple of the answer and all gradients,
/// and of all parameters where `restore` makes every step the same. In timed iterations, forward, backward and the
/// update (if there is one) are phases; freeing the output of the last step, zeroing its gradients, restoring the
/// parameters and preparing the backward take place between them.
class TrainingImplementation final : public Implementation {
 public:
  TrainingImplementation(AnyTrainingStep step, const OperandSets& operands);

  /// Leaves what take_output() returns as it is.
  c10::IValue call(std::size_t set) override;
  /// Returns copies, since the next step writes to the same gradients.
  c10::IValue take_output() override;
  void expect_outputs_like(const c10::IValue& answer) override;
  void run(std::size_t set, std::int64_t iterations) override;
  void prepare(std::size_t set) override;
  /// Returns the output of a captured step, detached from the autograd graph, and the gradients where the backward
  /// allocates them.
  std::shared_ptr<void> keep_output() override;
  void put_back_output(const std::shared_ptr<void>& output) override;
  /// Does not move the gradients, whose parameters belong to this step alone.
  void finish() override;
  [[nodiscard]] timing::Phases* phases() override { return &phases_; }

 private:
  void forget();
  void iterate(std::size_t set);
  /// Moves out a copy of what the last step has left: its answer and all gradients.
  [[nodiscard]] c10::IValue answer();

  AnyTrainingStep step_;
  timing::Phases phases_;
  /// The output of the last step and, once its sample is finished, a copy of it.
  c10::IValue output_, prepared_;
  /// The answer of the last timed step, if calls were made since then.
  c10::IValue timed_answer_;
};

template <class Own, class... Operands>
  requires std::is_base_of_v<TrainingStep<Operands...>, Own>
struct ImplementationOf<Own, Operands...> {
  [[nodiscard]] static std::unique_ptr<Implementation> make(const Own& step, const OperandSets& operands) {
    AnyTrainingStep any = any_step<Operands...>(step);
    if constexpr (std::is_base_of_v<UpdatingStep<Operands...>, Own>) {
      any.update = step.update;
      any.restore = step.restore;
    }
    return std::make_unique<TrainingImplementation>(std::move(any), operands);
  }
  [[nodiscard]] static bool has_no_function(const Own& step) { return is_null(step.forward); }
  static std::vector<std::string> phases() {
    return std::is_base_of_v<UpdatingStep<Operands...>, Own> ? updating_phases() : training_phases();
  }
};

}  // namespace pace::detail

#ifdef PACE_HEADER_ONLY
#include "pace/training/implementation-inl.hpp"
#endif
