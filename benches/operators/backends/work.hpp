// Work of an operator call: the bytes that it must move, and the floating-point operations that it is counted as.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <numeric>
#include <optional>
#include <string_view>
#include <vector>

#include <ATen/core/Tensor.h>
#include <ATen/core/enum_tag.h>
#include <ATen/core/ivalue.h>

#include "benches/operators/backends/footprint.hpp"
#include "benches/operators/calls/operator_call.hpp"
#include "pace/check/clone.hpp"

namespace pace::benches::operators {

/// Work of one call, for any implementation.
struct CallWork {
  double read = 0;     ///< bytes of the operands, each byte once
  double written = 0;  ///< bytes of the results, and of the operands that are written to
  /// Floating-point operations; a multiplication and an addition are two. Absent for operators without a formula.
  std::optional<double> flops = {};

  /// Bytes that are moved together.
  [[nodiscard]] double bytes() const { return read + written; }
};

namespace detail {

[[nodiscard]] inline double product(at::IntArrayRef sizes) {
  return std::accumulate(sizes.begin(), sizes.end(), 1.0, std::multiplies<>());
}

/// Bytes of a tensor in memory. Repeated ones (stride 0) count once.
[[nodiscard]] inline double bytes_in_memory(const at::Tensor& tensor) {
  double elements = tensor.numel() == 0 ? 0 : 1;
  for (std::int64_t axis = 0; axis < tensor.dim(); ++axis)
    if (tensor.stride(axis) != 0) elements *= static_cast<double>(tensor.size(axis));
  return elements * static_cast<double>(tensor.element_size());
}

/// Formulas of operations by the tensors and constants of a call.
class WorkFormulas {
 public:
  explicit WorkFormulas(const OperatorCall& call) : call_(call) {
    const std::string_view name = call.name();
    const std::size_t begin = name.find('.') + 1;
    base_ = name.substr(begin, name.find('.', begin) - begin);
  }

  /// Products: as torch.utils.flop_counter counts them (mm_flop, addmm_flop, bmm_flop, baddbmm_flop, conv_flop_count,
  /// sdpa_flop_count, sdpa_backward_flop_count). Norms: as fvcore's norm_flop_counter and batchnorm_flop_jit
  /// (fvcore/nn/jit_handles.py). Softmax and its backward: an operation for each of the five steps over each element.
  /// Reductions: one for each element that is read. Pointwise operators of any kind: one for each element that is
  /// written. The latter two are recognised by LibTorch's own tags.
  [[nodiscard]] std::optional<double> flops(double result_bytes) const {
    const auto is_floating = [](const at::Tensor& each) { return each.is_floating_point() || each.is_complex(); };
    if (std::ranges::none_of(call_.tensors(), is_floating)) return std::nullopt;
    if (is({"mm", "addmm", "_addmm_activation", "bmm", "baddbmm", "mv", "addmv", "dot", "vdot"})) return of_product();
    if (is({"convolution", "_convolution", "convolution_overrideable"})) return of_convolution(result_bytes);
    if (is({"convolution_backward"})) return of_convolution_backward();
    if (base_.starts_with("_scaled_dot_product_")) return of_attention();
    if (is({"native_layer_norm", "native_group_norm"})) return elements_of(0) * (has_tensor("weight") ? 5 : 4);
    if (is({"native_batch_norm", "_native_batch_norm_legit", "cudnn_batch_norm"})) return of_batch_norm();
    if (is({"_softmax", "_log_softmax", "_softmax_backward_data", "_log_softmax_backward_data"}))
      return 5 * elements_of(0);
    if (has(at::Tag::reduction)) return elements_of(0);
    if (has(at::Tag::pointwise)) return largest();
    return std::nullopt;
  }

