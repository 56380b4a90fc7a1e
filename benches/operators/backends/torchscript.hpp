// Back end `torchscript`, and a call as a TorchScript module that other programs can load.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <ATen/core/Tensor.h>
#include <ATen/native/TypeProperties.h>
#include <torch/csrc/jit/api/function_impl.h>
#include <torch/csrc/jit/api/module.h>
#include <torch/csrc/jit/ir/ir.h>
#include <torch/csrc/jit/runtime/custom_operator.h>
#include <torch/csrc/jit/runtime/operator.h>

#include "benches/operators/backends/backend.hpp"
#include "benches/operators/calls/operator_call.hpp"
#include "pace/base/error.hpp"
#include "pace/os/activity.hpp"

namespace pace::benches::operators {

namespace detail {

/// A graph cannot carry the "wrapped number" mark that keeps a number from promoting the dtype of its tensor operand.
/// Giving the number the dtype that the operation would compute in has the same effect.
[[nodiscard]] inline at::Tensor unwrapped_number(const at::Tensor& number, const std::vector<at::Tensor>& tensors) {
  std::vector<at::Tensor> operands = tensors;
  operands.push_back(number);
  at::ScalarType dtype = at::native::result_type(operands);
  // Half-precision kernels take a number in float32; against tensors with dimensions that promotes nothing.
  const bool half = dtype == at::kHalf || dtype == at::kBFloat16;
  const bool has_dimensions = std::any_of(tensors.begin(), tensors.end(), [&](const at::Tensor& tensor) {
    return tensor.dim() > 0 && tensor.scalar_type() == dtype;
  });
  if (half && has_dimensions) dtype = at::kFloat;
  return at::scalar_tensor(number.item(), at::TensorOptions().dtype(dtype));
}

[[nodiscard]] inline torch::jit::Value* insert_list(torch::jit::Graph& graph, const BoundArgument& argument,
                                                    const std::vector<torch::jit::Value*>& tensors) {
  std::vector<torch::jit::Value*> items;
  for (const std::int32_t position : argument.positions) {
    items.push_back(position == BoundArgument::hole ? graph.insertConstant(c10::IValue())
                                                    : tensors[static_cast<std::size_t>(position)]);
  }
  const c10::TypePtr element = argument.kind == BoundArgument::Kind::tensor_list
                                   ? c10::TypePtr(c10::TensorType::get())
                                   : c10::TypePtr(c10::OptionalType::ofTensor());
  return graph.insertNode(graph.createList(element, items))->output();
}

[[nodiscard]] inline torch::jit::Value* insert_argument(torch::jit::Graph& graph, const OperatorCall& call,
                                                        const BoundArgument& argument,
                                                        const std::vector<torch::jit::Value*>& tensors) {
  switch (argument.kind) {
    case BoundArgument::Kind::tensor:
      return tensors[static_cast<std::size_t>(argument.positions.front())];
    case BoundArgument::Kind::tensor_list:
    case BoundArgument::Kind::optional_tensor_list:
      return insert_list(graph, argument, tensors);
    case BoundArgument::Kind::constant:
      break;
  }
  if (argument.value.isTensor() && argument.value.toTensor().defined()) {
    return graph.insertConstant(unwrapped_number(argument.value.toTensor(), call.tensors()));
  }
  return graph.insertConstant(argument.value);
}

/// The call as the body of `graph`. The tensors of the call become inputs, after the ones that it has.
inline void insert_call(torch::jit::Graph& graph, const OperatorCall& call) {
  std::vector<torch::jit::Value*> tensors;
  for (std::size_t i = 0; i < call.tensors().size(); ++i) {
    tensors.push_back(graph.addInput("tensor" + std::to_string(i))->setType(c10::TensorType::get()));
  }
  std::vector<torch::jit::Value*> inputs;
  for (const BoundArgument& argument : call.arguments()) {
    inputs.push_back(insert_argument(graph, call, argument, tensors));
  }
  const std::vector<c10::Argument>& returns = call.schema().returns();
  torch::jit::Node* node =
      graph.insertNode(graph.create(c10::Symbol::fromQualString(call.schema().name()), inputs, returns.size()));
  for (std::size_t i = 0; i < returns.size(); ++i) node->output(i)->setType(returns[i].type());
  // TorchScript has no way to name an overload: it takes the first with fitting parameters. That must be ours.
  const c10::FunctionSchema* resolved = node->maybeSchema();
  if (resolved == nullptr) throw Unsupported("TorchScript has no operator for " + call.signature());
  if (resolved->operator_name() != call.schema().operator_name()) {
    throw Unsupported("TorchScript takes " + dotted_name(resolved->operator_name()) + " for " + call.signature());
  }
  if (returns.empty()) {
    // TorchScript sees no write to the tensors of a list. It keeps the call if the list is returned.
    std::vector<torch::jit::Value*> lists;
    for (std::size_t i = 0; i < inputs.size(); ++i)
      if (call.arguments()[i].is_list()) lists.push_back(inputs[i]);
    graph.registerOutput(lists.empty() ? graph.insertConstant(c10::IValue())
                                       : graph.insertNode(graph.createTuple(lists))->output());
  } else if (returns.size() == 1) {
    graph.registerOutput(node->output());
  } else {
    graph.registerOutput(graph.insertNode(graph.createTuple(node->outputs()))->output());
  }
}

/// An operator that returns its operand. TorchScript removes none of its calls, since they may do anything, so that
/// their operands must be computed. Each call is a beat of activity().
[[nodiscard]] inline c10::Symbol consuming_operator() {
  static const torch::jit::RegisterOperators registered({torch::jit::Operator(
      "operator_benchmark::_consume(t self) -> t",
      [](torch::jit::Stack& /*stack*/) { activity()->running(activity()->implementation); },
      c10::AliasAnalysisKind::CONSERVATIVE)});
  static const c10::Symbol symbol = c10::Symbol::fromQualString("operator_benchmark::_consume");
  return symbol;
}

/// Returns a graph that runs `forward`, the graph of a method, in a loop and consumes the result of each iteration. Its
/// inputs are the module, a number of iterations, and the other inputs of `forward`.
[[nodiscard]] inline std::shared_ptr<torch::jit::Graph> looped(torch::jit::Graph& forward) {
  auto graph = std::make_shared<torch::jit::Graph>();
  std::vector<torch::jit::Value*> inputs{graph->addInput("self")->setType(forward.inputs()[0]->type())};
  torch::jit::Value* iterations = graph->addInput("iterations")->setType(c10::IntType::get());
  for (std::size_t i = 1; i < forward.inputs().size(); ++i)
    inputs.push_back(graph->addInput("tensor" + std::to_string(i - 1))->setType(forward.inputs()[i]->type()));
  torch::jit::Value* goes_on = graph->insertConstant(true);
  torch::jit::Node* loop = graph->insertNode(graph->create(torch::jit::prim::Loop, {iterations, goes_on}, 0));
  torch::jit::Block* body = loop->addBlock();
  body->addInput("iteration")->setType(c10::IntType::get());
  {
    const torch::jit::WithInsertPoint inside(body);
    for (torch::jit::Value* result : torch::jit::insertGraph(*graph, forward, inputs))
      graph->insertNode(graph->create(consuming_operator(), {result}))->output()->setType(result->type());
    body->registerOutput(goes_on);
  }
  graph->registerOutput(graph->insertConstant(c10::IValue()));
  return graph;
}

}  // namespace detail

/// The call as a TorchScript module. Its `forward` takes the tensors of the call and returns the operator's results.
/// Several results are a tuple. An operator without results returns the lists of tensors that it takes. Everything else
/// is constant. `module.save(path)` makes a file that LibTorch and PyTorch load. Throws `Unsupported` when TorchScript
/// cannot express the call.
[[nodiscard]] inline torch::jit::Module to_torchscript(const OperatorCall& call) {
  torch::jit::Module module("__torch__.pace.Subject");
  auto graph = std::make_shared<torch::jit::Graph>();
  graph->addInput("self")->setType(module.type());
  try {
    detail::insert_call(*graph, call);
  } catch (const c10::Error& error) {
    throw Unsupported("TorchScript cannot express " + call.signature() + ": " + error.what_without_backtrace());
  }
  torch::jit::Function* forward = module._ivalue()->compilation_unit()->create_function(
      c10::QualifiedName(*module.type()->name(), "forward"), graph);
  module.type()->addMethod(forward);
  return module;
}

class TorchScriptExecutable final : public Executable {
 public:
  TorchScriptExecutable(torch::jit::Module module, const OperatorCall& call)
      : module_(std::move(module)),
        forward_(module_.get_method("forward").function()),
        reshapes_input_(call.reshapes_input()),
        returns_nothing_(call.schema().returns().empty()) {}

