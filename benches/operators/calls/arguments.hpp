// The arguments of a call in schema order: which are tensors, which are constants.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <locale>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <ATen/core/List.h>
#include <ATen/core/Tensor.h>
#include <ATen/core/function_schema.h>
#include <ATen/core/ivalue.h>

#include "benches/operators/calls/coerce.hpp"
#include "pace/base/error.hpp"
#include "pace/corpus/cursor.hpp"
#include "pace/inputs/generate.hpp"

namespace pace::benches::operators {

/// One argument of a call: a constant, or where its tensors stand among the tensors of the call.
struct BoundArgument {
  enum class Kind { constant, tensor, tensor_list, optional_tensor_list };
  /// In `positions`: a None inside a list of optional tensors.
  static constexpr std::int32_t hole = -1;

  Kind kind = Kind::constant;
  c10::IValue value;                      ///< only of a constant
  std::vector<std::int32_t> positions{};  ///< indices into the tensors of the call

  [[nodiscard]] bool is_list() const { return kind == Kind::tensor_list || kind == Kind::optional_tensor_list; }
  /// The argument as the boxed call takes it.
  [[nodiscard]] c10::IValue with(const std::vector<at::Tensor>& tensors) const {
    switch (kind) {
      case Kind::constant:
        return value;
      case Kind::tensor:
        return tensors[static_cast<std::size_t>(positions.front())];
      case Kind::tensor_list: {
        c10::List<at::Tensor> list;
        list.reserve(positions.size());
        for (const std::int32_t position : positions) list.push_back(tensors[static_cast<std::size_t>(position)]);
        return list;
      }
      case Kind::optional_tensor_list: {
        c10::List<std::optional<at::Tensor>> list;
        list.reserve(positions.size());
        for (const std::int32_t position : positions) {
          if (position == hole) {
            list.push_back(std::nullopt);
          } else {
            list.push_back(tensors[static_cast<std::size_t>(position)]);
          }
        }
        return list;
      }
    }
    return {};  // not reached: the switch is complete
  }
};

/// Matches recorded args and kwargs with a schema.
struct ArgumentBinder {
  ArgumentBinder(std::string_view operator_name, const c10::FunctionSchema& operator_schema, Location location)
      : name(operator_name), schema(operator_schema), where(std::move(location)) {}

  std::string name;
  const c10::FunctionSchema& schema;
  Location where;
  std::vector<at::Tensor> tensors;  ///< filled by `bind`

  /// Throws `InputError` that names the operator, the argument and the expected type.
  [[nodiscard]] std::vector<BoundArgument> bind(const inputs::Inputs& inputs) {
    const std::vector<c10::Argument>& parameters = schema.arguments();
    std::vector<BoundArgument> bound(parameters.size());
    std::vector<bool> given(parameters.size(), false);
    const std::size_t positional = static_cast<std::size_t>(
        std::count_if(parameters.begin(), parameters.end(), [](const c10::Argument& p) { return !p.kwarg_only(); }));
    if (inputs.args.size() > positional) {
      fail("takes at most " + std::to_string(positional) + " positional arguments, got " +
           std::to_string(inputs.args.size()));
    }
    for (std::size_t i = 0; i < inputs.args.size(); ++i) {
      bound[i] = bind_one(i, inputs.args[i]);
      given[i] = true;
    }
    for (const auto& [key, value] : inputs.kwargs) {
      const std::size_t i = index_of(key);
      if (given[i]) fail("got argument " + corpus::detail::quoted_start(key) + " twice");
      bound[i] = bind_one(i, value);
      given[i] = true;
    }
    for (std::size_t i = 0; i < parameters.size(); ++i) {
      if (given[i]) continue;
      if (!parameters[i].default_value()) {
        fail("is missing argument '" + parameters[i].name() + "', expected " + type_name(i));
      }
      bound[i].value = *parameters[i].default_value();
    }
    return bound;
  }

 private:
  [[noreturn]] void fail(const std::string& message) const {
    std::ostringstream text;
    text.imbue(std::locale::classic());
    text << name << ' ' << message << " (schema: " << schema << ')';
    throw InputError(where, text.str());
  }

