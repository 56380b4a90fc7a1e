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

/// Which optimiser updates the parameters, by which code of LibTorch, and with which figures.
struct OptimizerOptions {
  /// The formula.
  enum class Algorithm {
    sgd,  ///< with momentum and without dampening
    adam  ///< Kingma and Ba, "Adam: A Method for Stochastic Optimization", with decay 0.9 and 0.999 and epsilon 1e-8
  };
  /// What of LibTorch computes it.
  enum class Code {
    single,   ///< torch::optim, one parameter after the other
    foreach,  ///< operators that take all parameters at once (at::_foreach_...)
    fused     ///< one operator for all (at::_fused_sgd_, at::_fused_adam_), which is capturable always
  };

  Algorithm algorithm = Algorithm::sgd;  ///< which formula
  Code code = Code::single;              ///< what computes it
  double rate = 0.01;                    ///< learning rate, at least 0
  double momentum = 0;                   ///< of sgd alone, from 0 to less than 1
  double weight_decay = 0;               ///< times the parameter, added to its gradient; at least 0
  /// Whether gradients are taken away before each step, so that the backward allocates them, instead of set to 0 in
  /// place; see TrainingStep::set_to_none.
  bool set_to_none = false;
  /// Whether the number of adam's steps is a tensor beside the parameters, as with capturable=True in PyTorch's Python,
  /// so that a CUDA graph of the step counts on. Not with Code::single, which counts on the host.
  bool capturable = false;
  /// Whether the optimiser begins as a new one of torch::optim does, and each step goes on from the parameters and the
  /// state that the one before it has left. Nothing is put back then: see UpdatingStep::restore.
  bool continues = false;
};

/// Returns whether a CUDA graph of the step of such an optimiser does what the step does.
[[nodiscard]] bool is_capturable(const OptimizerOptions& options);

/// Throws Error that names the member out of its range.
void validate(const OptimizerOptions& options);

/// Updates parameters by their gradients, and undoes it.
///
/// Unless it continues, the optimiser starts in the middle of a training: sgd with a momentum of 0, adam after 1000
/// steps with a mean of 0 and a mean of squares of 1. The first step of a new adam would add plus or minus the rate, by
/// the sign of each gradient, so that a rounding error of a gradient near 0 would change the parameter by twice the
/// rate.
///
/// With Code::foreach one number of steps counts for all parameters; torch::optim counts for each the steps in which it
/// had a gradient.
class Updater {
 public:
  /// `parameters` share memory with the ones that are updated. Throws what validate() throws.
  Updater(std::vector<at::Tensor> parameters, const OptimizerOptions& options);
  Updater(const Updater&) = delete;
  Updater& operator=(const Updater&) = delete;
  ~Updater();

  /// Makes the optimiser's step. Parameters without a gradient stay as they are.
  void step();
  /// Sets parameters in place to the values that they had when the Updater was made, and the optimiser's state to that
  /// at the start. Throws Error if the optimiser continues.
  void restore();
  /// Returns the tensors beside parameters and gradients that step() reads and writes: one kind after the other, each
  /// in the order of the parameters. None of what torch::optim's classes allocate in their first step is among them.
  [[nodiscard]] std::vector<at::Tensor> state() const;
  /// Returns how much memory the optimiser's state takes, in bytes, without what restore() needs and without what
  /// torch::optim's classes allocate in their first step.
  [[nodiscard]] std::int64_t state_bytes() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

/// Returns `step` with an optimiser of its parameters. Unless the optimiser continues, each step starts from the
/// parameters' present values and the state of a new Updater, so that all steps are alike, and what the parameters are
/// after the update is compared with the other implementations'. Throws what validate() throws.
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

/// The result of with_optimizer() for a training_step().
template <class F>
struct UpdatingOf {
  TrainingOf<F> step;        ///< the step without its optimiser
  OptimizerOptions options;  ///< of its optimiser

  /// Returns an UpdatingStep with an Updater of its own. Throws what validate() throws.
  template <class... Operands>
  operator UpdatingStep<Operands...>() const {  // NOLINT: this is what it is for
    return with_optimizer(static_cast<TrainingStep<Operands...>>(step), options);
  }
};

/// As above for a training_step(). Throws what validate() throws.
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