  [[nodiscard]] c10::IValue run(const std::vector<at::Tensor>& tensors) override {
    stack_.clear();
    stack_.emplace_back(module_._ivalue());
    stack_.insert(stack_.end(), tensors.begin(), tensors.end());
    if (reshapes_input_) stack_[1] = OperatorCall::reshapable(tensors.front());
    // Not `Method::operator()`: that checks every argument against the schema, which an interpreter run need not.
    forward_.run(stack_);
    return returns_nothing_ ? c10::IValue() : std::move(stack_.front());
  }

  /// By one loop of TorchScript, which consumes the result of each iteration. A call that reshapes its operand needs
  /// another view of it in each iteration, so that it is run one by one.
  void repeat(const std::vector<at::Tensor>& tensors, std::int64_t iterations) override {
    if (reshapes_input_) return Executable::repeat(tensors, iterations);
    if (loop_ == nullptr) {
      loop_ = module_._ivalue()->compilation_unit()->create_function(
          c10::QualifiedName(*module_.type()->name(), "repeat"),
          detail::looped(*torch::jit::toGraphFunction(forward_).graph()));
      module_.type()->addMethod(loop_);
    }
    stack_.clear();
    stack_.emplace_back(module_._ivalue());
    stack_.emplace_back(iterations);
    stack_.insert(stack_.end(), tensors.begin(), tensors.end());
    loop_->run(stack_);
  }

 private:
  torch::jit::Module module_;
  torch::jit::Function& forward_;         // owned by the module's compilation unit
  torch::jit::Function* loop_ = nullptr;  // as forward_; null until it is needed
  bool reshapes_input_, returns_nothing_;
  torch::jit::Stack stack_;
};

class TorchScriptBackend final : public Backend {
 public:
  [[nodiscard]] std::string name() const override { return "torchscript"; }
  [[nodiscard]] bool uses_fuser() const override { return true; }

  [[nodiscard]] std::unique_ptr<Executable> prepare(const OperatorCall& call) override {
    return std::make_unique<TorchScriptExecutable>(to_torchscript(call), call);
  }
};

}  // namespace pace::benches::operators
