// TorchScript files, from torch.jit.save and ScriptModule.save.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <ATen/MemoryOverlap.h>
#include <ATen/core/Tensor.h>
#include <ATen/core/function_schema.h>
#include <ATen/core/ivalue.h>
#include <ATen/core/stack.h>
#include <c10/core/InferenceMode.h>
#include <torch/csrc/jit/api/module.h>
#include <torch/csrc/jit/serialization/import.h>

#include "benches/files/loaders/loader.hpp"
#include "benches/files/loaders/program_facts.hpp"
#include "benches/operators/calls/arguments.hpp"
#include "pace/base/error.hpp"
#include "pace/check/clone_input.hpp"

namespace pace::benches::loaders {

namespace detail {

/// An attribute of a module, or of one inside it, that holds a tensor which is no parameter.
struct ScriptBuffer {
  std::string name;  ///< as `layers.0.cache`
  c10::intrusive_ptr<c10::ivalue::Object> owner;
  std::size_t slot;
  at::Tensor value;  ///< as the file has it

  /// Not defined: a call has put None there.
  [[nodiscard]] at::Tensor now() const {
    const auto& value = owner->getSlot(slot);
    return value.isTensor() ? value.toTensor() : at::Tensor();
  }
  void set(const at::Tensor& tensor) const { owner->setSlot(slot, tensor); }
};

inline void find_buffers(const torch::jit::Module& module, const std::string& prefix,
                         std::vector<ScriptBuffer>& buffers) {
  std::set<std::string> parameters;
  for (const auto& each : module.named_parameters(/*recurse=*/false)) parameters.insert(each.name);
  for (const auto& each : module.named_attributes(/*recurse=*/false))
    if (each.value.isTensor() && each.value.toTensor().defined() && !parameters.contains(each.name))
      buffers.push_back(
          {prefix + each.name, module._ivalue(), module.type()->getAttributeSlot(each.name), each.value.toTensor()});
  for (const auto& each : module.named_children()) find_buffers(each.value, prefix + each.name + '.', buffers);
}

}  // namespace detail

/// The method forward of a module, bound to the arguments of one case.
class BoundScript final : public BoundCall {
 public:
  BoundScript(torch::jit::Module module, const CallInputs& inputs, const std::string& path)
      : module_(std::move(module)), method_(module_.get_method("forward")), path_(path) {
    const c10::FunctionSchema& whole = method_.function().getSchema();
    // The first argument is the module itself.
    const c10::FunctionSchema schema =
        whole.cloneWithArguments({whole.arguments().begin() + 1, whole.arguments().end()});
    operators::ArgumentBinder binder("forward", schema, Location{path});
    arguments_ = binder.bind(inputs.inputs());
    const auto indices = inputs.indices_of(binder.tensors);
    for (auto& argument : arguments_)
      for (auto& position : argument.positions)
        if (position != operators::BoundArgument::hole)
          position = static_cast<std::int32_t>(indices[static_cast<std::size_t>(position)]);
  }

  [[nodiscard]] std::vector<at::Tensor> run(const std::vector<at::Tensor>& tensors) override {
    torch::jit::Stack stack;
    stack.reserve(arguments_.size());
    for (const auto& argument : arguments_) stack.push_back(argument.with(tensors));
    for (std::size_t i = 0; i < written_.size(); ++i) written_[i].set(given(tensors, i));
    auto outputs = flat_outputs(method_(std::move(stack)));
    for (std::size_t i = 0; i < written_.size(); ++i) {
      // A module may put another tensor in the place of a buffer.
      const at::Tensor left = written_[i].now();
      if (!left.is_same(given(tensors, i))) given(tensors, i).copy_(left);
    }
    return outputs;
  }
  [[nodiscard]] const std::vector<Buffer>& state() const override { return state_; }

