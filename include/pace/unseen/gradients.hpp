// Gradients: whether backpropagation through an implementation's output gives the baseline's gradients.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <ATen/CPUGeneratorImpl.h>
#include <ATen/core/Tensor.h>
#include <ATen/core/ivalue.h>
#include <c10/core/GradMode.h>
#include <c10/util/Exception.h>
#include <torch/csrc/autograd/autograd.h>

#include "pace/base/message_parts.hpp"
#include "pace/base/spelling.hpp"
#include "pace/check/check_options.hpp"
#include "pace/check/structure.hpp"
#include "pace/check/text.hpp"
#include "pace/check/tolerance.hpp"
#include "pace/os/activity.hpp"
#include "pace/subject/around_backward.hpp"
#include "pace/subject/implementation.hpp"
#include "pace/subject/operands.hpp"
#include "pace/subject/random_state.hpp"
#include "pace/subject/write_values.hpp"
#include "pace/unseen/check.hpp"
#include "pace/unseen/oracle.hpp"
#include "pace/values/value_structure.hpp"
#include "pace/verify/expected.hpp"
#include "pace/verify/sensitivity.hpp"

namespace pace::detail {

/// Checks implementations by one untimed backward pass, from the sum of outputs times fixed random numbers.
///
/// Compares whole gradients with wide tolerances. A backward pass may round differently from its forward pass, and a
/// value near a kink (relu, max) may fall on either side. So this finds wrong or missing gradients, not wrong last
/// digits.
class Gradients final : public Check {
 public:
  /// Whether outputs compared by `options` have comparable gradients: only if their elements correspond.
  [[nodiscard]] static bool applies(const check::CheckOptions& options) {
    using Method = check::CheckOptions::Method;
    return options.check_autograd && (options.method == Method::allclose || options.method == Method::cosine ||
                                      options.method == Method::float64_reference || options.method == Method::bitwise);
  }

  /// A backward pass belongs to the last of `calls` calls in a row.
  Gradients(const Oracle& oracle, std::uint64_t seed, std::int64_t calls)
      : oracle_(oracle), operands_(oracle.operands), seed_(seed), calls_(calls) {}

  /// Takes the baseline's gradients at unseen values, at the values given, or at both. Learns nothing if the
  /// backward pass throws, or if no graph leads to an operand that requires gradients. Adds to `notes` why it throws,
  /// unless an operator has no derivative.
  void learn(std::vector<std::string>& notes) {
    Implementation& baseline = oracle_.baseline;
    try {
      const auto given = oracle_.given.clone();
      const auto others = oracle_.given.clone();
      const bool relied_on = move(others->tensors());
      learn_at(baseline, others, "unseen values of the operands");
      // A candidate may rely on special operands, and the values given may lie at a kink. Then being right at one of
      // them is enough.
      if (relied_on || learned_.empty()) learn_at(baseline, given, "the operands given");
    } catch (...) {
      if (current_failure().device != Failure::Device::fine) throw;
      learned_.clear();
    }
    operands_.restore_all(0);
    if (learned_.empty() && !baseline_throws_.empty())
      notes.push_back("Gradients were not compared: the baseline's backward pass throws: " + baseline_throws_ + '.');
  }

  /// Returns the fault of gradients behind correct outputs, as text; empty if none.
  [[nodiscard]] std::string find_fault(Implementation& implementation) override {
    std::string problem;
    for (const auto& each : learned_) {
      std::string found;
      try {
        const auto taken = at(implementation, each.values->tensors(), each.where);
        const c10::NoGradGuard no_grad;
        found = difference(each, taken.gradients);
      } catch (...) {
        const Failure failure = current_failure();
        if (failure.device != Failure::Device::fine || failure.out_of_memory) throw;
        found = "its backward pass throws, and the baseline's does not: " + failure.message;
      }
      operands_.restore_all(0);
      if (found.empty()) return {};
      if (problem.empty()) problem = add_to_reason(std::move(found), " (at " + each.where + ')');
    }
    if (!problem.empty())
      problem += "; try: if no gradients are needed, call both under " + no_grad_text() +
                 ", or switch this check off (" + check_text("check_autograd", "autograd=False") + ')';
    return problem;
  }

