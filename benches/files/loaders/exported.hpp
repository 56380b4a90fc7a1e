// Exported programs: files of torch.export.save, run by LibTorch's NativeRT, operator by operator.
#pragma once

#include <algorithm>
#include <cctype>
#include <cstddef>
#include <exception>
#include <memory>
#include <optional>
#include <sstream>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <ATen/core/ivalue.h>

#include "benches/files/aot/libtorch_parts.hpp"
#include "benches/files/aot/package_key.hpp"
#include "benches/files/loaders/call_spec.hpp"
#include "benches/files/loaders/captured_errors.hpp"
#include "benches/files/loaders/loader.hpp"
#include "benches/files/loaders/program_facts.hpp"
#include "benches/files/loaders/program_of_buffers.hpp"
#include "pace/base/error.hpp"
#include "pace/check/out_of_memory.hpp"

#if PACE_HAS_NATIVERT
#include <torch/nativert/ModelRunnerHandle.h>
#endif

namespace pace::benches::loaders {

/// The names of the exported programs in an archive.
[[nodiscard]] inline std::vector<std::string> exported_models(const Content& content) {
  return content.names_between("models/", ".json");
}

/// Effects of a call of that operator beside computing with its tensors, in words; empty: nothing. ATen's operators are
/// known, and of those that call graphs the ones that NativeRT has.
[[nodiscard]] inline std::string effect_beyond_tensors(const std::string& name) {
  if (name.starts_with("aten.from_file")) return "a call of " + name + ", which reads and writes files";
  for (const auto* known : {"aten.", "prims.", "quantized.", "higher_order.cond", "higher_order.while_loop"})
    if (name.starts_with(known)) return {};
  return "a call of " + name + ", which is none of ATen's operators and may do anything";
}

/// NativeRT's message where an operator of a program fails. It has the stack of the C++ code and of the exporting
/// Python program, and the cause in between.
struct NodeFailure {
  std::string cause;   ///< such as `The size of tensor a (2) must match the size of tensor b (4) ...`
  std::string node;    ///< `%copy_ = torch.ops.aten.copy_.default(self=%b_cache, src=%cat)`
  std::string python;  ///< the line of Python that was exported; empty: unknown
};

/// Returns the parts of a message of NativeRT; nothing where it has another form.
[[nodiscard]] inline std::optional<NodeFailure> read_node_failure(const std::string& message) {
  constexpr std::string_view head = "Exception while executing node: ", stack = "\nException raised from ",
                             traced = "Original Python stacktrace:\n";
  const auto end = message.find(stack);
  if (!message.starts_with(head) || end == std::string::npos) return std::nullopt;
  NodeFailure failure;
  failure.node = message.substr(head.size(), message.find('\n') - head.size());
  // Its arguments, one a line, end with an empty line.
  const auto gap = message.find("\n\n");
  failure.cause = gap < end ? message.substr(gap + 2, end - gap - 2) : "an operator of the program failed";
  // Behind it stands the stack of the exception that NativeRT made of this one.
  if (const auto at = message.find(traced, end); at != std::string::npos) {
    failure.python = message.substr(at + traced.size());
    failure.python.resize(std::min(failure.python.find(stack), failure.python.size()));
  }
  while (!failure.python.empty() && std::isspace(static_cast<unsigned char>(failure.python.back())) != 0)
    failure.python.pop_back();
  for (auto line = failure.python.find('\n'); line != std::string::npos; line = failure.python.find('\n', line))
    failure.python.replace(line, failure.python.find_first_not_of("\n ", line) - line, ": ");
  failure.python.erase(0, failure.python.find_first_not_of(' '));
  return failure;
}

/// Returns the message in three parts. `state`: the buffers that calls write to. Their shapes must stay.
[[nodiscard]] inline std::string text_of(const NodeFailure& failure, const std::vector<Buffer>& state) {
  std::string text = failure.cause + "; why: the program executed " + failure.node;
  if (!failure.python.empty()) text += ", of " + failure.python;
  for (const auto& buffer : state) {
    // As torch.export calls the input of a buffer.
    std::string input = "self=%b_" + buffer.name + ",";
    std::ranges::replace(input, '.', '_');
    if (failure.node.find("aten.copy_.") == std::string::npos || failure.node.find(input) == std::string::npos)
      continue;
    std::ostringstream sizes;
    sizes << buffer.value.sizes();
    return text + "; try: a forward() that leaves the buffer '" + buffer.name + "' its shape " + sizes.str() +
           ", since NativeRT stores what a call makes of it there";
  }
  return text;
}

/// The leaves of `inputs` as the program takes them. Throws InputError, which names the file and the argument.
[[nodiscard]] inline std::vector<c10::IValue> leaves_for(const std::string& path, const ProgramFacts& facts,
                                                         const CallInputs& inputs, const TensorPlaces& places = {}) {
  std::vector<c10::IValue> leaves;
  try {
    leaves = CallSpec(facts.in_spec(), facts.argument_names()).flatten(inputs.inputs());
  } catch (const Error& error) {
    throw InputError({path}, error.what());
  }
  facts.check(leaves, places);
  return leaves;
}

#if PACE_HAS_NATIVERT

namespace detail {

class BoundProgram final : public BoundCall {
 public:
  BoundProgram(torch::nativert::ModelRunnerHandle& runner, std::vector<c10::IValue> leaves, const CallInputs& inputs,
               const std::vector<Buffer>& state)
      : runner_(runner), leaves_(std::move(leaves)), state_(state) {
    for (std::size_t i = 0; i < leaves_.size(); ++i) {
      if (!leaves_[i].isTensor()) continue;
      tensors_.emplace_back(i, inputs.index_of(leaves_[i].toTensor()));
      leaves_[i] = c10::IValue();
    }
    for (std::size_t i = 0; i < state_.size(); ++i) {
      tensors_.emplace_back(leaves_.size(), inputs.tensors().size() + i);
      leaves_.emplace_back();
    }
  }

