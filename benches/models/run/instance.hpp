// Instance: a model made for a seed, a size, a device and a precision; and copies of it with equal values.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <ATen/Context.h>
#include <ATen/core/Tensor.h>
#include <ATen/core/grad_mode.h>
#include <ATen/core/ivalue.h>
#include <ATen/core/stack.h>
#include <c10/core/Device.h>
#include <torch/nn/module.h>

#include "benches/models/model.hpp"
#include "benches/models/run/input_tensors.hpp"
#include "pace/base/error.hpp"
#include "pace/check/clone_input.hpp"
#include "pace/check/restore.hpp"

namespace pace::benches::models {

struct InstanceOptions {
  ModelSize size = ModelSize::published;
  std::int64_t batch_size = 1;
  c10::Device device = c10::kCPU;
  /// The type that floating parameters, buffers and inputs are cast to; none: as they were made.
  std::optional<at::ScalarType> cast = {};
  /// Around forward and loss.
  std::optional<at::ScalarType> autocast = {};
  /// With a loss and gradients.
  bool training = false;
  /// Whether the module is told that it trains (dropout, batch norm); else it is told to evaluate.
  bool train_mode = false;
  bool channels_last = false;
  std::uint64_t seed = 1337;
};

struct Instance {
  /// Must outlive it.
  const ModelEntry* entry = nullptr;
  InstanceOptions options;
  Model model;

