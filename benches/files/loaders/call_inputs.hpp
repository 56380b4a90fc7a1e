// The arguments of one call. Their tensors have numbers, so that each implementation gets them in memory of its own.
#pragma once

#include <cstddef>
#include <optional>
#include <unordered_map>
#include <utility>
#include <vector>

#include <ATen/core/Dict.h>
#include <ATen/core/List.h>
#include <ATen/core/Tensor.h>
#include <ATen/core/ivalue.h>
#include <c10/core/Device.h>

#include "pace/base/error.hpp"
#include "pace/inputs/generate.hpp"

namespace pace::benches::loaders {

/// Positional and keyword arguments, with all tensors in them in depth-first order.
class CallInputs {
 public:
  /// `device`: where the tensors are moved to; none: they stay where they are.
  explicit CallInputs(const inputs::Inputs& given, std::optional<c10::Device> device = std::nullopt) : device_(device) {
    for (const auto& value : given.args) inputs_.args.push_back(numbered(value));
    for (const auto& [name, value] : given.kwargs) inputs_.kwargs.emplace_back(name, numbered(value));
  }

  [[nodiscard]] const inputs::Inputs& inputs() const { return inputs_; }
  [[nodiscard]] const std::vector<at::Tensor>& tensors() const { return tensors_; }
  /// The number of a tensor of inputs(). Throws Error for another one.
  [[nodiscard]] std::size_t index_of(const at::Tensor& tensor) const {
    const auto found = index_.find(tensor.unsafeGetTensorImpl());
    if (found == index_.end()) throw Error("a tensor is none of the inputs");
    return found->second;
  }
  /// The numbers of `tensors`, which are all in inputs().
  [[nodiscard]] std::vector<std::size_t> indices_of(const std::vector<at::Tensor>& tensors) const {
    std::vector<std::size_t> indices;
    for (const auto& tensor : tensors) indices.push_back(index_of(tensor));
    return indices;
  }

 private:
  /// The value with another handle for each tensor, since one tensor may be given twice.
  [[nodiscard]] c10::IValue numbered(const c10::IValue& value) {
    if (value.isTensor() && value.toTensor().defined()) {
      at::Tensor tensor = value.toTensor().detach();
      if (device_) tensor = tensor.to(*device_);
      index_.emplace(tensor.unsafeGetTensorImpl(), tensors_.size());
      tensors_.push_back(tensor);
      return tensor;
    }
    if (value.isTuple()) {
      std::vector<c10::IValue> items;
      for (const auto& item : value.toTupleRef().elements()) items.push_back(numbered(item));
      return c10::ivalue::Tuple::create(std::move(items));
    }
    if (value.isList()) {
      c10::impl::GenericList list(value.toList().elementType());
      for (const c10::IValue& item : value.toListRef()) list.push_back(numbered(item));
      return list;
    }
    if (value.isGenericDict()) {
      const auto given = value.toGenericDict();
      c10::impl::GenericDict dict(given.keyType(), given.valueType());
      for (const auto& item : given) dict.insert(item.key(), numbered(item.value()));
      return dict;
    }
    return value;
  }

  std::optional<c10::Device> device_;
  inputs::Inputs inputs_;
  std::vector<at::Tensor> tensors_;
  std::unordered_map<const c10::TensorImpl*, std::size_t> index_;
};

/// Where the tensors of inputs are when they are called with.
struct TensorPlaces {
  bool matter = true;                        ///< false: they may be elsewhere than where they are taken
  std::optional<c10::Device> moved_to = {};  ///< none: they are where they will be

  [[nodiscard]] c10::Device of(const at::Tensor& tensor) const { return moved_to.value_or(tensor.device()); }
};

}  // namespace pace::benches::loaders
