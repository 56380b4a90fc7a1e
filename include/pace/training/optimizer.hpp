// with_optimizer: a training step with an optimiser, whose step is timed as a phase of its own.
//
//   const auto step = pace::training_step(model->parameters(), forward);
//   comparison.baseline("one by one", pace::with_optimizer(step, {.rate = 0.1}))
#pragma once

#include <cstdint>
#include <memory>
#include <type_traits>
#include <utility>
#include <vector>

#include <ATen/core/Tensor.h>

#include "pace/base/config.hpp"
#include "pace/subject/callable.hpp"
#include "pace/training/graphed_step.hpp"
#include "pace/training/implementation.hpp"
#include "pace/training/step.hpp"
#include "pace/training/training.hpp"

namespace pace {

/// Optimiser of the parameters: its formula, its code in LibTorch, its figures.
struct OptimizerOptions {
  /// The formula.
  enum class Algorithm {
    sgd,  ///< with momentum and without dampening
    adam  ///< Kingma and Ba, "Adam: A Method for Stochastic Optimization", with decay 0.9 and 0.999 and epsilon 1e-8
  };
  /// Code of LibTorch.
  enum class Code {
    single,   ///< torch::optim, one parameter after the other
    foreach,  ///< operators that take all parameters at once (at::_foreach_...)
    fused     ///< one operator for all (at::_fused_sgd_, at::_fused_adam_), always capturable
  };

  Algorithm algorithm = Algorithm::sgd;  ///< formula
  Code code = Code::single;              ///< code that computes it
  double rate = 0.01;                    ///< learning rate, at least 0
  double momentum = 0;                   ///< for sgd only, from 0 to less than 1
  double weight_decay = 0;               ///< times the parameter, added to its gradient; at least 0
  /// Whether to remove gradients before each step, so that the backward allocates them, instead of setting them to 0 in
  /// place; see TrainingStep::set_to_none.
  bool set_to_none = false;
  /// Whether the number of adam's steps is a tensor, as with capturable=True in PyTorch's Python, so that a CUDA graph
  /// of the step goes on counting. Not with Code::single, which counts on the host.
  bool capturable = false;
  /// Whether the optimiser starts as in torch::optim, and each step continues from the parameters and the state of the
  /// one before. Nothing is restored then: see UpdatingStep::restore.
  bool continues = false;
};

/// Returns whether a CUDA graph of this optimiser's step does the same as the step.
[[nodiscard]] bool is_capturable(const OptimizerOptions& options);

/// Throws Error, naming the member, if one is out of its range.
void validate(const OptimizerOptions& options);

/// Updates parameters by their gradients, and undoes it.
///
/// Unless it continues, the optimiser starts in the middle of a training: sgd with a momentum of 0, adam after 1000
/// steps with a mean of 0 and a mean of squares of 1. Adam's very first step adds plus or minus the rate, by the sign
/// of each gradient. A rounding error in a gradient near 0 could then change its parameter by twice the rate.
///
/// With Code::foreach one number of steps counts for all parameters. torch::optim counts for each parameter the steps
/// that had a gradient for it.
class Updater {
 public:
  /// `parameters` share memory with the ones to update. Throws as validate() does.
  Updater(std::vector<at::Tensor> parameters, const OptimizerOptions& options);
  Updater(const Updater&) = delete;
  Updater& operator=(const Updater&) = delete;
  ~Updater();

  /// Makes the optimiser's step. Parameters without a gradient stay unchanged.
  void step();
  /// Resets parameters in place to their values at construction, and the optimiser's state to its start. Throws Error
  /// if the optimiser continues.
  void restore();
  /// Returns the tensors beside parameters and gradients that step() reads and writes: kind by kind, each in the order
  /// of the parameters. Leaves out tensors that torch::optim allocates in its first step.
  [[nodiscard]] std::vector<at::Tensor> state() const;
  /// Returns the memory of the optimiser's state in bytes, without that for restore() and without tensors that
  /// torch::optim allocates in its first step.
  [[nodiscard]] std::int64_t state_bytes() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

/// Returns `step` with an optimiser of its parameters. Unless that continues, each step starts from the parameters'
/// present values and the same state. All steps are then alike, and the updated parameters are compared with the other
/// implementations'. Throws as validate() does.
template <class... Operands>
[[nodiscard]] UpdatingStep<Operands...> with_optimizer(TrainingStep<Operands...> step,
                                                       const OptimizerOptions& options = {}) {
  const auto updater = std::make_shared<Updater>(step.parameters, options);
  UpdatingStep<Operands...> updating{std::move(step)};
  updating.set_to_none |= options.set_to_none;
  updating.update = [updater] { updater->step(); };
  if (!options.continues) updating.restore = [updater] { updater->restore(); };
  updating.capturable = is_capturable(options);
  return updating;
}

/// Result of with_optimizer() for a training_step().
template <class F>
struct UpdatingOf {
  TrainingOf<F> step;        ///< the step without its optimiser
  OptimizerOptions options;  ///< options of its optimiser

  /// Returns an UpdatingStep with an Updater of its own. Throws as validate() does.
  template <class... Operands>
  operator UpdatingStep<Operands...>() const {  // NOLINT: this is what it is for
    return with_optimizer(static_cast<TrainingStep<Operands...>>(step), options);
  }
};

/// The same for a training_step(). Throws as validate() does.
template <class F>
[[nodiscard]] UpdatingOf<F> with_optimizer(TrainingOf<F> step, const OptimizerOptions& options = {}) {
  validate(options);
  return {std::move(step), options};
}

namespace detail {

template <class F, class... Operands>
struct ImplementationOf<UpdatingOf<F>, Operands...> {
  [[nodiscard]] static std::unique_ptr<Implementation> make(const UpdatingOf<F>& step, const OperandSets& operands) {
    return ImplementationOf<UpdatingStep<Operands...>, Operands...>::make(step, operands);
  }
  [[nodiscard]] static bool has_no_function(const UpdatingOf<F>& step) { return is_null(step.step.forward); }
  static std::vector<std::string> phases() { return updating_phases(); }
};

}  // namespace detail
}  // namespace pace

#ifdef PACE_HEADER_ONLY
#include "pace/training/optimizer-inl.hpp"
#endif
