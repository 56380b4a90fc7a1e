// CallSpec: the order of a call's arguments for an exported program, as torch.utils._pytree writes it.
#pragma once

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include <ATen/core/ivalue.h>
#include <nlohmann/json.hpp>

#include "pace/base/error.hpp"
#include "pace/inputs/generate.hpp"
#include "pace/os/parse_json.hpp"

namespace pace::benches::loaders {

class CallSpec {
 public:
  /// `text`: the specification of `(args, kwargs)`. `names`: of all arguments, the positional ones first; may be empty.
  /// Throws Unsupported for another format.
  CallSpec(const std::string& text, std::vector<std::string> names) : names_(std::move(names)) {
    try {
      const auto json = parse_json<nlohmann::json>(text);
      if (json.at(0) != 1) throw Unsupported("its version is " + json.at(0).dump());
      const auto& both = json.at(1).at("children_spec");
      args_ = both.at(0).at("children_spec");
      kwargs_ = both.at(1);
      if (kwargs_.at("type") != "builtins.dict") throw Unsupported("its keyword arguments are no dict");
    } catch (const std::exception& error) {
      throw Unsupported(std::string("the file describes its arguments in a way that is not known: ") + error.what());
    }
  }

  /// The leaves of the arguments (tensors, numbers, None, ...) in the program's order. Throws Error that names the
  /// argument.
  [[nodiscard]] std::vector<c10::IValue> flatten(const inputs::Inputs& inputs) const {
    std::vector<c10::IValue> leaves;
    const auto keys = keys_of(kwargs_);
    if (inputs.args.size() + inputs.kwargs.size() != args_.size() + keys.size()) refuse_number(inputs);
    // An argument that is positional in the file may be given by its name, and the other way round.
    std::vector<const c10::IValue*> values(args_.size() + keys.size(), nullptr);
    for (std::size_t i = 0; i < inputs.args.size(); ++i) values[i] = &inputs.args[i];
    for (const auto& [name, value] : inputs.kwargs) {
      std::size_t i = 0;
      while (i < values.size() && name_of(i, keys) != name) ++i;
      if (i == values.size() || values[i] != nullptr)
        throw Error((i == values.size() ? "there is no argument '" : "there are two values for the argument '") + name +
                    "'; expected " + all_names(keys));
      values[i] = &value;
    }
    for (std::size_t i = 0; i < values.size(); ++i) {
      const auto& node = i < args_.size() ? args_[i] : kwargs_.at("children_spec")[i - args_.size()];
      add(node, *values[i], "argument '" + name_of(i, keys) + '\'', leaves);
    }
    return leaves;
  }

 private:
  [[nodiscard]] static std::vector<std::string> keys_of(const nlohmann::json& dict) {
    return nlohmann::json::parse(dict.at("context").get<std::string>()).get<std::vector<std::string>>();
  }
  [[nodiscard]] std::string name_of(std::size_t i, const std::vector<std::string>& keys) const {
    if (i >= args_.size()) return keys[i - args_.size()];
    return i < names_.size() ? names_[i] : std::to_string(i);
  }
  [[nodiscard]] std::string all_names(const std::vector<std::string>& keys) const {
    std::string all;
    for (std::size_t i = 0; i < args_.size() + keys.size(); ++i) all += (i == 0 ? "" : ", ") + name_of(i, keys);
    return all.empty() ? "none" : all;
  }
  [[noreturn]] void refuse_number(const inputs::Inputs& inputs) const {
    const auto keys = keys_of(kwargs_);
    throw Error("it takes " + std::to_string(args_.size() + keys.size()) + " arguments (" + all_names(keys) +
                "), and the inputs have " + std::to_string(inputs.args.size() + inputs.kwargs.size()));
  }

  static void add(const nlohmann::json& node, const c10::IValue& value, const std::string& where,
                  std::vector<c10::IValue>& leaves) {
    const auto& children = node.at("children_spec");
    if (node.at("type").is_null()) {
      leaves.push_back(value);
      return;
    }
    const auto type = node.at("type").get<std::string>();
    if (type == "builtins.tuple" || type == "builtins.list") {
      const std::string expected = "expected a " + type.substr(9) + " of " + std::to_string(children.size());
      std::vector<c10::IValue> items;
      if (value.isTuple())
        items = value.toTupleRef().elements().vec();
      else if (value.isList())
        items = value.toListRef().vec();
      else
        throw Error(where + ": " + expected + ", found a " + value.tagKind());
      if (items.size() != children.size())
        throw Error(where + ": " + expected + ", found one of " + std::to_string(items.size()));
      for (std::size_t i = 0; i < items.size(); ++i)
        add(children[i], items[i], where + '[' + std::to_string(i) + ']', leaves);
      return;
    }
    if (type != "builtins.dict")
      throw Unsupported(where + ": the file takes a value of the Python type " + type + ", which cannot be made here");
    const auto keys = keys_of(node);
    if (!value.isGenericDict()) throw Error(where + ": expected a dict, found a " + value.tagKind());
    const auto dict = value.toGenericDict();
    if (dict.size() != keys.size())
      throw Error(where + ": expected a dict of " + std::to_string(keys.size()) + ", found one of " +
                  std::to_string(dict.size()));
    for (std::size_t i = 0; i < keys.size(); ++i) {
      const auto found = dict.find(keys[i]);
      if (found == dict.end()) throw Error(where + ": the dict has no key '" + keys[i] + '\'');
      add(children[i], found->value(), where + "['" + keys[i] + "']", leaves);
    }
  }

  std::vector<std::string> names_;
  nlohmann::json args_, kwargs_;
};

/// The positions that the tensors among `leaves` have in CallInputs::tensors(), in the order of the leaves.
template <class Inputs>
[[nodiscard]] std::vector<std::size_t> tensor_positions(const std::vector<c10::IValue>& leaves, const Inputs& inputs) {
  std::vector<std::size_t> positions;
  for (const auto& leaf : leaves)
    if (leaf.isTensor()) positions.push_back(inputs.index_of(leaf.toTensor()));
  return positions;
}

}  // namespace pace::benches::loaders
