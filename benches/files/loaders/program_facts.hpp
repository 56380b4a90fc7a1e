// What the file of an exported program says of it: the inputs that it takes, its operators, its versions.
#pragma once

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <system_error>
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
#include "benches/files/loaders/written_buffers.hpp"
#include "pace/base/error.hpp"
#include "pace/corpus/dtype.hpp"
#include "pace/inputs/scalar_type.hpp"
#include "pace/os/parse_json.hpp"

namespace pace::benches::loaders {

/// The major version of the format that this LibTorch's torch.export writes (SCHEMA_VERSION in
/// torch/_export/serde/schema.py).
inline constexpr int exported_schema = 8;

/// The size of a dimension that a program takes: a number, or `times` * symbol + `plus`, where the symbol is any number
/// in a range.
struct ExpectedSize {
  std::optional<std::int64_t> fixed = {};
  std::string symbol = {};      ///< stands for one number in all sizes; empty: another formula, which is not checked
  std::string expression = {};  ///< as `2*s77+1`; empty: it is fixed
  std::int64_t times = 1, plus = 0;
  std::int64_t low = 0, high = std::numeric_limits<std::int64_t>::max();

  /// What the symbol stands for where the size is `actual`; nothing if no number of the range makes it that.
  [[nodiscard]] std::optional<std::int64_t> symbol_for(std::int64_t actual) const {
    if (times == 0 || (actual - plus) % times != 0) return std::nullopt;
    const std::int64_t value = (actual - plus) / times;
    return value < low || value > high ? std::nullopt : std::optional(value);
  }
  /// The smallest and the largest size of the range. 0 and the largest integer where they are not known.
  [[nodiscard]] std::pair<std::int64_t, std::int64_t> range() const {
    constexpr auto largest = std::numeric_limits<std::int64_t>::max();
    if (fixed) return {*fixed, *fixed};
    const auto size_of = [&](std::int64_t value) {
      std::int64_t size = 0;
      const bool fits = value != largest && !__builtin_mul_overflow(value, times, &size) &&
                        !__builtin_add_overflow(size, plus, &size);
      return fits ? size : (times < 0 ? 0 : largest);
    };
    const auto [least, most] = std::minmax({size_of(low), size_of(high)});
    return {std::max<std::int64_t>(least, 0), most};
  }
  /// As `8`, `1 to 64`, or `2 * (1 or more) + 1`; another formula as it is.
  [[nodiscard]] std::string to_string() const {
    if (fixed) return std::to_string(*fixed);
    if (symbol.empty() && !expression.empty()) return expression;
    const bool open = high == std::numeric_limits<std::int64_t>::max();
    std::string text = std::to_string(low) + (open ? " or more" : " to " + std::to_string(high));
    if (times == 1 && plus == 0) return text;
    text = '(' + text + ')';
    if (times != 1) text = std::to_string(times) + " * " + text;
    if (plus != 0) text += (plus < 0 ? " - " : " + ") + std::to_string(plus < 0 ? -plus : plus);
    return text;
  }
};

/// One leaf of the inputs that a program takes.
struct ExpectedInput {
  std::string name;
  bool is_tensor = true;
  /// A value that the program was exported with and that is no input any more; none: a tensor, or a number that may be
  /// another one.
  std::optional<c10::IValue> constant = {};
  std::optional<at::ScalarType> dtype = {};  ///< none: one that is not known here, and not checked
  c10::DeviceType device = c10::kCPU;
  std::vector<ExpectedSize> sizes = {};

