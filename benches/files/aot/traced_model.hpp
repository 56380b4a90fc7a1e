// TracedModel: a model's step, traced once. Other ways to make that step are derived from it.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include <ATen/core/Tensor.h>
#include <ATen/core/grad_mode.h>
#include <ATen/core/ivalue.h>
#include <ATen/core/stack.h>
#include <torch/csrc/jit/api/module.h>
#include <torch/csrc/jit/serialization/import.h>

#include "benches/files/aot/compiled_step.hpp"
#include "benches/files/aot/definition_store.hpp"
#include "benches/files/aot/exported_package.hpp"
#include "benches/files/aot/map_tensors.hpp"
#include "benches/files/aot/model_step.hpp"
#include "benches/files/aot/tensor_metadata.hpp"
#include "benches/files/aot/traced.hpp"
#include "benches/files/aot/training_package.hpp"
#include "pace/base/error.hpp"
#include "pace/check/ivalue.hpp"
#include "pace/training/gradient.hpp"

namespace pace::benches::aot {

/// Replaces the parameters of a model, which lose their gradients, and its buffers by copies of their values.
inline void copy_state(ModelStep& model) {
  const at::NoGradGuard values_alone;
  for (at::Tensor& parameter : model.step.parameters)
    parameter = parameter.detach().clone().set_requires_grad(parameter.requires_grad());
  for (at::Tensor& buffer : model.buffers) buffer = buffer.detach().clone();
}

namespace detail {

/// `like` with its tensors replaced by the next ones of `tensors`, in order.
[[nodiscard]] inline c10::IValue rebuild(const c10::IValue& like, const std::vector<at::Tensor>& tensors,
                                         std::size_t& next) {
  return map_tensors(like, [&](const at::Tensor&) { return tensors.at(next++); });
}

/// Appends the tensors of all inputs, in order.
inline void append_tensors(const torch::jit::Stack& inputs, std::vector<at::Tensor>& tensors) {
  for (const auto& input : inputs)
    for (auto& tensor : check::tensors_of(input)) tensors.push_back(std::move(tensor));
}

/// Makes a package's run the forward of `model`, with the model's parameters and buffers.
template <class Package>
[[nodiscard]] std::function<c10::IValue(torch::jit::Stack&)> forward_of(std::shared_ptr<Package> package,
                                                                        const ModelStep& model) {
  return [package = std::move(package), parameters = model.step.parameters,
          buffers = model.buffers](torch::jit::Stack& inputs) -> c10::IValue {
    std::vector<at::Tensor> operands = parameters;
    append_tensors(inputs, operands);
    operands.insert(operands.end(), buffers.begin(), buffers.end());
    const auto outputs = package->run(operands);
    return c10::ivalue::Tuple::create(std::vector<c10::IValue>(outputs.begin(), outputs.end()));
  };
}

}  // namespace detail

/// Steps made of one share the parameters and buffers of the model that was traced, unless they are opened with copies.
class TracedModel {
 public:
  /// A step, and the cost of making it.
  struct Opened {
    ModelStep model;
    benches::aot::PackageCosts costs = {};
    /// The batches that a package for any batch takes.
    std::optional<benches::aot::TensorMetadata::Range> batch = {};
    /// See InferencePackage::folded().
    std::int64_t folded = 0;
  };

  /// Runs the model's forward twice: first to learn the form of its answer, then traced. Throws Unsupported with the
  /// reason if that cannot be done.
  TracedModel(const std::string& name, ModelStep model, GradientOf gradient)
      : model_(std::move(model)), gradient_(std::move(gradient)), traced_(trace(name)) {}

  /// Packages are to take any number of samples: it is the first size of these inputs (positions among all tensors of
  /// `inputs`).
  void free_batch(const std::vector<std::size_t>& inputs) {
    for (const std::size_t input : inputs) traced_.inputs.at(input).batch = benches::aot::TensorMetadata::Range{};
  }

  /// Packages of the forward hold the values that parameters and buffers have now, unless the forward writes to them.
  void freeze() {
    auto& constants = traced_.constants = model_.step.parameters;
    constants.resize(traced_.parameters.size() + traced_.inputs.size() - model_.buffers.size());
    constants.insert(constants.end(), model_.buffers.begin(), model_.buffers.end());
    traced_.constants_digest = digest_of_tensors(constants);
  }

