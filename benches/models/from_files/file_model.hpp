// FileModel: a file that Python wrote (TorchScript, torch.export, AOTInductor) as a model, as in the zoo.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <ATen/core/Tensor.h>
#include <ATen/core/ivalue.h>
#include <ATen/core/stack.h>
#include <ATen/ops/cat.h>
#include <c10/core/Device.h>
#include <torch/csrc/jit/frontend/tracer.h>
#include <torch/csrc/jit/runtime/graph_executor.h>

#include "benches/files/aot/map_tensors.hpp"
#include "benches/files/aot/package_options.hpp"
#include "benches/files/files.hpp"
#include "benches/models/from_files/script_module.hpp"
#include "benches/models/model.hpp"
#include "benches/models/model_file.hpp"
#include "pace/base/error.hpp"
#include "pace/check/clone_input.hpp"
#include "pace/check/ivalue.hpp"

namespace pace::benches::models {

/// The kinds of files, and how each serves as a model.
enum class FileKind {
  script,    ///< TorchScript: parameters that can be trained and cast, code that can be traced
  exported,  ///< torch.export: weights as constants, run by NativeRT or compiled
  compiled   ///< AOTInductor: compiled code, which runs as it is
};

/// One set of inputs. Its batch can be resized.
class BatchedInputs {
 public:
  /// The batch is the first size of the first tensor that has one, and of all tensors with the same first size.
  explicit BatchedInputs(loaders::CallInputs inputs) : inputs_(std::move(inputs)) {
    const auto& tensors = inputs_.tensors();
    for (std::size_t i = 0; i < tensors.size(); ++i) {
      if (tensors[i].dim() == 0) continue;
      if (batch_.empty()) size_ = tensors[i].size(0);
      if (tensors[i].size(0) == size_) batch_.push_back({.number = i});
    }
  }
  /// A tensor with a first size of `times` * n + `plus`. All batches have the same n.
  struct Batch {
    std::size_t number = 0;  ///< of the tensor
    std::int64_t times = 1, plus = 0;
  };
  /// `batch`: the tensors that are batches, at least one. The first one's size is the batch size.
  BatchedInputs(loaders::CallInputs inputs, std::vector<Batch> batch)
      : inputs_(std::move(inputs)),
        batch_(std::move(batch)),
        size_(inputs_.tensors().at(batch_.front().number).size(0)) {}

  [[nodiscard]] const loaders::CallInputs& whole() const { return inputs_; }
  /// The number of the first tensor that is a batch. There must be one.
  [[nodiscard]] std::size_t first_batch() const { return batch_.at(0).number; }
  /// 1 where no tensor is a batch.
  [[nodiscard]] std::int64_t size() const { return size_; }
  [[nodiscard]] bool has_batch() const { return !batch_.empty() && size_ > 0; }

  /// The inputs for `size` samples: batches are cut, or their last sample is repeated, as torchbench varies them.
  /// Throws FileRefused where no tensor is a batch, or the batch cannot have that size.
  [[nodiscard]] loaders::CallInputs of_size(std::int64_t size, std::optional<c10::Device> device = std::nullopt) const {
    if (size != size_ && !has_batch()) throw FileRefused("no tensor of its inputs has a first size that is a batch");
    std::vector<at::Tensor> tensors = inputs_.tensors();
    if (size != size_) {
      const Batch& first = batch_.front();
      if ((size - first.plus) % first.times != 0) throw FileRefused("its batch has no size of " + std::to_string(size));
      const std::int64_t number = (size - first.plus) / first.times;
      for (const Batch& each : batch_)
        tensors[each.number] = resized(tensors[each.number], each.times * number + each.plus);
    }
    std::size_t next = 0;
    const auto replace = [&](const at::Tensor&) { return tensors[next++]; };
    inputs::Inputs made;
    for (const auto& value : inputs_.inputs().args) made.args.push_back(aot::map_tensors(value, replace));
    for (const auto& [name, value] : inputs_.inputs().kwargs)
      made.kwargs.emplace_back(name, aot::map_tensors(value, replace));
    return loaders::CallInputs(made, device);
  }

