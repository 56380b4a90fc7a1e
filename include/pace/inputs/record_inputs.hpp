// The inputs of an observed operator, in debug builds too.
#pragma once

#include <ATen/core/ivalue.h>
#include <ATen/record_function.h>
#include <c10/util/ArrayRef.h>

namespace pace::inputs {

#ifndef NDEBUG
namespace detail {

// Without NDEBUG, RecordFunction::inputs() asserts a flag that a release build of LibTorch, such as every published
// one, never sets. The flag sits in padding, so that the rest is where it should be; the member is read directly.
// (An explicit instantiation may name private members.)
template <auto member>
struct InputsMember {
  friend c10::ArrayRef<const c10::IValue> inputs_member(const at::RecordFunction& function) { return function.*member; }
};
inline c10::ArrayRef<const c10::IValue> inputs_member(const at::RecordFunction& function);
template struct InputsMember<&at::RecordFunction::inputs_>;

}  // namespace detail
#endif

/// All arguments in the order of the schema. Valid inside an observer's start callback only.
[[nodiscard]] inline c10::ArrayRef<const c10::IValue> observed_inputs(const at::RecordFunction& function) {
#ifdef NDEBUG
  return function.inputs();
#else
  return detail::inputs_member(function);
#endif
}

}  // namespace pace::inputs
