// Model: a whole model with its inputs and its loss, and the register that models are found in by name.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include <ATen/core/Tensor.h>
#include <ATen/core/ivalue.h>
#include <ATen/core/stack.h>
#include <c10/core/Device.h>
#include <torch/nn/module.h>

#include "benches/models/suite.hpp"
#include "pace/base/error.hpp"
#include "pace/check/ivalue.hpp"

namespace pace::benches::aot {
struct PackageOptions;
}

namespace pace::benches::models {

/// A model is made in the size that was published, or with fewer layers and channels and smaller inputs, for a CPU.
enum class ModelSize { published, small };

/// The purpose of a model. The model is made on the CPU, in float32; the caller moves and casts it.
struct ModelRequest {
  ModelSize size = ModelSize::published;
  /// First size of its inputs.
  std::int64_t batch_size = 1;
  /// The device that it is going to run on. Parts that cannot be moved, such as a compiled program, are made there.
  c10::Device device = c10::kCPU;
};

/// Thrown where the file of a model, or the inputs for it, cannot be used: the user's mistake, and the model's row.
class FileRefused : public Unsupported {
 public:
  using Unsupported::Unsupported;
};

/// First sizes of inputs: those from `low` to `high` that leave `remainder` when they are divided by `step`.
struct BatchRange {
  std::int64_t low = 1, high = std::numeric_limits<std::int64_t>::max(), step = 1, remainder = 0;

  [[nodiscard]] bool has(std::int64_t size) const {
    return size >= low && size <= high && (size - remainder) % step == 0;
  }
  /// The largest of them that is no larger than `size`; nothing if there is none.
  [[nodiscard]] std::optional<std::int64_t> at_most(std::int64_t size) const {
    const std::int64_t bound = std::min(size, high);
    if (bound < low) return std::nullopt;
    const std::int64_t largest = bound - ((bound - remainder) % step + step) % step;
    return largest < low ? std::nullopt : std::optional(largest);
  }
  /// As `1 or more`, `2 to 64`, `4, 6, 8, ...` or `5, 8, ..., 65`.
  [[nodiscard]] std::string to_string() const {
    const bool open = high == std::numeric_limits<std::int64_t>::max();
    if (step == 1) return std::to_string(low) + (open ? " or more" : " to " + std::to_string(high));
    const auto last = at_most(high);
    if (!last) return "none";
    const std::int64_t first = low + ((remainder - low) % step + step) % step;
    if (open) return std::to_string(first) + ", " + std::to_string(first + step) + ", ...";
    std::string text = std::to_string(first);
    if (*last > first)
      text += (*last == first + step ? ", " : ", " + std::to_string(first + step) + ", ..., ") + std::to_string(*last);
    return text;
  }
};

/// How a back end runs a model that cannot be traced.
struct OtherForward {
  std::function<c10::IValue(const torch::jit::Stack& inputs)> forward;
  /// The seconds of compiling, if that was done now.
  std::optional<double> compile_seconds = {};
  BatchRange batches = {};  ///< that it takes
  std::vector<std::string> notes = {};
};

/// One instance of a model. Everything drawn for it comes from LibTorch's default generator, so that equal seeds make
/// equal instances.
struct Model {
  std::shared_ptr<torch::nn::Module> module;
  /// The arguments of `forward`: tensors, numbers, texts, None, and lists, tuples and dicts of these. The first size of
  /// the tensors that are batches is the batch size.
  torch::jit::Stack inputs;
  /// Calls the module: a tensor, a tuple or a list of tensors.
  std::function<c10::IValue(const torch::jit::Stack& inputs)> forward;
  /// A scalar made of the answer of `forward`. Empty: the mean of all its elements (see reduce_to_scalar_loss).
  std::function<at::Tensor(const c10::IValue& output)> loss = {};
  /// For a model that cannot be traced, has no parameters, and runs in one precision (a program in a file of another
  /// runtime): how the named back end runs it. `packages`: how they are compiled, and where they are kept. Throws
  /// Unsupported with the reason where it cannot. Empty: back ends trace `forward`.
  std::function<OtherForward(std::string_view backend, const aot::PackageOptions& packages)> by_backend = {};
};

namespace detail {

/// The type as which an input is handed to a module.
template <class Input>
using Given = std::conditional_t<std::is_convertible_v<Input, at::Tensor>, at::Tensor, Input>;

template <class Input>
concept IsInput = std::is_convertible_v<Input, at::Tensor> || requires(const Input& input, const c10::IValue& value) {
  pace::ToIValue<Input>::convert(input);
  value.to<Input>();
};

}  // namespace detail

/// A model of a module with a `forward` that takes as many values as there are inputs: tensors, and `std::vector`,
/// `std::tuple`, `c10::List` and `c10::Dict` of them.
template <class Module, class... Inputs>
  requires(detail::IsInput<Inputs> && ...)
[[nodiscard]] Model make_model(std::shared_ptr<Module> module, Inputs... inputs) {
  Model model{.module = module, .inputs = {pace::to_ivalue(detail::Given<Inputs>(inputs))...}, .forward = {}};
  model.forward = [module](const torch::jit::Stack& given) {
    return [&]<std::size_t... I>(std::index_sequence<I...>) {
      return pace::to_ivalue(module->forward(given.at(I).template to<detail::Given<Inputs>>()...));
    }(std::index_sequence_for<Inputs...>{});
  };
  return model;
}

/// A model by its name, and all that is known of it before it is made.
struct ModelEntry {
  std::string name;
  Suite suite = Suite::own;
  /// Its kind, as summaries group it: `cnn`, `transformer`, `recommendation`, ...
  std::string family;
  /// Batch sizes unless another one is asked for.
  std::int64_t training_batch = 1, inference_batch = 1;
  /// The parameters of the published size, as its authors or the common implementation count them; none: not published.
  std::optional<std::int64_t> published_parameters = {};
  /// The batch sizes that it takes; --find-batch-sizes tries these alone.
  BatchRange batches = {};
  /// Whether its inputs are given, so that accuracy runs have its own batch size rather than their suite's.
  bool inputs_are_given = false;
  /// Whether in training mode two calls with equal inputs give different outputs, by dropout or stochastic depth.
  bool draws = false;
  std::function<Model(const ModelRequest&)> make;
};

/// All models of a program, in the order of their registration.
[[nodiscard]] inline std::vector<ModelEntry>& registered_models() {
  static std::vector<ModelEntry> models;
  return models;
}

/// Registers a model. The source file may be in any target that depends on `//benches/models:program`. See `zoo/`, and
/// `examples/own_model` for a user's model:
///
///   const pace::benches::models::Registered mine({.name = "mine", .family = "cnn",
///       .training_batch = 8, .inference_batch = 8, .make = [](const ModelRequest& request) {
///         return make_model(std::make_shared<MyNet>(), torch::randn({request.batch_size, 3, 32, 32}));
///       }});
struct Registered {
  explicit Registered(ModelEntry entry) { registered_models().push_back(std::move(entry)); }
};

}  // namespace pace::benches::models