 private:
  [[nodiscard]] static at::Tensor resized(const at::Tensor& tensor, std::int64_t size) {
    const std::int64_t own = tensor.size(0);
    if (size < 0 || (own == 0 && size > 0))
      throw FileRefused("a tensor of " + std::to_string(own) + " samples cannot have " + std::to_string(size));
    if (size <= own) return tensor.narrow(0, 0, size).contiguous();
    auto added = tensor.sizes().vec();
    added.front() = size - own;
    return at::cat({tensor, tensor.narrow(0, own - 1, 1).expand(added)});
  }

  loaders::CallInputs inputs_;
  std::vector<Batch> batch_;
  std::int64_t size_ = 1;
};

/// A file with its inputs. It makes any number of instances.
class FileModel : public std::enable_shared_from_this<FileModel> {
 public:
  /// Reads the inputs, and the facts in the file of an exported program. Runs no code of the file. `libraries` register
  /// operators of the file. Throws InputError for a file of unknown kind, and for inputs that cannot be read or that an
  /// exported program does not take.
  FileModel(ModelFile file, std::uint64_t seed, std::vector<std::string> libraries)
      : file_(std::move(file)), libraries_(std::move(libraries)) {
    const loaders::Content content(file_.path);
    const loaders::Loader& loader = loaders::loader_of(content);
    family_ = loader.name();
    const bool is_script = dynamic_cast<const loaders::TorchScriptLoader*>(&loader) != nullptr;
    if (is_script && !file_.program.empty()) loaders::refuse_program_of_script(content, file_.program);
    const bool is_exported = dynamic_cast<const loaders::ExportedLoader*>(&loader) != nullptr;
    if (!is_script && !is_exported && dynamic_cast<const loaders::PackageLoader*>(&loader) == nullptr)
      throw InputError({file_.path}, "this is a file of the kind " + family_ +
                                         ", which is no model; expected TorchScript, torch.export or AOTInductor");
    kind_ = is_script ? FileKind::script : is_exported ? FileKind::exported : FileKind::compiled;
    inputs_.emplace(read_inputs(seed));
    if (is_exported) read_facts(content);
    require_samples();
  }

  [[nodiscard]] const ModelFile& file() const { return file_; }
  [[nodiscard]] FileKind kind() const { return kind_; }
  [[nodiscard]] const BatchedInputs& inputs() const { return *inputs_; }
  /// Where an exported program runs; none: anywhere, or not known before it is loaded.
  [[nodiscard]] std::optional<c10::DeviceType> device() const {
    return facts_ ? std::optional(facts_->device()) : std::nullopt;
  }

  /// The batches that it takes, as far as the file says. Only an exported program says so.
  [[nodiscard]] const BatchRange& batches() const { return batches_; }
  /// The size of an exported program's batch as an expression of its symbols, such as `2*s77`; empty: no size varies.
  [[nodiscard]] const std::string& batch_expression() const { return batch_expression_; }
  /// Whether batch_expression() is anything but a symbol times a number plus a number. Then its sizes are unknown.
  [[nodiscard]] bool has_unknown_batches() const { return has_unknown_batches_; }

  /// Throws InputError if the file says that it does not take a batch of that size. The message has the argument, the
  /// expected and the given size.
  void require_batch(std::int64_t size) const {
    if (size != inputs_->size() && !inputs_->has_batch())
      throw InputError({file_.path}, "no tensor of its inputs has a first size that is a batch");
    if (size != inputs_->size() && has_unknown_batches_)
      throw InputError({file_.path}, "its batch is " + batch_expression_ +
                                         ", which is no symbol times a number plus a number, so that only the size of "
                                         "the inputs is known to be one, " +
                                         std::to_string(inputs_->size()));
    if (!batch_expression_.empty() && !batches_.has(size))
      throw InputError({file_.path}, "argument '" + batch_argument_ + "': expected " + expected_batch_ +
                                         ", found a batch of " + std::to_string(size));
    if (facts_) (void)loaders::leaves_for(file_.path, *facts_, inputs_->of_size(size), {.matter = false});
  }

