// The packages of definitions: the forward alone, or forward and backward.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <ATen/core/grad_mode.h>
#include <ATen/core/ivalue.h>
#include <c10/util/hash.h>
#include <torch/csrc/jit/serialization/pickle.h>
#include <nlohmann/json.hpp>

#include "benches/files/aot/case_store.hpp"
#include "benches/files/aot/package_case.hpp"
#include "benches/files/aot/package_key.hpp"
#include "benches/files/aot/package_options.hpp"
#include "benches/files/aot/package_record.hpp"
#include "benches/files/aot/tensor_metadata.hpp"
#include "benches/files/aot/traced.hpp"
#include "pace/os/folders.hpp"

namespace pace::benches::aot {

enum class PackageKind {
  inference,  ///< the forward, compiled
  training,   ///< forward and backward, compiled
  exported    ///< the forward as a program of operators, which is not compiled
};

/// A request to a store. The traced definition must outlive it.
struct PackageRequest {
  const Traced* traced;
  PackageKind kind;
};

/// As PackageOptions, with the time that whole models take to compile.
[[nodiscard]] inline PackageOptions definition_package_options() {
  PackageOptions options;
  options.timeout_seconds = compile_timeout(1800);
  return options;
}

namespace detail {

inline constexpr std::string_view training_script_body =
#include "benches/files/aot/compile_training.py"
    ;

[[nodiscard]] inline CompileScript definition_script() {
  auto files = compile_script_files();
  files.emplace_back("compile_training.py", whole_script(training_script_body));
  return {std::move(files), std::int64_t{3} << 30};  // graphs of thousands of nodes
}

}  // namespace detail

/// Finds, or makes, packages of definitions; see CaseStore for how they are kept. Their key is a hash of the traced
/// definition, of its operands' metadata, and of all else that the code depends on.
class DefinitionStore {
 public:
  explicit DefinitionStore(PackageOptions options = definition_package_options())
      : store_(std::move(options), detail::definition_script()) {}

  [[nodiscard]] std::string key(const Traced& traced, PackageKind kind) const {
    return package_key(describe_fully(traced, kind), store_.options().inductor, traced.device(),
                       compile_script_text() + std::string(detail::training_script_body));
  }

  /// The package, compiled now if there is none. Throws `Unsupported` with the reason when it cannot be.
  [[nodiscard]] std::filesystem::path find(const Traced& traced, PackageKind kind) {
    return store_.find(describe({&traced, kind}));
  }

  /// Compiles the missing packages in one process. A case that fails says so when it is looked for.
  void prepare_all(std::span<const PackageRequest> requests) { store_.prepare_all(describe_all(requests)); }

  /// See `CaseStore::export_and_compile`.
  void export_and_compile(std::span<const PackageRequest> requests, const std::filesystem::path& directory) const {
    store_.export_and_compile(describe_all(requests), directory);
  }

  /// See `CaseStore::compile_times`.
  [[nodiscard]] std::optional<CompileTimes> compile_times(const Traced& traced, PackageKind kind) const {
    return store_.compile_times(key(traced, kind));
  }
  /// See `CaseStore::recorded_times`.
  [[nodiscard]] std::optional<CompileTimes> recorded_times(const Traced& traced, PackageKind kind,
                                                           const std::filesystem::path& directory) const {
    return CaseStore::recorded_times(key(traced, kind), directory);
  }

  /// See `CaseStore::discard`.
  [[nodiscard]] bool discard(const Traced& traced, PackageKind kind) { return store_.discard(key(traced, kind)); }

 private:
  [[nodiscard]] static const char* name_of(PackageKind kind) {
    switch (kind) {
      case PackageKind::training:
        return "training";
      case PackageKind::exported:
        return "exported";
      case PackageKind::inference:
        break;
    }
    return "inference";
  }

  /// Outputs that gradients come for; an inference has none.
  [[nodiscard]] static std::vector<std::size_t> differentiated(const Traced& traced, PackageKind kind) {
    return kind == PackageKind::training ? traced.differentiated : std::vector<std::size_t>();
  }

  [[nodiscard]] static bool holds_constants(const Traced& traced, PackageKind kind) {
    return kind == PackageKind::inference && !traced.constants.empty();
  }

  /// Writes the values of constants beside the script, as torch.save has them, and returns where.
  [[nodiscard]] static std::string save_constants(const Traced& traced, std::filesystem::path script) {
    const at::NoGradGuard values_alone;
    std::vector<c10::IValue> values;
    for (const at::Tensor& tensor : traced.constants)
      values.push_back(tensor.defined() ? c10::IValue(tensor.detach().cpu()) : c10::IValue());
    const auto bytes = torch::jit::pickle_save(c10::ivalue::Tuple::create(std::move(values)));
    script.replace_extension(".values");
    pace::detail::write_file(script, std::string_view(bytes.data(), bytes.size()));
    return script.string();
  }

  [[nodiscard]] static std::string describe_fully(const Traced& traced, PackageKind kind) {
    std::string text = std::string(name_of(kind)) + '\n' + c10::sha1(traced.script).str() + '\n';
    for (const std::size_t output : differentiated(traced, kind)) text += std::to_string(output) + ' ';
    if (holds_constants(traced, kind)) text += "\nconstants " + traced.constants_digest;
    for (const auto* operands : {&traced.parameters, &traced.inputs}) {
      text += '\n' + std::to_string(operands->size());
      for (const TensorMetadata& operand : *operands) text += '\n' + operand.to_string();
    }
    return text;
  }

  [[nodiscard]] PackageCase describe(const PackageRequest& request) const {
    const Traced& traced = *request.traced;
    const PackageKind kind = request.kind;
    std::string signature = std::string(name_of(kind)) + " of " + traced.name + ": " +
                            std::to_string(traced.parameters.size()) + " parameters, inputs";
    for (const TensorMetadata& input : traced.inputs) signature += ' ' + input.to_string();
    return {key(traced, kind), traced.name + " (" + name_of(kind) + ')', std::move(signature), traced.device(),
            [&traced, kind](const std::filesystem::path& script) {
              nlohmann::json tensors = nlohmann::json::array();
              for (const auto* operands : {&traced.parameters, &traced.inputs}) {
                for (const TensorMetadata& operand : *operands) tensors.push_back(to_json(operand));
              }
              pace::detail::write_file(script, traced.script);
              nlohmann::json described{{"kind", name_of(kind)},
                                       {"parameters", traced.parameters.size()},
                                       {"differentiated", differentiated(traced, kind)},
                                       {"tensors", std::move(tensors)}};
              if (holds_constants(traced, kind)) described["values"] = save_constants(traced, script);
              return described;
            }};
  }

  [[nodiscard]] std::vector<PackageCase> describe_all(std::span<const PackageRequest> requests) const {
    std::vector<PackageCase> cases;
    for (const PackageRequest& request : requests) cases.push_back(describe(request));
    return cases;
  }

  CaseStore store_;
};

}  // namespace pace::benches::aot
