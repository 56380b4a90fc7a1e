// TrainingImplementation: a training step, prepared for checks and for the timed loop.
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

/// A TrainingStep or an UpdatingStep without its operands' types; `update` is empty for a TrainingStep.
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
/// with `restore` also of all parameters. Forward, backward and the update, if any, are phases of timed iterations.
/// Between them we free the last output, clear the gradients, restore the parameters and prepare the backward.
class TrainingImplementation final : public Implementation {
 public:
  TrainingImplementation(AnyTrainingStep step, const OperandSets& operands);

  /// Leaves the value of take_output() unchanged.
  c10::IValue call(std::size_t set) override;
  /// Returns copies, since the next step overwrites the gradients.
  c10::IValue take_output() override;
  void expect_outputs_like(const c10::IValue& answer) override;
  void run(std::size_t set, std::int64_t iterations) override;
  void prepare(std::size_t set) override;
  /// Returns the output of a captured step, detached from the autograd graph, and the gradients if the backward
  /// allocates them.
  std::shared_ptr<void> keep_output() override;
  void put_back_output(const std::shared_ptr<void>& output) override;
  /// Does not move the gradients: their parameters belong to this step alone.
  void finish() override;
  [[nodiscard]] timing::Phases* phases() override { return &phases_; }

 private:
  void forget();
  void iterate(std::size_t set);
  /// Moves out a copy of the last step's answer and gradients.
  [[nodiscard]] c10::IValue answer();

  AnyTrainingStep step_;
  timing::Phases phases_;
  /// Output of the last step; a copy of it once its sample is finished.
  c10::IValue output_, prepared_;
  /// Answer of the last timed step, if calls followed it.
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
