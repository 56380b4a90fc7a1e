// A function of TorchScript, from text or traced, with its weights.
#pragma once

#include <memory>
#include <string>
#include <utility>

#include <ATen/core/stack.h>
#include <torch/csrc/jit/api/compilation_unit.h>
#include <torch/jit.h>

#include "benches/rnn/model_def.hpp"

namespace pace::benches::rnn {

/// Compiled anew for each model: the profiling executor's knowledge of one must not serve another.
///
/// Loops over time are compiled from text, as fastrnns scripts them, and not traced. A trace would be the loop
/// unrolled: a graph of as many cells as there are steps, for one length of sequence only.
class Script {
 public:
  /// `weights` are the last arguments of the function `name` of `text`.
  Script(const std::string& text, const std::string& name, Stack weights)
      : unit_(torch::jit::compile(text)), function_(&unit_->get_function(name)), weights_(std::move(weights)) {}

  /// `weights` are the last inputs of the graph.
  Script(std::shared_ptr<torch::jit::Graph> graph, Stack weights)
      : unit_(std::make_shared<torch::jit::CompilationUnit>()),
        function_(unit_->create_function("forward", std::move(graph))),
        weights_(std::move(weights)) {}

  [[nodiscard]] c10::IValue operator()(Stack arguments) const {
    arguments.insert(arguments.end(), weights_.begin(), weights_.end());
    function_->run(arguments);
    return std::move(arguments.front());
  }

 private:
  std::shared_ptr<torch::jit::CompilationUnit> unit_;
  torch::jit::Function* function_;  // owned by unit_
  Stack weights_;
};

}  // namespace pace::benches::rnn
