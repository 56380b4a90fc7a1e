// The packages of operator calls.
#pragma once

#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>

#include "benches/files/aot/case_store.hpp"
#include "benches/files/aot/package_case.hpp"
#include "benches/files/aot/package_key.hpp"
#include "benches/files/aot/package_options.hpp"
#include "benches/files/aot/tensor_metadata.hpp"
#include "benches/operators/backends/torchscript.hpp"
#include "benches/operators/calls/operator_call.hpp"
#include "pace/base/error.hpp"

namespace pace::benches::operators {

/// Finds, or makes, the AOTInductor package of an operator call; see CaseStore for how they are kept. Their key is a
/// hash of the call's signature and of all that the code depends on: options, LibTorch, processor, number of threads,
/// and the compile script.
class PackageStore {
 public:
  explicit PackageStore(benches::aot::PackageOptions options = {})
      : store_(std::move(options), {benches::aot::compile_script_files()}) {}

  [[nodiscard]] std::string key(const OperatorCall& call) const {
    return benches::aot::package_key(call.signature(), store_.options().inductor, device(call),
                                     benches::aot::compile_script_text());
  }

  /// The package of the call, compiled now if there is none. Throws `Unsupported` with the reason when it cannot be.
  [[nodiscard]] std::filesystem::path find(const OperatorCall& call) { return store_.find(describe(call)); }

  /// Compiles the missing packages in one process. A case that fails says so when it is looked for.
  void prepare_all(std::span<const OperatorCall* const> calls) { store_.prepare_all(describe_all(calls)); }

  /// See `CaseStore::export_and_compile`.
  void export_and_compile(std::span<const OperatorCall* const> calls, const std::filesystem::path& directory) const {
    store_.export_and_compile(describe_all(calls), directory);
  }

  /// Seconds that compiling the package took, as its record says, if this store did it.
  [[nodiscard]] std::optional<double> compile_seconds(const OperatorCall& call) const {
    return store_.compile_seconds(key(call));
  }

  /// Forgets a package that turned out not to load, so that the next `find` compiles it anew. False if that has been
  /// done already.
  [[nodiscard]] bool discard(const OperatorCall& call) { return store_.discard(key(call)); }

 private:
  [[nodiscard]] static c10::Device device(const OperatorCall& call) {
    return call.tensors().empty() ? c10::Device(c10::kCPU) : call.tensors().front().device();
  }

  /// The call must outlive the result.
  [[nodiscard]] benches::aot::PackageCase describe(const OperatorCall& call) const {
    return {key(call), call.name(), call.signature(), device(call), [&call](const std::filesystem::path& script) {
              nlohmann::json tensors = nlohmann::json::array();
              for (const at::Tensor& tensor : call.tensors()) {
                tensors.push_back(benches::aot::to_json(benches::aot::dense_metadata(tensor)));
              }
              to_torchscript(call).save(script.string());
              return nlohmann::json{{"tensors", std::move(tensors)}};
            }};
  }

  [[nodiscard]] std::vector<benches::aot::PackageCase> describe_all(std::span<const OperatorCall* const> calls) const {
    std::vector<benches::aot::PackageCase> cases;
    for (const OperatorCall* call : calls) cases.push_back(describe(*call));
    return cases;
  }

  benches::aot::CaseStore store_;
};

}  // namespace pace::benches::operators
