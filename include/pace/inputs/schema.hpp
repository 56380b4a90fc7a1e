// Properties of operator schemas for the recorder: names, and whether an operator computes anything.
#pragma once

#include <algorithm>
#include <string>
#include <string_view>

#include <ATen/core/alias_info.h>
#include <ATen/core/function_schema.h>
#include <ATen/core/jit_type.h>

namespace pace::inputs {

/// Returns the name of an operator in the file format: `aten.add.Tensor` for the schema `aten::add.Tensor`. An empty
/// overload is written `default`.
[[nodiscard]] inline std::string recorded_name(const c10::FunctionSchema& schema) {
  std::string name = schema.name();
  if (const auto colons = name.find("::"); colons != std::string::npos) name.replace(colons, 2, ".");
  return name + "." + (schema.overload_name().empty() ? "default" : schema.overload_name());
}

namespace detail {

[[nodiscard]] inline bool contains_tensor(const c10::Type& type) {
  if (type.kind() == c10::TypeKind::TensorType) return true;
  for (const auto& inner : type.containedTypes()) {
    if (contains_tensor(*inner)) return true;
  }
  return false;
}

/// Whether the output is a view of the input, or the input itself.
[[nodiscard]] inline bool aliases(const c10::Argument& input, const c10::Argument& output) {
  const auto* before = input.alias_info();
  const auto* after = output.alias_info();
  if (before == nullptr || after == nullptr) return false;
  return std::any_of(before->beforeSets().begin(), before->beforeSets().end(),
                     [&](const c10::Symbol& set) { return after->afterSets().contains(set); });
}

}  // namespace detail

/// Whether an operator computes nothing: true for constructors (operators without a tensor among their arguments), for
/// operators with `_like` in their name, and for pure views. Operators that change their arguments, and those with
/// several outputs such as split, count as computing.
[[nodiscard]] inline bool is_non_compute(const c10::FunctionSchema& schema) {
  const auto& arguments = schema.arguments();
  const auto takes_tensor = [](const c10::Argument& argument) { return detail::contains_tensor(*argument.type()); };
  if (std::none_of(arguments.begin(), arguments.end(), takes_tensor)) return true;
  if (schema.name().find("_like") != std::string::npos) return true;
  if (schema.is_mutable()) return false;
  if (schema.returns().size() != 1) return false;
  const auto& output = schema.returns().front();
  if (output.type()->kind() != c10::TypeKind::TensorType) return false;
  return std::any_of(arguments.begin(), arguments.end(), [&](const c10::Argument& argument) {
    return takes_tensor(argument) && detail::aliases(argument, output);
  });
}

}  // namespace pace::inputs
