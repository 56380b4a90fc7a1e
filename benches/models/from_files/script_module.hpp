// A module of TorchScript as a module of C++. Both share their tensors.
#pragma once

#include <cstdint>
#include <memory>
#include <utility>

#include <ATen/core/ivalue.h>
#include <torch/csrc/jit/api/function_impl.h>
#include <torch/csrc/jit/api/module.h>
#include <torch/csrc/jit/ir/constants.h>
#include <torch/csrc/jit/ir/ir.h>
#include <torch/csrc/jit/passes/dead_code_elimination.h>
#include <torch/csrc/jit/passes/inliner.h>
#include <torch/nn/module.h>

namespace pace::benches::models {

namespace detail {

/// The integer that a tensor without dimensions stands for in a graph, computed from integers; the nodes for that are
/// inserted at the graph's insertion point. Null where it is made of anything but sizes and constants.
[[nodiscard]] inline torch::jit::Value* integer_of(torch::jit::Value* value) {
  using c10::TypeKind;
  torch::jit::Node* const node = value->node();
  torch::jit::Graph& graph = *node->owningGraph();
  if (value->type()->kind() == TypeKind::IntType) return value;
  if (node->kind() == c10::prim::NumToTensor) return integer_of(node->input());
  if (const auto constant = torch::jit::toIValue(value)) {
    if (!constant->isTensor() || constant->toTensor().dim() != 0 || constant->toTensor().scalar_type() != at::kLong)
      return nullptr;
    return graph.insertConstant(constant->toTensor().item<std::int64_t>());
  }
  const bool scales = node->kind() == c10::aten::add || node->kind() == c10::aten::sub;
  const bool multiplies = node->kind() == c10::aten::mul || node->kind() == c10::aten::floor_divide;
  if (!scales && !multiplies) return nullptr;
  if (node->inputs().size() != (scales ? 3U : 2U)) return nullptr;
  if (scales) {
    const auto factor = torch::jit::toIValue(node->input(2));
    if (!factor || !factor->isInt() || factor->toInt() != 1) return nullptr;
  }
  torch::jit::Value *const left = integer_of(node->input(0)), *const right = integer_of(node->input(1));
  if (left == nullptr || right == nullptr) return nullptr;
  const auto kind = node->kind() == c10::aten::floor_divide ? c10::aten::floordiv : node->kind();
  return graph.insertNode(graph.create(kind, {left, right}))->output()->setType(c10::IntType::get());
}

/// A trace of Python's makes tensors of sizes, computes with them, and reads their values again. Has it compute with
/// the integers themselves, so that no value of a tensor is read and the module can be traced once more.
inline void compute_sizes_as_integers(torch::jit::Block* block) {
  for (torch::jit::Node* node : block->nodes()) {
    for (torch::jit::Block* inner : node->blocks()) compute_sizes_as_integers(inner);
    if (node->kind() != c10::aten::Int && node->kind() != c10::aten::IntImplicit &&
        node->kind() != c10::aten::ScalarImplicit)
      continue;
    const torch::jit::WithInsertPoint here(node);
    if (auto* const integer = integer_of(node->input()))
      if (integer != node->input()) node->output()->replaceAllUsesWith(integer);
  }
}

/// The parameters, buffers and other tensors of a module of TorchScript, by their names.
class ScriptTensors : public torch::nn::Module {
 public:
  explicit ScriptTensors(const torch::jit::Module& script) {
    for (const auto& each : script.named_parameters(/*recurse=*/false))
      register_parameter(each.name, each.value, each.value.requires_grad());
    for (const auto& each : script.named_attributes(/*recurse=*/false))
      if (each.value.isTensor() && each.value.toTensor().defined() && parameters_.find(each.name) == nullptr)
        register_buffer(each.name, each.value.toTensor());
    for (const auto& each : script.named_children())
      register_module(each.name, std::make_shared<ScriptTensors>(each.value));
  }
};

}  // namespace detail

/// Casting, moving and training this module's parameters and buffers is casting, moving and training the script's.
class ScriptModule final : public detail::ScriptTensors {
 public:
  explicit ScriptModule(torch::jit::Module script) : ScriptTensors(script), script_(std::move(script)) {
    const auto graph = torch::jit::toGraphFunction(script_.get_method("forward").function()).graph();
    torch::jit::Inline(*graph);
    detail::compute_sizes_as_integers(graph->block());
    torch::jit::EliminateDeadCode(graph);
  }

  [[nodiscard]] const torch::jit::Module& script() const noexcept { return script_; }

  void train(bool on = true) override {
    script_.train(on);
    torch::nn::Module::train(on);
  }

 private:
  torch::jit::Module script_;
};

}  // namespace pace::benches::models