  /// Calls on copies of the inputs to find which `buffers` a call writes to. The caller then gives those. Errors of
  /// that call are left to the compared calls. Throws Unsupported for a buffer that a call replaces by one of another
  /// size or type, and for one that shares its memory with another.
  void find_state(std::vector<detail::ScriptBuffer> buffers, const CallInputs& inputs) {
    // Tensors of the inference mode count no versions.
    const c10::InferenceMode counting(false);
    std::vector<at::Tensor> copies, tensors, left;
    std::vector<std::uint32_t> versions;
    for (auto& buffer : buffers) {
      copies.push_back(check::clone_input(buffer.value));
      versions.push_back(copies.back()._version());
      buffer.set(copies.back());
    }
    bool returned = true;
    try {
      for (const auto& tensor : inputs.tensors()) tensors.push_back(check::clone_input(tensor));
      const c10::InferenceMode inference;
      (void)run(tensors);
    } catch (const std::exception&) {
      returned = false;
    }
    for (auto& buffer : buffers) {
      left.push_back(buffer.now());
      buffer.set(buffer.value);
    }
    first_state_ = inputs.tensors().size();
    for (std::size_t i = 0; i < buffers.size(); ++i) {
      const bool is_replaced = !copies[i].is_same(left[i]);
      // A normalisation writes its running statistics without counting a version.
      const bool is_written = copies[i]._version() != versions[i] || !same_bytes(copies[i], buffers[i].value);
      if (!returned || (!is_replaced && !is_written)) {
        others_.push_back(std::move(buffers[i]));
        continue;
      }
      if (is_replaced) require_same_kind(buffers[i], left[i]);
      written_.push_back(std::move(buffers[i]));
    }
    refresh_state();
  }

  void also_take(const std::vector<Buffer>& state) override {
    const auto is_other = [&](const detail::ScriptBuffer& buffer) {
      return std::ranges::find(state, buffer.name, &Buffer::name) == state.end();
    };
    const auto taken = std::ranges::stable_partition(others_, is_other);
    for (auto& buffer : taken) written_.push_back(std::move(buffer));
    others_.erase(taken.begin(), taken.end());
    refresh_state();
  }

 private:
  [[nodiscard]] const at::Tensor& given(const std::vector<at::Tensor>& tensors, std::size_t buffer) const {
    return tensors.at(first_state_ + buffer);
  }

  void require_same_kind(const detail::ScriptBuffer& buffer, const at::Tensor& left) const {
    const auto text = [](const at::Tensor& tensor) { return detail::tensor_text(tensor, tensor.device()); };
    if (left.defined() && left.sizes() == buffer.value.sizes() && left.scalar_type() == buffer.value.scalar_type())
      return;
    throw Unsupported(path_ + ": a call replaces the buffer '" + buffer.name + "', which is " + text(buffer.value) +
                      ", by " + (left.defined() ? text(left) : "None") +
                      "; why: each side is given this buffer in memory of its own, where calls leave what they write; "
                      "try: a buffer of the full size, into which calls write at a position (index_copy_)");
  }

  /// To be called when `written_` has changed.
  void refresh_state() {
    std::ranges::sort(written_, {}, &detail::ScriptBuffer::name);
    state_.clear();
    for (const auto& buffer : written_) {
      for (const auto* all : {&written_, &others_})
        for (const auto& other : *all)
          if (&other != &buffer && other.value.is_alias_of(buffer.value) &&
              at::get_overlap_status(other.value, buffer.value) != at::MemOverlapStatus::No)
            throw Unsupported(
                path_ + ": calls write to the buffer '" + buffer.name + "', which shares memory with the buffer '" +
                other.name +
                "'; why: each side is given each buffer in memory of its own, where a write to one is not "
                "seen in the other; try: one buffer, and views of it that forward takes");
      state_.push_back({buffer.name, buffer.value});
    }
  }

