// Definitions as compiled code: InferencePackage for the forward alone, TrainingPackage for forward and backward.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include <ATen/core/Tensor.h>
#include <ATen/ops/empty_strided.h>
#include <nlohmann/json.hpp>

#include "benches/files/aot/definition_store.hpp"
#include "benches/files/aot/package_model.hpp"
#include "benches/files/aot/package_record.hpp"
#include "benches/files/aot/tensor_metadata.hpp"
#include "benches/files/aot/traced.hpp"
#include "pace/base/error.hpp"
#include "pace/os/parse_json.hpp"

#if PACE_HAS_AOT_INDUCTOR

namespace pace::benches::aot {

/// The cost of making a package ready, in seconds.
struct PackageCosts {
  /// Nothing where it was found compiled.
  std::optional<CompileTimes> compile;
  double load = 0;
};

namespace detail {

/// How to call the models of a training package: `layout` in its record (see compile_training.py).
struct TrainingLayout {
  /// The first arguments of the backward, and their places: an operand of the forward, or one of its outputs.
  struct Saved {
    bool is_operand;
    std::size_t position;
    TensorMetadata metadata;
  };
  std::size_t outputs = 0;
  std::vector<Saved> saved;
  std::vector<TensorMetadata> gradients_in;
  /// For each parameter the position of its gradient among the backward's outputs, if it has one.
  std::vector<std::optional<std::size_t>> gradients_out;

