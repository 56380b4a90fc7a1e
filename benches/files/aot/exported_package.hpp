// An exported program, run by NativeRT: operators called one by one, as torch.export has written them down.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include <ATen/core/Tensor.h>
#include <ATen/core/ivalue.h>

#include "benches/files/aot/libtorch_parts.hpp"
#include "benches/files/aot/training_package.hpp"

#if PACE_HAS_NATIVERT
#include <torch/nativert/ModelRunnerHandle.h>

namespace pace::benches::aot {

/// The forward of a definition as an exported program, without gradients.
class ExportedPackage {
 public:
  /// Exports the program if that has not been done yet. Throws `Unsupported` with the reason when it cannot be exported
  /// or loaded.
  [[nodiscard]] static ExportedPackage open(DefinitionStore& store, const Traced& traced) {
    return detail::open_package<ExportedPackage>(store, traced, PackageKind::exported);
  }

  /// `operands`: the parameters, then the inputs, of the metadata that the definition had (`Error` otherwise). Returns
  /// the outputs.
  [[nodiscard]] std::vector<at::Tensor> run(const std::vector<at::Tensor>& operands) {
    operands_.check(operands);
    std::vector<at::Tensor> outputs;
    for (const auto& output : runner_->runWithFlatInputsAndOutputs({operands.begin(), operands.end()}))
      outputs.push_back(output.toTensor());
    return outputs;
  }

  [[nodiscard]] const PackageCosts& costs() const noexcept { return costs_; }

 private:
  template <class Package>
  friend Package detail::open_package(DefinitionStore&, const Traced&, PackageKind);

  ExportedPackage(const std::string& path, const Traced& traced)
      : operands_("the exported program of " + traced.name, detail::all_operands(traced)),
        runner_(std::make_unique<torch::nativert::ModelRunnerHandle>(path, "model")) {}

  ExpectedOperands operands_;
  /// Its own move needs a class that LibTorch's headers do not define.
  std::unique_ptr<torch::nativert::ModelRunnerHandle> runner_;
  PackageCosts costs_;
};

}  // namespace pace::benches::aot

#endif  // PACE_HAS_NATIVERT