  [[nodiscard]] std::vector<at::Tensor> run(const std::vector<at::Tensor>& tensors) override {
    std::vector<c10::IValue> flat = leaves_;
    for (const auto& [leaf, position] : tensors_) flat[leaf] = tensors[position];
    try {
      return flat_outputs(runner_.runWithFlatInputsAndOutputs(std::move(flat)));
    } catch (const std::exception& error) {
      // Another type would hide that memory ran out.
      const auto failure = check::means_out_of_memory(error) ? std::nullopt : read_node_failure(error.what());
      if (!failure) throw;
      throw Error(text_of(*failure, state_));
    }
  }
  [[nodiscard]] const std::vector<Buffer>& state() const override { return state_; }

 private:
  torch::nativert::ModelRunnerHandle& runner_;
  /// The program's arguments without the tensors. Each call gives those, by leaf and position.
  std::vector<c10::IValue> leaves_;
  std::vector<std::pair<std::size_t, std::size_t>> tensors_;
  const std::vector<Buffer>& state_;
};

class LoadedProgram final : public Loaded {
 public:
  /// `path`: of the archive that is loaded: the one of `content`, or a copy that has the buffers `state` among its
  /// inputs.
  LoadedProgram(const Content& content, const std::string& path, const std::string& model, ProgramFacts facts,
                std::vector<Buffer> state)
      : path_(content.path()), facts_(std::move(facts)), state_(std::move(state)) {
    // NativeRT warns there of each operator that it calls through the dispatcher.
    const CapturedErrors warnings;
    runner_.emplace(path, model);
  }

  [[nodiscard]] std::unique_ptr<BoundCall> bind(const CallInputs& inputs) override {
    return std::make_unique<BoundProgram>(*runner_, leaves_for(path_, facts_, inputs), inputs, state_);
  }

 private:
  std::string path_;
  ProgramFacts facts_;
  std::vector<Buffer> state_;
  std::optional<torch::nativert::ModelRunnerHandle> runner_;
};

}  // namespace detail

#endif  // PACE_HAS_NATIVERT

class ExportedLoader final : public Loader {
 public:
  [[nodiscard]] std::string name() const override { return "torch.export"; }
  [[nodiscard]] bool recognises(const Content& content) const override { return !exported_models(content).empty(); }
  [[nodiscard]] std::string code_in(const Content& content) const override {
    if (content.has_below("data/aotinductor/")) return "compiled code (a shared library) beside the exported program";
    for (const auto& model : exported_models(content)) {
      const ProgramFacts facts(content, model);
      for (const auto& name : facts.operators())
        if (auto effect = effect_beyond_tensors(name); !effect.empty()) return effect;
    }
    return {};
  }
  void require_loadable(const Content& content, const LoadOptions& options) const override {
    const ProgramFacts facts(content, choose_model(content, exported_models(content), options.model));
    if (options.has_libraries) facts.require_operators();
  }
  /// Also of the package that is compiled from the program: it takes the same inputs as the program.
  [[nodiscard]] InputCheck input_check(const Content& content, const LoadOptions& options) const override {
    return [facts = ProgramFacts(content, choose_model(content, exported_models(content), options.model)),
            path = content.path()](const CallInputs& inputs, const TensorPlaces& places) {
      (void)leaves_for(path, facts, inputs, places);
    };
  }
  [[nodiscard]] std::unique_ptr<Loaded> load([[maybe_unused]] const Content& content,
                                             [[maybe_unused]] const LoadOptions& options) const override {
#if PACE_HAS_NATIVERT
    const std::string model = choose_model(content, exported_models(content), options.model);
    ProgramFacts facts(content, model);
    facts.require_operators();
    const std::string version = facts.torch_version();
    // Exceptions of these are none of NativeRT's.
    const auto& written = facts.written_buffers();
    std::vector<Buffer> state;
    for (const auto& name : written) state.push_back({name, read_buffer(content, model, name, options.device)});
    std::optional<ProgramOfBuffers> copy;
    if (!written.empty()) copy.emplace(content, model, written);
    try {
      return std::make_unique<detail::LoadedProgram>(content, copy ? copy->path() : content.path(), model,
                                                     std::move(facts), std::move(state));
    } catch (const std::exception& error) {
      throw InputError({content.path()}, "NativeRT does not load the exported program, which torch " + version +
                                             " wrote (this is " + aot::torch_version() + "): " + first_line(error));
    }
#else
    throw Unsupported(content.path() + ": this LibTorch has no NativeRT, which runs exported programs");
#endif
  }
};

}  // namespace pace::benches::loaders
