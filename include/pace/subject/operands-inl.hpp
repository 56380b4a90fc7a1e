// Copies of tensors and values, and their descriptions.
#pragma once

#include "pace/subject/operands.hpp"

#include <locale>
#include <memory>
#include <sstream>
#include <string>
#include <vector>

#include <c10/core/ScalarType.h>
#include <c10/util/ArrayRef.h>

#include "pace/check/clone.hpp"
#include "pace/check/clone_input.hpp"
#include "pace/check/parts.hpp"

namespace pace {

PACE_INLINE at::Tensor OperandTraits<at::Tensor>::clone(const at::Tensor& value) {
  return value.defined() ? check::clone_input(value) : value;
}

PACE_INLINE c10::IValue OperandTraits<c10::IValue>::clone(const c10::IValue& value) {
  return check::clone_ivalue(value);
}

namespace detail {

PACE_INLINE OperandClones::OperandClones(const std::vector<at::Tensor>& tensors) {
  const c10::NoGradGuard no_grad;
  clones_ = std::make_shared<const check::detail::Clones>(c10::IValue(tensors));
}

PACE_INLINE at::Tensor OperandClones::of(const at::Tensor& tensor) const {
  return tensor.defined() ? clones_->of(tensor) : tensor;
}

PACE_INLINE c10::IValue OperandClones::of(const c10::IValue& value) const {
  return check::detail::with_clones(value, *clones_);
}

PACE_INLINE std::string describe_tensor(const at::Tensor& tensor) {
  if (!tensor.defined()) return "no tensor";
  std::ostringstream text;
  text.imbue(std::locale::classic());
  text << c10::toString(tensor.scalar_type()) << tensor.sizes();
  if (!tensor.is_contiguous()) text << " with strides " << tensor.strides();
  if (!tensor.is_cpu()) text << " on " << at::Device(tensor.device().type()).str();
  return text.str();
}

PACE_INLINE double bytes_of(const std::vector<at::Tensor>& tensors) {
  double bytes = 0;
  for (const auto& tensor : tensors)
    for (const auto& part : check::detail::parts_of(tensor))
      if (part.defined()) bytes += static_cast<double>(part.nbytes());
  return bytes;
}

}  // namespace detail
}  // namespace pace