  /// As `float32[batch, 64]`.
  [[nodiscard]] std::string to_string() const;
};

namespace detail {

[[nodiscard]] inline std::string dtype_name(at::ScalarType dtype) {
  const auto known = inputs::dtype_from_scalar_type(dtype);
  return known ? std::string(corpus::torch_name(*known)) : c10::toString(dtype);
}

/// The numbers of torch.export's own ScalarType.
[[nodiscard]] inline std::optional<at::ScalarType> exported_dtype(int number) {
  static const std::map<int, at::ScalarType> types = {
      {1, at::kByte},  {2, at::kChar},      {3, at::kShort},         {4, at::kInt},         {5, at::kLong},
      {6, at::kHalf},  {7, at::kFloat},     {8, at::kDouble},        {9, at::kComplexHalf}, {10, at::kComplexFloat},
      {12, at::kBool}, {13, at::kBFloat16}, {11, at::kComplexDouble}};
  const auto found = types.find(number);
  return found == types.end() ? std::nullopt : std::optional(found->second);
}

/// As Python writes it, for messages.
[[nodiscard]] inline std::string value_text(const c10::IValue& value) {
  if (value.isNone()) return "None";
  if (value.isBool()) return value.toBool() ? "True" : "False";
  if (value.isInt()) return std::to_string(value.toInt());
  if (value.isDouble()) return nlohmann::json(value.toDouble()).dump();
  if (value.isString()) return '\'' + value.toStringRef() + '\'';
  return "a " + value.tagKind();
}

/// A constant input of a program. Throws what nlohmann's library throws for another format.
[[nodiscard]] inline std::optional<c10::IValue> read_constant(const nlohmann::json& value) {
  if (value.contains("as_none")) return c10::IValue();
  if (value.contains("as_bool")) return c10::IValue(value.at("as_bool").get<bool>());
  if (value.contains("as_int")) return c10::IValue(value.at("as_int").get<std::int64_t>());
  if (value.contains("as_float")) return c10::IValue(value.at("as_float").get<double>());
  if (value.contains("as_string")) return c10::IValue(value.at("as_string").get<std::string>());
  return std::nullopt;
}

[[nodiscard]] inline bool same_constant(const c10::IValue& expected, const c10::IValue& found) {
  if (expected.isDouble() && found.isInt()) return expected.toDouble() == static_cast<double>(found.toInt());
  return expected.tagKind() == found.tagKind() && value_text(expected) == value_text(found);
}

/// `times` * symbol + `plus`.
struct LinearFormula {
  std::string symbol = {};
  std::int64_t times = 0, plus = 0;

  /// As `s77`, `2*s77` or `2*s77-1`.
  [[nodiscard]] std::string to_string() const {
    std::string text = (times == 1 ? "" : std::to_string(times) + '*') + symbol;
    if (plus != 0) text += (plus < 0 ? "" : "+") + std::to_string(plus);
    return text;
  }
};

/// A formula as sympy prints it, without what is no part of it: `Pow(s77, 2)` for
/// `Pow(Symbol('s77', positive=True, integer=True), Integer(2))`.
[[nodiscard]] inline std::string plain_formula(std::string_view text) {
  std::string plain;
  const auto copy_until = [&](char end) {
    while (!text.empty() && text.front() != end) {
      plain += text.front();
      text.remove_prefix(1);
    }
  };
  while (!text.empty()) {
    constexpr std::string_view symbol = "Symbol('", integer = "Integer(";
    const bool is_symbol = text.starts_with(symbol);
    if (!is_symbol && !text.starts_with(integer)) {
      plain += text.front();
      text.remove_prefix(1);
      continue;
    }
    text.remove_prefix(is_symbol ? symbol.size() : integer.size());
    copy_until(is_symbol ? '\'' : ')');
    text.remove_prefix(std::min(text.find(')'), text.size() - 1) + 1);
  }
  return plain;
}

/// Reads a formula of one symbol as sympy prints it, such as
/// `Add(Mul(Integer(2), Symbol('s77', positive=True, integer=True)), Integer(-1))`.
class LinearFormulaReader {
 public:
  explicit LinearFormulaReader(std::string_view text) : rest_(text) {}

  /// Nothing for a formula of another kind.
  [[nodiscard]] std::optional<LinearFormula> read() {
    auto formula = term(most_depth);
    if (!formula || !rest_.empty() || formula->symbol.empty() || formula->times == 0) return std::nullopt;
    return formula;
  }