  [[nodiscard]] benches::aot::PackageRequest request() const {
    return {&traced_,
            model_.step.backward ? benches::aot::PackageKind::training : benches::aot::PackageKind::inference};
  }
  [[nodiscard]] const benches::aot::Traced& traced() const noexcept { return traced_; }

#if PACE_HAS_AOT_INDUCTOR
  /// As AOTInductor's code. Compiles missing packages. `with_copies`: parameters and buffers are copies, so that no
  /// other step writes to them or to their gradients. Throws Unsupported with the reason if it cannot be compiled.
  [[nodiscard]] Opened open_package(benches::aot::DefinitionStore& store, bool with_copies = false) const {
    Opened opened{.model = model_};
    if (with_copies) copy_state(opened.model);
    if (model_.step.backward) {
      auto package =
          std::make_shared<benches::aot::TrainingPackage>(benches::aot::TrainingPackage::open(store, traced_));
      opened.costs = package->costs();
      opened.model.step =
          training_step(std::move(package), opened.model.step.parameters, gradient_, traced_.differentiated);
      if (!model_.buffers.empty())
        opened.model.step.forward = [inner = std::move(opened.model.step.forward),
                                     buffers = opened.model.buffers](torch::jit::Stack& inputs) {
          torch::jit::Stack operands = inputs;
          operands.insert(operands.end(), buffers.begin(), buffers.end());
          return inner(operands);
        };
    } else {
      auto package =
          std::make_shared<benches::aot::InferencePackage>(benches::aot::InferencePackage::open(store, traced_));
      opened.costs = package->costs();
      opened.batch = package->batch();
      opened.folded = package->folded();
      opened.model.step.forward = detail::forward_of(std::move(package), opened.model);
    }
    complete_answers(opened.model);
    return opened;
  }
#else
  [[nodiscard]] Opened open_package(benches::aot::DefinitionStore&, bool = false) const {
    throw Unsupported("this LibTorch has no loader for AOTInductor's packages");
  }
#endif

#if PACE_HAS_NATIVERT
  /// The forward as an exported program that NativeRT runs. Exports a missing program. Throws Unsupported with the
  /// reason if it cannot be exported, or has a backward.
  [[nodiscard]] Opened open_exported(benches::aot::DefinitionStore& store) const {
    if (model_.step.backward) throw Unsupported("not implemented: an exported program here is a forward alone");
    Opened opened{.model = model_};
    auto package = std::make_shared<benches::aot::ExportedPackage>(benches::aot::ExportedPackage::open(store, traced_));
    opened.costs = package->costs();
    opened.model.step.forward = detail::forward_of(std::move(package), opened.model);
    complete_answers(opened.model);
    return opened;
  }
#else
  [[nodiscard]] Opened open_exported(benches::aot::DefinitionStore&) const {
    throw Unsupported("this LibTorch has no NativeRT");
  }
#endif

  /// As TorchScript, saved and loaded again. Its backward is autograd's. Throws Unsupported if it does not load.
  [[nodiscard]] Opened open_script() const {
    Opened opened{.model = model_};
    std::istringstream saved(traced_.script);
    auto module = [&] {
      try {
        return std::make_shared<torch::jit::Module>(torch::jit::load(saved));
      } catch (const c10::Error& error) {
        throw Unsupported(traced_.name + " does not load as TorchScript: " +
                          benches::aot::detail::first_line(error.what_without_backtrace()));
      }
    }();
    opened.model.step.forward = [module, parameters = model_.step.parameters, buffers = model_.buffers,
                                 trains = static_cast<bool>(model_.step.backward)](torch::jit::Stack& inputs) {
      const at::AutoGradMode with_gradients(trains);
      std::vector<at::Tensor> operands = parameters;
      detail::append_tensors(inputs, operands);
      operands.insert(operands.end(), buffers.begin(), buffers.end());
      torch::jit::Stack stack{module->_ivalue()};
      stack.insert(stack.end(), operands.begin(), operands.end());
      module->get_method("forward").function().run(stack);
      return std::move(stack.front());
    };
    if (model_.step.backward) {
      const std::size_t loss = traced_.differentiated.front();
      opened.model.step.backward_setup = [setup = model_.step.backward_setup, loss](const c10::IValue& output) {
        return setup(output.toTupleRef().elements()[loss]);
      };
    }
    complete_answers(opened.model);
    return opened;
  }

 private:
  /// Gives flat results the structure of the model's answer.
  void complete_answers(ModelStep& derived) const {
    derived.step.gradients = model_.step.gradients;
    derived.step.answer = [like = like_, answer = model_.step.answer](const c10::IValue& output) {
      std::size_t next = 0;
      const c10::IValue whole = detail::rebuild(like, check::tensors_of(output), next);
      return answer ? answer(whole) : whole;
    };
  }

  [[nodiscard]] benches::aot::Traced trace(const std::string& name) {
    benches::aot::Definition definition;
    definition.name = name;
    definition.parameters = model_.step.parameters;
    detail::append_tensors(model_.inputs, definition.inputs);
    definition.inputs.insert(definition.inputs.end(), model_.buffers.begin(), model_.buffers.end());
    const torch::jit::Stack like = model_.inputs;
    definition.forward = [&](const std::vector<at::Tensor>&, const std::vector<at::Tensor>& inputs) {
      torch::jit::Stack stack;
      std::size_t next = 0;
      for (const auto& input : like) stack.push_back(detail::rebuild(input, inputs, next));
      return check::tensors_of(model_.step.forward(stack));
    };
    const std::size_t start = differentiated(name);
    // Without parameters nothing can be differentiated.
    definition.differentiated.clear();
    if (!definition.parameters.empty()) definition.differentiated = {start};
    return benches::aot::trace(definition);
  }

  /// Which of the tensors that forward returns the backward starts from. Learns the form of its answer on the way.
  [[nodiscard]] std::size_t differentiated(const std::string& name) {
    const at::AutoGradMode with_gradients(true);
    torch::jit::Stack inputs = model_.inputs;
    const c10::IValue output = model_.step.forward(inputs);
    const auto outputs = check::tensors_of(output);
    std::size_t found = 0;
    if (model_.step.backward) {
      const at::Tensor start = model_.step.backward_setup(output).toTupleRef().elements()[0].toTensor();
      const auto same = [&](const at::Tensor& each) { return each.is_same(start); };
      found = static_cast<std::size_t>(std::ranges::find_if(outputs, same) - outputs.begin());
    }
    if (found == outputs.size())
      throw Unsupported(name + " cannot be compiled; why: its backward starts from a tensor made of several outputs");
    std::vector<at::Tensor> values;
    for (const auto& each : outputs) values.push_back(each.detach());
    std::size_t next = 0;
    like_ = detail::rebuild(output, values, next);
    return found;
  }

  ModelStep model_;
  GradientOf gradient_;
  c10::IValue like_;
  benches::aot::Traced traced_;
};

}  // namespace pace::benches::aot