  /// With the N of a list of fixed length, as the schema writes it: `int[2]`.
  [[nodiscard]] std::string type_name(std::size_t i) const {
    const c10::Argument& parameter = schema.arguments()[i];
    std::string text = parameter.real_type()->str();
    if (parameter.N() && text.size() >= 2) {
      if (const std::size_t end = text.rfind("[]"); end != std::string::npos) {
        text.insert(end + 1, std::to_string(*parameter.N()));
      }
    }
    return text;
  }

  [[nodiscard]] std::size_t index_of(const std::string& key) const {
    const std::vector<c10::Argument>& parameters = schema.arguments();
    for (std::size_t i = 0; i < parameters.size(); ++i) {
      if (parameters[i].name() == key) return i;
    }
    fail("has no argument " + corpus::detail::quoted_start(key));
  }

  [[nodiscard]] BoundArgument bind_one(std::size_t i, const c10::IValue& value) {
    const c10::Argument& parameter = schema.arguments()[i];
    BoundArgument bound;
    try {
      bound.value = detail::coerce(value, *parameter.type(), parameter.N());
    } catch (const detail::Mismatch& mismatch) {
      fail("argument '" + parameter.name() + "' (number " + std::to_string(i + 1) + "): expected " + type_name(i) +
           ", got " + mismatch.got);
    }
    if (bound.value.isTensor()) {
      if (value.isTensor()) bound = take_tensor(value.toTensor());  // a number made into a tensor stays a constant
    } else if (bound.value.isList()) {
      take_list(bound);
    }
    return bound;
  }

  [[nodiscard]] std::int32_t number(const at::Tensor& tensor) {
    tensors.push_back(tensor);
    return static_cast<std::int32_t>(tensors.size() - 1);
  }

  [[nodiscard]] BoundArgument take_tensor(const at::Tensor& tensor) {
    return {BoundArgument::Kind::tensor, {}, {number(tensor)}};
  }

  void take_list(BoundArgument& bound) {
    const c10::TypePtr element = bound.value.toList().elementType();
    const bool optional = element->kind() == c10::TypeKind::OptionalType;
    const c10::TypePtr inner = optional ? element->castRaw<c10::OptionalType>()->getElementType() : element;
    if (inner->kind() != c10::TypeKind::TensorType) return;
    const c10::IValue list = std::exchange(bound.value, {});
    bound.kind = optional ? BoundArgument::Kind::optional_tensor_list : BoundArgument::Kind::tensor_list;
    for (const c10::IValue& item : list.toListRef()) {
      bound.positions.push_back(item.isNone() ? BoundArgument::hole : number(item.toTensor()));
    }
  }
};

namespace detail {

/// Operators that update running statistics in training although their schemas do not mark them as written.
inline constexpr std::array<std::string_view, 5> undeclared_statistics_writers = {
    "aten::native_batch_norm", "aten::batch_norm", "aten::cudnn_batch_norm", "aten::miopen_batch_norm",
    "aten::instance_norm"};

/// Whether a run writes to the tensors of argument `i`.
[[nodiscard]] inline bool writes_to(const c10::FunctionSchema& schema, std::size_t i,
                                    const std::vector<BoundArgument>& arguments) {
  const c10::Argument& parameter = schema.arguments()[i];
  if (parameter.alias_info() != nullptr && parameter.alias_info()->isWrite()) return true;
  if (std::find(undeclared_statistics_writers.begin(), undeclared_statistics_writers.end(), schema.name()) ==
      undeclared_statistics_writers.end()) {
    return false;
  }
  if (parameter.name() != "running_mean" && parameter.name() != "running_var") return false;
  for (std::size_t j = 0; j < arguments.size(); ++j) {
    const std::string& other = schema.arguments()[j].name();
    if (other == "training" || other == "use_input_stats") return arguments[j].value.toBool();
  }
  return true;
}

}  // namespace detail

}  // namespace pace::benches::operators
