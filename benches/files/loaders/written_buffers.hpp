// Exported programs that write to buffers, as a cache of keys and values. Finds these buffers, and makes them inputs of
// the program, since NativeRT gives no access to its own.
#pragma once

#include <cstddef>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include <ATen/core/dispatch/Dispatcher.h>
#include <ATen/core/function_schema.h>
#include <nlohmann/json.hpp>

#include "pace/os/parse_json.hpp"

namespace pace::benches::loaders {

namespace detail {

/// The schema of an operator such as `torch.ops.aten.relu.default`; null: this process does not have it.
[[nodiscard]] inline const c10::FunctionSchema* schema_of(std::string_view target) {
  constexpr std::string_view prefix = "torch.ops.";
  if (!target.starts_with(prefix)) return nullptr;
  target.remove_prefix(prefix.size());
  const auto first = target.find('.'), last = target.rfind('.');
  if (first == std::string_view::npos || first == last) return nullptr;
  const std::string overload(target.substr(last + 1));
  const auto found = c10::Dispatcher::singleton().findSchema(
      {std::string(target.substr(0, first)) + "::" + std::string(target.substr(first + 1, last - first - 1)),
       overload == "default" ? "" : overload});
  return found ? &found->schema() : nullptr;
}

/// The names of the tensors that an argument or an output of a node stands for.
[[nodiscard]] inline std::vector<std::string> tensors_in(const nlohmann::json& argument) {
  std::vector<std::string> names;
  if (const auto one = argument.find("as_tensor"); one != argument.end()) names.push_back(one->at("name"));
  if (const auto several = argument.find("as_tensors"); several != argument.end())
    for (const auto& each : *several) names.push_back(each.at("name"));
  return names;
}

/// Names of the running statistics that `node` writes to although its schema does not say so. A normalisation in
/// training does that.
[[nodiscard]] inline std::vector<std::string> running_statistics(const nlohmann::json& node) {
  const auto target = node.at("target").get<std::string>();
  if (target != "torch.ops.aten.batch_norm.default" && target != "torch.ops.aten.instance_norm.default") return {};
  bool in_training = false;
  std::vector<std::string> found;
  for (const auto& input : node.at("inputs")) {
    const auto name = input.at("name").get<std::string>();
    if (name == "training" || name == "use_input_stats") in_training = input.at("arg").value("as_bool", false);
    if (name != "running_mean" && name != "running_var") continue;
    for (const auto& tensor : tensors_in(input.at("arg"))) found.push_back(tensor);
  }
  return in_training ? found : std::vector<std::string>();
}

/// The inputs of `graph` among `known` that its nodes write to, themselves or through a view. Operators that this
/// process does not have write to nothing.
[[nodiscard]] inline std::set<std::string> written_inputs(const nlohmann::json& graph,
                                                          const std::set<std::string>& known) {
  std::map<std::string, std::string> memory_of;
  for (const auto& name : known) memory_of[name] = name;
  std::set<std::string> written;
  for (const auto& node : graph.at("nodes")) {
    for (const auto& name : running_statistics(node))
      if (const auto memory = memory_of.find(name); memory != memory_of.end()) written.insert(memory->second);
    const auto* const schema = schema_of(node.at("target").get<std::string>());
    if (schema == nullptr) continue;
    std::string viewed;
    for (const auto& input : node.at("inputs")) {
      const auto index = schema->argumentIndexWithName(input.at("name").get<std::string>());
      if (!index) continue;
      const auto* const alias = schema->arguments()[static_cast<std::size_t>(*index)].alias_info();
      if (alias == nullptr) continue;
      for (const auto& name : tensors_in(input.at("arg"))) {
        const auto memory = memory_of.find(name);
        if (memory == memory_of.end()) continue;
        if (alias->isWrite()) written.insert(memory->second);
        viewed = memory->second;
      }
    }
    if (viewed.empty()) continue;
    for (std::size_t i = 0; i < node.at("outputs").size() && i < schema->returns().size(); ++i)
      if (schema->returns()[i].alias_info() != nullptr)
        for (const auto& name : tensors_in(node.at("outputs")[i])) memory_of[name] = viewed;
  }
  return written;
}

/// Names of inputs of the graph that stand for buffers, by the buffers' names.
[[nodiscard]] inline std::map<std::string, std::string> inputs_of_buffers(const nlohmann::json& program) {
  std::map<std::string, std::string> inputs;
  for (const auto& spec : program.at("graph_module").at("signature").at("input_specs"))
    if (const auto buffer = spec.find("buffer"); buffer != spec.end())
      inputs[buffer->at("buffer_name").get<std::string>()] = buffer->at("arg").at("name").get<std::string>();
  return inputs;
}

}  // namespace detail

/// The names of the buffers that a call of the program writes to: in place, or as an output that replaces the buffer.
/// Throws as nlohmann's library does for another format.
[[nodiscard]] inline std::vector<std::string> written_buffers(const nlohmann::json& program) {
  const auto& module = program.at("graph_module");
  const auto inputs = detail::inputs_of_buffers(program);
  if (inputs.empty()) return {};
  std::set<std::string> names, replaced;
  for (const auto& [buffer, input] : inputs) names.insert(input);
  for (const auto& spec : module.at("signature").at("output_specs"))
    if (const auto mutation = spec.find("buffer_mutation"); mutation != spec.end())
      replaced.insert(mutation->at("buffer_name").get<std::string>());
  const auto written = detail::written_inputs(module.at("graph"), names);
  std::vector<std::string> buffers;
  for (const auto& [buffer, input] : inputs)
    if (written.contains(input) || replaced.contains(buffer)) buffers.push_back(buffer);
  return buffers;
}

/// Makes `buffers` the last inputs of the program. Outputs that replace them become copies into them.
inline void make_buffers_inputs(nlohmann::json& program, const std::vector<std::string>& buffers) {
  auto& module = program.at("graph_module");
  auto &graph = module.at("graph"), &specs = module.at("signature").at("input_specs");
  const auto inputs = detail::inputs_of_buffers(program);
  for (const auto& buffer : buffers) {
    const std::string& name = inputs.at(buffer);
    for (std::size_t i = 0; i < specs.size(); ++i) {
      const auto spec = specs[i].find("buffer");
      if (spec == specs[i].end() || spec->at("buffer_name") != buffer) continue;
      specs.erase(i);
      const auto input = graph.at("inputs")[i];
      graph.at("inputs").erase(i);
      graph.at("inputs").push_back(input);
      break;
    }
    specs.push_back({{"user_input", {{"arg", {{"as_tensor", {{"name", name}}}}}}}});
  }
  auto& outputs = module.at("signature").at("output_specs");
  for (std::size_t i = 0; i < outputs.size();) {
    const auto mutation = outputs[i].find("buffer_mutation");
    if (mutation == outputs[i].end()) {
      ++i;
      continue;
    }
    const auto argument = [](const char* name, const std::string& tensor) {
      return nlohmann::json{{"name", name}, {"arg", {{"as_tensor", {{"name", tensor}}}}}, {"kind", 1}};
    };
    const std::string buffer = inputs.at(mutation->at("buffer_name").get<std::string>());
    const std::string copied = "pace_copied_into_" + buffer;
    graph.at("tensor_values")[copied] = graph.at("tensor_values").at(buffer);
    graph.at("nodes").push_back(
        {{"target", "torch.ops.aten.copy_.default"},
         {"inputs", {argument("self", buffer), argument("src", mutation->at("arg").at("name").get<std::string>())}},
         {"outputs", nlohmann::json::array({{{"as_tensor", {{"name", copied}}}}})},
         {"metadata", nlohmann::json::object()},
         {"is_hop_single_tensor_return", nullptr}});
    outputs.erase(i);
    graph.at("outputs").erase(i);
  }
  // NativeRT compares the number of leaves with the number of inputs.
  for (auto& call : module.at("module_call_graph")) {
    if (!call.at("fqn").get<std::string>().empty() || call.at("signature").is_null()) continue;
    auto spec = parse_json<nlohmann::json>(call.at("signature").at("in_spec").get<std::string>());
    for (std::size_t i = 0; i < buffers.size(); ++i)
      spec.at(1)
          .at("children_spec")
          .at(0)
          .at("children_spec")
          .push_back({{"type", nullptr}, {"context", nullptr}, {"children_spec", nlohmann::json::array()}});
    call.at("signature").at("in_spec") = spec.dump();
    if (auto names = call.at("signature").find("forward_arg_names");
        names != call.at("signature").end() && names->is_array())
      for (const auto& buffer : buffers) names->push_back(inputs.at(buffer));
  }
}

}  // namespace pace::benches::loaders