  [[nodiscard]] std::vector<TensorMetadata> backward_operands() const {
    std::vector<TensorMetadata> operands;
    for (const Saved& each : saved) operands.push_back(each.metadata);
    operands.insert(operands.end(), gradients_in.begin(), gradients_in.end());
    return operands;
  }
};

[[nodiscard]] inline nlohmann::json read_training_record(std::filesystem::path package) {
  return read_json_file<nlohmann::json>(package.replace_extension(".json").string(),
                                        "the record of a training step's package");
}

/// A whole number of the record. Throws `Error` for anything else.
template <class T>
[[nodiscard]] T whole_from_json(const nlohmann::json& json) {
  if (const auto number = whole_number<T>(json)) return *number;
  throw Error("the record of a training step's package: expected a whole number" +
              std::string(std::is_unsigned_v<T> ? " from 0 on" : "") + ", found " + json.dump());
}

/// Throws `Error`, or nlohmann::json's exceptions, if the record beside the package is not as the script writes it.
[[nodiscard]] inline TrainingLayout read_layout(std::filesystem::path package) {
  const auto json = read_training_record(std::move(package)).at("layout");
  TrainingLayout layout;
  layout.outputs = whole_from_json<std::size_t>(json.at("outputs"));
  for (const nlohmann::json& saved : json.at("saved")) {
    const bool is_operand = saved.contains("operand");
    layout.saved.push_back({is_operand, whole_from_json<std::size_t>(saved.at(is_operand ? "operand" : "output")),
                            metadata_from_json(saved)});
  }
  for (const nlohmann::json& tangent : json.at("tangents")) layout.gradients_in.push_back(metadata_from_json(tangent));
  for (const nlohmann::json& gradient : json.at("gradients")) {
    layout.gradients_out.push_back(gradient.is_null() ? std::nullopt
                                                      : std::optional(whole_from_json<std::size_t>(gradient)));
  }
  return layout;
}

/// The batches that a package for any batch takes: `batch` in its layout, where a null is no bound. Throws as
/// read_layout.
[[nodiscard]] inline TensorMetadata::Range read_batch(std::filesystem::path package) {
  const auto json = read_training_record(std::move(package)).at("layout").at("batch");
  TensorMetadata::Range range{.low = whole_from_json<std::int64_t>(json.at(0))};
  if (!json.at(1).is_null()) range.high = whole_from_json<std::int64_t>(json.at(1));
  return range;
}

/// The operands of a package with constants, and its uses of the constants.
struct ConstantsLayout {
  /// The operands by position; nothing: all, for there are no constants.
  std::optional<std::vector<std::size_t>> operands = {};
  /// How often something was folded into a constant weight.
  std::int64_t folded = 0;
};

/// `operands` and `folded` in the layout of a package of a definition with constants. Throws as read_layout.
[[nodiscard]] inline ConstantsLayout read_constants(std::filesystem::path package) {
  const auto layout = read_training_record(std::move(package)).at("layout");
  const auto operands = whole_numbers<std::size_t>(layout.at("operands"));
  if (!operands)
    throw Error("the record of a training step's package: operands: expected whole numbers, found " +
                layout.at("operands").dump());
  return {*operands, whole_from_json<std::int64_t>(layout.at("folded"))};
}

[[nodiscard]] inline std::vector<TensorMetadata> all_operands(const Traced& traced) {
  std::vector<TensorMetadata> operands = traced.parameters;
  operands.insert(operands.end(), traced.inputs.begin(), traced.inputs.end());
  return operands;
}

/// The same operands, with the batches that the package is for.
[[nodiscard]] inline std::vector<TensorMetadata> all_operands(const Traced& traced, const std::string& package) {
  auto operands = all_operands(traced);
  std::optional<TensorMetadata::Range> range;
  for (TensorMetadata& operand : operands) {
    if (!operand.batch) continue;
    if (!range) range = read_batch(package);
    operand.batch = range;
  }
  return operands;
}

/// The `operands` at these positions; all of them without positions. Throws std::out_of_range for a position beyond.
template <class T>
[[nodiscard]] std::vector<T> at_positions(const std::vector<T>& operands,
                                          const std::optional<std::vector<std::size_t>>& positions) {
  if (!positions) return operands;
  std::vector<T> chosen;
  chosen.reserve(positions->size());
  for (const std::size_t position : *positions) chosen.push_back(operands.at(position));
  return chosen;
}

/// Finds or compiles the package, makes a `Package` of its path, and keeps how long that took.
template <class Package>
[[nodiscard]] Package open_package(DefinitionStore& store, const Traced& traced, PackageKind kind) {
  return load_package([&] { return store.find(traced, kind).string(); }, [&] { return store.discard(traced, kind); },
                      [&](const std::string& path) {
                        const auto began = std::chrono::steady_clock::now();
                        Package package(path, traced);
                        const std::chrono::duration<double> taken = std::chrono::steady_clock::now() - began;
                        package.costs_ = {store.compile_times(traced, kind), taken.count()};
                        return package;
                      });
}

}  // namespace detail

/// The forward of a definition, without gradients.
class InferencePackage {
 public:
  /// Compiles the package if it is not there yet. Throws `Unsupported` with the reason when it cannot be made or
  /// loaded.
  [[nodiscard]] static InferencePackage open(DefinitionStore& store, const Traced& traced) {
    return detail::open_package<InferencePackage>(store, traced, PackageKind::inference);
  }

  /// `operands`: the parameters, then the inputs, of the metadata that the definition had (`Error` otherwise). Returns
  /// the outputs. Inputs that the definition writes to are written to.
  [[nodiscard]] std::vector<at::Tensor> run(const std::vector<at::Tensor>& operands) {
    return layout_.operands ? model_.run(detail::at_positions(operands, layout_.operands)) : model_.run(operands);
  }

  [[nodiscard]] const PackageCosts& costs() const noexcept { return costs_; }
  /// How often something (the scale of a batch norm) was folded into a weight that the code holds as a constant.
  [[nodiscard]] std::int64_t folded() const noexcept { return layout_.folded; }
  /// The batches that it takes; none: of one size.
  [[nodiscard]] std::optional<TensorMetadata::Range> batch() const {
    for (const TensorMetadata& operand : model_.operands())
      if (operand.batch) return operand.batch;
    return std::nullopt;
  }

 private:
  template <class Package>
  friend Package detail::open_package(DefinitionStore&, const Traced&, PackageKind);