  [[nodiscard]] const std::string& name() const noexcept { return entry->name; }
};

namespace detail {

[[nodiscard]] inline at::Tensor converted(const at::Tensor& tensor, const InstanceOptions& options) {
  const bool casts = options.cast && at::isFloatingType(tensor.scalar_type());
  const auto type = casts ? *options.cast : tensor.scalar_type();
  at::Tensor result = tensor.to(tensor.options().dtype(type).device(options.device));
  if (options.channels_last && result.dim() == 4) result = result.contiguous(at::MemoryFormat::ChannelsLast);
  return result;
}

inline void convert(torch::nn::Module& module, const InstanceOptions& options) {
  const at::NoGradGuard values_alone;
  // Not Module::to: that casts integers, too.
  for (auto& tensor : module.parameters()) tensor.set_data(converted(tensor.detach(), options));
  for (auto& tensor : module.buffers()) tensor.set_data(converted(tensor.detach(), options));
  // Moves nothing any more, but this is how recurrent layers learn to lay their weights side by side again; else cuDNN
  // copies all of them in each call.
  module.to(options.device);
}

inline void convert(torch::jit::Stack& inputs, const InstanceOptions& options) {
  const at::NoGradGuard values_alone;
  inputs = map_tensors(inputs, [&](const at::Tensor& tensor) { return converted(tensor, options); });
}

/// Throws Error for an input that is neither a tensor nor a number, a text or None, nor made of these. `which`: the
/// model and the number of the input.
inline void require_usable_input(const std::string& which, const c10::IValue& input) {
  if (input.isTuple()) {
    for (const auto& element : input.toTupleRef().elements()) require_usable_input(which, element);
  } else if (input.isList()) {
    for (const c10::IValue& element : input.toListRef()) require_usable_input(which, element);
  } else if (input.isGenericDict()) {
    for (const auto& entry : input.toGenericDict()) require_usable_input(which, entry.value());
  } else if (input.isTensor() ? !input.toTensor().defined()
                              : !input.isScalar() && !input.isString() && !input.isNone()) {
    throw Error(which +
                ": expected inputs that are tensors, numbers, texts, None, or lists, tuples and dicts of these, " +
                "found " + (input.isTensor() ? "an undefined tensor" : input.tagKind()));
  }
}

/// Throws Error where the entry's function made nothing usable.
[[nodiscard]] inline Instance make_raw(const ModelEntry& entry, const InstanceOptions& options) {
  if (!entry.make) throw InputError({}, entry.name + ": a model needs a function that makes it");
  if (options.batch_size < 1)
    throw InputError({},
                     entry.name + ": expected a batch size of at least 1, found " + std::to_string(options.batch_size));
  at::manual_seed(options.seed);
  Instance instance{
      .entry = &entry, .options = options, .model = entry.make({options.size, options.batch_size, options.device})};
  if (!instance.model.module || !instance.model.forward)
    throw Error(entry.name + ": expected a model with a module and a forward, found none");
  for (std::size_t i = 0; i < instance.model.inputs.size(); ++i)
    require_usable_input(entry.name + ", input " + std::to_string(i), instance.model.inputs[i]);
  instance.model.module->train(options.train_mode);
  return instance;
}

}  // namespace detail

/// Equal for equal options. Throws InputError for a batch size below 1, and as making the model does.
[[nodiscard]] inline Instance make_instance(const ModelEntry& entry, const InstanceOptions& options) {
  Instance instance = detail::make_raw(entry, options);
  detail::convert(*instance.model.module, options);
  detail::convert(instance.model.inputs, options);
  return instance;
}

/// Another instance of the same model. Parameters, buffers and inputs have the values of `from`. `options` name the
/// precision and the device. Throws Error where making the model again does not give tensors of the same names and
/// shapes.
[[nodiscard]] inline Instance copy_instance(const Instance& from, InstanceOptions options) {
  options.seed = from.options.seed;
  options.size = from.options.size;
  options.batch_size = from.options.batch_size;
  Instance copy = detail::make_raw(*from.entry, options);
  detail::convert(*copy.model.module, options);
  const at::NoGradGuard values_alone;
  const auto copy_all = [&](const auto& sources, const auto& targets, const char* what) {
    const auto complain = [&](const std::string& found) {
      throw Error(from.name() + ": made again, it has other " + what + ": " + found);
    };
    if (sources.size() != targets.size())
      complain(std::to_string(targets.size()) + " instead of " + std::to_string(sources.size()));
    for (const auto& source : sources) {
      const at::Tensor* target = targets.find(source.key());
      if (target == nullptr || target->sizes() != source.value().sizes()) complain(source.key());
      // copy_ into a leaf that requires a gradient is allowed here, since nothing is recorded.
      const_cast<at::Tensor&>(*target).copy_(source.value());
    }
  };
  copy_all(from.model.module->named_parameters(), copy.model.module->named_parameters(), "parameters");
  copy_all(from.model.module->named_buffers(), copy.model.module->named_buffers(), "buffers");
  copy.model.inputs = clone_inputs(from.model.inputs);
  detail::convert(copy.model.inputs, options);
  return copy;
}

[[nodiscard]] inline Instance copy_instance(const Instance& from) { return copy_instance(from, from.options); }

/// In float64, without autocast. Throws Unsupported for a model that has one precision.
[[nodiscard]] inline Instance float64_copy(const Instance& from) {
  if (from.model.by_backend) throw Unsupported("its weights are in the file, in the type that it was exported with");
  InstanceOptions options = from.options;
  options.cast = at::kDouble;
  options.autocast = std::nullopt;
  return copy_instance(from, options);
}

namespace detail {

/// Once each, though weights may be tied.
[[nodiscard]] inline std::vector<at::Tensor> without_repeats(std::vector<at::Tensor> tensors) {
  std::vector<at::Tensor> each;
  for (auto& tensor : tensors) {
    const auto same = [&](const at::Tensor& other) { return other.is_same(tensor); };
    if (tensor.defined() && std::none_of(each.begin(), each.end(), same)) each.push_back(std::move(tensor));
  }
  return each;
}

}  // namespace detail

/// The trained parameters, once each.
[[nodiscard]] inline std::vector<at::Tensor> trained_parameters(const Instance& instance) {
  auto all = detail::without_repeats(instance.model.module->parameters());
  std::erase_if(all, [](const at::Tensor& tensor) { return !tensor.requires_grad(); });
  return all;
}

/// Everything else that the module holds: buffers, and parameters that are not trained.
[[nodiscard]] inline std::vector<at::Tensor> fixed_tensors(const Instance& instance) {
  auto all = instance.model.module->buffers();
  for (auto& parameter : instance.model.module->parameters())
    if (!parameter.requires_grad()) all.push_back(std::move(parameter));
  return detail::without_repeats(std::move(all));
}

/// Holds the current values of buffers, untrained parameters and inputs, and puts them back when it ends. A model may
/// write to all of these, and a CUDA graph's writes advance no version.
class StateKept {
 public:
  explicit StateKept(const Instance& instance) : tensors_(fixed_tensors(instance)) {
    for (auto& input : tensors_of_inputs(instance.model.inputs)) tensors_.push_back(std::move(input));
    for (const auto& tensor : tensors_) values_.push_back(check::clone_input(tensor));
  }
  StateKept(const StateKept&) = delete;
  StateKept& operator=(const StateKept&) = delete;
  ~StateKept() {
    for (std::size_t i = 0; i < tensors_.size(); ++i) {
      try {
        check::restore_tensor(values_[i], tensors_[i]);
      } catch (const std::exception&) {
        // The device is lost, or the model has changed the shape of an input: the next call finds that out.
      }
    }
  }

 private:
  std::vector<at::Tensor> tensors_, values_;
};

}  // namespace pace::benches::models
