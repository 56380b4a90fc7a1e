// Ties: indices, as from top-k, that differ from the baseline's but point to equal values are right.
#pragma once

#include <ATen/core/Tensor.h>
#include <ATen/core/ivalue.h>

#include <cstdint>
#include <string>
#include <vector>

#include "pace/base/error.hpp"
#include "pace/check/check_options.hpp"
#include "pace/check/clone.hpp"
#include "pace/check/declared.hpp"
#include "pace/check/ivalue.hpp"
#include "pace/check/raw_memory.hpp"
#include "pace/check/structure.hpp"
#include "pace/check/text.hpp"

namespace pace::check {

/// Error for a declaration that does not fit the outputs or operands of a comparison.
struct BadDeclaration : Error {
  using Error::Error;
};

namespace detail {

[[nodiscard]] inline bool is_index(const at::Tensor& tensor) {
  return tensor.scalar_type() == at::kLong || tensor.scalar_type() == at::kInt;
}

/// The elements of `values` at `indices` along `dim`; undefined if an index is out of range, or occurs twice.
[[nodiscard]] inline at::Tensor found_by(const at::Tensor& indices, const at::Tensor& values, std::int64_t dim) {
  const bool reduced = indices.dim() + 1 == values.dim();
  const std::int64_t along = dim < 0 ? dim + values.dim() : dim;
  const auto whole = reduced ? indices.unsqueeze(along) : indices;
  const auto index = whole.to(at::kLong);
  if (index.numel() == 0) return indices;
  if (index.lt(0).any().item<bool>() || index.ge(values.size(along)).any().item<bool>()) return {};
  const auto ordered = std::get<0>(index.sort(along));
  const std::int64_t count = ordered.size(along);
  if (count > 1 && ordered.narrow(along, 1, count - 1).eq(ordered.narrow(along, 0, count - 1)).any().item<bool>())
    return {};
  const auto found = values.gather(along, index);
  return reduced ? found.squeeze(along) : found;
}

/// A value with its indices replaced by the elements they point to.
class Found {
 public:
  Found(const at::Tensor& values, std::int64_t dim, const c10::IValue& value) {
    for (const auto& tensor : tensors_of(value)) {
      if (!is_index(tensor)) continue;
      const auto found = found_by(tensor, values, dim);
      if (!found.defined()) valid_ = false;
      originals_.push_back(tensor);
      found_.push_back(found.defined() ? found : tensor);
    }
  }

  /// Whether all indices are in range and different.
  [[nodiscard]] bool valid() const { return valid_; }
  [[nodiscard]] at::Tensor of(const at::Tensor& tensor) const {
    for (std::size_t i = 0; i < originals_.size(); ++i)
      if (originals_[i].is_same(tensor)) return found_[i];
    return tensor;
  }

 private:
  std::vector<at::Tensor> originals_, found_;
  bool valid_ = true;
};

/// Throws BadDeclaration unless it is clear which outputs sign_free() is about, and these hold equal numbers of
/// vectors.
inline void validate_vectors(const CheckOptions& options, const std::vector<at::Tensor>& outputs) {
  const auto require = [](bool holds, const std::string& what) {
    if (!holds) throw BadDeclaration(what);
  };
  std::size_t matrices = 0;
  for (const auto& tensor : outputs) matrices += holds_matrices(tensor);
  require(matrices > 0, "sign_free() expected a matrix of vectors among the outputs, got none");
  if (options.vectors.empty()) {
    const std::size_t found = unit_vectors_among(outputs).size();
    require(found > 0,
            "sign_free() expected a matrix among the outputs whose columns or rows have the length 1, got none; try: "
            "name outputs whose vectors have other lengths, such as .sign_free(0, -1)");
    require(found == 1, "sign_free() expected one matrix of vectors among the outputs, got " + std::to_string(found) +
                            "; try: name those whose signs go together, such as .sign_free(0, -1).sign_free(2, -2) "
                            "for an SVD");
  }
  for (const auto& each : options.vectors)
    require(each.output < outputs.size() && holds_matrices(outputs[each.output]),
            "sign_free() names output tensor " + std::to_string(each.output) +
                " as one of vectors; expected a matrix of " + "real numbers, counted from 0 among " +
                std::to_string(outputs.size()));
  const auto vectors = vectors_among(outputs, options);
  const auto counts = [&](const CheckOptions::Vectors& each) {
    const auto& matrix = outputs[each.output];
    return products_of_vectors(matrix, matrix, each.dim).sizes().vec();
  };
  for (const auto& each : vectors)
    require(counts(each) == counts(vectors.front()),
            "sign_free() expected as many vectors in output tensor " + std::to_string(each.output) + ", of shape " +
                shape_text(outputs[each.output]) + ", as in output tensor " + std::to_string(vectors.front().output) +
                ", of shape " + shape_text(outputs[vectors.front().output]));
}

}  // namespace detail

/// Throws BadDeclaration unless the method of `options` fits the baseline's outputs, `output`, and operand tensors.
inline void validate_outputs(const CheckOptions& options, const c10::IValue& output,
                             const std::vector<at::Tensor>& operands) {
  using Method = CheckOptions::Method;
  const auto tensors = tensors_of(output);
  const auto require = [](bool holds, const std::string& what) {
    if (!holds) throw BadDeclaration(what);
  };
  const bool real_numbers_only =
      options.method == Method::order_free || options.method == Method::sign_free || options.method == Method::random;
  for (const auto& tensor : tensors)
    require(!real_numbers_only || !(tensor.is_complex() || detail::holds_only_bits(tensor.scalar_type())),
            "a declared comparison of outputs expected real numbers, got " + detail::dtype_text(tensor.scalar_type()) +
                "; try: compare others by compare_outputs(function)");
  if (options.method == Method::order_free) {
    require(!tensors.empty(), "order_free() expected tensors as outputs, got " + detail::kind_text(output));
    for (const auto& tensor : tensors)
      require(tensor.dim() > 0, "order_free() expected outputs of at least one dimension, got a scalar");
  } else if (options.method == Method::sign_free) {
    detail::validate_vectors(options, detail::tensors_in_order(output));
  } else if (options.method == Method::random) {
    require(!tensors.empty(), "random() expected tensors as outputs, got " + detail::kind_text(output));
  } else if (options.method == Method::ties) {
    require(options.ties_operand < operands.size(), "ties() names operand tensor " +
                                                        std::to_string(options.ties_operand) + "; expected " +
                                                        detail::numbers_below(operands.size()));
    const auto& values = operands[options.ties_operand];
    require(options.ties_dim >= -values.dim() && options.ties_dim < values.dim(),
            "ties() names dimension " + std::to_string(options.ties_dim) + " of operand tensor " +
                std::to_string(options.ties_operand) + " (counted from 0), of shape " + detail::shape_text(values));
    bool any = false;
    for (const auto& tensor : tensors) {
      if (!detail::is_index(tensor)) continue;
      any = true;
      require(tensor.dim() == values.dim() || tensor.dim() + 1 == values.dim(),
              "ties() expected indices of the dimensions of operand tensor " + std::to_string(options.ties_operand) +
                  " (counted from 0), or of one less, got shape " + detail::shape_text(tensor));
    }
    require(any, "ties() expected a tensor of int64 or int32 indices among the outputs, got none");
  }
}

}  // namespace pace::check