  InferencePackage(const std::string& path, const Traced& traced)
      : layout_(traced.constants.empty() ? detail::ConstantsLayout() : detail::read_constants(path)),
        model_(path, "forward", "the compiled inference of " + traced.name,
               detail::at_positions(detail::all_operands(traced, path), layout_.operands)) {}

  detail::ConstantsLayout layout_;
  PackageModel model_;
  PackageCosts costs_;
};

/// Forward and backward of a definition, as two models that can be timed apart.
class TrainingPackage {
 public:
  struct Forward {
    std::vector<at::Tensor> outputs;
    /// For the backward: operands, outputs, and saved intermediate results.
    std::vector<at::Tensor> saved;
  };

  /// Compiles the package if it is not there yet. Throws `Unsupported` with the reason when it cannot be made or
  /// loaded.
  [[nodiscard]] static TrainingPackage open(DefinitionStore& store, const Traced& traced) {
    return detail::open_package<TrainingPackage>(store, traced, PackageKind::training);
  }

  /// `operands`: the parameters, then the inputs, of the metadata that the definition had (`Error` otherwise). Inputs
  /// that the definition writes to are written to.
  [[nodiscard]] Forward forward(const std::vector<at::Tensor>& operands) {
    Forward result;
    result.outputs = forward_.run(operands);
    result.saved.reserve(layout_.saved.size() + layout_.gradients_in.size());
    for (const auto& each : layout_.saved)
      result.saved.push_back((each.is_operand ? operands : result.outputs)[each.position]);
    result.outputs.resize(layout_.outputs);
    return result;
  }
  [[nodiscard]] Forward forward(std::vector<at::Tensor> parameters, const std::vector<at::Tensor>& inputs) {
    parameters.insert(parameters.end(), inputs.begin(), inputs.end());
    return forward(parameters);
  }

  /// `saved`: a forward's result; if moved in, it is freed on the way. `gradients`: one for each differentiated output,
  /// of the metadata that the backward was compiled for (`Error` otherwise). Returns the gradients of the parameters;
  /// an undefined tensor for one that has none. They share memory with nothing.
  [[nodiscard]] std::vector<at::Tensor> backward(std::vector<at::Tensor> saved,
                                                 const std::vector<at::Tensor>& gradients) {
    saved.insert(saved.end(), gradients.begin(), gradients.end());
    const std::vector<at::Tensor> made = backward_.consume(std::move(saved));
    std::vector<at::Tensor> results;
    results.reserve(layout_.gradients_out.size());
    for (const auto& position : layout_.gradients_out) results.push_back(position ? made[*position] : at::Tensor());
    return results;
  }

  /// Gradients in the metadata that the backward was compiled for: copies of those that have other strides.
  [[nodiscard]] std::vector<at::Tensor> arrange(std::vector<at::Tensor> gradients) const {
    for (std::size_t i = 0; i < std::min(gradients.size(), layout_.gradients_in.size()); ++i) {
      const TensorMetadata& expected = layout_.gradients_in[i];
      at::Tensor& gradient = gradients[i];
      if (!gradient.defined() || expected.fits(gradient) || gradient.sizes() != expected.sizes) continue;
      gradient = at::empty_strided(expected.sizes, expected.strides, gradient.options()).copy_(gradient);
    }
    return gradients;
  }

  [[nodiscard]] const PackageCosts& costs() const noexcept { return costs_; }

 private:
  template <class Package>
  friend Package detail::open_package(DefinitionStore&, const Traced&, PackageKind);

  TrainingPackage(const std::string& path, const Traced& traced)
      : layout_(detail::read_layout(path)),
        forward_(path, "forward", "the compiled forward of " + traced.name, detail::all_operands(traced)),
        backward_(path, "backward", "the compiled backward of " + traced.name, layout_.backward_operands(),
                  PackageModel::Operands::handed_on) {}

  detail::TrainingLayout layout_;
  PackageModel forward_, backward_;
  PackageCosts costs_;
};

}  // namespace pace::benches::aot

#endif  // PACE_HAS_AOT_INDUCTOR
