// The facts of an exported program in its file: the inputs that it takes, its operators, its versions.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <ATen/core/Tensor.h>
#include <ATen/core/dispatch/Dispatcher.h>
#include <ATen/core/ivalue.h>
#include <c10/core/Device.h>
#include <c10/core/ScalarType.h>
#include <nlohmann/json.hpp>

#include "benches/files/loaders/call_inputs.hpp"
#include "benches/files/loaders/content.hpp"
#include "benches/files/loaders/expected_input.hpp"
#include "benches/files/loaders/linear_formula.hpp"
#include "benches/files/loaders/written_buffers.hpp"
#include "pace/base/error.hpp"
#include "pace/os/parse_json.hpp"

namespace pace::benches::loaders {

/// The major version of the format that this LibTorch's torch.export writes (SCHEMA_VERSION in
/// torch/_export/serde/schema.py).
inline constexpr int exported_schema = 8;

namespace detail {

/// The numbers of torch.export's own ScalarType.
[[nodiscard]] inline std::optional<at::ScalarType> exported_dtype(int number) {
  static const std::map<int, at::ScalarType> types = {
      {1, at::kByte},  {2, at::kChar},      {3, at::kShort},         {4, at::kInt},         {5, at::kLong},
      {6, at::kHalf},  {7, at::kFloat},     {8, at::kDouble},        {9, at::kComplexHalf}, {10, at::kComplexFloat},
      {12, at::kBool}, {13, at::kBFloat16}, {11, at::kComplexDouble}};
  const auto found = types.find(number);
  return found == types.end() ? std::nullopt : std::optional(found->second);
}

/// A constant input of a program. Throws as nlohmann's library does for another format.
[[nodiscard]] inline std::optional<c10::IValue> read_constant(const nlohmann::json& value) {
  if (value.contains("as_none")) return c10::IValue();
  if (value.contains("as_bool")) return c10::IValue(value.at("as_bool").get<bool>());
  if (value.contains("as_int")) return c10::IValue(value.at("as_int").get<std::int64_t>());
  if (value.contains("as_float")) return c10::IValue(value.at("as_float").get<double>());
  if (value.contains("as_string")) return c10::IValue(value.at("as_string").get<std::string>());
  return std::nullopt;
}

}  // namespace detail

class ProgramFacts {
 public:
  /// Throws InputError, which names the file, for a format that is not known.
  ProgramFacts(const Content& content, const std::string& model) : path_(content.path()) {
    const std::string text = content.read("models/" + model + ".json");
    try {
      const auto json = parse_json<nlohmann::json>(text);
      torch_version_ = json.value("torch_version", "");
      const int schema = json.at("schema_version").at("major").get<int>();
      if (schema != exported_schema)
        throw Unsupported("it was exported by torch " +
                          (torch_version_.empty() ? "of another version" : torch_version_) + " in version " +
                          std::to_string(schema) + " of the format; expected version " +
                          std::to_string(exported_schema) + ", which this LibTorch reads");
      read(json);
    } catch (const std::exception& error) {
      throw InputError({path_}, std::string("the exported program cannot be read: ") + error.what());
    }
  }

  /// The version of torch that exported the program; empty: it is not known.
  [[nodiscard]] const std::string& torch_version() const { return torch_version_; }
  [[nodiscard]] const std::vector<ExpectedInput>& inputs() const { return inputs_; }
  /// Names of the arguments, the positional ones first.
  [[nodiscard]] const std::vector<std::string>& argument_names() const { return argument_names_; }
  /// The specification that CallSpec reads.
  [[nodiscard]] const std::string& in_spec() const { return in_spec_; }
  /// Operators that the program calls, such as `aten.relu.default`, also in branches and bodies of loops.
  [[nodiscard]] const std::set<std::string>& operators() const { return operators_; }
  /// Names of the buffers that calls write to, as far as this process has the operators that do.
  [[nodiscard]] const std::vector<std::string>& written_buffers() const { return written_buffers_; }
  /// The outputs that are constants which AOTInductor does not compile, such as `2.5`; empty: there are none.
  [[nodiscard]] const std::string& uncompiled_output() const { return uncompiled_output_; }
  /// Where the program's tensors are.
  [[nodiscard]] c10::DeviceType device() const { return device_; }