 private:
  static constexpr int most_depth = 16;
  static constexpr std::int64_t most = 1 << 30;  // sums and products of two stay exact

  [[nodiscard]] bool accept(std::string_view text) {
    if (!rest_.starts_with(text)) return false;
    rest_.remove_prefix(text.size());
    return true;
  }

  [[nodiscard]] std::optional<LinearFormula> term(int depth) {
    if (depth == 0) return std::nullopt;
    if (accept("Integer(")) {
      LinearFormula number;
      const auto [end, problem] = std::from_chars(rest_.data(), rest_.data() + rest_.size(), number.plus);
      rest_.remove_prefix(static_cast<std::size_t>(end - rest_.data()));
      return problem == std::errc() && accept(")") ? bounded(number) : std::nullopt;
    }
    if (accept("Symbol('")) {
      const auto quote = rest_.find('\''), end = rest_.find(')');
      if (quote == std::string_view::npos || end == std::string_view::npos || end < quote) return std::nullopt;
      LinearFormula symbol{.symbol = std::string(rest_.substr(0, quote)), .times = 1};
      rest_.remove_prefix(end + 1);
      return symbol;
    }
    const bool is_sum = accept("Add(");
    if (!is_sum && !accept("Mul(")) return std::nullopt;
    auto all = term(depth - 1);
    while (all && !accept(")")) {
      if (!accept(", ")) return std::nullopt;
      const auto next = term(depth - 1);
      if (!next) return std::nullopt;
      all = is_sum ? sum(*all, *next) : product(*all, *next);
    }
    return all;
  }

  [[nodiscard]] static std::optional<LinearFormula> bounded(const LinearFormula& formula) {
    const auto fits = [](std::int64_t number) { return number >= -most && number <= most; };
    return fits(formula.times) && fits(formula.plus) ? std::optional(formula) : std::nullopt;
  }
  [[nodiscard]] static std::optional<LinearFormula> sum(const LinearFormula& a, const LinearFormula& b) {
    if (!a.symbol.empty() && !b.symbol.empty() && a.symbol != b.symbol) return std::nullopt;
    return bounded({a.symbol.empty() ? b.symbol : a.symbol, a.times + b.times, a.plus + b.plus});
  }
  [[nodiscard]] static std::optional<LinearFormula> product(const LinearFormula& a, const LinearFormula& b) {
    if (!a.symbol.empty() && !b.symbol.empty()) return std::nullopt;
    const auto& [symbol, times, plus] = a.symbol.empty() ? b : a;
    const std::int64_t factor = a.symbol.empty() ? a.plus : b.plus;
    return bounded({symbol, times * factor, plus * factor});
  }

  std::string_view rest_;
};

[[nodiscard]] inline std::optional<LinearFormula> linear_formula(std::string_view text) {
  return LinearFormulaReader(text).read();
}

/// As `float32[8, 64] on cpu`. `device`: where it is, or will be.
[[nodiscard]] inline std::string tensor_text(const at::Tensor& tensor, c10::Device device) {
  std::string text = dtype_name(tensor.scalar_type()) + '[';
  for (std::int64_t i = 0; i < tensor.dim(); ++i) text += (i == 0 ? "" : ", ") + std::to_string(tensor.size(i));
  return text + "] on " + device.str();
}

}  // namespace detail

inline std::string ExpectedInput::to_string() const {
  if (constant) return detail::value_text(*constant) + ", which the program was exported with";
  if (!is_tensor) return "a number";
  std::string text = (dtype ? detail::dtype_name(*dtype) : std::string("tensor")) + '[';
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    text += (i == 0 ? "" : ", ") + sizes[i].to_string();
  }
  return text + "] on " + c10::DeviceTypeName(device, /*lower_case=*/true);
}

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
  /// Operators that the program calls, such as `aten.relu.default`, those of branches and bodies of loops among them.
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

  /// Throws InputError, with the argument, what was expected and what was found, unless the leaves fit. Values of
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
