// Definitions of optimizer.hpp.
#pragma once

#include "pace/training/optimizer.hpp"

#include <cmath>
#include <string>
#include <tuple>

#include <ATen/TracerMode.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/_foreach_add.h>
#include <ATen/ops/_foreach_addcdiv.h>
#include <ATen/ops/_foreach_addcmul.h>
#include <ATen/ops/_foreach_div.h>
#include <ATen/ops/_foreach_mul.h>
#include <ATen/ops/_foreach_sqrt.h>
#include <ATen/ops/_fused_adam.h>
#include <ATen/ops/_fused_sgd.h>
#include <ATen/ops/pow.h>
#include <ATen/ops/zeros.h>
#include <ATen/ops/zeros_like.h>
#include <torch/optim/adam.h>
#include <torch/optim/sgd.h>

#include "pace/base/error.hpp"

namespace pace {

namespace detail {

/// Start of adam.
inline constexpr std::int64_t adam_steps = 1000;
inline constexpr double adam_squares = 1;

inline constexpr double adam_decay = 0.9, adam_decay_of_squares = 0.999, adam_epsilon = 1e-8;

/// State of an optimiser for one parameter.
struct Kept {
  at::Tensor parameter;
  at::Tensor first_value = {};  ///< unless the optimiser continues
  at::Tensor momentum = {};     ///< sgd's buffer, adam's mean of gradients
  at::Tensor squares = {};      ///< adam's mean of squared gradients
  at::Tensor steps = {};        ///< number of steps, float32
};

/// All parameters that have gradients, as operators take them.
struct Lists {
  std::vector<at::Tensor> parameters, gradients, momentum, squares, steps;
};

}  // namespace detail

PACE_INLINE void validate(const OptimizerOptions& options) {
  const auto require = [](bool holds, const char* member, const char* expected, double found) {
    if (!holds)
      throw Error(std::string("OptimizerOptions::") + member + ": expected " + expected + ", found " +
                  std::to_string(found));
  };
  require(std::isfinite(options.rate) && options.rate >= 0, "rate", "a number of at least 0", options.rate);
  require(options.momentum >= 0 && options.momentum < 1, "momentum", "a number from 0 to less than 1",
          options.momentum);
  require(std::isfinite(options.weight_decay) && options.weight_decay >= 0, "weight_decay", "a number of at least 0",
          options.weight_decay);
  require(options.momentum == 0 || options.algorithm == OptimizerOptions::Algorithm::sgd, "momentum",
          "0 beside Algorithm::adam, which has none", options.momentum);
  require(!options.capturable || options.code != OptimizerOptions::Code::single, "capturable",
          "false beside Code::single, which counts its steps on the host", 1);
}

PACE_INLINE bool is_capturable(const OptimizerOptions& options) {
  if (options.code == OptimizerOptions::Code::single) return false;
  return options.capturable || options.code == OptimizerOptions::Code::fused ||
         options.algorithm == OptimizerOptions::Algorithm::sgd;
}

struct Updater::State {
  OptimizerOptions options;
  std::vector<detail::Kept> kept;
  /// With Code::single.
  std::unique_ptr<torch::optim::Optimizer> optimizer = {};
  /// Steps of adam with Code::foreach: on the host, or in a float64 tensor if capturable.
  std::int64_t steps = 0;
  at::Tensor steps_beside = {};

  [[nodiscard]] bool is_adam() const { return options.algorithm == OptimizerOptions::Algorithm::adam; }

  [[nodiscard]] detail::Lists lists() const {
    detail::Lists lists;
    for (const auto& each : kept) {
      if (!each.parameter.grad().defined()) continue;
      lists.parameters.push_back(each.parameter);
      lists.gradients.push_back(each.parameter.grad());
      if (each.momentum.defined()) lists.momentum.push_back(each.momentum);
      if (each.squares.defined()) lists.squares.push_back(each.squares);
      if (each.steps.defined()) lists.steps.push_back(each.steps);
    }
    return lists;
  }

