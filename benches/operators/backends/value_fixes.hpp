// Values that a call needs beside its indices: values saved by its forward, probabilities, divisors.
#pragma once

#include <cmath>
#include <cstddef>
#include <initializer_list>
#include <map>
#include <string_view>

#include <ATen/core/Tensor.h>
#include <ATen/core/dispatch/Dispatcher.h>
#include <ATen/core/stack.h>
#include <ATen/ops/_log_softmax.h>
#include <ATen/ops/_softmax.h>
#include <ATen/ops/zeros_like.h>
#include <c10/util/Exception.h>

#include "benches/operators/backends/indices.hpp"
#include "benches/operators/backends/named_arguments.hpp"
#include "benches/operators/calls/operator_call.hpp"

namespace pace::benches::operators::detail {

/// A place among the results of a forward call, and the argument of the backward call that takes it.
struct Saved {
  std::size_t result;
  std::string_view argument;
};
/// An argument of the forward call that is not the backward call's of the same name.
struct Given {
  std::string_view name;
  c10::IValue value;
};

/// Puts the values that a forward call saved into the arguments of its backward call. The forward call gets the
/// arguments that both have, by name. A saved tensor of another shape than the result (empty statistics, in evaluation)
/// stays.
inline void fix_saved(const OperatorCall& call, const char* forward_name, std::initializer_list<Saved> saved,
                      std::initializer_list<Given> given = {}) {
  const c10::OperatorHandle forward = c10::Dispatcher::singleton().findSchemaOrThrow(forward_name, "");
  const NamedArguments arguments(call);
  torch::jit::Stack stack;
  for (const c10::Argument& parameter : forward.schema().arguments()) {
    const auto* other = given.begin();
    while (other != given.end() && other->name != parameter.name()) ++other;
    const BoundArgument* same = arguments.find(parameter.name());
    if (other != given.end())
      stack.push_back(other->value);
    else if (same != nullptr)
      stack.push_back(same->with(call.tensors()));
    else
      stack.push_back(parameter.default_value().value_or(c10::IValue()));
  }
  forward.callBoxed(stack);
  for (const Saved& each : saved) {
    if (!arguments.has_tensor(each.argument)) continue;
    const at::Tensor& target = arguments.tensor(each.argument);
    const at::Tensor& value = stack.at(each.result).toTensor();
    if (target.sizes() == value.sizes()) target.copy_(value);
  }
}

/// Replaces a tensor argument, or each tensor of a list, by a function of itself, if the call has it.
template <class F>
void change(const OperatorCall& call, std::string_view argument, F function) {
  for (const at::Tensor& each : NamedArguments(call).tensors(argument)) {
    const at::Tensor target = without_shared_elements(each);
    target.copy_(function(target));
  }
}

/// Random floating values lie in [-9, 9): their magnitudes as probabilities, below one as random numbers are.
inline void make_probabilities(const OperatorCall& call, std::string_view argument) {
  change(call, argument, [](const at::Tensor& x) {
    return x.is_floating_point() ? x.abs().div(9).clamp_max(1 - std::ldexp(1.0, -8)) : x;  // exact in bfloat16, too
  });
}

inline void make_positive(const OperatorCall& call, std::string_view argument) {
  change(call, argument, [](const at::Tensor& x) { return x.abs(); });
}

/// Numbers of steps: whole, from 1.
inline void make_steps(const OperatorCall& call, std::string_view argument) {
  change(call, argument, [](const at::Tensor& x) { return x.abs().floor().add(1); });
}

/// State that an optimiser keeps from step to step. Sums and means of squares are at least 0: their roots are divided
/// by.
inline void make_optimizer_state(const OperatorCall& call) {
  for (const auto* const squares : {"exp_avg_sqs", "max_exp_avg_sqs", "state_sums"}) make_positive(call, squares);
  make_steps(call, "state_steps");
  make_positive(call, "grad_scale");
  // A gradient that is not finite would end the step before it begins.
  change(call, "found_inf", [](const at::Tensor& x) { return at::zeros_like(x); });
}

/// Integers are not divided by zero.
inline void make_divisor(const OperatorCall& call) {
  change(call, "other",
         [](const at::Tensor& x) { return x.is_floating_point() || x.is_complex() ? x : x.masked_fill(x.eq(0), 1); });
}

using ValueFix = void (*)(const OperatorCall&);

/// Fixes of all values but indices, by an operator's base name. Without them most of these calls still run, but compute
/// NaN or infinities, as no training step does. Long, since it is a table.
[[nodiscard]] inline const std::map<std::string_view, ValueFix>& value_fixes() {
  constexpr ValueFix total_weight = [](const OperatorCall& c) {
    fix_saved(c, "aten::nll_loss_forward", {{1, "total_weight"}});
  };
  constexpr ValueFix total_weight_2d = [](const OperatorCall& c) {
    fix_saved(c, "aten::nll_loss2d_forward", {{1, "total_weight"}});
  };
  constexpr ValueFix running = [](const OperatorCall& c) { make_positive(c, "running_var"); };
  // Sampling positions are relative to the image: from -1 to 1.
  constexpr ValueFix grid = [](const OperatorCall& c) {
    change(c, "grid", [](const at::Tensor& x) { return x.div(9); });
  };
  constexpr ValueFix cross_entropy = [](const OperatorCall& c) {
    make_probabilities(c, "self");
    make_probabilities(c, "target");
  };
  constexpr ValueFix bernoulli = [](const OperatorCall& c) {
    make_probabilities(c, "p");
    if (c.schema().overload_name().empty()) make_probabilities(c, "self");
  };
  constexpr ValueFix weights = [](const OperatorCall& c) { make_positive(c, "self"); };
  static const std::map<std::string_view, ValueFix> fixes = {
      {"native_layer_norm_backward",
       [](const OperatorCall& c) {
         fix_saved(c, "aten::native_layer_norm", {{1, "mean"}, {2, "rstd"}}, {{"eps", 1e-5}});
       }},
      {"native_group_norm_backward",
       [](const OperatorCall& c) {
         fix_saved(c, "aten::native_group_norm", {{1, "mean"}, {2, "rstd"}}, {{"eps", 1e-5}});
       }},
      {"native_batch_norm_backward",
       [](const OperatorCall& c) {
         make_positive(c, "running_var");
         fix_saved(c, "aten::native_batch_norm", {{1, "save_mean"}, {2, "save_invstd"}},
                   {{"running_mean", {}}, {"running_var", {}}, {"training", true}, {"momentum", 0.1}});
       }},
      {"native_batch_norm", running},
      {"_native_batch_norm_legit", running},
      {"_batch_norm_with_update", running},
      {"cudnn_batch_norm", running},
      {"nll_loss_backward", total_weight},
      {"nll_loss2d_backward", total_weight_2d},
      {"_scaled_dot_product_flash_attention_for_cpu_backward",
       [](const OperatorCall& c) {
         fix_saved(c, "aten::_scaled_dot_product_flash_attention_for_cpu", {{0, "out"}, {1, "logsumexp"}});
       }},
      {"_ctc_loss_backward",
       [](const OperatorCall& c) {
         if (c.schema().overload_name().empty())
           fix_saved(c, "aten::_ctc_loss", {{0, "neg_log_likelihood"}, {1, "log_alpha"}});
       }},
      // Scores lie between -1 and 1: larger ones make nearly all of a row one element, and its gradient cancels out.
      {"_softmax_backward_data",
       [](const OperatorCall& c) {
         change(c, "output",
                [&](const at::Tensor& x) { return at::_softmax(x.div(9), c.constant("dim").toInt(), false); });
       }},
      {"_log_softmax_backward_data",
       [](const OperatorCall& c) {
         change(c, "output",
                [&](const at::Tensor& x) { return at::_log_softmax(x.div(9), c.constant("dim").toInt(), false); });
       }},
      {"tanh_backward",
       [](const OperatorCall& c) { change(c, "output", [](const at::Tensor& x) { return x.tanh(); }); }},
      {"sigmoid_backward",
       [](const OperatorCall& c) { change(c, "output", [](const at::Tensor& x) { return x.sigmoid(); }); }},
      {"_fused_adam", make_optimizer_state},
      {"_fused_adamw", make_optimizer_state},
      {"_fused_adagrad", make_optimizer_state},
      {"_fused_sgd", make_optimizer_state},
      {"_foreach_sqrt", [](const OperatorCall& c) { make_positive(c, "self"); }},
      {"_foreach_div", make_divisor},
      {"grid_sampler_2d", grid},
      {"grid_sampler_3d", grid},
      {"grid_sampler_2d_backward", grid},
      {"grid_sampler_3d_backward", grid},
      {"binary_cross_entropy", cross_entropy},
      {"binary_cross_entropy_backward", cross_entropy},
      {"bernoulli", bernoulli},
      {"multinomial", weights},
      {"poisson", weights},
      {"bincount", weights},
      {"normal", [](const OperatorCall& c) { make_positive(c, "std"); }},
      {"repeat_interleave", [](const OperatorCall& c) { make_positive(c, "repeats"); }},
      {"div", make_divisor},
      {"floor_divide", make_divisor},
      {"remainder", make_divisor},
      {"fmod", make_divisor},
      {"pow",
       [](const OperatorCall& c) {
         change(c, "exponent", [](const at::Tensor& x) {  // no integer has a negative power
           return x.is_floating_point() || x.is_complex() ? x : x.abs();
         });
       }},
  };
  return fixes;
}

}  // namespace pace::benches::operators::detail