  /// Whether each byte of every operand must be read, and each byte of the results written.
  [[nodiscard]] bool moves_all() const {
    if (call_.tensors().empty()) return false;
    // Operators that fill tensors read nothing of them.
    if (base_.starts_with("fill") || base_.starts_with("zero") || base_.starts_with("new_") ||
        base_.ends_with("_like") || base_.starts_with("bernoulli") || base_.starts_with("random"))
      return false;
    return has(at::Tag::pointwise) || has(at::Tag::reduction) || base_.starts_with("_scaled_dot_product_") ||
           is({"mm", "addmm", "_addmm_activation", "bmm", "baddbmm", "mv", "addmv", "dot", "vdot"}) ||
           is({"convolution", "_convolution", "convolution_overrideable", "convolution_backward"}) ||
           is({"native_layer_norm", "native_group_norm"}) ||
           is({"native_batch_norm", "_native_batch_norm_legit", "cudnn_batch_norm"}) ||
           is({"_softmax", "_log_softmax", "_softmax_backward_data", "_log_softmax_backward_data"}) ||
           is({"clone", "copy", "_to_copy", "cat", "stack"});
  }

  /// Whether the call writes to an operand without reading it, such as `out`.
  [[nodiscard]] bool only_writes() const { return base_ == "copy_" || has(at::Tag::out_variant); }

 private:
  template <std::size_t count>
  [[nodiscard]] bool is(const char* const (&names)[count]) const {
    return std::ranges::any_of(names, [&](std::string_view each) {
      return base_ == each || (base_.size() == each.size() + 1 && base_.starts_with(each) && base_.back() == '_');
    });
  }
  [[nodiscard]] bool has(at::Tag tag) const { return call_.handle().hasTag(tag); }

  /// The tensor of that parameter; undefined where there is none.
  [[nodiscard]] at::Tensor tensor(std::string_view parameter) const {
    for (std::size_t i = 0; i < call_.arguments().size(); ++i) {
      const auto& argument = call_.arguments()[i];
      if (call_.schema().arguments()[i].name() == parameter && argument.kind == BoundArgument::Kind::tensor &&
          argument.positions.front() != BoundArgument::hole)
        return call_.tensors().at(static_cast<std::size_t>(argument.positions.front()));
    }
    return {};
  }
  [[nodiscard]] bool has_tensor(std::string_view parameter) const { return tensor(parameter).defined(); }
  /// Whether the constant of that parameter is true.
  [[nodiscard]] bool is_true(std::string_view parameter) const {
    const c10::IValue* const found = constant(parameter);
    return found != nullptr && found->isBool() && found->toBool();
  }
  [[nodiscard]] const c10::IValue* constant(std::string_view parameter) const {
    for (std::size_t i = 0; i < call_.arguments().size(); ++i)
      if (call_.schema().arguments()[i].name() == parameter &&
          call_.arguments()[i].kind == BoundArgument::Kind::constant)
        return &call_.arguments()[i].value;
    return nullptr;
  }
  [[nodiscard]] double elements_of(std::size_t position) const {
    return static_cast<double>(call_.tensors().at(position).numel());
  }

  /// The number of elements that the tensors of a pointwise call broadcast to.
  [[nodiscard]] double largest() const {
    std::vector<std::int64_t> sizes;
    for (const auto& each : call_.tensors()) {
      const auto own = each.sizes();
      if (own.size() > sizes.size()) sizes.insert(sizes.begin(), own.size() - sizes.size(), 1);
      for (std::size_t i = 0; i < own.size(); ++i) {
        auto& size = sizes[sizes.size() - 1 - i];
        size = size == 1 ? own[own.size() - 1 - i] : size;
      }
    }
    return product(sizes);
  }

  [[nodiscard]] std::optional<double> of_product() const {
    // addmm(self, mat1, mat2), baddbmm(self, batch1, batch2), addmv(self, mat, vec): the first is only added.
    const std::size_t first = base_.find("add") != std::string_view::npos ? 1 : 0;
    if (call_.tensors().size() < first + 2) return std::nullopt;
    const auto &left = call_.tensors()[first], &right = call_.tensors()[first + 1];
    // left is [..., m, k] and right [..., k, n] or [k].
    const double columns = right.dim() >= 2 ? static_cast<double>(right.size(-1)) : 1;
    return 2 * static_cast<double>(left.numel()) * columns;
  }