  void step_foreach() {
    auto [parameters, gradients, momentum, squares, unused] = lists();
    if (steps_beside.defined())
      steps_beside.add_(1);
    else
      ++steps;
    if (parameters.empty()) return;
    if (options.weight_decay != 0) gradients = at::_foreach_add(gradients, parameters, options.weight_decay);
    // A trace does not record operators that return nothing. The foreach operators are such, except on the CPU, where
    // they call others.
    if (is_adam() && steps_beside.defined() && at::tracer::impl::is_dispatch_enabled()) {
      for (std::size_t i = 0; i < parameters.size(); ++i)
        step_of_adam(parameters[i], gradients[i], momentum[i], squares[i]);
      return;
    }
    if (!is_adam()) {
      if (options.momentum != 0) {
        at::_foreach_mul_(momentum, options.momentum);
        at::_foreach_add_(momentum, gradients);
      }
      at::_foreach_add_(parameters, options.momentum != 0 ? momentum : gradients, -options.rate);
      return;
    }
    at::_foreach_mul_(momentum, detail::adam_decay);
    at::_foreach_add_(momentum, gradients, 1 - detail::adam_decay);
    at::_foreach_mul_(squares, detail::adam_decay_of_squares);
    at::_foreach_addcmul_(squares, gradients, gradients, 1 - detail::adam_decay_of_squares);
    auto denominators = at::_foreach_sqrt(squares);
    if (steps_beside.defined()) {
      // With tensors, since a graph keeps the numbers of its capture. In the parameters' type, so that one kernel takes
      // all parameters.
      const auto type = parameters[0].scalar_type();
      at::_foreach_div_(denominators, missing(detail::adam_decay_of_squares).sqrt_().to(type));
      at::_foreach_add_(denominators, detail::adam_epsilon);
      at::_foreach_mul_(denominators, missing(detail::adam_decay).to(type));
      at::_foreach_addcdiv_(parameters, momentum, denominators, -options.rate);
      return;
    }
    const auto count = static_cast<double>(steps);
    at::_foreach_div_(denominators, std::sqrt(1 - std::pow(detail::adam_decay_of_squares, count)));
    at::_foreach_add_(denominators, detail::adam_epsilon);
    at::_foreach_addcdiv_(parameters, momentum, denominators,
                          -options.rate / (1 - std::pow(detail::adam_decay, count)));
  }

  /// The part that a mean with this decay lacks after the steps so far.
  [[nodiscard]] at::Tensor missing(double decay) const { return 1 - at::pow(decay, steps_beside); }

  /// One parameter's step, with the same formula as step_foreach().
  void step_of_adam(const at::Tensor& parameter, const at::Tensor& gradient, const at::Tensor& momentum,
                    const at::Tensor& squares) const {
    const auto type = parameter.scalar_type();
    momentum.mul_(detail::adam_decay).add_(gradient, 1 - detail::adam_decay);
    squares.mul_(detail::adam_decay_of_squares).addcmul_(gradient, gradient, 1 - detail::adam_decay_of_squares);
    const at::Tensor denominator = squares.sqrt()
                                       .div_(missing(detail::adam_decay_of_squares).sqrt_().to(type))
                                       .add_(detail::adam_epsilon)
                                       .mul_(missing(detail::adam_decay).to(type));
    parameter.addcdiv_(momentum, denominator, -options.rate);
  }

  void step_fused() {
    auto [parameters, gradients, momentum, squares, counts] = lists();
    if (parameters.empty()) return;
    if (is_adam()) {
      at::_foreach_add_(counts, 1);
      at::_fused_adam_(parameters, gradients, momentum, squares, {}, counts, options.rate, detail::adam_decay,
                       detail::adam_decay_of_squares, options.weight_decay, detail::adam_epsilon, /*amsgrad=*/false,
                       /*maximize=*/false);
    } else {
      at::_fused_sgd_(parameters, gradients, momentum, options.weight_decay, options.momentum, options.rate,
                      /*dampening=*/0, /*nesterov=*/false, /*maximize=*/false, /*is_first_step=*/false);
    }
  }

  /// Makes the state that torch::optim::Adam would make in its first step, from the tensors of `kept`.
  void make_state() const {
    for (const auto& each : kept) {
      auto state = std::make_unique<torch::optim::AdamParamState>();
      state->exp_avg(each.momentum);
      state->exp_avg_sq(each.squares);
      optimizer->state()[each.parameter.unsafeGetTensorImpl()] = std::move(state);
    }
  }