  /// Throws InputError for the first operator that this process does not have.
  void require_operators() const {
    for (const auto& name : operators_) {
      const auto first = name.find('.'), last = name.rfind('.');
      if (first == std::string::npos || first == last || name.starts_with("higher_order.")) continue;
      const std::string overload = name.substr(last + 1);
      const c10::OperatorName wanted(name.substr(0, first) + "::" + name.substr(first + 1, last - first - 1),
                                     overload == "default" ? "" : overload);
      if (!c10::Dispatcher::singleton().findSchema(wanted))
        throw InputError({path_}, "the program calls the operator " + name +
                                      ", which is not there; expected --library with the shared library that "
                                      "registers it");
    }
  }

  /// Throws InputError unless the leaves fit. The message has the argument, the expected and the found input. Values of
  /// tensors are not read.
  void check(const std::vector<c10::IValue>& leaves, const TensorPlaces& places = {}) const {
    const auto refuse = [&](const std::string& message) { throw InputError({path_}, message); };
    if (leaves.size() != inputs_.size())
      refuse("it takes " + std::to_string(inputs_.size()) + " values, and the inputs have " +
             std::to_string(leaves.size()));
    std::map<std::string, std::pair<std::int64_t, std::string>> symbols;
    for (std::size_t i = 0; i < leaves.size(); ++i) {
      const auto& expected = inputs_[i];
      const auto refuse_this = [&](const std::string& found) {
        refuse("argument '" + expected.name + "': expected " + expected.to_string() + ", found " + found);
      };
      if (!expected.is_tensor) {
        if (leaves[i].isTensor())
          refuse_this(detail::tensor_text(leaves[i].toTensor(), places.of(leaves[i].toTensor())));
        if (expected.constant && !detail::same_constant(*expected.constant, leaves[i]))
          refuse_this(detail::value_text(leaves[i]));
        continue;
      }
      if (!leaves[i].isTensor()) refuse_this(detail::value_text(leaves[i]));
      const at::Tensor& tensor = leaves[i].toTensor();
      const c10::Device device = places.of(tensor);
      const std::string found = detail::tensor_text(tensor, device);
      if ((expected.dtype && tensor.scalar_type() != *expected.dtype) ||
          (places.matter && device.type() != expected.device) ||
          tensor.dim() != static_cast<std::int64_t>(expected.sizes.size()))
        refuse_this(found);
      for (std::size_t d = 0; d < expected.sizes.size(); ++d) {
        const auto& size = expected.sizes[d];
        const std::int64_t actual = tensor.size(static_cast<std::int64_t>(d));
        if (size.fixed && actual != *size.fixed) refuse_this(found);
        if (size.symbol.empty()) continue;
        const auto value = size.symbol_for(actual);
        if (!value) refuse_this(found);
        const std::string where = "dimension " + std::to_string(d) + " of '" + expected.name + '\'';
        const auto [known, is_new] = symbols.try_emplace(size.symbol, *value, where);
        if (!is_new && known->second.first != *value)
          refuse("argument '" + expected.name + "': expected " +
                 std::to_string(size.times * known->second.first + size.plus) + " for " + where +
                 ", which depends on " + known->second.second + ", found " + found);
      }
    }
  }