 private:
  struct Taken {
    /// One for each operand that requires one; undefined if no path leads to it.
    std::vector<at::Tensor> gradients = {};
    /// Whether each output tensor has a graph.
    std::vector<bool> with_graph = {};
    /// Largest root mean square of an output.
    double magnitude = 0;
  };

  struct Learned {
    std::string where;
    std::unique_ptr<OperandSet> values;
    std::vector<at::Tensor> gradients;
    /// How far rounding may move each gradient, in root mean square.
    std::vector<double> noise;
  };

  [[nodiscard]] static bool is_input(const at::Tensor& tensor) {
    return tensor.defined() && tensor.requires_grad() && tensor.is_leaf() && has_real_values(tensor);
  }

  /// Positions of the operands that require gradients.
  [[nodiscard]] std::vector<std::size_t> inputs() const {
    std::vector<std::size_t> found;
    const auto& tensors = operands_.tensors[0];
    for (std::size_t i = 0; i < tensors.size(); ++i)
      if (is_input(tensors[i])) found.push_back(i);
    return found;
  }

  /// Returns the gradients at `values`; empty if no output has a graph, or no operand requires gradients. Throws what
  /// the call or the backward pass throws.
  [[nodiscard]] Taken at(Implementation& implementation, const std::vector<at::Tensor>& values,
                         const std::string& where) const {
    const UnseenValuesInUse in_use("pace took gradients at " + where,
                                   "leave gradients out: " + check_text("check_autograd = false", "autograd=False"));
    operands_.restore_all(0);
    write_values(values, operands_.tensors[0]);
    std::vector<at::Tensor> outputs, factors, leaves;
    for (const std::size_t i : inputs()) leaves.push_back(operands_.tensors[0][i]);
    if (leaves.empty()) return {};
    reset_random_state(seed_);
    in_backward_ = false;
    c10::IValue output;
    {
      const c10::AutoGradMode as_given(gradients_);
      output = call_in_a_row(implementation, operands_, calls_);
    }
    const at::Generator generator = at::detail::createCPUGenerator(seed_ + 11);
    const auto tensors = check::detail::tensors_in_order(output);
    for (std::size_t i = 0; i < tensors.size(); ++i) {
      // A graph where the baseline has none is no fault, and contributes nothing.
      const bool counts = with_graph_.empty() || (i < with_graph_.size() && with_graph_[i]);
      if (!has_graph(tensors[i]) || !counts) continue;
      outputs.push_back(tensors[i]);
      const at::Tensor numbers =
          tensors[i]
              .new_empty(tensors[i].sizes(), at::TensorOptions().dtype(at::kDouble).device(at::kCPU))
              .normal_(0, 1, generator);
      factors.push_back(numbers.to(tensors[i].options().requires_grad(false)));
    }
    if (outputs.empty()) return {};
    Taken taken;
    in_backward_ = true;
    run_around_backward([&] {
      taken.gradients = torch::autograd::grad(outputs, leaves, factors, /*retain_graph=*/std::nullopt,
                                              /*create_graph=*/false, /*allow_unused=*/true);
    });
    in_backward_ = false;
    // For example, an embedding's sparse gradients.
    for (auto& gradient : taken.gradients)
      if (gradient.defined() && gradient.layout() != at::kStrided) gradient = gradient.to_dense();
    for (const auto& tensor : tensors) taken.with_graph.push_back(has_graph(tensor));
    const c10::NoGradGuard no_grad;
    for (const auto& tensor : outputs) taken.magnitude = std::max(taken.magnitude, rms(wide(tensor)));
    return taken;
  }