  torch::jit::Module module_;
  torch::jit::Method method_;
  std::string path_;
  std::vector<operators::BoundArgument> arguments_;
  /// The buffers that the caller gives, in the order of their names, and the others.
  std::vector<detail::ScriptBuffer> written_, others_;
  std::vector<Buffer> state_;
  std::size_t first_state_ = 0;
};

namespace detail {

class LoadedScript final : public Loaded {
 public:
  LoadedScript(torch::jit::Module module, std::string path) : module_(std::move(module)), path_(std::move(path)) {
    std::vector<ScriptBuffer> found;
    find_buffers(module_, "", found);
    std::ranges::sort(found, {}, &ScriptBuffer::name);
    // A module that stands in two places has each of its buffers once.
    std::set<std::pair<const c10::ivalue::Object*, std::size_t>> places;
    for (auto& buffer : found)
      if (places.emplace(buffer.owner.get(), buffer.slot).second) buffers_.push_back(std::move(buffer));
  }

  [[nodiscard]] std::unique_ptr<BoundCall> bind(const CallInputs& inputs) override {
    auto bound = std::make_unique<BoundScript>(module_, inputs, path_);
    if (!buffers_.empty()) bound->find_state(buffers_, inputs);
    return bound;
  }
  [[nodiscard]] std::vector<std::string> notes() const override {
    // The module that LibTorch makes of a scripted function, which has no modes and no eval().
    const auto& name = module_.type()->name();
    const bool is_function = name && name->name() == "PlaceholderModule";
    if (!is_function && module_.hasattr("training") && module_.is_training())
      return {path_ + " was saved in training mode, in which it is called: expected module.eval() before it is saved"};
    return {};
  }

 private:
  torch::jit::Module module_;
  std::string path_;
  std::vector<ScriptBuffer> buffers_;
};

}  // namespace detail

/// Throws InputError: a name behind the file's has no meaning for TorchScript.
[[noreturn]] inline void refuse_program_of_script(const Content& content, const std::string& program) {
  throw InputError({content.path()}, "a TorchScript file holds one module; expected its name without ':" + program +
                                         "', which is for archives of several programs");
}

/// The module of a TorchScript file, which has a method forward. Throws InputError, which names the file.
[[nodiscard]] inline torch::jit::Module load_script(const Content& content, const LoadOptions& options) {
  if (!options.model.empty()) refuse_program_of_script(content, options.model);
  try {
    auto module = torch::jit::load(content.path(), options.device);
    if (!module.find_method("forward"))
      throw InputError({content.path()},
                       "the TorchScript file has no method forward, as one that torch::save wrote; expected a module");
    return module;
  } catch (const Error&) {
    throw;
  } catch (const std::exception& error) {
    const auto* const torch = dynamic_cast<const c10::Error*>(&error);
    std::string text = torch != nullptr ? torch->what_without_backtrace() : error.what();
    // The rest is its place in the file.
    while (text.starts_with('\n')) text.erase(0, 1);
    const std::string line = text.substr(0, text.find('\n'));
    const bool lacks_operator = line.find("Unknown builtin op") != std::string::npos;
    throw InputError({content.path()}, "the TorchScript file does not load: " + line +
                                           (lacks_operator ? " Expected --library with the shared library that "
                                                             "registers this operator"
                                                           : ""));
  }
}

class TorchScriptLoader final : public Loader {
 public:
  [[nodiscard]] std::string name() const override { return "TorchScript"; }
  [[nodiscard]] bool recognises(const Content& content) const override {
    return content.has("constants.pkl") && content.has("data.pkl");
  }
  [[nodiscard]] std::string code_in(const Content& /*content*/) const override {
    return "a program in TorchScript, which may call every operator, those that read and write files among them";
  }
  void require_loadable(const Content& content, const LoadOptions& options) const override {
    if (!options.model.empty()) refuse_program_of_script(content, options.model);
  }
  [[nodiscard]] std::unique_ptr<Loaded> load(const Content& content, const LoadOptions& options) const override {
    return std::make_unique<detail::LoadedScript>(load_script(content, options), content.path());
  }
};

}  // namespace pace::benches::loaders