  /// Each element of a convolution's output (of its input, if it is transposed) meets the filters of its group.
  [[nodiscard]] double of_convolution(const at::Tensor& input, const at::Tensor& weight, double output_elements) const {
    if (weight.numel() == 0) return 0;
    const double each_filter = product(weight.sizes()) / static_cast<double>(weight.size(0));
    if (is_true("transposed")) return 2 * static_cast<double>(input.numel()) * each_filter;
    return 2 * output_elements * each_filter;
  }
  [[nodiscard]] std::optional<double> of_convolution(double result_bytes) const {
    const at::Tensor input = tensor("input"), weight = tensor("weight");
    if (!input.defined() || !weight.defined()) return std::nullopt;
    return of_convolution(input, weight, result_bytes / static_cast<double>(input.element_size()));
  }
  [[nodiscard]] std::optional<double> of_convolution_backward() const {
    const at::Tensor output = tensor("grad_output"), input = tensor("input"), weight = tensor("weight");
    const c10::IValue* const mask = constant("output_mask");
    if (!output.defined() || !input.defined() || !weight.defined() || mask == nullptr || !mask->isBoolList())
      return std::nullopt;
    const auto wanted = mask->toBoolList();
    // Each of the gradients of input and weight takes as many operations as the forward.
    const double gradients = (wanted.get(0) ? 1 : 0) + (wanted.get(1) ? 1 : 0);
    return gradients * of_convolution(input, weight, static_cast<double>(output.numel()));
  }

  [[nodiscard]] std::optional<double> of_attention() const {
    const at::Tensor query = tensor("query"), key = tensor("key"), value = tensor("value");
    if (!query.defined() || !key.defined() || !value.defined() || query.dim() != 4) return std::nullopt;
    // [batch, heads, length, width]
    const double rows = product(query.sizes().slice(0, 3)), keys = keys_of_a_row(query.size(2), key.size(2));
    const double width = static_cast<double>(query.size(3)), value_width = static_cast<double>(value.size(3));
    const double scores = 2 * rows * keys * width, sums = 2 * rows * keys * value_width;
    if (base_.find("backward") == std::string_view::npos) return scores + sums;
    // The scores are computed again; then come the gradients of value, of the scores, of query and of key.
    return 3 * scores + 2 * sums;
  }

  /// Keys that a query meets, in the mean; with causal attention those up to its own place. flop_counter counts all of
  /// them, so a kernel that leaves the others out would exceed the peak.
  [[nodiscard]] double keys_of_a_row(std::int64_t queries, std::int64_t keys) const {
    if (!is_true("is_causal") || queries == 0) return static_cast<double>(keys);
    double met = 0;
    for (std::int64_t row = 0; row < queries; ++row) met += static_cast<double>(std::min(row + 1, keys));
    return met / static_cast<double>(queries);
  }

  [[nodiscard]] double of_batch_norm() const {
    const bool affine = has_tensor("weight"), training = is_true("training");
    return elements_of(0) * (training ? (affine ? 5 : 4) : (affine ? 2 : 1));
  }

  const OperatorCall& call_;
  std::string_view base_;
};

/// Bytes of the results that are no operands. They follow from the operator's shapes alone. If LibTorch has no such
/// kernel, a call on copies tells.
[[nodiscard]] inline double result_bytes(const OperatorCall& call) {
  if (const auto known = output_bytes(call)) return static_cast<double>(*known);
  torch::jit::Stack stack;
  call.run_into(stack, check::clone_ivalue(c10::IValue(call.tensors())).toTensorVector());
  double bytes = 0;
  for (std::size_t i = 0; i < stack.size(); ++i)
    if (call.schema().returns().at(i).alias_info() == nullptr) bytes += static_cast<double>(tensor_bytes(stack[i]));
  return bytes;
}

}  // namespace detail

/// Returns the work of a call. Nothing for operators that may skip parts of their operands, such as views, gathers and
/// fills. Passes on the operator's exceptions.
[[nodiscard]] inline std::optional<CallWork> work_of(const OperatorCall& call) {
  const detail::WorkFormulas formulas(call);
  if (!formulas.moves_all()) return std::nullopt;
  const double results = detail::result_bytes(call);
  CallWork work{.written = results, .flops = formulas.flops(results)};
  for (const auto& tensor : call.tensors()) work.read += detail::bytes_in_memory(tensor);
  for (const std::size_t position : call.mutated_tensors()) {
    const double bytes = detail::bytes_in_memory(call.tensors()[position]);
    work.written += bytes;
    if (formulas.only_writes()) work.read -= bytes;
  }
  return work;
}

}  // namespace pace::benches::operators