  [[nodiscard]] static bool has_graph(const at::Tensor& tensor) {
    return tensor.requires_grad() && has_real_values(tensor);
  }

  void learn_at(Implementation& baseline, const std::unique_ptr<OperandSet>& values, const std::string& where) {
    Learned made{.where = where, .values = values->clone(), .gradients = {}, .noise = {}};
    Taken taken, nearby;
    try {
      const auto moved = values->clone();
      const auto near = moved->tensors();
      shrink_slightly(near, seed_ + 12);
      taken = at(baseline, made.values->tensors(), where);
      nearby = at(baseline, near, where);
    } catch (const c10::NotImplementedError&) {
      return;
    } catch (...) {
      const Failure failure = current_failure();
      if (failure.device != Failure::Device::fine) throw;
      if (in_backward_) baseline_throws_ = failure.message;
      return;
    }
    if (taken.gradients.size() != nearby.gradients.size()) return;
    const c10::NoGradGuard no_grad;
    const auto positions = inputs();
    bool any = false;
    for (std::size_t i = 0; i < taken.gradients.size(); ++i) {
      const at::Tensor &one = taken.gradients[i], &other = nearby.gradients[i];
      any = any || one.defined();
      const double moves = one.defined() && other.defined() ? rms(wide(other).sub(wide(one))) : 0;
      // Rounding alone gives a gradient that is small beside the ratio of outputs to operands.
      const at::Tensor values_of_one = made.values->tensors().at(positions.at(i));
      const double epsilon = check::detail::precision_of(values_of_one.scalar_type()).epsilon;
      const double size = rms(wide(values_of_one));
      made.noise.push_back(moves + 8 * epsilon * std::min(1.0, size > 0 ? taken.magnitude / size : taken.magnitude));
    }
    if (!any) return;
    with_graph_ = taken.with_graph;
    made.gradients = std::move(taken.gradients);
    learned_.push_back(std::move(made));
  }

  /// Moves the operands away from kinks; by only a thousandth of their magnitude if a candidate may rely on them.
  /// Returns whether there are such.
  [[nodiscard]] bool move(const std::vector<at::Tensor>& tensors) const {
    bool special = false;
    change_values(tensors, seed_ + 13, [&](at::Tensor& values, const at::Tensor& numbers) {
      const auto structure = structure_of(values);
      const auto real = c10::toRealValueType(values.scalar_type());
      if (!structure.is_special() && !structure.zeros) {
        values.mul_(numbers.mul(0.5).add(0.5).to(real));
        return;
      }
      special = true;
      at::Tensor steps = numbers.sub(0.5);
      if (structure.symmetric) steps = steps.add(steps.transpose(-1, -2));
      steps = centred(steps, structure);
      const double epsilon = check::detail::precision_of(values.scalar_type()).epsilon;
      const double magnitude = structure.zeros ? 1 : rms(wide(values));
      values.add_(steps.mul(magnitude * std::max(0x1p-10, 4 * epsilon)).to(real));
      // Steps may lead above 0, but a logarithm of a probability does not.
      if (structure.log_probabilities) values.copy_(with_unit_rows(wide(values), structure));
    });
    return special;
  }

  [[nodiscard]] static at::Tensor wide(const at::Tensor& tensor) {
    return tensor.detach().resolve_conj().resolve_neg().to(tensor.is_complex() ? at::kComplexDouble : at::kDouble);
  }

  /// Ignores elements that are not finite.
  [[nodiscard]] static double rms(const at::Tensor& tensor) {
    const at::Tensor sizes = tensor.abs(), finite = sizes.masked_select(sizes.isfinite());
    return finite.numel() == 0 ? 0 : std::sqrt(finite.square().mean().item<double>());
  }

