// A definition as TorchScript: traced once, for every back end that is derived from it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <exception>
#include <memory>
#include <optional>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include <ATen/core/Tensor.h>
#include <ATen/core/grad_mode.h>
#include <ATen/core/ivalue.h>
#include <c10/core/Device.h>
#include <c10/util/Exception.h>
#include <c10/util/hash.h>
#include <torch/csrc/jit/api/module.h>
#include <torch/csrc/jit/frontend/tracer.h>
#include <torch/csrc/jit/ir/ir.h>

#include "benches/files/aot/definition.hpp"
#include "benches/files/aot/tensor_metadata.hpp"
#include "benches/files/aot/value_reads.hpp"
#include "pace/base/error.hpp"

namespace pace::benches::aot {

/// Holds none of the definition's tensors, but for constants.
struct Traced {
  std::string name;
  std::vector<TensorMetadata> parameters, inputs;
  /// How many.
  std::size_t outputs = 0;
  std::vector<std::size_t> differentiated;
  /// Its `forward` takes the parameters, then the inputs, and returns a tuple of the outputs.
  torch::jit::Module module;
  /// Values that a package of the forward may hold as constants, by the position of the operand among parameters and
  /// inputs; an undefined tensor for an operand that is none. Empty: all operands are given to each call.
  std::vector<at::Tensor> constants = {};
  /// SHA-1 of the constants' values; empty without any.
  std::string constants_digest = {};
  /// The module as a file that LibTorch and PyTorch load. Equal definitions give equal bytes.
  std::string script;

  /// Returns the device of its first operand.
  [[nodiscard]] c10::Device device() const { return (parameters.empty() ? inputs : parameters).at(0).device; }
};

namespace detail {

/// Restores the tensors' values when it ends.
class Unchanged {
 public:
  explicit Unchanged(const std::vector<at::Tensor>& tensors) : tensors_(tensors) {
    for (const at::Tensor& tensor : tensors) copies_.push_back(tensor.clone());
  }
  Unchanged(const Unchanged&) = delete;
  Unchanged& operator=(const Unchanged&) = delete;
  ~Unchanged() {
    const at::NoGradGuard values_alone;
    for (std::size_t i = 0; i < tensors_.size(); ++i) {
      // Not by version counters: batch norm writes without a word. An expanded tensor cannot be written to.
      if (tensors_[i].is_non_overlapping_and_dense() && !tensors_[i].equal(copies_[i])) tensors_[i].copy_(copies_[i]);
    }
  }