  /// The entry for the program's list of models. It keeps this object.
  [[nodiscard]] ModelEntry entry() {
    return {.name = file_.name,
            .suite = Suite::own,
            .family = family_,
            .training_batch = inputs_->size(),
            .inference_batch = inputs_->size(),
            .batches = batches_,
            .inputs_are_given = true,
            .make = [self = shared_from_this()](const ModelRequest& request) { return self->make(request); }};
  }

 private:
  struct Bound {
    std::shared_ptr<loaders::Loaded> loaded;  // the object that `call` refers to; null: none
    std::shared_ptr<loaders::BoundCall> call;

    [[nodiscard]] c10::IValue operator()(const torch::jit::Stack& inputs) const {
      // A trace would miss code that the interpreter fuses, or differentiates by itself.
      std::optional<torch::jit::GraphOptimizerEnabledGuard> plain;
      if (torch::jit::tracer::isTracing()) plain.emplace(false);
      std::vector<at::Tensor> tensors;
      for (const auto& input : inputs)
        check::for_each_tensor(input, [&](const at::Tensor& tensor) { tensors.push_back(tensor); });
      auto outputs = call->run(tensors);
      if (outputs.size() == 1) return std::move(outputs.front());
      return outputs;
    }
  };

  [[nodiscard]] BatchedInputs read_inputs(std::uint64_t seed) const {
    const loaders::InputOptions options{
        .inputs = file_.inputs, .names_operator = "", .size_names = loaders::SizeNames::refused};
    const auto cases = loaders::find_cases(options, [](const std::string&) {});
    if (cases.size() != 1)
      throw InputError({file_.inputs}, "these are " + std::to_string(cases.size()) +
                                           " sets of inputs; expected one for a model, as a file or as text");
    try {
      // The inputs themselves, and copies for some instances.
      return BatchedInputs(loaders::make_inputs(cases.front(), c10::kCPU, seed, 4));
    } catch (const InputError&) {
      throw;
    } catch (const std::exception& error) {
      throw InputError({"--inputs " + file_.inputs}, loaders::reason_of(error));
    }
  }

  /// Throws InputError for a batch without samples, with the argument that is one.
  void require_samples() const {
    if (inputs_->size() > 0) return;
    const std::size_t batch = inputs_->first_batch();
    std::size_t next = 0;
    const auto refuse_if_there = [&](const std::string& name, const c10::IValue& value) {
      next += check::tensors_of(value).size();
      if (next <= batch) return;
      throw InputError({"--inputs " + file_.inputs}, "argument " + name + " of " + file_.name +
                                                         ": expected at least 1 sample as its first size, which is the "
                                                         "batch, found 0 in a tensor of the sizes " +
                                                         c10::str(inputs_->whole().tensors()[batch].sizes()));
    };
    const auto& inputs = inputs_->whole().inputs();
    for (std::size_t i = 0; i < inputs.args.size(); ++i) refuse_if_there(std::to_string(i), inputs.args[i]);
    for (const auto& [name, value] : inputs.kwargs) refuse_if_there('\'' + name + '\'', value);
  }

  void read_facts(const loaders::Content& content) {
    facts_.emplace(content, loaders::choose_model(content, loaders::exported_models(content), file_.program));
    const loaders::CallInputs whole = inputs_->whole();
    const auto leaves = loaders::leaves_for(file_.path, *facts_, whole, {.matter = false});
    // It names the sizes that may vary. All that share the first one's symbol are the batch.
    std::vector<BatchedInputs::Batch> batch;
    std::string symbol;
    for (std::size_t i = 0; i < leaves.size(); ++i) {
      const auto& expected = facts_->inputs()[i];
      if (!expected.is_tensor || expected.sizes.empty() || expected.sizes.front().fixed) continue;
      const auto& size = expected.sizes.front();
      if (batch_expression_.empty()) {
        batch_expression_ = size.expression;
        batch_argument_ = expected.name;
        expected_batch_ = expected.to_string();
        symbol = size.symbol;
        has_unknown_batches_ = symbol.empty();
        batches_ = sizes_of(size, whole.tensors()[whole.index_of(leaves[i].toTensor())].size(0));
      }
      if (!symbol.empty() && size.symbol == symbol)
        batch.push_back({.number = whole.index_of(leaves[i].toTensor()), .times = size.times, .plus = size.plus});
    }
    if (!batch.empty()) inputs_.emplace(whole, std::move(batch));
  }