  /// Projects a gradient onto the structure of its operand. Elsewhere, neither outputs nor slopes need be right.
  [[nodiscard]] static at::Tensor along_structure(const at::Tensor& gradient, const at::Tensor& values) {
    const auto structure = structure_of(values);
    at::Tensor along = wide(gradient);
    if (structure.symmetric) {
      const at::Tensor turned = along.transpose(-1, -2);
      along = along.add(along.is_complex() ? turned.conj() : turned).div(2);
    }
    along = centred(along, structure);
    if (structure.unit_sums) along = along.sub(along.mean(-1, /*keepdim=*/true));
    if (structure.log_probabilities) {
      // Along this direction, the sum of the probabilities grows.
      const at::Tensor shares = wide(values).exp(), squares = shares.square().sum(-1, /*keepdim=*/true);
      along = along.sub(shares.mul(along.mul(shares).sum(-1, /*keepdim=*/true).div(squares)));
    }
    if (structure.unit_rows) {
      const at::Tensor x = wide(values);
      along = along.sub(x.mul(along.mul(x).sum(-1, /*keepdim=*/true)));
    }
    return along;
  }

  /// Returns which gradient differs from the baseline's, as text; empty if none does.
  [[nodiscard]] std::string difference(const Learned& learned, const std::vector<at::Tensor>& gradients) const {
    const auto positions = inputs();
    for (std::size_t i = 0; i < learned.gradients.size(); ++i) {
      const at::Tensor& expected = learned.gradients[i];
      if (!expected.defined()) continue;
      const std::string name = "the gradient of operand tensor " + std::to_string(positions.at(i));
      // If the baseline's gradient is zero everywhere, a missing path makes no difference.
      const bool missing = i >= gradients.size() || !gradients[i].defined();
      const at::Tensor values = learned.values->tensors().at(positions[i]).detach();
      at::Tensor e = along_structure(expected, values);
      at::Tensor a = missing ? e.mul(0) : along_structure(gradients[i], values);
      const at::Tensor finite = e.isfinite();
      e = e.masked_select(finite);
      a = a.masked_select(finite);
      if (e.numel() == 0) continue;
      const double epsilon = check::detail::precision_of(expected.scalar_type()).epsilon;
      const double size = rms(e), noise = learned.noise[i];
      const at::Tensor off = a.sub(e).abs();
      const double error = std::sqrt(off.square().mean().item<double>());  // NaN if one of `a` is
      const double allowed = std::max(0.01, 8 * epsilon) * size + 8 * noise;
      if (missing && !(error <= allowed))
        return name + " is missing: no path of the graph leads to it, and the baseline's has a root mean square of " +
               check::detail::rounded_text(size);
      if (!(error <= allowed))
        return name + " is not the baseline's: root mean square " + check::detail::rounded_text(size) + ", off by " +
               check::detail::rounded_text(error) + " (allowed " + check::detail::rounded_text(allowed) + ')';
      // A gradient that is zero but for rounding, as of a sum that cancels, has no elements to compare.
      if (size <= 8 * noise) continue;
      // A few large elements may hide that most others are wrong.
      const double near = 0.1 * check::typical_magnitude(e) + 8 * noise;
      const double share = off.gt(e.abs().mul(0.1).add(near)).to(at::kDouble).mean().item<double>();
      if (share > 0.05)
        return name + " is not the baseline's: " + check::detail::rounded_text(100 * share, 2) +
               " % of its elements differ by more than a tenth";
    }
    return {};
  }

  Oracle oracle_;
  OperandSets& operands_;
  std::uint64_t seed_;
  std::int64_t calls_;
  bool gradients_ = c10::GradMode::is_enabled();
  /// Whether each output tensor of the baseline has a graph.
  std::vector<bool> with_graph_ = {};
  std::vector<Learned> learned_ = {};
  /// What the baseline's backward pass threw; empty: nothing.
  std::string baseline_throws_ = {};
  /// Whether the backward pass runs, or has thrown.
  mutable bool in_backward_ = false;
};

}  // namespace pace::detail