 private:
  const std::vector<at::Tensor>& tensors_;
  std::vector<at::Tensor> copies_;
};

[[nodiscard]] inline std::string first_line(const std::string& text) { return text.substr(0, text.find('\n')); }

/// The number of tensors that the nodes of a graph write to, each as often as it is written to; nothing: unknown, since
/// the graph calls functions.
[[nodiscard]] inline std::optional<std::int64_t> count_writes(const torch::jit::Block& block) {
  std::int64_t writes = 0;
  for (const torch::jit::Node* const node : block.nodes()) {
    if (node->kind() == c10::prim::CallFunction || node->kind() == c10::prim::CallMethod) return std::nullopt;
    for (const torch::jit::Block* const inner : node->blocks()) {
      const auto within = count_writes(*inner);
      if (!within) return std::nullopt;
      writes += *within;
    }
    const auto* const schema = node->maybeSchema();
    if (schema == nullptr) continue;
    for (std::size_t i = 0; i < schema->arguments().size() && i < node->inputs().size(); ++i) {
      const auto* const alias = schema->arguments()[i].alias_info();
      if (alias == nullptr || !alias->isWrite()) continue;
      const torch::jit::Node* const made_by = node->inputs()[i]->node();
      writes += made_by->kind() == c10::prim::ListConstruct ? static_cast<std::int64_t>(made_by->inputs().size()) : 1;
    }
  }
  return writes;
}

/// The sum of the tensors' versions, but for tensors that have none.
[[nodiscard]] inline std::int64_t sum_of_versions(const std::vector<at::Tensor>& tensors) {
  std::int64_t sum = 0;
  for (const at::Tensor& tensor : tensors)
    if (tensor.defined() && !tensor.is_inference()) sum += static_cast<std::int64_t>(tensor._version());
  return sum;
}

/// Runs forward once, recorded.
[[nodiscard]] inline std::shared_ptr<torch::jit::Graph> trace_graph(const Definition& definition, Traced& traced) {
  const Unchanged unchanged(definition.inputs);
  const at::AutoGradMode with_gradients(true);
  torch::jit::Stack operands(definition.parameters.begin(), definition.parameters.end());
  operands.insert(operands.end(), definition.inputs.begin(), definition.inputs.end());
  const auto call = [&](const torch::jit::Stack& tracked) {
    std::vector<at::Tensor> parameters, inputs;
    for (std::size_t i = 0; i < tracked.size(); ++i)
      (i < definition.parameters.size() ? parameters : inputs).push_back(tracked[i].toTensor());
    std::vector<c10::IValue> outputs;
    for (at::Tensor& output : definition.forward(parameters, inputs)) {
      if (!output.defined()) throw Error("output " + std::to_string(outputs.size()) + " is an undefined tensor");
      outputs.emplace_back(std::move(output));
    }
    if (outputs.empty()) throw Error("it returns nothing");
    traced.outputs = outputs.size();
    return torch::jit::Stack{c10::ivalue::Tuple::create(std::move(outputs))};
  };
  try {
    const ValueReads reads;
    const std::int64_t versions = sum_of_versions(definition.parameters) + sum_of_versions(definition.inputs);
    auto graph = torch::jit::tracer::trace(std::move(operands), call, [](const at::Tensor&) {
                   return std::string();
                 }).first->graph;
    // Results that depend on a value would stay as they are now.
    if (!reads.first().empty()) throw Error("it reads the values of a tensor (" + reads.first() + ')');
    // Operators that return nothing, such as those that write to lists of tensors, are in no trace.
    const auto written = count_writes(*graph->block());
    const std::int64_t advanced =
        sum_of_versions(definition.parameters) + sum_of_versions(definition.inputs) - versions;
    if (written && advanced > *written)
      throw Error("it writes to operands " + std::to_string(advanced) + " times, and the trace has " +
                  std::to_string(*written) + " of them: it calls operators that no trace records");
    return graph;
  } catch (const c10::Error& error) {
    throw Unsupported(definition.name + " cannot be traced: " + first_line(error.what_without_backtrace()));
  } catch (const std::exception& error) {
    throw Unsupported(definition.name + " cannot be traced: " + first_line(error.what()));
  }
}

}  // namespace detail

/// Runs the definition once, on its operands, and records its calls. Values of written inputs are put back. Throws
/// `Unsupported` with the reason when it cannot be recorded, `InputError` for a definition that contradicts itself.
[[nodiscard]] inline Traced trace(const Definition& definition) {
  if (!definition.forward) throw InputError({}, definition.name + ": a definition needs a forward");
  Traced traced{.name = definition.name,
                .parameters = {},
                .inputs = {},
                .differentiated = definition.differentiated,
                .module = torch::jit::Module("__torch__.pace.Definition"),
                .script = {}};
  const auto describe = [&](const std::vector<at::Tensor>& tensors, std::vector<TensorMetadata>& described) {
    for (const at::Tensor& tensor : tensors) {
      if (!tensor.defined()) throw InputError({}, definition.name + ": an operand is an undefined tensor");
      described.push_back(dense_metadata(tensor));
      if (tensor.device() != traced.device() && tensor.dim() != 0)
        throw InputError(
            {}, definition.name + ": operands on " + tensor.device().str() + " and on " + traced.device().str());
    }
  };
  if (definition.parameters.empty() && (definition.inputs.empty() || !definition.differentiated.empty()))
    throw InputError({},
                     definition.name + ": a definition needs parameters, or inputs where nothing is differentiated");
  for (const at::Tensor& parameter : definition.parameters) {
    if (!parameter.defined() || !parameter.requires_grad())
      throw InputError({}, definition.name + ": a parameter does not require a gradient");
  }
  describe(definition.parameters, traced.parameters);
  describe(definition.inputs, traced.inputs);

  const auto graph = detail::trace_graph(definition, traced);
  for (const std::size_t output : traced.differentiated) {
    if (output >= traced.outputs)
      throw InputError({}, definition.name + ": output " + std::to_string(output) +
                               " is to be differentiated, but it has " + std::to_string(traced.outputs));
  }
  graph->insertInput(0, "self")->setType(traced.module.type());
  graph->lint();
  torch::jit::Function* forward = traced.module._ivalue()->compilation_unit()->create_function(
      c10::QualifiedName(*traced.module.type()->name(), "forward"), graph);
  traced.module.type()->addMethod(forward);
  std::ostringstream script;
  traced.module.save(script);
  traced.script = std::move(script).str();
  return traced;
}

/// SHA-1 of types, sizes and values, in 40 hexadecimal digits. Undefined tensors count as such.
[[nodiscard]] inline std::string digest_of_tensors(const std::vector<at::Tensor>& tensors) {
  std::string text;
  for (const at::Tensor& tensor : tensors) {
    if (!tensor.defined()) {
      text += "-\n";
      continue;
    }
    const at::Tensor values = tensor.detach().cpu().contiguous();
    text += TensorMetadata::of(values).to_string() + ' ';
    text += c10::sha1(std::string(static_cast<const char*>(values.const_data_ptr()), values.nbytes())).str() + '\n';
  }
  return c10::sha1(text).str();
}

}  // namespace pace::benches::aot