 private:
  void read(const nlohmann::json& json) {
    const auto& module = json.at("graph_module");
    const auto& graph = module.at("graph");
    const auto& ranges = json.at("range_constraints");
    find_operators(json);
    written_buffers_ = loaders::written_buffers(json);
    for (const auto& output : graph.value("outputs", nlohmann::json::array()))
      if (const auto value = detail::read_constant(output); value && (value->isDouble() || value->isString()))
        uncompiled_output_ = detail::value_text(*value);
    for (const auto& call : module.at("module_call_graph")) {
      if (!call.at("fqn").get<std::string>().empty() || call.at("signature").is_null()) continue;
      in_spec_ = call.at("signature").at("in_spec").get<std::string>();
      if (const auto names = call.at("signature").find("forward_arg_names");
          names != call.at("signature").end() && names->is_array())
        argument_names_ = names->get<std::vector<std::string>>();
    }
    for (const auto& [name, tensor] : graph.at("tensor_values").items())
      if (tensor.at("device").at("type") == "cuda") device_ = c10::kCUDA;
    for (const auto& spec : module.at("signature").at("input_specs")) {
      if (const auto constant = spec.find("constant_input"); constant != spec.end()) {
        inputs_.push_back({.name = constant->at("name").get<std::string>(),
                           .is_tensor = false,
                           .constant = detail::read_constant(constant->at("value"))});
        continue;
      }
      const auto user = spec.find("user_input");
      if (user == spec.end()) continue;
      const auto& argument = user->at("arg");
      const auto tensor = argument.find("as_tensor");
      if (tensor == argument.end()) {
        const std::string number = "number " + std::to_string(inputs_.size());
        auto constant = detail::read_constant(argument);
        if (!constant)
          throw Unsupported(number + " of its inputs is of the kind " + argument.begin().key() +
                            "; expected a program of tensors and of numbers that it was exported with");
        inputs_.push_back({.name = number, .is_tensor = false, .constant = std::move(constant)});
        continue;
      }
      const auto name = tensor->at("name").get<std::string>();
      const auto& metadata = graph.at("tensor_values").at(name);
      ExpectedInput input{.name = name,
                          .dtype = detail::exported_dtype(metadata.at("dtype").get<int>()),
                          .device = c10::Device(metadata.at("device").at("type").get<std::string>()).type()};
      for (const auto& size : metadata.at("sizes")) input.sizes.push_back(read_size(size, ranges));
      inputs_.push_back(std::move(input));
    }
  }

  /// Operators are named in the nodes of all graphs, and in their arguments: branches and bodies of loops are graphs in
  /// the arguments of nodes.
  void find_operators(const nlohmann::json& json) {
    constexpr std::string_view prefix = "torch.ops.";
    // The values of a file by another hand may be nested more deeply than calls can be.
    std::vector<const nlohmann::json*> left{&json};
    while (!left.empty()) {
      const nlohmann::json& value = *left.back();
      left.pop_back();
      if (!value.is_structured()) continue;
      for (const auto& each : value) left.push_back(&each);
      for (const char* const key : {"target", "as_operator"}) {
        const auto found = value.is_object() ? value.find(key) : value.end();
        if (found == value.end() || !found->is_string()) continue;
        const auto& name = found->get_ref<const std::string&>();
        if (name.starts_with(prefix)) operators_.insert(name.substr(prefix.size()));
      }
    }
  }

  [[nodiscard]] static ExpectedSize read_size(const nlohmann::json& size, const nlohmann::json& ranges) {
    if (const auto fixed = size.find("as_int"); fixed != size.end()) return {.fixed = fixed->get<std::int64_t>()};
    ExpectedSize any;
    const auto text = size.at("as_expr").at("expr_str").get<std::string>();
    any.expression = detail::plain_formula(text);
    if (const auto formula = detail::linear_formula(text)) {
      any.symbol = formula->symbol;
      any.times = formula->times;
      any.plus = formula->plus;
      any.expression = formula->to_string();
    }
    if (const auto range = ranges.find(any.symbol); range != ranges.end()) {
      if (range->at("min_val").is_number_integer()) any.low = range->at("min_val").get<std::int64_t>();
      if (range->at("max_val").is_number_integer()) any.high = range->at("max_val").get<std::int64_t>();
    }
    return any;
  }

  std::string path_, torch_version_, in_spec_, uncompiled_output_;
  std::vector<ExpectedInput> inputs_;
  std::vector<std::string> argument_names_, written_buffers_;
  std::set<std::string> operators_;
  c10::DeviceType device_ = c10::kCPU;
};

}  // namespace pace::benches::loaders