  /// Restores the state that torch::optim holds outside of the tensors of `kept`.
  void restore_single() const {
    for (auto& [key, state] : optimizer->state()) {
      if (is_adam()) {
        static_cast<torch::optim::AdamParamState&>(*state).step(detail::adam_steps);
      } else if (auto& buffer = static_cast<torch::optim::SGDParamState&>(*state).momentum_buffer(); buffer.defined()) {
        buffer.zero_();
      }
    }
  }
};

PACE_INLINE Updater::Updater(std::vector<at::Tensor> parameters, const OptimizerOptions& options)
    : state_(std::make_unique<State>(State{.options = options, .kept = {}})) {
  validate(options);
  const at::NoGradGuard values_alone;
  const bool single = options.code == OptimizerOptions::Code::single, adam = state_->is_adam();
  for (const auto& parameter : parameters) {
    detail::Kept kept{.parameter = parameter};
    if (!options.continues) kept.first_value = parameter.detach().clone();
    // torch::optim makes the state itself.
    if (single && options.continues) {
      state_->kept.push_back(std::move(kept));
      continue;
    }
    if (adam || (options.momentum != 0 && !single)) kept.momentum = at::zeros_like(parameter);
    if (adam) kept.squares = at::zeros_like(parameter);
    if (adam && options.code == OptimizerOptions::Code::fused)
      kept.steps = at::zeros({}, parameter.options().dtype(at::kFloat));
    if (adam && options.capturable && options.code == OptimizerOptions::Code::foreach &&
        !state_->steps_beside.defined())
      state_->steps_beside = at::zeros({}, parameter.options().dtype(at::kDouble));
    state_->kept.push_back(std::move(kept));
  }
  if (single && adam) {
    state_->optimizer = std::make_unique<torch::optim::Adam>(
        std::move(parameters), torch::optim::AdamOptions(options.rate)
                                   .betas(std::make_tuple(detail::adam_decay, detail::adam_decay_of_squares))
                                   .eps(detail::adam_epsilon)
                                   .weight_decay(options.weight_decay));
    if (!options.continues) state_->make_state();
  } else if (single) {
    state_->optimizer = std::make_unique<torch::optim::SGD>(
        std::move(parameters),
        torch::optim::SGDOptions(options.rate).momentum(options.momentum).weight_decay(options.weight_decay));
  }
  if (!options.continues) restore();
}

PACE_INLINE Updater::~Updater() = default;

PACE_INLINE void Updater::step() {
  const at::NoGradGuard values_alone;
  if (state_->options.code == OptimizerOptions::Code::single)
    state_->optimizer->step();
  else if (state_->options.code == OptimizerOptions::Code::foreach)
    state_->step_foreach();
  else
    state_->step_fused();
}

PACE_INLINE void Updater::restore() {
  if (state_->options.continues)
    throw Error("Updater::restore: expected an optimiser whose OptimizerOptions::continues is false");
  const at::NoGradGuard values_alone;
  state_->steps = detail::adam_steps;
  if (state_->steps_beside.defined()) state_->steps_beside.fill_(static_cast<double>(detail::adam_steps));
  for (auto& each : state_->kept) {
    each.parameter.copy_(each.first_value);
    if (each.momentum.defined()) each.momentum.zero_();
    if (each.squares.defined()) each.squares.fill_(detail::adam_squares);
    if (each.steps.defined()) each.steps.fill_(static_cast<double>(detail::adam_steps));
  }
  if (state_->optimizer) state_->restore_single();
}

PACE_INLINE std::vector<at::Tensor> Updater::state() const {
  std::vector<at::Tensor> all;
  for (const auto member : {&detail::Kept::momentum, &detail::Kept::squares, &detail::Kept::steps})
    for (const auto& each : state_->kept)
      if ((each.*member).defined()) all.push_back(each.*member);
  if (state_->steps_beside.defined()) all.push_back(state_->steps_beside);
  return all;
}

PACE_INLINE std::int64_t Updater::state_bytes() const {
  std::int64_t bytes = 0;
  for (const auto& tensor : state()) bytes += static_cast<std::int64_t>(tensor.nbytes());
  return bytes;
}

}  // namespace pace
