// restore: puts the original values back into tensors that an implementation may have written to.
#pragma once

#include <ATen/core/ivalue.h>

#include <string>

#include "pace/base/error.hpp"
#include "pace/check/clone_input.hpp"
#include "pace/check/ivalue.hpp"
#include "pace/check/raw_memory.hpp"
#include "pace/check/text.hpp"

namespace pace::check {

/// Copies the values of `from` into the memory of `to`. Address, strides and autograd history of `to` stay, and so does
/// its version, so that a graph that saved it stays usable. A sparse tensor gets its indices and values replaced.
/// Strides may overlap; the gaps of a view are not written. A leaf's gradient gets the values of the gradient of
/// `from`, or is removed if there is none. Throws Error if shape, stride, dtype or layout differ, or if only one tensor
/// is defined.
inline void restore_tensor(const at::Tensor& from, const at::Tensor& to) {
  if (!from.defined() && !to.defined()) return;
  if (!from.defined() || !to.defined()) throw Error("restore: one of the two tensors is undefined");
  if (from.is_same(to)) return;
  const auto describe = [](const auto& tensor) {
    const bool strided = tensor.layout() == c10::kStrided && !tensor.is_nested();
    return detail::dtype_text(tensor.scalar_type()) + " of shape " + detail::shape_text(tensor) +
           (strided ? " and strides " + detail::list_text(tensor.strides()) : ", " + detail::layout_text(tensor));
  };
  if (describe(from) != describe(to)) {
    throw Error("restore: the input was a tensor " + describe(from) + ", and is now " + describe(to));
  }
  const c10::NoGradGuard no_grad;
  if (detail::is_plain(from) && detail::is_plain(to)) {
    if (from.numel() > 0) detail::elements_of(to).copy_(detail::elements_of(from));
  } else {
    const c10::InferenceMode as_made(to.is_inference());
    to.copy_(from);
  }
  if (!to.is_leaf()) return;
  if (!from.grad().defined()) {
    if (to.grad().defined()) to.mutable_grad().reset();
  } else if (to.grad().defined()) {
    restore_tensor(from.grad(), to.grad());
  } else {
    to.mutable_grad() = clone_input(from.grad());
  }
}

/// Calls restore_tensor() for every pair of tensors in two values of one structure, such as a value and its
/// clone_ivalue(). Values other than tensors stay unchanged. Throws Error if the numbers of tensors differ.
inline void restore(const c10::IValue& from, const c10::IValue& to) {
  const auto tensors = tensors_of(from), targets = tensors_of(to);
  if (tensors.size() != targets.size()) {
    throw Error("restore: expected " + std::to_string(tensors.size()) + " tensors, found " +
                std::to_string(targets.size()));
  }
  for (std::size_t i = 0; i < tensors.size(); ++i) restore_tensor(tensors[i], targets[i]);
}

}  // namespace pace::check
