// Operators by their names, such as those that a library registers.
#pragma once

#include <algorithm>
#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <ATen/core/dispatch/Dispatcher.h>
#include <ATen/core/stack.h>

#include "benches/files/loaders/loader.hpp"
#include "benches/operators/calls/operator_call.hpp"
#include "benches/operators/calls/operator_name.hpp"
#include "pace/base/error.hpp"
#include "pace/base/format.hpp"

namespace pace::benches::loaders {

/// The prefix of an operator's name in the place of a file.
inline constexpr std::string_view operator_prefix = "op:";

/// `myops::fused`, `myops::fused.out`, `aten.add.Tensor` as recorded files write it: `myops.fused.default`.
[[nodiscard]] inline std::string recorded_name(std::string_view name) {
  std::string text(name);
  if (const auto colons = text.find("::"); colons != std::string::npos) {
    text.replace(colons, 2, ".");
    if (text.find('.', colons + 1) == std::string::npos) text += ".default";
  }
  return text;
}

namespace detail {

class BoundOperator final : public BoundCall {
 public:
  BoundOperator(operators::OperatorCall call, std::vector<std::size_t> positions)
      : call_(std::move(call)), positions_(std::move(positions)) {}

  [[nodiscard]] std::vector<at::Tensor> run(const std::vector<at::Tensor>& tensors) override {
    operands_.clear();
    for (const auto position : positions_) operands_.push_back(tensors[position]);
    call_.run_into(stack_, operands_);
    std::vector<at::Tensor> outputs;
    for (const auto& value : stack_) flatten_output(value, outputs);
    stack_.clear();
    operands_.clear();
    return outputs;
  }

 private:
  operators::OperatorCall call_;
  std::vector<std::size_t> positions_;
  std::vector<at::Tensor> operands_;
  torch::jit::Stack stack_;
};

}  // namespace detail

class LoadedOperator final : public Loaded {
 public:
  /// Throws Unsupported if there is no such operator.
  explicit LoadedOperator(std::string_view name) : name_(recorded_name(name)) {
    if (operators::find_operator(name_)) return;
    const std::string missing = "op:" + std::string(name) + ": there is no such operator; expected ";
    if (const auto known = names_like(name); !known.empty()) throw Unsupported(missing + known);
    if (const auto alike = operators::similar_operators(name_, 3); !alike.empty())
      throw Unsupported("op:" + std::string(name) +
                        ": there is no such operator; did you mean op:" + joined(alike, ", op:") + '?');
    throw Unsupported(missing +
                      "a name such as op:myops::fused, and --library with the shared library that registers it");
  }
  [[nodiscard]] std::unique_ptr<BoundCall> bind(const CallInputs& inputs) override {
    auto call = operators::OperatorCall::bind(name_, inputs.inputs(), Location{"op:" + name_});
    auto positions = inputs.indices_of(call.tensors());
    return std::make_unique<detail::BoundOperator>(std::move(call), std::move(positions));
  }

 private:
  /// The names of operators that `name` may stand for: all overloads where it has none, in `aten` where it names no
  /// library, and in `myops` where it is `myops.fused`. Empty: there are none.
  [[nodiscard]] static std::string names_like(std::string_view name) {
    if (const auto colons = name.find("::"); colons != std::string_view::npos)
      return overloads_of(std::string(name.substr(0, name.find('.', colons))));
    const auto dot = name.find('.');
    const std::string first(name.substr(0, dot));
    if (dot != std::string_view::npos) {
      const auto rest = name.substr(dot + 1);
      if (auto names = overloads_of(first + "::" + std::string(rest.substr(0, rest.find('.')))); !names.empty())
        return names;
    }
    return overloads_of("aten::" + first);
  }

  /// The names of all overloads of an operator such as `aten::add`; empty: there are none.
  [[nodiscard]] static std::string overloads_of(const std::string& wanted) {
    std::vector<std::string> found;
    for (const auto& each : c10::Dispatcher::singleton().getAllOpNames())
      if (each.name == wanted)
        found.push_back("op:" + wanted + (each.overload_name.empty() ? "" : '.' + each.overload_name));
    std::ranges::sort(found);
    std::string text;
    for (const auto& each : found) text += (text.empty() ? "" : ", ") + each;
    return found.size() > 1 ? "one of " + text : text;
  }

  std::string name_;
};

}  // namespace pace::benches::loaders