  /// `given` is the size in the inputs.
  [[nodiscard]] static BatchRange sizes_of(const loaders::ExpectedSize& size, std::int64_t given) {
    if (size.symbol.empty()) return {.low = given, .high = given};
    const auto [low, high] = size.range();
    const std::int64_t step = size.times < 0 ? -size.times : size.times;
    return {.low = std::max<std::int64_t>(low, 1),
            .high = high,
            .step = step,
            .remainder = (size.plus % step + step) % step};
  }

  /// Throws FileRefused for a file that does not load here, and for inputs that it does not take.
  [[nodiscard]] Model make(const ModelRequest& request) const {
    try {
      const auto inputs =
          std::make_shared<const loaders::CallInputs>(inputs_->of_size(request.batch_size, request.device));
      const loaders::Content content(file_.path);
      loaders::require_whole(content);
      const loaders::LoadOptions options{.device = request.device, .model = file_.program};
      Model model;
      Bound bound;
      if (kind_ == FileKind::script) {
        const auto module = std::make_shared<ScriptModule>(loaders::load_script(content, options));
        bound.call = std::make_shared<loaders::BoundScript>(module->script(), *inputs, file_.path);
        model.module = module;
      } else {
        bound.loaded = loaders::loader_of(content).load(content, options);
        bound.call = bound.loaded->bind(*inputs);
        model.module = std::make_shared<torch::nn::Module>();
        model.by_backend = [self = shared_from_this(), inputs, options, bound](std::string_view backend,
                                                                               const aot::PackageOptions& packages) {
          return self->by_backend(backend, packages, *inputs, options, bound);
        };
      }
      model.forward = bound;
      model.inputs = inputs->inputs().args;
      for (const auto& [name, value] : inputs->inputs().kwargs) model.inputs.push_back(value);
      // Inputs are restored before each call: so are the buffers that calls write to.
      for (const auto& buffer : bound.call->state()) model.inputs.emplace_back(check::clone_input(buffer.value));
      return model;
    } catch (const FileRefused&) {
      throw;
    } catch (const Error& error) {
      const std::string text = error.what();
      throw FileRefused(text.starts_with(file_.path) ? text : file_.path + ": " + text);
    }
  }

  [[nodiscard]] OtherForward by_backend(std::string_view backend, const aot::PackageOptions& packages,
                                        const loaders::CallInputs& inputs, loaders::LoadOptions options,
                                        const Bound& as_it_is) const {
    if (kind_ == FileKind::compiled)
      throw Unsupported(file_.path + " is compiled code, from which no other back end can be derived");
    OtherForward made{.forward = as_it_is, .batches = batches_};
    if (backend == "nativert") return made;
    if (backend != "aot_inductor")
      throw Unsupported(file_.path + " is run by NativeRT, and no TorchScript can be traced of that");
    loaders::ExportedPackages store(packages, libraries_);
    Bound bound;
    bound.loaded = loaders::load_compiled(loaders::Content(file_.path), options, store);
    bound.call = bound.loaded->bind(inputs);
    bound.call->also_take(as_it_is.call->state());
    loaders::require_same_state(file_.name, as_it_is.call->state(), std::string(backend), bound.call->state());
    made.notes = bound.loaded->notes();
    made.compile_seconds = store.compile_seconds();
    made.forward = std::move(bound);
    return made;
  }

  ModelFile file_;
  std::vector<std::string> libraries_;
  FileKind kind_ = FileKind::script;
  std::string family_;
  std::optional<BatchedInputs> inputs_;
  std::optional<loaders::ProgramFacts> facts_;
  BatchRange batches_;
  /// The size of an exported program's batch, the argument that has it first, and the expected text of that one.
  std::string batch_expression_, batch_argument_, expected_batch_;
  bool has_unknown_batches_ = false;
};

}  // namespace pace::benches::models
