// TorchScript files: what torch.jit.save and ScriptModule.save write.
#pragma once

#include <cstdint>
#include <exception>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <ATen/core/function_schema.h>
#include <ATen/core/ivalue.h>
#include <ATen/core/stack.h>
#include <torch/csrc/jit/api/module.h>
#include <torch/csrc/jit/serialization/import.h>

#include "benches/loaders/loader.hpp"
#include "benches/operators/calls/arguments.hpp"
#include "pace/core/error.hpp"

namespace pace::benches::loaders {

/// The method forward of a module, bound to the arguments of one case.
class BoundScript final : public BoundCall {
 public:
  BoundScript(torch::jit::Module module, const CallInputs& inputs, const std::string& path)
      : module_(std::move(module)), method_(module_.get_method("forward")) {
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
    return flat_outputs(method_(std::move(stack)));
  }

 private:
  torch::jit::Module module_;
  torch::jit::Method method_;
  std::vector<operators::BoundArgument> arguments_;
};

namespace detail {

class LoadedScript final : public Loaded {
 public:
  LoadedScript(torch::jit::Module module, std::string path) : module_(std::move(module)), path_(std::move(path)) {}

  [[nodiscard]] std::unique_ptr<BoundCall> bind(const CallInputs& inputs) override {
    return std::make_unique<BoundScript>(module_, inputs, path_);
  }
  [[nodiscard]] std::vector<std::string> notes() const override {
    if (module_.hasattr("training") && module_.is_training())
      return {path_ + " was saved in training mode, in which it is called: expected module.eval() before it is saved"};
    return {};
  }

 private:
  torch::jit::Module module_;
  std::string path_;
};

}  // namespace detail

/// Throws InputError: a name behind that of a file has no meaning for TorchScript.
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
    // What follows is where in the file it stands.
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
